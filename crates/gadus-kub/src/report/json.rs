//! A report as lines of JSON, and back: the run, its cells, what was skipped.

use super::{
    Benchmark, Cell, Finding, Identity, Measured, Origin, Parts, Report, Side, Skipped, Stopped,
};
use crate::error::KubError;
use crate::harness::{Quietness, Ratio, Summary};
use serde_json::{Value, json};

/// What the first line says of the file.
const FORMAT: &str = "gadus kub 1";

impl Report {
    /// One object for each line.
    #[must_use]
    pub fn to_json_lines(&self) -> Vec<Value> {
        let mut lines = vec![self.head()];
        lines.extend(self.cells.iter().map(Cell::to_json));
        lines.extend(self.findings.iter().map(Finding::to_json));
        lines.extend(self.skipped.iter().map(Skipped::to_json));
        lines
    }

    /// Of a file; `described` says which. Lines of other kinds are passed over.
    ///
    /// # Errors
    /// `Input` with what is wrong and in which line.
    pub fn from_json_lines(text: &str, described: &str) -> Result<Self, KubError> {
        let mut report: Option<Self> = None;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong =
                |what: &str| KubError::input(format!("{described}, line {}: {what}", number + 1));
            let object: Value =
                serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
            let Some(report) = &mut report else {
                let first = Self::of_head(&object);
                report =
                    Some(first.ok_or_else(|| {
                        wrong("the first line of a report says \"kind\": \"run\"")
                    })?);
                continue;
            };
            match object["kind"].as_str() {
                Some("cell") => report.cells.push(
                    Cell::of_json(&object).ok_or_else(|| wrong("this is no cell of a report"))?,
                ),
                Some("finding") => report
                    .findings
                    .push(Finding::of_json(&object).ok_or_else(|| wrong("this is nothing found"))?),
                Some("skipped") => report.skipped.push(
                    Skipped::of_json(&object).ok_or_else(|| wrong("this is nothing skipped"))?,
                ),
                Some(_) => {}
                None => return Err(wrong("every line of a report has a \"kind\"")),
            }
        }
        report.ok_or_else(|| KubError::input(format!("{described} is empty")))
    }

    fn head(&self) -> Value {
        let fields = self.identity.fields().map(|(name, value)| (name.to_owned(), json!(value)));
        json!({
            "kind": "run", "format": FORMAT, "machine_key": self.identity.key(),
            "machine": fields.into_iter().collect::<serde_json::Map<_, _>>(),
            "budget": self.budget, "seconds": self.seconds, "took_seconds": self.took_seconds,
            "quiet": self.quietness.quiet, "others": number(self.quietness.others),
            "stolen": number(self.quietness.stolen), "clock_cost_ns": self.clock_cost_ns,
        })
    }

    fn of_head(object: &Value) -> Option<Self> {
        if object["kind"] != "run" || object["format"] != FORMAT {
            return None;
        }
        let machine = &object["machine"];
        let field = |name: &str| machine[name].as_str().map(str::to_owned);
        let identity = Identity {
            processor: field("processor")?,
            processors: field("processors")?.parse().ok()?,
            kernel: field("kernel")?,
            mitigations: field("mitigations")?,
            governor: field("governor")?,
            is_virtual: field("virtual")? == "true",
            file_system: field("file_system")?,
            device: field("device")?,
            read_ahead: field("read_ahead_kb")?,
        };
        let quiet = object["quiet"].as_bool()?;
        let (others, stolen) = (figure(&object["others"]), figure(&object["stolen"]));
        Some(Self {
            identity,
            budget: object["budget"].as_str()?.to_owned(),
            seconds: object["seconds"].as_u64()?,
            took_seconds: object["took_seconds"].as_f64()?,
            quietness: Quietness { quiet, others, stolen },
            clock_cost_ns: object["clock_cost_ns"].as_f64()?,
            cells: Vec::new(),
            findings: Vec::new(),
            skipped: Vec::new(),
        })
    }
}

impl Cell {
    fn to_json(&self) -> Value {
        let variables = self.variables.iter().map(|(name, value)| (name.clone(), json!(value)));
        json!({
            "kind": "cell", "benchmark": self.benchmark.word(), "origin": self.origin.word(),
            "name": self.name, "variables": variables.collect::<serde_json::Map<_, _>>(),
            "unit": self.unit, "stopped": self.stopped.word(), "quiet": self.quiet,
            "equivalent": self.equivalent, "paper_found": self.paper_found,
            "measured": self.measured.iter().map(Measured::to_json).collect::<Vec<_>>(),
        })
    }

    fn of_json(object: &Value) -> Option<Self> {
        let text = |name: &str| object[name].as_str().map(str::to_owned);
        let variables = object["variables"].as_object()?.iter();
        let variables =
            variables.map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        let stopped = [Stopped::Narrow, Stopped::Time, Stopped::Rounds];
        let origins = [Origin::Vasil2003, Origin::Modern];
        let (word, origin) = (text("stopped")?, text("origin")?);
        Some(Self {
            benchmark: Benchmark::from_word(object["benchmark"].as_str()?)?,
            origin: origins.into_iter().find(|known| known.word() == origin)?,
            name: text("name")?,
            variables: variables.collect::<Option<_>>()?,
            unit: text("unit")?,
            measured: list(&object["measured"], Measured::of_json)?,
            stopped: stopped.into_iter().find(|known| known.word() == word)?,
            quiet: object["quiet"].as_bool()?,
            equivalent: text("equivalent"),
            paper_found: text("paper_found"),
        })
    }
}

impl Measured {
    fn to_json(&self) -> Value {
        let ratio = self.ratio.map(|Ratio { value, low, high }| json!([value, low, high]));
        json!({
            "who": self.who, "side": self.side.word(), "rounds": self.rounds,
            "sittings": self.sittings,
            "summary": summary_json(&self.summary), "ratio": ratio,
            "steps": summaries_json(&self.steps),
            "counts": summaries_json(&self.counts),
            "user_ns": self.user_ns, "system_ns": self.system_ns,
            "voluntary_switches": self.voluntary_switches,
            "involuntary_switches": self.involuntary_switches,
            "minor_faults": self.minor_faults, "major_faults": self.major_faults,
            "repetitions": self.repetitions, "disturbed": self.disturbed, "paper": self.paper,
        })
    }

    fn of_json(object: &Value) -> Option<Self> {
        let number = |name: &str| object[name].as_f64();
        let count = |name: &str| object[name].as_u64();
        let word = object["side"].as_str()?;
        let ratio = match &object["ratio"] {
            Value::Null => None,
            bounds => Some(Ratio {
                value: figure(&bounds[0]),
                low: figure(&bounds[1]),
                high: figure(&bounds[2]),
            }),
        };
        let rounds = list(&object["rounds"], Value::as_f64)?;
        // Reports of one sitting do not say so.
        let sittings = match &object["sittings"] {
            Value::Null => vec![rounds.len()],
            counts => list(counts, |count| usize::try_from(count.as_u64()?).ok())?,
        };
        Some(Self {
            who: object["who"].as_str()?.to_owned(),
            side: [Side::Kernel, Side::User].into_iter().find(|side| side.word() == word)?,
            rounds,
            sittings,
            parts: Parts::default(),
            summary: summary_of(&object["summary"])?,
            ratio,
            steps: summaries_of(&object["steps"])?,
            counts: summaries_of(&object["counts"])?,
            user_ns: number("user_ns")?,
            system_ns: number("system_ns")?,
            voluntary_switches: number("voluntary_switches")?,
            involuntary_switches: count("involuntary_switches")?,
            minor_faults: number("minor_faults")?,
            major_faults: count("major_faults")?,
            repetitions: count("repetitions")?,
            disturbed: number("disturbed")?,
            paper: number("paper"),
        })
    }
}

impl Finding {
    fn to_json(&self) -> Value {
        json!({
            "kind": "finding", "benchmark": self.benchmark.word(), "what": self.what,
            "found": self.found,
        })
    }

    fn of_json(object: &Value) -> Option<Self> {
        Some(Self {
            benchmark: Benchmark::from_word(object["benchmark"].as_str()?)?,
            what: object["what"].as_str()?.to_owned(),
            found: object["found"].as_str()?.to_owned(),
        })
    }
}

impl Skipped {
    fn to_json(&self) -> Value {
        json!({
            "kind": "skipped", "benchmark": self.benchmark.word(), "what": self.what,
            "why": self.why,
        })
    }

    fn of_json(object: &Value) -> Option<Self> {
        Some(Self {
            benchmark: Benchmark::from_word(object["benchmark"].as_str()?)?,
            what: object["what"].as_str()?.to_owned(),
            why: object["why"].as_str()?.to_owned(),
        })
    }
}

/// A list: their order is told.
fn summaries_json(named: &[(String, Summary)]) -> Value {
    named.iter().map(|(name, summary)| json!([name, summary_json(summary)])).collect()
}

fn summaries_of(value: &Value) -> Option<Vec<(String, Summary)>> {
    list(value, |pair| Some((pair[0].as_str()?.to_owned(), summary_of(&pair[1])?)))
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "count": summary.count, "median": number(summary.median),
        "deviation": number(summary.deviation), "least": number(summary.least),
        "p10": number(summary.p10), "p90": number(summary.p90), "p99": number(summary.p99),
        "low": number(summary.low), "high": number(summary.high),
    })
}

fn summary_of(object: &Value) -> Option<Summary> {
    let of = |name: &str| figure(&object[name]);
    Some(Summary {
        count: usize::try_from(object["count"].as_u64()?).ok()?,
        median: of("median"),
        deviation: of("deviation"),
        least: of("least"),
        p10: of("p10"),
        p90: of("p90"),
        p99: of("p99"),
        low: of("low"),
        high: of("high"),
    })
}

/// JSON has no figure that is none.
fn number(figure: f64) -> Value {
    if figure.is_finite() { json!(figure) } else { Value::Null }
}

fn figure(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn list<T>(value: &Value, of: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(of).collect()
}

#[cfg(test)]
mod tests;

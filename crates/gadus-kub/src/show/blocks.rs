//! What a report says, as headings, paragraphs, lists and tables.

use super::figures::{digits, ratio_shown, shown};
use crate::report::{Benchmark, Cell, Measured, Report};
use crate::verdict::{Criterion, Row, Suitability, Verdict};
use gadus_base::date_and_time;

/// A part of what is said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    /// From 1, the title.
    Heading(u8, String),
    Paragraph(String),
    List(Vec<String>),
    Table(Table),
    /// A cell with its bars; forms without pictures show the table behind it alone.
    Bars(Box<Cell>),
}

/// Rows under headings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    fn block(headings: &[&str], rows: Vec<Vec<String>>) -> Block {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Block::Table(Self { headings, rows })
    }
}

pub(super) fn blocks(report: &Report, verdict: &Verdict) -> Vec<Block> {
    let mut all = head(report);
    all.extend(rows(verdict));
    all.extend(settings(verdict));
    for benchmark in Benchmark::ALL {
        all.extend(cells(report, benchmark));
    }
    all.extend(rest(report));
    all
}

fn head(report: &Report) -> Vec<Block> {
    let quietness = report.quietness;
    let quiet = match quietness.quiet {
        true => "The machine was quiet".to_owned(),
        false => "The machine was NOT quiet: look at ratios only, and with doubt".to_owned(),
    };
    let [others, stolen] = [quietness.others, quietness.stolen].map(|share| digits(share * 100.0));
    let fields = report.identity.fields();
    let rows = fields.map(|(name, value)| vec![name.replace('_', " "), value]).to_vec();
    vec![
        Block::Heading(1, "What a database should leave to this kernel".to_owned()),
        Block::Paragraph(format!(
            "{}, {} run of {:.0} s. {quiet}: others used {others} % of the processors between \
             contests, and {stolen} % was stolen. A look at the clock costs {}.",
            date_and_time(report.seconds),
            report.budget,
            report.took_seconds,
            shown(report.clock_cost_ns, "ns"),
        )),
        Table::block(&["machine", ""], rows),
    ]
}

fn rows(verdict: &Verdict) -> Vec<Block> {
    let word = |suitability: Option<Suitability>| {
        suitability.map_or("not measured", Suitability::word).to_owned()
    };
    let line = |row: &Row| {
        let here = word(row.suitability);
        let paper = row.paper.word().to_owned();
        vec![row.domain.word().to_owned(), here, paper, row.why.clone(), improvements(row)]
    };
    let lines = verdict.rows.iter().map(line).collect();
    let mut all = vec![
        Block::Heading(2, "Verdict".to_owned()),
        Table::block(
            &["the kernel's", "here", "Vasil 2003", "why", "what the kernel should improve"],
            lines,
        ),
        Block::Paragraph(
            "Each row grades measured ratios, the kernel's cost to that of a user-mode service, by \
             the limits that stand beside them, and is the middle of the grades, of two the worse. \
             Vasil 2003 judged Windows 2000."
                .to_owned(),
        ),
    ];
    for row in &verdict.rows {
        all.push(Block::Heading(3, row.domain.word().to_owned()));
        all.push(Block::Paragraph(format!("A database should: {}.", row.database)));
        if !row.criteria.is_empty() {
            let lines = row.criteria.iter().map(criterion).collect();
            let headings = ["ratio", "value", "95 %", "excellent, very good, good up to", "grade"];
            all.push(Table::block(&headings, lines));
        }
        let missing = row.missing.iter().map(|what| format!("not measured: {what}"));
        all.push(Block::List(missing.collect()));
    }
    all
}

/// What the kernel should improve; what it should make cheaper is said once for all.
fn improvements(row: &Row) -> String {
    const CHEAPER: &str = "make cheaper: ";
    let cheaper = row.kernel.iter().filter_map(|wish| wish.strip_prefix(CHEAPER));
    let cheaper = cheaper.collect::<Vec<_>>().join("; ");
    let others = row.kernel.iter().filter(|wish| !wish.starts_with(CHEAPER)).cloned();
    let first = (!cheaper.is_empty()).then(|| format!("{CHEAPER}{cheaper}"));
    let wishes = first.into_iter().chain(others).collect::<Vec<_>>();
    match (row.suitability, wishes.is_empty()) {
        (Some(_), true) => "nothing of what was measured".to_owned(),
        _ => wishes.join(". "),
    }
}

fn criterion(criterion: &Criterion) -> Vec<String> {
    let interval = criterion.interval;
    let interval = interval.map(|(low, high)| format!("{} – {}", digits(low), digits(high)));
    let certain = if criterion.is_certain { "" } else { ", not certain" };
    vec![
        criterion.what.clone(),
        format!("{} ×", digits(criterion.ratio)),
        interval.unwrap_or_default(),
        criterion.limits.map(digits).join(", "),
        format!("{}{certain}", criterion.grade.word()),
    ]
}

fn settings(verdict: &Verdict) -> Vec<Block> {
    let line = |advice: &crate::verdict::Advice| {
        let setting = advice.answer().to_owned();
        vec![advice.product.clone(), advice.versions.clone(), setting, advice.why.clone()]
    };
    let lines = verdict.settings.iter().map(line).collect();
    vec![
        Block::Heading(2, "From where on another service is cheaper".to_owned()),
        Block::List(verdict.crossovers.clone()),
        Block::Heading(2, "Settings that follow".to_owned()),
        Table::block(&["database", "versions", "setting", "why"], lines),
    ]
}

fn cells(report: &Report, benchmark: Benchmark) -> Vec<Block> {
    let mut all = Vec::new();
    for cell in report.of(benchmark) {
        if all.is_empty() {
            all.push(Block::Heading(2, benchmark.word().to_owned()));
        }
        all.push(Block::Heading(3, format!("{} ({})", cell.title(), cell.origin.word())));
        all.push(Block::Bars(Box::new(cell.clone())));
        let lines = cell.measured.iter().map(|measured| contestant(cell, measured)).collect();
        let headings = [
            "who",
            "whose",
            "median",
            "95 %",
            "p90",
            "p99",
            "to the first",
            "user + system",
            "also",
        ];
        all.push(Table::block(&headings, lines));
        let loud = if cell.quiet { "" } else { " The machine was not quiet." };
        let same = cell.equivalent.as_ref();
        let same = same.map_or_else(String::new, |command| format!(" To compare: {command}"));
        let rounds = cell.measured.first().map_or(0, |first| first.rounds.len());
        let stopped = cell.stopped.word();
        let paper = cell.paper_found.as_ref();
        let paper = paper.map_or_else(String::new, |found| format!(" Vasil 2003: {found}."));
        all.push(Block::Paragraph(format!("{rounds} rounds: {stopped}.{loud}{paper}{same}")));
    }
    all
}

fn contestant(cell: &Cell, measured: &Measured) -> Vec<String> {
    let summary = &measured.summary;
    let time = |figure: f64| shown(figure, &cell.unit);
    let mut also = Vec::new();
    for (name, step) in &measured.steps {
        also.push(format!("{name} {}", time(step.median)));
    }
    for (name, count) in &measured.counts {
        also.push(format!("{name} {}", digits(count.median)));
    }
    if let Some(paper) = measured.paper {
        also.push(format!("Vasil 2003: {}", time(paper)));
    }
    if measured.voluntary_switches >= 0.01 {
        also.push(format!("{} waits", digits(measured.voluntary_switches)));
    }
    if measured.minor_faults >= 0.01 {
        also.push(format!("{} faults", digits(measured.minor_faults)));
    }
    let processor = match cell.unit.as_str() {
        "ns" => format!("{} + {}", time(measured.user_ns), time(measured.system_ns)),
        _ => String::new(),
    };
    vec![
        measured.who.clone(),
        measured.side.word().to_owned(),
        time(summary.median),
        format!("{} – {}", time(summary.low), time(summary.high)),
        time(summary.p90),
        time(summary.p99),
        measured.ratio.map(ratio_shown).unwrap_or_default(),
        processor,
        also.join(", "),
    ]
}

fn rest(report: &Report) -> Vec<Block> {
    let found = report.findings.iter().map(|finding| {
        vec![finding.benchmark.word().to_owned(), finding.what.clone(), finding.found.clone()]
    });
    let skipped = report.skipped.iter().map(|skipped| {
        vec![skipped.benchmark.word().to_owned(), skipped.what.clone(), skipped.why.clone()]
    });
    vec![
        Block::Heading(2, "Also found".to_owned()),
        Table::block(&["of", "what", "found"], found.collect()),
        Block::Heading(2, "Not measured".to_owned()),
        Table::block(&["of", "what", "why"], skipped.collect()),
    ]
}

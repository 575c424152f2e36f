//! `gadus machine explain`: what is chosen by the machine, why, and what else might be.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gadus_base::ByteCount;
use gadus_machine::{
    Decision, Facts, Identity, KeptFacts, Limits, Reached, Temperature, decide_cache,
    decide_cache_scope, decide_cache_sizes, decide_client_transport, decide_gathering,
    decide_io_path, decide_latch_looks, decide_memory_limit, decide_partitions,
    decide_scan_helpers, decide_scan_threads, decide_sharing, decide_wait, known_wake,
    measure_look, measure_wake,
};
use serde_json::Value;

use super::Which;
use crate::failure::Failure;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus machine explain
  gadus machine explain partitions --bytes 7GiB
  gadus machine explain io-path --cache cold --dir /data
  gadus machine explain --topology server.xml --json

What the kernel is good for is known where `gadus kub` has measured it; else it is assumed.

What an open database has chosen is in its table gadus.decisions.")]
pub(super) struct Explain {
    #[command(flatten)]
    which: Which,
    /// Which question: cache, cache-scope, cache-sizes, client-transport, group-commit, io-path, latch-looks,
    /// memory-limit, partitions, scan-helpers, scan-threads, sharing, wait; without it, all of them
    question: Option<String>,
    /// The data that is divided into partitions, or that each connection looks at
    #[arg(long, value_name = "BYTES", default_value = "1GiB")]
    bytes: ByteCount,
    /// Connections with caches
    #[arg(long, value_name = "COUNT", default_value = "8")]
    connections: u64,
    /// Messages of a client
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    message: ByteCount,
    /// Whether the kernel has in its cache what is read
    #[arg(long, value_name = "cold|warm", default_value = "cold", value_parser = temperature)]
    cache: Temperature,
    /// Where files are read: by what was measured for its file system and device
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    dir: PathBuf,
    /// What is waited for comes after so long; needs this machine
    #[arg(long, value_name = "MICROSECONDS", default_value = "20")]
    microseconds: u64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// The questions, as decisions name them.
const QUESTIONS: [&str; 13] = [
    "cache",
    "cache scope",
    "cache sizes",
    "client transport",
    "group commit",
    "io path",
    "latch looks",
    "memory limit",
    "partitions",
    "scan helpers",
    "scan threads",
    "sharing",
    "wait",
];

/// Those that are answered by what this machine's kernel was found to do.
const MEASURED: [&str; 7] = [
    "client transport",
    "group commit",
    "io path",
    "latch looks",
    "scan helpers",
    "sharing",
    "wait",
];

/// Waking threads is measured for so long.
const WAKE_TIME: Duration = Duration::from_millis(5);

/// Below this a name is another one, not a misspelt one.
const SIMILARITY_MIN: f64 = 0.75;

pub(super) fn explain(command: &Explain) -> Result<(), Failure> {
    let asked = match &command.question {
        None => QUESTIONS.to_vec(),
        Some(question) => vec![known(question)?],
    };
    if let [asked] = asked[..]
        && MEASURED.contains(&asked)
        && !command.which.is_here()
    {
        let message = format!("{asked} is measured, which needs the machine: leave --topology out");
        return Err(Failure::message(message));
    }
    // Facts are of the file system and the device that a folder is on.
    if command.which.is_here() && !command.dir.is_dir() {
        let message = format!("{} is no folder that can be read", command.dir.display());
        return Err(Failure::message(message));
    }
    let decisions = asked.into_iter().map(|question| command.decide(question));
    let decisions = decisions.collect::<Result<Vec<_>, _>>()?;
    // A machine that tells of no cache has chosen none.
    let decisions = decisions.into_iter().flatten().collect::<Vec<_>>();
    let mut output = io::stdout();
    if command.json {
        let decisions = decisions.iter().map(Decision::to_json).collect::<Value>();
        return Ok(writeln!(output, "{decisions}")?);
    }
    for (place, decision) in decisions.iter().enumerate() {
        if place > 0 {
            writeln!(output)?;
        }
        print(decision, &mut output)?;
    }
    Ok(())
}

impl Explain {
    /// What is kept of this machine; nothing where nothing was measured.
    fn measured(&self) -> Result<Facts, Failure> {
        match KeptFacts::of_this_user() {
            Some(kept) => Ok(kept.load(&Identity::of_this_machine(&self.dir))?),
            None => Ok(Facts::default()),
        }
    }

    fn decide(&self, question: &str) -> Result<Option<Decision>, Failure> {
        let limits = || -> Result<Limits, Failure> {
            match self.which.is_here() {
                true => Ok(Limits::of_this_process()),
                false => Ok(Limits::all_of(&self.which.topology()?)),
            }
        };
        Ok(match question {
            "cache" => Some(decide_cache(&limits()?).1),
            "cache sizes" => decide_cache_sizes(&self.which.topology()?),
            "memory limit" => Some(decide_memory_limit(&limits()?).1),
            "partitions" => {
                let machine = self.which.topology()?;
                let state = self.which.state(&machine)?;
                Some(decide_partitions(&machine, &state, self.bytes)?.1)
            }
            // Only what is here can be measured.
            asked if MEASURED.contains(&asked) => match self.which.is_here() {
                true => Some(self.decide_measured(asked, &limits()?)?),
                false => None,
            },
            "cache scope" => Some(decide_cache_scope(&limits()?, self.connections, self.bytes).1),
            _ => Some(decide_scan_threads(&limits()?).1),
        })
    }

    /// By what was measured here. Who asks for one question alone is told what cannot be read; else that is why the
    /// answer is assumed.
    fn decide_measured(&self, question: &str, limits: &Limits) -> Result<Decision, Failure> {
        let (measured, unread) = match self.measured() {
            Ok(measured) => (measured, None),
            Err(error) if self.question.is_some() => return Err(error),
            Err(error) => (Facts::default(), Some(error)),
        };
        let mut decision = match question {
            "client transport" => {
                decide_client_transport(&measured, self.message, Reached::Process).1
            }
            "group commit" => decide_gathering(&measured).1,
            "io path" => decide_io_path(&measured, self.cache).1,
            "latch looks" => decide_latch_looks(limits, &measured, Some(measure_look())).1,
            "scan helpers" => decide_scan_helpers(&measured).1,
            "sharing" => decide_sharing(&measured, None).1,
            _ => {
                let expected = Duration::from_micros(self.microseconds);
                let seen = match known_wake(&measured) {
                    Some(_) => None,
                    None if self.question.is_some() => Some(measure_wake(WAKE_TIME)?),
                    None => measure_wake(WAKE_TIME).ok(),
                };
                // What is measured now needs nothing that was kept.
                return Ok(decide_wait(limits, &measured, seen, expected).1);
            }
        };
        if let Some(why) = unread {
            decision.reason = format!("assumed, because {why}");
        }
        Ok(decision)
    }
}

fn temperature(word: &str) -> Result<Temperature, String> {
    let known = [Temperature::Cold, Temperature::Warm];
    let known = known.into_iter().find(|temperature| temperature.word() == word);
    known.ok_or_else(|| "there are cold and warm".to_owned())
}

/// The question of a name, however its words are joined.
fn known(name: &str) -> Result<&'static str, Failure> {
    let plain = name.to_lowercase().replace(['-', '_'], " ");
    if let Some(question) = QUESTIONS.into_iter().find(|question| *question == plain) {
        return Ok(question);
    }
    let similar = |question: &&str| strsim::jaro_winkler(question, &plain);
    let best = QUESTIONS.iter().copied();
    let best = best.max_by(|one, other| similar(one).total_cmp(&similar(other)));
    let meant = match best.filter(|best| similar(best) >= SIMILARITY_MIN) {
        Some(best) => format!("; did you mean {}?", best.replace(' ', "-")),
        None => String::new(),
    };
    let all = QUESTIONS.map(|question| question.replace(' ', "-")).join(", ");
    Err(Failure::message(format!("there is no question {name}: there are {all}{meant}")))
}

fn print(decision: &Decision, output: &mut impl Write) -> io::Result<()> {
    let Decision { question, inputs, facts, alternatives, choice, reason, .. } = decision;
    let inputs = inputs.iter().map(|(name, value)| format!(" for {name} = {value}"));
    writeln!(output, "{question}{}: {choice}", inputs.collect::<String>())?;
    writeln!(output, "  {reason}")?;
    if let Some(by) = &decision.overridden {
        writeln!(output, "  overridden by {by}")?;
    }
    for fact in facts {
        let (source, age) = (fact.source.word(), fact.age_seconds());
        writeln!(output, "  fact: {fact} ({source}, {age} s ago)")?;
    }
    for alternative in alternatives {
        writeln!(output, "  costs of {alternative}")?;
    }
    for change in &decision.would_change {
        writeln!(output, "  would change with {change}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

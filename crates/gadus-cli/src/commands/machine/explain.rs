//! `gadus machine explain`: what is chosen by the machine, why, and what else might be.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use gadus_base::ByteCount;
use gadus_machine::{
    Decision, Limits, decide_cache, decide_cache_sizes, decide_memory_limit, decide_partitions,
    decide_scan_threads, decide_wait, measure_wake,
};
use serde_json::Value;

use super::Which;
use crate::failure::Failure;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus machine explain
  gadus machine explain partitions --bytes 7GiB
  gadus machine explain --topology server.xml --json

What an open database has chosen is in its table gadus.decisions.")]
pub(super) struct Explain {
    #[command(flatten)]
    which: Which,
    /// Which question: cache, cache-sizes, memory-limit, partitions, scan-threads, wait; without it, all of them
    question: Option<String>,
    /// The data that is divided into partitions
    #[arg(long, value_name = "BYTES", default_value = "1GiB")]
    bytes: ByteCount,
    /// What is waited for comes after so long; needs this machine
    #[arg(long, value_name = "MICROSECONDS", default_value = "20")]
    microseconds: u64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// The questions, as decisions name them.
const QUESTIONS: [&str; 6] =
    ["cache", "cache sizes", "memory limit", "partitions", "scan threads", "wait"];

/// Waking threads is measured for so long.
const WAKE_TIME: Duration = Duration::from_millis(5);

/// Below this a name is another one, not a misspelt one.
const SIMILARITY_MIN: f64 = 0.75;

pub(super) fn explain(command: &Explain) -> Result<(), Failure> {
    let asked = match &command.question {
        None => QUESTIONS.to_vec(),
        Some(question) => vec![known(question)?],
    };
    if asked == ["wait"] && !command.which.is_here() {
        let message =
            "how long waking takes is measured, which needs the machine: leave --topology out";
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
            "wait" if !self.which.is_here() => None,
            "wait" => {
                let (wake, expected) =
                    (measure_wake(WAKE_TIME)?, Duration::from_micros(self.microseconds));
                Some(decide_wait(&limits()?, wake, expected).1)
            }
            _ => Some(decide_scan_threads(&limits()?).1),
        })
    }
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

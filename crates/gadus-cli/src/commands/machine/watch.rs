//! `gadus machine watch`: what changes of the machine, as it does.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use gadus_base::{clock, date_and_time};
use gadus_machine::Difference;
use serde_json::{Value, json};

use super::facts::difference_json;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus machine watch
  gadus machine watch --every 100ms --json | jq 'select(.changed)'

The first look tells all that is looked at; after it, a line for each change. Loads are told in tenths,
and a load between two of them is no change. Ctrl-C ends it.")]
pub(super) struct Watch {
    /// How often to look
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "1s")]
    every: Duration,
    /// End after so many looks
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// The kernel counts in steps of this.
const EVERY_MIN: Duration = Duration::from_millis(10);

/// A day: who looks more seldom starts the program anew.
const EVERY_MAX: Duration = Duration::from_secs(86_400);

pub(super) fn watch(command: &Watch) -> Result<(), Failure> {
    if !(EVERY_MIN..=EVERY_MAX).contains(&command.every) {
        return Err(Failure::message("--every is a time from 10ms to 1day"));
    }
    let looking = std::thread::current();
    let interrupt = Interrupt::tell(move || looking.unpark(), false)?;
    let mut watch = gadus_machine::Watch::begin()?;
    let mut next = clock().now();
    let mut looks = 0;
    while command.count.is_none_or(|count| looks < count) {
        next = next.plus(command.every);
        while !next.since(clock().now()).is_zero() {
            if interrupt.check().is_err() {
                return Ok(());
            }
            std::thread::park_timeout(next.since(clock().now()));
        }
        let differences = watch.look()?;
        let seconds = clock().wall_time().0.as_secs();
        print(&differences, seconds, command.json)?;
        looks += 1;
        // Who was stopped for long looks once, not once for each time that he has missed.
        let now = clock().now();
        if now.since(next) >= command.every {
            next = now;
        }
    }
    Ok(())
}

fn print(differences: &[Difference], seconds: u64, json: bool) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    for difference in differences {
        if json {
            writeln!(output, "{}", timed(difference_json(difference), seconds))?;
        } else {
            writeln!(output, "{} {difference}", date_and_time(seconds))?;
        }
    }
    Ok(())
}

/// A difference with its time.
fn timed(mut difference: Value, seconds: u64) -> Value {
    if let Some(object) = difference.as_object_mut() {
        object.insert("seconds".to_owned(), json!(seconds));
    }
    difference
}

//! One turn of a build: the benchmark in a process of its own, and the figures that it prints.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::super::figures::Better;

/// Options of the comparing process that a turn does not get, and whether a value follows.
const LEFT_OUT: [(&str, bool); 4] =
    [("--against", true), ("--rounds", true), ("--plot", true), ("--json", false)];

/// Figures of one turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    pub(super) figures: Vec<Reported>,
    /// The last line of standard error, or the last error there.
    pub(super) last_message: String,
}

/// A figure as a build prints it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reported {
    pub(super) case: String,
    pub(super) metric: String,
    pub(super) unit: String,
    /// Older builds do not print it.
    pub(super) better: Option<Better>,
    pub(super) value: f64,
}

/// Returns the arguments of a turn, from those of this program without its name.
pub(super) fn turn_arguments(
    arguments: impl Iterator<Item = OsString>,
    rounds: Option<u32>,
) -> Vec<OsString> {
    let (mut turn, mut skips_value) = (Vec::new(), false);
    for argument in arguments {
        if std::mem::take(&mut skips_value) {
            continue;
        }
        let text = argument.to_string_lossy();
        let (name, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (&*text, false),
        };
        match LEFT_OUT.iter().find(|(option, _)| *option == name) {
            Some((_, takes_value)) => skips_value = *takes_value && !has_value,
            None => turn.push(argument),
        }
    }
    turn.extend(rounds.map(|rounds| OsString::from(format!("--rounds={rounds}"))));
    turn.push("--json".into());
    turn
}

/// Runs the benchmark once.
pub(super) fn play(program: &Path, arguments: &[OsString]) -> Result<Report, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot be executed: {error}"))?;
    let last_message = last_message(&String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{}: {last_message}", output.status));
    }
    let figures = figures(&String::from_utf8_lossy(&output.stdout))?;
    if figures.is_empty() {
        return Err(format!("no figures were printed; its last message: {last_message}"));
    }
    Ok(Report { figures, last_message })
}

/// Reads figures, one JSON object a line; those without a value are left out.
pub(super) fn figures(text: &str) -> Result<Vec<Reported>, String> {
    let read = |line: &str| {
        let json = serde_json::from_str::<Value>(line).ok()?;
        let text = |key: &str| Some(json.get(key)?.as_str()?.to_owned());
        Some(Reported {
            case: text("case")?,
            metric: text("metric")?,
            unit: text("unit")?,
            better: text("better").as_deref().and_then(Better::from_name),
            value: json.get("value")?.as_f64().unwrap_or(f64::NAN),
        })
    };
    let mut figures = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let figure = read(line).ok_or_else(|| format!("a line that is no figure: {line}"))?;
        if !figure.value.is_nan() {
            figures.push(figure);
        }
    }
    Ok(figures)
}

/// Returns the last error; a wrong command line is followed by usage.
pub(super) fn last_message(text: &str) -> String {
    let lines = || text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().find(|line| line.starts_with("error: "));
    error.or_else(|| lines().next()).unwrap_or("no message").to_owned()
}

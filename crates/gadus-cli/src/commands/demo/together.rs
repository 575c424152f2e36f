//! Thousands of different questions at once, alone and in shared scans.

use gadus::{Connection, Database, Outcome};
use gadus_base::{clock, counted};
use std::collections::HashSet;

use super::report::Report;
use crate::failure::Failure;
use crate::generate::statements::{Sample, Statements};
use crate::shell::shown_seconds;
use crate::texts::texts;

/// Questions that are asked at once,
const QUESTIONS: usize = 2_048;

/// and updates among them, the second time.
const UPDATES: usize = 256;

/// Answers in an order of their own.
type Answers = Vec<Vec<Vec<String>>>;

/// Asks on columns without an index, one statement after another and all at once; then once more with
/// updates among them.
pub(super) fn questions(database: &Database, report: &mut Report) -> Result<(), Failure> {
    report.heading("Many at once")?;
    let connection = database.connect();
    let sample = Sample::of(&connection)?;
    let asked = Statements::drawn_from(&sample, 0, QUESTIONS).texts;
    let different = asked.iter().collect::<HashSet<_>>().len();
    report.line(&format!(
        "{} questions, {} of them different, on columns without an index, such as",
        counted(QUESTIONS as u64),
        counted(different as u64)
    ))?;
    for text in &asked[1..3] {
        report.line(&format!("  {text}"))?;
    }
    connection.execute("SET gadus.sharing = never", &[])?;
    let (alone, alone_seconds) = timed(|| {
        asked.iter().map(|text| sorted(connection.run(text, &[])?)).collect::<Result<_, _>>()
    })?;
    report.line(&format!("one after another: {}", shown_seconds(alone_seconds)))?;
    connection.execute("SET gadus.sharing = always", &[])?;
    let (together, seconds) = timed(|| at_once(&connection, &asked))?;
    if together != alone {
        return Err(Failure::message("a shared scan answers otherwise than a statement alone"));
    }
    let times = alone_seconds / seconds;
    report.line(&format!(
        "at once, in shared scans: {}, {times:.0} times as fast, with the same answers",
        shown_seconds(seconds)
    ))?;
    let figure =
        format!("{} alone, {} shared", shown_seconds(alone_seconds), shown_seconds(seconds));
    report.figure(&format!("{} questions, no index", counted(QUESTIONS as u64)), &figure);
    with_updates(&connection, &sample, report)
}

fn with_updates(
    connection: &Connection,
    sample: &Sample,
    report: &mut Report,
) -> Result<(), Failure> {
    let queries_per_update = u32::try_from(QUESTIONS / UPDATES).expect("a small constant");
    let mixed = Statements::drawn_from(sample, queries_per_update, QUESTIONS + UPDATES);
    let (answers, seconds) = timed(|| at_once(connection, &mixed.texts))?;
    let changed = answers.iter().enumerate().filter(|(place, _)| mixed.is_update(*place));
    let changed = changed.map(|(_, answer)| answer[0][0].parse::<u64>().unwrap_or(0)).sum::<u64>();
    let time = shown_seconds(seconds);
    report.line(&format!(
        "with {UPDATES} updates by such columns among them: {time}, {} rows changed and durable",
        counted(changed)
    ))?;
    report.figure(&format!("the same with {UPDATES} updates among them"), &time);
    Ok(())
}

/// Has all statements outstanding at once.
fn at_once(connection: &Connection, statements: &[String]) -> Result<Answers, Failure> {
    let statements = statements.iter().map(|text| (text.as_str(), &[][..]));
    connection.execute_many(statements).into_iter().map(|outcome| sorted(outcome?)).collect()
}

fn sorted(outcome: Outcome) -> Result<Vec<Vec<String>>, Failure> {
    if let Outcome::Changed { rows, .. } = outcome {
        return Ok(vec![vec![rows.to_string()]]);
    }
    let mut rows = texts(outcome.into_rows())?;
    rows.sort();
    Ok(rows)
}

fn timed(work: impl FnOnce() -> Result<Answers, Failure>) -> Result<(Answers, f64), Failure> {
    let started = clock().now();
    Ok((work()?, started.elapsed().as_secs_f64()))
}

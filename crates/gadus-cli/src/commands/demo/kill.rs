//! `kill -9` in the middle of commits, and what is left afterwards.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use gadus::{Database, Options};
use gadus_base::{Random, clock};

use super::report::{Report, counted};
use super::show::single;
use super::writer::{TABLES, fingerprint};
use crate::failure::Failure;
use crate::shell::shown_seconds;

/// Commits acknowledged before a kill: enough for the log to grow, few enough for a slow disk.
const COMMITS_MIN: u64 = 20;
const COMMITS_MAX: u64 = 300;

/// Kills the writing process again and again, each time in the middle of its commits.
pub(super) fn rounds(path: &Path, kills: u32, report: &mut Report) -> Result<(), Failure> {
    report.heading("kill -9")?;
    Database::open(path, Options::new())?.connect().execute_script(TABLES)?;
    let mut random = Random::from_system();
    let (mut acknowledged, mut unanswered, mut slowest) = (0, 0, 0.0_f64);
    for round in 1..=kills {
        let wanted = COMMITS_MIN + random.below(COMMITS_MAX - COMMITS_MIN);
        let last = write_and_kill(path, wanted)?.unwrap_or(acknowledged);
        let (there, recovery) = recovered(path, last)?;
        slowest = slowest.max(recovery);
        report.line(&format!(
            "  round {round}: {} acknowledged, killed, opened in {}, {} there",
            counted((last - acknowledged).cast_unsigned()),
            shown_seconds(recovery),
            counted((there - acknowledged).cast_unsigned()),
        ))?;
        unanswered += there - last;
        acknowledged = there;
    }
    if unanswered > 0 {
        report.line("  one more is there where a commit was durable before its answer was sent")?;
    }
    let answered = counted((acknowledged - unanswered).cast_unsigned());
    report.figure("commits acknowledged by processes killed with kill -9", &answered);
    report.figure("of these lost", "0");
    report.figure("opening after a kill, slowest", &shown_seconds(slowest));
    Ok(())
}

/// Lets the writer commit, kills it, and returns the last number that it acknowledged.
fn write_and_kill(path: &Path, wanted: u64) -> Result<Option<i64>, Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("demo-writer")
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or_else(|| Failure::message("the writer has no output"))?;
    let mut last = None;
    let mut count = 0;
    let mut output = BufReader::new(output);
    let mut line = String::new();
    // What is in the pipe when the writer dies has been acknowledged too: read to the end.
    while output.read_line(&mut line)? > 0 {
        if let Some(number) = line.strip_suffix('\n') {
            last = number.parse().ok();
        }
        line.clear();
        count += 1;
        if count == wanted {
            child.kill()?;
        }
    }
    child.wait()?;
    if count < wanted {
        return Err(Failure::message("the writer ended by itself"));
    }
    Ok(last)
}

/// Opens what the killed writer left, and verifies it: every acknowledged commit is there, whole;
/// returns the number of the last one, and the seconds that opening took.
fn recovered(path: &Path, acknowledged: i64) -> Result<(i64, f64), Failure> {
    let started = clock().now();
    let connection = Database::open(path, Options::new().create(false))?.connect();
    let seconds = started.elapsed().as_secs_f64();
    let count: i64 = single(&connection, "SELECT count(*) FROM ledger")?;
    let last: i64 = single(&connection, "SELECT max(n) FROM ledger")?;
    let sum: i64 = single(&connection, "SELECT sum(fingerprint) FROM ledger")?;
    let noted: i64 = single(&connection, "SELECT n FROM ledger_total")?;
    let total: i64 = single(&connection, "SELECT total FROM ledger_total")?;
    let expected: i64 = (1..=count).map(fingerprint).sum();
    if count < acknowledged {
        let lost = acknowledged - count;
        return Err(Failure::message(format!("{lost} acknowledged commits are lost")));
    }
    if (count, count, expected, expected) != (last, noted, sum, total) {
        return Err(Failure::message("half a commit is there"));
    }
    Ok((count, seconds))
}

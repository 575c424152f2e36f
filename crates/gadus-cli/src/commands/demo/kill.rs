//! `kill -9` in the middle of commits, and what is left afterwards.

use std::path::Path;

use gadus::{Database, Options};
use gadus_base::{Random, clock, counted};

use super::report::Report;
use crate::commands::ledger::{self, Numbers, Totals, Writing, WritingProcess};
use crate::failure::Failure;
use crate::shell::shown_seconds;

/// Commits acknowledged before a kill: enough for the log to grow, few enough for a slow disk.
const COMMITS_MIN: u64 = 20;
const COMMITS_MAX: u64 = 300;

/// Kills the writing process again and again, each time in the middle of its commits.
pub(super) fn rounds(path: &Path, kills: u32, report: &mut Report) -> Result<(), Failure> {
    report.heading("kill -9")?;
    ledger::create(&Database::open(path, Options::new())?.connect(), 0..1)?;
    let writing = Writing::new(path);
    let mut random = Random::from_system();
    let mut known = Numbers::default();
    let (mut acknowledged, mut unanswered, mut slowest) = (0, 0, 0.0_f64);
    for round in 1..=kills {
        let wanted = COMMITS_MIN + random.below(COMMITS_MAX - COMMITS_MIN);
        let process = WritingProcess::start(&writing, usize::try_from(wanted).unwrap_or(1))?;
        process.wait()?;
        let answered = process.kill()?;
        let (there, recovery) = recovered(path, &answered)?;
        slowest = slowest.max(recovery);
        report.line(&format!(
            "  round {round}: {} acknowledged, killed, opened in {}, {} there",
            counted(answered.beyond(&known)),
            shown_seconds(recovery),
            counted(there.beyond(&known)),
        ))?;
        acknowledged += answered.beyond(&known);
        unanswered += there.beyond(&answered);
        known = there;
    }
    if unanswered > 0 {
        report.line("  one more is there where a commit was durable before its answer was sent")?;
    }
    let acknowledged = counted(acknowledged);
    report.figure("commits acknowledged by processes killed with kill -9", &acknowledged);
    report.figure("of these lost", "0");
    report.figure("opening after a kill, slowest", &shown_seconds(slowest));
    Ok(())
}

/// Opens what the killed process left, and verifies it: every acknowledged commit is there, whole;
/// returns what is there, and the seconds that opening took.
fn recovered(path: &Path, acknowledged: &Numbers) -> Result<(Numbers, f64), Failure> {
    let started = clock().now();
    let connection = Database::open(path, Options::new().create(false))?.connect();
    let seconds = started.elapsed().as_secs_f64();
    let there = Totals::read(&connection)?.verify(&connection, None)?;
    match acknowledged.beyond(&there) {
        0 => Ok((there, seconds)),
        lost => Err(Failure::message(format!("{lost} acknowledged commits are lost"))),
    }
}

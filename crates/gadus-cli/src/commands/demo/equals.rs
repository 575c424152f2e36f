//! Eight processes that write to one file, of which one is killed each second; a ninth reads.

use std::path::Path;
use std::time::Duration;

use gadus::{Connection, Database, Options};
use gadus_base::{Random, clock, counted};

use super::report::Report;
use crate::commands::ledger::{self, Pause, Totals, Writers, Writing, Written};
use crate::commands::pause;
use crate::failure::Failure;
use crate::shell::shown_seconds;

const PROCESSES: u32 = 8;

/// Between two kills.
const ROUND: Duration = Duration::from_secs(1);

/// Lets them write while this process reads; each must be missed by nobody.
pub(super) fn rounds(path: &Path, kills: u32, report: &mut Report) -> Result<(), Failure> {
    report.heading("Eight processes on one file, one killed each second")?;
    let database = Database::open(path, Options::new())?;
    let connection = database.connect();
    ledger::create(&connection, 0..PROCESSES)?;
    let mut writers = Writers::start(&Writing { writers: PROCESSES, ..Writing::new(path) })?;
    let (mut random, mut before) = (Random::from_system(), commits(&connection)?);
    report
        .line("  second   commits   all commits   processes   asking all writers' totals took")?;
    for second in 1..=kills {
        pause(ROUND);
        let victim = writers.any(&mut random);
        writers.wait_for(victim)?;
        let asked = clock().now();
        let all = commits(&connection)?;
        let took = asked.elapsed();
        let processes = database.sessions()?.iter().filter(|one| one.connection == 0).count();
        writers.replace(victim)?;
        report.line(&format!(
            "  {second:>6} {:>9} {:>13} {processes:>11}   {}",
            counted(all - before),
            counted(all),
            shown_seconds(took.as_secs_f64()),
        ))?;
        before = all;
    }
    let Written { acknowledged, stalls, .. } = writers.end()?;
    let there = Totals::read(&connection)?.verify(&connection, None)?;
    match acknowledged.beyond(&there) {
        0 => {}
        lost => return Err(Failure::message(format!("{lost} acknowledged commits are lost"))),
    }
    let longest = stalls.iter().flatten().map(Pause::length).max().unwrap_or_default();
    report.figure("commits of eight processes on one file", &counted(commits(&connection)?));
    report.figure("of these acknowledged and lost, by a kill each second", "0");
    report
        .figure("longest pause of a survivor around a kill", &shown_seconds(longest.as_secs_f64()));
    Ok(())
}

fn commits(connection: &Connection) -> Result<u64, Failure> {
    let totals = "SELECT coalesce(sum(n), 0) FROM ledger_totals";
    let mut rows = connection.query(totals, &[])?;
    let row = rows.next().ok_or_else(|| Failure::message("a sum without a row"))??;
    Ok(row.get::<i64>(0)?.unsigned_abs())
}

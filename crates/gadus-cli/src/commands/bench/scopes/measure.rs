//! Turns of the benchmark: processes are started, released together, and looked at when they are
//! through.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gadus::{ByteCount, CacheScope};
use gadus_base::clock;
use serde_json::Value;

use super::super::figures::Metric;
use super::super::latencies::Latencies;
use super::super::machine::{data_bytes, proportional_bytes};
use super::super::player::Player;
use super::super::rounds::Measured;
use super::super::worker;
use super::Way;
use crate::failure::Failure;

const ELAPSED: Metric = Metric::lower("elapsed", "s");
const RATE: Metric = Metric::higher("queries", "queries/s");
const CPU: Metric = Metric::higher("cpu", "%");
const MEMORY: Metric = Metric::lower("memory", "bytes");
const CAUGHT_UP: Metric = Metric::lower("caught_up_commits", "count");
const CATCHING_UP: Metric = Metric::lower("catching_up_time", "s");
const COMMITS: Metric = Metric::higher("commits", "count");
const PER_CONNECTION: Metric = Metric::lower("memory_per_connection", "bytes");
const CATCH_UP_MEDIAN: Metric = Metric::lower("catch_up_ms_median", "ms");
const CATCH_UP_99: Metric = Metric::lower("catch_up_ms_p99", "ms");

/// The share of the time in which the writer of bursts writes.
const BURST_SHARE: u32 = 10;

/// How readers are started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) way: Way,
    pub(super) cache: ByteCount,
    pub(super) rows: u64,
    pub(super) queries: u32,
}

impl Start {
    /// Processes that together are so many readers of each file.
    fn start(
        &self,
        files: &[PathBuf],
        readers: u32,
        time: Option<Duration>,
    ) -> Result<Vec<Player>, Failure> {
        let (processes, each) = if self.way.processes { (readers, 1) } else { (1, readers) };
        let mut started = Vec::new();
        for file in files {
            for _ in 0..processes {
                let mut command = worker::command("read")?;
                command.arg(file).arg("--readers").arg(each.to_string());
                command.arg("--cache").arg(self.cache.0.to_string());
                command.arg("--rows").arg(self.rows.to_string());
                command.arg("--queries").arg(self.queries.to_string());
                if self.way.scope == CacheScope::Connection {
                    command.arg("--private");
                }
                if let Some(time) = time {
                    command.arg("--time").arg(format!("{}ms", time.as_millis()));
                }
                started.push(Player::start(command)?);
            }
        }
        started.iter_mut().try_for_each(Player::wait_ready)?;
        Ok(started)
    }
}

/// What all answers say together.
fn sum(answers: &[Value], key: &str) -> f64 {
    answers.iter().filter_map(|answer| answer[key].as_f64()).sum()
}

/// Readers of each file do their work.
pub(super) fn play(start: &Start, files: &[PathBuf], readers: u32) -> Result<Measured, Failure> {
    let mut players = start.start(files, readers, None)?;
    let began = clock().now();
    players.iter_mut().try_for_each(Player::go)?;
    let answers = players.iter_mut().map(Player::answer).collect::<Result<Vec<_>, _>>()?;
    let elapsed = began.elapsed().as_secs_f64();
    Ok(vec![
        (ELAPSED, elapsed),
        (RATE, sum(&answers, "asked") / elapsed),
        (CPU, cpu_share(&answers, elapsed)),
        (MEMORY, memory(&players)?),
    ])
}

/// Readers read for a time, of which a process writes in the first part.
pub(super) fn burst(
    start: &Start,
    file: &Path,
    readers: u32,
    time: Duration,
) -> Result<Measured, Failure> {
    let mut players = start.start(&[file.to_owned()], readers, Some(time))?;
    let mut command = worker::command("write")?;
    command.arg(file).arg("--time").arg(format!("{}ms", (time / BURST_SHARE).as_millis()));
    let mut writer = Player::start(command)?;
    writer.wait_ready()?;
    players.iter_mut().chain([&mut writer]).try_for_each(Player::go)?;
    let commits = writer.answer()?;
    let answers = players.iter_mut().map(Player::answer).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![
        (RATE, sum(&answers, "asked") / time.as_secs_f64()),
        (CPU, cpu_share(&answers, time.as_secs_f64())),
        (MEMORY, memory(&players)?),
        (COMMITS, sum(&[commits], "commits")),
        (CAUGHT_UP, sum(&answers, "caught_up")),
        (CATCHING_UP, sum(&answers, "caught_up_seconds")),
    ])
}

/// What a connection takes that is open and does nothing.
#[allow(clippy::cast_precision_loss)] // bytes of some processes
pub(super) fn idle(file: &Path, scope: CacheScope, connections: u32) -> Result<Measured, Failure> {
    let mut command = worker::command("hold")?;
    command.arg(file).arg("--connections").arg(connections.to_string());
    if scope == CacheScope::Connection {
        command.arg("--private");
    }
    let mut player = Player::start(command)?;
    player.wait_ready()?;
    let before = data_bytes(player.pid())?;
    player.go()?;
    player.answer()?;
    let all = data_bytes(player.pid())?.saturating_sub(before);
    Ok(vec![(PER_CONNECTION, all as f64 / f64::from(connections))])
}

/// How long the next statement of another instance takes after a durable change of one row.
pub(super) fn one_row(file: &Path) -> Result<Measured, Failure> {
    let mut command = worker::command("notice")?;
    command.arg(file);
    let mut player = Player::start(command)?;
    player.wait_ready()?;
    player.go()?;
    let latencies = Latencies::from_json(&player.answer()?["latencies"])?;
    Ok(vec![
        (CATCH_UP_MEDIAN, latencies.percentile_ms(0.5)),
        (CATCH_UP_99, latencies.percentile_ms(0.99)),
    ])
}

/// Of all processors, in per cent.
#[allow(clippy::cast_precision_loss)] // a count of processors
fn cpu_share(answers: &[Value], elapsed: f64) -> f64 {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    100.0 * sum(answers, "cpu_seconds") / elapsed / processors
}

#[allow(clippy::cast_precision_loss)] // bytes of some processes
fn memory(players: &[Player]) -> Result<f64, Failure> {
    let bytes = players.iter().map(|player| proportional_bytes(player.pid()));
    Ok(bytes.sum::<Result<u64, _>>()? as f64)
}

//! Processes that ask questions about bookings in turns: two with a copy of the file each, and one of
//! which the memory is looked at.
//!
//! - Such a process has read all columns, and answered statements one at a time, before its first turn:
//!   what it takes beside that is what many outstanding statements take.
//! - Each of two copies is scanned by one thread, and has half of the outstanding statements.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gadus::{Connection, Database, Options};
use serde_json::{Value, json};

use super::super::load::threads;
use super::super::memory_watch::Watch;
use super::super::player::{Player, next_task};
use super::super::rounds::Measured;
use super::super::worker;
use super::super::workplace::Workplace;
use super::turn::{Answered, play};
use super::{Bookings, DRAWN, clients, settle};
use crate::failure::Failure;
use crate::generate::statements::{Sample, Statements};

/// Statements that are asked one at a time at first: each shape of queries three times.
const ALONE: usize = 36;

/// How such a process opens its file.
#[derive(Debug, Clone, clap::Args)]
pub(in super::super) struct Asking {
    /// Threads of a scan
    #[arg(long)]
    threads: usize,
    /// Statements that are outstanding at most
    #[arg(long)]
    batch: u32,
    /// Threads that ask and read answers
    #[arg(long)]
    clients: u32,
    /// Whether statements share scans
    #[arg(long)]
    sharing: String,
}

/// What such a process does: turns, as it is told.
pub(in super::super) fn ask(file: &Path, asking: &Asking) -> Result<(), Failure> {
    let options = Options::new().create(false).threads(asking.threads);
    let database = Database::open(file, options)?;
    let connection = database.connect();
    settle(&connection, &asking.sharing, asking.batch)?;
    let clients = clients(&database, asking.clients, &asking.sharing, asking.batch)?;
    let sample = Sample::of(&connection)?;
    warm_up(&connection, &sample)?;
    let mut drawn = HashMap::new();
    writeln!(io::stdout(), "ready")?;
    while let Some(task) = next_task()? {
        let number = |key: &str| task[key].as_u64().and_then(|number| u32::try_from(number).ok());
        let wrong = || Failure::message(format!("what is to be done: {task}"));
        let (after, outstanding) = number("after").zip(number("outstanding")).ok_or_else(wrong)?;
        let time = Duration::from_millis(u64::from(number("milliseconds").ok_or_else(wrong)?));
        let draw = || Statements::drawn_from(&sample, after, DRAWN);
        let statements = &*drawn.entry(after).or_insert_with(draw);
        // Looking takes time of its own, which is not to be taken from a rate.
        let watched = task["memory"].as_bool().unwrap_or(false);
        let watch = watched.then(Watch::begin).transpose()?;
        let answered = play(&clients, statements, outstanding, time, &|| ())?;
        let answer = json!({ "answered": answered.to_json(), "memory_bytes": watch.map(Watch::bytes).transpose()? });
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

fn warm_up(connection: &Connection, sample: &Sample) -> Result<(), Failure> {
    let mut all = connection.query("SELECT * FROM bookings", &[])?;
    while all.next_batch()?.is_some() {}
    for text in &Statements::drawn_from(sample, 0, ALONE).texts {
        connection.query(text, &[])?.collect_batches()?;
    }
    Ok(())
}

/// A started process.
struct Asker(Player);

impl Asker {
    fn start(
        file: &Path,
        command: &Bookings,
        threads: usize,
        clients: u32,
    ) -> Result<Self, Failure> {
        let mut worker = worker::command("ask")?;
        worker.arg("--clients").arg(clients.to_string());
        worker.arg(file).arg("--threads").arg(threads.to_string());
        worker.arg("--batch").arg(command.batch().to_string());
        worker.arg("--sharing").arg(&command.sharing);
        Ok(Self(Player::start(worker)?))
    }

    fn begin(
        &mut self,
        after: u32,
        outstanding: u32,
        time: Duration,
        memory: bool,
    ) -> Result<(), Failure> {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let task = json!({ "after": after, "outstanding": outstanding, "milliseconds": milliseconds, "memory": memory });
        self.0.tell(&task.to_string())
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // It closes its database, or is killed.
        let _ = self.0.end();
    }
}

/// Two processes with a copy of the file each.
pub(super) struct Copies([Asker; 2]);

impl Copies {
    pub(super) fn make(
        place: &Workplace,
        parquet: &Path,
        command: &Bookings,
    ) -> Result<Self, Failure> {
        let start = |name: &str| {
            let file = copy(place, parquet, name)?;
            Asker::start(&file, command, 1, command.clients().div_ceil(2))
        };
        let mut askers = [start("one.db")?, start("two.db")?];
        askers.iter_mut().try_for_each(|asker| asker.0.wait_ready())?;
        Ok(Self(askers))
    }

    /// One turn of both.
    pub(super) fn play(
        &mut self,
        after: u32,
        outstanding: u32,
        time: Duration,
    ) -> Result<Measured, Failure> {
        let halves = [outstanding.div_ceil(2), outstanding / 2];
        for (asker, half) in self.0.iter_mut().zip(halves) {
            asker.begin(after, half, time, false)?;
        }
        let mut answered = Answered::default();
        for asker in &mut self.0 {
            answered.add(&Answered::from_json(&asker.0.answer()?["answered"])?);
        }
        Ok(answered.figures())
    }
}

/// Loads the bookings into one more file, in a process that ends then.
fn copy(place: &Workplace, parquet: &Path, name: &str) -> Result<PathBuf, Failure> {
    let file = place.path(name);
    let mut worker = worker::command("load")?;
    worker.arg(&file).arg(parquet).arg("--threads").arg(threads().to_string());
    worker::answer(worker)?;
    Ok(file)
}

/// What a new process takes, beside the data, while so many statements are outstanding.
#[allow(clippy::cast_precision_loss)] // bytes of a process
pub(super) fn memory_mib(
    file: &Path,
    command: &Bookings,
    after: u32,
    outstanding: u32,
) -> Result<f64, Failure> {
    let mut asker = Asker::start(file, command, threads(), command.clients())?;
    asker.0.wait_ready()?;
    asker.begin(after, outstanding, command.time, true)?;
    let answer: Value = asker.0.answer()?;
    let bytes = answer["memory_bytes"].as_u64();
    let bytes = bytes.ok_or_else(|| Failure::message(format!("no memory in {answer}")))?;
    Ok(bytes as f64 / f64::from(1 << 20))
}

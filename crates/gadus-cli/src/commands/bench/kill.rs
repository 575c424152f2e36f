//! `gadus bench kill`: a process with several writers, small checkpoints and random death.
//!
//! - Each round starts a writing process on what the last one left, kills it with SIGKILL at a
//!   random moment, sometimes while it still opens, and looks at the files from a third process.
//! - A commit counts as acknowledged when the line that says so has left the writing process.
//! - What a round found wrong is printed, its files are kept, and the next begins with new ones.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use clap::Args;
use gadus::{ByteCount, Connection, Database, ErrorKind, Options, Statement, params};
use gadus_base::{Random, clock};
use serde_json::{Value, json};

use super::figures::{self, Figure, Metric};
use super::machine::Machine;
use super::workplace::{Workplace, remove_database};
use super::{Common, scan, worker};
use crate::failure::Failure;
use crate::progress::Progress;

const KILLS: Metric = Metric::higher("kills", "count");
const LOST: Metric = Metric::lower("lost", "count");
const ERRORS: Metric = Metric::lower("errors", "count");
const ACKNOWLEDGED: Metric = Metric::higher("acknowledged", "count");
const CHECKPOINTED: Metric = Metric::higher("kills_after_new_checkpoints", "count");
const OPENING: Metric = Metric::lower("open_time_max", "s");

/// Log bytes after which the writers' database writes a checkpoint: several a round.
const CHECKPOINT_LOG: ByteCount = ByteCount::kib(128);
/// Rows that each writer keeps in the ledger; older ones it deletes.
const LEDGER_ROWS: i64 = 500;
/// A writer lives at most this long after its first acknowledged commit …
const LIFE_MS_MAX: u64 = 120;
/// … and one round of this many kills it this soon after its start, whatever it does then.
const EARLY_ONE_IN: u64 = 8;
const EARLY_US_MAX: u64 = 20_000;
/// Longer than any disk needs for opening and one commit.
const FIRST_COMMIT_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench kill --kills 1000 --json")]
pub(super) struct Kill {
    /// How often the writing process is killed
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Threads of the writing process that commit
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    writers: u32,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Writer {
    file: PathBuf,
    #[arg(long)]
    writers: u32,
}

/// What the rounds found together.
#[derive(Debug, Default)]
struct Found {
    lost: u64,
    errors: u64,
    acknowledged: u64,
    checkpointed: u64,
    slowest: f64,
}

pub(super) fn run(command: &Kill) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    machine.look_around()?;
    let file = place.path("kill.db");
    prepare(&file, command.writers)?;
    let (mut random, mut found) = (Random::from_system(), Found::default());
    let mut known = Ledger::default();
    let mut progress = Progress::new("killing", u64::from(command.kills));
    for round in 1..=command.kills {
        let acknowledged = write_and_kill(&file, command.writers, &mut random)?;
        found.acknowledged += acknowledged
            .iter()
            .map(|(writer, n)| n - known.n(*writer))
            .sum::<i64>()
            .cast_unsigned();
        match look(&file, command.writers, &acknowledged, &known, &mut found) {
            Ok(ledger) => known = ledger,
            Err(problem) => {
                found.errors += 1;
                let kept = keep(&place, &file, round)?;
                writeln!(io::stderr(), "kill {round}: {problem}; kept in {}", kept.display())?;
                prepare(&file, command.writers)?;
                known = Ledger::default();
            }
        }
        progress.advance(1);
    }
    drop(progress);
    report(command, &found, machine.was_quiet()?)
}

#[allow(clippy::cast_precision_loss)] // counts below 2^53
fn report(command: &Kill, found: &Found, quiet: bool) -> Result<(), Failure> {
    let case = format!("{} writers", command.writers);
    let rounds = command.kills as usize;
    let figures = [
        (KILLS, f64::from(command.kills)),
        (ACKNOWLEDGED, found.acknowledged as f64),
        (LOST, found.lost as f64),
        (ERRORS, found.errors as f64),
        (CHECKPOINTED, found.checkpointed as f64),
        (OPENING, found.slowest),
    ];
    let figures = figures.map(|(metric, value)| Figure::alone(&case, metric, value, rounds));
    figures::print("kill", &figures, quiet, command.common.json)
}

/// What a database holds: the last number of each writer, and the last commit in a checkpoint.
#[derive(Debug, Default)]
struct Ledger {
    last: BTreeMap<i64, i64>,
    checkpoint: u64,
}

impl Ledger {
    fn n(&self, writer: i64) -> i64 {
        self.last.get(&writer).copied().unwrap_or(0)
    }
}

/// A new database with the writers' tables.
fn prepare(file: &Path, writers: u32) -> Result<(), Failure> {
    remove_database(file)?;
    let connection = Database::open(file, Options::new())?.connect();
    connection.execute_script(
        "CREATE TABLE ledger (writer BIGINT, n BIGINT, fingerprint BIGINT NOT NULL,
                              PRIMARY KEY (writer, n));
         CREATE TABLE totals (writer BIGINT PRIMARY KEY, n BIGINT NOT NULL, total BIGINT NOT NULL)",
    )?;
    for writer in 0..i64::from(writers) {
        connection.execute("INSERT INTO totals VALUES (?, 0, 0)", params![writer])?;
    }
    Ok(())
}

/// Starts a writing process and kills it; returns the last number that each writer acknowledged.
fn write_and_kill(
    file: &Path,
    writers: u32,
    random: &mut Random,
) -> Result<BTreeMap<i64, i64>, Failure> {
    let mut command = worker::command("write")?;
    let mut child = command.arg(file).args(["--writers", &writers.to_string()]).spawn()?;
    let output = child.stdout.take().ok_or_else(|| Failure::message("a writer without output"))?;
    let (first, begun) = channel();
    let reading = gadus_base::spawn("acknowledged", move || {
        acknowledged(output, || {
            // Nobody waits for the first commit of a process that is killed early.
            let _ = first.send(());
        })
    })?;
    let life = if random.below(EARLY_ONE_IN) == 0 {
        Duration::from_micros(random.below(EARLY_US_MAX))
    } else {
        wait_begun(&begun)?;
        Duration::from_millis(random.below(LIFE_MS_MAX))
    };
    let end = clock().now().plus(life);
    while !end.since(clock().now()).is_zero() {
        std::thread::park_timeout(end.since(clock().now()));
    }
    if let Some(status) = child.try_wait()? {
        return Err(Failure::message(format!("the writer ended by itself: {status}")));
    }
    child.kill()?;
    child.wait()?;
    reading.join().map_err(|_| Failure::message("reading what was acknowledged broke off"))?
}

fn wait_begun(begun: &Receiver<()>) -> Result<(), Failure> {
    match begun.recv_timeout(FIRST_COMMIT_MAX) {
        Ok(()) => Ok(()),
        Err(RecvTimeoutError::Timeout) => Err(Failure::message("the writer does not commit")),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::message("the writer ended by itself")),
    }
}

/// Reads lines of "writer number" to their end: what is in the pipe was acknowledged, too.
fn acknowledged(
    output: ChildStdout,
    mut on_first: impl FnMut(),
) -> Result<BTreeMap<i64, i64>, Failure> {
    let mut last = BTreeMap::new();
    let mut output = BufReader::new(output);
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        // A line without its end was being written.
        let words = line.strip_suffix('\n').and_then(|line| line.split_once(' '));
        if let Some((writer, n)) = words
            && let (Ok(writer), Ok(n)) = (writer.parse(), n.parse())
        {
            if last.is_empty() {
                on_first();
            }
            last.insert(writer, n);
        }
        line.clear();
    }
    Ok(last)
}

/// Looks at what a killed process left, from a new one.
fn look(
    file: &Path,
    writers: u32,
    acknowledged: &BTreeMap<i64, i64>,
    before: &Ledger,
    found: &mut Found,
) -> Result<Ledger, Failure> {
    let mut command = worker::command("verify")?;
    command.arg(file);
    let answer = worker::answer(command)?;
    if let Some(problem) = answer["problem"].as_str() {
        return Err(Failure::message(problem));
    }
    let last = answer["last"].as_array().into_iter().flatten().enumerate();
    let last: BTreeMap<i64, i64> =
        last.filter_map(|(writer, n)| Some((i64::try_from(writer).ok()?, n.as_i64()?))).collect();
    if last.len() != writers as usize {
        return Err(Failure::message(format!("not {writers} writers: {answer}")));
    }
    let ledger = Ledger { last, checkpoint: answer["checkpoint"].as_u64().unwrap_or(0) };
    for (&writer, &n) in before.last.iter().chain(acknowledged) {
        // Also what the last look found, and so was durable then.
        found.lost += (n - ledger.n(writer)).max(0).cast_unsigned();
    }
    found.checkpointed += u64::from(ledger.checkpoint > before.checkpoint);
    found.slowest = found.slowest.max(answer["seconds"].as_f64().unwrap_or(0.0));
    Ok(ledger)
}

/// Copies the files of a round that found something.
fn keep(place: &Workplace, file: &Path, round: u32) -> Result<PathBuf, Failure> {
    let folder = place.kept.join(format!("kill-{}-{round}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for entry in std::fs::read_dir(place.folder())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&name) {
            std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(folder)
}

/// The writing process: commits from several threads until it is killed.
pub(super) fn write(command: &Writer) -> Result<(), Failure> {
    let options = Options::new().create(false).checkpoint_log(CHECKPOINT_LOG);
    let database = Database::open(&command.file, options)?;
    std::thread::scope(|scope| {
        let start = |writer: u32| {
            let connection = database.connect();
            scope.spawn(move || Statements::prepare(&connection)?.run(i64::from(writer)))
        };
        let threads: Vec<_> = (0..command.writers).map(start).collect();
        for thread in threads {
            thread.join().map_err(|_| Failure::message("a writer broke off"))??;
        }
        Ok(())
    })
}

/// What a writer does in one commit.
struct Statements<'a> {
    connection: &'a Connection,
    insert: Statement,
    total: Statement,
    delete: Statement,
}

impl<'a> Statements<'a> {
    fn prepare(connection: &'a Connection) -> Result<Self, Failure> {
        Ok(Self {
            connection,
            insert: connection.prepare("INSERT INTO ledger VALUES (?, ?, ?)")?,
            total: connection
                .prepare("UPDATE totals SET n = ?, total = total + ? WHERE writer = ?")?,
            delete: connection.prepare("DELETE FROM ledger WHERE writer = ? AND n = ?")?,
        })
    }

    fn run(&self, writer: i64) -> Result<(), Failure> {
        let rows =
            self.connection.query("SELECT n FROM totals WHERE writer = ?", params![writer])?;
        let mut n: i64 = match rows.into_iter().next() {
            Some(row) => row?.get(0)?,
            None => return Err(Failure::message("the writer has no total")),
        };
        loop {
            n += 1;
            while let Err(error) = self.commit(writer, n) {
                // Maintenance moved a row meanwhile: what anybody does then, again.
                if error.kind() != ErrorKind::Conflict {
                    return Err(error.into());
                }
                if self.connection.in_transaction() {
                    self.connection.execute("ROLLBACK", &[])?;
                }
            }
            let mut output = io::stdout().lock();
            writeln!(output, "{writer} {n}")?;
            output.flush()?;
        }
    }

    fn commit(&self, writer: i64, n: i64) -> gadus::Result<()> {
        self.connection.execute("BEGIN", &[])?;
        self.insert.execute(params![writer, n, fingerprint(writer, n)])?;
        self.total.execute(params![n, fingerprint(writer, n), writer])?;
        self.delete.execute(params![writer, n - LEDGER_ROWS])?;
        self.connection.execute("COMMIT", &[])?;
        Ok(())
    }
}

/// What stands beside a number: 32 bits, so that sums of many fit.
fn fingerprint(writer: i64, n: i64) -> i64 {
    let mut random = Random::seeded(writer.cast_unsigned()).child(n.cast_unsigned());
    (random.next_u64() >> 32).cast_signed()
}

/// The verifying process: checks the files as they are, then what a reader finds in them.
pub(super) fn verify(file: &Path) -> Result<Value, Failure> {
    let checked = gadus::check(file, |_, _| ())?;
    if let Some(problem) = checked.problems.first() {
        return Ok(json!({ "problem": format!("gadus check: {problem}") }));
    }
    let started = clock().now();
    let options = Options::new().create(false).read_only(true);
    let connection = Database::open(file, options)?.connect();
    let totals = numbers(&connection, "SELECT n, total FROM totals ORDER BY writer")?;
    let seconds = started.elapsed().as_secs_f64();
    let mut last = Vec::new();
    for (writer, total) in (0..).zip(&totals) {
        let &[n, total] = &total[..] else { continue };
        let sql = format!(
            "SELECT count(*), coalesce(min(n), 1), coalesce(max(n), 0), \
             coalesce(sum(fingerprint), 0) FROM ledger WHERE writer = {writer}"
        );
        let ledger = numbers(&connection, &sql)?;
        let first = (n - LEDGER_ROWS + 1).max(1);
        let sum = |first: i64| (first..=n).map(|n| fingerprint(writer, n)).sum::<i64>();
        let expected = vec![vec![n - first + 1, first, n, sum(first)]];
        if total != sum(1) || ledger != expected {
            let problem =
                format!("half a commit of writer {writer}: {n}, {total}, {ledger:?}, {expected:?}");
            return Ok(json!({ "problem": problem }));
        }
        last.push(n);
    }
    let checkpoint = checked.last_commit.0 - checked.log_records as u64;
    Ok(json!({ "last": last, "checkpoint": checkpoint, "seconds": seconds }))
}

fn numbers(connection: &Connection, sql: &str) -> Result<Vec<Vec<i64>>, Failure> {
    let texts = scan::texts(connection.query(sql, &[])?)?;
    let number = |text: String| {
        text.parse().map_err(|_| Failure::message(format!("{sql}: {text} is no whole number")))
    };
    texts.into_iter().map(|row| row.into_iter().map(number).collect()).collect()
}

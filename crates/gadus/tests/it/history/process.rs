//! Processes that run random transactions, some of which are killed, until there are enough of both.
//!
//! - A process is this program again, told by its environment what to do. It tells each step in one
//!   write to a pipe, before what it announces and after what it reports.
//! - Kills come after so many lines, whatever the processes do then, or when one of them commits.

use super::checker::{Summary, check};
use super::log::{Level, Seen};
use crate::files::Folder;
use gadus::{ByteCount, Connection, Database, Error, ErrorKind, Options};
use gadus_base::Random;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

const PROCESSES: usize = 4;
/// In each process, as threads.
const SESSIONS: u64 = 2;
const KEYS: u64 = 10;
const TRANSACTIONS: usize = 2_400;
const KILLS: usize = 24;
/// Lines between kills, on average; a transaction tells five or so.
const KILL_LINES: u64 = 400;
/// One of so many kills takes all processes, so that the next one recovers.
const KILLS_OF_ALL: u64 = 8;

const FOLDER: &str = "GADUS_HISTORY_TEST_FOLDER";
const NUMBER: &str = "GADUS_HISTORY_TEST_NUMBER";
const SEED: &str = "GADUS_HISTORY_TEST_SEED";

/// A process, which does not outlive its test.
struct Process {
    number: u64,
    child: Child,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts processes, and gives each another number.
struct Processes<'a> {
    folder: &'a Path,
    seed: u64,
    pipe: PipeWriter,
    started: u64,
}

impl Processes<'_> {
    fn start(&mut self) -> Process {
        self.started += 1;
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "history::process::child", "--nocapture"]);
        command.env(FOLDER, self.folder).env(NUMBER, self.started.to_string());
        command.env(SEED, self.seed.to_string()).stdout(self.pipe.try_clone().unwrap());
        Process { number: self.started, child: command.spawn().unwrap() }
    }
}

fn open(folder: &Path) -> Result<Database, Error> {
    // Checkpoints are written, and the log is recycled, many times.
    let options = Options::new().threads(1).checkpoint_log(ByteCount(16 << 10));
    Database::open(folder.join("x.gadus"), options)
}

#[test]
fn histories_of_processes_are_what_their_levels_promise_whoever_is_killed() {
    let seed = std::env::var(SEED).map_or_else(
        |_| Random::from_system().next_u64(),
        |seed| seed.parse().expect("a seed is a number"),
    );
    let folder = Folder::new();
    let path = folder.path("");
    let connection = open(&path).unwrap().connect();
    let columns = "id BIGINT PRIMARY KEY, version BIGINT, writer BIGINT, before BIGINT";
    connection.execute(&format!("CREATE TABLE r ({columns})"), &[]).unwrap();
    let rows = (1..=KEYS).map(|key| format!("({key}, 0, 0, 0)")).collect::<Vec<_>>();
    connection.execute(&format!("INSERT INTO r VALUES {}", rows.join(", ")), &[]).unwrap();
    drop(connection);
    let (mut lines, kills) = run(&path, seed);
    let connection = open(&path).unwrap().connect();
    lines.push("1 begins snapshot".to_owned());
    let last = read(&connection, "SELECT id, version, writer FROM r").unwrap();
    assert_eq!(last.len() as u64, KEYS);
    lines.push(format!("1 read{}", shown(&last)));
    drop(connection);
    let summary = check(&lines).unwrap_or_else(|anomaly| {
        let kept = format!("{}/history-{seed}", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&kept, lines.join("\n")).unwrap();
        panic!("{SEED}={seed}, {kept}: {:?}: {}", anomaly.kind, anomaly.what);
    });
    println!("{} lines, {kills} kills: {summary:?}", lines.len());
    let Summary { committed, aborted, writers, .. } = summary;
    assert!(committed + aborted >= TRANSACTIONS, "{summary:?}");
    assert!(aborted > TRANSACTIONS / 100 && writers > TRANSACTIONS / 10, "{summary:?}");
    assert!(gadus::check(path.join("x.gadus"), |_, _| ()).unwrap().problems.is_empty());
}

/// Gives what the processes told, and how many of them were killed.
fn run(folder: &Path, seed: u64) -> (Vec<String>, usize) {
    let (reader, pipe) = std::io::pipe().unwrap();
    let mut processes = Processes { folder, seed, pipe, started: 0 };
    let mut running = (0..PROCESSES).map(|_| processes.start()).collect::<Vec<_>>();
    let mut processes = Some(processes);
    let mut kill = Kill { random: Random::seeded(seed), line: KILL_LINES, in_commit: false };
    let (mut lines, mut ended, mut kills) = (Vec::new(), 0, 0);
    for line in BufReader::new(reader).lines() {
        let line = line.unwrap();
        let Some((_, line)) = line.split_once('@') else { continue };
        assert!(!line.starts_with("failed"), "{SEED}={seed}: {line}");
        ended += usize::from(line.ends_with(" committed") && !line.contains("begins"));
        ended += usize::from(line.ends_with(" aborted"));
        lines.push(line.to_owned());
        let Some(starting) = &mut processes else { continue };
        let victims = kill.victims(&lines, &running);
        for victim in &mut running[victims.clone()] {
            victim.child.kill().unwrap();
            victim.child.wait().unwrap();
            kills += 1;
        }
        running[victims].iter_mut().for_each(|process| *process = starting.start());
        if ended >= TRANSACTIONS && kills >= KILLS {
            File::create(folder.join("stop")).unwrap();
            // The pipe ends with the last process.
            processes = None;
        }
    }
    for process in &mut running {
        assert!(process.child.wait().unwrap().success(), "{SEED}={seed}");
    }
    (lines, kills)
}

/// When somebody is killed next, and who.
struct Kill {
    random: Random,
    /// Not before so many lines.
    line: u64,
    /// When one says that it commits.
    in_commit: bool,
}

impl Kill {
    fn victims(&mut self, lines: &[String], running: &[Process]) -> Range<usize> {
        let last = &lines[lines.len() - 1];
        let waits = self.in_commit && !last.ends_with(" commits");
        if (lines.len() as u64) < self.line || waits {
            return 0..0;
        }
        self.line = lines.len() as u64 + 1 + self.random.below(2 * KILL_LINES);
        let in_commit = std::mem::replace(&mut self.in_commit, self.random.chance(0.7));
        if self.random.below(KILLS_OF_ALL) == 0 {
            return 0..PROCESSES;
        }
        let number = last.split(' ').next().and_then(|number| number.parse::<u64>().ok());
        let number = number.map(|number| (number >> 20) / SESSIONS);
        let committing = running.iter().position(|process| Some(process.number) == number);
        // It may have been killed before its line was read.
        let any = usize::try_from(self.random.below(PROCESSES as u64)).unwrap();
        let victim = committing.filter(|_| in_commit).unwrap_or(any);
        victim..victim + 1
    }
}

/// What a process does; nothing in the parent.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    let [number, seed] = [NUMBER, SEED].map(|name| std::env::var(name).unwrap().parse().unwrap());
    let pipe = File::from(std::io::stdout().as_fd().try_clone_to_owned().unwrap());
    let played = std::panic::catch_unwind(|| {
        let database = open(&folder)?;
        std::thread::scope(|scope| {
            let sessions = (0..SESSIONS).map(|session| {
                let (database, folder, pipe) = (&database, &folder, &pipe);
                let number = number * SESSIONS + session;
                scope.spawn(move || Session::new(database, pipe, number, seed).run(folder))
            });
            let sessions = sessions.collect::<Vec<_>>();
            sessions.into_iter().try_for_each(|session| session.join().unwrap())
        })
    });
    match played {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tell(&pipe, format!("failed: {:?}: {error}", error.kind())),
        Err(_) => tell(&pipe, "failed: a panic"),
    }
}

/// One line, whole or not at all: a pipe takes so few bytes in one piece.
fn tell(mut pipe: &File, line: impl Display) {
    let line = format!("@{line}\n");
    assert!(line.len() < 4096, "{line}");
    pipe.write_all(line.as_bytes()).unwrap();
}

fn shown(rows: &[Seen]) -> String {
    let shown = rows.iter().map(|row| format!(" {}:{}:{}", row.key, row.version, row.writer));
    shown.collect()
}

fn read(connection: &Connection, sql: &str) -> Result<Vec<Seen>, Error> {
    let rows = connection.query(sql, &[])?;
    let number = |number: i64| u64::try_from(number).expect("no number is negative");
    let seen = rows.map(|row| {
        let row = row?;
        let [key, version, writer] = [row.get(0)?, row.get(1)?, row.get(2)?].map(number);
        Ok(Seen { key, version, writer })
    });
    seen.collect()
}

/// One connection, and what it tells.
struct Session<'a> {
    database: &'a Database,
    connection: Connection,
    pipe: &'a File,
    random: Random,
    /// The next transaction.
    number: u64,
}

impl<'a> Session<'a> {
    fn new(database: &'a Database, pipe: &'a File, number: u64, seed: u64) -> Self {
        let (connection, number) = (database.connect(), number << 20);
        Self { database, connection, pipe, random: Random::seeded(seed ^ number), number }
    }

    fn run(mut self, folder: &Path) -> Result<(), Error> {
        while !folder.join("stop").exists() {
            self.number += 1;
            if let Err(error) = self.transact() {
                let kind = error.kind();
                if !matches!(kind, ErrorKind::Conflict | ErrorKind::Deadlock | ErrorKind::Locked) {
                    return Err(error);
                }
                if self.connection.in_transaction() {
                    self.connection.execute("ROLLBACK", &[])?;
                }
                self.tell("aborted");
            }
            if self.random.chance(0.01) {
                self.database.checkpoint()?;
            }
        }
        Ok(())
    }

    fn tell(&self, what: impl Display) {
        tell(self.pipe, format!("{} {what}", self.number));
    }

    fn transact(&mut self) -> Result<(), Error> {
        let level = match self.random.below(10) {
            0..3 => Level::Snapshot,
            3..6 => Level::Committed,
            _ => Level::Serializable,
        };
        let (told, sql) = match level {
            Level::Snapshot => ("snapshot", "SNAPSHOT"),
            Level::Committed => ("committed", "READ COMMITTED"),
            Level::Serializable => ("serializable", "SERIALIZABLE"),
        };
        self.tell(format!("begins {told}"));
        self.connection.execute(&format!("BEGIN ISOLATION LEVEL {sql}"), &[])?;
        for _ in 0..1 + self.random.below(4) {
            match self.random.below(10) {
                0..4 => {
                    let keys = self.keys(3);
                    self.read(&keys, "")?;
                }
                4 => self.read("true", "")?,
                5 => {
                    let keys = self.keys(2);
                    self.read(&keys, " FOR UPDATE")?;
                }
                _ => self.write()?,
            }
        }
        if self.random.chance(0.1) {
            self.connection.execute("ROLLBACK", &[])?;
            self.tell("aborted");
            return Ok(());
        }
        self.tell("commits");
        self.connection.execute("COMMIT", &[])?;
        self.tell("committed");
        Ok(())
    }

    /// A condition that names some keys.
    fn keys(&mut self, count_max: u64) -> String {
        let count = 1 + self.random.below(count_max);
        let keys = (0..count).map(|_| (1 + self.random.below(KEYS)).to_string());
        match &keys.collect::<Vec<_>>()[..] {
            [key] => format!("id = {key}"),
            keys => format!("id IN ({})", keys.join(", ")),
        }
    }

    fn read(&self, rows: &str, how: &str) -> Result<(), Error> {
        let sql = format!("SELECT id, version, writer FROM r WHERE {rows}{how}");
        let seen = read(&self.connection, &sql)?;
        self.tell(format!("read{}", shown(&seen)));
        Ok(())
    }

    /// Changes some rows, which it has read or not.
    fn write(&mut self) -> Result<(), Error> {
        let rows = self.keys(2);
        if self.random.chance(0.5) {
            self.read(&rows, "")?;
        }
        let set = format!("version = version + 1, before = writer, writer = {}", self.number);
        let changed = self.connection.execute(&format!("UPDATE r SET {set} WHERE {rows}"), &[])?;
        let made = format!("SELECT id, version, before FROM r WHERE {rows}");
        let made = read(&self.connection, &made)?;
        assert_eq!(made.len() as u64, changed, "{rows}");
        self.tell(format!("wrote{}", shown(&made)));
        Ok(())
    }
}

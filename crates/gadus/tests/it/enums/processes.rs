//! Enumerations among processes, of which one is killed.

use super::is_no_label;
use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Options};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const FILE: &str = "GADUS_ENUMS_FILE";

/// A process that carries out statements, one a line, and says of each how it went.
struct Process {
    child: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(file: &std::path::Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "enums::processes::child", "--nocapture"])
            .env(FILE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, to, from: BufReader::new(from).lines() }
    }

    fn says(&mut self, sql: &str) -> String {
        writeln!(self.to, "{sql}").unwrap();
        let mut lines = self.from.by_ref().map(Result::unwrap);
        // The harness has words of its own.
        let said =
            lines.find_map(|line| line.split_once("said: ").map(|(_, said)| said.to_owned()));
        said.unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What a process does; nothing in the parent.
#[test]
fn child() {
    let Ok(file) = std::env::var(FILE) else { return };
    let connection = Database::open(file, Options::new()).unwrap().connect();
    for line in std::io::stdin().lines() {
        let said = match connection.execute(&line.unwrap(), &[]) {
            Ok(_) => "done".to_owned(),
            Err(error) => error.to_string(),
        };
        println!("said: {said}");
    }
}

fn open(folder: &Folder) -> Connection {
    Database::open(folder.path("x.gadus"), Options::new()).unwrap().connect()
}

#[test]
fn types_are_everybodys_and_stay_when_a_process_is_killed() {
    let folder = Folder::new();
    let connection = open(&folder);
    super::fill(&connection);
    let mut other = Process::start(&folder.path("x.gadus"));
    assert_eq!(other.says("INSERT INTO t VALUES (4, 'happy')"), "done");
    assert!(other.says("INSERT INTO t VALUES (5, 'x')").contains("invalid input value for enum"));
    run(&connection, "ALTER TYPE mood ADD VALUE 'great' BEFORE 'happy'");
    assert_eq!(other.says("INSERT INTO t VALUES (5, 'great')"), "done");
    assert_eq!(other.says("CREATE TYPE second AS ENUM ('a')"), "done");
    assert_eq!(other.says("ALTER TYPE mood ADD VALUE 'last'"), "done");
    assert_eq!(other.says("ALTER TABLE t ADD COLUMN s second DEFAULT 'a'"), "done");
    assert_eq!(rows(&connection, "SELECT m, s FROM t WHERE m = 'great'"), ["great a"]);
    assert_eq!(other.says("BEGIN"), "done");
    assert_eq!(other.says("ALTER TYPE mood ADD VALUE 'lost'"), "done");
    drop(connection);
    other.kill();
    let connection = open(&folder);
    let all = "SELECT array_to_string(enum_range(NULL::mood), ' '), 'a'::second";
    assert_eq!(rows(&connection, all), ["sad ok great happy last a"]);
    is_no_label(&refused(&connection, "INSERT INTO t VALUES (6, 'lost')"), "lost");
    run(&connection, "INSERT INTO t VALUES (6, 'last')");
    run(&connection, "CHECKPOINT");
    drop(connection);
    let connection = open(&folder);
    assert_eq!(rows(&connection, "SELECT id FROM t WHERE m = 'last'"), ["6"]);
    assert_eq!(rows(&connection, all), ["sad ok great happy last a"]);
    drop(connection);
    let report = gadus::check(folder.path("x.gadus"), |_, _| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

//! The program where the system gives it few threads: it works, or ends and says what is missing.

use crate::control_group::Group;
use crate::folder::{Folder, error_of};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Tasks of the group, of which the program that ends a hang takes one.
const TASKS: std::ops::Range<u32> = 3..14;

/// Exit code of `timeout` for a program that it has ended.
const HANGS: i32 = 124;

/// The program, ended after a minute.
fn timed(folder: &Folder, arguments: &[&str]) -> Command {
    let program = folder.gadus(arguments);
    let mut timed = Command::new("timeout");
    timed.arg("60").arg(program.get_program()).args(program.get_args());
    timed.current_dir(folder.path("")).stdin(Stdio::null());
    timed.env("XDG_CACHE_HOME", folder.path("caches"));
    timed
}

fn is_told(error: &str) -> bool {
    error.contains("the system has no thread") && !error.contains("panicked")
}

fn with_tables() -> Folder {
    let folder = Folder::new();
    let create = "CREATE TABLE t (k INT PRIMARY KEY, v TEXT); \
                  INSERT INTO t SELECT i, 'v' || i FROM generate_series(1, 3000) AS g(i)";
    folder.printed(&["x.gadus", "-c", create]);
    folder
}

#[test]
fn a_shell_with_few_threads_works_or_says_so() {
    let folder = with_tables();
    let statement = "INSERT INTO t SELECT 9000 + i, 'x' FROM generate_series(0, 30) AS g(i) \
                     ON CONFLICT DO NOTHING; SELECT count(*) FROM t a JOIN t b ON a.v = b.v";
    for tasks in TASKS {
        let group = match Group::of_tasks(tasks) {
            Ok(group) => group,
            Err(error) => return println!("skipped: no control group can be made here: {error}"),
        };
        let command = timed(&folder, &["x.gadus", "--format", "csv", "-c", statement]);
        let output = group.start(&command).output().unwrap();
        assert_ne!(output.status.code(), Some(HANGS), "{tasks} tasks: it hangs");
        let (error, printed) = (error_of(&output), String::from_utf8_lossy(&output.stdout));
        let works = output.status.success() && printed.contains("3961");
        assert!(works || is_told(&error), "{tasks} tasks: {printed} {error}");
    }
}

#[test]
fn a_server_with_few_threads_starts_or_says_so() {
    let folder = with_tables();
    std::fs::create_dir(folder.path("s")).unwrap();
    for tasks in TASKS {
        let group = match Group::of_tasks(tasks) {
            Ok(group) => group,
            Err(error) => return println!("skipped: no control group can be made here: {error}"),
        };
        let command = timed(&folder, &["serve", "x.gadus", "--listen", "unix:s"]);
        let mut server = group.start(&command).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let mut said = String::new();
        for line in lines.map_while(Result::ok) {
            said = said + &line + "\n";
            if line.contains("started") {
                let pid = server.id().to_string();
                assert!(Command::new("kill").arg(&pid).status().unwrap().success());
            }
        }
        let ended = server.wait().unwrap();
        assert!(said.contains("started") || is_told(&said), "{tasks} tasks: {ended}: {said}");
    }
}

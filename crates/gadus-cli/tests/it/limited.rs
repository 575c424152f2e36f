//! The program in a control group that gives it one processor's time and little memory.

use crate::folder::{Folder, error_of};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Of memory, in bytes: much less than the statements hold.
const MEMORY: u64 = 192 << 20;

/// A control group, gone when dropped.
struct Group {
    /// One, or in version 1 one for each controller.
    folders: Vec<PathBuf>,
}

impl Group {
    fn make() -> io::Result<Self> {
        let name = format!("gadus-test-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let (memory, memory_v1) = (MEMORY.to_string(), root.join("memory"));
        let files = match memory_v1.is_dir() {
            true => vec![
                (root.join("cpu"), "cpu.cfs_period_us", "100000"),
                (root.join("cpu"), "cpu.cfs_quota_us", "100000"),
                (memory_v1, "memory.limit_in_bytes", memory.as_str()),
            ],
            false => vec![
                (root.to_owned(), "cpu.max", "100000 100000"),
                (root.to_owned(), "memory.max", memory.as_str()),
            ],
        };
        let mut group = Self { folders: Vec::new() };
        for (root, file, value) in files {
            let folder = root.join(&name);
            if !group.folders.contains(&folder) {
                fs::create_dir(&folder)?;
                group.folders.push(folder.clone());
            }
            // The file is there where the controller is: it is not created.
            fs::OpenOptions::new().write(true).open(folder.join(file))?;
            fs::write(folder.join(file), value)?;
        }
        Ok(group)
    }

    /// The same program in this group.
    fn start(&self, command: &Command) -> Command {
        let enter = |folder: &PathBuf| format!("echo $$ > {}/cgroup.procs; ", folder.display());
        let enter = self.folders.iter().map(enter).collect::<String>();
        let mut inside = Command::new("sh");
        inside.arg("-c").arg(format!("set -e; {enter} exec \"$@\"")).arg("sh");
        inside.arg(command.get_program()).args(command.get_args());
        command.get_current_dir().into_iter().for_each(|folder| _ = inside.current_dir(folder));
        inside
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.folders.iter().for_each(|folder| _ = fs::remove_dir(folder));
    }
}

/// The answers of the same statements without a group, and what was chosen in it by which facts.
#[test]
fn statements_succeed_with_little_memory_and_decisions_say_why() {
    let group = match Group::make() {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    let folder = Folder::new();
    folder.printed(&[
        "x.gadus",
        "-c",
        "CREATE TABLE t AS SELECT i AS id, repeat('x', 40) || ((i * 7919) % 1000000) AS label \
         FROM range(1000000) AS r(i)",
    ]);
    let answers = |text: &str, limited: bool| {
        let program = folder.gadus(&["x.gadus", "-c", text]);
        let output = if limited { group.start(&program) } else { program }.output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, error_of(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let sorted = "SELECT sum(place * (id % 1000)) FROM \
                  (SELECT id, row_number() OVER (ORDER BY label DESC) AS place FROM t)";
    let grouped =
        "SELECT count(*), max(n) FROM (SELECT label, count(*) AS n FROM t GROUP BY label)";
    for text in [sorted, grouped] {
        assert_eq!(answers(text, true), answers(text, false), "{text}");
    }
    let spilled = format!("{sorted}; SELECT spilled_bytes_total > 0 AS spilled FROM gadus.memory");
    assert!(answers(&spilled, true).contains("true"));
    let chosen = answers("SELECT question, choice, reason FROM gadus.decisions", true);
    for expected in [
        "the control group gives the time of 1 of",
        "half of the 192.0 MiB that the control group may have",
        "an eighth of the 192.0 MiB that the control group may have",
    ] {
        assert!(chosen.contains(expected), "{expected}: {chosen}");
    }
}

//! Children: this program again, told by its environment what to do.
//!
//! - Each module that has some names a test `child`, which does nothing but in a child.
//! - Parent and child talk in lines, so that each waits for what the other has done.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

const TASK: &str = "GADUS_TEST_CHILD_TASK";
const FOLDER: &str = "GADUS_TEST_CHILD_FOLDER";

/// A child, which does not outlive its test.
pub(crate) struct Child {
    process: std::process::Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Child {
    /// `module` is the one whose `child` does the task.
    pub(crate) fn spawn(module: &str, task: &str, folder: &Path) -> Self {
        Self::spawn_by(&[], module, task, folder)
    }

    /// As [`Child::spawn`], by a command that runs the one that follows it.
    pub(crate) fn spawn_by(by: &[&str], module: &str, task: &str, folder: &Path) -> Self {
        let itself = std::env::current_exe().unwrap();
        let test = format!("{module}::child");
        let words = by.iter().map(AsRef::as_ref).chain([itself.as_os_str()]).collect::<Vec<_>>();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["--exact", &test, "--nocapture"]);
        command.env(TASK, task).env(FOLDER, folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        Self { process, input, output: BufReader::new(output) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// What the child says next; none when it has ended.
    pub(crate) fn try_hear(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The harness prints, too, also in front of what a test prints.
            if let Some((_, said)) = line.split_once('@') {
                return Some(said.trim_end().to_owned());
            }
        }
    }

    pub(crate) fn hear(&mut self, expected: &str) {
        let said = self.try_hear();
        assert_eq!(said.as_deref(), Some(expected), "a child says something else");
    }

    /// Lets the child go on where it waits to be told.
    pub(crate) fn tell(&mut self, word: &str) {
        writeln!(self.input.as_ref().unwrap(), "{word}").unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Tells the child that it hears nothing more, and waits until it has ended.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.input.take();
        while self.try_hear().is_some() {}
        self.process.wait().unwrap()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What this process is to do, and where, if it is a child.
pub(crate) fn task() -> Option<(String, PathBuf)> {
    Some((std::env::var(TASK).ok()?, PathBuf::from(std::env::var(FOLDER).ok()?)))
}

/// Says something to the parent.
pub(crate) fn say(what: &str) {
    let mut output = stdout();
    writeln!(output, "@{what}").unwrap();
    output.flush().unwrap();
}

/// Waits to be told something by the parent; empty when that has ended or says no more.
pub(crate) fn await_word() -> String {
    let mut line = String::new();
    stdin().read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

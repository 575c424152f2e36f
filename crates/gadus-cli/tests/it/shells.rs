//! Shells that stay open while a test talks to them, also as other users.

use crate::folder::Folder;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A shell that stays open.
pub(crate) struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    /// Opens the folder's database.
    pub(crate) fn open(folder: &Folder, arguments: &[&str]) -> Self {
        Self::spawn(folder.gadus(&[&["x.gadus", "--format", "csv"], arguments].concat()))
    }

    /// Runs a command that starts a shell with results in CSV.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    /// Runs statements; gives what they print.
    pub(crate) fn run(&mut self, statements: &str) -> String {
        // The shell that has ended is found out by what it does not print.
        let _ = writeln!(self.input, "{statements};\nSELECT 'end' AS done;");
        let (mut printed, mut line) = (String::new(), String::new());
        while line != "end\n" {
            printed.push_str(&std::mem::take(&mut line));
            if self.output.read_line(&mut line).unwrap() == 0 {
                let mut error = String::new();
                let _ = self.child.stderr.take().unwrap().read_to_string(&mut error);
                panic!("{statements}: {printed}{error}");
            }
        }
        printed.strip_suffix("done\n").unwrap().to_owned()
    }

    /// Runs a statement that fails, which is the end of the shell; gives what it says.
    pub(crate) fn fails(mut self, statement: &str) -> String {
        writeln!(self.input, "{statement};").unwrap();
        let mut error = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        error
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Kills it, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A user of the system, with a group of the same number and another one.
#[derive(Clone, Copy)]
pub(crate) struct User {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl User {
    /// The program, in a folder, run by this user.
    pub(crate) fn gadus(self, folder: &Folder, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.program(folder));
        command.args(arguments).current_dir(folder.path("")).stdin(Stdio::null());
        command
    }

    /// A program, run by this user in its own process.
    fn command(self, program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        let user = self.user.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--groups", &self.group.to_string()]);
        command.arg(program);
        command
    }

    /// A path of the program that this user reaches.
    fn program(self, folder: &Folder) -> PathBuf {
        let (built, near) = (Path::new(env!("CARGO_BIN_EXE_gadus")), folder.path("gadus"));
        let tried = self.command(built).arg("--version").output();
        if tried.is_ok_and(|output| output.status.success()) {
            return built.to_owned();
        }
        if !near.exists() {
            let linked = std::fs::hard_link(built, &near);
            linked.or_else(|_| std::fs::copy(built, &near).map(drop)).unwrap();
        }
        near
    }
}

/// True if this process may run others as another user; says so if it may not.
pub(crate) fn may_change_user() -> bool {
    if !geteuid().is_root() {
        println!("skipped: only root can run programs as several users");
        return false;
    }
    let has_setpriv = Command::new("setpriv").arg("--version").output().is_ok();
    if !has_setpriv {
        println!("skipped: there is no setpriv to run programs as several users");
    }
    has_setpriv
}

//! A server that runs while a test talks to it.

use crate::control_group::Group;
use crate::folder::Folder;
use crate::wire_client::WireClient;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

/// A server of the folder's database, and what it says.
pub(crate) struct Served {
    child: Child,
    log: BufReader<ChildStderr>,
    address: String,
}

impl Served {
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        Self::run(Self::command(folder, arguments))
    }

    /// Starts a server in a control group.
    pub(crate) fn start_in(group: &Group, folder: &Folder, arguments: &[&str]) -> Self {
        Self::run(group.start(&Self::command(folder, arguments)))
    }

    fn command(folder: &Folder, arguments: &[&str]) -> Command {
        let common = ["serve", "x.gadus", "--trust", "--listen", "127.0.0.1:0"];
        folder.gadus(&[&common, arguments].concat())
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut served = Self { child, log, address: String::new() };
        let line = served.hears("listens at ");
        let (_, address) = line.split_once("listens at ").unwrap();
        served.address = address.trim().to_owned();
        served.hears("started");
        served
    }

    /// Waits for a line of the log with this text.
    pub(crate) fn hears(&mut self, text: &str) -> String {
        let (mut all, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            assert!(self.log.read_line(&mut line).unwrap() > 0, "no \"{text}\" in {all}");
            if line.contains(text) {
                return line;
            }
            all.push_str(&line);
        }
    }

    pub(crate) fn client(&self) -> WireClient {
        WireClient::connect(&self.address).unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

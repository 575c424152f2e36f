//! Gadus behind its own server, in a process of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::endpoint::Endpoint;
use super::postgres::programs;
use crate::failure::Failure;

/// A running `gadus serve`.
#[derive(Debug)]
pub(in super::super) struct Served {
    server: Child,
    pub(in super::super) tcp: Endpoint,
    pub(in super::super) unix: Endpoint,
}

impl Served {
    /// Serves a database, with its socket in `folder`.
    pub(in super::super) fn start(file: &Path, folder: &Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder)?;
        let mut server = Command::new(std::env::current_exe()?);
        server.arg("serve").arg(file).args(["--trust", "--log-level", "info"]);
        server.args(["--listen", "127.0.0.1:0", "--listen"]);
        server.arg(format!("unix:{}", folder.display()));
        let mut server = server.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let told = server.stderr.take();
        let mut lines = told.map(BufReader::new).into_iter().flat_map(BufRead::lines);
        // The first line is about TCP, the second about the socket.
        let first = lines.next().transpose()?.unwrap_or_default();
        let second = lines.next().transpose()?.unwrap_or_default();
        let port = first.rsplit(':').next().and_then(|port| port.parse().ok());
        let (Some(port), false) = (port, second.is_empty()) else {
            let _ = server.kill();
            let _ = server.wait();
            return Err(Failure::message(format!("gadus serve: {first}")));
        };
        let tcp = Endpoint {
            programs: programs()?,
            host: "127.0.0.1".to_owned(),
            port,
            user: user_name(),
            database: "gadus".to_owned(),
        };
        let unix = Endpoint { port: 5432, ..tcp.at(folder) };
        Ok(Self { server, tcp, unix })
    }
}

/// Who runs this, as the server is told by the system.
fn user_name() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_uid = |line: &&str| line.split(':').nth(2) == Some(&uid);
    let name = accounts.lines().find(of_uid).and_then(|line| line.split(':').next());
    name.unwrap_or("gadus").to_owned()
}

impl Drop for Served {
    fn drop(&mut self) {
        if kill_process(Pid::from_child(&self.server), Signal::TERM).is_ok() {
            let _ = self.server.wait();
        }
    }
}

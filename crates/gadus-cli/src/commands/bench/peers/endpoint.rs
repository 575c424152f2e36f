//! A server that speaks PostgreSQL's protocol, as pgbench and drivers reach it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::failure::Failure;

/// Where a server is, and the programs that talk to it.
#[derive(Debug, Clone)]
pub(in super::super) struct Endpoint {
    pub(super) programs: PathBuf,
    /// An address, the folder of a Unix socket, or `@` and its abstract name.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) database: String,
}

/// What pgbench says of a run.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Played {
    /// Transactions a second.
    pub(in super::super) rate: f64,
    /// Of a transaction, on average.
    pub(in super::super) latency_ms: f64,
}

impl Endpoint {
    /// A program that talks to the server.
    pub(super) fn client(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.env("PGHOST", &self.host).env("PGPORT", self.port.to_string());
        command.env("PGUSER", &self.user).env("PGDATABASE", &self.database);
        command.stdin(Stdio::null());
        command
    }

    /// Makes pgbench's tables.
    pub(in super::super) fn initialize(&self, scale: u32) -> Result<(), Failure> {
        let scale = format!("--scale={scale}");
        self.pgbench(&["--initialize", "--quiet", &scale]).map(|_| ())
    }

    /// Runs pgbench's own script of look-ups, prepared.
    pub(in super::super) fn select_only(
        &self,
        clients: u32,
        seconds: u64,
    ) -> Result<Played, Failure> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let jobs = format!("--jobs={}", threads.min(clients as usize));
        let (clients, time) = (format!("--client={clients}"), format!("--time={}", seconds.max(1)));
        let words = ["--select-only", "--protocol=prepared", "--no-vacuum"];
        let text = self.pgbench(&[&words[..], &[&clients, &jobs, &time]].concat())?;
        let number = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split(' ').next()?.parse::<f64>().ok()
        };
        if number("number of failed transactions: ") != Some(0.0) {
            return Err(Failure::message(format!("pgbench: {}", text.trim())));
        }
        match (number("tps = "), number("latency average = ")) {
            (Some(rate), Some(latency_ms)) => Ok(Played { rate, latency_ms }),
            _ => Err(Failure::message(format!("pgbench: {}", text.trim()))),
        }
    }

    fn pgbench(&self, words: &[&str]) -> Result<String, Failure> {
        let output = self.client("pgbench").args(words).output();
        let output = output.map_err(|error| Failure::message(format!("pgbench: {error}")))?;
        let told = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(Failure::message(format!("pgbench: {}", told.trim()))),
        }
    }

    /// How a driver is told.
    pub(in super::super) fn told(&self) -> Value {
        json!({
            "host": self.host, "port": self.port, "user": self.user, "dbname": self.database,
        })
    }

    /// The same server at another address.
    pub(super) fn at(&self, host: &Path) -> Self {
        Self { host: host.to_string_lossy().into_owned(), ..self.clone() }
    }
}

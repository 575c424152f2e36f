//! PostgreSQL: a server of its own on a Unix socket, driven by pgbench.
//!
//! - Default settings but for the number of connections; nothing listens on the network.
//! - A root user's server runs as the user `postgres`, because it refuses to run as root; where
//!   that user cannot reach the folder, its cluster is in the folder for temporary files.

use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gadus_base::clock;
use rustix::process::{Pid, Signal, kill_process};

use super::endpoint::Endpoint;
use crate::failure::Failure;

/// Starting takes a second where a disk is slow.
const START_MAX: Duration = Duration::from_secs(60);
/// Between two looks whether the server has started.
const START_LOOK: Duration = Duration::from_millis(20);
/// Scripts that pgbench takes at once.
const SCRIPTS_MAX: usize = 120;
/// Bytes of a folder's path in which a socket's own fits.
const SOCKET_FOLDER_MAX: usize = 80;
/// Connections beside the clients'.
const OTHER_CONNECTIONS: u32 = 10;

/// A running server.
#[derive(Debug)]
pub(in super::super) struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    /// Its place among Unix sockets: abstract, because paths of sockets must be short.
    socket: String,
    /// How drivers reach it.
    host: String,
    server: Child,
}

impl Postgres {
    /// Makes a cluster in `folder` and starts its server.
    pub(in super::super) fn start(folder: &Path, clients: u32) -> Result<Self, Failure> {
        let programs = programs()?;
        let user = Account::of_server()?;
        let folder = user.folder(folder)?;
        let socket = format!("@gadus-bench-{}", std::process::id());
        let mut make = Command::new(programs.join("initdb"));
        make.arg("-D").arg(folder.join("data"));
        make.args(["--auth=trust", "--username=gadus", "--encoding=UTF8", "--locale=C"]);
        run(user.applied(&mut make).current_dir(&folder))?;
        let mut serve = Command::new(programs.join("postgres"));
        serve.arg("-D").arg(folder.join("data"));
        serve.args(["-c", "listen_addresses="]);
        serve.args(["-c", &format!("max_connections={}", clients + OTHER_CONNECTIONS)]);
        // In its folder, too, where the path is short enough: not every driver knows abstract sockets.
        let folder_name = folder.to_string_lossy().into_owned();
        let in_folder = folder_name.len() <= SOCKET_FOLDER_MAX && !folder_name.contains(',');
        let places = if in_folder { format!("{socket},{folder_name}") } else { socket.clone() };
        serve.args(["-c", &format!("unix_socket_directories={places}")]);
        let log = std::fs::File::create(folder.join("log"))?;
        let server = user
            .applied(&mut serve)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| Failure::message(format!("postgres: {error}")))?;
        let host = if in_folder { folder_name } else { socket.clone() };
        let mut started = Self { programs, folder, socket, host, server };
        started.wait_ready()?;
        Ok(started)
    }

    pub(in super::super) fn version(&self) -> Result<String, Failure> {
        let output = Command::new(self.programs.join("postgres")).arg("--version").output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim().replace("postgres (PostgreSQL)", "postgres"))
    }

    /// Runs statements.
    pub(in super::super) fn execute(&self, sql: &str) -> Result<(), Failure> {
        let mut psql = self.client("psql");
        run(psql.args(["-q", "-v", "ON_ERROR_STOP=1", "-c", sql]))
    }

    /// Fills a table from comma-separated values with a header.
    pub(in super::super) fn copy(&self, table: &str, csv: &Path) -> Result<(), Failure> {
        let csv = csv.display().to_string().replace('\'', "''");
        self.execute(&format!("\\copy {table} FROM '{csv}' WITH (FORMAT csv, HEADER)"))
    }

    /// What a statement gives, as text; of what changes something, how many rows.
    pub(in super::super) fn rows(&self, sql: &str) -> Result<Vec<Vec<String>>, Failure> {
        const BETWEEN: char = '\u{1f}';
        let mut psql = self.client("psql");
        psql.args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-P", "null=NULL", "-F"]);
        psql.arg(BETWEEN.to_string()).args(["-c", sql]);
        let output = psql.output()?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(Failure::message(format!("psql: {}", told.trim())));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let is_query = sql.starts_with("SELECT");
        // UPDATE 3
        let changed = |line: &str| vec![line.rsplit(' ').next().unwrap_or(line).to_owned()];
        let row = |line: &str| line.split(BETWEEN).map(str::to_owned).collect();
        Ok(text.lines().map(|line| if is_query { row(line) } else { changed(line) }).collect())
    }

    /// Runs one prepared statement from `clients` connections for `seconds`; returns commits a
    /// second.
    pub(in super::super) fn commit(
        &self,
        insert: &str,
        clients: u32,
        seconds: u64,
    ) -> Result<f64, Failure> {
        self.bench(insert, clients, seconds, &[])
    }

    fn bench(
        &self,
        text: &str,
        clients: u32,
        seconds: u64,
        more: &[String],
    ) -> Result<f64, Failure> {
        let script = self.folder.join("script.sql");
        std::fs::write(&script, text)?;
        let words = [&["--protocol=prepared".to_owned()], more].concat();
        self.play_scripts(&[script], clients, seconds, &words)
    }

    /// Runs statements one at a time, of which each turn has others, drawn at random; returns statements
    /// a second.
    pub(in super::super) fn play(
        &self,
        statements: &[&str],
        time: Duration,
    ) -> Result<f64, Failure> {
        let mut scripts = Vec::new();
        for (number, text) in statements.iter().take(SCRIPTS_MAX).enumerate() {
            let script = self.folder.join(format!("script-{number}.sql"));
            std::fs::write(&script, text)?;
            scripts.push(script);
        }
        let words = ["--protocol=simple".to_owned()];
        self.play_scripts(&scripts, 1, time.as_secs(), &words)
    }

    fn play_scripts(
        &self,
        scripts: &[PathBuf],
        clients: u32,
        seconds: u64,
        more: &[String],
    ) -> Result<f64, Failure> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut bench = self.client("pgbench");
        bench.arg("--no-vacuum");
        bench.arg(format!("--client={clients}"));
        bench.arg(format!("--jobs={}", threads.min(clients as usize)));
        bench.arg(format!("--time={}", seconds.max(1)));
        for script in scripts {
            bench.arg("--file").arg(script);
        }
        bench.args(more);
        let output = bench.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
        rate.and_then(|rate| rate.parse().ok()).ok_or_else(|| {
            let told = String::from_utf8_lossy(&output.stderr);
            Failure::message(format!("pgbench: {}", told.trim()))
        })
    }

    /// The same with each transaction's latency, in microseconds.
    pub(in super::super) fn latencies(
        &self,
        script: &str,
        clients: u32,
        seconds: u64,
    ) -> Result<impl Iterator<Item = f64>, Failure> {
        let logs = self.folder.join("latencies");
        let _ = std::fs::remove_dir_all(&logs);
        std::fs::create_dir(&logs)?;
        let prefix = logs.join("of");
        let words = ["--log".to_owned(), format!("--log-prefix={}", prefix.display())];
        self.bench(script, clients, seconds, &words)?;
        let mut all = Vec::new();
        for log in std::fs::read_dir(&logs)? {
            let text = std::fs::read_to_string(log?.path())?;
            // Client, number, latency, script, and when it was over.
            let latency = |line: &str| line.split(' ').nth(2)?.parse::<f64>().ok();
            all.extend(text.lines().filter_map(latency));
        }
        Ok(all.into_iter())
    }

    /// Where it is.
    pub(in super::super) fn endpoint(&self) -> Endpoint {
        Endpoint {
            programs: self.programs.clone(),
            host: self.host.clone(),
            port: 5432,
            user: "gadus".to_owned(),
            database: "postgres".to_owned(),
        }
    }

    /// A program that talks to the server.
    fn client(&self, name: &str) -> Command {
        let mut command = self.endpoint().client(name);
        command.env("PGHOST", &self.socket);
        command
    }

    fn wait_ready(&mut self) -> Result<(), Failure> {
        let started = clock().now();
        while run(&mut self.client("pg_isready")).is_err() {
            if self.server.try_wait()?.is_some() || started.elapsed() > START_MAX {
                let mut log = String::new();
                std::fs::File::open(self.folder.join("log"))?.read_to_string(&mut log)?;
                return Err(Failure::message(format!("postgres does not start: {}", log.trim())));
            }
            std::thread::park_timeout(START_LOOK);
        }
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT is the server's fast shutdown; kill would leave its children.
        if kill_process(Pid::from_child(&self.server), Signal::INT).is_ok() {
            let _ = self.server.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Who runs the server.
#[derive(Debug)]
struct Account(Option<(u32, u32)>);

impl Account {
    /// Ourselves; for root, the user `postgres`.
    fn of_server() -> Result<Self, Failure> {
        let is_root = std::fs::metadata("/proc/self")?.uid() == 0;
        if !is_root {
            return Ok(Self(None));
        }
        let accounts = std::fs::read_to_string("/etc/passwd")?;
        let line = accounts.lines().find(|line| line.starts_with("postgres:"));
        let ids = line.and_then(|line| {
            let mut words = line.split(':').skip(2).map(str::parse);
            Some((words.next()?.ok()?, words.next()?.ok()?))
        });
        match ids {
            Some(ids) => Ok(Self(Some(ids))),
            None => Err(missing("postgres refuses root, and there is no user postgres")),
        }
    }

    /// Makes the folder of the cluster: `wanted`, or one in the folder for temporary files.
    fn folder(&self, wanted: &Path) -> Result<PathBuf, Failure> {
        const ALL_MAY_PASS: u32 = 0o001;
        let passes = |folder: &Path| {
            let mode = std::fs::metadata(folder).map(|folder| folder.permissions().mode());
            mode.is_ok_and(|mode| mode & ALL_MAY_PASS != 0)
        };
        let reachable = self.0.is_none() || wanted.ancestors().skip(1).all(passes);
        let elsewhere =
            || std::env::temp_dir().join(format!("gadus-bench-postgres-{}", std::process::id()));
        let folder = if reachable { wanted.to_owned() } else { elsewhere() };
        std::fs::create_dir_all(&folder)?;
        if let Some((user, group)) = self.0 {
            chown(&folder, Some(user), Some(group))?;
        }
        if !reachable {
            writeln!(io::stderr(), "postgres works in {}", folder.display())?;
        }
        Ok(folder)
    }

    fn applied<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self.0 {
            Some((user, group)) => command.uid(user).gid(group),
            None => command,
        }
    }
}

/// Where PostgreSQL's programs are: Debian keeps those of the server out of the path.
pub(super) fn programs() -> Result<PathBuf, Failure> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    places.sort();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    places.splice(0..0, std::env::split_paths(&paths));
    let whole = |place: &PathBuf| {
        ["initdb", "postgres", "pgbench", "psql"].iter().all(|name| place.join(name).is_file())
    };
    places.into_iter().rev().find(whole).ok_or_else(|| missing("PostgreSQL is not installed"))
}

fn missing(why: &str) -> Failure {
    Failure::message(format!("{why}. On Debian: apt-get install postgresql"))
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::message(format!("{name}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(Failure::message(format!("{name}: {}", told.trim())))
}

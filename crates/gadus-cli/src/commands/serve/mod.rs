//! `gadus serve`: a database for clients of PostgreSQL's protocol.

mod event_writer;
mod log;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gadus::{Database, FileAccess, Options};
use gadus_server::{Authentication, Certificate, Control, Limits, Listen, Server, Tls};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus serve shop.gadus                                   on 127.0.0.1:5433
  gadus serve shop.gadus --listen unix:/run/gadus          psql -h /run/gadus
  gadus shop.gadus -c \"CREATE USER ada PASSWORD '...'\"     a user for TCP
  gadus serve shop.gadus --trust                           for tries on this machine
  gadus serve shop.gadus --listen 0.0.0.0:5433             for other machines, encrypted
  gadus serve shop.gadus --http 127.0.0.1:9187             with metrics for Prometheus
  gadus serve shop.gadus --files exchange                  COPY t FROM 'new.csv' reads exchange/new.csv

Over TCP a client is asked for a user and a password of the database. Over a Unix socket the system says
who calls: users are let in under their own name, and whoever runs the server is always.
From other machines everybody comes encrypted. Without --tls-certificate a certificate is made at the first
start and kept in FILE-tls.pem, with its key; psql's channel_binding=require then proves the server's identity.
SIGHUP reads the certificate anew and reopens the audit log. SIGTERM and Ctrl-C let statements that run come to their end, for up to 10 seconds.
Other processes go on using the file meanwhile.")]
pub(crate) struct Serve {
    /// The database; made where there is none
    file: PathBuf,
    /// Refuse every change; others may write meanwhile, and clients see what they commit
    #[arg(long)]
    read_only: bool,
    /// Where to listen: ADDRESS:PORT, or unix:PATH of a socket or a folder for it
    #[arg(long, value_name = "PLACE", default_value = "127.0.0.1:5433")]
    listen: Vec<Listen>,
    /// Who on this machine comes encrypted; others always do
    #[arg(long, value_name = "WHO", value_enum)]
    tls: Option<LocalTls>,
    /// The server's certificate in PEM, with those up to its authority's
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The key of the certificate, which nobody else may read
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Let everybody on this machine in, under any name, without a password
    #[arg(long)]
    trust: bool,
    /// Let statements read and write files beneath this folder, where their paths begin: COPY, read_csv, …
    #[arg(long, value_name = "FOLDER")]
    files: Option<PathBuf>,
    /// Connections at once
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Close connections that do nothing for so long, such as 10m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    idle_timeout: Option<Duration>,
    /// End statements that take longer, such as 30s, unless the client says something else
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    statement_timeout: Option<Duration>,
    /// Answer /metrics and /health over HTTP there, such as 127.0.0.1:9187
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// Let other machines reach the HTTP port, which asks nobody for a password
    #[arg(long, requires = "http")]
    http_for_all: bool,
    /// Tell the log of statements that take so long, such as 1s
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    slow_statement: Option<Duration>,
    /// Share memory with other processes through FOLDER, which all of them name alike [default: /dev/shm]
    #[arg(long, value_name = "FOLDER")]
    lock_folder: Option<PathBuf>,
    /// Append logins, refusals and statements on users, sessions and files to FILE, a JSON object a line
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    #[command(flatten)]
    log: log::LogArguments,
}

/// Who on this machine comes encrypted.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LocalTls {
    /// Who asks
    Offered,
    /// Everybody who comes over TCP
    Required,
}

impl Serve {
    /// The certificate that is given, or one beside the database.
    fn certificate(&self) -> Certificate {
        match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => Certificate::given(certificate, key),
            _ => {
                let mut path = self.file.clone().into_os_string();
                path.push("-tls.pem");
                Certificate::made_at(path)
            }
        }
    }

    fn tls(&self) -> Tls {
        match self.tls {
            None => Tls::Remote,
            Some(LocalTls::Offered) => Tls::Offered,
            Some(LocalTls::Required) => Tls::Required,
        }
    }
}

pub(crate) fn run(command: &Serve) -> Result<(), Failure> {
    let _written = log::begin(&command.log)?;
    serve(command).map_err(|failure| command.log.tell(failure))
}

/// The files that clients reach.
fn files(command: &Serve) -> Result<FileAccess, Failure> {
    let Some(folder) = &command.files else { return Ok(FileAccess::None) };
    FileAccess::beneath(folder)
        .map_err(|error| Failure::message(format!("--files {}: {error}", folder.display())))
}

fn serve(command: &Serve) -> Result<(), Failure> {
    allow_connections();
    let options = Options::new().read_only(command.read_only);
    let options = command.lock_folder.iter().fold(options, Options::lock_folder);
    let database = Database::open(&command.file, options.clone())?;
    let file = command.file.clone();
    let reopen = move || Database::open(&file, options.clone().create(false));
    if let Some(warning) = database.warning() {
        tracing::warn!("{warning}");
    }
    let limits = Limits {
        connections: command.max_connections,
        idle_time: command.idle_timeout,
        statement_time: command.statement_timeout,
        ..Limits::default()
    };
    let authentication = if command.trust { Authentication::Trust } else { Authentication::Scram };
    let options = gadus_server::Options::new().limits(limits).authentication(authentication);
    let options = options.reopen(reopen);
    let options = options.tls(command.tls()).certificate(command.certificate());
    let options = command.listen.iter().cloned().fold(options, gadus_server::Options::listen);
    let options = options.files(files(command)?);
    let options = options.http_for_all(command.http_for_all);
    let options = command.http.into_iter().fold(options, gadus_server::Options::http);
    let slow = command.slow_statement.into_iter();
    let options = slow.fold(options, gadus_server::Options::slow_statement);
    let audit = command.audit_log.iter().cloned();
    let options = audit.fold(options, gadus_server::Options::audit);
    let server = Server::bind(database, options)?;
    for place in server.addresses() {
        tracing::info!("{} listens at {place}", command.file.display());
    }
    if let Some(address) = server.http_address() {
        tracing::info!("metrics and health are at http://{address}");
    }
    if let Some(fingerprint) = server.fingerprint() {
        tracing::info!("the certificate has the SHA-256 {fingerprint}");
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "started");
    obey_signals(server.control())?;
    Ok(server.run()?)
}

/// Stops the server as SIGTERM and Ctrl-C ask, and reads its certificate anew as SIGHUP does.
fn obey_signals(control: Control) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    gadus_base::spawn("signals", move || {
        for signal in &mut signals {
            if signal != SIGHUP {
                control.stop();
                continue;
            }
            match control.reload() {
                Ok(()) => tracing::info!("certificate read anew, audit log reopened"),
                Err(error) => tracing::error!("reload failed, what was in use stays: {error}"),
            }
        }
    })?;
    Ok(())
}

/// Each connection is an open file: takes as many as the system lets this process have.
fn allow_connections() {
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised, fewer connections are let in, and that is said then.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

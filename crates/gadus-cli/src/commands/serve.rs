//! `gadus serve`: a database for clients of PostgreSQL's protocol.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gadus::{Database, Options};
use gadus_server::{Authentication, Limits, Listen, Server};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus serve shop.gadus                                   on 127.0.0.1:5433
  gadus serve shop.gadus --listen unix:/run/gadus          psql -h /run/gadus
  gadus shop.gadus -c \"CREATE USER ada PASSWORD '...'\"     a user for TCP
  gadus serve shop.gadus --trust                           for tries on this machine

Over TCP a client is asked for a user and a password of the database. Over a Unix socket the system says
who calls: users are let in under their own name, and whoever runs the server is always.
SIGTERM and Ctrl-C let statements that run come to their end, for up to 10 seconds.
Other processes go on using the file meanwhile.")]
pub(crate) struct Serve {
    /// The database; made where there is none
    file: PathBuf,
    /// Where to listen: ADDRESS:PORT, or unix:PATH of a socket or a folder for it
    #[arg(long, value_name = "PLACE", default_value = "127.0.0.1:5433")]
    listen: Vec<Listen>,
    /// Let everybody on this machine in, under any name, without a password
    #[arg(long)]
    trust: bool,
    /// Connections at once
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Close connections that do nothing for so long, such as 10m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    idle_timeout: Option<Duration>,
    /// End statements that take longer, such as 30s, unless the client says something else
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    statement_timeout: Option<Duration>,
}

pub(crate) fn run(command: &Serve) -> Result<(), Failure> {
    allow_connections();
    let database = Database::open(&command.file, Options::new())?;
    if let Some(warning) = database.warning() {
        writeln!(io::stderr(), "warning: {warning}")?;
    }
    let limits = Limits {
        connections: command.max_connections,
        idle_time: command.idle_timeout,
        statement_time: command.statement_timeout,
        ..Limits::default()
    };
    let authentication = if command.trust { Authentication::Trust } else { Authentication::Scram };
    let options = gadus_server::Options::new().limits(limits).authentication(authentication);
    let options = command.listen.iter().cloned().fold(options, gadus_server::Options::listen);
    let server = Server::bind(database, options)?;
    for place in server.addresses() {
        writeln!(io::stderr(), "{} listens at {place}", command.file.display())?;
    }
    let stop = server.stop_handle();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    gadus_base::spawn("signals", move || {
        for _ in &mut signals {
            stop.stop();
        }
    })?;
    Ok(server.run()?)
}

/// Each connection is an open file: takes as many as the system lets this process have.
fn allow_connections() {
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised, fewer connections are let in, and that is said then.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

//! The peers of a run, and their turns.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::super::peers::{Postgres, Python};
use super::super::rounds::Entry;
use super::super::workplace::{Workplace, remove_database};
use super::mix::{Mix, Played, READ, ROWS, TABLE, UPDATE};
use super::{Peer, Processes, play_exclusively};
use crate::failure::Failure;

const POSTGRES_UPDATE: &str = "\\set id random(1, 10000)\n\
                               UPDATE counters SET n = n + 1 WHERE id = :id;\n";

/// The peers of a run.
pub(super) struct Rivals {
    exclusive: bool,
    sqlite: bool,
    /// What went wrong in SQLite's turns.
    sqlite_errors: Cell<u64>,
    postgres: Option<Postgres>,
}

impl Rivals {
    pub(super) fn start(
        command: &Processes,
        against: &[Peer],
        place: &Workplace,
    ) -> Result<Self, Failure> {
        let wanted = |peer| against.contains(&peer);
        let most = command.processes.iter().copied().max().unwrap_or(1);
        if wanted(Peer::Sqlite) {
            let version = Python::sqlite()?.version()?;
            writeln!(io::stderr(), "peers: {version}, WAL, synchronous = FULL")?;
        }
        Ok(Self {
            exclusive: wanted(Peer::Exclusive),
            sqlite: wanted(Peer::Sqlite),
            sqlite_errors: Cell::new(0),
            postgres: wanted(Peer::Postgres).then(|| start_postgres(place, most)).transpose()?,
        })
    }

    pub(super) fn enter<'a>(
        &'a self,
        entries: &mut Vec<Entry<'a>>,
        case: &str,
        processes: u32,
        command: &'a Processes,
        place: &'a Workplace,
    ) {
        let (mix, time) = (command.mix, command.turn.time);
        if self.exclusive && processes == 1 {
            entries.push(Entry::new(case, "exclusive", move || {
                let played = play_exclusively(place, mix, &command.turn)?;
                Ok(played.measured(mix, time))
            }));
        }
        if self.sqlite {
            entries.push(Entry::new(case, "sqlite", move || {
                let file = place.path("sqlite");
                remove_database(&file)?;
                let played = play_sqlite(&file, mix, processes, time)?;
                self.sqlite_errors.set(self.sqlite_errors.get() + played.errors);
                Ok(played.measured(mix, time))
            }));
        }
        if let Some(postgres) = &self.postgres {
            entries.push(Entry::new(case, "postgres", move || {
                let seconds = time.as_secs();
                let mut played = Played::default();
                let latencies = postgres.latencies(POSTGRES_UPDATE, processes, seconds)?;
                latencies.for_each(|latency| played.latencies.note_microseconds(latency));
                Ok(played.measured(mix, Duration::from_secs(seconds.max(1))))
            }));
        }
    }

    /// Says on standard error what the figures of the peers leave out.
    pub(super) fn tell_errors(&self) -> Result<(), Failure> {
        match self.sqlite_errors.get() {
            0 => Ok(()),
            errors => Ok(writeln!(io::stderr(), "sqlite: {errors} reads or commits went wrong")?),
        }
    }
}

fn start_postgres(place: &Workplace, clients: u32) -> Result<Postgres, Failure> {
    let postgres = Postgres::start(&place.path("postgres"), clients)?;
    postgres.execute(TABLE)?;
    let fill = format!("INSERT INTO counters SELECT g, 0 FROM generate_series(1, {ROWS}) g");
    postgres.execute(&fill)?;
    writeln!(io::stderr(), "peers: {}, its defaults", postgres.version()?)?;
    Ok(postgres)
}

/// One turn of SQLite.
fn play_sqlite(file: &Path, mix: Mix, processes: u32, time: Duration) -> Result<Played, Failure> {
    let mut peers = (0..processes).map(|_| Python::sqlite()).collect::<Result<Vec<_>, _>>()?;
    let make = json!({ "do": "make_counters", "path": file, "create_table": TABLE, "rows": ROWS });
    let [first, ..] = &mut peers[..] else { return Ok(Played::default()) };
    first.ask(&make)?;
    for peer in &mut peers {
        peer.ask(&json!({ "do": "open_counters", "path": file }))?;
    }
    let request = json!({
        "do": "play",
        "read": READ,
        "update": UPDATE,
        "reads_per_commit": mix.reads_per_commit(),
        "rows": ROWS,
        "seconds": time.as_secs_f64(),
    });
    let answers = std::thread::scope(|scope| {
        let ask = |mut peer: Python| {
            let request = &request;
            scope.spawn(move || peer.ask(request))
        };
        let threads = peers.into_iter().map(ask).collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut played = Played::default();
    for answer in answers {
        played.add(&answer.map_err(|_| Failure::message("a thread broke off"))??)?;
    }
    Ok(played)
}

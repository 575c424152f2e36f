//! Peers, and what each is asked.
//!
//! - Those that answer one statement at a time are given them one at a time: more outstanding ones would
//!   only wait for them. `duckdb-batched` has all outstanding statements of a shape made one join by hand.
//! - A turn ends after its time, however few statements were answered; the rate is of those. The time of
//!   PostgreSQL is counted in whole seconds.
//! - DataFusion has the bookings in memory; it changes nothing, and is asked queries alone. The others have
//!   files and their default settings, SQLite a log and a sync of each commit.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use gadus::{Connection, Outcome};
use serde_json::{Value, json};

use super::super::load::{create_table, threads};
use super::super::peers::{Postgres, Python};
use super::super::workplace::Workplace;
use super::Mix;
use super::turn::anywhere;
use crate::failure::Failure;
use crate::generate::statements::Statements;
use crate::texts::texts;

/// Statements whose answers are compared: three of each shape, and more of the updates.
pub(super) const COMPARED: usize = 45;

/// Of these, those that peers are asked for which take seconds a statement: each shape of queries.
const COMPARED_FIRST: usize = 18;

/// What tells whether two tables hold the same after updates.
const CHECKSUM: &str = "SELECT count(*), sum(fare_cents), sum(bags), count(seat), min(seat), \
    max(status), sum(passenger_id) FROM bookings";

/// Statements that a peer is given for a turn: more than it answers, or they go round and round.
const GIVEN: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in super::super) enum Rival {
    Duckdb,
    DuckdbBatched,
    Sqlite,
    Datafusion,
    Postgres,
}

/// The peers that are open.
pub(super) struct Peers(Vec<(Rival, Peer)>);

enum Peer {
    Python(RefCell<Python>),
    Postgres(Postgres),
}

/// Some statements of a mix, and what Gadus answered.
struct Expected {
    updates: bool,
    /// Whether all peers are asked for them.
    of_all: bool,
    answers: Vec<(String, Vec<Vec<String>>)>,
}

impl Rival {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Duckdb => "duckdb",
            Self::DuckdbBatched => "duckdb-batched",
            Self::Sqlite => "sqlite",
            Self::Datafusion => "datafusion",
            Self::Postgres => "postgres",
        }
    }

    /// Whose process answers.
    fn peer(self) -> Self {
        if self == Self::DuckdbBatched { Self::Duckdb } else { self }
    }

    /// Whether it can be asked what has updates among it.
    pub(super) fn has_updates(self) -> bool {
        self != Self::Datafusion
    }

    /// Whether it is asked each shape by itself.
    pub(super) fn is_timed_alone(self) -> bool {
        self == self.peer() && !self.is_slow()
    }

    /// Whether statements take it so long that few of them are compared.
    fn is_slow(self) -> bool {
        !matches!(self, Self::Duckdb | Self::DuckdbBatched)
    }

    fn open(self, place: &Workplace, parquet: &Path, rows: u64) -> Result<Peer, Failure> {
        let path = place.path(&format!("{}.db", self.name()));
        let load = |source: &str, file: &Path| {
            let statement = create_table(true);
            json!({ "do": "load", "path": path, "create_table": statement, "table": "bookings",
                source: file, "threads": threads() })
        };
        let mut peer = match self {
            Self::Postgres => return open_postgres(place, rows).map(Peer::Postgres),
            Self::Datafusion => Python::datafusion(&place.kept)?,
            Self::Sqlite => {
                let mut peer = Python::sqlite()?;
                peer.ask(&load("csv", &place.bookings_csv(rows)?))?;
                peer
            }
            Self::Duckdb | Self::DuckdbBatched => {
                let mut peer = Python::duckdb(&place.kept)?;
                peer.ask(&load("parquet", parquet))?;
                peer
            }
        };
        let open = match self {
            Self::Datafusion => {
                json!({ "do": "open", "tables": { "bookings": parquet }, "threads": threads() })
            }
            _ => json!({ "do": "open", "path": path, "threads": threads() }),
        };
        peer.ask(&open)?;
        writeln!(io::stderr(), "peer: {}", peer.version()?)?;
        Ok(Peer::Python(RefCell::new(peer)))
    }
}

fn open_postgres(place: &Workplace, rows: u64) -> Result<Postgres, Failure> {
    let postgres = Postgres::start(&place.path("postgres"), 1)?;
    postgres.execute(&create_table(true))?;
    postgres.copy("bookings", &place.bookings_csv(rows)?)?;
    postgres.execute("VACUUM ANALYZE bookings")?;
    writeln!(io::stderr(), "peer: {}, its defaults", postgres.version()?)?;
    Ok(postgres)
}

impl Peers {
    /// Opens those that are named, and has each load the bookings.
    pub(super) fn open(
        against: &[Rival],
        place: &Workplace,
        parquet: &Path,
        rows: u64,
    ) -> Result<Self, Failure> {
        let mut opened: Vec<(Rival, Peer)> = Vec::new();
        for peer in against.iter().map(|rival| rival.peer()) {
            if opened.iter().all(|(other, _)| *other != peer) {
                opened.push((peer, peer.open(place, parquet, rows)?));
            }
        }
        Ok(Self(opened))
    }

    /// Refuses to measure answers that differ.
    pub(super) fn compare(
        &self,
        connection: &Connection,
        mixes: &[Mix<'_>],
    ) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let expected = expected(connection, mixes)?;
        for (rival, peer) in &self.0 {
            let asked = expected.iter().filter(|part| rival.has_updates() || !part.updates);
            let asked = asked.filter(|part| part.of_all || !rival.is_slow());
            for (text, own) in asked.flat_map(|part| &part.answers) {
                let mut other = peer.rows(text)?;
                other.sort();
                if *own != other {
                    let name = rival.name();
                    let message =
                        format!("different answers to {text}: {own:?} and, of {name}, {other:?}");
                    return Err(Failure::message(message));
                }
            }
        }
        Ok(())
    }

    /// What each of some queries takes a rival, in milliseconds.
    pub(super) fn times(&self, rival: Rival, texts: &[&str]) -> Result<Vec<f64>, Failure> {
        let Peer::Python(peer) = self.peer(rival) else {
            return Err(Failure::message(format!("{} is not timed alone", rival.name())));
        };
        let request = json!({ "do": "time_statements", "statements": texts });
        let answer = peer.borrow_mut().ask(&request)?;
        serde_json::from_value(answer["milliseconds"].clone())
            .map_err(|error| Failure::message(format!("{answer}: {error}")))
    }

    fn peer(&self, rival: Rival) -> &Peer {
        let found = self.0.iter().find(|(peer, _)| *peer == rival.peer());
        &found.expect("it was opened").1
    }

    /// One turn of a rival; gives statements a second.
    pub(super) fn play(
        &self,
        rival: Rival,
        statements: &Statements<'_>,
        outstanding: u32,
        time: Duration,
    ) -> Result<f64, Failure> {
        let peer = self.peer(rival);
        let first = anywhere();
        let some = statements.texts.iter().cycle().skip(first).take(GIVEN);
        let some = some.map(String::as_str).collect::<Vec<_>>();
        let seconds = time.as_secs_f64();
        match peer {
            Peer::Postgres(postgres) => postgres.play(&some, time),
            Peer::Python(peer) if rival == Rival::DuckdbBatched => {
                let joins = statements.batched(first, outstanding as usize);
                // Each of the joins answers its part of them.
                let together = f64::from(outstanding) / joins.len().max(1) as f64;
                let request = json!({ "do": "play_statements", "statements": joins,
                    "together": together, "seconds": seconds });
                peer.borrow_mut().ask_number(&request, "rate")
            }
            Peer::Python(peer) => {
                let request = json!({ "do": "play_statements", "statements": some,
                    "together": 1, "seconds": seconds });
                peer.borrow_mut().ask_number(&request, "rate")
            }
        }
    }
}

/// Queries alone come first, while all tables are as they were loaded: who has no updates has them so.
/// What only some peers are asked for comes last, for the same reason.
fn expected(connection: &Connection, mixes: &[Mix<'_>]) -> Result<Vec<Expected>, Failure> {
    let mut ordered = mixes.iter().collect::<Vec<_>>();
    ordered.sort_by_key(|mix| mix.queries_per_update > 0);
    let answer = |text: &str| {
        let mut rows = match connection.submit(text, &[]).wait()? {
            Outcome::Changed { rows, .. } => vec![vec![rows.to_string()]],
            outcome => texts(outcome.into_rows())?,
        };
        rows.sort();
        Ok((text.to_owned(), rows))
    };
    let mut parts = Vec::new();
    for (of_all, places) in [(true, 0..COMPARED_FIRST), (false, COMPARED_FIRST..COMPARED)] {
        for mix in &ordered {
            let some = mix.statements.texts[places.clone()].iter().map(String::as_str);
            let answers = some.chain([CHECKSUM]).map(answer).collect::<Result<_, Failure>>()?;
            parts.push(Expected { updates: mix.queries_per_update > 0, of_all, answers });
        }
    }
    Ok(parts)
}

impl Peer {
    /// What it answers; of what changes something, how many rows.
    fn rows(&self, text: &str) -> Result<Vec<Vec<String>>, Failure> {
        match self {
            Self::Postgres(postgres) => postgres.rows(text),
            Self::Python(peer) => {
                let request = json!({ "do": "query", "sql": text, "times": 1 });
                let answer: Value = peer.borrow_mut().ask(&request)?;
                serde_json::from_value(answer["rows"].clone())
                    .map_err(|error| Failure::message(format!("{answer}: {error}")))
            }
        }
    }
}

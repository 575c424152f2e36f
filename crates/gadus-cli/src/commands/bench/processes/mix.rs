//! Mixes: what each process does, the same for all contestants, and what they did together.
//!
//! - A read that finds no row and an update that changes none are errors, and no part of a rate.
//! - Latencies are those of commits.

use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::super::figures::Metric;
use super::super::latencies::Latencies;
use super::super::rounds::Measured;
use crate::failure::Failure;

const READS: Metric = Metric::higher("reads", "reads/s");
const COMMITS: Metric = Metric::higher("commits", "commits/s");
const P99: Metric = Metric::lower("p99_ms", "ms");

pub(super) const TABLE: &str = "CREATE TABLE counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)";
pub(super) const READ: &str = "SELECT n FROM counters WHERE id = ?";
pub(super) const UPDATE: &str = "UPDATE counters SET n = n + 1 WHERE id = ?";
pub(super) const ROWS: u64 = 10_000;

/// What a process does again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mix {
    /// A durable update of one row by its key
    Update,
    /// Eight reads of one row by its key, then such an update
    Point,
}

/// What the processes of a turn did together.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) reads: u64,
    pub(super) latencies: Latencies,
    pub(super) errors: u64,
}

impl Mix {
    pub(super) const fn reads_per_commit(self) -> u32 {
        match self {
            Self::Update => 0,
            Self::Point => 8,
        }
    }

    /// How so many processes are called among the figures.
    pub(super) fn case(self, processes: u32) -> String {
        match self {
            Self::Update => format!("{processes} writers"),
            Self::Point => format!("{processes} processes"),
        }
    }
}

impl Played {
    #[allow(clippy::cast_precision_loss)] // reads and commits of a few seconds
    pub(super) fn measured(&self, mix: Mix, time: Duration) -> Measured {
        let rate = |count: u64| count as f64 / time.as_secs_f64();
        let commits = rate(self.latencies.count());
        let mut measured = vec![(COMMITS, commits), (P99, self.latencies.percentile_ms(0.99))];
        if mix.reads_per_commit() > 0 {
            measured.insert(0, (READS, rate(self.reads)));
        }
        measured
    }

    pub(super) fn to_json(&self) -> Value {
        let latencies = self.latencies.to_json();
        json!({ "reads": self.reads, "latencies": latencies, "errors": self.errors })
    }

    /// Adds the answer of one process.
    pub(super) fn add(&mut self, answer: &Value) -> Result<(), Failure> {
        let count = |key: &str| {
            answer[key].as_u64().ok_or_else(|| Failure::message(format!("no {key}: {answer}")))
        };
        self.reads += count("reads")?;
        self.latencies.add(&Latencies::from_json(&answer["latencies"])?);
        self.errors += count("errors")?;
        Ok(())
    }
}

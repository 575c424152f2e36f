//! What statements have cost, by shape: the table `gadus.statements`.
//!
//! - A statement is counted when it ends: with its last row, or when its rows are dropped. Its time is what
//!   its client waits for, hence not what the client does between rows.
//! - One that fails is counted where its shape has succeeded before: what is no statement has no shape.
//! - Of this process; at most [`SHAPES_MAX`] shapes, of which those that came least often go first.

mod metered;
mod text;

pub(crate) use metered::{Meter, Metered, charged};

use crate::shape::Shape;
use gadus_base::IoBytes;
use parking_lot::RwLock;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Shapes that are remembered.
const SHAPES_MAX: usize = 5_000;

/// When there are more, this part of them goes.
const FORGOTTEN_PART: usize = 20;

/// Texts whose shape need not be found again; all are forgotten when there are more.
const TEXTS_MAX: usize = 4_096;

/// The statements of a database in this process.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    shapes: HashMap<Arc<str>, Arc<Totals>>,
    /// Texts that come again, as prepared ones do.
    texts: HashMap<Box<str>, Arc<Totals>>,
}

/// What all statements of a shape have cost.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    calls: AtomicU64,
    errors: AtomicU64,
    rows: AtomicU64,
    nanoseconds: AtomicU64,
    nanoseconds_max: AtomicU64,
    memory_bytes_max: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

/// What one statement has cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) is_error: bool,
    /// Given or changed.
    pub(crate) rows: u64,
    pub(crate) time: Duration,
    /// The most that it held at a time.
    pub(crate) memory_bytes: u64,
    pub(crate) bytes: IoBytes,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShapeCost {
    pub(crate) statement: Arc<str>,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) rows: u64,
    pub(crate) time: Duration,
    pub(crate) time_max: Duration,
    pub(crate) memory_bytes_max: u64,
    pub(crate) bytes: IoBytes,
}

impl Statements {
    /// The totals of a statement's shape, new where it comes for the first time.
    pub(crate) fn of(&self, statement: Counted<'_>) -> Arc<Totals> {
        let is_own_shape = statement.is_own_shape();
        if is_own_shape && let Some(totals) = self.known.read().texts.get(statement.text) {
            return totals.clone();
        }
        let shown = statement.shown();
        if !shown.recurs
            && let Some(totals) = self.known.read().shapes.get(&*shown.text)
        {
            return totals.clone();
        }
        let mut known = self.known.write();
        let totals = known.shape(&shown.text);
        if shown.recurs && statement.text.len() <= text::SHOWN_BYTES_MAX {
            if known.texts.len() >= TEXTS_MAX {
                known.texts.clear();
            }
            known.texts.insert(statement.text.into(), totals.clone());
        }
        totals
    }

    /// The same, where the shape has come before.
    pub(crate) fn find(&self, statement: Counted<'_>) -> Option<Arc<Totals>> {
        if statement.is_own_shape()
            && let Some(totals) = self.known.read().texts.get(statement.text)
        {
            return Some(totals.clone());
        }
        self.known.read().shapes.get(&*statement.shown().text).cloned()
    }

    /// All shapes; those that took most time first.
    pub(crate) fn costs(&self) -> Vec<ShapeCost> {
        let known = self.known.read();
        let costs = known.shapes.iter().map(|(text, totals)| totals.cost(text));
        let mut costs = costs.collect::<Vec<_>>();
        costs.sort_by(|one, other| (other.time, &one.statement).cmp(&(one.time, &other.statement)));
        costs
    }

    /// Begins anew.
    pub(crate) fn clear(&self) {
        *self.known.write() = Known::default();
    }
}

/// A statement to be counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted<'a> {
    pub(crate) text: &'a str,
    /// Its shape, where it has no parameters of its own and is not its own shape.
    pub(crate) shape: Option<&'a Shape>,
}

/// A shape for people to read.
struct Shown<'a> {
    text: Cow<'a, str>,
    /// True if the same text is likely to come again.
    recurs: bool,
}

impl<'a> Counted<'a> {
    /// Whether it may stand among those texts that are their own shape.
    fn is_own_shape(self) -> bool {
        self.shape.is_none_or(|shape| shape.literals.is_empty())
    }

    fn shown(self) -> Shown<'a> {
        match self.shape {
            Some(shape) => {
                Shown { recurs: self.is_own_shape(), text: text::shown(Cow::from(&shape.text)) }
            }
            None => {
                let (folded, recurs) = text::folded(self.text);
                Shown { text: text::shown(Cow::from(folded)), recurs }
            }
        }
    }
}

impl Known {
    fn shape(&mut self, text: &str) -> Arc<Totals> {
        if let Some(totals) = self.shapes.get(text) {
            return totals.clone();
        }
        if self.shapes.len() >= SHAPES_MAX {
            self.forget_some();
        }
        let totals = Arc::<Totals>::default();
        self.shapes.insert(Arc::from(text), totals.clone());
        totals
    }

    fn forget_some(&mut self) {
        let calls = |totals: &Totals| totals.calls.load(Ordering::Relaxed);
        let by_calls = self.shapes.iter().map(|(text, totals)| (calls(totals), text.clone()));
        let mut by_calls = by_calls.collect::<Vec<_>>();
        by_calls.sort_unstable();
        for (_, text) in by_calls.into_iter().take(SHAPES_MAX / FORGOTTEN_PART) {
            self.shapes.remove(&text);
        }
        // What is no longer shown is no longer counted.
        self.texts.clear();
    }
}

impl Totals {
    pub(crate) fn add(&self, cost: Cost) {
        let add = |to: &AtomicU64, what: u64| {
            if what > 0 {
                to.fetch_add(what, Ordering::Relaxed);
            }
        };
        let nanoseconds = u64::try_from(cost.time.as_nanos()).unwrap_or(u64::MAX);
        add(&self.calls, 1);
        add(&self.errors, u64::from(cost.is_error));
        add(&self.rows, cost.rows);
        add(&self.nanoseconds, nanoseconds);
        add(&self.read_bytes, cost.bytes.read);
        add(&self.written_bytes, cost.bytes.written);
        self.nanoseconds_max.fetch_max(nanoseconds, Ordering::Relaxed);
        self.memory_bytes_max.fetch_max(cost.memory_bytes, Ordering::Relaxed);
    }

    fn cost(&self, text: &Arc<str>) -> ShapeCost {
        let read = |from: &AtomicU64| from.load(Ordering::Relaxed);
        ShapeCost {
            statement: text.clone(),
            calls: read(&self.calls),
            errors: read(&self.errors),
            rows: read(&self.rows),
            time: Duration::from_nanos(read(&self.nanoseconds)),
            time_max: Duration::from_nanos(read(&self.nanoseconds_max)),
            memory_bytes_max: read(&self.memory_bytes_max),
            bytes: IoBytes { read: read(&self.read_bytes), written: read(&self.written_bytes) },
        }
    }
}

#[cfg(test)]
mod tests;

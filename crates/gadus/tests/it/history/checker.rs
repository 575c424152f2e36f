//! Whether a history is what its isolation levels promise.
//!
//! - A snapshot transaction reads one state, a statement under READ COMMITTED another each: a point
//!   between commits, after those of the versions that it shows and before those that replaced
//!   them. A history is right when all points and commits can be put into one order.
//! - Who changes a row in a snapshot transaction comes after its version before, and has it in its
//!   snapshot: the first updater wins.
//! - Write skew makes no circle of these, hence is allowed; but what a serializable transaction has read is not replaced
//!   before its own commit, if it writes.
//! - The order is that of time, too: who begins after a commit was acknowledged sees it.
//! - Whoever was killed in its commit has committed exactly when somebody has seen it.

use super::graph::{Graph, Why};
use super::log::{Ended, Level, NOBODY, Seen, Statement, Transactions, parse};
use std::collections::{BTreeMap, BTreeSet};

/// What is excluded at each level, by the names of Adya (1999), where he has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// G0: two transactions wrote over one another.
    DirtyWrite,
    /// G1a: what was undone has been seen.
    AbortedRead,
    /// G1b: what its own writer has replaced has been seen.
    IntermediateRead,
    /// G1c: two transactions have seen one another.
    CircularRead,
    /// G-single: a part of a commit has been seen, or two states in one snapshot.
    ReadSkew,
    /// Two commits have been seen in different orders.
    LongFork,
    /// Two have made the same next version, or a later one not seen the one before.
    LostUpdate,
    /// G2: what a serializable transaction had read was replaced before it committed.
    WriteSkew,
    /// A version that was committed is not there.
    LostCommit,
    /// A transaction has not seen what it wrote.
    OwnWrite,
    /// Older than what had been acknowledged before.
    Stale,
}

#[derive(Debug)]
pub(super) struct Anomaly {
    pub(super) kind: Kind,
    pub(super) what: String,
}

/// What a right history holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) committed: usize,
    pub(super) aborted: usize,
    /// Killed before they would commit.
    pub(super) ended: usize,
    /// Killed while they committed: those that did, and those that did not.
    pub(super) unknown: [usize; 2],
    pub(super) writers: usize,
}

/// Checks a history whose last line tells of a look at all rows.
pub(super) fn check(lines: &[String]) -> Result<Summary, Anomaly> {
    let transactions = parse(lines);
    let committed = committed(&transactions);
    let rows = Rows::new(&transactions, &committed)?;
    for number in transactions.keys() {
        rows.check_reads(*number)?;
    }
    rows.check_order(lines)?;
    let mut summary = Summary::default();
    for (number, transaction) in &transactions {
        let is_committed = committed.contains(number);
        match (transaction.ended, transaction.commits) {
            (Some(Ended::Committed(_)), _) => summary.committed += 1,
            (Some(Ended::Aborted), _) => summary.aborted += 1,
            (None, None) => summary.ended += 1,
            (None, Some(_)) => summary.unknown[usize::from(!is_committed)] += 1,
        }
        let writes = transaction.rows(true).next().is_some();
        summary.writers += usize::from(is_committed && writes);
    }
    Ok(summary)
}

/// Those that have committed.
fn committed(transactions: &Transactions) -> BTreeSet<u64> {
    let rows = transactions.iter().flat_map(|(number, one)| {
        let rows = one.statements.iter().flat_map(|statement| &statement.rows);
        // What it has seen of itself says nothing.
        rows.map(|row| row.writer).filter(|writer| writer != number).collect::<Vec<_>>()
    });
    let seen = rows.collect::<BTreeSet<_>>();
    let has_committed = |number: &u64| {
        let transaction = &transactions[number];
        match transaction.ended {
            Some(ended) => matches!(ended, Ended::Committed(_)),
            None => transaction.commits.is_some() && seen.contains(number),
        }
    };
    transactions.keys().copied().filter(has_committed).collect()
}

/// The versions of all rows.
struct Rows<'a> {
    transactions: &'a Transactions,
    committed: &'a BTreeSet<u64>,
    /// By key and version, which of those that have committed wrote it.
    writers: BTreeMap<(u64, u64), u64>,
    /// The last version of each key that a transaction wrote.
    last: BTreeMap<(u64, u64), u64>,
}

impl<'a> Rows<'a> {
    fn new(transactions: &'a Transactions, committed: &'a BTreeSet<u64>) -> Result<Self, Anomaly> {
        let (mut writers, mut last) = (BTreeMap::new(), BTreeMap::new());
        for (&number, transaction) in transactions {
            for Seen { key, version, .. } in transaction.rows(true) {
                let known = last.entry((number, key)).or_insert(version);
                *known = version.max(*known);
                if !committed.contains(&number) {
                    continue;
                }
                let other = writers.insert((key, version), number);
                if let Some(other) = other.filter(|other| *other != number) {
                    let what = format!("{other} and {number} both made {version} of row {key}");
                    return Err(Anomaly { kind: Kind::LostUpdate, what });
                }
            }
        }
        Ok(Self { transactions, committed, writers, last })
    }

    /// Whether what a transaction has seen was there to be seen.
    fn check_reads(&self, number: u64) -> Result<(), Anomaly> {
        let mut own = BTreeMap::new();
        for statement in &self.transactions[&number].statements {
            for row in &statement.rows {
                self.check_row(number, statement, *row, &mut own)?;
            }
        }
        Ok(())
    }

    fn check_row(
        &self,
        number: u64,
        statement: &Statement,
        row: Seen,
        own: &mut BTreeMap<u64, u64>,
    ) -> Result<(), Anomaly> {
        let Seen { key, version, writer } = row;
        let found = |kind: Kind, what: &str| {
            let what = format!("{number} has seen {row:?}, which {what}");
            Err(Anomaly { kind, what })
        };
        let before = if statement.writes { version.wrapping_sub(1) } else { version };
        let last = own.get(&key).copied();
        if statement.writes {
            own.insert(key, version);
        }
        if last.is_some() || writer == number {
            let is_own = last == Some(before) && writer == number;
            return if is_own { Ok(()) } else { found(Kind::OwnWrite, "is not what it wrote") };
        }
        if writer == NOBODY {
            return if before == 0 { Ok(()) } else { found(Kind::LostCommit, "nobody wrote") };
        }
        match self.last.get(&(writer, key)) {
            _ if !self.committed.contains(&writer) => found(Kind::AbortedRead, "was undone"),
            Some(last) if *last > before => found(Kind::IntermediateRead, "its writer replaced"),
            Some(last) if *last == before => Ok(()),
            _ => found(Kind::LostCommit, "its writer did not write"),
        }
    }

    /// Whether commits and snapshots have an order.
    fn check_order(&self, lines: &[String]) -> Result<(), Anomaly> {
        let mut order = Order { rows: self, graph: Graph::default(), names: Vec::new() };
        let times = lines.iter().map(|line| order.node(format!("\"{line}\"")));
        let times = times.collect::<Vec<_>>();
        for pair in times.windows(2) {
            order.graph.before(pair[0], pair[1], Why::Time);
        }
        let commits = self.committed.iter();
        let commits = commits.map(|number| (*number, order.node(format!("commit of {number}"))));
        let commits = commits.collect::<BTreeMap<_, _>>();
        for (&(key, version), number) in &self.writers {
            let before = version.checked_sub(1).and_then(|it| self.writers.get(&(key, it)));
            match before.filter(|before| *before != number) {
                Some(before) => {
                    order.graph.before(commits[before], commits[number], Why::Overwritten);
                }
                None if version > 1 && before.is_none() => {
                    let what =
                        format!("{number} made {version} of row {key}, nobody the one before");
                    return Err(Anomaly { kind: Kind::LostCommit, what });
                }
                None => {}
            }
        }
        for &number in self.transactions.keys() {
            order.add(number, &times, &commits);
        }
        for counts in [(|why| why != Why::Time) as fn(Why) -> bool, |_| true] {
            if let Some(circle) = order.graph.circle(counts) {
                return Err(order.anomaly(&circle));
            }
        }
        Ok(())
    }
}

/// Commits and snapshots, in the order that they must have.
struct Order<'a> {
    rows: &'a Rows<'a>,
    graph: Graph,
    names: Vec<String>,
}

impl Order<'_> {
    fn node(&mut self, name: String) -> usize {
        self.names.push(name);
        self.graph.node()
    }

    /// The snapshots of a transaction, and its commit.
    fn add(&mut self, number: u64, times: &[usize], commits: &BTreeMap<u64, usize>) {
        let transaction = &self.rows.transactions[&number];
        let commit = commits.get(&number).copied();
        if let (Some(commit), Some(begins)) = (commit, transaction.commits) {
            self.graph.before(times[begins], commit, Why::Time);
            if let Some(Ended::Committed(acknowledged)) = transaction.ended {
                self.graph.before(commit, times[acknowledged], Why::Time);
            }
        }
        let mut last = None;
        let mut line = transaction.begins;
        for statement in &transaction.statements {
            let is_new = last.is_none() || transaction.level == Level::Committed;
            if is_new {
                let point =
                    self.node(format!("snapshot of {number} before line {}", statement.line));
                self.graph.before(times[line], point, Why::Time);
                self.graph.before(point, times[statement.line], Why::Time);
                if let Some(last) = last.replace(point) {
                    self.graph.before(last, point, Why::Own);
                }
            }
            line = statement.line;
            let point = last.expect("there is one by now");
            for row in &statement.rows {
                self.add_row(number, point, transaction.level, statement.writes, *row, commits);
            }
        }
        if let (Some(last), Some(commit)) = (last, commit) {
            self.graph.before(last, commit, Why::Own);
        }
    }

    fn add_row(
        &mut self,
        number: u64,
        point: usize,
        level: Level,
        writes: bool,
        row: Seen,
        commits: &BTreeMap<u64, usize>,
    ) {
        if row.writer == number || writes && level == Level::Committed {
            // Its own; or the last one there is by then, whatever the snapshot showed.
            return;
        }
        if let Some(writer) = commits.get(&row.writer) {
            let why = if writes { Why::FirstUpdater } else { Why::Shown };
            self.graph.before(*writer, point, why);
        }
        let next = self.rows.writers.get(&(row.key, row.version + 1));
        if let Some(next) = next.filter(|next| !writes && **next != number) {
            self.graph.before(point, commits[next], Why::NotShown);
            let has_written = self.rows.transactions[&number].rows(true).next().is_some();
            let own = commits.get(&number).filter(|_| has_written && level == Level::Serializable);
            if let Some(own) = own {
                self.graph.before(*own, commits[next], Why::NotReplaced);
            }
        }
    }

    fn anomaly(&self, circle: &[(usize, Why)]) -> Anomaly {
        let count = |wanted: Why| circle.iter().filter(|(_, why)| *why == wanted).count();
        let kind = match count(Why::NotShown) {
            _ if count(Why::NotReplaced) > 0 => Kind::WriteSkew,
            _ if count(Why::Time) > 0 => Kind::Stale,
            _ if count(Why::FirstUpdater) > 0 => Kind::LostUpdate,
            0 if count(Why::Shown) == 0 => Kind::DirtyWrite,
            0 => Kind::CircularRead,
            1 => Kind::ReadSkew,
            _ => Kind::LongFork,
        };
        let steps = circle.iter().map(|(node, why)| format!("{} ({why:?})", self.names[*node]));
        Anomaly { kind, what: steps.collect::<Vec<_>>().join(" before ") }
    }
}

//! What processes tell of their transactions.
//!
//! A line names its transaction; then one of:
//!
//! | line | meaning |
//! |---|---|
//! | `begins snapshot`, `begins committed`, `begins serializable` | is about to begin, at this isolation level |
//! | `read KEY:VERSION:WRITER …` | rows that one statement has seen |
//! | `wrote KEY:VERSION:BEFORE …` | rows that one statement has changed, and their writers before |
//! | `commits` | is about to commit |
//! | `committed`, `aborted` | how it ended |

use std::collections::BTreeMap;

/// Writes the first version of each row, which is 0.
pub(super) const NOBODY: u64 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Snapshot,
    Committed,
    Serializable,
}

/// A row as it was seen, or made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    pub(super) key: u64,
    pub(super) version: u64,
    /// Of a row that was read, who wrote it; of one that was written, who had before.
    pub(super) writer: u64,
}

/// What one statement has seen or written, and the line that tells it.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) line: usize,
    pub(super) writes: bool,
    pub(super) rows: Vec<Seen>,
}

#[derive(Debug, Clone)]
pub(super) struct Transaction {
    pub(super) level: Level,
    pub(super) begins: usize,
    pub(super) statements: Vec<Statement>,
    pub(super) commits: Option<usize>,
    pub(super) ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Committed(usize),
    Aborted,
}

pub(super) type Transactions = BTreeMap<u64, Transaction>;

impl Transaction {
    pub(super) fn rows(&self, writes: bool) -> impl Iterator<Item = Seen> {
        let statements = self.statements.iter().filter(move |one| one.writes == writes);
        statements.flat_map(|statement| statement.rows.iter().copied())
    }
}

/// The transactions that lines tell of.
pub(super) fn parse(lines: &[String]) -> Transactions {
    let mut all = Transactions::new();
    for (line, text) in lines.iter().enumerate() {
        let mut words = text.split(' ');
        let transaction = words.next().and_then(|number| number.parse().ok()).expect(text);
        let verb = words.next().expect(text);
        if verb == "begins" {
            let level = match words.next().expect(text) {
                "snapshot" => Level::Snapshot,
                "serializable" => Level::Serializable,
                _ => Level::Committed,
            };
            let begun = Transaction {
                level,
                begins: line,
                statements: Vec::new(),
                commits: None,
                ended: None,
            };
            assert!(all.insert(transaction, begun).is_none(), "{text} comes twice");
            continue;
        }
        let transaction = all.get_mut(&transaction).expect(text);
        assert_eq!(transaction.ended, None, "{text} comes after the end");
        match verb {
            "commits" => transaction.commits = Some(line),
            "committed" => transaction.ended = Some(Ended::Committed(line)),
            "aborted" => transaction.ended = Some(Ended::Aborted),
            _ => {
                let rows = words.map(row).collect();
                transaction.statements.push(Statement { line, writes: verb == "wrote", rows });
            }
        }
    }
    all
}

fn row(text: &str) -> Seen {
    let mut numbers = text.split(':').map(|number| number.parse().expect("numbers"));
    let mut next = || numbers.next().expect("three numbers");
    Seen { key: next(), version: next(), writer: next() }
}

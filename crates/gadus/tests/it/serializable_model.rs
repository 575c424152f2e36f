//! Random small transactions of several connections at SERIALIZABLE, replayed one after the other on a plain map: in the
//! order of their commits, each gives what it gave.

use crate::locks::{in_all, run};
use gadus::{Connection, Database, ErrorKind};
use gadus_base::Random;
use std::collections::BTreeMap;

const CONNECTIONS: u64 = 4;
const STEPS: usize = 1_500;
const KEYS: u64 = 12;
const BRANCHES: u64 = 3;

/// By id, the branch and the amount.
type Rows = BTreeMap<i64, (i64, i64)>;

#[derive(Debug, Clone, Copy)]
enum Which {
    Id(i64),
    Branch(i64),
    AtLeast(i64),
    All,
}

impl Which {
    fn any(random: &mut Random) -> Self {
        let below = |random: &mut Random, bound| random.below(bound) as i64;
        match random.below(6) {
            0 | 1 => Self::Id(below(random, KEYS)),
            2 | 3 => Self::Branch(below(random, BRANCHES)),
            4 => Self::AtLeast(below(random, 100)),
            _ => Self::All,
        }
    }

    fn sql(self) -> String {
        match self {
            Self::Id(id) => format!("id = {id}"),
            Self::Branch(branch) => format!("branch = {branch}"),
            Self::AtLeast(amount) => format!("amount >= {amount}"),
            Self::All => "true".to_owned(),
        }
    }

    fn has(self, id: i64, (branch, amount): (i64, i64)) -> bool {
        match self {
            Self::Id(wanted) => id == wanted,
            Self::Branch(wanted) => branch == wanted,
            Self::AtLeast(least) => amount >= least,
            Self::All => true,
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// How many rows, and the sum of their amounts.
    Total(Which, (i64, i64)),
    /// Their branches, each with how many it has.
    Branches(Which, Vec<(i64, i64)>),
    /// Of one row; in the order of ids.
    Amounts(Which, Vec<(i64, i64)>),
    /// How many it changed.
    Add(Which, i64, u64),
    Move(Which, i64, u64),
    Delete(Which, u64),
    Put(i64, i64, i64),
    /// The total of some rows becomes the amount of one.
    Sum(Which, i64, u64),
    Undone(Vec<Self>),
}

fn pairs(connection: &Connection, sql: &str) -> Result<Vec<(i64, i64)>, gadus::Error> {
    connection
        .query(sql, &[])?
        .map(|row| row.and_then(|row| Ok((row.get(0)?, row.get(1)?))))
        .collect()
}

fn step(connection: &Connection, random: &mut Random) -> Result<Step, gadus::Error> {
    let which = Which::any(random);
    let rows = which.sql();
    let (id, amount) = (random.below(KEYS) as i64, random.below(100) as i64);
    let branch = random.below(BRANCHES) as i64;
    let change = |sql: String| connection.execute(&sql, &[]);
    Ok(match random.below(16) {
        0..3 => {
            let sql = format!("SELECT count(*), coalesce(sum(amount), 0) FROM r WHERE {rows}");
            Step::Total(which, pairs(connection, &sql)?[0])
        }
        3 => {
            let sql = format!(
                "SELECT branch, count(*) FROM r WHERE {rows} GROUP BY branch ORDER BY branch"
            );
            Step::Branches(which, pairs(connection, &sql)?)
        }
        4..8 => {
            let sql = format!("SELECT id, amount FROM r WHERE {rows} ORDER BY id");
            Step::Amounts(which, pairs(connection, &sql)?)
        }
        8 => Step::Add(
            which,
            amount,
            change(format!("UPDATE r SET amount = amount + {amount} WHERE {rows}"))?,
        ),
        9 => Step::Move(
            which,
            branch,
            change(format!("UPDATE r SET branch = {branch} WHERE {rows}"))?,
        ),
        10 => Step::Delete(which, change(format!("DELETE FROM r WHERE {rows}"))?),
        11 | 12 => {
            let on =
                "ON CONFLICT (id) DO UPDATE SET branch = excluded.branch, amount = excluded.amount";
            change(format!("INSERT INTO r VALUES ({id}, {branch}, {amount}) {on}"))?;
            Step::Put(id, branch, amount)
        }
        13 | 14 => {
            let total = format!("(SELECT coalesce(sum(amount), 0) FROM r WHERE {rows})");
            Step::Sum(
                which,
                id,
                change(format!("UPDATE r SET amount = {total} % 100 WHERE id = {id}"))?,
            )
        }
        _ => {
            run(connection, "SAVEPOINT s");
            let steps = (0..2).map(|_| step(connection, random)).collect::<Result<_, _>>()?;
            run(connection, "ROLLBACK TO s; RELEASE s;");
            Step::Undone(steps)
        }
    })
}

/// Plays a step on plain rows, and compares what it gives.
fn play(step: &Step, rows: &mut Rows, what: &str) {
    let found = |rows: &Rows, which: &Which| {
        let rows = rows.iter().filter(|(id, row)| which.has(**id, **row));
        rows.map(|(id, row)| (*id, *row)).collect::<Vec<_>>()
    };
    let total =
        |found: &[(i64, (i64, i64))]| found.iter().map(|(_, (_, amount))| amount).sum::<i64>();
    match step {
        Step::Total(which, seen) => {
            let found = found(rows, which);
            assert_eq!((found.len() as i64, total(&found)), *seen, "{what}");
        }
        Step::Branches(which, seen) => {
            let mut branches = BTreeMap::<i64, i64>::new();
            found(rows, which)
                .iter()
                .for_each(|(_, (branch, _))| *branches.entry(*branch).or_default() += 1);
            assert_eq!(&branches.into_iter().collect::<Vec<_>>(), seen, "{what}");
        }
        Step::Amounts(which, seen) => {
            let found = found(rows, which).into_iter().map(|(id, (_, amount))| (id, amount));
            assert_eq!(&found.collect::<Vec<_>>(), seen, "{what}");
        }
        Step::Add(which, more, count) => {
            let found = found(rows, which);
            assert_eq!(found.len() as u64, *count, "{what}");
            found
                .iter()
                .for_each(|(id, (branch, amount))| _ = rows.insert(*id, (*branch, amount + more)));
        }
        Step::Move(which, to, count) => {
            let found = found(rows, which);
            assert_eq!(found.len() as u64, *count, "{what}");
            found.iter().for_each(|(id, (_, amount))| _ = rows.insert(*id, (*to, *amount)));
        }
        Step::Delete(which, count) => {
            let found = found(rows, which);
            assert_eq!(found.len() as u64, *count, "{what}");
            found.iter().for_each(|(id, _)| _ = rows.remove(id));
        }
        Step::Put(id, branch, amount) => _ = rows.insert(*id, (*branch, *amount)),
        Step::Sum(which, id, count) => {
            let sum = total(&found(rows, which)) % 100;
            let row = rows.get_mut(id);
            assert_eq!(u64::from(row.is_some()), *count, "{what}");
            row.into_iter().for_each(|row| row.1 = sum);
        }
        Step::Undone(steps) => {
            let mut copy = rows.clone();
            steps.iter().for_each(|step| play(step, &mut copy, what));
        }
    }
}

/// A connection with its open transaction.
struct Open {
    connection: Connection,
    /// What it has done, and the rows that were there before; none where it has no transaction.
    done: Option<(Vec<Step>, Rows)>,
}

fn histories_replay(database: &Database, connect: &dyn Fn() -> Connection, seed: u64) {
    let mut random = Random::seeded(seed);
    let mut open =
        (0..CONNECTIONS).map(|_| Open { connection: connect(), done: None }).collect::<Vec<_>>();
    run(
        &open[0].connection,
        "CREATE TABLE r (id BIGINT PRIMARY KEY, branch BIGINT, amount BIGINT)",
    );
    run(&open[0].connection, "CREATE INDEX by_branch ON r (branch)");
    open.iter().for_each(|one| run(&one.connection, "SET lock_timeout = '1ms'"));
    let (mut rows, mut committed, mut refused) = (Rows::new(), 0, 0);
    for _ in 0..STEPS {
        let place = usize::try_from(random.below(CONNECTIONS)).unwrap();
        let Open { connection, done } = &mut open[place];
        let Some((steps, began)) = done else {
            run(connection, "BEGIN ISOLATION LEVEL SERIALIZABLE");
            *done = Some((Vec::new(), Rows::new()));
            continue;
        };
        if steps.is_empty() {
            began.clone_from(&rows);
        }
        let goes_on = steps.len() < 6 && random.below(4) > 0;
        let outcome = match goes_on {
            true => step(connection, &mut random).map(|step| steps.push(step)),
            false => connection.execute("COMMIT", &[]).map(|_| ()),
        };
        if let Err(error) = outcome {
            let kinds = [ErrorKind::Conflict, ErrorKind::Locked, ErrorKind::Deadlock];
            assert!(kinds.contains(&error.kind()), "{seed}: {error}");
            refused += u64::from(error.kind() == ErrorKind::Conflict && !goes_on);
            if connection.in_transaction() {
                run(connection, "ROLLBACK");
            }
            *done = None;
        } else if !goes_on {
            let what = format!("seed {seed}: {steps:?}");
            let writes = |step: &Step| {
                !matches!(
                    step,
                    Step::Undone(_) | Step::Total(..) | Step::Branches(..) | Step::Amounts(..)
                )
            };
            // Who has changed nothing has its place at its snapshot.
            let changes = steps.iter().any(|step| match step {
                Step::Add(_, _, count)
                | Step::Move(_, _, count)
                | Step::Delete(_, count)
                | Step::Sum(_, _, count) => *count > 0,
                step => writes(step),
            });
            let mut replayed = if changes { rows.clone() } else { began.clone() };
            steps.iter().for_each(|step| play(step, &mut replayed, &what));
            if changes {
                rows = replayed;
                committed += 1;
            }
            *done = None;
        }
        if random.below(100) == 0 {
            database.checkpoint().unwrap();
        }
    }
    let last = pairs(&connect(), "SELECT id, amount FROM r ORDER BY id").unwrap();
    assert_eq!(last, rows.iter().map(|(id, (_, amount))| (*id, *amount)).collect::<Vec<_>>());
    assert!(committed > 30 && refused > 10, "{seed}: {committed} committed, {refused} refused");
}

#[test]
fn transactions_that_committed_are_as_if_run_one_after_the_other() {
    in_all(|database, connect| {
        for seed in [1, Random::from_system().next_u64()] {
            histories_replay(database, connect, seed);
            run(&connect(), "DROP TABLE r");
        }
    });
}

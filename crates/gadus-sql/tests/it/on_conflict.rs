//! INSERT … ON CONFLICT: keys that are there already, alone and while others insert the same.

use crate::support::Shell;
use gadus_engine::{CacheScope, ErrorKind};
use gadus_sql::{Outcome, Value};

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT DEFAULT 7, s TEXT)");
    shell.run("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')");
    shell
}

const ALL: &str = "SELECT * FROM t ORDER BY id";

#[test]
fn rows_whose_keys_are_there_are_left_out() {
    let shell = shell();
    assert_eq!(
        shell.run("INSERT INTO t VALUES (1, 0, 'x'), (3, 30, 'c') ON CONFLICT DO NOTHING"),
        "1"
    );
    assert_eq!(shell.run("INSERT INTO t VALUES (1, 0, 'x') ON CONFLICT (id) DO NOTHING"), "0");
    let named = "INSERT INTO t VALUES (1, 0, 'x') ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING";
    assert_eq!(shell.run(named), "0");
    // Among the rows of one statement the first wins.
    let text = "INSERT INTO t (id, s) VALUES (4, 'first'), (4, 'second'), (2, 'x') ON CONFLICT DO NOTHING \
                RETURNING *";
    assert_eq!(shell.run(text), "4|7|first");
    assert_eq!(shell.run(ALL), "1|10|a\n2|20|b\n3|30|c\n4|7|first");
    let text = "INSERT INTO t SELECT value, value, 'g' FROM generate_series(1, 5000) ON CONFLICT DO NOTHING";
    assert_eq!(shell.run(text), "4996");
    assert_eq!(shell.run(text), "0");
    assert_eq!(shell.run("SELECT count(*), sum(id) FROM t"), "5000|12502500");
}

#[test]
fn rows_whose_keys_are_there_change_them() {
    let shell = shell();
    let text = "INSERT INTO t VALUES (1, 5, 'x'), (3, 30, 'c') \
                ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n, s = excluded.s || '!'";
    assert_eq!(shell.run(text), "2");
    assert_eq!(shell.run(ALL), "1|15|x!\n2|20|b\n3|30|c");
    let text = "INSERT INTO t AS x (id, s) VALUES (9, 'i'), (1, 'j'), (8, 'h'), (2, 'k') \
                ON CONFLICT (id) DO UPDATE SET n = DEFAULT, s = x.s || excluded.s || excluded.n \
                WHERE x.n < 20 RETURNING *, x.n + 1";
    // In the order of the statement; a row that its condition keeps is not returned.
    assert_eq!(shell.run(text), "9|7|i|8\n1|7|x!j7|8\n8|7|h|8");
    assert_eq!(shell.run("SELECT id, s FROM t WHERE id < 3 ORDER BY id"), "1|x!j7\n2|b");
    let text = "INSERT INTO t SELECT value, 1, 'g' FROM generate_series(1, 3000) \
                ON CONFLICT (id) DO UPDATE SET n = excluded.n + 1";
    assert_eq!(shell.run(text), "3000");
    assert_eq!(shell.run("SELECT n, count(*) FROM t GROUP BY n ORDER BY n"), "1|2995\n2|5");
    let text = "INSERT INTO t VALUES (1, 0, '') ON CONFLICT (id) DO UPDATE \
                SET n = (SELECT count(*) FROM t), id = 100000 RETURNING id, n";
    assert_eq!(shell.run(text), "100000|3000");
}

#[test]
fn keys_of_several_columns_conflict_as_a_whole() {
    let shell = shell();
    shell.run("CREATE TABLE pairs (a TEXT, b DECIMAL(5, 2), n BIGINT, PRIMARY KEY (a, b))");
    shell.run("INSERT INTO pairs VALUES ('x', 1, 1), ('x', 2, 2)");
    let text = "INSERT INTO pairs VALUES ('x', 1.00, 10), ('y', 1, 20) \
                ON CONFLICT (b, a) DO UPDATE SET n = excluded.n";
    assert_eq!(shell.run(text), "2");
    let all = "SELECT * FROM pairs ORDER BY a, b";
    assert_eq!(shell.run(all), "x|1.00|10\nx|2.00|2\ny|1.00|20");
}

#[test]
fn what_cannot_be_meant_is_refused_and_changes_nothing() {
    let shell = shell();
    shell.run("CREATE TABLE keyless (a BIGINT)");
    for (text, kind, says) in [
        (
            "INSERT INTO t VALUES (3, 1, ''), (3, 2, '') ON CONFLICT (id) DO UPDATE SET n = 1",
            ErrorKind::Input,
            "twice",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT DO UPDATE SET n = 1",
            ErrorKind::Input,
            "(id)",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT (n) DO NOTHING",
            ErrorKind::Input,
            "no unique or exclusion constraint matching the ON CONFLICT specification",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT (id, n) DO NOTHING",
            ErrorKind::Input,
            "no unique or exclusion constraint matching the ON CONFLICT specification",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT (other) DO NOTHING",
            ErrorKind::NotFound,
            "other",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT ON CONSTRAINT c DO NOTHING",
            ErrorKind::NotFound,
            "c",
        ),
        (
            "INSERT INTO keyless VALUES (1) ON CONFLICT (a) DO NOTHING",
            ErrorKind::Input,
            "no unique or exclusion constraint matching the ON CONFLICT specification",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT (id) DO UPDATE SET n = n + 1",
            ErrorKind::Input,
            "n",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT (id) DO UPDATE SET id = 2",
            ErrorKind::UniqueViolation,
            "(2)",
        ),
        (
            "INSERT INTO t VALUES (1, 1, '') ON CONFLICT (id) DO UPDATE SET n = 1 / 0",
            ErrorKind::OutOfRange,
            "division by zero",
        ),
        ("INSERT INTO t VALUES (1, 1, '')", ErrorKind::UniqueViolation, "already"),
    ] {
        let (given, message) = shell.fails(text);
        assert!(message.contains(says), "{text}: {message}");
        assert_eq!(given, kind, "{text}: {message}");
    }
    assert_eq!(shell.run("INSERT OR IGNORE INTO t VALUES (1, 1, '')"), "0");
    assert_eq!(shell.run(ALL), "1|10|a\n2|20|b");
    assert_eq!(shell.run("INSERT INTO keyless VALUES (1), (1) ON CONFLICT DO NOTHING"), "2");
}

#[test]
fn a_transaction_meets_its_own_rows() {
    let shell = shell();
    let upsert =
        "INSERT INTO t VALUES (5, 1, 'n') ON CONFLICT (id) DO UPDATE SET n = t.n + 1 RETURNING n";
    shell.run("BEGIN");
    assert_eq!(shell.run(upsert), "1");
    assert_eq!(shell.run(upsert), "2");
    assert_eq!(shell.run("DELETE FROM t WHERE id = 1"), "1");
    assert_eq!(shell.run("INSERT INTO t VALUES (1, 0, 'again') ON CONFLICT DO NOTHING"), "1");
    shell.run("ROLLBACK");
    assert_eq!(shell.run(ALL), "1|10|a\n2|20|b");
}

#[test]
fn prepared_statements_know_their_parameters() {
    let shell = shell();
    let session = shell.session();
    let text = "INSERT INTO t VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET n = $4, s = excluded.s \
                WHERE t.n <> $5";
    let prepared = session.prepare(text).unwrap();
    assert!(!prepared.gives_rows());
    let described = shell.runtime.block_on(session.describe(&prepared)).unwrap();
    assert!(described.parameters.iter().all(Option::is_some), "{described:?}");
    let text = |text: &str| Value::Text(text.into());
    let values = [1, 2].map(Value::Integer).into_iter().chain([
        text("x"),
        Value::Integer(99),
        Value::Integer(0),
    ]);
    let values = values.collect::<Vec<_>>();
    let outcome = shell.runtime.block_on(session.execute_prepared(&prepared, &values)).unwrap();
    assert!(matches!(outcome, Outcome::Changed { verb: "INSERT", rows: 1 }), "{outcome:?}");
    assert_eq!(shell.run(ALL), "1|99|x\n2|20|b");
}

/// Runs a statement on sessions of two instances at once, and gives what each gave.
fn at_once<T: Send>(work: impl Fn(&Shell, i64) -> T + Sync, shell: &Shell) -> Vec<T> {
    let others = [shell.another(), shell.another(), shell.another()];
    std::thread::scope(|scope| {
        let work = &work;
        let spawned =
            (1..).zip(&others).map(|(number, other)| scope.spawn(move || work(other, number)));
        let spawned = spawned.collect::<Vec<_>>();
        let mut given = vec![work(shell, 0)];
        given.extend(spawned.into_iter().map(|one| one.join().unwrap()));
        given
    })
}

fn shared() -> Shell {
    let shell = Shell::of(2, CacheScope::Process);
    shell.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, s TEXT)");
    shell
}

#[test]
fn nothing_is_lost_when_several_insert_the_same_keys() {
    let shell = shared();
    let count = |shell: &Shell, _| {
        for round in 0..40 {
            let text = format!(
                "INSERT INTO t VALUES ({}, 1, ''), (1000, 1, '') \
                 ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n",
                round / 4
            );
            assert_eq!(shell.run(&text), "2");
        }
    };
    at_once(count, &shell);
    assert_eq!(shell.run("SELECT n FROM t WHERE id = 1000"), "160");
    assert_eq!(shell.run("SELECT count(*), min(n), max(n) FROM t WHERE id < 1000"), "10|16|16");
}

#[test]
fn each_key_is_inserted_once_when_several_insert_the_same() {
    let shell = shared();
    let insert = |shell: &Shell, number: i64| {
        let rows = (0..40).map(|round| {
            let text = format!(
                "INSERT INTO t SELECT value, {number}, '' FROM generate_series({round}, {round} + 20) \
                 ON CONFLICT DO NOTHING"
            );
            shell.run(&text).parse::<u64>().unwrap()
        });
        rows.sum::<u64>()
    };
    assert_eq!(at_once(insert, &shell).into_iter().sum::<u64>(), 60);
    assert_eq!(shell.run("SELECT count(*), min(id), max(id) FROM t"), "60|0|59");
}

#[test]
fn loads_too_large_to_lock_their_keys_meet_each_other_at_commit() {
    let shell = shared();
    let insert = |shell: &Shell, number: i64| {
        let rows = (0..5).map(|round| {
            let text = format!(
                "INSERT INTO t SELECT value, {number}, '' FROM generate_series({round} * 1000 + 1, \
                 {round} * 1000 + 3000) ON CONFLICT DO NOTHING"
            );
            shell.run(&text).parse::<u64>().unwrap()
        });
        rows.sum::<u64>()
    };
    assert_eq!(at_once(insert, &shell).into_iter().sum::<u64>(), 7_000);
    assert_eq!(shell.run("SELECT count(*), count(DISTINCT id) FROM t"), "7000|7000");
}

#[test]
fn a_transaction_on_an_old_snapshot_is_told_to_run_again() {
    let shell = shell();
    let other = shell.another();
    shell.run("BEGIN ISOLATION LEVEL SNAPSHOT");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "2");
    other.run("INSERT INTO t VALUES (3, 1, 'other')");
    let (kind, message) = shell.fails("INSERT INTO t VALUES (3, 2, 'mine') ON CONFLICT DO NOTHING");
    assert_eq!(kind, ErrorKind::Conflict, "{message}");
    shell.run("ROLLBACK");
    shell.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "3");
    other.run("INSERT INTO t VALUES (4, 1, 'other')");
    let upsert =
        "INSERT INTO t VALUES (4, 2, 'mine') ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n";
    assert_eq!(shell.run(upsert), "1");
    shell.run("COMMIT");
    assert_eq!(shell.run("SELECT n FROM t WHERE id = 4"), "3");
}

#[test]
fn what_is_not_there_is_an_error_also_where_no_key_is() {
    let shell = shell();
    for set in ["nope = 5", "n = excluded.nope", "n = nope + 1", "n = 1 WHERE nope = 1", "n = x.n"]
    {
        let text = format!("INSERT INTO t VALUES (9, 9, 'i') ON CONFLICT (id) DO UPDATE SET {set}");
        let (kind, message) = shell.fails(&text);
        assert!(matches!(kind, ErrorKind::NotFound | ErrorKind::Input), "{set}: {message}");
    }
    let text = "INSERT INTO t VALUES (9, 9, 'i') ON CONFLICT (id) DO UPDATE \
                SET n = (SELECT max(a.n) FROM t AS a WHERE a.id < excluded.id), s = DEFAULT";
    assert_eq!(shell.run(text), "1");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "3");
}

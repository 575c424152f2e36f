//! RETURNING: rows after INSERT and UPDATE, and before DELETE.

use crate::support::Shell;
use gadus_engine::ErrorKind;
use gadus_sql::{Outcome, Value};

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id BIGINT PRIMARY KEY, v INTEGER NOT NULL, s TEXT DEFAULT 'none')");
    shell.run("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, NULL)");
    shell
}

#[test]
fn inserted_rows_come_back_with_their_defaults_and_types() {
    let shell = shell();
    let rows = shell.run("INSERT INTO t (v, id) VALUES (1, 4), ('7', 5) RETURNING *");
    assert_eq!(rows, "4|1|none\n5|7|none");
    let rows = shell.run(
        "INSERT INTO t AS x SELECT id + 10, v, s FROM t WHERE id < 4 RETURNING x.id + 1 AS next, s",
    );
    let mut rows = rows.lines().collect::<Vec<_>>();
    rows.sort_unstable();
    assert_eq!(rows, ["12|a", "13|b", "14|NULL"]);
    assert_eq!(shell.run("INSERT INTO t SELECT id, v, s FROM t WHERE id = 77 RETURNING id"), "");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "8");
}

#[test]
fn updated_rows_come_back_as_they_are_now() {
    let shell = shell();
    let rows = shell.run("UPDATE t SET v = v + 1, s = DEFAULT WHERE id = 2 RETURNING *, v * 2");
    assert_eq!(rows, "2|21|none|42");
    let rows = shell.run("UPDATE t AS x SET id = id + 100 WHERE x.id = 3 RETURNING x.*, X.V");
    assert_eq!(rows, "103|30|NULL|30");
    assert_eq!(shell.run("UPDATE t SET v = 0 WHERE id = 77 RETURNING id"), "");
    assert_eq!(shell.run("SELECT id, v FROM t ORDER BY id"), "1|10\n2|21\n103|30");
}

#[test]
fn deleted_rows_come_back_as_they_were() {
    let shell = shell();
    assert_eq!(shell.run("DELETE FROM t WHERE id = 2 RETURNING s, t.id, main.t.v"), "b|2|20");
    // Subqueries read what was there before the statement.
    let rows = shell.run("DELETE FROM t WHERE id = 1 RETURNING id, (SELECT count(*) FROM t)");
    assert_eq!(rows, "1|2");
    assert_eq!(shell.run("SELECT id FROM t"), "3");
}

#[test]
fn rows_come_in_the_order_in_which_they_were_inserted() {
    let shell = shell();
    let rows = shell
        .run("INSERT INTO t SELECT value, 1, '' FROM generate_series(1000, 60000) RETURNING id");
    let ids = rows.lines().map(|line| line.parse::<i64>().unwrap()).collect::<Vec<_>>();
    assert_eq!(ids.len(), 59_001);
    assert!(ids.is_sorted());
}

#[test]
fn a_statement_whose_returning_fails_changes_nothing() {
    let shell = shell();
    for text in [
        "INSERT INTO t VALUES (9, 0, 'x') RETURNING 1 / v",
        "UPDATE t SET v = 0 RETURNING 1 / v",
        "DELETE FROM t RETURNING 1 / (v - 20)",
        "DELETE FROM t RETURNING nothing",
        "DELETE FROM t RETURNING other.*",
        "DELETE FROM t RETURNING count(*)",
        "DELETE FROM t RETURNING sum(v) OVER ()",
    ] {
        shell.fails(text);
        shell.run("BEGIN");
        shell.fails(text);
        shell.run("COMMIT");
    }
    assert_eq!(shell.run("SELECT count(*), sum(v) FROM t"), "3|60");
    let (kind, message) = shell.fails("DELETE FROM t RETURNING max(v)");
    assert_eq!(kind, ErrorKind::Input);
    assert!(message.contains("aggregate functions are not allowed in RETURNING"), "{message}");
    let (kind, message) = shell.fails("UPDATE t SET v = NULL WHERE id = 1 RETURNING v");
    assert_eq!(kind, ErrorKind::NotNullViolation, "{message}");
}

#[test]
fn a_transaction_takes_back_what_it_returned() {
    let shell = shell();
    shell.run("BEGIN");
    assert_eq!(shell.run("INSERT INTO t VALUES (4, 40, 'd') RETURNING id"), "4");
    assert_eq!(shell.run("UPDATE t SET v = v + 1 WHERE id = 4 RETURNING v"), "41");
    assert_eq!(shell.run("DELETE FROM t WHERE id = 4 RETURNING v"), "41");
    assert_eq!(shell.run("DELETE FROM t WHERE id = 1 RETURNING s"), "a");
    shell.run("ROLLBACK");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "3");
}

#[test]
fn prepared_statements_return_with_parameters_and_say_what_they_give() {
    let shell = shell();
    let session = shell.session();
    let text = "UPDATE t SET v = $1 WHERE id = $2 RETURNING v + $3 AS sum, t.s, upper(s)";
    let prepared = session.prepare(text).unwrap();
    assert!(prepared.gives_rows());
    assert_eq!(prepared.postgres_names(), ["sum", "s", "upper"]);
    let description = shell.runtime.block_on(session.describe(&prepared)).unwrap();
    let columns = description.columns.clone().unwrap();
    let names = columns.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["sum", "s", "upper(s)"]);
    assert!(description.parameters.iter().all(Option::is_some), "{description:?}");
    let values = [Value::Integer(5), Value::Integer(1), Value::Integer(100)];
    for _ in 0..3 {
        let run = session.execute_prepared(&prepared, &values);
        let Outcome::Rows(rows) = shell.runtime.block_on(run).unwrap() else { panic!("no rows") };
        assert_eq!(rows.changed(), Some(("UPDATE", 1)));
        let given = rows.schema().clone();
        assert_eq!(given.field(0).name(), "sum");
        // What a parameter is told to be may be narrower than its value.
        for (one, other) in columns.fields().iter().zip(given.fields()).skip(1) {
            assert_eq!((one.name(), one.data_type()), (other.name(), other.data_type()));
        }
        assert_eq!(shell.runtime.block_on(rows.collect()).unwrap()[0].num_rows(), 1);
    }
}

#[test]
fn what_insert_and_delete_return_is_described() {
    let shell = shell();
    let session = shell.session();
    for (text, expected) in [
        ("INSERT INTO t AS x VALUES ($1, $2, $3) RETURNING *", vec!["id", "v", "s"]),
        ("DELETE FROM t AS y WHERE y.id = $1 RETURNING y.*, 1 AS one", vec!["id", "v", "s", "one"]),
    ] {
        let prepared = session.prepare(text).unwrap();
        let described = shell.runtime.block_on(session.describe(&prepared)).unwrap();
        let columns = described.columns.clone().unwrap();
        let names = columns.fields().iter().map(|field| field.name().as_str());
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }
    let prepared = session.prepare("DELETE FROM t RETURNING nothing").unwrap();
    assert!(shell.runtime.block_on(session.describe(&prepared)).is_err());
}

#[test]
fn instances_return_what_they_change_together() {
    let shell = Shell::of(2, gadus_engine::CacheScope::Process);
    shell.run("CREATE TABLE counters (id BIGINT PRIMARY KEY, n BIGINT)");
    shell.run("INSERT INTO counters VALUES (1, 0)");
    let count = |shell: &Shell| {
        let returned = (0..50).map(|_| shell.run("UPDATE counters SET n = n + 1 RETURNING n"));
        returned.map(|n| n.parse::<i64>().unwrap()).collect::<Vec<_>>()
    };
    let others = shell.another();
    let (mut all, more) = std::thread::scope(|scope| {
        let more = scope.spawn(|| count(&others));
        (count(&shell), more.join().unwrap())
    });
    all.extend(more);
    all.sort_unstable();
    assert_eq!(all, (1..=100).collect::<Vec<_>>());
}

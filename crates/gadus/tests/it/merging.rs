//! MERGE.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason, Value};

/// A stock of goods, and what has come and gone.
fn stock() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE stock (item TEXT PRIMARY KEY, count INT NOT NULL CHECK (count >= 0), \
                  state TEXT DEFAULT 'new'); \
                  INSERT INTO stock VALUES ('ham', 5, 'old'), ('egg', 12, 'old'), ('tea', 1, 'old'); \
                  CREATE TABLE moves (item TEXT, delta INT); \
                  INSERT INTO moves VALUES ('ham', -5), ('egg', 6), ('jam', 3), ('oil', -1)";
    connection.execute_script(script).unwrap();
    connection
}

fn merged(connection: &Connection, sql: &str) -> u64 {
    connection.execute(sql, &[]).map_err(|error| format!("{sql}: {error}")).unwrap()
}

fn all(connection: &Connection) -> Vec<String> {
    rows(connection, "SELECT * FROM stock ORDER BY item")
}

#[test]
fn the_first_clause_that_fits_decides() {
    let connection = stock();
    let merge = "MERGE INTO stock AS s USING moves AS m ON s.item = m.item \
                 WHEN MATCHED AND s.count + m.delta = 0 THEN DELETE \
                 WHEN MATCHED THEN UPDATE SET count = s.count + m.delta, state = DEFAULT \
                 WHEN NOT MATCHED AND m.delta < 0 THEN DO NOTHING \
                 WHEN NOT MATCHED BY TARGET THEN INSERT (item, count) VALUES (m.item, m.delta) \
                 WHEN NOT MATCHED BY SOURCE AND s.count > 100 THEN DO NOTHING \
                 WHEN NOT MATCHED BY SOURCE THEN UPDATE SET state = 'idle'";
    assert_eq!(merged(&connection, merge), 4);
    assert_eq!(all(&connection), ["egg 18 new", "jam 3 new", "tea 1 idle"]);
    let explained = rows(&connection, &format!("EXPLAIN {merge}"));
    assert!(
        explained[0] == "MERGE" && explained.iter().any(|line| line.contains("Join")),
        "{explained:?}"
    );
    // Again: what was there is met now.
    assert_eq!(merged(&connection, merge), 3);
    assert_eq!(all(&connection), ["egg 24 new", "jam 6 new", "tea 1 idle"]);
    let gone = "MERGE INTO stock USING moves ON stock.item = moves.item WHEN NOT MATCHED BY SOURCE THEN DELETE";
    assert_eq!(merged(&connection, gone), 1);
    assert_eq!(merged(&connection, gone), 0);
    assert_eq!(all(&connection), ["egg 24 new", "jam 6 new"]);
}

#[test]
fn sources_are_queries_and_values_with_parameters() {
    let connection = stock();
    let merge = "MERGE INTO stock USING (VALUES ($1, $2), ('new', 7)) AS v (item, n) ON stock.item = v.item \
                 WHEN MATCHED AND v.n > $3 THEN UPDATE SET count = v.n \
                 WHEN NOT MATCHED THEN INSERT VALUES (v.item, v.n, DEFAULT)";
    let values = [Value::Text("egg".to_owned()), Value::Integer(100), Value::Integer(99)];
    assert_eq!(connection.execute(merge, &values).unwrap(), 2);
    assert_eq!(all(&connection), ["egg 100 old", "ham 5 old", "new 7 new", "tea 1 old"]);
    let merge = "MERGE INTO stock t USING (SELECT item, sum(delta) AS d FROM moves GROUP BY item) m \
                 ON t.item = m.item AND m.d > 0 WHEN MATCHED THEN UPDATE SET count = t.count + m.d";
    assert_eq!(merged(&connection, merge), 1);
    assert_eq!(rows(&connection, "SELECT count FROM stock WHERE item = 'egg'"), ["106"]);
}

/// Values are asked for where their clause decides.
#[test]
fn a_clause_that_does_not_fit_fails_for_nothing() {
    let connection = stock();
    let merge = "MERGE INTO stock s USING moves m ON s.item = m.item \
                 WHEN MATCHED AND m.delta < 0 THEN UPDATE SET count = 100 / (m.delta - 6) + 20 \
                 WHEN MATCHED THEN UPDATE SET count = 60 / m.delta \
                 WHEN NOT MATCHED AND m.delta > 0 THEN INSERT VALUES (m.item, 12 / (m.delta + 1), NULL)";
    assert_eq!(merged(&connection, merge), 3);
    assert_eq!(all(&connection), ["egg 10 old", "ham 11 old", "jam 3 NULL", "tea 1 old"]);
}

#[test]
fn a_merge_that_is_refused_changes_nothing() {
    let connection = stock();
    let before = all(&connection);
    run(&connection, "INSERT INTO moves VALUES ('egg', 1)");
    let using = "MERGE INTO stock s USING moves m ON s.item = m.item";
    for (clauses, kind) in [
        ("WHEN MATCHED THEN UPDATE SET count = 0", ErrorKind::Input),
        ("WHEN MATCHED THEN DELETE", ErrorKind::Input),
        (
            "WHEN NOT MATCHED THEN INSERT (item, count) VALUES (m.item, m.delta)",
            ErrorKind::CheckViolation,
        ),
        ("WHEN NOT MATCHED THEN INSERT (item) VALUES (m.item)", ErrorKind::NotNullViolation),
        ("WHEN NOT MATCHED THEN INSERT VALUES ('ham', 1, 'x')", ErrorKind::UniqueViolation),
        ("WHEN NOT MATCHED THEN INSERT (item) VALUES (m.item, 2)", ErrorKind::Input),
        ("WHEN MATCHED AND s.item = 'ham' THEN UPDATE SET count = -1", ErrorKind::CheckViolation),
        ("WHEN MATCHED AND s.item = 'ham' THEN UPDATE SET nothing = 1", ErrorKind::Input),
        ("WHEN MATCHED THEN DELETE OUTPUT s.item", ErrorKind::Unsupported),
    ] {
        let error = refused(&connection, &format!("{using} {clauses}"));
        assert_eq!(error.kind(), kind, "{clauses}: {error}");
        assert_eq!(all(&connection), before, "{clauses}");
    }
    run(&connection, "BEGIN READ ONLY");
    let error = refused(&connection, &format!("{using} WHEN MATCHED THEN DO NOTHING"));
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    run(&connection, "ROLLBACK");
}

/// A condition with another value each time is computed once for a row: what it decides is what is done.
#[test]
fn conditions_that_differ_each_time_decide_once() {
    let connection = stock();
    for (on, condition) in [
        ("true", "random() < 0.5"),
        ("random() < 0.5", "true"),
        ("true", "EXISTS (SELECT 1 FROM moves WHERE delta > 10 * RANDOM())"),
    ] {
        run(&connection, "UPDATE stock SET count = 5, state = 'old'");
        let merge = format!(
            "MERGE INTO stock USING (SELECT 1) m (one) ON {on} \
             WHEN MATCHED AND {condition} THEN UPDATE SET count = 7, state = 'set'"
        );
        let changed = merged(&connection, &merge);
        let found = "SELECT count(*) FROM stock WHERE count = 7 AND state = 'set'";
        assert_eq!(rows(&connection, found), [changed.to_string()], "{merge}");
    }
    let before = all(&connection);
    run(&connection, "CREATE SEQUENCE s");
    let merge = "MERGE INTO stock USING (SELECT 1) m (one) ON true \
                 WHEN MATCHED AND nextval('s') = 1 THEN UPDATE SET count = 7";
    assert_eq!(refused(&connection, merge).kind(), ErrorKind::Unsupported);
    assert_eq!(all(&connection), before);
    run(&connection, "UPDATE stock SET count = 5");
    // The source has one value for each row.
    let merge = "MERGE INTO stock s USING (SELECT item, random() AS r FROM moves) m ON s.item = m.item \
                 WHEN MATCHED AND m.r < 2 THEN UPDATE SET count = 7";
    assert_eq!(merged(&connection, merge), 2);
    assert_eq!(rows(&connection, "SELECT count(*) FROM stock WHERE count = 7"), ["2"]);
}

/// More rows than one batch has.
#[test]
fn many_rows_are_merged_at_once() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INT PRIMARY KEY, a INT)");
    run(&connection, "INSERT INTO t SELECT value * 2, 0 FROM range(20000)");
    let merge = "MERGE INTO t USING (SELECT value AS n FROM range(50000)) s ON t.id = s.n \
                 WHEN MATCHED AND s.n % 4 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET a = s.n \
                 WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.n, -s.n)";
    assert_eq!(merged(&connection, merge), 50_000);
    let found = rows(
        &connection,
        "SELECT count(*), sum(CASE WHEN a = id THEN 1 ELSE 0 END), sum(CASE WHEN a = -id THEN 1 ELSE 0 END) FROM t",
    );
    assert_eq!(found, ["40000 10000 30000"]);
}

#[test]
fn numbered_columns_are_numbered_by_merges() {
    let connection = stock();
    run(&connection, "CREATE TABLE log (id BIGINT GENERATED ALWAYS AS IDENTITY, item TEXT)");
    let merge = "MERGE INTO log USING moves ON false WHEN NOT MATCHED THEN INSERT (id, item) VALUES (DEFAULT, moves.item)";
    assert_eq!(merged(&connection, merge), 4);
    assert_eq!(
        rows(&connection, "SELECT min(id), max(id), count(DISTINCT item) FROM log"),
        ["1 4 4"]
    );
    let error = refused(
        &connection,
        "MERGE INTO log USING moves ON false WHEN NOT MATCHED THEN INSERT VALUES (7, moves.item)",
    );
    assert_eq!(error.reason(), Some(Reason::GeneratedAlways), "{error}");
}

/// A key that goes comes again by the same statement, and a transaction sees what a MERGE of its own has done.
#[test]
fn what_a_merge_deletes_it_may_insert_again() {
    let connection = stock();
    run(&connection, "BEGIN");
    let merge = "MERGE INTO stock s USING moves m ON s.item = m.item AND m.delta > 0 \
                 WHEN NOT MATCHED BY SOURCE THEN DELETE \
                 WHEN NOT MATCHED AND m.item = 'ham' THEN INSERT VALUES (m.item, 1, 'again')";
    assert_eq!(merged(&connection, merge), 3);
    assert_eq!(all(&connection), ["egg 12 old", "ham 1 again"]);
    run(&connection, "ROLLBACK");
    assert_eq!(all(&connection).len(), 3);
}

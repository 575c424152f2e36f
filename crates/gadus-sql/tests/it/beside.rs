//! UPDATE … FROM and DELETE … USING: rows found by tables beside the one that is changed.

use crate::support::Shell;
use gadus_engine::ErrorKind;
use gadus_sql::{Outcome, Value};

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id BIGINT PRIMARY KEY, v INTEGER, s TEXT)");
    shell.run("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd')");
    shell.run("CREATE TABLE o (id BIGINT, v INTEGER)");
    shell.run("INSERT INTO o VALUES (1, 100), (2, 200), (2, 200), (9, 900)");
    shell.run("CREATE TABLE names (v INTEGER, name TEXT)");
    shell.run("INSERT INTO names VALUES (100, 'one hundred'), (200, 'two hundred')");
    shell
}

#[test]
fn rows_are_updated_from_other_tables() {
    let shell = shell();
    assert_eq!(shell.run("UPDATE t SET v = o.v FROM o WHERE o.id = t.id"), "2");
    assert_eq!(shell.run("SELECT id, v FROM t ORDER BY id"), "1|100\n2|200\n3|30\n4|40");
    let joined = "UPDATE t AS x SET s = n.name || '!' FROM o JOIN names n ON n.v = o.v \
                  WHERE x.id = o.id";
    assert_eq!(shell.run(joined), "2");
    assert_eq!(shell.run("SELECT s FROM t ORDER BY id"), "one hundred!\ntwo hundred!\nc\nd");
    let listed = "UPDATE t SET v = t.v + q.n FROM (SELECT max(v) AS n FROM o) AS q, names \
                  WHERE names.v = 100 AND t.id > 2";
    assert_eq!(shell.run(listed), "2");
    assert_eq!(shell.run("SELECT v FROM t ORDER BY id"), "100\n200\n930\n940");
    // With itself, under another name.
    assert_eq!(shell.run("UPDATE t SET v = p.v FROM t AS p WHERE p.id = t.id - 1"), "3");
    assert_eq!(shell.run("SELECT v FROM t ORDER BY id"), "100\n100\n200\n930");
    assert_eq!(shell.run("UPDATE t SET v = 0 FROM o WHERE o.id = 77"), "0");
}

#[test]
fn a_row_that_several_match_is_changed_once() {
    let shell = shell();
    shell.run("INSERT INTO o SELECT 3, value FROM generate_series(1, 20000)");
    assert_eq!(shell.run("UPDATE t SET v = t.v + 1 FROM o WHERE o.id = t.id"), "3");
    assert_eq!(shell.run("SELECT v FROM t ORDER BY id"), "11\n21\n31\n40");
    assert_eq!(shell.run("UPDATE t SET v = o.v FROM o WHERE o.id = t.id AND o.id = 3"), "1");
    let v = shell.run("SELECT v FROM t WHERE id = 3").parse::<i64>().unwrap();
    assert!((1..=20_000).contains(&v), "{v}");
    // The key, too, moves once.
    assert_eq!(
        shell.run("UPDATE t SET id = t.id + 100 FROM o WHERE o.id = t.id RETURNING t.id"),
        "101\n102\n103"
    );
    assert_eq!(shell.run("UPDATE t SET id = t.id - 100 FROM o WHERE t.id > 100"), "3");
    assert_eq!(shell.run("DELETE FROM t USING o WHERE o.id = t.id"), "3");
    assert_eq!(shell.run("SELECT id FROM t"), "4");
}

#[test]
fn rows_are_deleted_by_other_tables() {
    let shell = shell();
    let text = "DELETE FROM t AS x USING o, names n WHERE o.v = n.v AND o.id = x.id AND n.v = 200";
    assert_eq!(shell.run(text), "1");
    assert_eq!(shell.run("DELETE FROM t USING t AS p WHERE p.id = t.id + 1"), "1");
    assert_eq!(shell.run("SELECT id FROM t ORDER BY id"), "1\n4");
    let outer =
        "DELETE FROM t USING o LEFT JOIN names n ON n.v = o.v WHERE n.v IS NULL AND t.v = 40";
    assert_eq!(shell.run(outer), "1");
    assert_eq!(shell.run("DELETE FROM t USING o"), "1");
}

#[test]
fn what_stands_beside_is_returned_too() {
    let shell = shell();
    let rows = shell
        .run("UPDATE t SET v = o.v FROM o WHERE o.id = t.id AND t.id = 1 RETURNING *, o.v - 1");
    assert_eq!(rows, "1|100|a|1|100|99");
    let text = "UPDATE t SET s = n.name FROM o JOIN names n ON n.v = o.v WHERE o.id = t.id AND t.id = 2 \
                RETURNING n.*, t.s, o.id AS other";
    assert_eq!(shell.run(text), "200|two hundred|two hundred|2");
    let text = "DELETE FROM t USING o LEFT JOIN names AS n ON n.v = o.v WHERE o.id = 9 AND t.id = 3 \
                RETURNING t.id, n.name, o.*";
    assert_eq!(shell.run(text), "3|NULL|9|900");
    assert_eq!(shell.run("DELETE FROM t USING o WHERE o.id = 77 RETURNING *, o.*"), "");
    assert_eq!(
        shell.run("SELECT id, v, s FROM t ORDER BY id"),
        "1|100|a\n2|20|two hundred\n4|40|d"
    );
}

#[test]
fn what_cannot_be_meant_is_refused_and_changes_nothing() {
    let shell = shell();
    for (text, kind) in [
        ("UPDATE t SET v = o.v FROM o WHERE id = 1", ErrorKind::Input),
        ("UPDATE t SET v = 1 FROM t WHERE t.id = 1", ErrorKind::Input),
        ("DELETE FROM t USING t", ErrorKind::Input),
        ("UPDATE t SET v = o.v FROM nothing", ErrorKind::NotFound),
        ("UPDATE t SET nothing = o.v FROM o", ErrorKind::NotFound),
        ("UPDATE t JOIN o ON o.id = t.id SET v = 1", ErrorKind::Unsupported),
    ] {
        let (given, message) = shell.fails(text);
        if kind != ErrorKind::NotFound {
            assert_eq!(given, kind, "{text}: {message}");
        }
    }
    assert_eq!(shell.run("SELECT sum(v) FROM t"), "100");
    let text =
        "UPDATE t SET v = 1 FROM o JOIN names USING (v) WHERE o.id = t.id RETURNING t.id, names.v";
    assert_eq!(shell.run(text), "1|100\n2|200");
    let text =
        "UPDATE t SET v = 1 FROM o JOIN names USING (v) WHERE o.id = t.id AND t.id = 2 RETURNING *";
    assert_eq!(shell.run(text), "2|1|b|200|2|two hundred");
}

#[test]
fn prepared_statements_know_their_parameters() {
    let shell = shell();
    let session = shell.session();
    for (text, expected) in [
        ("UPDATE t SET v = $1 FROM o WHERE o.id = t.id AND o.v = $2 RETURNING o.*", Some(2)),
        ("DELETE FROM t USING o WHERE o.id = t.id AND o.v = $1 + 0 AND t.s <> $2", None),
    ] {
        let prepared = session.prepare(text).unwrap();
        let described = shell.runtime.block_on(session.describe(&prepared)).unwrap();
        assert_eq!(described.columns.as_ref().map(|columns| columns.fields().len()), expected);
        assert!(described.parameters.iter().all(Option::is_some), "{text}: {described:?}");
    }
    let prepared = session.prepare("DELETE FROM t USING o WHERE o.id = t.id AND o.v = $1").unwrap();
    let run = session.execute_prepared(&prepared, &[Value::Integer(200)]);
    let outcome = shell.runtime.block_on(run).unwrap();
    assert!(matches!(outcome, Outcome::Changed { verb: "DELETE", rows: 1 }), "{outcome:?}");
}

#[test]
fn columns_are_called_as_they_were_described() {
    let shell = shell();
    let session = shell.session();
    for text in [
        "INSERT INTO t VALUES (11, 1, 'x') RETURNING *, v + 1, id",
        "INSERT INTO main.t VALUES (12, 1, 'x') RETURNING t.*, upper(s), t.v",
        "UPDATE public.t SET v = v + 1 WHERE id = 1 RETURNING v * 2, v, v, t.v AS w",
        "UPDATE t AS x SET v = x.v + 1 WHERE id = 1 RETURNING *, x.v * 2 AS w, x.v",
        "UPDATE t SET v = o.v FROM o WHERE o.id = t.id AND t.id = 1 RETURNING *, t.v - o.v, o.v",
        "UPDATE t SET v = o.v FROM o AS o WHERE o.id = t.id AND t.id = 1 RETURNING t.v, o.v + 1, o.*",
        "DELETE FROM t USING o, names WHERE o.id = t.id AND t.id = 1 RETURNING *, -o.v",
        "DELETE FROM t RETURNING id, id",
    ] {
        let prepared = session.prepare(text).unwrap();
        let described = shell.runtime.block_on(session.describe(&prepared)).unwrap();
        let columns = described.columns.clone().unwrap();
        let outcome = shell.runtime.block_on(session.execute_prepared(&prepared, &[])).unwrap();
        let Outcome::Rows(rows) = outcome else { panic!("{text} gives no rows") };
        let told = |schema: &arrow::datatypes::Schema| {
            let fields = schema.fields().iter();
            fields
                .map(|field| (field.name().clone(), field.data_type().clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&columns), told(rows.schema()), "{text}");
    }
}

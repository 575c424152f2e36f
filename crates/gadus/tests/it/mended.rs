//! What DataFusion answers wrongly when it is left alone.

use crate::statement::{rows, run};
use crate::subqueries::connect;

#[test]
fn a_condition_that_a_scan_took_over_holds_when_it_becomes_a_constant() {
    let connection = connect();
    run(&connection, "CREATE TABLE k (id INTEGER PRIMARY KEY, a INTEGER)");
    run(&connection, "INSERT INTO k VALUES (1, 5), (2, 3)");
    let join = "FROM t FULL JOIN k ON t.a = k.a WHERE";
    for condition in ["k.id IS NULL AND k.id > 0", "k.id > 0 AND NOT k.id IS NOT NULL"] {
        assert_eq!(rows(&connection, &format!("SELECT t.id {join} {condition}")), [""; 0]);
    }
    let always = format!("SELECT t.id {join} k.id IS NOT NULL AND k.id > 0 ORDER BY t.id");
    assert_eq!(rows(&connection, &always), ["1", "2", "4"]);
}

#[test]
fn a_constant_that_an_outer_join_leaves_out_is_ordered() {
    let connection = connect();
    let one = "(SELECT id, TRUE AS c FROM t WHERE id % 2 = 1) AS u";
    for join in [
        format!("t LEFT JOIN {one} ON t.id = u.id"),
        format!("{one} RIGHT JOIN t ON t.id = u.id"),
        format!("t FULL JOIN {one} ON t.id = u.id"),
        format!("t LEFT JOIN {one} ON t.id = u.id AND t.id < u.id + 1"),
        format!("t LEFT JOIN LATERAL (SELECT * FROM {one} WHERE u.id = t.id) AS u ON TRUE"),
    ] {
        let rows = rows(&connection, &format!("SELECT c, t.id FROM {join} ORDER BY c, t.id DESC"));
        assert_eq!(rows, ["true 5", "true 3", "true 1", "NULL 4", "NULL 2"], "{join}");
    }
}

#[test]
fn lists_with_nulls_and_columns_are_not_taken_from_each_other() {
    let connection = connect();
    let rows = |condition: &str| {
        rows(&connection, &format!("SELECT id FROM t WHERE {condition} ORDER BY id"))
    };
    assert_eq!(rows("a IN (1, 5) AND a NOT IN (3, NULL)"), [""; 0]);
    assert_eq!(rows("a NOT IN (3, CAST(NULL AS INTEGER)) AND a IN (1, 5)"), [""; 0]);
    assert_eq!(rows("(a IN (1, NULL) AND a IN (1, 5)) IS NULL"), ["1", "3", "4"]);
    assert_eq!(rows("a IN (1, b) AND a NOT IN (1, 8)"), [""; 0]);
    assert_eq!(rows("a IN (3, b, 5) AND a NOT IN (b, 5)"), ["2"]);
    assert_eq!(rows("a NOT IN (3, nullif(1, 1), 7) AND a IN (1, 5)"), [""; 0]);
}

/// What reads the table around within, where `INNER` is that table with or without a name of its own.
const AROUND_AND_WITHIN: &[&str] = &[
    "SELECT id, a IN (SELECT a FROM INNER WHERE id < 3) FROM t ORDER BY id",
    "SELECT id, a NOT IN (SELECT a FROM INNER WHERE id < 3) FROM t ORDER BY id",
    "SELECT id, a IN (SELECT a FROM INNER) FROM t ORDER BY id",
    "SELECT id, a + 0 IN (SELECT b FROM INNER) FROM t ORDER BY id",
    "SELECT id, a IN (SELECT max(a) FROM INNER) FROM t ORDER BY id",
    "SELECT id, a IN (SELECT a FROM INNER GROUP BY a HAVING count(*) > 1) FROM t ORDER BY id",
    "SELECT id, a IN (SELECT a FROM INNER ORDER BY a LIMIT 2) FROM t ORDER BY id",
    "SELECT id, a = ANY (SELECT a FROM INNER WHERE id < 3) FROM t ORDER BY id",
    "SELECT id, a >= ALL (SELECT a FROM INNER WHERE id < 3) FROM t ORDER BY id",
    "SELECT id FROM t WHERE a IN (SELECT a FROM INNER WHERE id < 3) ORDER BY id",
    "SELECT id FROM t WHERE a IN (SELECT a FROM INNER WHERE id < 3) OR id = 5 ORDER BY id",
    "SELECT id FROM t WHERE a NOT IN (SELECT a FROM INNER WHERE id < 3) ORDER BY id",
    "SELECT id FROM t WHERE a NOT IN (SELECT a FROM INNER WHERE id < 3) OR id = 3 ORDER BY id",
    "SELECT id FROM t WHERE NOT (a IN (SELECT a FROM INNER WHERE id < 3) AND id < 4) ORDER BY id",
    "SELECT id FROM t WHERE (a IN (SELECT a FROM INNER WHERE id < 3)) IS NOT TRUE ORDER BY id",
    "SELECT id FROM t WHERE a >= ALL (SELECT a FROM INNER WHERE id < 3) ORDER BY id",
    "SELECT id FROM t WHERE a < ANY (SELECT a FROM INNER WHERE id < 3) OR id = 3 ORDER BY id",
    "SELECT t.id, s.id FROM t, s WHERE t.a IN (SELECT a FROM INNER WHERE id = s.id) ORDER BY 1, 2",
    "SELECT t.id, s.id FROM t, s WHERE t.a IN (SELECT a FROM INNER WHERE id = s.id) OR t.id > 4 ORDER BY 1, 2",
    "SELECT t.id, s.id, t.a IN (SELECT a FROM INNER WHERE id = s.id) FROM t, s ORDER BY 1, 2",
    "SELECT t.id, s.id, t.a NOT IN (SELECT a FROM INNER WHERE id <> s.id) FROM t, s ORDER BY 1, 2",
    "SELECT id FROM t WHERE a IN (SELECT a FROM INNER WHERE b IN (SELECT b FROM INNER WHERE id < 3)) OR id = 5 ORDER BY id",
    "SELECT id, a IN (SELECT a FROM INNER WHERE b IN (SELECT b FROM INNER WHERE id < 3) OR id = 4) FROM t ORDER BY id",
    "SELECT id % 2, max(a) FROM t GROUP BY id % 2 HAVING max(a) IN (SELECT max(a) FROM INNER) ORDER BY 1",
    "SELECT id % 2, max(a) IN (SELECT max(a) FROM INNER WHERE id < 3) FROM t GROUP BY id % 2 ORDER BY 1",
    "SELECT count(*) FILTER (WHERE a IN (SELECT a FROM INNER WHERE id < 3)) FROM t",
    "SELECT sum(CASE WHEN a IN (SELECT a FROM INNER WHERE id < 3) THEN id ELSE 0 END) FROM t",
    "SELECT id FROM t ORDER BY a IN (SELECT a FROM INNER WHERE id < 2), id",
    "SELECT id, (SELECT count(*) FROM INNER WHERE id < 3) FROM t ORDER BY id",
    "SELECT id, EXISTS (SELECT 1 FROM (SELECT a AS x FROM INNER WHERE id < 3) AS u WHERE u.x = t.a) FROM t ORDER BY id",
    "SELECT id, (SELECT count(*) FROM (SELECT a AS x FROM INNER) AS u WHERE u.x < t.a) FROM t ORDER BY id",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM (SELECT a AS x FROM INNER WHERE id < 3) AS u WHERE u.x = t.a) OR id = 3 ORDER BY id",
    "WITH t AS (SELECT * FROM s WHERE id < 5) SELECT id, a IN (SELECT a FROM INNER WHERE id < 3) FROM t ORDER BY id",
];

#[test]
fn a_column_within_is_not_the_column_of_the_same_name_around() {
    let connection = connect();
    run(&connection, "CREATE TABLE s AS SELECT * FROM t");
    for statement in AROUND_AND_WITHIN {
        let within = rows(&connection, &statement.replace("INNER", "t"));
        let apart = rows(&connection, &statement.replace("INNER", "t AS other"));
        assert_eq!(within, apart, "{statement}");
    }
    let is_among = rows(&connection, AROUND_AND_WITHIN[0].replace("INNER", "t").as_str());
    assert_eq!(is_among, ["1 true", "2 true", "3 NULL", "4 true", "5 false"]);
    let update = "UPDATE t SET b = 100 WHERE a IN (SELECT a FROM t WHERE id < 2) OR id = 3";
    run(&connection, update);
    let updated = rows(&connection, "SELECT id FROM t WHERE b = 100 ORDER BY id");
    assert_eq!(updated, ["1", "3", "4"]);
}

/// A key in the groups lets the select list name all columns of its table; the others are in no group.
#[test]
fn groups_have_no_columns_that_nothing_reads() {
    let connection = connect();
    for sql in [
        "CREATE TABLE people (id INT PRIMARY KEY, name TEXT, address TEXT)",
        "CREATE TABLE orders (id INT PRIMARY KEY, person INT, price INT, note TEXT)",
        "CREATE TABLE items (part INT, n INT)",
        "INSERT INTO people VALUES (1, 'a', 'x'), (2, 'b', 'y')",
        "INSERT INTO orders VALUES (1, 1, 10, 'p'), (2, 1, 20, 'q'), (3, 2, 30, 'r')",
        "INSERT INTO items VALUES (1, 5), (1, 6), (2, 7), (3, 8)",
    ] {
        run(&connection, sql);
    }
    let joined =
        "FROM people AS p, orders AS o, items AS i WHERE p.id = o.person AND o.id = i.part";
    for (sql, expected) in [
        (
            format!(
                "SELECT p.name, o.id, sum(n) {joined} GROUP BY p.name, p.id, o.id ORDER BY o.id"
            ),
            &["a 1 11", "a 2 7", "b 3 8"] as &[&str],
        ),
        (
            format!(
                "SELECT o.price, sum(n) {joined} GROUP BY p.id, o.id HAVING sum(n) > 7 ORDER BY o.price"
            ),
            &["10 11", "30 8"],
        ),
        (
            format!(
                "SELECT p.id, rank() OVER (ORDER BY sum(n)) AS r {joined} GROUP BY p.id, o.id ORDER BY r, p.id"
            ),
            &["1 1", "2 2", "1 3"],
        ),
        (format!("SELECT 1 {joined} GROUP BY p.id, o.id"), &["1", "1", "1"]),
    ] {
        assert_eq!(rows(&connection, &sql), expected, "{sql}");
        let plan = rows(&connection, &format!("EXPLAIN {sql}")).join("\n");
        assert!(!plan.contains("address") && !plan.contains("note"), "{plan}");
    }
    let read =
        format!("SELECT p.address, o.note, count(*) {joined} GROUP BY p.id, o.id ORDER BY o.id");
    assert_eq!(rows(&connection, &read), ["x p 2", "x q 1", "y r 1"]);
    let having = format!(
        "SELECT count(*) {joined} GROUP BY p.id, o.id HAVING max(n) > (SELECT 6) AND p.address = 'x'"
    );
    assert_eq!(rows(&connection, &having), ["1"]);
}

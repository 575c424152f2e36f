//! Columns of lists, structures and maps; `unnest` of them behind FROM.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Error, ErrorKind, Options, Value};

const UUID: &str = "f47ac10b-58cc-4372-a567-0e02b2c3d479";

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    fill(&connection);
    connection
}

fn fill(connection: &Connection) {
    let table = "CREATE TABLE t (id INT PRIMARY KEY, tags TEXT[], v REAL[3], keys UUID[], n INT[][], \
                 s STRUCT(a INT, b TEXT, c DATE[]), m MAP(TEXT, INT))";
    run(connection, table);
    let made = format!(
        "INSERT INTO t VALUES (1, ARRAY['a', 'b', NULL], [1.5, 2, 3], ARRAY['{UUID}'], [[1, 2], [], NULL], \
         {{'a': 1, 'b': 'x', 'c': ['2024-01-02']}}, MAP {{'k': 3, 'l': NULL}})"
    );
    run(connection, &made);
    let written = "INSERT INTO t VALUES (2, '{x, \"y z\", NULL}', '[1, 2, 3]', '{}', '[[1], [2, 3]]', \
                   '{\"a\": 5, \"c\": [\"2020-02-29\"]}', '{\"k\": 1}')";
    run(connection, written);
    run(connection, "INSERT INTO t (id) VALUES (3)");
    let in_places =
        "INSERT INTO t VALUES (4, '{}', '{}', NULL, '[]', struct(7, 'places', NULL), MAP {})";
    run(connection, in_places);
}

/// What all of it is, as JSON.
const ALL: &str = "SELECT id, tags, v, keys, n, s, m FROM t ORDER BY id";

fn all() -> [String; 4] {
    [
        format!(
            r#"1 ["a","b",null] [1.5,2.0,3.0] ["{UUID}"] [[1,2],[],null] {{"a":1,"b":"x","c":["2024-01-02"]}} {{"k":3,"l":null}}"#
        ),
        r#"2 ["x","y z",null] [1.0,2.0,3.0] [] [[1],[2,3]] {"a":5,"b":null,"c":["2020-02-29"]} {"k":1}"#.to_owned(),
        "3 NULL NULL NULL NULL NULL NULL".to_owned(),
        r#"4 [] [] NULL [] {"a":7,"b":"places","c":null} {}"#.to_owned(),
    ]
}

#[test]
fn they_are_kept_however_they_come() {
    let folder = Folder::new();
    let open = || Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let database = open();
    fill(&database.connect());
    assert_eq!(rows(&database.connect(), ALL), all());
    // As it was written when it was committed, and as it is put together.
    drop(database);
    let database = open();
    let connection = database.connect();
    assert_eq!(rows(&connection, ALL), all());
    run(&connection, "VACUUM t");
    assert_eq!(rows(&connection, ALL), all());
    run(&connection, "CREATE TABLE u AS SELECT * FROM t");
    for (form, copy) in [("csv", ""), ("parquet", " (FORMAT PARQUET)")] {
        let file = folder.path(&format!("t.{form}"));
        run(&connection, &format!("COPY t TO '{}'{copy}", file.display()));
        run(&connection, "TRUNCATE u");
        run(&connection, &format!("COPY u FROM '{}'{copy}", file.display()));
        let copied = rows(&connection, &ALL.replace("FROM t", "FROM u"));
        assert_eq!(copied, all(), "{form}");
    }
    drop((connection, database));
    let report = gadus::check(folder.path("x.gadus"), |_, _| ()).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[test]
fn their_parts_are_asked_for() {
    let connection = connect();
    for (asked, answer) in [
        ("SELECT id FROM t WHERE tags = ARRAY['a', 'b', NULL]", vec!["1"]),
        ("SELECT id FROM t WHERE tags = '{x,y z,NULL}'::TEXT[]", vec!["2"]),
        ("SELECT id FROM t WHERE tags > ARRAY['b']", vec!["2"]),
        ("SELECT id FROM t WHERE tags = '{x,y z,NULL}'", vec!["2"]),
        ("SELECT id FROM t WHERE s = '{\"a\": 7, \"b\": \"places\"}'", vec!["4"]),
        (
            "SELECT id FROM t WHERE tags IN ('{}', '[\"x\",\"y z\",null]') ORDER BY id",
            vec!["2", "4"],
        ),
        (
            "SELECT id, tags @> '{a}', tags && ARRAY['x', 'q'] FROM t WHERE id < 3 ORDER BY id",
            vec!["1 true false", "2 false true"],
        ),
        ("SELECT id FROM t WHERE '{1.5}' <@ v", vec!["1"]),
        ("SELECT id FROM t WHERE tags IS NULL", vec!["3"]),
        ("SELECT id FROM t WHERE 'a' = ANY (tags)", vec!["1"]),
        ("SELECT id FROM t WHERE array_has(tags, 'x')", vec!["2"]),
        (
            "SELECT tags[1], array_length(tags) FROM t ORDER BY id",
            vec!["a 3", "x 3", "NULL NULL", "NULL 0"],
        ),
        ("SELECT s['a'], t.s.b FROM t WHERE s['a'] > 1 ORDER BY id", vec!["5 NULL", "7 places"]),
        (
            "SELECT m['k'], map_keys(m) FROM t ORDER BY id",
            vec![r#"3 ["k","l"]"#, r#"1 ["k"]"#, "NULL NULL", "NULL []"],
        ),
        (
            "SELECT array_distance(v, [1.0, 2.0, 3.0]) FROM t WHERE array_length(v) = 3 ORDER BY 1",
            vec!["0", "0.5"],
        ),
        (
            "SELECT count(*), tags[1] FROM t GROUP BY tags, tags[1] ORDER BY tags",
            vec!["1 NULL", "1 a", "1 x", "1 NULL"],
        ),
        ("SELECT count(DISTINCT n), max(tags) FROM t", vec![r#"3 ["x","y z",null]"#]),
        ("SELECT count(*) FROM t AS a JOIN t AS b ON a.tags = b.tags", vec!["3"]),
        (
            "SELECT id, keys[1] FROM t WHERE keys[1] = 'F47AC10B58CC4372A5670E02B2C3D479'",
            vec!["1 f47ac10b-58cc-4372-a567-0e02b2c3d479"],
        ),
        (
            "SELECT 'f47ac10b-58cc-4372-a567-0e02b2c3d479' = ANY (keys) FROM t ORDER BY id",
            vec!["true", "false", "NULL", "NULL"],
        ),
        (
            "SELECT s::TEXT, m::TEXT FROM t WHERE id = 4",
            vec![r#"{"a":7,"b":"places","c":null} {}"#],
        ),
        (
            "SELECT x::INT[] FROM (VALUES ('{1,2}'), ('{3}'), (NULL)) AS v(x)",
            vec!["[1,2]", "[3]", "NULL"],
        ),
        ("SELECT '{\"a\": {\"b\": [1]}}'::STRUCT(a STRUCT(b INT[]))", vec![r#"{"a":{"b":[1]}}"#]),
        ("SELECT struct(s IS NULL) FROM t WHERE id = 3", vec![r#"{"c0":true}"#]),
    ] {
        assert_eq!(rows(&connection, asked), answer, "{asked}");
    }
}

/// As PostgreSQL 15 answers.
#[test]
fn lists_are_tables_of_their_elements() {
    let connection = connect();
    for (asked, answer) in [
        (
            "SELECT id, x FROM t, unnest(tags) AS x ORDER BY 1, 2",
            vec!["1 a", "1 b", "1 NULL", "2 x", "2 y z", "2 NULL"],
        ),
        (
            "SELECT id, x FROM t CROSS JOIN LATERAL unnest(tags) AS u(x) WHERE x > 'a' ORDER BY 1, 2",
            vec!["1 b", "2 x", "2 y z"],
        ),
        (
            "SELECT id, x FROM t JOIN unnest(tags) AS u(x) ON x > 'b' ORDER BY 1, 2",
            vec!["2 x", "2 y z"],
        ),
        (
            "SELECT id, x FROM t LEFT JOIN unnest(tags) AS u(x) ON true WHERE id > 2 ORDER BY 1",
            vec!["3 NULL", "4 NULL"],
        ),
        (
            "SELECT id, x, p FROM t, unnest(tags) WITH ORDINALITY AS u(x, p) WHERE id = 2 ORDER BY 3",
            vec!["2 x 1", "2 y z 2", "2 NULL 3"],
        ),
        (
            "SELECT id, x, y FROM t, unnest(tags) AS x, unnest(v) AS y WHERE id = 1 AND x < 'b' ORDER BY 3",
            vec!["1 a 1.5", "1 a 2", "1 a 3"],
        ),
        (
            "SELECT id, (SELECT count(*) FROM unnest(tags)) FROM t ORDER BY id",
            vec!["1 3", "2 3", "3 0", "4 0"],
        ),
        (
            "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM unnest(tags) AS x WHERE x = 'x')",
            vec!["2"],
        ),
        (
            "SELECT id, g FROM t, generate_series(1, t.id) AS g WHERE id = 3 ORDER BY g",
            vec!["3 1", "3 2", "3 3"],
        ),
        (
            "SELECT x, count(*) FROM t, unnest(tags) AS x GROUP BY x HAVING x IS NULL",
            vec!["NULL 2"],
        ),
        ("SELECT * FROM unnest(ARRAY['p', 'q']) WITH ORDINALITY", vec!["p 1", "q 2"]),
        ("SELECT * FROM unnest(ARRAY[10, 20], ARRAY['p', 'q']) AS u(x, y)", vec!["10 p", "20 q"]),
        ("SELECT unnest FROM unnest(ARRAY[7])", vec!["7"]),
    ] {
        assert_eq!(rows(&connection, asked), answer, "{asked}");
    }
}

#[test]
fn they_are_changed_as_others_are() {
    let connection = connect();
    let first = |asked: &str| rows(&connection, &format!("SELECT {asked} FROM t WHERE id = 1"));
    run(
        &connection,
        "UPDATE t SET tags = array_append(tags, 'new'), m = MAP {'z': 26} WHERE id = 1",
    );
    assert_eq!(first("tags, m"), [r#"["a","b",null,"new"] {"z":26}"#]);
    let upsert = "INSERT INTO t (id, tags) VALUES (1, '{q}') ON CONFLICT (id) DO UPDATE SET tags = excluded.tags";
    run(&connection, upsert);
    assert_eq!(first("tags"), [r#"["q"]"#]);
    run(
        &connection,
        "ALTER TABLE t ADD COLUMN more INT[] NOT NULL DEFAULT '{1,2}' CHECK (array_length(more) < 3)",
    );
    assert_eq!(first("more"), ["[1,2]"]);
    let error = refused(&connection, "UPDATE t SET more = '{1,2,3}' WHERE id = 1");
    assert_eq!(error.kind(), ErrorKind::CheckViolation, "{error}");
    run(&connection, "ALTER TABLE t ADD COLUMN pairs STRUCT(a INT, b MAP(TEXT, INT[]))");
    run(&connection, r#"UPDATE t SET pairs = '{"a": 1, "b": {"k": [2]}}' WHERE id = 1"#);
    assert_eq!(first("pairs['b']['k'][1]"), ["2"]);
    run(&connection, "DELETE FROM t WHERE s['a'] > 4");
    assert_eq!(rows(&connection, "SELECT id FROM t ORDER BY id"), ["1", "3"]);
    // As `.schema` writes types.
    run(&connection, "CREATE TABLE w (a STRUCT<\"x y\" INTEGER[], \"b\" MAP(TEXT, UUID)>[])");
    run(&connection, "INSERT INTO w VALUES ('[{\"x y\": [1], \"b\": {}}]')");
    assert_eq!(rows(&connection, "SELECT a[1]['x y'] FROM w"), ["[1]"]);
}

#[test]
fn they_are_parameters() {
    use gadus::arrow::datatypes::DataType;
    let connection = connect();
    let tags = Value::list(&DataType::Utf8, [Value::from("p"), Value::Null]).unwrap();
    connection.execute("UPDATE t SET tags = $1 WHERE id = 3", std::slice::from_ref(&tags)).unwrap();
    let mut found = connection.query("SELECT id FROM t WHERE tags = $1", &[tags]).unwrap();
    assert_eq!(found.next().unwrap().unwrap().get::<i64>(0).unwrap(), 3);
}

/// Of 300,000 rows, in segments and out of them.
#[test]
fn many_are_kept_in_segments() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let table = "CREATE TABLE t AS SELECT x AS id, [x, x + 1, NULL] AS l, {'a': x, 'b': x::TEXT} AS s \
                 FROM generate_series(1, 300000) AS g(x)";
    run(&connection, table);
    let sums = "SELECT count(*), sum(l[2]), sum(s['a']), max(s['b']) FROM t";
    assert_eq!(rows(&connection, sums), ["300000 45000450000 45000150000 99999"]);
    run(&connection, "UPDATE t SET l = [0] WHERE id % 1000 = 0");
    run(&connection, "VACUUM t");
    let changed = "SELECT count(*), sum(l[1]) FROM t WHERE array_length(l) = 1";
    assert_eq!(rows(&connection, changed), ["300 0"]);
    assert_eq!(
        rows(&connection, "SELECT l, s FROM t WHERE id = 777"),
        [r#"[777,778,null] {"a":777,"b":"777"}"#]
    );
}

#[test]
fn what_is_none_is_refused() {
    let connection = connect();
    let refused = |sql: &str| -> Error { refused(&connection, sql) };
    for (sql, part) in [
        ("INSERT INTO t (id, n) VALUES (9, '{1,2')", "malformed array literal"),
        ("INSERT INTO t (id, v) VALUES (9, '[1,\"x\"]')", "is no value of the type REAL[]"),
        ("INSERT INTO t (id, v) VALUES (9, '[1] [2]')", "is no value of the type REAL[]"),
        ("INSERT INTO t (id, v) VALUES (9, '')", "is no value of the type REAL[]"),
        ("INSERT INTO t (id, s) VALUES (9, '{\"z\": 1}')", "is no value of the type STRUCT"),
        (
            "INSERT INTO t (id, s) VALUES (9, struct(1))",
            "a structure of 1 fields does not fit one of 3",
        ),
        ("INSERT INTO t (id, tags) VALUES (9, 7)", "is no TEXT[]"),
        ("INSERT INTO t (id, keys) VALUES (9, '{x}')", "invalid input syntax for type uuid"),
        ("SELECT 'x'::INT[]", "malformed array literal: \"x\""),
        ("CREATE TABLE k (a INT[] PRIMARY KEY)", "can be in no key or index"),
        ("CREATE TABLE k (a INT[] UNIQUE)", "can be in no key or index"),
        ("CREATE INDEX i ON t (tags)", "can be in no key or index"),
        ("CREATE TABLE k (a JSON[])", "JSON has lists"),
        ("CREATE TABLE k (a STRUCT(b INT, b INT))", "is not possible"),
    ] {
        let error = refused(sql);
        assert!(error.to_string().contains(part), "{sql}: {error}");
        assert_eq!(error.kind(), ErrorKind::Input, "{sql}: {error}");
    }
    assert_eq!(rows(&connection, ALL), all());
}

#[test]
fn what_is_too_deep_is_refused() {
    let connection = connect();
    for depth in [17, 1_000, 30_000] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        for sql in [
            format!("CREATE TABLE k (a INT{})", "[]".repeat(depth)),
            format!("CREATE TABLE k (a {}INT{})", "STRUCT(a ".repeat(depth), ")".repeat(depth)),
            format!("CREATE TABLE k (a {}INT{})", "STRUCT<a ".repeat(depth), ">".repeat(depth)),
            format!("CREATE TABLE k (a {}INT{})", "MAP(TEXT, ".repeat(depth), ")".repeat(depth)),
            format!("INSERT INTO t (id, n) VALUES (9, '{open}1{close}')"),
            format!("SELECT '{open}{close}'::INT[]"),
            format!("SELECT '{}1{}'::STRUCT(a INT)", "{\"a\":".repeat(depth), "}".repeat(depth)),
        ] {
            refused(&connection, &sql);
        }
    }
    assert_eq!(rows(&connection, ALL), all());
}

//! JSON: checked when it is stored, kept as it was given, and asked by PostgreSQL's operators.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Options, Reason, Value};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(
        &connection,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, d JSON, b JSONB NOT NULL DEFAULT '{}')",
    );
    for (id, document) in [
        (1, r#"{"a": {"b": [10, 20, "x"]}, "n": 1.5, "s": "it's", "t": true, "z": null}"#),
        (2, r#"[1, {"k": "v"}, []]"#),
        (3, r#""text""#),
        (4, " 12 "),
    ] {
        let values = [Value::from(id), Value::from(document)];
        connection.execute("INSERT INTO t (id, d) VALUES ($1, $2)", &values).unwrap();
    }
    run(&connection, "INSERT INTO t (id, d) VALUES (5, NULL)");
    connection
}

/// As PostgreSQL 15 answers.
#[test]
fn operators_reach_into_documents() {
    let connection = connect();
    for (asked, id, answer) in [
        ("d -> 'a' -> 'b' -> 1", 1, "20"),
        ("d -> 'a' ->> 'b'", 1, r#"[10, 20, "x"]"#),
        ("d -> 'a' -> 'b' ->> 2", 1, "x"),
        ("d -> 'a' -> 'b' -> 2", 1, r#""x""#),
        ("d -> 'a' -> 'b' -> -1", 1, r#""x""#),
        ("d #> '{a,b,0}'", 1, "10"),
        ("d #>> '{a,b,2}'", 1, "x"),
        ("d ->> 's'", 1, "it's"),
        ("d ->> 't'", 1, "true"),
        ("d ->> 'z'", 1, "NULL"),
        ("d -> 'z'", 1, "null"),
        ("d -> 'missing'", 1, "NULL"),
        ("(d ->> 'n')::double + 1", 1, "2.5"),
        ("jsonb_exists(d::jsonb, 'n')", 1, "true"),
        ("jsonb_exists(d::jsonb, 'm')", 1, "false"),
        ("json_array_length(d)", 2, "3"),
        ("d -> 1 ->> 'k'", 2, "v"),
        ("json_typeof(d)", 1, "object"),
        ("json_typeof(d)", 2, "array"),
        ("json_typeof(d)", 3, "string"),
        ("jsonb_typeof(d::jsonb)", 4, "number"),
        ("json_typeof(d -> 't')", 1, "boolean"),
        ("json_typeof(d -> 'z')", 1, "null"),
        ("json_typeof(d)", 5, "NULL"),
        ("d ->> 'a'", 5, "NULL"),
        ("json_extract_path_text(d, 'a', 'b', '0')", 1, "10"),
        ("d", 4, " 12 "),
        ("b", 4, "{}"),
    ] {
        let sql = format!("SELECT {asked} FROM t WHERE id = {id}");
        assert_eq!(rows(&connection, &sql), [answer], "{asked} of {id}");
    }
    let by = "SELECT id FROM t WHERE d ->> 's' = 'it''s' AND (d ->> 'n')::double > 1";
    assert_eq!(rows(&connection, by), ["1"]);
    let grouped =
        "SELECT json_typeof(d), count(*) FROM t WHERE d IS NOT NULL GROUP BY 1 ORDER BY 1";
    assert_eq!(rows(&connection, grouped), ["array 1", "number 1", "object 1", "string 1"]);
    let grouped = "SELECT d::jsonb, count(*) FROM t WHERE id = 4 GROUP BY d::jsonb";
    assert_eq!(rows(&connection, grouped), ["12 1"]);
    for (asked, is_document) in [
        ("d", true),
        ("d -> 'a'", true),
        ("d ->> 'a'", false),
        ("'1'::json", true),
        ("d::text", false),
        ("lag(d) OVER (ORDER BY id)", true),
    ] {
        let result = connection.query(&format!("SELECT {asked} FROM t"), &[]).unwrap();
        let extension = result.schema().field(0).extension_type_name().map(str::to_owned);
        assert_eq!(extension.as_deref() == Some("arrow.json"), is_document, "{asked}");
    }
    // A text beside a document is one, as in PostgreSQL.
    for asked in [
        "CASE WHEN id > 1 THEN d ELSE 'x' END",
        "CASE WHEN id > 1 THEN 'x' ELSE d END",
        "coalesce(d, 'x')",
        "coalesce('x', d)",
    ] {
        let error = refused(&connection, &format!("SELECT {asked} FROM t"));
        assert_eq!(error.reason(), Some(Reason::InvalidText), "{asked}");
    }
}

#[test]
fn json_cannot_be_compared() {
    let connection = connect();
    for compared in [
        "SELECT nullif(d, '1') FROM t",
        "SELECT greatest(d, '1') FROM t",
        "SELECT d = d FROM t",
        "SELECT id FROM t WHERE d = '1'",
        "SELECT DISTINCT d FROM t",
        "SELECT count(*) FROM t GROUP BY d",
        "SELECT d FROM t ORDER BY d",
        "SELECT d FROM t UNION SELECT d FROM t",
        "SELECT jsonb_typeof(d) FROM t",
    ] {
        let error = refused(&connection, compared);
        assert_eq!(error.reason(), Some(Reason::UnknownFunction), "{compared}");
    }
}

#[test]
fn documents_are_made_of_values() {
    let connection = connect();
    for (made, answer) in [
        (
            "json_build_object('a', 1, 'b', 'x\"y', 'c', NULL)",
            r#"{"a" : 1, "b" : "x\"y", "c" : null}"#,
        ),
        ("json_build_object()", "{}"),
        ("json_build_object(7, true)", r#"{"7" : true}"#),
        (
            "json_build_object('d', d -> 'a', 't', d ->> 's')",
            r#"{"d" : {"b": [10, 20, "x"]}, "t" : "it's"}"#,
        ),
        (
            "jsonb_build_array(1, 2.50, 'x', NULL, json_build_array())",
            r#"[1, 2.50, "x", null, []]"#,
        ),
        ("to_json('x'::text)", r#""x""#),
        ("to_json(d -> 'n')", "1.5"),
        ("to_json(DATE '2024-02-29')", r#""2024-02-29""#),
        ("to_json(TIMESTAMP '2024-02-29 10:00:00')", r#""2024-02-29T10:00:00""#),
        ("to_json(ARRAY[1, 2])", "[1,2]"),
        ("to_json(NULL::int)", "NULL"),
        (
            "json_build_array('f47ac10b-58cc-4372-a567-0e02b2c3d479'::uuid)",
            r#"["f47ac10b-58cc-4372-a567-0e02b2c3d479"]"#,
        ),
    ] {
        let sql = format!("SELECT {made} FROM t WHERE id = 1");
        assert_eq!(rows(&connection, &sql), [answer], "{made}");
    }
    let each = "SELECT json_build_object('id', id, 'd', d) FROM t WHERE id > 2 ORDER BY id";
    let expected =
        [r#"{"id" : 3, "d" : "text"}"#, r#"{"id" : 4, "d" :  12 }"#, r#"{"id" : 5, "d" : null}"#];
    assert_eq!(rows(&connection, each), expected);
    let odd = refused(&connection, "SELECT json_build_object('a')");
    assert_eq!(odd.to_string(), "argument list must have even number of elements");
    let no_key = connection.query("SELECT json_build_object(NULL::text, 1)", &[]);
    assert!(no_key.and_then(|mut rows| rows.next().transpose()).is_err());
}

#[test]
fn what_is_no_document_is_refused() {
    let connection = connect();
    for sql in [
        "INSERT INTO t (id, d) VALUES (9, '{')",
        "INSERT INTO t (id, d) VALUES (9, '')",
        "INSERT INTO t (id, d) VALUES (9, '{\"a\": 1} x')",
        "INSERT INTO t (id, d) SELECT 9, '[1,]'",
        "INSERT INTO t (id, d) VALUES (9, 'NaN')",
        "UPDATE t SET d = 'nothing'",
        "UPDATE t SET b = 'nothing' WHERE id = 1",
        "SELECT '{'::json",
        "SELECT CAST('{' AS JSONB)",
        "SELECT JSON '{'",
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::InvalidText), "{sql}");
    }
    let deep = "[".repeat(1_000_000);
    let values = [Value::from(deep.as_str())];
    assert!(connection.execute("UPDATE t SET d = $1", &values).is_err());
    assert_eq!(rows(&connection, "SELECT count(*) FROM t WHERE json_valid(d)"), ["4"]);
    assert_eq!(
        rows(&connection, "SELECT json_valid('{'), json_valid('[1]'), json_valid(NULL)"),
        ["false true NULL"]
    );
    assert_eq!(rows(&connection, "SELECT '[1, 2]'::jsonb -> 1, NULL::json"), ["2 NULL"]);
}

#[test]
fn columns_become_documents_and_texts() {
    let connection = connect();
    run(&connection, "ALTER TABLE t ALTER COLUMN d TYPE TEXT");
    assert_eq!(rows(&connection, "SELECT d FROM t WHERE id = 3"), ["\"text\""]);
    run(&connection, "ALTER TABLE t ALTER COLUMN d TYPE JSON USING d::json");
    assert!(connection.execute("INSERT INTO t (id, d) VALUES (9, 'x')", &[]).is_err());
    run(&connection, "CREATE TABLE copy AS SELECT id, d FROM t");
    assert!(connection.execute("INSERT INTO copy VALUES (9, 'x')", &[]).is_err());
    run(&connection, "INSERT INTO t (id, d) SELECT id + 10, d FROM copy");
    assert_eq!(rows(&connection, "SELECT count(d) FROM t"), ["8"]);
    let all = "SELECT d FROM t UNION ALL SELECT '[]' UNION ALL SELECT d -> 'a' FROM t UNION ALL SELECT '1'::json";
    assert_eq!(
        rows(&connection, &format!("SELECT count(*), count(d) FROM ({all}) AS u")),
        ["22 12"]
    );
    let with_other = "SELECT d FROM t UNION ALL SELECT 'x' || id FROM t";
    assert_eq!(refused(&connection, with_other).reason(), Some(Reason::TypeMismatch));
    run(&connection, "ALTER TABLE t ALTER COLUMN d TYPE JSONB");
    run(&connection, "ALTER TABLE copy ALTER COLUMN d TYPE JSONB USING d::jsonb");
    let joined =
        "SELECT count(*) FROM t JOIN copy USING (d) JOIN (SELECT DISTINCT d FROM t) AS e USING (d)";
    assert_eq!(rows(&connection, joined), ["8"]);
    let ranked = "SELECT max(n) FROM (SELECT row_number() OVER (PARTITION BY d ORDER BY id) AS n FROM t) AS r";
    assert_eq!(rows(&connection, ranked), ["2"]);
    run(&connection, "INSERT INTO t (id, d) VALUES (30, '{\"b\": 1.0, \"a\":[1,2], \"b\": 2}')");
    assert_eq!(rows(&connection, "SELECT d FROM t WHERE id = 30"), [r#"{"a": [1, 2], "b": 2}"#]);
    assert_eq!(rows(&connection, r#"SELECT id FROM t WHERE d = '{"b":2.00,"a":[1.0,2]}'"#), ["30"]);
}

#[test]
fn documents_are_asked_by_operators() {
    let connection = gadus::Database::open_in_memory(gadus::Options::new()).unwrap().connect();
    for (condition, expected) in [
        (r#"'{"a":1,"b":[1,2]}'::jsonb @> '{"b":[2]}'"#, "true"),
        (r#"'{"a":1}'::jsonb @> '{"a":2}'"#, "false"),
        (r#"'[2]'::jsonb <@ '[1,2,3]'::jsonb"#, "true"),
        (r#"'{"a":1}'::jsonb ? 'a'"#, "true"),
        (r#"'["a","b"]'::jsonb ?| ARRAY['c','b']"#, "true"),
        (r#"'["a","b"]'::jsonb ?& ARRAY['c','b']"#, "false"),
        (r#"ARRAY[1,2,3] @> ARRAY[2]"#, "true"),
    ] {
        let query = format!("SELECT {condition}");
        assert_eq!(crate::statement::rows(&connection, &query), [expected], "{condition}");
    }
    let found = connection.query("SELECT ? + 1, ?", &[1_i64.into(), "x".into()]).unwrap();
    assert_eq!(found.count(), 1);
}

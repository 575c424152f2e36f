//! Functions as statements say them, and as the catalog keeps them.

use super::*;

/// What the catalog keeps makes the same function again.
#[test]
fn what_is_kept_is_the_same_function() {
    for (text, kept) in [
        ("CREATE MACRO add(a, b := 5) AS a + b", "CREATE MACRO \"add\"(a, b := 5) AS a + b"),
        (
            "CREATE OR REPLACE MACRO main.Rows(x) AS TABLE SELECT x AS v",
            "CREATE MACRO \"rows\"(x) AS TABLE SELECT x AS v",
        ),
        (
            "CREATE FUNCTION f(a INT, TEXT DEFAULT 'x') RETURNS BIGINT LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT a; $$",
            "CREATE FUNCTION \"f\"(a INT, TEXT DEFAULT 'x') RETURNS BIGINT LANGUAGE sql STRICT AS $$SELECT a$$",
        ),
        (
            "CREATE FUNCTION f(INT) RETURNS TEXT AS 'SELECT ''it'' || $1' LANGUAGE SQL",
            "CREATE FUNCTION \"f\"(INT) RETURNS TEXT LANGUAGE sql AS 'SELECT ''it'' || $1'",
        ),
        (
            "CREATE FUNCTION f(key INT, \"A b\" INT) RETURNS INT RETURN key + \"A b\"",
            "CREATE FUNCTION \"f\"(\"key\" INT, \"A b\" INT) RETURNS INT LANGUAGE sql AS $$SELECT key + \"A b\"$$",
        ),
        (
            "CREATE FUNCTION f(a INT) RETURNS INT RETURN a + 1",
            "CREATE FUNCTION \"f\"(a INT) RETURNS INT LANGUAGE sql AS $$SELECT a + 1$$",
        ),
        (
            "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE sql AS $$ SELECT v FROM t WHERE k = a $$",
            "CREATE FUNCTION \"f\"(a INT) RETURNS INT LANGUAGE sql AS $$SELECT v FROM t WHERE k = a LIMIT 1$$",
        ),
        (
            "CREATE FUNCTION f() RETURNS TABLE (x INT, y TEXT) LANGUAGE sql AS $$ SELECT 1, 'a' $$",
            "CREATE FUNCTION \"f\"() RETURNS TABLE (x INT, y TEXT) LANGUAGE sql AS $$SELECT 1, 'a'$$",
        ),
        (
            "CREATE FUNCTION f() RETURNS SETOF INT LANGUAGE sql AS $$ SELECT count(*) FROM t $$",
            "CREATE FUNCTION \"f\"() RETURNS SETOF INT LANGUAGE sql AS $$SELECT count(*) FROM t$$",
        ),
    ] {
        let function = Function::of_text(text).unwrap();
        assert_eq!(function.to_string(), kept);
        assert_eq!(Function::of_text(kept).unwrap(), function, "{kept}");
    }
}

#[test]
fn what_is_no_function_of_sql_is_refused() {
    for (text, expected) in [
        (
            "CREATE FUNCTION f() RETURNS INT LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$",
            "not SQL",
        ),
        ("CREATE FUNCTION f() RETURNS INT LANGUAGE sql AS $$ DELETE FROM t $$", "no query"),
        (
            "CREATE FUNCTION f(a INT, A TEXT) RETURNS INT LANGUAGE sql AS $$ SELECT 1 $$",
            "more than once",
        ),
        (
            "CREATE FUNCTION f(a INT DEFAULT 1, b INT) RETURNS INT LANGUAGE sql AS $$ SELECT 1 $$",
            "have defaults",
        ),
        ("CREATE FUNCTION f(OUT a INT) RETURNS INT LANGUAGE sql AS $$ SELECT 1 $$", "OUT"),
        ("CREATE FUNCTION f() LANGUAGE sql AS $$ SELECT 1 $$", "result type"),
        ("CREATE TEMP MACRO f() AS 1", "temporary"),
        ("CREATE MACRO other.f() AS 1", "one schema"),
    ] {
        let error = Function::of_text(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

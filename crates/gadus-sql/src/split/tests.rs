//! Tests that semicolons in quotes and comments end no statement.

use super::split_statements;

#[test]
fn semicolons_in_quotes_and_comments_end_nothing() {
    let script = split_statements(
        "SELECT ';' AS \"a;b\"; -- not; here\nSELECT /* nor ; here */ 2; SELECT $q$;$q$ ; ",
    );
    assert_eq!(script.statements.len(), 3);
    assert_eq!(script.statements[0], "SELECT ';' AS \"a;b\"");
    assert_eq!(script.statements[2], "SELECT $q$;$q$");
    assert_eq!(script.rest, "");
}

#[test]
fn an_unfinished_statement_is_the_rest() {
    let script = split_statements("SELECT 1; SELECT 'it''s");
    assert_eq!(script.statements, ["SELECT 1"]);
    assert_eq!(script.rest, "SELECT 'it''s");
}

#[test]
fn comments_alone_are_no_statement() {
    let script = split_statements("-- nothing\n; /* nothing */");
    assert!(script.statements.is_empty());
    assert_eq!(script.rest, "");
}

#[test]
fn parameters_are_no_dollar_quotes() {
    let script = split_statements("SELECT $1; SELECT $2 + $3;");
    assert_eq!(script.statements.len(), 2);
}

#[test]
fn backslashes_escape_behind_an_e_alone() {
    let script =
        split_statements(r"SELECT E'\';', 1; SELECT e'a''\'; b'; SELECT the'\'; SELECT '\';");
    let expected = [r"SELECT E'\';', 1", r"SELECT e'a''\'; b'", r"SELECT the'\'", r"SELECT '\'"];
    assert_eq!(script.statements, expected);
    assert_eq!(split_statements(r"SELECT E'\").rest, r"SELECT E'\");
}

#[test]
fn comments_stand_in_comments() {
    let script = split_statements("SELECT 1 /* a; /* b; */ c; */; SELECT /*/ ; */ 2; /* /* */ ;");
    assert_eq!(script.statements, ["SELECT 1 /* a; /* b; */ c; */", "SELECT /*/ ; */ 2"]);
    assert_eq!(script.rest, "/* /* */ ;");
}

#[test]
fn statements_begin_where_they_are_written() {
    let text = " SELECT 'é';\n;  SELECT 2 ;\n rest ";
    let script = split_statements(text);
    assert_eq!(script.starts.len(), script.statements.len() + 1);
    let all = script.statements.iter().chain([&script.rest]);
    for (statement, start) in all.zip(&script.starts) {
        assert!(text[*start..].starts_with(statement), "{statement}");
    }
}

//! Tests where statements end.

use super::*;

fn split(text: &str) -> (Vec<&str>, &str) {
    let script = split_script(text);
    let statements = script.statements.iter().map(|span| span.of(text)).collect();
    (statements, script.rest.of(text))
}

#[test]
fn semicolons_in_quotes_and_comments_end_no_statement() {
    for statement in [
        "SELECT ';'",
        r"SELECT E'\';'",
        "SELECT \";\"",
        "SELECT $$;$$",
        "SELECT $a$;$$;$a$",
        "SELECT 1 /* ; /* ; */ ; */ + 1",
        "SELECT 1 -- ;\n + 1",
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END",
    ] {
        let text = format!(" {statement} ;\n SELECT 2;");
        assert_eq!(split(&text), (vec![statement, "SELECT 2"], ""), "{statement}");
    }
}

#[test]
fn comments_around_a_statement_are_parts_of_it() {
    let text = "-- who\nSELECT 1 /* where */; /* alone */; SELECT 2 -- why\n";
    assert_eq!(split(text), (vec!["-- who\nSELECT 1 /* where */"], "SELECT 2 -- why"));
}

#[test]
fn what_follows_the_last_semicolon_is_the_rest() {
    assert_eq!(split("SELECT 1; SELECT 2 "), (vec!["SELECT 1"], "SELECT 2"));
    assert_eq!(split("SELECT 1; -- all\n /* done */ "), (vec!["SELECT 1"], ""));
    assert_eq!(split("SELECT 'a; SELECT 2"), (vec![], "SELECT 'a; SELECT 2"));
    assert_eq!(split("SELECT /* ; "), (vec![], "SELECT /* ;"));
    assert_eq!(split("SELECT 1; /* open ;"), (vec!["SELECT 1"], "/* open ;"));
    assert_eq!(split(";;"), (vec![], ""));
    assert_eq!(split(""), (vec![], ""));
}

#[test]
fn text_that_is_no_token_ends_no_statement() {
    assert_eq!(
        split("SELECT 1a; SELECT \\ ö ; BEGIN; END;").0,
        ["SELECT 1a", "SELECT \\ ö", "BEGIN", "END"]
    );
    assert_eq!(
        split("SELECT \"\"; SELECT $; SELECT 2;").0,
        ["SELECT \"\"", "SELECT $", "SELECT 2"]
    );
}

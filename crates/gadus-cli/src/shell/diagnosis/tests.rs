//! Carets below positions.

use super::*;

fn shown(sql: &str, what: &str) -> String {
    pointed(sql, sql.find(what).expect("it is in the statement")).expect("it is a position")
}

#[test]
fn the_caret_is_below_the_position() {
    assert_eq!(shown("SELECT x FROM t", "x"), "LINE 1: SELECT x FROM t\n               ^");
    assert_eq!(shown("SELECT\n\ty\nFROM t", "y"), "LINE 2:  y\n         ^");
    assert_eq!(
        shown("SELECT '漢字', z", "z"),
        "LINE 1: SELECT '漢字', z\n                       ^"
    );
}

#[test]
fn long_lines_are_cut_on_both_sides() {
    let sql = format!("SELECT {}, wrong, {}", "a".repeat(100), "b".repeat(100));
    let lines = shown(&sql, "wrong");
    let (line, caret) = lines.split_once('\n').expect("there are two lines");
    assert!(line.starts_with("LINE 1: ...") && line.ends_with("..."), "{line}");
    assert_eq!(caret.len() - 1, line.find("wrong").expect("it is shown"));
}

#[test]
fn detail_and_hint_follow() {
    let diagnosis = Diagnosis {
        sql_state: Some("42883"),
        detail: Some("more".to_owned()),
        hint: Some("do this".to_owned()),
        position: Some(7),
    };
    let error = Error::new(gadus::ErrorKind::Input, "wrong").diagnosed(diagnosis);
    let wanted = "wrong\nLINE 1: SELECT f()\n               ^\nDETAIL:  more\nHINT:  do this";
    assert_eq!(described(&error, "SELECT f()"), wanted);
    let plain = Error::new(gadus::ErrorKind::Input, "wrong");
    assert_eq!(described(&plain, "SELECT f()"), "wrong");
}

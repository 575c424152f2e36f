//! Names as they are kept and written.

use super::*;

#[test]
fn a_search_path_is_read_as_it_is_written() {
    let path = |text: &str| Names::new(Some(text), None).path.join("|");
    assert_eq!(path("\"$user\", public"), "main");
    assert_eq!(path("S, \"My \"\"own\"\"\", public, pg_catalog"), "s|My \"own\"|main");
    assert_eq!(path("'s'"), "s");
    assert!(Names::new(Some("\"$user\", public"), None).are_usual());
    assert!(!Names::new(Some("s"), None).are_usual());
}

#[test]
fn kept_names_are_written_with_a_dot() {
    let name = kept("s", "t");
    assert_eq!(kept("public", "t"), "t");
    assert_eq!(written(&format!("table \"{name}\" is there")), "table \"s.t\" is there");
    let statement = format!("SELECT '{name}', \"{name}\".a, \"x\"\"y\" FROM \"{name}\"");
    let expected = format!("SELECT '{name}', \"s\".\"t\".a, \"x\"\"y\" FROM \"s\".\"t\"");
    assert_eq!(written_statement(&statement), expected);
}

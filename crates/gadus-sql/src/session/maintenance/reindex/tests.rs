//! Forms of REINDEX.

use super::super::Maintenance;

#[test]
fn forms_are_read() {
    for text in [
        "REINDEX INDEX i",
        "reindex table concurrently s.t",
        "REINDEX (VERBOSE) TABLE t;",
        "REINDEX SCHEMA public",
        "REINDEX DATABASE",
    ] {
        let read = Maintenance::of(text).unwrap();
        assert!(matches!(read, Some(Maintenance::Reindex(_))), "{text}");
    }
    assert!(Maintenance::of("REINDEX t").is_err());
}

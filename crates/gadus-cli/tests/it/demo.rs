//! `gadus demo` at a small size: everything it claims is verified by itself.

use crate::folder::Folder;

#[test]
fn the_demo_passes_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let words = ["demo", "--rows", "20000", "--sf", "0.01", "--kills", "3", "--dir", "."];
    let printed = folder.printed(&words);
    for expected in
        ["Load", "Ask", "Update", "Snapshots", "kill -9", "Eight", "Verify", "of these lost"]
    {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
}

#[test]
fn the_demo_keeps_its_database_when_asked() {
    let folder = Folder::new();
    let words = ["demo", "--rows", "1000", "--sf", "0.01", "--kills", "1", "--dir", ".", "--keep"];
    let printed = folder.printed(&words);
    let path = printed.trim_end().rsplit(' ').next().unwrap();
    let ledger =
        folder.printed(&[path, "--format", "csv", "-c", "SELECT count(*) > 0 AS any FROM ledger"]);
    assert_eq!(ledger, "any\ntrue\n");
}

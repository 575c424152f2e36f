//! `gadus backup`: a copy that is a database.

use crate::folder::Folder;

#[test]
fn a_copy_has_what_the_database_has() {
    let folder = Folder::new();
    folder.printed(&["bookings", "x.gadus", "--rows", "70000"]);
    let printed = folder.printed(&["backup", "x.gadus", "y.gadus"]);
    assert!(printed.starts_with("y.gadus: 70000 rows in 1 tables, as of "), "{printed}");
    let count = |file: &str| {
        folder.printed(&[file, "-c", "SELECT count(*), min(record_locator) FROM bookings"])
    };
    assert_eq!(count("x.gadus"), count("y.gadus"));
    folder.printed(&["check", "y.gadus"]);
    let json = folder.printed(&["backup", "y.gadus", "z.gadus", "--json"]);
    assert!(json.contains("\"rows\":70000"), "{json}");
    assert!(folder.refused(&["backup", "x.gadus", "y.gadus"]).contains("y.gadus"));
    folder.refused(&["backup", "nothing.gadus", "w.gadus"]);
    assert!(!folder.path("w.gadus").exists() && !folder.path("nothing.gadus").exists());
}

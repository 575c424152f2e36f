//! `gadus check`: sound stays silent, damage is named.

use crate::folder::{Folder, error_of};

#[test]
fn a_flipped_byte_is_found_and_named() {
    let folder = Folder::new();
    folder.printed(&["bookings", "x.gadus", "--rows", "70000"]);
    let path = folder.path("x.gadus");
    let sound = std::fs::read(&path).unwrap();
    let mut named_table = false;
    for part in 2..9 {
        let mut damaged = sound.clone();
        damaged[sound.len() / 10 * part] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let output = folder.run(&["check", "x.gadus"]);
        let printed = String::from_utf8(output.stdout).unwrap();
        if output.status.success() {
            // A byte that nothing names.
            continue;
        }
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stderr.is_empty(), "all is said on standard output");
        assert!(printed.contains("DAMAGED") && printed.contains("at byte"), "{printed}");
        named_table |= printed.contains("(table bookings, column");
        let json = folder.run(&["check", "x.gadus", "--json"]);
        assert_eq!(json.status.code(), Some(1));
        let json = String::from_utf8(json.stdout).unwrap();
        assert!(json.contains("\"sound\":false") && json.contains("\"offset\":"), "{json}");
    }
    assert!(named_table, "some byte lies in a column");
}

#[test]
fn what_is_no_database_is_refused() {
    let folder = Folder::new();
    assert!(folder.refused(&["check", "x.gadus"]).contains("x.gadus"));
    std::fs::write(folder.path("letter.txt"), "Dear Ada,".repeat(2000)).unwrap();
    let output = folder.run(&["check", "letter.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).starts_with("error: "), "{}", error_of(&output));
}

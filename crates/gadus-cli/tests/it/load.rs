//! Generated tables in databases.

use crate::folder::Folder;

#[test]
fn bookings_are_loaded_and_not_twice() {
    let folder = Folder::new();
    let load = ["bookings", "x.gadus", "--rows", "70000", "--seed", "7"];
    assert_eq!(folder.printed(&load), "bookings: 70000 rows\n");
    let error = folder.refused(&load);
    assert!(error.contains("--replace"), "{error}");
    let mut again = load.to_vec();
    again.push("--replace");
    assert_eq!(folder.printed(&again), "bookings: 70000 rows\n");
    let counts = "SELECT count(*) AS n, count(DISTINCT record_locator) AS keys FROM bookings";
    let printed = folder.printed(&["x.gadus", "--format", "csv", "-c", counts]);
    assert_eq!(printed, "n,keys\n70000,70000\n");
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
}

#[test]
fn loaded_rows_are_the_generated_rows() {
    let folder = Folder::new();
    folder.printed(&["bookings", "x.gadus", "--rows", "12", "--seed", "7"]);
    let select = ["x.gadus", "--format", "csv", "-c", "SELECT * FROM bookings"];
    let generated = folder.printed(&["generate", "bookings", "--rows", "12", "--seed", "7"]);
    assert_eq!(folder.printed(&select), generated);
}

#[test]
fn tpch_is_loaded_whole_and_sound() {
    let folder = Folder::new();
    let printed = folder.printed(&["tpch", "x.gadus", "--sf", "0.01"]);
    assert_eq!(printed.lines().count(), 8);
    assert!(printed.contains("orders: 15000 rows"), "{printed}");
    let lost = "SELECT count(*) AS n FROM lineitem LEFT JOIN orders ON l_orderkey = o_orderkey \
                WHERE o_orderkey IS NULL";
    assert_eq!(folder.printed(&["x.gadus", "--format", "csv", "-c", lost]), "n\n0\n");
    assert!(folder.refused(&["tpch", "x.gadus", "--sf", "0.01"]).contains("--replace"));
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
}

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
fn hits_are_loaded_as_they_are_generated() {
    let folder = Folder::new();
    let load = ["hits", "x.gadus", "--rows", "300", "--seed", "7"];
    assert_eq!(folder.printed(&load), "hits: 300 rows\n");
    assert!(folder.refused(&load).contains("--replace"));
    let select = ["x.gadus", "--format", "csv", "-c", "SELECT * FROM hits"];
    let generated = folder.printed(&["generate", "hits", "--rows", "300", "--seed", "7"]);
    // Names without quotes are of small letters, once they are a table's.
    let rows = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rows(&folder.printed(&select)), rows(&generated));
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
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

#[test]
fn a_bad_csv_file_is_refused_with_its_line_and_changes_nothing() {
    let folder = Folder::new();
    let create = "CREATE TABLE t (id BIGINT, name TEXT); INSERT INTO t VALUES (7, 'seven')";
    folder.printed(&["x.gadus", "-c", create]);
    let bad: [(&str, &[u8]); 4] = [
        ("short.csv", b"id,name\n1,a\n2\n3,c\n"),
        ("long.csv", b"id,name\n1,a\n2,b,c\n"),
        ("bytes.csv", b"id,name\n1,a\n2,\xff\xfe\n"),
        ("type.csv", b"id,name\n1,a\nx,b\n"),
    ];
    for (name, content) in bad {
        std::fs::write(folder.path(name), content).unwrap();
        let message = folder.refused(&["x.gadus", "-c", &format!("COPY t FROM '{name}'")]);
        assert!(message.contains(name) && message.contains("line 3"), "{message}");
        let rows = folder.printed(&["x.gadus", "--format", "csv", "-c", "SELECT * FROM t"]);
        assert_eq!(rows, "id,name\n7,seven\n", "{name}");
    }
}

//! COPY in PostgreSQL's text format, and CSV with its options, from and to files.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Options};

fn with_table() -> (Folder, Connection) {
    let folder = Folder::new();
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INT, name TEXT, ok BOOLEAN, n NUMERIC(5,2))");
    (folder, connection)
}

#[test]
fn a_file_without_a_known_ending_is_postgresqls_text() {
    let (folder, connection) = with_table();
    let file = folder.path("t.data");
    std::fs::write(
        &file,
        "1\ta\\tb\tt\t1.50\n2\t\\N\tf\t\\N\n3\t\\\\N\\x41\\n\tt\t-2\n\\.\n4\tx\n",
    )
    .unwrap();
    let path = file.display();
    assert_eq!(connection.execute(&format!("COPY t FROM '{path}'"), &[]).unwrap(), 3);
    let names = "SELECT id, name, ok FROM t ORDER BY id";
    assert_eq!(rows(&connection, names), ["1 a\tb true", "2 NULL false", "3 \\NA\n true"]);
    let out = folder.path("out");
    run(&connection, &format!("COPY (SELECT * FROM t ORDER BY id) TO '{}'", out.display()));
    let written = std::fs::read_to_string(&out).unwrap();
    assert_eq!(written, "1\ta\\tb\tt\t1.50\n2\t\\N\tf\t\\N\n3\t\\\\NA\\n\tt\t-2.00\n");
}

#[test]
fn options_are_read_in_both_spellings() {
    let (folder, connection) = with_table();
    let file = folder.path("f");
    let path = file.display();
    for (text, options) in [
        ("1|x\n", "DELIMITER '|'"),
        ("1,x\n", "WITH DELIMITER AS ','"),
        ("1,x\n", "(DELIMITER ',')"),
        ("1;x\n", "(FORMAT csv, HEADER false, DELIMITER ';', NULL '')"),
        ("id,name\n1,'x'\n", "CSV HEADER QUOTE ''''"),
        ("id\tname\n1\tx\n", "(HEADER match)"),
    ] {
        std::fs::write(&file, text).unwrap();
        run(&connection, "TRUNCATE t");
        run(&connection, &format!("COPY t (id, name) FROM '{path}' {options}"));
        assert_eq!(rows(&connection, "SELECT id, name FROM t"), ["1 x"], "{options}");
    }
    let out = folder.path("out");
    let csv = "(FORMAT csv, HEADER, FORCE_QUOTE (name), NULL 'none')";
    run(&connection, &format!("COPY t TO '{}' {csv}", out.display()));
    let written = std::fs::read_to_string(&out).unwrap();
    assert_eq!(written, "id,name,ok,n\n1,\"x\",none,none\n");
}

#[test]
fn errors_have_postgresqls_codes_and_the_line() {
    let (folder, connection) = with_table();
    let file = folder.path("f");
    let path = file.display();
    for (text, expected, message) in [
        ("1\tx\tt\n", "22P04", "missing data for column \"n\", in line 1"),
        ("1\tx\tt\t1\t2\n", "22P04", "extra data after last expected column, in line 1"),
        (
            "1\tx\tt\t1\nz\tx\tt\t1\n",
            "22P02",
            "line 2, column \"id\": invalid input syntax for type integer: \"z\"",
        ),
        ("1\tx\tt\t12345\n", "22003", "line 1, column \"n\": numeric field overflow"),
        ("99999999999\tx\tt\t1\n", "22003", "out of range for type integer"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = refused(&connection, &format!("COPY t FROM '{path}'"));
        let state = error.diagnosis().and_then(|found| found.sql_state);
        assert_eq!(state, Some(expected), "{error}");
        assert!(error.message().contains(message), "{error}");
        assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["0"]);
    }
    for (options, expected) in [
        ("(FORMAT text, QUOTE '''')", "0A000"),
        ("(DELIMITER 'a')", "22023"),
        ("(NULL 'x', NULL 'y')", "42601"),
        ("(FOO)", "42601"),
    ] {
        let error = refused(&connection, &format!("COPY t FROM '{path}' {options}"));
        let state = error.diagnosis().and_then(|found| found.sql_state);
        assert_eq!(state, Some(expected), "{options}: {error}");
    }
}

#[test]
fn endings_still_name_formats() {
    let (folder, connection) = with_table();
    run(&connection, "INSERT INTO t VALUES (1, 'a,b', true, 1)");
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.json"] {
        let path = folder.path(name).display().to_string();
        run(&connection, &format!("COPY t TO '{path}'"));
        run(&connection, &format!("COPY t FROM '{path}'"));
    }
    assert_eq!(rows(&connection, "SELECT count(*), count(DISTINCT name) FROM t"), ["16 1"]);
    let csv = std::fs::read_to_string(folder.path("t.csv")).unwrap();
    assert_eq!(csv, "id,name,ok,n\n1,\"a,b\",true,1.00\n");
}

//! Records of CSV files that are left out: which, and what is told of them.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options};
use std::path::PathBuf;

const KEPT: &str = "SELECT line, column_name, error, message, text FROM bad ORDER BY file, line";

/// A table of four columns, and a file with what is wrong with them.
fn with_file(text: &[u8]) -> (Folder, Connection, PathBuf) {
    let folder = Folder::new();
    let file = folder.path("f.csv");
    std::fs::write(&file, text).unwrap();
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id BIGINT, day DATE, code UUID, note TEXT)");
    (folder, connection, file)
}

const WRONG: &[u8] = b"id,day,code,note\n\
    1,2024-01-02,,\"two\nlines\"\n\
    x,2024-01-02,,a\n\
    3,2024-02-30,,b\n\
    \n\
    4,2024-01-02,none,\"c\nd\"\n\
    5,2024-01-02,\n\
    6,2024-01-02,,e,f\n\
    7,2024-01-02,,\xff\n\
    8,2024-01-02,00000000-0000-0000-0000-000000000008,g\n\
    99999999999999999999,2024-01-02,,h\n";

#[test]
fn rows_that_cannot_be_read_are_left_out_and_written_down() {
    let (_folder, connection, file) = with_file(WRONG);
    let path = file.display();
    let copied = format!("COPY t FROM '{path}' (REJECTS 'bad')");
    assert_eq!(connection.execute(&copied, &[]).unwrap(), 2);
    let told =
        format!("{path}: 7 rows were left out that cannot be read, and written to table \"bad\"");
    assert_eq!(connection.take_notices(), [told]);
    assert_eq!(rows(&connection, "SELECT id, note FROM t ORDER BY id"), ["1 two\nlines", "8 g"]);
    let kept = rows(&connection, KEPT);
    let expected = [
        "4 id CAST 'x' is no BIGINT x,2024-01-02,,a",
        "5 day CAST '2024-02-30' is no DATE 3,2024-02-30,,b",
        "7 code CAST 'none': ",
        "9 note MISSING COLUMNS 3 values for 4 columns 5,2024-01-02,",
        "10 NULL TOO MANY COLUMNS 5 values for 4 columns 6,2024-01-02,,e,f",
        "11 note INVALID ENCODING the value is not UTF-8 7,2024-01-02,,\u{fffd}",
        "13 id CAST '99999999999999999999' is no BIGINT 99999999999999999999,2024-01-02,,h",
    ];
    assert_eq!(kept.len(), expected.len(), "{kept:?}");
    for (kept, expected) in kept.iter().zip(expected) {
        assert!(kept.starts_with(expected), "{kept} is not {expected}");
    }
    assert!(kept[2].ends_with("4,2024-01-02,none,\"c\nd\""), "{}", kept[2]);
    let files = format!("SELECT count(*) FROM bad WHERE file = '{path}'");
    assert_eq!(rows(&connection, &files), ["7"]);
    // A second load adds to what is there.
    assert_eq!(connection.execute(&copied, &[]).unwrap(), 2);
    assert_eq!(rows(&connection, "SELECT count(*) FROM bad"), ["14"]);
}

#[test]
fn rejects_are_part_of_the_load() {
    let (_folder, connection, file) = with_file(WRONG);
    let path = file.display();
    run(&connection, "BEGIN");
    run(&connection, &format!("COPY t FROM '{path}' (STORE_REJECTS)"));
    assert_eq!(rows(&connection, "SELECT count(*) FROM reject_errors"), ["7"]);
    run(&connection, "ROLLBACK");
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["0"]);
    refused(&connection, "SELECT * FROM reject_errors");
    // What a constraint refuses is no reject, and ends all of it.
    run(&connection, "ALTER TABLE t ADD CHECK (id < 8)");
    let error = refused(&connection, &format!("COPY t FROM '{path}' (REJECTS 'bad')"));
    assert_eq!(error.kind(), ErrorKind::CheckViolation);
    refused(&connection, "SELECT * FROM bad");
}

#[test]
fn rows_are_left_out_without_being_written_down() {
    let (_folder, connection, file) = with_file(WRONG);
    let path = file.display();
    for options in ["ON_ERROR ignore", "IGNORE_ERRORS", "FORMAT csv, IGNORE_ERRORS true, HEADER"] {
        assert_eq!(
            connection.execute(&format!("COPY t FROM '{path}' ({options})"), &[]).unwrap(),
            2
        );
        let told = format!("{path}: 7 rows were left out that cannot be read");
        assert_eq!(connection.take_notices(), [told], "{options}");
        assert_eq!(connection.take_notices(), [""; 0]);
    }
    run(&connection, &format!("COPY t FROM '{path}' (ON_ERROR ignore, LOG_VERBOSITY silent)"));
    assert_eq!(connection.take_notices(), [""; 0]);
    run(&connection, &format!("COPY t FROM '{path}' (ON_ERROR ignore, LOG_VERBOSITY verbose)"));
    let told = connection.take_notices();
    assert_eq!(told.len(), 8);
    assert_eq!(told[0], format!("left out: {path}: line 4, column \"id\": 'x' is no BIGINT"));
    for options in ["ON_ERROR stop", "IGNORE_ERRORS false", "HEADER"] {
        let error = refused(&connection, &format!("COPY t FROM '{path}' ({options})"));
        let wrong = format!("{path}: line 4, column \"id\": 'x' is no BIGINT");
        assert_eq!(error.message(), wrong, "{options}");
    }
}

#[test]
fn a_query_leaves_out_what_it_cannot_read() {
    let numbers = (0..5000).map(|row| format!("{row},a\n")).collect::<String>();
    let text = format!("id,note\n{numbers}x,b\n1,2,3\n5000,c\n");
    let (_folder, connection, file) = with_file(text.as_bytes());
    let path = file.display();
    for (columns, expected) in [("count(*)", "5001"), ("max(id)", "5000"), ("max(note)", "c")] {
        let read = format!("SELECT {columns} FROM read_csv('{path}', ignore_errors => true)");
        assert_eq!(rows(&connection, &read), [expected], "{columns}");
    }
    // Also where it is among those by which the columns are told.
    std::fs::write(&file, "id,note\n1,2,3\n7,c\n").unwrap();
    let read = format!(
        "SELECT id + 1, note FROM read_csv('{path}', ignore_errors => true, delimiter => ',')"
    );
    assert_eq!(rows(&connection, &read), ["8 c"]);
    let error =
        refused(&connection, &format!("SELECT * FROM read_csv('{path}', store_rejects => true)"));
    assert!(error.message().contains("(REJECTS 'table')"), "{error}");
}

#[test]
fn more_than_the_limit_are_an_error() {
    let (_folder, connection, file) = with_file(WRONG);
    let path = file.display();
    let copy = |options: &str| format!("COPY t FROM '{path}' ({options})");
    assert_eq!(connection.execute(&copy("REJECTS 'bad', REJECT_LIMIT 7"), &[]).unwrap(), 2);
    let error = refused(&connection, &copy("REJECTS 'worse', REJECT_LIMIT 6"));
    let message = format!(
        "more than 6 records cannot be read, which is the limit; the next: {path}: line 13, column \"id\": \
         '99999999999999999999' is no BIGINT"
    );
    assert_eq!(error.message(), message);
    refused(&connection, "SELECT * FROM worse");
    // Before all of it is read.
    let wrong = "x,,,\n".repeat(4 << 20);
    std::fs::write(&file, format!("id,day,code,note\n{wrong}")).unwrap();
    let error = refused(&connection, &copy("ON_ERROR ignore, REJECT_LIMIT 1000"));
    assert!(error.message().contains("more than 1000 records"), "{error}");
}

#[test]
fn rows_keep_their_order_and_blocks_their_lines_where_some_are_left_out() {
    let row = |row: usize| match row % 1000 {
        999 => format!("x{row},,,\n"),
        _ => format!("{row},,,\"some\ntext of two lines\"\n"),
    };
    let text = (0..150_000).map(row).collect::<String>();
    let (_folder, connection, _) = with_file(b"");
    let folder = Folder::new();
    for name in ["a1.csv", "a2.csv"] {
        std::fs::write(folder.path(name), &text).unwrap();
    }
    let glob = folder.path("*.csv");
    let copy = format!("COPY t FROM '{}' (HEADER false, REJECTS bad)", glob.display());
    assert_eq!(connection.execute(&copy, &[]).unwrap(), 2 * (150_000 - 150));
    assert_eq!(rows(&connection, "SELECT count(*), count(DISTINCT file) FROM bad"), ["300 2"]);
    let wrong =
        "SELECT count(*) FROM bad WHERE text <> 'x' || ((line + 1) / 1999 * 1000 - 1) || ',,,'";
    assert_eq!(rows(&connection, wrong), ["0"]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let (folder, connection, file) = with_file(WRONG);
    let path = file.display();
    run(&connection, "CREATE TABLE other (file TEXT)");
    for (options, message) in [
        ("REJECT_LIMIT 3", "goes with ON_ERROR ignore"),
        ("ON_ERROR stop, REJECTS 'bad'", "ON_ERROR stop keeps no record"),
        ("ON_ERROR maybe", "is ignore or stop"),
        ("ON_ERROR ignore, REJECT_LIMIT 0", "is a number, at least 1"),
        ("REJECTS 'other'", "table \"other\" keeps no rejects"),
        ("REJECTS 't'", "keeps no rejects"),
        ("REJECTS ''", "is the name of a table"),
        ("FORMAT json, ON_ERROR ignore", "is for a COPY from a file in CSV format"),
    ] {
        let error = refused(&connection, &format!("COPY t FROM '{path}' ({options})"));
        assert!(error.message().contains(message), "{options}: {error}");
    }
    let out = folder.path("out.csv");
    let error = refused(&connection, &format!("COPY t TO '{}' (ON_ERROR ignore)", out.display()));
    assert!(error.message().contains("is for a COPY from a file"), "{error}");
    // A quote that is not closed leaves nobody knowing where the next record begins.
    std::fs::write(&file, "id,day,code,note\n1,,,\"a\n2,,,b\n").unwrap();
    let error = refused(&connection, &format!("COPY t FROM '{path}' (ON_ERROR ignore)"));
    assert!(error.message().ends_with("line 2: a quote is not closed"), "{error}");
}

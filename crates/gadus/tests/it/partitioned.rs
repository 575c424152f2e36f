//! Files whose folders say of what rows they are.

use crate::files::Folder;
use crate::statement::{headings, refused, rows, run};
use gadus::{Connection, Database, FileAccess, Options, SessionOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Texts that are no names of folders as they are, and NULL.
const ROWS: &str = "VALUES (1, 'a/b', DATE '2024-01-02', 'one'), (2, 'a=b', DATE '2024-01-02', 'two'), \
    (3, '100%2F', NULL, 'three'), (4, NULL, DATE '2023-12-31', 'four'), (5, '', NULL, NULL), \
    (6, '__HIVE_DEFAULT_PARTITION__', NULL, 'six'), (7, 'ä ö', NULL, 'seven'), (8, '..', NULL, 'eight')";

fn connection() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id BIGINT, k TEXT, day DATE, note TEXT)");
    run(&connection, &format!("INSERT INTO t {ROWS}"));
    connection
}

/// The files beneath a folder, by their paths in it.
fn files(folder: &Path) -> Vec<String> {
    fn add(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => add(&path, root, found),
                false => found.push(path.strip_prefix(root).unwrap().display().to_string()),
            }
        }
    }
    let mut found = Vec::new();
    add(folder, folder, &mut found);
    found.sort();
    found
}

#[test]
fn what_is_written_by_partitions_is_read_again() {
    let (folder, connection) = (Folder::new(), connection());
    let expected = rows(&connection, "SELECT id, k, day, note FROM t ORDER BY id");
    for (format, ending, options) in [
        ("parquet", "parquet", ""),
        ("parquet", "parquet", ", COMPRESSION zstd"),
        ("csv", "csv", ""),
        ("csv", "csv.gz", ", COMPRESSION gzip, DELIMITER ';'"),
        ("json", "json", ""),
        ("json", "json.zst", ", COMPRESSION zstd"),
    ] {
        let out = folder.path(&format!("out_{ending}{}", options.len()));
        let path = out.display();
        let copy = format!("COPY t TO '{path}' (FORMAT {format}, PARTITION_BY (day, k){options})");
        assert_eq!(connection.execute(&copy, &[]).unwrap(), 8, "{copy}");
        let written = files(&out);
        assert_eq!(written.len(), 8, "{written:?}");
        let null = "__HIVE_DEFAULT_PARTITION__";
        for place in [
            format!("day=2024-01-02/k=a%2Fb/data_0.{ending}"),
            format!("day=2024-01-02/k=a%3Db/data_0.{ending}"),
            format!("day=2023-12-31/k={null}/data_0.{ending}"),
            format!("day={null}/k=100%252F/data_0.{ending}"),
            format!("day={null}/k=/data_0.{ending}"),
            format!("day={null}/k=%5F{}/data_0.{ending}", &null[1..]),
            format!("day={null}/k=ä ö/data_0.{ending}"),
        ] {
            assert!(written.contains(&place), "{place} is not in {written:?}");
        }
        for source in [
            format!("'{path}/**/*.{ending}'"),
            format!("read_{format}('{path}/**/*.{ending}', hive_partitioning => true)"),
            format!("read_{format}('{path}')"),
        ] {
            let read = format!("SELECT id, k, day, note FROM {source} ORDER BY id");
            // Of an empty text and NULL CSV and JSON files know one.
            assert_eq!(rows(&connection, &read), expected, "{read}");
            let names = headings(&connection, &format!("SELECT * FROM {source} LIMIT 1"));
            let (own, said) = names.split_at(2);
            assert_eq!(said, ["day", "k"], "{read}");
            assert!(own.contains(&"id".to_owned()) && own.contains(&"note".to_owned()), "{own:?}");
        }
    }
}

#[test]
fn files_are_left_out_by_what_their_folders_say() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE n (year INT, code TEXT, v BIGINT)");
    run(
        &connection,
        "INSERT INTO n SELECT 2000 + g % 10, '00' || g % 3, g FROM generate_series(1, 30000) AS g",
    );
    for format in ["parquet", "csv"] {
        let out = folder.path(format);
        let path = out.display();
        run(
            &connection,
            &format!("COPY n TO '{path}' (FORMAT {format}, PARTITION_BY (year, code))"),
        );
        let source = format!("'{path}/**/*.{format}'");
        let read = format!(
            "SELECT count(*), sum(v), min(code) FROM {source} WHERE year = 2003 AND code < '002'"
        );
        let expected =
            "SELECT count(*), sum(v), min(code) FROM n WHERE year = 2003 AND code < '002'";
        let expected = rows(&connection, expected);
        assert_eq!(rows(&connection, &read), expected, "007 and its like are texts");
        let read_by_query = read.replace("2003", "(SELECT min(year) + 3 FROM n)");
        assert_eq!(rows(&connection, &read_by_query), expected);
        // Nothing of the others is read.
        let damaged = out.join(format!("year=2004/code=000/data_0.{format}"));
        std::fs::write(&damaged, "PAR1 no\n\"").unwrap();
        if format == "csv" {
            assert_eq!(rows(&connection, &read), expected);
            refused(&connection, &format!("SELECT count(*) FROM {source}"));
        }
        let one = format!(
            "SELECT count(*) FROM '{path}/year=2003/code=001/*.{format}' WHERE year = 2003"
        );
        assert_eq!(rows(&connection, &one), ["1000"]);
        let plain = format!(
            "SELECT * FROM read_{format}('{path}/year=2003/*/*.{format}', hive_partitioning => false) LIMIT 1"
        );
        assert_eq!(headings(&connection, &plain), ["v"]);
    }
}

#[test]
fn a_query_is_written_in_its_order_within_each_partition() {
    let (folder, connection) = (Folder::new(), connection());
    let out = folder.path("out");
    let copy = format!(
        "COPY (SELECT g % 5 AS part, g * 7919 % 10007 AS v FROM generate_series(1, 10006) AS g ORDER BY v DESC) \
         TO '{}' (FORMAT csv, HEADER false, PARTITION_BY part)",
        out.display()
    );
    assert_eq!(connection.execute(&copy, &[]).unwrap(), 10_006);
    assert_eq!(files(&out).len(), 5);
    for part in 0..5 {
        let text = std::fs::read_to_string(out.join(format!("part={part}/data_0.csv"))).unwrap();
        let values = text.lines().map(|line| line.parse::<i64>().unwrap()).collect::<Vec<_>>();
        assert!(values.len() > 1900 && values.is_sorted_by(|one, next| one > next), "{part}");
    }
}

#[test]
fn a_folder_with_files_is_not_written_unless_that_is_said() {
    let (folder, connection) = (Folder::new(), connection());
    let out = folder.path("out");
    let copy = |options: &str| {
        format!("COPY t TO '{}' (FORMAT csv, PARTITION_BY (day){options})", out.display())
    };
    std::fs::create_dir(&out).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    let usual = mode(&out);
    run(&connection, &copy(""));
    assert_eq!(mode(&out), usual);
    let first = files(&out);
    let error = refused(&connection, &copy(""));
    assert!(error.message().contains("is not empty"), "{error}");
    assert_eq!(files(&out), first);
    run(&connection, "DELETE FROM t WHERE day = DATE '2023-12-31'");
    run(&connection, &copy(", OVERWRITE_OR_IGNORE"));
    assert_eq!(files(&out), first, "what has no newer file stays");
    run(&connection, &copy(", OVERWRITE"));
    assert_eq!(files(&out).len(), first.len() - 1);
    // What is none of a partition is not removed.
    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    let error = refused(&connection, &copy(", OVERWRITE"));
    assert!(error.message().contains("notes.txt is none of a partition"), "{error}");
    assert!(out.join("notes.txt").exists());
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let (folder, connection) = (Folder::new(), connection());
    let out = folder.path("out");
    let path = out.display();
    for (copy, message) in [
        ("(SELECT id % 2 AS p, 10 / (id - 7) AS v FROM t)", "zero"),
        ("(SELECT repeat('x', 300) AS p, id FROM t)", "cannot be written"),
    ] {
        let error =
            refused(&connection, &format!("COPY {copy} TO '{path}' (FORMAT csv, PARTITION_BY p)"));
        assert!(error.message().contains(message), "{copy}: {error}");
        assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0, "{copy}");
    }
    for (options, message) in [
        ("PARTITION_BY (nothing)", "there is no one column \"nothing\""),
        ("PARTITION_BY (id, id)", "twice"),
        ("PARTITION_BY (id, k, day, note)", "leaves no column"),
        ("PARTITION_BY ()", "syntax error at or near \")\""),
        ("OVERWRITE", "go with PARTITION_BY"),
        ("PARTITION_BY id, OVERWRITE, OVERWRITE_OR_IGNORE", "not both"),
    ] {
        let error = refused(&connection, &format!("COPY t TO '{path}' (FORMAT csv, {options})"));
        assert!(error.message().contains(message), "{options}: {error}");
    }
    run(&connection, "CREATE TABLE lists (l INTEGER[], n INT)");
    let error =
        refused(&connection, &format!("COPY lists TO '{path}' (FORMAT parquet, PARTITION_BY l)"));
    assert!(error.message().contains("PARTITION_BY a column of"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
}

#[test]
fn partitions_are_written_beneath_a_granted_folder_alone() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("a=b/in")).unwrap();
    let files = FileAccess::beneath(folder.path("a=b/in")).unwrap();
    let options = SessionOptions { files, ..SessionOptions::default() };
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect_with(options);
    run(&connection, "CREATE TABLE t (k TEXT, n INT)");
    run(&connection, "INSERT INTO t VALUES ('x', 1), ('y', 2)");
    run(&connection, "COPY t TO 'out' (FORMAT parquet, PARTITION_BY k)");
    let read = "SELECT * FROM 'out/*/*.parquet' ORDER BY n";
    assert_eq!(rows(&connection, read), ["1 x", "2 y"], "what leads to the folder says nothing");
    for path in ["../out", "/elsewhere/out", "."] {
        let copy = format!("COPY t TO '{path}' (FORMAT parquet, PARTITION_BY k, OVERWRITE)");
        let error = refused(&connection, &copy);
        assert_eq!(error.kind(), gadus::ErrorKind::PermissionDenied, "{path}: {error}");
    }
}

#[test]
fn many_partitions_are_written_one_after_the_other() {
    let (folder, connection) = (Folder::new(), connection());
    let out = folder.path("out");
    let path = out.display();
    let copy = format!(
        "COPY (SELECT g % 3000 AS p, g AS v FROM generate_series(1, 60000) AS g) TO '{path}' (FORMAT parquet, \
         PARTITION_BY p)"
    );
    run(&connection, &copy);
    assert_eq!(files(&out).len(), 3000);
    let read = format!(
        "SELECT count(*), sum(v), count(DISTINCT p), min(v % 3000 = p) FROM '{path}/*/*.parquet'"
    );
    assert_eq!(rows(&connection, &read), ["60000 1800030000 3000 true"]);
}

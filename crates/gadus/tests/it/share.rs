//! Several instances of one file: what one does, the others see with their next statement.

use crate::files::Folder;
use gadus::{Connection, Database, ErrorKind, Options, params};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn open(path: &Path) -> Connection {
    Database::open(path, Options::new()).unwrap().connect()
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query(sql, &[]).unwrap().next().unwrap().unwrap().get(0).unwrap()
}

#[test]
fn a_row_inserted_by_one_is_there_for_the_others_next_statement() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let all = [open(&path), open(&path), open(&path)];
    all[0].execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", &[]).unwrap();
    let inserts = all.each_ref().map(|one| one.prepare("INSERT INTO t VALUES (?, 0)").unwrap());
    let count = "SELECT count(*) FROM t";
    for id in 0..300_i64 {
        let writer = usize::try_from(id % 3).unwrap();
        inserts[writer].execute(params![id]).unwrap();
        for reader in &all {
            assert_eq!(number(reader, count), id + 1);
        }
    }
    let twice = inserts[1].execute(params![7]).unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::UniqueViolation);
}

/// One who reads, and another instance, which has written a table of 100,000 rows.
fn reader_and_writer(path: &Path) -> (Connection, Database, Connection) {
    let (reader, writer) = (open(path), Database::open(path, Options::new()).unwrap());
    let writing = writer.connect();
    writing.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", &[]).unwrap();
    writing.execute("INSERT INTO t SELECT value, 1 FROM generate_series(1, 100000)", &[]).unwrap();
    (reader, writer, writing)
}

#[test]
fn a_snapshot_is_kept_while_others_write_and_checkpoint() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let (reader, writer, writing) = reader_and_writer(&path);
    let sum = "SELECT sum(n) FROM t";
    reader.execute("BEGIN", &[]).unwrap();
    assert_eq!(number(&reader, sum), 100_000);
    for round in 0..6 {
        writing.execute("UPDATE t SET n = n + 1", &[]).unwrap();
        writing.execute("DELETE FROM t WHERE id % 7 = ?", params![round]).unwrap();
        writer.checkpoint().unwrap();
        assert_eq!(number(&reader, sum), 100_000);
    }
    let now = number(&writing, sum);
    reader.execute("COMMIT", &[]).unwrap();
    assert_eq!(number(&reader, sum), now);
    drop((reader, writing, writer));
    assert!(gadus::check(&path, |_, _| ()).unwrap().problems.is_empty());
}

#[test]
fn a_snapshot_that_keeps_too_much_is_given_up_and_a_new_one_reads_on() {
    let folder = Folder::new();
    let (reader, writer, writing) = reader_and_writer(&folder.path("x.gadus"));
    writing.execute("SET gadus.snapshot_space_max = '1kB'", &[]).unwrap();
    let limit = writing.query("SHOW gadus.snapshot_space_max", &[]).unwrap().next().unwrap();
    assert_eq!(limit.unwrap().get::<String>(0).unwrap(), "1000 B");
    let (sum, change) = ("SELECT sum(n) FROM t", "UPDATE t SET n = n + 1 WHERE id = 1");
    reader.execute("BEGIN", &[]).unwrap();
    assert_eq!(number(&reader, sum), 100_000);
    reader.execute(change, &[]).unwrap();
    for _ in 0..3 {
        writing.execute("UPDATE t SET n = n + 1 WHERE id > 1", &[]).unwrap();
        writer.checkpoint().unwrap();
    }
    let too_old = |error: gadus::Error| {
        assert_eq!(error.kind(), ErrorKind::SnapshotTooOld, "{error}");
        assert!(error.to_string().contains("gadus.snapshot_space_max"), "{error}");
    };
    too_old(reader.query(sum, &[]).and_then(|mut rows| rows.next().unwrap()).unwrap_err());
    too_old(reader.execute("COMMIT", &[]).unwrap_err());
    let now = number(&writing, sum);
    assert_eq!(number(&reader, sum), now);
    reader.execute(change, &[]).unwrap();
    assert_eq!(number(&writing, sum), now + 1);
}

#[test]
fn prepared_statements_follow_tables_that_others_make_anew() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let (one, two) = (open(&path), open(&path));
    one.execute("CREATE TABLE t (a BIGINT)", &[]).unwrap();
    one.execute("INSERT INTO t VALUES (1)", &[]).unwrap();
    let prepared = two.prepare("SELECT * FROM t").unwrap();
    let columns = || prepared.query(&[]).unwrap().schema().fields().len();
    for _ in 0..4 {
        assert_eq!(columns(), 1);
    }
    one.execute_script("DROP TABLE t; CREATE TABLE t (a TEXT, b BIGINT);").unwrap();
    assert_eq!(columns(), 2);
    assert_eq!(number(&two, "SELECT count(*) FROM t"), 0);
}

#[test]
fn prepared_statements_give_the_columns_that_there_are_while_others_make_tables_anew() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let (one, two, three) = (open(&path), open(&path), open(&path));
    let shapes = ["a BIGINT, b TEXT", "b TEXT, a BIGINT, c BIGINT", "c TEXT, b TEXT, a BIGINT"];
    let make = |round: usize| {
        one.execute(&format!("CREATE TABLE t ({})", shapes[round % shapes.len()]), &[]).unwrap();
    };
    make(0);
    let prepared = ["SELECT * FROM t", "SELECT a, b FROM t", "SELECT b, a FROM t WHERE a = 7"];
    let prepared = prepared.map(|sql| two.prepare(sql).unwrap());
    let insert = three.prepare("INSERT INTO t (a, b) VALUES (?, ?)").unwrap();
    // The table may be missing, or another one by the time of the commit.
    let is_told = |error: &gadus::Error| {
        let kinds = [ErrorKind::NotFound, ErrorKind::Conflict, ErrorKind::Input];
        assert!(kinds.contains(&error.kind()), "{:?}: {error}", error.kind());
    };
    let is_over = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let inserting = scope.spawn(|| {
            for a in (0_i64..10).cycle().take_while(|_| !is_over.load(Ordering::Acquire)) {
                let b = format!("text {a}");
                insert.execute(params![a, b.as_str()]).map_or_else(|error| is_told(&error), drop);
            }
        });
        let reading = scope.spawn(|| {
            let mut seen = 0;
            while !is_over.load(Ordering::Acquire) {
                for prepared in &prepared {
                    let rows = match prepared.query(&[]) {
                        Ok(rows) => rows,
                        Err(error) => {
                            is_told(&error);
                            continue;
                        }
                    };
                    for row in rows {
                        let row = row.unwrap();
                        let a = row.get::<i64>("a").unwrap();
                        assert_eq!(row.get::<String>("b").unwrap(), format!("text {a}"));
                        seen += 1;
                    }
                }
            }
            seen
        });
        for round in 1..20 {
            // Not before something was inserted: else nobody would ever see a row.
            while number(&one, "SELECT count(*) FROM t") == 0 {
                std::thread::yield_now();
            }
            while let Err(error) = one.execute("DROP TABLE t", &[]) {
                is_told(&error);
            }
            make(round);
        }
        is_over.store(true, Ordering::Release);
        inserting.join().unwrap();
        reading.join().unwrap()
    });
    assert!(seen > 0);
    drop((one, two, three, prepared, insert));
    assert!(gadus::check(&path, |_, _| ()).unwrap().problems.is_empty());
}

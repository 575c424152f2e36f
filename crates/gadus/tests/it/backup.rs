//! Copies of databases that others go on changing.

use crate::files::Folder;
use gadus::{Connection, Database, ErrorKind, FileAccess, Options, SessionOptions, check};
use std::sync::atomic::{AtomicBool, Ordering};

fn number(connection: &Connection, text: &str) -> i64 {
    connection.query(text, &[]).unwrap().next().unwrap().unwrap().get::<i64>(0).unwrap()
}

#[test]
fn a_copy_is_of_one_moment_while_others_change_the_database() {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    let script = "CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL DEFAULT 7);
                  INSERT INTO account SELECT i, 100 FROM range(50000) AS r(i);
                  CREATE TABLE \"many words\" (label TEXT, at TIMESTAMP, price DECIMAL(10, 2));
                  INSERT INTO \"many words\" VALUES ('a', '2026-01-02 03:04:05', 1.50), (NULL, NULL, NULL);
                  CREATE TABLE empty (id INT);
                  DELETE FROM account WHERE id % 10 = 3";
    connection.execute_script(script).unwrap();
    let ends = AtomicBool::new(false);
    let backed_up = std::thread::scope(|scope| {
        for writer in 0..2_i64 {
            let (connection, ends) = (database.connect(), &ends);
            scope.spawn(move || {
                connection.execute("BEGIN", &[]).unwrap();
                let mut round = 0;
                // Money goes from one to another: the sum is the same in every moment.
                while !ends.load(Ordering::Relaxed) {
                    round += 1;
                    let moved = [
                        (1, 10 * (round % 4_000) + 2 * writer),
                        (-1, 10 * (round % 3_000) + 2 * writer + 4),
                    ];
                    for (change, id) in moved {
                        let update = "UPDATE account SET balance = balance + $1 WHERE id = $2";
                        connection.execute(update, &[change.into(), id.into()]).unwrap();
                    }
                    connection.execute("COMMIT", &[]).unwrap();
                    connection.execute("BEGIN", &[]).unwrap();
                }
            });
        }
        let backed_up = ["one.gadus", "two.gadus"].map(|copy| {
            let mut last = (0, 0);
            (database.back_up(folder.path(copy), |rows, all| last = (rows, all)), last)
        });
        ends.store(true, Ordering::Relaxed);
        backed_up
    });
    for (copied, last) in backed_up {
        let copied = copied.unwrap();
        assert_eq!((copied.tables, copied.rows, last), (3, 45_002, (45_002, 45_002)));
    }
    for copy in ["one.gadus", "two.gadus"] {
        let report = check(folder.path(copy), |_, _| {}).unwrap();
        assert!(report.problems.is_empty() && report.log_records == 0, "{report:?}");
        let connection = Database::open(folder.path(copy), Options::new()).unwrap().connect();
        assert_eq!(number(&connection, "SELECT sum(balance)::BIGINT FROM account"), 4_500_000);
        assert_eq!(number(&connection, "SELECT count(*) FROM \"many words\" WHERE price = 1.5"), 1);
        assert_eq!(number(&connection, "SELECT count(*) FROM empty"), 0);
        connection.execute("INSERT INTO account (id) VALUES (-1)", &[]).unwrap();
        assert_eq!(number(&connection, "SELECT balance FROM account WHERE id = -1"), 7);
        let again = connection.execute("INSERT INTO account (id) VALUES (0)", &[]).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::UniqueViolation);
    }
}

#[test]
fn what_is_there_is_not_overwritten() {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    std::fs::write(folder.path("taken.gadus"), "something else").unwrap();
    for taken in ["taken.gadus", "x.gadus"] {
        let error = database.back_up(folder.path(taken), |_, _| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.to_string().contains(taken), "{error}");
    }
    assert_eq!(std::fs::read(folder.path("taken.gadus")).unwrap(), b"something else");
    let error = database.back_up(folder.path("gone/x.gadus"), |_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_statement_makes_the_copy_of_what_is_committed() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, two) = (database.connect(), database.connect());
    one.execute_script("CREATE TABLE t (a INT, l TEXT[]); INSERT INTO t VALUES (1, '{x}')")
        .unwrap();
    one.execute_script("BEGIN; INSERT INTO t VALUES (2, NULL)").unwrap();
    let inside = one.execute(&format!("BACKUP TO '{}'", path("no.gadus")), &[]).unwrap_err();
    assert!(inside.to_string().contains("COMMIT or ROLLBACK"), "{inside}");
    let statement = format!("backup database to '{}';", path("copy.gadus"));
    two.execute(&statement, &[]).unwrap();
    let again = two.execute(&statement, &[]).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists, "{again}");
    let copy = Database::open(folder.path("copy.gadus"), Options::new()).unwrap().connect();
    assert_eq!(number(&copy, "SELECT count(*) FROM t WHERE l = '{x}'"), 1);
    assert_eq!(number(&copy, "SELECT count(*) FROM t"), 1);
    for wrong in ["BACKUP", "BACKUP TO x", "BACKUP TO 'x' NOW", "BACKUP t TO 'x'"] {
        let error = two.execute(wrong, &[]).unwrap_err();
        assert!(error.to_string().contains("BACKUP TO 'file'"), "{wrong}: {error}");
    }
    let out_of_reach = Database::open_in_memory(Options::new()).unwrap();
    let options = SessionOptions { files: FileAccess::None, ..SessionOptions::default() };
    let error = out_of_reach.connect_with(options).execute("BACKUP TO 'x.gadus'", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
}

/// Whatever they are called, and in whichever order they were made.
#[test]
fn tables_refer_to_one_another_in_a_copy_as_they_do() {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    for sql in [
        "CREATE TABLE gone (a INT)",
        "CREATE TABLE z (id INT PRIMARY KEY, next INT REFERENCES z)",
        "CREATE TABLE other (id INT PRIMARY KEY)",
        "CREATE TABLE a (z INT REFERENCES z ON DELETE CASCADE)",
        "DROP TABLE gone",
        "INSERT INTO z VALUES (1, NULL), (2, 1)",
        "INSERT INTO a VALUES (2), (2)",
    ] {
        connection.execute(sql, &[]).unwrap();
    }
    let copy = folder.path("copy.gadus");
    database.back_up(&copy, |_, _| {}).unwrap();
    let copied = Database::open(&copy, Options::new()).unwrap();
    assert_eq!(copied.schema_statements().unwrap(), database.schema_statements().unwrap());
    let connection = copied.connect();
    assert!(connection.execute("INSERT INTO a VALUES (3)", &[]).is_err());
    connection.execute("DELETE FROM z WHERE id = 2", &[]).unwrap();
    assert_eq!(crate::statement::rows(&connection, "SELECT count(*) FROM a"), ["0"]);
}

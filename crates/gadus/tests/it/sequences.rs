//! Sequences, and columns that are numbered by them.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason, Rows, check};
use std::collections::BTreeSet;
use std::path::Path;

fn connect() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

fn open(path: &Path) -> Connection {
    Database::open(path, Options::new()).unwrap().connect()
}

fn one(connection: &Connection, sql: &str) -> String {
    rows(connection, sql).join("\n")
}

/// Why a query fails, while it is planned or while it runs.
fn fails(connection: &Connection, sql: &str) -> gadus::Error {
    connection.query(sql, &[]).and_then(Rows::collect_batches).expect_err(sql)
}

#[test]
fn numbers_are_given_once_each_and_remembered() {
    let connection = connect();
    run(&connection, "CREATE SEQUENCE s");
    let error = fails(&connection, "SELECT currval('s')");
    assert_eq!(error.reason(), Some(Reason::NotInState), "{error}");
    assert_eq!(fails(&connection, "SELECT lastval()").reason(), Some(Reason::NotInState));
    assert_eq!(one(&connection, "SELECT nextval('s')"), "1");
    // Each time anew, whatever is kept of the statement.
    let again = (0..5).map(|_| one(&connection, "SELECT nextval('s')")).collect::<Vec<_>>();
    assert_eq!(again, ["2", "3", "4", "5", "6"]);
    assert_eq!(one(&connection, "SELECT nextval('public.S'::regclass)"), "7");
    assert_eq!(one(&connection, "SELECT currval('main.\"s\"'), lastval()"), "7 7");
    let many = "SELECT count(DISTINCT n), min(n), max(n) FROM (SELECT nextval('s') AS n FROM range(100000))";
    assert_eq!(one(&connection, many), "100000 8 100007");
    assert_eq!(one(&connection, "SELECT setval('s', 50)"), "50");
    assert_eq!(one(&connection, "SELECT nextval('s')"), "51");
    assert_eq!(one(&connection, "SELECT setval('s', 50, false)"), "50");
    assert_eq!(one(&connection, "SELECT nextval('s')"), "50");
    assert_eq!(one(&connection, "SELECT * FROM s"), "50 0 true");
    run(&connection, "SELECT nextval('s')");
    assert_eq!(one(&connection, "SELECT last_value FROM s"), "51");
    assert_eq!(one(&connection, "SELECT nextval(NULL)"), "NULL");

    for (sql, reason) in [
        ("SELECT nextval('none')", Reason::UnknownTable),
        ("SELECT setval('none', 1)", Reason::UnknownTable),
    ] {
        assert_eq!(fails(&connection, sql).reason(), Some(reason), "{sql}");
    }
    run(&connection, "CREATE TABLE t (a INT)");
    assert_eq!(fails(&connection, "SELECT nextval('t')").reason(), Some(Reason::WrongObject));
    assert_eq!(fails(&connection, "SELECT setval('s', 0)").kind(), ErrorKind::OutOfRange);
    let error = refused(&connection, "CREATE VIEW v AS SELECT nextval('s')");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    run(&connection, "BEGIN READ ONLY");
    assert_eq!(fails(&connection, "SELECT nextval('s')").kind(), ErrorKind::ReadOnly);
    run(&connection, "ROLLBACK");
}

#[test]
fn options_say_which_numbers() {
    let connection = connect();
    run(
        &connection,
        "CREATE SEQUENCE down AS SMALLINT INCREMENT BY -2 START WITH 5 MINVALUE 1 MAXVALUE 9 CYCLE",
    );
    let taken = (0..4).map(|_| one(&connection, "SELECT nextval('down')")).collect::<Vec<_>>();
    assert_eq!(taken, ["5", "3", "1", "9"]);
    run(&connection, "CREATE SEQUENCE IF NOT EXISTS down");
    run(&connection, "CREATE SEQUENCE short MAXVALUE 2 NO CYCLE CACHE 20");
    assert_eq!(one(&connection, "SELECT nextval('short') FROM range(2)"), "1\n2");
    let error = fails(&connection, "SELECT nextval('short')");
    assert_eq!(error.reason(), Some(Reason::SequenceEnd), "{error}");
    run(&connection, "ALTER SEQUENCE short MAXVALUE 100 INCREMENT BY 10");
    assert_eq!(one(&connection, "SELECT nextval('short')"), "12");
    run(&connection, "ALTER SEQUENCE short RESTART WITH 40");
    assert_eq!(one(&connection, "SELECT nextval('short')"), "40");
    run(&connection, "ALTER SEQUENCE IF EXISTS short RESTART");
    assert_eq!(one(&connection, "SELECT nextval('short')"), "1");
    run(&connection, "ALTER SEQUENCE short NO MAXVALUE CYCLE OWNED BY NONE;");
    run(&connection, "ALTER SEQUENCE IF EXISTS none RESTART");
    run(&connection, "ALTER SEQUENCE short RENAME TO long");
    assert_eq!(one(&connection, "SELECT nextval('long')"), "11");
    let shown = "SELECT sequencename, data_type, start_value, min_value, increment_by, cycle, last_value \
                 FROM pg_sequences ORDER BY 1";
    assert_eq!(one(&connection, shown), "down smallint 5 1 -2 true 9\nlong bigint 1 1 10 true 11");
    for (sql, reason) in [
        ("CREATE SEQUENCE s INCREMENT 0", Reason::InvalidParameter),
        ("CREATE SEQUENCE s MINVALUE 5 START 4", Reason::InvalidParameter),
        ("CREATE SEQUENCE s AS SMALLINT MAXVALUE 40000", Reason::InvalidParameter),
        ("CREATE SEQUENCE s AS TEXT", Reason::InvalidParameter),
        ("CREATE SEQUENCE s START WITH 'x'", Reason::Syntax),
        ("ALTER SEQUENCE long MINVALUE 50 START 50", Reason::InvalidParameter),
        ("DROP SEQUENCE none", Reason::UnknownTable),
        ("DROP TABLE long", Reason::WrongObject),
        ("INSERT INTO long VALUES (1, 2, true)", Reason::WrongObject),
        ("DELETE FROM long", Reason::WrongObject),
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), Some(reason), "{sql}: {error}");
    }
    assert_eq!(refused(&connection, "CREATE SEQUENCE long").kind(), ErrorKind::AlreadyExists);
    assert_eq!(refused(&connection, "CREATE TABLE long (a INT)").kind(), ErrorKind::AlreadyExists);
    run(&connection, "DROP SEQUENCE IF EXISTS none, long");
    assert_eq!(one(&connection, "SELECT count(*) FROM pg_sequences"), "1");
}

#[test]
fn columns_are_numbered() {
    let connection = connect();
    run(&connection, "CREATE TABLE t (id SERIAL PRIMARY KEY, v TEXT)");
    run(
        &connection,
        "CREATE TABLE u (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), v TEXT)",
    );
    run(
        &connection,
        "CREATE TABLE w (id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v TEXT)",
    );
    for table in ["t", "u", "w"] {
        run(&connection, &format!("INSERT INTO {table} (v) VALUES ('a'), ('b')"));
        run(&connection, &format!("INSERT INTO {table} VALUES (DEFAULT, 'c')"));
        run(&connection, &format!("INSERT INTO {table} DEFAULT VALUES"));
    }
    assert_eq!(one(&connection, "SELECT id FROM t ORDER BY id"), "1\n2\n3\n4");
    assert_eq!(one(&connection, "SELECT id FROM u ORDER BY id"), "10\n15\n20\n25");
    assert_eq!(one(&connection, "INSERT INTO w (v) VALUES ('z') RETURNING id, v"), "5 z");
    run(&connection, "INSERT INTO w VALUES (100, 'own')");
    for sql in [
        "INSERT INTO u VALUES (1, 'x')",
        "INSERT INTO u SELECT 1, 'x'",
        "UPDATE u SET id = 7",
        "UPDATE u SET id = 7 WHERE id = 10",
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), Some(Reason::GeneratedAlways), "{sql}: {error}");
    }
    run(&connection, "UPDATE u SET id = DEFAULT WHERE id = 10");
    assert_eq!(one(&connection, "SELECT max(id) FROM u"), "30");
    let taken = "INSERT INTO t VALUES (5, 'taken')";
    run(&connection, taken);
    let error = refused(&connection, "INSERT INTO t (v) VALUES ('e')");
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    // The number is gone, as everywhere.
    run(&connection, "INSERT INTO t (v) VALUES ('e')");
    assert_eq!(one(&connection, "SELECT id FROM t WHERE v = 'e'"), "6");
    assert_eq!(
        one(
            &connection,
            "SELECT pg_get_serial_sequence('t', 'id'), pg_get_serial_sequence('t', 'v')"
        ),
        "main.t_id_seq NULL"
    );
    let identities = "SELECT relname, attidentity FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid \
                      WHERE attname = 'id' AND relkind = 'r' ORDER BY 1";
    assert_eq!(one(&connection, identities), "t \nu a\nw d");
    run(&connection, "TRUNCATE u RESTART IDENTITY");
    run(&connection, "INSERT INTO u (v) VALUES ('anew')");
    assert_eq!(one(&connection, "SELECT id FROM u"), "10");
    run(&connection, "DROP TABLE t, u");
    assert_eq!(one(&connection, "SELECT sequencename FROM pg_sequences"), "w_id_seq");
}

#[test]
fn columns_come_to_be_numbered_and_cease_to_be() {
    let connection = connect();
    run(&connection, "CREATE TABLE t (v TEXT CHECK (v <> ''))");
    run(&connection, "INSERT INTO t VALUES ('a'), ('b'), ('c')");
    run(&connection, "ALTER TABLE t ADD COLUMN id BIGSERIAL");
    run(&connection, "ALTER TABLE t ADD COLUMN n INT GENERATED ALWAYS AS IDENTITY");
    assert_eq!(
        one(&connection, "SELECT count(DISTINCT id), max(id), count(DISTINCT n), max(n) FROM t"),
        "3 3 3 3"
    );
    let error = refused(&connection, "INSERT INTO t (v, id) VALUES ('x', NULL)");
    assert_eq!(error.kind(), ErrorKind::NotNullViolation, "{error}");
    run(&connection, "INSERT INTO t (v) VALUES ('d')");
    assert_eq!(one(&connection, "SELECT id, n FROM t WHERE v = 'd'"), "4 5");
    let error = refused(&connection, "ALTER TABLE t ALTER COLUMN n DROP DEFAULT");
    assert_eq!(error.reason(), Some(Reason::Syntax), "{error}");
    run(&connection, "CREATE SEQUENCE own START 1000");
    run(&connection, "ALTER TABLE t ADD COLUMN o BIGINT");
    run(&connection, "ALTER TABLE t ALTER COLUMN o SET DEFAULT nextval('own'::regclass) + 1");
    run(&connection, "INSERT INTO t (v) VALUES ('e'), ('f')");
    assert_eq!(one(&connection, "SELECT o FROM t WHERE o IS NOT NULL ORDER BY o"), "1001\n1002");
    run(&connection, "ALTER SEQUENCE own RENAME TO later_own");
    run(&connection, "INSERT INTO t (v) VALUES ('f2')");
    assert_eq!(one(&connection, "SELECT o FROM t WHERE v = 'f2'"), "1003");
    let error = refused(&connection, "DROP SEQUENCE later_own");
    assert_eq!(error.reason(), Some(Reason::Depended), "{error}");
    run(&connection, "ALTER SEQUENCE later_own RENAME TO own");
    run(&connection, "ALTER SEQUENCE own RESTART WITH 1002");
    run(&connection, "ALTER TABLE t ALTER COLUMN o SET DEFAULT nextval('own')");
    run(&connection, "ALTER SEQUENCE own RENAME TO \"It's own\"");
    run(&connection, "INSERT INTO t (v) VALUES ('g')");
    assert_eq!(one(&connection, "SELECT o FROM t WHERE v = 'g'"), "1002");
    let error = refused(&connection, "DROP SEQUENCE \"It's own\"");
    assert_eq!(error.reason(), Some(Reason::Depended), "{error}");
    run(&connection, "DROP SEQUENCE \"It's own\" CASCADE");
    run(&connection, "INSERT INTO t (v) VALUES ('h')");
    assert_eq!(one(&connection, "SELECT o FROM t WHERE v = 'h'"), "NULL");
    run(&connection, "ALTER TABLE t ALTER COLUMN n TYPE BIGINT");
    run(&connection, "INSERT INTO t (v) VALUES ('i')");
    assert_eq!(one(&connection, "SELECT n FROM t WHERE v = 'i'"), "11");
    let types = "SELECT data_type, max_value FROM pg_sequences WHERE sequencename = 't_n_seq'";
    assert_eq!(one(&connection, types), "bigint 9223372036854775807");
    assert_eq!(one(&connection, "SELECT pg_get_serial_sequence('t', 'n')"), "main.t_n_seq");
    let error = refused(&connection, "ALTER TABLE t ALTER COLUMN n TYPE TEXT");
    assert_eq!(error.reason(), Some(Reason::InvalidParameter), "{error}");
    run(&connection, "ALTER TABLE t DROP COLUMN id");
    assert_eq!(one(&connection, "SELECT sequencename FROM pg_sequences"), "t_n_seq");
    run(&connection, "CREATE TABLE later (id INT NOT NULL)");
    run(
        &connection,
        "ALTER TABLE later ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (START 7)",
    );
    run(&connection, "INSERT INTO later VALUES (DEFAULT)");
    assert_eq!(one(&connection, "SELECT id FROM later"), "7");
    for sql in [
        "CREATE TABLE x (id TEXT GENERATED ALWAYS AS IDENTITY)",
        "CREATE TABLE x (id SERIAL DEFAULT 5)",
        "CREATE TABLE x (id INT DEFAULT nextval('none'))",
    ] {
        refused(&connection, sql);
        assert_eq!(
            one(&connection, "SELECT count(*) FROM pg_class WHERE relname LIKE 'x%'"),
            "0",
            "{sql}"
        );
    }
}

/// A DEFAULT that is another one each time is so for each row.
#[test]
fn each_row_has_its_own_default() {
    let connection = connect();
    run(&connection, "CREATE TABLE t (n INT, id TEXT DEFAULT uuid())");
    run(&connection, "INSERT INTO t (n) SELECT value FROM range(1000)");
    assert_eq!(one(&connection, "SELECT count(DISTINCT id) FROM t"), "1000");
}

#[test]
fn a_transaction_has_numbers_of_what_it_makes() {
    let connection = connect();
    run(&connection, "CREATE SEQUENCE s");
    run(&connection, "BEGIN");
    run(&connection, "CREATE TABLE t (id SERIAL PRIMARY KEY, v TEXT)");
    run(&connection, "INSERT INTO t (v) VALUES ('a'), ('b')");
    run(&connection, "SAVEPOINT before");
    run(&connection, "INSERT INTO t (v) VALUES ('c')");
    assert_eq!(one(&connection, "SELECT nextval('t_id_seq'), nextval('s')"), "4 1");
    run(&connection, "ROLLBACK TO before");
    run(&connection, "INSERT INTO t (v) VALUES ('c')");
    run(&connection, "COMMIT");
    run(&connection, "INSERT INTO t (v) VALUES ('d')");
    assert_eq!(one(&connection, "SELECT id, v FROM t ORDER BY id"), "1 a\n2 b\n5 c\n6 d");
    // What was there before is not taken back.
    assert_eq!(one(&connection, "SELECT nextval('s')"), "2");
    run(&connection, "BEGIN");
    run(&connection, "CREATE SEQUENCE gone");
    run(&connection, "SELECT nextval('gone')");
    run(&connection, "TRUNCATE t RESTART IDENTITY");
    run(&connection, "ROLLBACK");
    run(&connection, "INSERT INTO t (v) VALUES ('e')");
    assert_eq!(one(&connection, "SELECT max(id), count(*) FROM t"), "7 5");
    assert_eq!(fails(&connection, "SELECT nextval('gone')").reason(), Some(Reason::UnknownTable));
    run(&connection, "CREATE SEQUENCE gone");
    assert_eq!(one(&connection, "SELECT nextval('gone')"), "1");
}

/// Rows that are read slowly go on behind what later statements have taken.
#[test]
fn what_is_still_read_gives_no_number_again() {
    let connection = connect();
    run(&connection, "BEGIN");
    run(&connection, "CREATE SEQUENCE s");
    let mut slow = connection.query("SELECT nextval('s') FROM range(300000)", &[]).unwrap();
    let mut taken = BTreeSet::new();
    let number = |row: gadus::Row| row.get::<i64>(0).unwrap();
    assert!(taken.insert(number(slow.next().unwrap().unwrap())));
    for _ in 0..3 {
        let given = connection.query("SELECT nextval('s') FROM range(1000)", &[]).unwrap();
        for row in given {
            assert!(taken.insert(number(row.unwrap())));
        }
    }
    for row in slow {
        assert!(taken.insert(number(row.unwrap())));
    }
    assert_eq!(taken.len(), 303_000);
    run(&connection, "SAVEPOINT x");
    run(&connection, "CREATE SEQUENCE other");
    run(&connection, "SELECT nextval('other') FROM range(7)");
    run(&connection, "ROLLBACK TO x");
    run(&connection, "CREATE SEQUENCE other");
    assert_eq!(one(&connection, "SELECT nextval('other')"), "1");
    run(&connection, "ALTER SEQUENCE other RESTART WITH 1");
    assert_eq!(one(&connection, "SELECT nextval('other')"), "1");
    run(&connection, "COMMIT");
    assert_eq!(one(&connection, "SELECT nextval('s'), nextval('other')"), "303001 2");
}

/// INSERT of rows into a table with numbers and plain values for DEFAULT runs as it does without: no plan is made.
#[test]
fn rows_with_numbers_are_inserted_without_a_plan() {
    let connection = connect();
    let table = "CREATE TABLE t (id SERIAL PRIMARY KEY, v TEXT, state TEXT DEFAULT 'new', \
                 price DECIMAL(9, 2) DEFAULT -1.5, at TIMESTAMP DEFAULT now())";
    run(&connection, table);
    let explained = |sql: &str| one(&connection, &format!("EXPLAIN {sql}"));
    let insert = "INSERT INTO t (v, at) VALUES ('a', NULL), ('b', NULL)";
    assert_eq!(explained(insert), "Compiled: insert 2 rows into t");
    // What is to be evaluated needs a plan.
    assert!(!explained("INSERT INTO t (v) VALUES ('a')").contains("Compiled"));
    assert_eq!(one(&connection, "SELECT is_called FROM t_id_seq"), "false", "EXPLAIN takes none");
    for (sql, ids) in [(insert, ["1 a", "2 b"]), (insert, ["3 a", "4 b"])] {
        run(&connection, sql);
        let now = rows(&connection, "SELECT id, v FROM t ORDER BY id DESC LIMIT 2");
        assert_eq!(now, [ids[1], ids[0]], "{sql}");
    }
    assert_eq!(one(&connection, "SELECT currval('t_id_seq'), lastval()"), "4 4");
    assert_eq!(rows(&connection, "SELECT DISTINCT state, price * 2 = -3 FROM t"), ["new true"]);
    run(&connection, "BEGIN");
    run(&connection, "ALTER SEQUENCE t_id_seq RESTART WITH 100");
    run(&connection, insert);
    run(&connection, insert);
    run(&connection, "COMMIT");
    run(&connection, insert);
    let last = rows(&connection, "SELECT id FROM t WHERE id > 4 ORDER BY id");
    assert_eq!(last, ["100", "101", "102", "103", "104", "105"]);
    run(&connection, "BEGIN READ ONLY");
    assert_eq!(refused(&connection, insert).kind(), ErrorKind::ReadOnly);
    run(&connection, "ROLLBACK");
    assert_eq!(one(&connection, "SELECT nextval('t_id_seq')"), "106", "none was taken in vain");
    // No more than its type holds.
    run(&connection, "CREATE TABLE few (id SMALLSERIAL, v INT)");
    run(&connection, "SELECT setval('few_id_seq', 32766)");
    run(&connection, "INSERT INTO few (v) VALUES (1)");
    refused(&connection, "INSERT INTO few (v) VALUES (2)");
    assert_eq!(rows(&connection, "SELECT id, v FROM few"), ["32767 1"]);
}

/// A sequence that goes with a column goes with it only where no other column takes its numbers.
#[test]
fn what_takes_numbers_of_a_table_keeps_it() {
    let connection = connect();
    run(&connection, "CREATE TABLE a (id SERIAL, twin BIGINT, v INT)");
    run(&connection, "ALTER TABLE a ALTER twin SET DEFAULT nextval('a_id_seq')");
    run(&connection, "CREATE TABLE b (id BIGINT DEFAULT nextval('a_id_seq') * 10, v INT)");
    let anew = "CREATE OR REPLACE TABLE a (id SERIAL, twin BIGINT, v INT)";
    for refused_one in ["DROP TABLE a", "ALTER TABLE a DROP COLUMN id", anew] {
        let error = refused(&connection, refused_one);
        assert_eq!(error.reason(), Some(Reason::Depended), "{refused_one}: {error}");
    }
    run(&connection, "INSERT INTO b (v) VALUES (1)");
    assert_eq!(rows(&connection, "SELECT id, v FROM b"), ["10 1"]);
    run(&connection, "ALTER TABLE a DROP COLUMN id CASCADE");
    run(&connection, "INSERT INTO a (v) VALUES (2)");
    run(&connection, "INSERT INTO b (v) VALUES (2)");
    assert_eq!(rows(&connection, "SELECT twin, v FROM a"), ["NULL 2"]);
    assert_eq!(rows(&connection, "SELECT id, v FROM b ORDER BY v"), ["10 1", "NULL 2"]);
    // What only the table itself uses keeps nothing.
    run(&connection, "CREATE TABLE c (id SERIAL, twin BIGINT)");
    run(&connection, "ALTER TABLE c ALTER twin SET DEFAULT nextval('c_id_seq')");
    run(&connection, "CREATE OR REPLACE TABLE c (id SERIAL)");
    assert_eq!(rows(&connection, "SELECT sequencename FROM pg_sequences"), ["c_id_seq"]);
    run(&connection, "DROP TABLE c");
    assert_eq!(rows(&connection, "SELECT count(*) FROM pg_sequences"), ["0"]);
}

/// What others take meanwhile keeps a sequence from being cut off behind it: it would stand where it has no numbers, and
/// no file is opened that says so.
#[test]
fn a_sequence_is_not_cut_off_where_others_have_come() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let (one_of, other) = (open(&path), open(&path));
    run(&one_of, "CREATE SEQUENCE s");
    run(&one_of, "BEGIN");
    run(&one_of, "ALTER SEQUENCE s MAXVALUE 100");
    run(&other, "SELECT setval('s', 150)");
    assert_eq!(refused(&one_of, "COMMIT").kind(), ErrorKind::Conflict);
    let error = refused(&one_of, "ALTER SEQUENCE s MAXVALUE 100");
    assert_eq!(error.reason(), Some(Reason::InvalidParameter), "{error}");
    run(&other, "CHECKPOINT");
    drop((one_of, other));
    assert_eq!(one(&open(&path), "SELECT nextval('s')"), "151");
}

#[test]
fn what_was_made_in_vain_is_not_remembered() {
    let connection = connect();
    run(&connection, "BEGIN");
    run(&connection, "CREATE SEQUENCE a");
    run(&connection, "SELECT nextval('a')");
    run(&connection, "ROLLBACK");
    run(&connection, "CREATE SEQUENCE b");
    assert_eq!(fails(&connection, "SELECT currval('b')").reason(), Some(Reason::NotInState));
    assert_eq!(fails(&connection, "SELECT lastval()").reason(), Some(Reason::NotInState));
}

/// Instances of one file take numbers at once, in statements and in transactions; none is given twice, also after
/// all have been opened anew.
#[test]
fn no_number_is_given_twice_by_any_instance() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let all = [open(&path), open(&path), open(&path)];
    run(&all[0], "CREATE TABLE t (id BIGSERIAL, v INT)");
    let expected = std::thread::scope(|scope| {
        let work = |who: usize| {
            let connection = &all[who];
            let mut rolled_back = 0;
            for round in 0..40 {
                match round % 4 {
                    0 => run(connection, "INSERT INTO t (v) VALUES (1), (2), (3)"),
                    1 => run(connection, "INSERT INTO t (v) SELECT 1 FROM range(50)"),
                    2 => {
                        run(connection, "BEGIN");
                        run(connection, "INSERT INTO t (v) VALUES (4)");
                        let end = if round % 8 == 2 { "COMMIT" } else { "ROLLBACK" };
                        rolled_back += usize::from(end == "ROLLBACK");
                        run(connection, end);
                    }
                    _ => run(connection, "INSERT INTO t VALUES (nextval('t_id_seq'), 5)"),
                }
            }
            rolled_back
        };
        let workers = [0, 1, 2].map(|who| scope.spawn(move || work(who)));
        workers.map(|worker| worker.join().unwrap()).iter().sum::<usize>()
    });
    assert_eq!(expected, 15);
    let (count, taken) = (3 * (10 * 3 + 10 * 50 + 5 + 10), 3 * (10 * 3 + 10 * 50 + 10 + 10));
    let told = "SELECT count(*), count(DISTINCT id), min(id) FROM t";
    assert_eq!(one(&all[1], told), format!("{count} {count} 1"));
    assert_eq!(one(&all[2], "SELECT last_value FROM t_id_seq"), taken.to_string());
    drop(all);
    let again = open(&path);
    run(&again, "INSERT INTO t (v) VALUES (9)");
    assert_eq!(one(&again, "SELECT id FROM t WHERE v = 9"), (taken + 1).to_string());
    run(&again, "CHECKPOINT");
    drop(again);
    let again = open(&path);
    run(&again, "INSERT INTO t (v) VALUES (10)");
    assert_eq!(one(&again, "SELECT id FROM t WHERE v = 10"), (taken + 2).to_string());
    drop(again);
    let found = check(&path, |_, _| {}).unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn statements_make_them_again() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    let made = [
        "CREATE SEQUENCE s AS INTEGER INCREMENT BY 2 MAXVALUE 9 START WITH 3 CYCLE",
        "CREATE TABLE t (\n    a BIGSERIAL,\n    b INTEGER GENERATED ALWAYS AS IDENTITY (START WITH 5),\n    \
         c SMALLINT GENERATED BY DEFAULT AS IDENTITY,\n    d BIGINT DEFAULT nextval('s')\n)",
    ];
    for sql in made {
        run(&connection, sql);
    }
    assert_eq!(database.sequences().unwrap(), ["s"]);
    let names = ["s", "t"].map(|name| database.create_statement(name).unwrap());
    assert_eq!(names, made);
}

//! DECLARE, FETCH, MOVE and CLOSE.

use crate::statement::{headings, refused, rows, run, with_table};
use gadus::{Connection, Database, ErrorKind, Options, Reason, Value};

/// A transaction with a cursor over the numbers from 1 to `last`.
fn numbers(last: u64, options: &str) -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "BEGIN");
    let declare = format!(
        "DECLARE c {options} CURSOR FOR SELECT value AS n FROM range(1, {}) ORDER BY n",
        last + 1
    );
    run(&connection, &declare);
    connection
}

fn fetched(connection: &Connection, fetch: &str) -> String {
    rows(connection, fetch).join(" ")
}

/// How many rows a MOVE has passed.
fn moved(connection: &Connection, sql: &str) -> u64 {
    connection.execute(sql, &[]).map_err(|error| format!("{sql}: {error}")).unwrap()
}

#[test]
fn rows_are_fetched_some_at_a_time_in_all_spellings() {
    let connection = numbers(30, "");
    for (fetch, expected) in [
        ("FETCH c", "1"),
        ("FETCH FROM c", "2"),
        ("FETCH NEXT FROM c", "3"),
        ("fetch next in c", "4"),
        ("FETCH 2 FROM c", "5 6"),
        ("FETCH FORWARD c", "7"),
        ("FETCH FORWARD 2 c;", "8 9"),
        ("FETCH RELATIVE 0 FROM c", "9"),
        ("FETCH 0 FROM c", "9"),
        ("FETCH RELATIVE 2 IN c", "11"),
        ("FETCH ABSOLUTE +15 FROM c", "15"),
        ("FETCH FORWARD 3 FROM c /* and no more */", "16 17 18"),
        ("FETCH LAST FROM c", "30"),
        ("FETCH NEXT c", ""),
        ("FETCH ALL FROM c", ""),
        ("FETCH FORWARD ALL c", ""),
        ("FETCH RELATIVE 0 FROM c", ""),
    ] {
        assert_eq!(fetched(&connection, fetch), expected, "{fetch}");
    }
    assert_eq!(headings(&connection, "FETCH c"), ["n"]);
    run(&connection, "CLOSE c");
    let error = connection.query("FETCH c", &[]).unwrap_err();
    assert_eq!((error.kind(), error.reason()), (ErrorKind::NotFound, Some(Reason::UnknownCursor)));
    assert_eq!(refused(&connection, "CLOSE c").reason(), Some(Reason::UnknownCursor));
    run(&connection, "DECLARE next CURSOR FOR VALUES (7), (8)");
    assert_eq!(fetched(&connection, "FETCH next"), "7");
    assert_eq!(fetched(&connection, "FETCH NEXT FROM next"), "8");
    for nonsense in
        ["FETCH", "FETCH 1.5 FROM next", "FETCH ABSOLUTE FROM next", "MOVE next next next"]
    {
        assert_eq!(refused(&connection, nonsense).reason(), Some(Reason::Syntax), "{nonsense}");
    }
    assert_eq!(refused(&connection, "FETCH NEXT FROM next INTO t").kind(), ErrorKind::Unsupported);
}

#[test]
fn a_cursor_with_scroll_goes_back_over_many_batches() {
    let connection = numbers(20_000, "SCROLL");
    for (fetch, expected) in [
        ("FETCH PRIOR FROM c", ""),
        ("FETCH LAST FROM c", "20000"),
        ("FETCH ABSOLUTE -20000 FROM c", "1"),
        ("FETCH ABSOLUTE 8193 FROM c", "8193"),
        ("FETCH BACKWARD 3 FROM c", "8192 8191 8190"),
        ("FETCH -2 FROM c", "8189 8188"),
        ("FETCH BACKWARD -1 FROM c", "8189"),
        ("FETCH RELATIVE -8187 FROM c", "2"),
        ("FETCH PRIOR FROM c", "1"),
        ("FETCH PRIOR FROM c", ""),
        ("FETCH NEXT FROM c", "1"),
        ("FETCH ABSOLUTE 0 FROM c", ""),
        ("FETCH FIRST FROM c", "1"),
        ("FETCH ABSOLUTE 30000 FROM c", ""),
        ("FETCH BACKWARD 2 FROM c", "20000 19999"),
        ("FETCH ABSOLUTE -30000 FROM c", ""),
        ("FETCH 2 FROM c", "1 2"),
    ] {
        assert_eq!(fetched(&connection, fetch), expected, "{fetch}");
    }
    let all = rows(&connection, "FETCH ALL FROM c");
    assert!(all.iter().map(|row| row.parse::<u64>().unwrap()).eq(3..=20_000));
    let back = rows(&connection, "FETCH BACKWARD ALL FROM c");
    assert!(back.iter().map(|row| row.parse::<u64>().unwrap()).eq((1..=20_000).rev()));
}

#[test]
fn move_says_how_many_rows_it_has_passed() {
    let connection = numbers(20_000, "SCROLL");
    assert_eq!(moved(&connection, "MOVE 9000 FROM c"), 9_000);
    assert_eq!(fetched(&connection, "FETCH c"), "9001");
    assert_eq!(moved(&connection, "MOVE BACKWARD 2 IN c"), 2);
    assert_eq!(fetched(&connection, "FETCH c"), "9000");
    assert_eq!(moved(&connection, "MOVE ABSOLUTE 20001 c"), 0);
    assert_eq!(moved(&connection, "MOVE BACKWARD ALL c"), 20_000);
    assert_eq!(moved(&connection, "MOVE c"), 1);
    assert_eq!(moved(&connection, "MOVE FORWARD ALL FROM c"), 19_999);
    let connection = numbers(20_000, "NO SCROLL");
    assert_eq!(moved(&connection, "MOVE 19999 FROM c"), 19_999);
    assert_eq!(fetched(&connection, "FETCH ALL FROM c"), "20000");
}

#[test]
fn a_cursor_without_scroll_goes_forward_alone() {
    let connection = numbers(20_000, "NO SCROLL");
    assert_eq!(fetched(&connection, "FETCH ABSOLUTE 10000 FROM c"), "10000");
    for back in ["PRIOR", "BACKWARD 1", "FIRST", "ABSOLUTE 9999", "RELATIVE -1", "ABSOLUTE 0"] {
        let error = refused(&connection, &format!("MOVE {back} FROM c"));
        assert_eq!(error.reason(), Some(Reason::NotInState), "{back}: {error}");
    }
    // It stands where it stood.
    assert_eq!(fetched(&connection, "FETCH c"), "10001");
}

/// As PostgreSQL's, whose plans of joins, groups and sets of rows only go forward.
#[test]
fn a_cursor_goes_back_without_scroll_if_its_plan_could() {
    let connection = with_table();
    run(&connection, "BEGIN");
    for query in [
        "SELECT id FROM t",
        "SELECT id + 0 FROM t WHERE id > 0 LIMIT 10",
        "SELECT id FROM t AS one UNION ALL SELECT id FROM t WHERE false",
        "SELECT one.id FROM t AS one JOIN t AS other ON one.id = other.id ORDER BY 1",
        "SELECT id FROM (SELECT id FROM t) AS t",
    ] {
        run(&connection, &format!("DECLARE c CURSOR FOR {query}"));
        assert_eq!(fetched(&connection, "FETCH 2 FROM c"), "1 2", "{query}");
        assert_eq!(fetched(&connection, "FETCH BACKWARD 1 FROM c"), "1", "{query}");
        assert_eq!(fetched(&connection, "FETCH FIRST FROM c"), "1", "{query}");
        run(&connection, "CLOSE c");
    }
    for query in [
        "SELECT max(id) FROM t",
        "SELECT DISTINCT id FROM t",
        "SELECT id, count(*) FROM t GROUP BY id",
        "SELECT row_number() OVER (ORDER BY id) FROM t",
        "SELECT one.id FROM t AS one JOIN t AS other ON one.id = other.id",
        "SELECT generate_series(1, 3) FROM t",
        "SELECT id FROM t UNION SELECT id FROM t",
    ] {
        run(&connection, &format!("DECLARE c CURSOR FOR {query}"));
        assert!(!fetched(&connection, "FETCH FROM c").is_empty(), "{query}");
        let error = refused(&connection, "MOVE BACKWARD 1 FROM c");
        assert_eq!(error.reason(), Some(Reason::NotInState), "{query}: {error}");
        run(&connection, "CLOSE c");
    }
}

#[test]
fn a_cursor_reads_what_was_there_when_it_was_declared() {
    let connection = with_table();
    run(&connection, "BEGIN");
    run(&connection, "UPDATE t SET a = 11 WHERE id = 1");
    run(&connection, "DECLARE c SCROLL CURSOR FOR SELECT id, a FROM t ORDER BY id");
    run(&connection, "DELETE FROM t WHERE id = 2");
    assert_eq!(rows(&connection, "FETCH 2 FROM c"), ["1 11", "2 20"]);
    run(&connection, "INSERT INTO t VALUES (4, 40, 'w')");
    assert_eq!(rows(&connection, "FETCH ALL FROM c"), ["3 NULL"]);
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["3"]);
    run(&connection, "ROLLBACK");
}

#[test]
fn cursors_end_with_what_they_were_declared_in() {
    let connection = with_table();
    let is_open = |name: &str| connection.query(&format!("FETCH {name}"), &[]).is_ok();
    let declare = |text: &str| run(&connection, &format!("DECLARE {text} FOR SELECT id FROM t"));
    let error = refused(&connection, "DECLARE c CURSOR FOR SELECT 1");
    assert_eq!(error.reason(), Some(Reason::NoTransaction), "{error}");
    declare("early CURSOR WITH HOLD");
    let error = refused(&connection, "DECLARE early CURSOR WITH HOLD FOR SELECT 1");
    assert_eq!(error.reason(), Some(Reason::DuplicateCursor), "{error}");
    run(&connection, "BEGIN");
    declare("a CURSOR");
    run(&connection, "SAVEPOINT s");
    declare("b CURSOR WITHOUT HOLD");
    run(&connection, "ROLLBACK TO s");
    assert!(is_open("a") && !is_open("b") && is_open("early"));
    declare("held CURSOR WITH HOLD");
    run(&connection, "COMMIT");
    assert!(!is_open("a"));
    assert_eq!(rows(&connection, "FETCH 2 FROM held"), ["1", "2"]);
    run(&connection, "DELETE FROM t");
    assert_eq!(rows(&connection, "FETCH 2 FROM held"), ["3"]);
    run(&connection, "BEGIN");
    declare("vain CURSOR WITH HOLD");
    run(&connection, "ROLLBACK");
    assert!(!is_open("vain") && is_open("held"));
    run(&connection, "CLOSE ALL");
    assert!(!is_open("held") && !is_open("early"));
    declare("last CURSOR WITH HOLD");
    run(&connection, "DISCARD ALL");
    assert!(!is_open("last"));
}

#[test]
fn what_breaks_off_is_not_taken_for_the_end() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "BEGIN");
    run(&connection, "DECLARE c CURSOR FOR SELECT 10 / (value - 20000) FROM range(1, 40000)");
    let error = connection.query("FETCH ALL FROM c", &[]).unwrap_err();
    assert_eq!(error.reason(), Some(Reason::DivisionByZero), "{error}");
    assert_eq!(refused(&connection, "MOVE c").reason(), Some(Reason::UnknownCursor));
    run(&connection, "ROLLBACK");
}

#[test]
fn a_cursor_has_parameters_and_locks_rows() {
    let connection = with_table();
    run(&connection, "BEGIN");
    let declare = "DECLARE c CURSOR FOR SELECT id FROM t WHERE id > $1 ORDER BY id FOR UPDATE";
    connection.execute(declare, &[Value::Integer(1)]).unwrap();
    assert_eq!(rows(&connection, "FETCH ALL FROM c"), ["2", "3"]);
    let unsupported = refused(&connection, "DECLARE d BINARY CURSOR FOR SELECT 1");
    assert_eq!(unsupported.kind(), ErrorKind::Unsupported);
    run(&connection, "COMMIT");
}

/// What a cursor with SCROLL holds counts as memory of plans, and is given back.
#[test]
fn what_a_cursor_holds_is_bounded() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "BEGIN");
    run(&connection, "DECLARE c SCROLL CURSOR FOR SELECT value FROM range(1, 4000001)");
    run(&connection, "SET gadus.memory_limit = '8MiB'");
    let (first, second) = (fetched(&connection, "FETCH c"), fetched(&connection, "FETCH c"));
    let error = refused(&connection, "MOVE ALL FROM c");
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    // What it holds it still gives.
    assert_eq!(fetched(&connection, "FETCH PRIOR FROM c"), first);
    assert_eq!(fetched(&connection, "FETCH NEXT FROM c"), second);
    run(&connection, "CLOSE c");
    run(&connection, "DECLARE c CURSOR FOR SELECT value FROM range(1, 4000001)");
    assert_eq!(moved(&connection, "MOVE ALL FROM c"), 4_000_000);
}

//! The same statements alone and in shared scans: the answers are the same.

use crate::support::Shell;
use gadus_base::Random;
use gadus_engine::{CacheScope, ErrorKind};
use gadus_sql::Session;

pub(crate) const ROWS: u64 = 5_000;

pub(crate) fn filled(instances: usize) -> Shell {
    let shell = Shell::of(instances, CacheScope::Process);
    shell.run(
        "CREATE TABLE bookings (id BIGINT PRIMARY KEY, origin TEXT, day DATE, fare DECIMAL(10,2), \
         seat TEXT, passenger BIGINT, note TEXT)",
    );
    shell.run(&format!(
        "INSERT INTO bookings SELECT value, 'A' || chr(65 + value % 26), \
         DATE '2024-01-01' + (value * 7 % 400)::INT, (value * 37 % 100000) / 100.0, \
         CASE WHEN value % 11 = 0 THEN NULL ELSE (value % 40)::TEXT || 'C' END, \
         value * 7919 % 1000003, repeat(chr(97 + value % 5), value % 20) \
         FROM generate_series(1, {ROWS})"
    ));
    shell
}

/// A question that is answered alike in whatever order rows are read.
pub(crate) fn statement(random: &mut Random) -> String {
    let (what, order) = match random.below(8) {
        0 => ("count(*), sum(fare), min(seat), max(day)", ""),
        1 => ("count(seat), avg(passenger)", ""),
        2 => ("id, origin, note", ""),
        3 => ("origin, count(*), max(seat)", "GROUP BY origin"),
        4 => (
            "sum(fare) AS fares, seat, origin",
            "GROUP BY 3, seat ORDER BY fares DESC, 3, 2 LIMIT 7",
        ),
        5 => ("DISTINCT day, seat", "ORDER BY seat NULLS FIRST, day DESC OFFSET 3"),
        6 => ("id, fare", "ORDER BY seat DESC, day, id LIMIT 9 OFFSET 2"),
        _ => ("*", ""),
    };
    format!("SELECT {what} FROM bookings WHERE {} {order}", conditions(random))
}

/// A WHERE that some rows pass.
pub(crate) fn conditions(random: &mut Random) -> String {
    let id = 1 + random.below(ROWS);
    let letter = |random: &mut Random, first: u8, count: u64| {
        char::from(first + u8::try_from(random.below(count)).unwrap())
    };
    let condition = |random: &mut Random| match random.below(10) {
        0 => format!("origin = 'A{}'", letter(random, b'A', 28)),
        1 => format!("passenger = {}", id * 7919 % 1_000_003),
        2 => {
            let day = 1 + random.below(28);
            format!("day BETWEEN DATE '2024-02-{day:02}' AND DATE '2024-03-{day:02}'")
        }
        3 => format!("fare < {}.5", random.below(1000)),
        4 => format!("seat LIKE '{}%'", random.below(45)),
        5 => "seat IS NULL".to_owned(),
        6 => format!("note >= '{}'", letter(random, b'a', 6)),
        7 => format!("passenger IN ({id}, {}, {})", id * 7919 % 1_000_003, random.below(1_000_003)),
        8 => format!("note = '{}'", "b".repeat(usize::try_from(random.below(21)).unwrap())),
        _ => format!("origin <> 'A{}'", letter(random, b'A', 26)),
    };
    let mut conditions = vec![condition(random)];
    while random.chance(0.6) {
        conditions.push(condition(random));
    }
    conditions.join(" AND ")
}

/// The rows of a statement, sorted.
pub(crate) async fn rows_of(session: &Session, text: &str) -> Vec<String> {
    let gadus_sql::Outcome::Rows(rows) = session.execute(text, &[]).await.unwrap() else {
        panic!("{text} has rows")
    };
    let batches = rows.collect().await.unwrap();
    let text = arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string();
    let mut lines = text.lines().filter(|line| !line.starts_with('+')).map(str::to_owned);
    let heading = lines.next();
    let mut lines = lines.collect::<Vec<_>>();
    lines.sort();
    heading.into_iter().chain(lines).collect()
}

pub(crate) async fn set(session: &Session, sharing: &str) {
    session.execute(&format!("SET gadus.sharing = {sharing}"), &[]).await.unwrap();
}

/// Each session asks a question, all at once; then each asks alone.
pub(crate) async fn compare(sessions: &[Session], texts: &[String]) {
    for session in sessions {
        set(session, "always").await;
    }
    let asked = sessions.iter().zip(texts).map(|(session, text)| rows_of(session, text));
    let shared = futures::future::join_all(asked).await;
    for ((session, text), shared) in sessions.iter().zip(texts).zip(shared) {
        set(session, "never").await;
        assert_eq!(shared, rows_of(session, text).await, "{text}");
    }
}

/// The lines of an answer, sorted.
pub(crate) fn sorted(rows: &str) -> Vec<&str> {
    let mut rows = rows.lines().collect::<Vec<_>>();
    rows.sort_unstable();
    rows
}

/// Many sessions ask at once, some of them the same; then each is asked alone.
fn compare_many(shell: &Shell, seed: u64) {
    shell.runtime.block_on(async {
        let session = |number: usize| shell.instances[number % shell.instances.len()].session();
        let sessions = (0..24).map(session).collect::<Vec<_>>();
        for round in 0..20 {
            let mut random = Random::seeded(seed).child(round);
            let mut texts = (0..20).map(|_| statement(&mut random)).collect::<Vec<_>>();
            texts.extend(vec![texts[19].clone(); 4]);
            compare(&sessions, &texts).await;
        }
    });
}

#[test]
fn shared_scans_answer_as_scans_alone() {
    for instances in [1, 2] {
        let shell = filled(instances);
        compare_many(&shell, 1);
        shell.engine().fold().unwrap();
        compare_many(&shell, 2);
        shell.run("DELETE FROM bookings WHERE id % 7 = 0");
        shell.run("UPDATE bookings SET origin = NULL, note = 'bb' WHERE id % 5 = 0");
        shell.run("INSERT INTO bookings (id, origin, passenger) VALUES (100000, 'AB', 7919)");
        compare_many(&shell, 3);
        let clock = shell.engine().statistics().clock;
        assert!(clock.passes < clock.questions, "scans were shared: {clock:?}");
        assert!(clock.shared_answers > 0, "equal questions were answered once: {clock:?}");
    }
}

#[test]
fn groups_and_orders_are_those_of_a_plan() {
    let shell = filled(1);
    let mut random = Random::seeded(5);
    for round in 0..300 {
        let text = statement(&mut random);
        if !text.contains("BY") {
            continue;
        }
        shell.run(["SET gadus.sharing = never", "SET gadus.sharing = always"][round % 2]);
        let compiled = shell.run(&text);
        // A table with an alias is left to DataFusion.
        let planned = shell.run(&text.replace("FROM bookings", "FROM bookings AS b"));
        if text.contains("ORDER BY") {
            assert_eq!(compiled, planned, "{text}");
        } else {
            assert_eq!(sorted(&compiled), sorted(&planned), "{text}");
        }
        let plan = shell.run(&format!("EXPLAIN {text}"));
        assert!(plan.starts_with("Compiled"), "{plan}");
    }
}

#[test]
fn more_groups_or_rows_than_are_held_are_left_to_a_plan() {
    let shell = Shell::of(1, CacheScope::Process);
    shell.run("CREATE TABLE numbers (n BIGINT, m BIGINT)");
    shell.run("INSERT INTO numbers SELECT value, value % 3 FROM generate_series(1, 150000)");
    for sharing in ["always", "never"] {
        shell.run(&format!("SET gadus.sharing = {sharing}"));
        let groups = "SELECT n, count(*) FROM numbers GROUP BY n ORDER BY n DESC LIMIT 2 OFFSET 1";
        assert_eq!(shell.run(groups), "149999|1\n149998|1");
        let sorted = "SELECT n FROM numbers WHERE m < 2 ORDER BY m DESC, n";
        let rows = shell.run(sorted);
        assert_eq!(rows.lines().count(), 100_000);
        assert!(rows.starts_with("1\n4\n7\n"), "{}", &rows[..20]);
        assert_eq!(shell.run("SELECT n FROM numbers WHERE m = 1 LIMIT 4").lines().count(), 4);
        assert_eq!(shell.run("SELECT n FROM numbers WHERE m = 1 LIMIT 0"), "");
        assert_eq!(shell.run("SELECT n FROM numbers WHERE n < 4 OFFSET 2").lines().count(), 1);
        assert_eq!(shell.run("SELECT m FROM numbers WHERE n > 150000 GROUP BY m"), "");
    }
}

#[test]
fn doubles_compare_and_sum_as_in_a_plan() {
    let shell = Shell::of(1, CacheScope::Process);
    shell.run("CREATE TABLE doubles (n BIGINT PRIMARY KEY, x DOUBLE)");
    shell.run(
        "INSERT INTO doubles SELECT value, CASE value % 11 WHEN 0 THEN NULL \
         WHEN 1 THEN 'NaN'::DOUBLE WHEN 2 THEN -('NaN'::DOUBLE) WHEN 3 THEN -('0'::DOUBLE) \
         WHEN 4 THEN '0'::DOUBLE \
         WHEN 5 THEN '0.1'::DOUBLE ELSE ((value * 37 % 2003 - 1000) / 8.0)::DOUBLE END FROM generate_series(1, 3000)",
    );
    let constants = ["0.1", "0", "-0.0", "12.5", "-100", "124.875", "100000", "9007199254740993"];
    for sharing in ["always", "never"] {
        shell.run(&format!("SET gadus.sharing = {sharing}"));
        for constant in constants {
            let conditions =
                ["=", "<>", "<", "<=", ">", ">="].map(|one| format!("x {one} {constant}"));
            let more = [
                format!("x BETWEEN -50.25 AND {constant}"),
                format!("x IN ({constant}, 3.5, -7)"),
                "x IS NULL".to_owned(),
            ];
            for condition in conditions.into_iter().chain(more) {
                let text = format!("SELECT n FROM doubles WHERE {condition} ORDER BY n LIMIT 9000");
                let planned = shell.run(&text.replace("doubles", "doubles AS d"));
                assert_eq!(shell.run(&text), planned, "{text}");
            }
        }
        // Of eighths, which a plan sums exactly, too.
        let sums = "SELECT sum(x), avg(x), count(x), min(x), max(x) FROM doubles \
            WHERE x >= -124.875 AND x <> 0.1 AND x < 1000";
        assert_eq!(shell.run(sums), shell.run(&sums.replace("doubles", "doubles AS d")));
        assert_eq!(shell.run("SELECT sum(x) FROM doubles WHERE n < 3"), "NaN");
        assert_eq!(
            shell.run("SELECT sum(x), avg(x) FROM doubles WHERE x = 0.25 AND n < 0"),
            "NULL|NULL"
        );
    }
    let cases =
        "SELECT count(*) FROM doubles WHERE CASE x WHEN 12.5 THEN x WHEN 0.1 THEN 1.5 END > 0.1";
    assert_eq!(shell.run(cases), shell.run("SELECT count(*) FROM doubles WHERE x IN (12.5, 0.1)"));
    let plan = shell.run("EXPLAIN SELECT sum(x) FROM doubles WHERE x > 2.5");
    assert!(plan.starts_with("Compiled"), "{plan}");
}

#[test]
fn a_statement_that_has_waited_sees_what_was_committed_before_it_came() {
    let shell = filled(2);
    shell.run("SET gadus.sharing = always");
    for n in 0..50 {
        shell.run(&format!("UPDATE bookings SET note = 'n{n}' WHERE id = 77"));
        assert_eq!(shell.run(&format!("SELECT id FROM bookings WHERE note = 'n{n}'")), "77");
    }
}

#[test]
fn a_transaction_reads_its_own_changes_whatever_the_setting() {
    let shell = filled(1);
    shell.run("SET gadus.sharing = always");
    shell.run("BEGIN");
    shell.run("UPDATE bookings SET note = 'mine' WHERE id = 5");
    assert_eq!(shell.run("SELECT id FROM bookings WHERE note = 'mine'"), "5");
    let other = shell.another();
    assert_eq!(other.run("SELECT count(*) FROM bookings WHERE note = 'mine'"), "0");
    shell.run("ROLLBACK");
}

#[test]
fn a_table_that_changes_its_shape_meanwhile_is_asked_anew() {
    let shell = filled(1);
    shell.run("SET gadus.sharing = always");
    shell.run("CREATE TABLE t (a BIGINT, b TEXT)");
    shell.run("INSERT INTO t VALUES (1, 'x')");
    assert_eq!(shell.run("SELECT b FROM t WHERE a = 1"), "x");
    shell.run("DROP TABLE t");
    shell.run("CREATE TABLE t (b TEXT, a BIGINT)");
    shell.run("INSERT INTO t VALUES ('y', 1)");
    assert_eq!(shell.run("SELECT b FROM t WHERE a = 1"), "y");
    shell.run("DROP TABLE t");
    assert_eq!(shell.fails("SELECT b FROM t WHERE a = 1").0, ErrorKind::Input);
}

#[test]
fn one_that_fails_fails_alone() {
    let shell = filled(1);
    shell.run("CREATE TABLE big (a BIGINT, b BIGINT)");
    shell.run("INSERT INTO big VALUES (1, 9223372036854775807), (1, 9223372036854775807), (2, 5)");
    let sessions = [0, 1].map(|_| shell.instances[0].session());
    shell.runtime.block_on(async {
        for session in &sessions {
            set(session, "always").await;
        }
        for _ in 0..20 {
            let one = sessions[0].execute("SELECT sum(b) FROM big WHERE a = 1", &[]);
            let other = rows_of(&sessions[1], "SELECT sum(b) AS s FROM big WHERE a = 2");
            let (one, other) = futures::future::join(one, other).await;
            assert_eq!(one.unwrap_err().kind(), ErrorKind::OutOfRange);
            assert_eq!(other.last().unwrap(), "| 5 |");
        }
    });
}

#[test]
fn the_clock_says_what_it_did_and_by_which_columns() {
    let shell = filled(1);
    shell.run("SET gadus.sharing = always");
    shell.run("SELECT count(*) FROM bookings WHERE origin = 'AB'");
    shell.run("SELECT count(*) FROM bookings WHERE passenger = 7919");
    shell.run("SELECT count(*) FROM bookings WHERE passenger = 1");
    shell.run("SELECT count(*) FROM bookings WHERE origin <> 'AB'");
    let columns = "SELECT * FROM gadus.clock_columns ORDER BY column_name";
    assert_eq!(shell.run(columns), "bookings|origin|1\nbookings|passenger|2\nbookings|NULL|1");
    let threads = "SELECT sum(processor_ms_total) > 0 FROM gadus.threads";
    assert_eq!(shell.run(threads), "true");
    let clock = "SELECT rows, rows_per_second_per_thread > 0, probe_ms_total > 0, \
        check_ms_total > 0, fold_ms_total > 0, lone_ms_total > 0, answer_ms_total > 0 \
        FROM gadus.clock";
    assert_eq!(shell.run(clock), format!("{}|true|true|true|true|true|true", 4 * ROWS));
}

#[test]
fn a_table_s_placement_is_explained() {
    let shell = filled(1);
    shell.run("SET gadus.divide_scans = on");
    let placed = shell.run("EXPLAIN PLACEMENT bookings");
    let threads = shell.run("SELECT threads FROM gadus.clock").parse::<usize>().unwrap();
    assert_eq!(placed.lines().count(), threads, "{placed}");
    assert!(placed.lines().all(|line| line.ends_with("|to this thread alone")), "{placed}");
    let rows = "SELECT sum(rows) FROM gadus.placement WHERE table_name = 'bookings'";
    assert_eq!(shell.run(rows), ROWS.to_string());
    shell.run("SET gadus.divide_scans = off");
    let shared = shell.run("explain placement Bookings");
    assert!(shared.lines().all(|line| line.ends_with("|to whichever thread is free")), "{shared}");
    assert_eq!(shell.fails("EXPLAIN PLACEMENT nowhere").0, ErrorKind::NotFound);
}

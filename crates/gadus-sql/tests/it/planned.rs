//! Statements that are planned, and what of them is shared.

use crate::scanning::{ROWS, compare, filled, rows_of, set, sorted, statement};
use crate::support::Shell;
use gadus_base::Random;
use gadus_engine::{CacheScope, ErrorKind};

/// A question that the engine does not answer by itself, about rows that it can look up.
fn planned_statement(random: &mut Random) -> String {
    let id = 1 + random.below(ROWS);
    let looked_up = match random.below(3) {
        0 => format!("passenger = {}", id * 7919 % 1_000_003),
        1 => format!("id BETWEEN {id} AND {}", id + random.below(40)),
        _ => format!("passenger IN ({}, {id})", id * 7919 % 1_000_003),
    };
    let rest = ["length(note) > 7", "origin || seat <> 'AB3C'", "fare * 2 < 1500", "id % 3 = 1"];
    let what = [
        "upper(note) AS note, fare * 2 AS fare, id",
        "count(*) AS n, sum(fare / 2) AS fares, max(length(note)) AS longest",
        "id, row_number() OVER (ORDER BY fare, id) AS place",
        "count(DISTINCT origin) AS origins",
    ];
    let pick = |random: &mut Random, all: [&'static str; 4]| {
        all[usize::try_from(random.below(4)).unwrap()]
    };
    let (what, rest) = (pick(random, what), pick(random, rest));
    format!("SELECT {what} FROM bookings WHERE {looked_up} AND {rest}")
}

#[test]
fn plans_of_one_scan_are_answered_in_shared_scans() {
    for instances in [1, 2] {
        let shell = filled(instances);
        shell.run("DELETE FROM bookings WHERE id % 7 = 0");
        shell.engine().fold().unwrap();
        shell.run("UPDATE bookings SET note = 'a note', fare = 12.5 WHERE id % 5 = 0");
        let session = |number: usize| shell.instances[number % instances].session();
        let sessions = (0..16).map(session).collect::<Vec<_>>();
        let before = shell.engine().statistics().clock;
        shell.runtime.block_on(async {
            for round in 0..12 {
                let mut random = Random::seeded(11).child(round);
                let texts = sessions.iter().map(|_| planned_statement(&mut random));
                let texts = texts.collect::<Vec<_>>();
                compare(&sessions, &texts).await;
            }
        });
        let after = shell.engine().statistics().clock;
        let asked = after.questions - before.questions;
        assert_eq!(asked, 12 * 16 / instances as u64, "each was asked");
    }
}

#[test]
fn a_plan_of_many_rows_or_of_a_transaction_scans_by_itself() {
    let shell = filled(1);
    shell.engine().fold().unwrap();
    shell.run("SET gadus.sharing = always");
    let before = shell.engine().statistics().clock.questions;
    assert_eq!(shell.run("SELECT count(*) FROM bookings WHERE fare > 1.0 AND id % 2 < 2"), "4995");
    assert_eq!(shell.engine().statistics().clock.questions, before, "many rows");
    shell.run("BEGIN");
    shell.run("UPDATE bookings SET note = 'mine' WHERE id = 5");
    let mine = "SELECT upper(note) FROM bookings WHERE passenger = 39595 AND id % 5 = 0";
    assert_eq!(shell.run(mine), "MINE");
    shell.run("ROLLBACK");
    assert_eq!(shell.engine().statistics().clock.questions, before);
    assert_ne!(shell.run(mine), "MINE");
    assert_eq!(shell.engine().statistics().clock.questions, before + 1);
    // What runs its scan again and again has one snapshot for all of them.
    let recursive = "WITH RECURSIVE steps AS (SELECT 1 AS step UNION ALL \
        SELECT step + 1 FROM steps, bookings WHERE passenger = 39595 AND step < 4) \
        SELECT count(*) FROM steps";
    let asked = shell.engine().statistics().clock.questions;
    assert_eq!(shell.run(recursive), "4");
    assert_eq!(shell.engine().statistics().clock.questions, asked);
    // Once kept, it is bound anew each time.
    for _ in 0..3 {
        shell.run("UPDATE bookings SET note = note || 'x' WHERE id = 5");
        let alone = shell.run("SELECT note FROM bookings WHERE id = 5");
        assert_eq!(shell.run(mine), alone.to_uppercase());
    }
}

#[test]
fn a_statement_that_may_keep_little_is_answered_all_the_same() {
    let shell = filled(1);
    let mut random = Random::seeded(17);
    for _ in 0..60 {
        let text = statement(&mut random);
        shell.run("SET gadus.sharing = always");
        shell.run("SET gadus.statement_memory = '2KiB'");
        let little = shell.run(&text);
        shell.run("SET gadus.statement_memory = '64MiB'");
        assert_eq!(sorted(&little), sorted(&shell.run(&text)), "{text}");
    }
    assert_eq!(shell.run("SHOW gadus.statement_memory"), "64 MiB");
    shell.run("SET gadus.statement_memory = 0");
    assert_eq!(shell.run("SELECT count(*) FROM bookings WHERE id < 8"), "7");
    assert_eq!(shell.run("SELECT id FROM bookings WHERE id < 3 ORDER BY id DESC"), "2\n1");
    let (kind, message) = shell.fails("SET gadus.statement_memory = 'much'");
    assert_eq!(kind, ErrorKind::Input, "{message}");
}

#[test]
fn plans_that_scan_one_table_together_miss_nothing() {
    let shell = Shell::of(1, CacheScope::Process);
    shell.run("CREATE TABLE numbers (n BIGINT, m BIGINT)");
    shell.run("INSERT INTO numbers SELECT value, value % 7 FROM generate_series(1, 400000)");
    shell.engine().fold().unwrap();
    let text = "SELECT count(*), count(DISTINCT n), sum(n) FROM numbers AS x WHERE m <> 3";
    let expected = shell.run(text);
    let together = || async {
        let session = shell.instances[0].session();
        set(&session, "auto").await;
        rows_of(&session, text).await
    };
    let before = shell.engine().statistics().clock;
    for _ in 0..5 {
        let all = (0..8).map(|_| together());
        for rows in shell.runtime.block_on(futures::future::join_all(all)) {
            let row = rows[1].replace(' ', "");
            assert_eq!(row.trim_matches('|'), expected);
        }
    }
    let after = shell.engine().statistics().clock;
    assert_eq!(after.plan_scans - before.plan_scans, 40);
    assert!(after.plan_scan_time > before.plan_scan_time);
}

#[test]
fn alternatives_of_one_column_are_a_list_however_many() {
    let shell = filled(1);
    let chain = |count: u64, column: &str| {
        let parts = (1..=count).map(|id| format!("{column} = {id}")).collect::<Vec<_>>();
        parts.join(" OR ")
    };
    for (count, more) in
        [(3, ""), (3, " AND fare * 1 >= 0"), (900, ""), (900, " AND fare * 1 >= 0")]
    {
        let text = format!("SELECT count(*) FROM bookings WHERE ({}){more}", chain(count, "id"));
        assert_eq!(shell.run(&text), count.to_string());
    }
    let nested = "SELECT count(*) FROM bookings WHERE id = 1 OR (2 = id OR id IN (3, 4, 1))";
    assert_eq!(shell.run(nested), "4");
    assert!(shell.run(&format!("EXPLAIN {nested}")).starts_with("Compiled"));
    for other in
        ["id = 1 OR passenger = 15838", "id = 1 OR id = NULL OR id = 2", "id < 2 OR id = 2"]
    {
        let text = format!("SELECT count(*) FROM bookings WHERE {other}");
        assert_eq!(shell.run(&text), "2", "{other}");
    }
}

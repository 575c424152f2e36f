//! UPDATE and DELETE by predicate, alone and in shared scans: the rows are the same afterwards.

use crate::scanning::{ROWS, conditions, filled, set, statement};
use crate::support::Shell;
use gadus_base::{Random, clock};
use gadus_engine::{ErrorKind, Result};
use gadus_sql::{Outcome, Session};
use std::sync::Arc;
use std::time::Duration;

/// All rows, in order.
const ALL: &str = "SELECT * FROM bookings ORDER BY id";

fn changed(outcome: Result<Outcome>) -> Result<u64> {
    match outcome? {
        Outcome::Changed { rows, .. } => Ok(rows),
        other => panic!("rows are counted: {other:?}"),
    }
}

/// A statement that changes what others select, of which some fail.
fn modification(random: &mut Random) -> String {
    let conditions = conditions(random);
    let deed = match random.below(9) {
        0 if random.chance(0.5) => return format!("DELETE FROM bookings WHERE {conditions}"),
        0 | 1 => "passenger = passenger + 1".to_owned(),
        2 => format!("passenger = passenger - {}, note = 'b'", random.below(1_000)),
        3 => "passenger = passenger + 9223372036854775000".to_owned(),
        4 => format!("origin = 'A{}'", char::from(b'A' + u8::try_from(random.below(26)).unwrap())),
        5 => format!("day = DATE '2024-02-{:02}', seat = NULL", 1 + random.below(28)),
        6 => format!("seat = '{}C'", random.below(45)),
        7 => format!("fare = {}.25", random.below(1_000)),
        _ => "note = ''".to_owned(),
    };
    format!("UPDATE bookings SET {deed} WHERE {conditions}")
}

#[test]
fn modifications_in_shared_scans_do_what_they_do_alone() {
    for (seed, fold) in [(1, false), (2, true)] {
        let (together, alone) = (filled(1), filled(1));
        alone.run("SET gadus.sharing = never");
        let session = Arc::new(together.instances[0].session());
        let mut random = Random::seeded(seed);
        for _ in 0..6 {
            let texts = (0..40).map(|_| modification(&mut random)).collect::<Vec<_>>();
            let submitted = texts.iter().map(|text| {
                let query = session.submit(&statement(&mut random), &[]).unwrap();
                (session.submit(text, &[]).unwrap(), query)
            });
            let submitted = submitted.collect::<Vec<_>>();
            for ((outcome, query), text) in submitted.into_iter().zip(&texts) {
                let outcome = changed(together.runtime.block_on(outcome));
                let Ok(Outcome::Rows(_)) = together.runtime.block_on(query) else {
                    panic!("a query fails")
                };
                let expected = alone.runtime.block_on(alone.session().execute(text, &[]));
                match (outcome, changed(expected)) {
                    (Ok(rows), Ok(expected)) => assert_eq!(rows, expected, "{text}"),
                    (Err(error), Err(expected)) => {
                        assert_eq!(error.to_string(), expected.to_string(), "{text}");
                    }
                    other => panic!("{text}: {other:?}"),
                }
            }
            assert_eq!(together.run(ALL), alone.run(ALL));
            if fold {
                together.engine().fold().unwrap();
            }
        }
        let clock = together.engine().statistics().clock;
        assert_eq!(clock.modifications, 240, "all were shared: {clock:?}");
        assert!(clock.modifying_commits < 200, "and committed together: {clock:?}");
    }
}

#[test]
fn nothing_is_lost_when_several_instances_modify_the_same_rows() {
    let shell = filled(2);
    let sessions = shell.instances.iter().map(|sql| Arc::new(sql.session())).collect::<Vec<_>>();
    shell.run("UPDATE bookings SET passenger = 0");
    let mut expected = 0;
    for round in 0..10 {
        let submitted = sessions.iter().flat_map(|session| {
            (0..20).map(move |number| {
                let text = format!(
                    "UPDATE bookings SET passenger = passenger + 1 WHERE origin = 'A{}' \
                     AND id < 1000",
                    char::from(b'A' + (round + number) % 26)
                );
                session.submit(&text, &[]).unwrap()
            })
        });
        let submitted = submitted.collect::<Vec<_>>();
        // Statements of one row at the same time.
        shell.run("UPDATE bookings SET passenger = passenger + 1 WHERE id = 5");
        expected += 1;
        for outcome in submitted {
            expected += changed(shell.runtime.block_on(outcome)).unwrap();
        }
    }
    assert_eq!(shell.run("SELECT sum(passenger) FROM bookings"), expected.to_string());
    let shared = shell.instances.iter().map(|sql| sql.engine().statistics().clock.modifications);
    assert!(shared.sum::<u64>() >= 400);
}

#[test]
fn a_modification_waits_for_whoever_has_locked_its_rows() {
    let shell = filled(1);
    let (mine, others) = (shell.another(), Arc::new(shell.instances[0].session()));
    mine.run("BEGIN");
    mine.run("UPDATE bookings SET note = 'mine' WHERE id = 7");
    let submit = |text: &str| others.submit(text, &[]).unwrap();
    let blocked = submit("UPDATE bookings SET origin = 'late' WHERE passenger = 55433");
    let free = submit("UPDATE bookings SET origin = 'free' WHERE passenger = 63352");
    assert_eq!(changed(shell.runtime.block_on(free)).unwrap(), 1);
    let blocked = std::thread::scope(|scope| {
        let waits = scope.spawn(|| changed(shell.runtime.block_on(blocked)));
        let began = clock().now();
        while !shell.run("SELECT max(waits) FROM gadus.sessions").contains("true") {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody waits");
            std::thread::yield_now();
        }
        mine.run("UPDATE bookings SET seat = 'mine' WHERE id = 7");
        mine.run("COMMIT");
        waits.join().unwrap()
    });
    assert_eq!(blocked.unwrap(), 1);
    let row = "SELECT note, origin, seat FROM bookings WHERE id = 7";
    assert_eq!(shell.run(row), "mine|late|mine");
}

#[test]
fn a_modification_that_fails_changes_nothing_and_the_others_go_on() {
    let shell = filled(1);
    shell.run("CREATE TABLE strict (a BIGINT, b BIGINT NOT NULL)");
    shell.run("INSERT INTO strict SELECT value, value % 10 FROM generate_series(1, 1000)");
    let session = Arc::new(shell.instances[0].session());
    for _ in 0..10 {
        let texts = [
            "UPDATE strict SET a = a + 1 WHERE b = 1",
            "UPDATE strict SET b = NULL WHERE b = 2",
            "UPDATE strict SET a = a + 9223372036854775807 WHERE b < 4",
            "UPDATE strict SET a = a - 1 WHERE b = 1",
        ];
        let submitted = texts.map(|text| session.submit(text, &[]).unwrap());
        let outcomes = submitted.map(|one| changed(shell.runtime.block_on(one)));
        let [one, null, wide, two] = outcomes;
        assert_eq!((one.unwrap(), two.unwrap()), (100, 100));
        assert_eq!(null.unwrap_err().kind(), ErrorKind::NotNullViolation);
        assert_eq!(wide.unwrap_err().kind(), ErrorKind::OutOfRange);
    }
    assert_eq!(shell.run("SELECT sum(a), sum(b) FROM strict"), "500500|4500");
}

#[test]
fn a_cancelled_modification_changes_nothing_or_says_what_it_did() {
    let shell = filled(1);
    let session: Arc<Session> = Arc::new(shell.instances[0].session());
    shell.runtime.block_on(set(&session, "always"));
    let (mut done, mut cancelled) = (0, 0);
    for round in 0..200_u32 {
        let text = format!("UPDATE bookings SET passenger = {round} WHERE note = 'c'");
        let outcome = std::thread::scope(|scope| {
            let runs = scope.spawn(|| changed(shell.runtime.block_on(session.execute(&text, &[]))));
            for _ in 0..round * 20 {
                std::hint::spin_loop();
            }
            session.cancel();
            runs.join().unwrap()
        });
        let there =
            format!("SELECT count(*) FROM bookings WHERE passenger = {round} AND note = 'c'");
        let there = shell.run(&there).parse::<u64>().unwrap();
        match outcome {
            Ok(rows) => {
                assert_eq!(rows, there);
                done += 1;
            }
            Err(error) => {
                assert_eq!((error.kind(), there), (ErrorKind::Cancelled, 0));
                cancelled += 1;
            }
        }
    }
    assert_eq!(done + cancelled, 200);
    assert!(done > 0, "all were cancelled");
    assert_eq!(shell.run("SELECT count(*) FROM bookings"), ROWS.to_string());
}

#[test]
fn what_is_modified_shows_in_the_plan() {
    let shell: Shell = filled(1);
    let plan = shell.run("EXPLAIN UPDATE bookings SET note = 'x' WHERE passenger = 5");
    assert!(plan.contains("update rows of bookings with 1 pushed-down conjuncts"), "{plan}");
    assert!(plan.contains("looked up by passenger"), "{plan}");
    let plan = shell.run("EXPLAIN DELETE FROM bookings WHERE note IS NULL");
    assert!(plan.contains("delete rows from bookings"), "{plan}");
    shell.engine().fold().unwrap();
    // Both bounds are one condition: half of the rows pass each.
    let range = "day BETWEEN DATE '2024-07-01' AND DATE '2024-07-08'";
    let plan = shell.run(&format!("EXPLAIN UPDATE bookings SET note = 'x' WHERE {range}"));
    let expected = plan.split_once("about ").unwrap().1.split_once(' ').unwrap().0;
    let rows = shell.run(&format!("SELECT count(*) FROM bookings WHERE {range}"));
    let (expected, rows) = (expected.parse::<f64>().unwrap(), rows.parse::<f64>().unwrap());
    assert!(rows / 2.0 < expected && expected < rows * 2.0, "{expected} of {rows}: {plan}");
}

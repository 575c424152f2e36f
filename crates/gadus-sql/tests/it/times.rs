//! Dates, times, time zones and intervals in the settings of a session, beside PostgreSQL's answers.

use crate::support::Shell;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use std::sync::Arc;

const ANSWERS: &str = include_str!("times/answers.txt");

fn filled() -> Shell {
    let shell = Shell::new();
    shell.run("SET TimeZone = 'America/New_York'");
    shell.run("CREATE TABLE t (a INT, b TEXT, c BIGINT, d DOUBLE, e DATE, f NUMERIC(10,2))");
    shell.run(
        "INSERT INTO t VALUES (1, 'x', 10, 1.5, '2024-01-01', 1.25),
         (2, 'y', 20, 2.5, '2024-02-01', 2.50), (3, NULL, NULL, NULL, NULL, NULL)",
    );
    shell
}

#[test]
fn answers_are_postgresqls() {
    let shell = filled();
    let mut wrong = Vec::new();
    for case in ANSWERS.trim_end().split("\n\n").skip(1) {
        let (query, expected) = case.split_once("\n----\n").unwrap();
        let found = shell.try_run(query, &[]).unwrap_or_else(|error| format!("error {error}"));
        let tree = shell.try_run(&format!("EXPLAIN (BOUND) {query}"), &[]).unwrap_or_default();
        let reason = tree.lines().find(|line| line.starts_with("Not planned"));
        let is_other_way = reason.is_some() && !expected.starts_with("error");
        if found != expected || is_other_way {
            wrong.push(format!("{query}\n  gives {found}\n  not {expected}\n  {reason:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn settings_are_read_and_shown_as_postgresql_does() {
    let shell = Shell::new();
    for (set, shown, value) in [
        ("SET TimeZone = 'europe/zurich'", "SHOW TimeZone", "Europe/Zurich"),
        ("SET TIME ZONE -7.5", "SHOW TIME ZONE", "<-07:30>+07:30"),
        ("SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE", "SHOW TimeZone", "<-08>+08"),
        ("SET TIME ZONE LOCAL", "SHOW TimeZone", "UTC"),
        ("SET TIME ZONE 'EST5EDT'", "SHOW TimeZone", "EST5EDT"),
        ("RESET TIME ZONE", "SHOW TimeZone", "UTC"),
        ("SET datestyle = 'german'", "SHOW DateStyle", "German, DMY"),
        ("SET datestyle TO postgres, mdy", "SHOW DateStyle", "Postgres, MDY"),
        ("SET intervalstyle = ISO_8601", "SHOW IntervalStyle", "iso_8601"),
        ("RESET ALL", "SHOW DateStyle", "ISO, MDY"),
    ] {
        shell.run(set);
        assert_eq!(shell.run(shown), value, "{set}");
    }
    for (set, message) in [
        ("SET TimeZone = 'Nowhere'", "invalid value for parameter \"TimeZone\": \"Nowhere\""),
        ("SET TimeZone = 999", "invalid value for parameter \"TimeZone\": \"999\""),
        ("SET DateStyle = 'x'", "invalid value for parameter \"DateStyle\": \"x\""),
        ("SET IntervalStyle = 'x'", "invalid value for parameter \"IntervalStyle\": \"x\""),
    ] {
        assert_eq!(shell.fails(set).1, message);
    }
    shell.run("BEGIN");
    shell.run("SET LOCAL TimeZone = 'Asia/Tokyo'");
    assert_eq!(
        shell.run("SELECT '1970-01-01 00:00+00'::timestamptz::text"),
        "1970-01-01 09:00:00+09"
    );
    shell.run("COMMIT");
    assert_eq!(
        shell.run("SELECT '1970-01-01 00:00+00'::timestamptz::text"),
        "1970-01-01 00:00:00+00"
    );
}

#[test]
fn plans_that_are_kept_have_the_zone_of_each_run() {
    let shell = filled();
    let query = "SELECT count(*), max('2024-07-01 00:00'::timestamptz + make_interval(hours => a))::text FROM t WHERE a > 0";
    for _ in 0..4 {
        for (zone, shown) in [
            ("America/New_York", "3|2024-07-01 03:00:00-04"),
            ("Asia/Tokyo", "3|2024-07-01 03:00:00+09"),
            ("UTC", "3|2024-07-01 03:00:00+00"),
        ] {
            shell.run(&format!("SET TimeZone = '{zone}'"));
            assert_eq!(shell.run(query), shown);
        }
    }
}

#[test]
fn changes_are_in_the_zone_of_the_session() {
    let shell = filled();
    shell.run("CREATE TABLE z (id INT, at TIMESTAMPTZ, local TIMESTAMP, day DATE)");
    shell.run("INSERT INTO z VALUES (1, '2024-03-09 12:00', '2024-03-09 12:00', 'Mar 9, 2024')");
    shell.run(
        "INSERT INTO z (id, at) SELECT 2, timestamp '2024-07-01 00:00' AT TIME ZONE 'Asia/Tokyo'",
    );
    shell.run("UPDATE z SET at = at + interval '1 day', local = at, day = at::date WHERE id = 1");
    shell.run("UPDATE z SET local = at AT TIME ZONE 'Asia/Tokyo', day = date_trunc('day', at) WHERE id = 2");
    let rows = shell.run("SELECT id, at::text, local::text, day::text FROM z ORDER BY id");
    let expected = [
        "1|2024-03-10 12:00:00-04|2024-03-09 12:00:00|2024-03-09",
        "2|2024-06-30 11:00:00-04|2024-07-01 00:00:00|2024-06-30",
    ];
    assert_eq!(rows, expected.join("\n"));
    assert_eq!(shell.run("SELECT id FROM z WHERE at = '2024-03-10 12:00'"), "1");
    assert_eq!(
        shell.run("DELETE FROM z WHERE at < '2024-06-30 11:00:01' AND day > '2024-06-29'"),
        "1"
    );
}

#[test]
fn texts_that_are_appended_are_in_the_zone_of_the_session() {
    let shell = filled();
    shell.run("CREATE TABLE a (at TIMESTAMPTZ)");
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["2024-07-01 12:00", "infinity"]));
    let batch = RecordBatch::try_from_iter([("at", texts)]).unwrap();
    let appended = shell.session().append("a", &[], vec![batch]);
    assert_eq!(shell.runtime.block_on(appended).unwrap(), 2);
    let rows = shell.run("SELECT at::text FROM a ORDER BY at");
    assert_eq!(rows, "2024-07-01 12:00:00-04\ninfinity");
}

#[test]
fn infinities_are_stored_and_compared() {
    let shell = Shell::new();
    shell.run("CREATE TABLE i (at TIMESTAMPTZ PRIMARY KEY, day DATE)");
    shell.run("INSERT INTO i VALUES ('infinity', '-infinity'), ('-infinity', 'infinity'), ('2024-01-01', '0001-12-31 BC')");
    let all = "SELECT at::text, day::text FROM i ORDER BY at";
    let expected = "-infinity|infinity\n2024-01-01 00:00:00+00|0001-12-31 BC\ninfinity|-infinity";
    assert_eq!(shell.run(all), expected);
    assert_eq!(
        shell.run("SELECT count(*) FROM i WHERE at > '9999-12-31' OR day < '4000-01-01 BC'"),
        "1"
    );
    assert_eq!(shell.run("SELECT day::text FROM i WHERE at = 'infinity'"), "-infinity");
    assert_eq!(shell.run("SELECT max(at)::text, min(day)::text FROM i"), "infinity|-infinity");
}

#[test]
fn now_is_the_beginning_of_the_transaction() {
    let shell = Shell::new();
    shell.run("BEGIN");
    let first = shell.run("SELECT now()::text");
    assert_eq!(shell.run("SELECT current_timestamp::text"), first);
    assert_eq!(shell.run("SELECT 'now'::timestamptz = now()"), "true");
    assert_eq!(shell.run("SELECT statement_timestamp() > now()"), "true");
    shell.run("COMMIT");
    assert_ne!(shell.run("SELECT now()::text"), first);
}

//! Windows over more rows than the memory limit holds: with the same answers, and in files meanwhile.

use crate::statement::{rows, run};
use gadus::{Connection, Database, ErrorKind, Options};
use gadus_base::Random;

/// Rows of 42 MB, and partitions of 8 MB.
const WIDE: &str =
    "(SELECT id, k, x, label, id % 3 = 0 AS third, repeat(label, 1500) AS wide FROM t) AS s";
const LIMIT: &str = "SET gadus.memory_limit = '4MiB'";

/// Windows whose rows wait for results: of all rows, of a partition, of far rows, of peers.
const WAITING: [&str; 15] = [
    "sum(x) OVER (), count(*) OVER (), min(k) OVER (), length(max(wide) OVER ())",
    "count(*) OVER (PARTITION BY k), round(avg(x) OVER (PARTITION BY k), 6), max(id) OVER (PARTITION BY k)",
    "cardinality(array_agg(id) OVER (PARTITION BY k)), length(string_agg(label, ',') OVER (PARTITION BY k))",
    "ntile(7) OVER (PARTITION BY k ORDER BY id), cume_dist() OVER (PARTITION BY k ORDER BY id)",
    "ntile(3) OVER (ORDER BY id), rank() OVER (ORDER BY id), lag(id, 3000) OVER (ORDER BY id)",
    "last_value(x) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), \
     nth_value(x, 2500) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "sum(id) OVER (PARTITION BY k ORDER BY x RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "sum(id) OVER (ORDER BY x GROUPS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING)",
    "lead(id, 3000) OVER (ORDER BY id), lag(id, 1000) OVER (ORDER BY id)",
    "sum(id) OVER (ORDER BY id ROWS BETWEEN 10 PRECEDING AND 3000 FOLLOWING)",
    "sum(id) OVER (ORDER BY k), rank() OVER (ORDER BY k), dense_rank() OVER (ORDER BY k)",
    "count(*) FILTER (WHERE third) OVER (PARTITION BY k), sum(id) FILTER (WHERE id % 7 > 2) OVER (PARTITION BY k)",
    "count(*) OVER (PARTITION BY wide), sum(id) OVER (PARTITION BY wide, k)",
    "length(first_value(wide) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING))",
    "length(lead(wide, 700, 'none') OVER (PARTITION BY k ORDER BY id))",
];

/// Windows that know their results at once, and ones of small partitions.
const PASSING: [&str; 2] = [
    "row_number() OVER (ORDER BY id), sum(id) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING)",
    "count(*) OVER (PARTITION BY id), first_value(k) OVER (PARTITION BY id ORDER BY x \
     ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
];

/// With NULLs among the keys and numbers.
fn connection(count: usize) -> Connection {
    let database = Database::open_in_memory(Options::new().threads(2)).unwrap();
    let connection = database.connect();
    let create = format!(
        "CREATE TABLE t AS SELECT i AS id, CASE WHEN i % 6 = 0 THEN NULL ELSE i % 5 END AS k,
             CASE WHEN i % 97 = 0 THEN NULL ELSE (i * 31) % 700 END AS x, 'label ' || (i % 7) AS label
         FROM range({count}) AS r(i)"
    );
    run(&connection, &create);
    connection
}

fn spilled(connection: &Connection) -> u64 {
    rows(connection, "SELECT spilled_bytes_total FROM gadus.memory").concat().parse().unwrap()
}

/// True if the window operators of a query write out rows.
fn windows_spill(connection: &Connection, query: &str) -> bool {
    let lines = rows(connection, &format!("EXPLAIN ANALYZE {query}")).join("\n");
    let windows = lines.lines().filter(|line| line.contains("WindowAggExec: "));
    let has_spilled = lines.contains(" spilled  operator");
    let mut figures = windows.map(|line| line.chars().skip(42).take(10).collect::<String>());
    has_spilled && figures.any(|figure| !figure.trim().is_empty())
}

/// Each row with its results and its wide column.
fn query(windows: &str) -> String {
    let select = format!("SELECT id, wide, row({windows}) AS results FROM {WIDE}");
    format!("SELECT id, length(wide), results FROM ({select}) AS w ORDER BY id")
}

#[test]
fn windows_that_outgrow_the_memory_spill_and_answer_the_same() {
    let connection = connection(4000);
    for (windows, waits) in
        WAITING.iter().map(|w| (w, true)).chain(PASSING.iter().map(|w| (w, false)))
    {
        let query = query(windows);
        run(&connection, "RESET gadus.memory_limit");
        let expected = rows(&connection, &query);
        assert_eq!(expected.len(), 4000);
        run(&connection, LIMIT);
        // The third run is that of a kept plan.
        for run in 1..=3 {
            let before = spilled(&connection);
            assert!(rows(&connection, &query) == expected, "{query}, run {run}");
            assert!(spilled(&connection) > before || !waits, "{query}, run {run}");
        }
        assert_eq!(windows_spill(&connection, &query), waits, "{query}");
    }
}

/// What a window computes with cannot spill: here all rows, wide as they are.
#[test]
fn columns_that_outgrow_the_memory_are_refused() {
    let connection = connection(8000);
    run(&connection, LIMIT);
    let all = "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
    let query = query(&format!("length(last_value(wide) OVER ({all}))"));
    for _ in 0..3 {
        let mut found = connection.query(&query, &[]).unwrap();
        let error = found.find_map(Result::err).expect("it holds 84 MB");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.message().contains("gadus.memory_limit"), "{error}");
    }
    assert_eq!(rows(&connection, "SELECT count(*) OVER () FROM t LIMIT 1"), ["8000"]);
}

/// Picks one of some texts.
fn one<'a>(random: &mut Random, texts: &[&'a str]) -> &'a str {
    texts[usize::try_from(random.below(texts.len() as u64)).unwrap()]
}

/// A window that has one answer whatever the order of peers.
fn random_window(random: &mut Random) -> String {
    let partition = one(
        random,
        &["", "PARTITION BY k", "PARTITION BY x", "PARTITION BY k, label", "PARTITION BY id"],
    );
    let keyed = ["ORDER BY id", "ORDER BY x DESC, id", "ORDER BY k NULLS FIRST, id DESC"];
    let (near, far) = (random.below(5), random.below(900));
    let start =
        one(random, &["UNBOUNDED PRECEDING", "2 PRECEDING", "700 PRECEDING", "CURRENT ROW"]);
    let end = [
        "CURRENT ROW".to_owned(),
        format!("{near} FOLLOWING"),
        format!("{far} FOLLOWING"),
        "UNBOUNDED FOLLOWING".to_owned(),
    ];
    let end = end[usize::try_from(random.below(4)).unwrap()].clone();
    if random.chance(0.4) {
        let function = one(
            random,
            &[
                "row_number()",
                "rank()",
                "ntile(9)",
                "cume_dist()",
                "lead(id, 800)",
                "lag(x, 3, -1)",
                "lead(label)",
            ],
        );
        return format!("{function} OVER ({partition} {})", one(random, &keyed));
    }
    let aggregate = one(
        random,
        &[
            "sum(id)",
            "count(x)",
            "min(x)",
            "max(label)",
            "count(*) FILTER (WHERE third)",
            "sum(x) FILTER (WHERE id % 4 = 1)",
        ],
    );
    if random.chance(0.3) {
        return format!("{aggregate} OVER ({partition})");
    }
    if random.chance(0.4) {
        let order = one(random, &["ORDER BY x", "ORDER BY k DESC", "ORDER BY id"]);
        let units = one(random, &["RANGE", "GROUPS"]);
        let start = if units == "RANGE" { "UNBOUNDED PRECEDING" } else { start };
        let end = if units == "RANGE" { "CURRENT ROW" } else { &end };
        return format!("{aggregate} OVER ({partition} {order} {units} BETWEEN {start} AND {end})");
    }
    let function =
        one(random, &[aggregate, "first_value(id)", "last_value(x)", "nth_value(id, 5)"]);
    format!("{function} OVER ({partition} {} ROWS BETWEEN {start} AND {end})", one(random, &keyed))
}

#[test]
fn random_windows_answer_the_same_within_a_small_limit() {
    let connection = connection(3000);
    let mut random = Random::seeded(55);
    let before = spilled(&connection);
    for _ in 0..60 {
        let windows = (0..=random.below(3)).map(|_| random_window(&mut random));
        let windows = windows.collect::<Vec<_>>().join(", ");
        let query = query(&windows).replace("1500", "200");
        run(&connection, "RESET gadus.memory_limit");
        let expected = rows(&connection, &query);
        run(&connection, "SET gadus.memory_limit = '1MiB'");
        assert!(rows(&connection, &query) == expected, "{query}");
    }
    assert!(spilled(&connection) > before);
}

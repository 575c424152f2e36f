//! Joins whose tables turn out larger than the memory: merged instead, with the same answers.

use crate::statement::rows;
use gadus::{Connection, Database, Options};

/// Each side is 80 MB, of which planning knows nothing: a text counts as 32 bytes. A plan may hold 64 MiB.
pub(crate) const LIMIT: &str = "SET gadus.memory_limit = '4MiB'";
pub(crate) const LEFT: &str = "(SELECT id, k, x, repeat(label, 1500) AS wide FROM l) AS a";
pub(crate) const RIGHT: &str = "(SELECT id, k, x, repeat(label, 1500) AS wide FROM r) AS b";

/// With NULLs among the keys, keys that many rows share, and numbers that are none.
pub(crate) fn connection() -> Connection {
    let database = Database::open_in_memory(Options::new().threads(2)).unwrap();
    let connection = database.connect();
    for (table, divisor, rows) in [("l", 11, 8000), ("r", 13, 9000)] {
        let create = format!(
            "CREATE TABLE {table} AS SELECT i AS id,
                 CASE WHEN i % {divisor} = 0 THEN NULL WHEN i % 5 = 0 THEN i % 50 ELSE (i * 31) % 20000 END AS k,
                 CASE WHEN i % 97 = 0 THEN 'NaN'::double ELSE (i % 700) / 4.0 - 20 END AS x,
                 'label ' || (i % 7) AS label
             FROM range({rows}) AS t(i)"
        );
        connection.execute(&create, &[]).unwrap();
    }
    connection
}

pub(crate) fn spilled(connection: &Connection) -> u64 {
    let spilled = rows(connection, "SELECT spilled_bytes_total FROM gadus.memory");
    spilled.concat().parse().unwrap()
}

/// An answer in which each value of both sides counts, also those that are NULL.
pub(crate) fn joined(join: &str, on: &str) -> String {
    format!(
        "SELECT count(*), count(a.id), count(b.id), sum(coalesce(a.id, 0) * 7 + coalesce(b.id, 0) * 3), \
         sum(coalesce(a.id, 1) * coalesce(b.id, 1)), sum(length(a.wide)), sum(length(b.wide)) \
         FROM {LEFT} {join} {RIGHT} ON {on}"
    )
}

pub(crate) fn one_sided(condition: &str) -> String {
    format!("SELECT count(*), sum(a.id), sum(length(a.wide)) FROM {LEFT} WHERE {condition}")
}

#[test]
fn joins_that_outgrow_the_memory_are_merged_and_answer_the_same() {
    let connection = connection();
    let mut texts = Vec::new();
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        texts.push(joined(join, "a.k = b.k"));
    }
    texts.push(joined("JOIN", "a.k = b.k AND a.x = b.x"));
    texts.push(joined("FULL JOIN", "a.k % 100 = b.k % 90 AND a.id = b.id"));
    texts.push(joined("JOIN", "a.k IS NOT DISTINCT FROM b.k"));
    let wide = format!("SELECT 1 FROM {RIGHT} WHERE a.k = b.k AND a.wide = b.wide");
    texts.push(one_sided(&format!("EXISTS ({wide})")));
    texts.push(one_sided(&format!("NOT EXISTS ({wide})")));
    for text in texts {
        connection.execute("RESET gadus.memory_limit", &[]).unwrap();
        let expected = rows(&connection, &text);
        connection.execute(LIMIT, &[]).unwrap();
        let before = spilled(&connection);
        // The third run is that of a kept plan.
        for run in 1..=3 {
            assert_eq!(rows(&connection, &text), expected, "{text}, run {run}");
        }
        // Of the one-sided ones the planner may hold less than it seems. What the others hold at a time
        // depends on which side is faster: not each run need spill.
        let has_both = text.contains("b.id");
        assert!(spilled(&connection) > before || !has_both, "{text}");
    }
}

#[test]
fn rows_that_are_written_come_once_from_joins_that_are_merged() {
    let connection = connection();
    let select =
        format!("SELECT a.id AS a, b.id AS b, a.wide FROM {LEFT} JOIN {RIGHT} ON a.k = b.k");
    let count = rows(&connection, &format!("SELECT count(*) FROM ({select}) j"));
    connection.execute("CREATE TABLE t (a BIGINT, b BIGINT, w BIGINT)", &[]).unwrap();
    connection.execute(LIMIT, &[]).unwrap();
    let insert = format!("INSERT INTO t SELECT a, b, length(wide) FROM ({select}) j");
    let written = connection.execute(&insert, &[]).unwrap();
    assert_eq!([written.to_string()], *count);
    assert_eq!(rows(&connection, "SELECT count(*) FROM (SELECT DISTINCT a, b FROM t) d"), count);
}

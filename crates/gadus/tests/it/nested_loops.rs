//! Joins without an equality whose tables turn out larger than the memory: they spill, with the same answers.

use crate::merge_joins::{LIMIT, connection, spilled};
use crate::statement::rows;
use gadus::Connection;

/// Large, grouped so that its rows come out of a repartitioning, which cannot be read twice.
const GROUPED: &str = "(SELECT i AS id, max(repeat('x', 900) || i) AS wide \
                        FROM generate_series(1, 100000) AS g(i) GROUP BY i)";

/// Of which the planner does not know how few they are.
const FEW: &str = "(SELECT unnest([1, 2, 3, 99998]) AS id)";

/// Runs a query with much memory and with little, which must not change its answer; returns what it has spilled.
fn spilled_with_little_memory(connection: &Connection, text: &str) -> u64 {
    connection.execute("RESET gadus.memory_limit", &[]).unwrap();
    let expected = rows(connection, text);
    connection.execute(LIMIT, &[]).unwrap();
    let before = spilled(connection);
    // The third run is that of a kept plan.
    for run in 1..=3 {
        assert_eq!(rows(connection, text), expected, "{text}, run {run}");
    }
    spilled(connection) - before
}

#[test]
fn joins_without_an_equality_that_outgrow_the_memory_answer_the_same() {
    let connection = connection();
    // Where the few rows are held, all others go by: what waits for the join between partitions is written out.
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        let text = format!(
            "SELECT count(*), sum(length(a.wide)), sum(b.id) FROM {GROUPED} a {join} {FEW} b ON a.id < b.id"
        );
        assert!(spilled_with_little_memory(&connection, &text) > 0, "{text}");
        let explained = rows(&connection, &format!("EXPLAIN ANALYZE {text}")).concat();
        assert!(explained.contains("planned again"), "{text}");
    }
}

/// Which side is held is the planner's choice.
#[test]
fn conditions_on_other_tables_that_outgrow_the_memory_answer_the_same() {
    let connection = connection();
    let exists =
        format!("EXISTS (SELECT 1 FROM {FEW} b WHERE a.id < b.id AND length(a.wide) > b.id)");
    for condition in
        [exists.clone(), format!("NOT {exists}"), format!("{exists} OR a.id % 1000 = 0")]
    {
        let text =
            format!("SELECT count(*), sum(length(a.wide)) FROM {GROUPED} a WHERE {condition}");
        assert!(spilled_with_little_memory(&connection, &text) > 0, "{text}");
    }
    let text =
        format!("SELECT count(*), sum(length(a.wide) + b.id) FROM {GROUPED} a CROSS JOIN {FEW} b");
    assert!(spilled_with_little_memory(&connection, &text) > 0, "{text}");
}

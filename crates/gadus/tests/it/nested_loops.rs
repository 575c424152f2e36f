//! Joins without an equality whose tables turn out larger than the memory: they spill, with the same answers.

use crate::merge_joins::{LIMIT, connection, spilled};
use crate::statement::rows;
use gadus::Connection;

/// Large, grouped so that its rows come out of a repartitioning, which cannot be read twice.
const GROUPED: &str = "(SELECT i AS id, max(repeat('x', 900) || i) AS wide \
                        FROM generate_series(1, 100000) AS g(i) GROUP BY i)";

/// Of which the planner does not know how few they are.
const FEW: &str = "(SELECT unnest([1, 2, 3, 99998]) AS id)";

fn answers_the_same(connection: &Connection, text: &str) {
    connection.execute("RESET gadus.memory_limit", &[]).unwrap();
    let expected = rows(connection, text);
    connection.execute(LIMIT, &[]).unwrap();
    let before = spilled(connection);
    // The third run is that of a kept plan.
    for run in 1..=3 {
        assert_eq!(rows(connection, text), expected, "{text}, run {run}");
    }
    assert!(spilled(connection) > before, "{text}");
}

#[test]
fn joins_without_an_equality_that_outgrow_the_memory_answer_the_same() {
    let connection = connection();
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        answers_the_same(
            &connection,
            &format!(
                "SELECT count(*), sum(length(a.wide)), sum(b.id) FROM {GROUPED} a {join} {FEW} b ON a.id < b.id"
            ),
        );
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
        answers_the_same(
            &connection,
            &format!("SELECT count(*), sum(length(a.wide)) FROM {GROUPED} a WHERE {condition}"),
        );
    }
    let text =
        format!("SELECT count(*), sum(length(a.wide) + b.id) FROM {GROUPED} a CROSS JOIN {FEW} b");
    answers_the_same(&connection, &text);
}

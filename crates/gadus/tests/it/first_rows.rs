//! Sorts that keep their first rows, which turn out larger than the memory: they spill, with the same answers.

use crate::merge_joins::{LEFT, LIMIT, connection, spilled};
use crate::statement::rows;

#[test]
fn first_rows_that_outgrow_the_memory_answer_the_same() {
    let connection = connection();
    // Each of some 10 KB: a plan may hold some 6,000 of them.
    let texts = [
        format!("SELECT id, x, k, length(wide) FROM {LEFT} ORDER BY x DESC, wide, id LIMIT 7900"),
        format!("SELECT id, wide FROM {LEFT} ORDER BY x, id LIMIT 10 OFFSET 7890"),
    ];
    for text in texts {
        connection.execute("RESET gadus.memory_limit", &[]).unwrap();
        let (expected, before) = (rows(&connection, &text), spilled(&connection));
        connection.execute(LIMIT, &[]).unwrap();
        // The third run is that of a kept plan.
        for run in 1..=3 {
            assert_eq!(rows(&connection, &text), expected, "{text}, run {run}");
        }
        assert!(spilled(&connection) > before, "{text}");
    }
}

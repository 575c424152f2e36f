//! Joins with further conditions on pairs whose tables turn out larger than the memory: joined by partitions instead,
//! with the same answers.

use crate::merge_joins::{LEFT, LIMIT, RIGHT, connection, joined, one_sided, spilled};
use crate::statement::rows;
use gadus::Connection;
use gadus_base::Random;

/// Compares the answers with those without a limit. Returns what was spilled.
fn answers_the_same(connection: &Connection, text: &str, limit: &str, runs: u64) -> u64 {
    connection.execute("RESET gadus.memory_limit", &[]).unwrap();
    let expected = rows(connection, text);
    connection.execute(limit, &[]).unwrap();
    let before = spilled(connection);
    for run in 1..=runs {
        assert_eq!(rows(connection, text), expected, "{text}, {limit}, run {run}");
    }
    spilled(connection) - before
}

#[test]
fn joins_with_conditions_that_outgrow_the_memory_answer_the_same() {
    let connection = connection();
    let mut texts = Vec::new();
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        texts.push(joined(join, "a.k = b.k AND a.x < b.x"));
    }
    texts.push(joined("JOIN", "a.k = b.k AND a.wide < b.wide"));
    texts.push(joined("LEFT JOIN", "a.k = b.k AND a.id % 3 = b.id % 3 AND a.x < b.x"));
    texts.push(joined("FULL JOIN", "(a.k IS NOT DISTINCT FROM b.k) AND a.id % 900 < b.id % 40"));
    for text in texts {
        // The third run is that of a kept plan.
        let spilled = answers_the_same(&connection, &text, LIMIT, 3);
        assert!(spilled > 0, "{text}");
    }
}

/// What is spilled depends on which side the planner holds.
#[test]
fn semi_anti_and_mark_joins_that_outgrow_the_memory_answer_the_same() {
    let connection = connection();
    let exists = format!("EXISTS (SELECT 1 FROM {RIGHT} WHERE a.k = b.k AND a.wide < b.wide)");
    let within = format!("a.k IN (SELECT b.k FROM {RIGHT} WHERE a.wide < b.wide)");
    let conditions = [
        exists.clone(),
        format!("NOT {exists}"),
        format!("{exists} OR a.id % 5 = 0"),
        format!("NOT {exists} OR a.x > 100"),
        format!("{within} OR a.id % 5 = 0"),
    ];
    let mut spilled = 0;
    for condition in conditions {
        spilled += answers_the_same(&connection, &one_sided(&condition), LIMIT, 3);
    }
    assert!(spilled > 0);
}

/// Rows whose key is NULL match nothing, and are spread over all partitions, however many they are.
#[test]
fn a_join_of_rows_that_mostly_have_no_key_spills() {
    let connection = connection();
    let text = joined("LEFT JOIN", "CASE WHEN a.id % 10 = 0 THEN a.k END = b.k AND a.x < b.x");
    assert!(answers_the_same(&connection, &text, LIMIT, 1) > 0);
}

/// No division helps where one key has most rows of one side: they are joined by blocks.
#[test]
fn joins_of_rows_that_mostly_have_one_key_answer_the_same() {
    let connection = connection();
    let one = |of: &str| format!("CASE WHEN {of} THEN 1 ELSE");
    let keys = [one("a.id % 100 > 0") + " a.id END", one("b.id % 50 = 0") + " b.id END"];
    let keys = keys.join(" = ");
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        let text = joined(join, &format!("{keys} AND a.id < b.x - 900"));
        assert!(answers_the_same(&connection, &text, LIMIT, 2) > 0, "{text}");
    }
}

/// One NULL on the right decides about all rows on the left; none leaves those that have a key.
#[test]
fn not_in_of_values_that_may_be_null_answers_the_same() {
    let connection = connection();
    for condition in ["id % 2 = 0", "id % 2 = 0 AND wide IS NOT NULL", "id < 0"] {
        let wide = "CASE WHEN a.id % 7 > 0 THEN a.wide END";
        let text = format!("{wide} NOT IN (SELECT wide FROM {RIGHT} WHERE {condition})");
        answers_the_same(&connection, &one_sided(&text), LIMIT, 2);
    }
}

#[test]
fn random_joins_answer_the_same_within_any_limit() {
    let connection = connection();
    let mut random = Random::seeded(11);
    let mut pick = |of: &[&str]| {
        let picked = usize::try_from(random.below(of.len() as u64)).unwrap();
        of[picked].to_owned()
    };
    let mut spilled = 0;
    for _ in 0..24 {
        let keys = pick(&[
            "a.k = b.k",
            "a.id = b.id",
            "a.k = b.k AND a.id % 2 = b.id % 2",
            "((a.k % 3000) IS NOT DISTINCT FROM (b.k % 3000))",
            "a.wide = b.wide AND a.id % 2000 = b.id % 2000",
        ]);
        let condition = pick(&[
            "a.x < b.x",
            "a.wide < b.wide",
            "a.x IS DISTINCT FROM b.x",
            "(length(a.wide) + a.id > length(b.wide) + b.x)",
            "coalesce(a.k + b.k, 7) % 7 <> 3",
        ]);
        let on = format!("{keys} AND {condition}");
        let text = match pick(&["", "", "EXISTS", "NOT EXISTS", "EXISTS OR"]).as_str() {
            "" => joined(&pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]), &on),
            exists => {
                let (exists, or) = match exists.strip_suffix(" OR") {
                    Some(exists) => (exists, " OR a.id % 7 = 1"),
                    None => (exists, ""),
                };
                one_sided(&format!("{exists} (SELECT 1 FROM {RIGHT} WHERE {on}){or}"))
            }
        };
        let limit = pick(&["1MiB", "3MiB", "9MiB"]);
        let limit = format!("SET gadus.memory_limit = '{limit}'");
        spilled += answers_the_same(&connection, &text, &limit, 1);
    }
    assert!(spilled > 0);
}

#[test]
fn rows_that_are_written_come_once_from_joins_by_partitions() {
    let connection = connection();
    let from = format!("FROM {LEFT} LEFT JOIN {RIGHT} ON a.k = b.k AND a.x < b.x");
    let count = rows(&connection, &format!("SELECT count(*) {from}"));
    connection.execute("CREATE TABLE t (a BIGINT, b BIGINT, w BIGINT)", &[]).unwrap();
    connection.execute(LIMIT, &[]).unwrap();
    let before = spilled(&connection);
    let insert = format!("INSERT INTO t SELECT a.id, b.id, length(a.wide) + length(b.wide) {from}");
    let written = connection.execute(&insert, &[]).unwrap();
    assert_eq!([written.to_string()], *count);
    assert!(spilled(&connection) > before);
    assert_eq!(rows(&connection, "SELECT count(*) FROM (SELECT DISTINCT a, b FROM t) d"), count);
}

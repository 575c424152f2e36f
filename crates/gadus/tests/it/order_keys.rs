//! Values that are compared by a key of theirs: the same statements about the values and about numbers in their order
//! give the same rows.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Options};
use gadus_base::Random;

const MONTH: i64 = 30 * DAY;
const DAY: i64 = 24 * HOUR;
const HOUR: i64 = 3600;

/// What compares `v`, and gives no `v`.
const STATEMENTS: &[&str] = &[
    "SELECT a.k, b.k FROM t a, t b WHERE a.v = b.v ORDER BY a.k, b.k",
    "SELECT a.k, b.k FROM t a, t b WHERE a.v <> b.v AND a.k < 9 ORDER BY a.k, b.k",
    "SELECT a.k, b.k FROM t a, t b WHERE a.v < b.v AND a.k < 9 ORDER BY a.k, b.k",
    "SELECT a.k, b.k FROM t a, t b WHERE a.v >= b.v AND b.k < 9 ORDER BY a.k, b.k",
    "SELECT a.k, b.k FROM t a, t b WHERE a.v IS NOT DISTINCT FROM b.v ORDER BY a.k, b.k",
    "SELECT a.k, b.k FROM t a, t b WHERE a.v BETWEEN b.v AND b.v ORDER BY a.k, b.k",
    "SELECT a.k, count(b.k) FROM t a LEFT JOIN t b ON a.v = b.v AND b.k < a.k GROUP BY a.k ORDER BY a.k",
    "SELECT count(*) FROM t a FULL JOIN (SELECT * FROM t WHERE k < 20) b USING (v)",
    "SELECT count(*) FROM t a NATURAL JOIN (SELECT v FROM t WHERE k < 20) b",
    "SELECT k FROM t WHERE v IN (SELECT v FROM t WHERE k < 7) ORDER BY k",
    "SELECT k FROM t WHERE v NOT IN (SELECT v FROM t WHERE k < 7 AND v IS NOT NULL) ORDER BY k",
    "SELECT k FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE a.v = b.v AND b.k < 7) ORDER BY k",
    "SELECT k FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE a.v > b.v) ORDER BY k",
    "SELECT k FROM t a WHERE v >= ALL (SELECT v FROM t WHERE k < 7 AND v IS NOT NULL) ORDER BY k",
    "SELECT k FROM t a WHERE v < ANY (SELECT v FROM t WHERE k < 7) ORDER BY k",
    "SELECT k FROM t WHERE v = (SELECT v FROM t WHERE k = 3) ORDER BY k",
    "SELECT k, v IN (SELECT v FROM t WHERE k < 7) FROM t ORDER BY k",
    "SELECT k, v > (SELECT v FROM t WHERE k = 3) FROM t ORDER BY k",
    "SELECT k FROM t WHERE v = (SELECT max(v) FROM t) ORDER BY k",
    "SELECT k FROM t WHERE v = (SELECT min(v) FROM t WHERE k > 5) ORDER BY k",
    "SELECT max(v) = min(v), max(v) IS NULL, count(v), count(DISTINCT v) FROM t",
    "SELECT max(v) IS NULL FROM t WHERE k < 0",
    "SELECT g, (SELECT count(*) FROM t WHERE v = high), (SELECT count(*) FROM t WHERE v < low) FROM (SELECT k % 3 AS g, max(v) AS high, min(v) AS low FROM t GROUP BY k % 3) AS u ORDER BY g",
    "SELECT k FROM t ORDER BY v, k",
    "SELECT k FROM t ORDER BY v DESC NULLS LAST, k LIMIT 10",
    "SELECT k FROM t ORDER BY v NULLS FIRST, k DESC OFFSET 3",
    "SELECT count(*) AS n, min(k) AS least FROM t GROUP BY v ORDER BY v",
    "SELECT count(*) AS n, min(k) AS least FROM t GROUP BY v HAVING max(v) > (SELECT v FROM t WHERE k = 4) ORDER BY least",
    "SELECT k % 2, count(*), min(k) AS least FROM t GROUP BY v, k % 2 ORDER BY v, 1",
    "SELECT v IS NULL, count(*), min(k) AS least FROM t GROUP BY ROLLUP (v) ORDER BY least, 2",
    "SELECT v IS NULL, k % 2, count(*), min(k) AS least FROM t GROUP BY CUBE (v, k % 2) ORDER BY least, 3, 2",
    "SELECT grouping(v), count(*), min(k) FROM t GROUP BY GROUPING SETS ((v), ()) ORDER BY 1, 3",
    "SELECT count(*) FROM (SELECT DISTINCT v FROM t) AS u",
    "SELECT count(*) FROM (SELECT DISTINCT v, k % 2 FROM t) AS u",
    "SELECT k FROM (SELECT DISTINCT ON (v) k, v FROM t ORDER BY v, k) AS u ORDER BY v",
    "SELECT count(*) FROM (SELECT v FROM t WHERE k < 30 UNION SELECT v FROM t WHERE k > 20) AS u",
    "SELECT count(*) FROM (SELECT v FROM t WHERE k < 20 INTERSECT SELECT v FROM t WHERE k > 20) AS u",
    "SELECT count(*) FROM (SELECT v FROM t EXCEPT SELECT v FROM t WHERE k > 20) AS u",
    "SELECT k, rank() OVER (ORDER BY v), dense_rank() OVER (ORDER BY v DESC) FROM t ORDER BY k",
    "SELECT k, count(*) OVER (PARTITION BY v), sum(k) OVER (PARTITION BY v ORDER BY k) FROM t ORDER BY k",
    "SELECT k, count(*) OVER (ORDER BY v) FROM t ORDER BY k",
    "SELECT k, v = max(v) OVER (), v = min(v) OVER (PARTITION BY k % 3) FROM t ORDER BY k",
    "SELECT k, v < max(v) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING) FROM t ORDER BY k",
    "SELECT k, first_value(k) OVER (ORDER BY v, k), lead(k) OVER (ORDER BY v, k) FROM t ORDER BY k",
    "SELECT string_agg(CAST(k AS TEXT), ',' ORDER BY v, k) FROM t",
    "SELECT first_value(k ORDER BY v DESC NULLS LAST, k) FROM t",
    "SELECT k, CASE v WHEN (SELECT v FROM t WHERE k = 3) THEN 1 WHEN (SELECT v FROM t WHERE k = 4) THEN 2 ELSE 3 END FROM t ORDER BY k",
    "SELECT a.k, greatest(a.v, b.v) = a.v, least(a.v, b.v) < a.v FROM t a, t b WHERE b.k = 3 ORDER BY a.k",
    "SELECT a.k, nullif(a.v, b.v) IS NULL FROM t a, t b WHERE b.k = 3 ORDER BY a.k",
    "SELECT a.k, count(*) FROM t a JOIN LATERAL (SELECT 1 FROM t b WHERE b.v < a.v) AS u ON TRUE GROUP BY a.k ORDER BY a.k",
    "WITH u AS (SELECT v, count(*) AS n FROM t GROUP BY v) SELECT t.k, u.n FROM t JOIN u ON t.v = u.v ORDER BY t.k",
    "SELECT k FROM t ORDER BY CASE WHEN k % 2 = 0 THEN v END, k",
    "SELECT k FROM t ORDER BY coalesce(v, (SELECT v FROM t WHERE k = 3)), k",
    "SELECT k, v > lag(v) OVER (ORDER BY k) FROM t ORDER BY k",
    "SELECT k, v >= first_value(v) OVER (PARTITION BY k % 3 ORDER BY k) FROM t ORDER BY k",
    "SELECT g FROM (SELECT k % 5 AS g, min(v) AS low, max(v) AS high, first_value(v ORDER BY k) AS one FROM t GROUP BY k % 5) AS u WHERE low < one AND high >= one ORDER BY g",
    "SELECT k % 5, count(*) FROM t GROUP BY k % 5 HAVING min(v) < max(v) ORDER BY min(v), max(v), 1",
    "SELECT k FROM (SELECT k, v FROM t WHERE k < 20 UNION ALL SELECT k, v FROM t WHERE k >= 20) AS u ORDER BY v, k",
];

/// A table `t` of numbers and one of values in their order give the same.
fn same_rows(values: &Connection, numbers: &Connection) {
    for statement in STATEMENTS {
        let by_numbers = rows(numbers, statement);
        assert!(!by_numbers.is_empty(), "{statement}");
        assert_eq!(rows(values, statement), by_numbers, "{statement}");
    }
}

/// A database with a table `t` of a key and values.
fn with_table(before: &str, of: &str, values: impl Iterator<Item = String>) -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    if !before.is_empty() {
        run(&connection, before);
    }
    run(&connection, &format!("CREATE TABLE t (k INTEGER, v {of})"));
    for (k, value) in values.enumerate() {
        run(&connection, &format!("INSERT INTO t VALUES ({k}, {value})"));
    }
    connection
}

#[test]
fn labels_are_compared_by_their_places() {
    let labels = ["small", "medium", "large", "x-large", "'", "", "Small"];
    let mut random = Random::seeded(8);
    let mut place = || usize::try_from(random.below(labels.len() as u64)).unwrap();
    let places = (0..40).map(|k| (k % 8 != 7).then(&mut place));
    let places = places.collect::<Vec<_>>();
    let quoted = labels.map(|label| format!("'{}'", label.replace('\'', "''")));
    let label = |place: &Option<usize>| place.map_or("NULL".to_owned(), |p| quoted[p].clone());
    let number = |place: &Option<usize>| place.map_or("NULL".to_owned(), |p| p.to_string());
    let made = format!("CREATE TYPE size AS ENUM ({})", quoted.join(", "));
    let values = with_table(&made, "size", places.iter().map(label));
    let numbers = with_table("", "INTEGER", places.iter().map(number));
    same_rows(&values, &numbers);
    for (condition, number) in [
        ("v > 'medium'", "v > 1"),
        ("'medium' >= v", "1 >= v"),
        ("v BETWEEN 'medium' AND 'x-large' AND k > 3", "v BETWEEN 1 AND 3 AND k > 3"),
        ("v < 'large'::size OR k = 1", "v < 2 OR k = 1"),
        ("v >= greatest('small', 'large'::size)", "v >= 2"),
    ] {
        let found = rows(&values, &format!("SELECT k FROM t WHERE {condition} ORDER BY k"));
        let expected = rows(&numbers, &format!("SELECT k FROM t WHERE {number} ORDER BY k"));
        assert_eq!(found, expected, "{condition}");
    }
    let least = rows(
        &values,
        "SELECT min(v), max(v), least(min(v), 'large') FROM t WHERE v > 'small' AND v < ''",
    );
    assert_eq!(least, ["medium ' medium"]);
    let refused = refused(&values, "SELECT k FROM t WHERE v < 'huge'").to_string();
    assert!(refused.contains("invalid input value for enum size: \"huge\""), "{refused}");
    let others = "SELECT k FROM t WHERE v < ANY (SELECT 'huge')";
    let message = crate::statement::refused(&values, others).to_string();
    assert!(message.contains("invalid input value for enum size: \"huge\""), "{message}");
    run(&values, "CREATE INDEX by_size ON t (v)");
    same_rows(&values, &numbers);
}

#[test]
fn intervals_are_compared_by_their_length() {
    let mut random = Random::seeded(7);
    let mut some = |most: u64| i64::try_from(random.below(2 * most + 1)).unwrap() - most as i64;
    let parts =
        (0..40).map(|k| (k % 8 != 7).then(|| (some(1), some(2) + 30 * some(1), 12 * some(4))));
    let parts = parts.collect::<Vec<_>>();
    let interval = |parts: &Option<(i64, i64, i64)>| match parts {
        Some((months, days, hours)) => {
            format!("INTERVAL '{months} months {days} days {hours} hours'")
        }
        None => "NULL".to_owned(),
    };
    let number = |parts: &Option<(i64, i64, i64)>| match parts {
        Some((months, days, hours)) => (months * MONTH + days * DAY + hours * HOUR).to_string(),
        None => "NULL".to_owned(),
    };
    let values = with_table("", "INTERVAL", parts.iter().map(interval));
    let numbers = with_table("", "BIGINT", parts.iter().map(number));
    same_rows(&values, &numbers);
}

#[test]
fn what_intervals_are_is_given_back_as_it_was() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(
        &connection,
        "CREATE VIEW t AS SELECT * FROM (VALUES (1, INTERVAL '1 day'), (2, INTERVAL '24 hours'), (3, INTERVAL '30 days'), (4, INTERVAL '1 month')) AS t(k, i)",
    );
    let parts = "extract(month FROM i), extract(day FROM i), extract(hour FROM i)";
    let days = rows(
        &connection,
        &format!("SELECT {parts} FROM (SELECT max(i) AS i FROM t WHERE k < 3) AS u"),
    );
    assert_eq!(days, ["0 1 0"]);
    let months = rows(
        &connection,
        &format!("SELECT {parts} FROM (SELECT i FROM t WHERE k > 3 GROUP BY i) AS u"),
    );
    assert_eq!(months, ["1 0 0"]);
    let two = rows(&connection, "SELECT count(*) FROM (SELECT DISTINCT i FROM t) AS u");
    assert_eq!(two, ["2"]);
    let both = rows(&connection, "SELECT cardinality(array_agg(DISTINCT i)) FROM t");
    assert_eq!(both, ["2"]);
}

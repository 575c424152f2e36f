//! Literals are lifted where they are plain, and nowhere else.

use super::shape_of;
use crate::value::Value;

#[test]
fn literals_become_parameters() {
    let shape = shape_of("SELECT  v FROM t1\nWHERE id = 42 AND n = 'it''s' AND d < 1.50").unwrap();
    assert_eq!(shape.text, "SELECT v FROM t1 WHERE id = $1 AND n = $2 AND d < $3");
    assert_eq!(
        shape.literals,
        [Value::Integer(42), Value::Text("it's".into()), Value::Decimal(150, 2)]
    );
}

#[test]
fn types_before_literals_are_lifted_with_them() {
    let shape = shape_of(
        "SELECT v FROM t WHERE d >=DATE '2024-02-29' AND (timestamp  '1970-01-01 00:00:01.5') < s",
    );
    let shape = shape.unwrap();
    assert_eq!(shape.text, "SELECT v FROM t WHERE d >=$1 AND ($2) < s");
    assert_eq!(shape.literals, [Value::Date(19_782), Value::Timestamp(1_500_000)]);
    // A name that ends like a type, and what is no date.
    assert_eq!(shape_of("SELECT update 'x'").unwrap().text, "SELECT update $1");
    for text in ["SELECT DATE 'today'", "SELECT TIMESTAMP '2024-02-29 12:00:00Z'"] {
        assert_eq!(shape_of(text), None, "{text}");
    }
}

#[test]
fn texts_with_their_own_parameters_or_comments_keep_their_shape() {
    for text in
        ["SELECT $1", "SELECT ?", "SELECT 1 -- 2", "SELECT E'\\n'", "SELECT 1e5", "SELECT 'a"]
    {
        assert_eq!(shape_of(text), None, "{text}");
    }
}

#[test]
fn numbers_that_name_columns_stay() {
    let shape = shape_of(
        "SELECT a, b FROM t WHERE a IN (1, 2) GROUP BY 1, a, 2 ORDER BY 2 DESC, 1 LIMIT 10",
    );
    let shape = shape.unwrap();
    let expected =
        "SELECT a, b FROM t WHERE a IN ($1, $2) GROUP BY 1, a, 2 ORDER BY 2 DESC, 1 LIMIT $3";
    assert_eq!(shape.text, expected);
    assert_eq!(shape_of("SELECT a by, 1 FROM t").unwrap().text, "SELECT a by, 1 FROM t");
    assert_eq!(shape_of("SELECT by FROM t OFFSET 3").unwrap().text, "SELECT by FROM t OFFSET $1");
}

#[test]
fn names_keep_their_digits_and_quotes() {
    let shape = shape_of("SELECT \"a 1\", t1.c2 FROM é3").unwrap();
    assert_eq!(shape.text, "SELECT \"a 1\", t1.c2 FROM é3");
    assert!(shape.literals.is_empty());
}

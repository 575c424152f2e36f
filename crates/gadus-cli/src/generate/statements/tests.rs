//! Statements and joins are made of shapes and values as they stand there.

use super::*;

#[test]
fn values_stand_where_their_columns_are_named() {
    let row = ["one".to_owned(), "O'Hara".to_owned()];
    assert_eq!(filled("a = '{1}' AND b LIKE '{0:2}%'", &row), "a = 'O''Hara' AND b LIKE 'on%'");
}

fn sample() -> Sample {
    Sample(vec![(0..19).map(|column| format!("v{column}")).collect()])
}

#[test]
fn a_batch_has_each_statement_once_in_the_join_of_its_shape() {
    let sample = sample();
    let statements = Statements::drawn_from(&sample, 0, 30);
    let joins = statements.batched(20, 20);
    assert_eq!(joins.len(), QUERIES.len());
    // From 20 to 29, then from the first again: 24 and 0 have the first shape, 21 and 9 the tenth.
    assert!(joins[0].contains("VALUES (24, v7), (0, v7))"), "{}", joins[0]);
    assert!(joins[9].contains("(21, DATE 'v10', 'v11'), (9, DATE"), "{}", joins[9]);
    assert_eq!(statements.batched(3, 1).len(), 1);
}

#[test]
fn an_update_comes_after_so_many_queries() {
    let sample = sample();
    let statements = Statements::drawn_from(&sample, 2, 9);
    let updates = (0..9).filter(|&place| statements.is_update(place)).collect::<Vec<_>>();
    assert_eq!(updates, [2, 5, 8]);
    assert!(statements.texts[2].starts_with("UPDATE bookings SET status"));
    assert!(statements.texts[3].starts_with("SELECT count(*), sum(fare_cents)"));
    let joins = statements.batched(0, 9);
    assert!(
        joins.iter().any(|join| join.contains("VALUES (8, 'v14', TIMESTAMP 'v1'")),
        "{joins:?}"
    );
}

#[test]
fn a_shape_is_told_by_its_condition() {
    assert_eq!(Statements::condition(0), "passenger_id = ?");
    assert_eq!(Statements::condition(4), "birth_date = ? AND last_name LIKE ?%");
    assert_eq!(Statements::condition(10), "booked_at BETWEEN ? AND ? AND origin = ?");
    let several = "passenger_id IN (?, ?, ?) AND departure_date >= ?";
    assert_eq!(Statements::condition(11), several);
}

//! Statements and joins are made of shapes and values as they stand there.

use super::*;

#[test]
fn values_stand_where_their_columns_are_named() {
    let row = ["one".to_owned(), "O'Hara".to_owned()];
    assert_eq!(filled("a = '{1}' AND b LIKE '{0:2}%'", &row), "a = 'O''Hara' AND b LIKE 'on%'");
}

#[test]
fn a_batch_has_each_statement_once_in_the_join_of_its_shape() {
    let sample = vec![(0..19).map(|column| format!("v{column}")).collect()];
    let statements = Statements { texts: vec![String::new(); 30], places: vec![0; 30], sample };
    let joins = statements.batched(20, 20);
    assert_eq!(joins.len(), SHAPES.len());
    // From 20 to 29, then from the first again: 24 and 0 have the first shape, 21 and 9 the tenth.
    assert!(joins[0].contains("VALUES (24, v7), (0, v7))"), "{}", joins[0]);
    assert!(joins[9].contains("(21, DATE 'v10', 'v11'), (9, DATE"), "{}", joins[9]);
    assert_eq!(statements.batched(3, 1).len(), 1);
}

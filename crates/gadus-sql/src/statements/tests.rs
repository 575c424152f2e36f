//! Shapes, and what is remembered of them.

use super::*;

fn shape(text: &str) -> String {
    Shape::of(text, false).text
}

#[test]
fn values_do_not_stand_in_shapes() {
    assert_eq!(shape("SELECT  a FROM t WHERE b = 7 ;"), "SELECT a FROM t WHERE b = $1");
    assert_eq!(
        shape("SELECT a /* why */ FROM t WHERE b = $1 AND c = E'x\\n' -- so"),
        "SELECT a FROM t WHERE b = $1 AND c = ?"
    );
    assert_eq!(shape("ALTER USER ann PASSWORD 'secret'"), "ALTER USER ann PASSWORD $1");
    assert_eq!(shape("ALTER USER ann PASSWORD $$secret$$"), "ALTER USER ann PASSWORD ?");
    let long = format!("INSERT INTO t VALUES (1, 'secret'){}", ", (2, 'more')".repeat(2_000));
    assert_eq!(shape(&long), "INSERT INTO t VALUES ( …");
}

#[test]
fn texts_of_one_shape_are_counted_together() {
    let statements = Statements::default();
    let cost = |rows| Cost { rows, time: Duration::from_millis(rows), ..Cost::default() };
    statements.of("SELECT 1", false).add(cost(1));
    statements.of("SELECT  2", false).add(cost(3));
    statements.of("SELECT $1", true).add(cost(10));
    let costs = statements.costs();
    let [first] = &costs[..] else { panic!("{costs:?}") };
    assert_eq!((&*first.statement, first.calls, first.rows), ("SELECT $1", 3, 14));
    assert_eq!(first.time_max, Duration::from_millis(10));
    assert!(statements.find("SELECT 5", false).is_some());
    assert!(statements.find("SELECT a", false).is_none());
}

#[test]
fn those_that_come_least_often_are_forgotten_first() {
    let statements = Statements::default();
    let often = statements.of("SELECT often", false);
    (0..2).for_each(|_| often.add(Cost::default()));
    for number in 0..SHAPES_MAX {
        statements.of(&format!("SELECT column_{number}"), false).add(Cost::default());
    }
    let costs = statements.costs();
    assert!(costs.len() < SHAPES_MAX, "{}", costs.len());
    assert!(costs.iter().any(|cost| &*cost.statement == "SELECT often"));
}

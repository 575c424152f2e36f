//! Shapes, and what is remembered of them.

use super::*;
use crate::shape::shape_of;

fn shape(text: &str) -> String {
    let shape = shape_of(text);
    Counted { text, shape: shape.as_ref() }.shown().text.into_owned()
}

impl Statements {
    fn of_text(&self, text: &str) -> Arc<Totals> {
        self.of(Counted { text, shape: shape_of(text).as_ref() })
    }

    fn find_text(&self, text: &str) -> Option<Arc<Totals>> {
        self.find(Counted { text, shape: shape_of(text).as_ref() })
    }
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
    statements.of_text("SELECT 1").add(cost(1));
    statements.of_text("SELECT  2").add(cost(3));
    statements.of_text("SELECT $1").add(cost(10));
    let costs = statements.costs();
    let [first] = &costs[..] else { panic!("{costs:?}") };
    assert_eq!((&*first.statement, first.calls, first.rows), ("SELECT $1", 3, 14));
    assert_eq!(first.time_max, Duration::from_millis(10));
    assert!(statements.find_text("SELECT 5").is_some());
    assert!(statements.find_text("SELECT a").is_none());
}

#[test]
fn those_that_come_least_often_are_forgotten_first() {
    let statements = Statements::default();
    let often = statements.of_text("SELECT often");
    (0..2).for_each(|_| often.add(Cost::default()));
    for number in 0..SHAPES_MAX {
        statements.of_text(&format!("SELECT column_{number}")).add(Cost::default());
    }
    let costs = statements.costs();
    assert!(costs.len() < SHAPES_MAX, "{}", costs.len());
    assert!(costs.iter().any(|cost| &*cost.statement == "SELECT often"));
}

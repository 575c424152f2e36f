//! The pass finds what Gadus answers.

use gadus::{Database, Options};

use super::index::{Filter, first_hash};
use super::pass::CHUNK_ROWS;
use super::*;
use crate::commands::bench::workplace::bookings;
use crate::interrupt::Interrupt;
use crate::load::{BATCH_ROWS, load};

const ROWS: u64 = 20_000;

fn filled() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    load(&connection, bookings(ROWS).into_table(BATCH_ROWS), &Interrupt::default()).unwrap();
    connection
}

#[test]
fn counts_and_sums_are_those_that_gadus_answers_to_every_shape() {
    let connection = filled();
    let sample = Sample::of(&connection).unwrap();
    let bare = Bare::load(ROWS, &sample).unwrap();
    // An update between every two queries; each shape comes several times.
    let statements = Statements::drawn_from(&sample, 1, 200);
    let totals = bare.answer(&statements, 0, 200);
    for (text, total) in statements.texts.iter().zip(&totals) {
        connection.execute("BEGIN", &[]).unwrap();
        let outcome = connection.submit(text, &[]).wait().unwrap();
        let answer = Answer::of(outcome, text).unwrap();
        connection.execute("ROLLBACK", &[]).unwrap();
        assert!(answer.agrees_with(*total), "{total:?} {answer:?}: {text}");
    }
    for shape in 0..crate::generate::statements::SHAPES {
        let of_shape = (0..200).filter(|&place| statements.drawn(place).0 == shape);
        assert!(of_shape.map(|place| totals[place].count).sum::<u64>() > 0, "shape {shape}");
    }
}

#[test]
fn a_batch_may_go_round_and_have_statements_twice() {
    let connection = filled();
    let sample = Sample::of(&connection).unwrap();
    let bare = Bare::load(ROWS, &sample).unwrap();
    let statements = Statements::drawn_from(&sample, 0, 24);
    let totals = bare.answer(&statements, 12, 36);
    assert_eq!(totals.len(), 36);
    assert_eq!(totals[..12], totals[24..]);
    bare.check(&connection, &statements, 24).unwrap();
}

#[test]
fn filters_of_both_sizes_let_pass_what_they_have_and_few_others() {
    for keys in [10, 100_000] {
        let has = (0..keys).map(first_hash).collect::<Vec<_>>();
        let filter = Filter::of(has.iter().copied(), has.len());
        let mut passed = [0; CHUNK_ROWS];
        assert_eq!(filter.select(&has[..10], &mut passed), 10);
        assert_eq!(passed[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let others = (keys..keys + 1000).map(first_hash).collect::<Vec<_>>();
        assert!(filter.select(&others, &mut passed) < 300, "{keys} keys");
    }
}

//! The queries are whole, and Gadus answers them.

use std::collections::BTreeSet;

use gadus::{Database, Options};
use gadus_base::Random;

use super::super::tables;
use super::{QUERIES, Query, TEMPLATES, stream, validation};
use crate::interrupt::Interrupt;
use crate::load::{BATCH_ROWS, load};

/// The smallest at which primary keys hold.
const SCALE_FACTOR: f64 = 0.01;

fn seeded(seed: u64) -> Vec<Query> {
    stream(Random::seeded(seed), QUERIES, SCALE_FACTOR)
}

fn numbers(stream: &[Query]) -> Vec<u8> {
    stream.iter().map(|query| query.number).collect()
}

#[test]
fn there_are_22_and_every_parameter_has_a_value() {
    assert_eq!(TEMPLATES.len(), usize::from(QUERIES));
    for query in validation(SCALE_FACTOR).chain((0..50).flat_map(seeded)) {
        assert!(query.text.starts_with("SELECT") || query.text.starts_with("WITH"));
        assert!(!query.text.contains(['[', ']', ';']), "{}", query.text);
    }
}

#[test]
fn a_stream_is_a_permutation_that_its_seed_repeats() {
    let mut orders = BTreeSet::new();
    for seed in 0..50 {
        let stream = seeded(seed);
        assert_eq!(stream, seeded(seed));
        let mut sorted = numbers(&stream);
        orders.insert(sorted.clone());
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=QUERIES).collect::<Vec<_>>());
    }
    assert_eq!(orders.len(), 50);
}

#[test]
fn a_shorter_stream_repeats_no_query() {
    for count in 1..=QUERIES {
        let numbers = numbers(&stream(Random::seeded(7), count, SCALE_FACTOR));
        assert_eq!(numbers.len(), usize::from(count));
        assert_eq!(BTreeSet::from_iter(numbers).len(), usize::from(count));
    }
}

#[test]
fn gadus_answers_all_queries_with_and_without_sharing() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    for table in tables(SCALE_FACTOR, BATCH_ROWS) {
        load(&connection, table, &Interrupt::default()).unwrap();
    }
    for sharing in ["always", "never"] {
        connection.execute(&format!("SET gadus.sharing = {sharing}"), &[]).unwrap();
        for Query { number, text } in validation(SCALE_FACTOR).chain(seeded(1)) {
            let answered = connection.query(&text, &[]).and_then(gadus::Rows::collect_batches);
            assert!(answered.is_ok(), "query {number}, sharing {sharing}: {answered:?}");
        }
    }
}

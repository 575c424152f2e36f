//! The 22 queries of TPC-H as text, with their parameters put in.
//!
//! - One text for Gadus and for its peers.
//! - Queries are numbered from 1, as in the specification.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use gadus_base::Random;

use super::parameters::{self, Draw, Parameters};

/// How many queries there are.
pub(crate) const QUERIES: u8 = 22;

/// Each query begins with a line of this, its number, a colon and its name.
const MARKER: &str = "-- Query ";

const TEXTS: &str = include_str!("queries.sql");

/// The texts with the names of their parameters, in the order of their numbers.
static TEMPLATES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let marked = TEXTS.split(MARKER).skip(1);
    marked.filter_map(|part| part.split_once('\n')).map(|(_, text)| text.trim()).collect()
});

/// A query that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) number: u8,
    pub(crate) text: String,
}

/// All queries in their order, with the values by which the specification validates answers.
pub(crate) fn validation(scale_factor: f64) -> impl Iterator<Item = Query> {
    (1..=QUERIES).map(move |number| query(number, &parameters::validation(number, scale_factor)))
}

/// A stream: so many different queries in an order of its own, with parameters of its own.
pub(crate) fn stream(random: Random, count: u8, scale_factor: f64) -> Vec<Query> {
    let mut draw = Draw::new(random);
    let order = draw.distinct(1, u64::from(QUERIES), usize::from(count));
    let number = |drawn: u64| u8::try_from(drawn).expect("there are 22");
    let drawn = |number| query(number, &parameters::drawn(number, &mut draw, scale_factor));
    order.into_iter().map(number).map(drawn).collect()
}

fn query(number: u8, parameters: &Parameters) -> Query {
    let mut text = TEMPLATES[usize::from(number) - 1].to_owned();
    for (name, value) in parameters {
        text = text.replace(&format!("[{name}]"), value);
    }
    Query { number, text }
}

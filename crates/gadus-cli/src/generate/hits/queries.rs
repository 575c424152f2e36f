//! The 43 queries of ClickBench, one text for Gadus and for its peers.
//!
//! - Numbered from 1, in the order in which ClickBench lists them.

/// How many queries there are.
pub(crate) const QUERIES: u8 = 43;

const TEXTS: &str = include_str!("queries.sql");

/// A query that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) number: u8,
    pub(crate) text: &'static str,
}

/// All queries in their order.
pub(crate) fn all() -> impl Iterator<Item = Query> {
    let texts = TEXTS.lines().filter(|line| !line.starts_with("--"));
    (1..=QUERIES)
        .zip(texts)
        .map(|(number, text)| Query { number, text: text.trim_end_matches(';') })
}

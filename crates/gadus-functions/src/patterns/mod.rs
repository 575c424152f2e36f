//! Regular expressions with PostgreSQL's grammar and its choice of matches, in linear time.
//!
//! - `syntax` reads a pattern, `matcher` finds where matches end, `plan` and `dissect` find captures.
//! - A match is the leftmost one, then the longest or shortest, as the pattern prefers. The automata of
//!   `regex-automata` see all ends; their own choice among matches is Perl's, and is not used.
//! - Back references and lookaround are refused: they take more than linear time.

mod brackets;
mod classes;
mod dissect;
mod element_names;
mod escapes;
mod expression;
mod matcher;
mod options;
mod pattern;
mod plan;
mod replace;
mod search;
mod similar;
mod syntax;
mod syntax_error;
#[cfg(test)]
mod tests;

pub use replace::{regexp_replace, regexp_replace_by_flags};
pub use search::{
    Search, regexp_count, regexp_instr, regexp_like, regexp_match, regexp_matches, regexp_split,
    regexp_substr, substring,
};
pub use similar::similar_to_escape;

//! SQL's language of paths in documents: `$.a[*] ? (@.b > 1)`.
//!
//! - `lexer` and `parse` read a path as a tree, `run` follows it, `predicates` decides conditions.
//! - Arithmetic, `.datetime()` and `.keyvalue()` are refused with 0A000.

mod lexer;
mod parse;
mod predicates;
mod run;

pub use run::{
    JsonPath, jsonb_path_exists, jsonb_path_match, jsonb_path_query, jsonb_path_query_array,
};

use super::value::Value;

/// Path with its mode.
#[derive(Debug, Clone)]
struct Path {
    /// True for `strict`: what is not there is an error, and arrays are not unwrapped.
    is_strict: bool,
    expression: Expression,
}

/// Expression that gives a sequence of values.
#[derive(Debug, Clone)]
enum Expression {
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    /// `$name`
    Variable(String),
    Literal(Value),
    Steps(Box<Expression>, Vec<Step>),
    Predicate(Box<Predicate>),
}

/// Step of a path.
#[derive(Debug, Clone)]
enum Step {
    /// `.key`
    Key(String),
    /// `.*`
    AnyKey,
    /// `.**`, between two levels.
    AnyLevel(u32, u32),
    /// `[*]`
    AnyElement,
    /// `[1, 2 to last]`
    Elements(Vec<(Expression, Option<Expression>)>),
    /// `?(…)`
    Filter(Predicate),
    /// `.type()` and the like.
    Method(Method),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Abs,
    Ceiling,
    Double,
    Floor,
    Size,
    Type,
}

/// Condition, which is true, false or unknown.
#[derive(Debug, Clone)]
enum Predicate {
    Compare(Comparison, Expression, Expression),
    And(Box<Predicate>, Box<Predicate>),
    Or(Box<Predicate>, Box<Predicate>),
    Not(Box<Predicate>),
    IsUnknown(Box<Predicate>),
    Exists(Expression),
    StartsWith(Expression, Expression),
    /// Pattern, and flags as functions of regular expressions have them.
    LikeRegex(Expression, String, String),
    /// Expression in parentheses, which has to be a condition.
    Value(Expression),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

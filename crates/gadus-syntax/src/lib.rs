//! SQL's lexical structure, grammar and syntax tree, by PostgreSQL's rules.
//!
//! - One parse of the text, without any printing and parsing again: names are folded, texts decoded, and every node
//!   knows its position in the text.
//! - PostgreSQL's precedences and classes of key words; DuckDB's friendly forms if PostgreSQL's grammar has no other
//!   meaning for them.
//! - Knows neither tables nor types: every name is looked up later.
//! - Nesting is bounded: a statement is refused, with SQLSTATE 54001, before it exhausts a stack.

pub mod ast;
mod error;
mod keywords;
mod lexer;
mod parser;
mod script;
mod span;

pub use error::{SyntaxError, SyntaxErrorKind};
pub use keywords::{Keyword, KeywordClass};
pub use lexer::{Operator, TextForm, Token, TokenKind, tokenize};
pub use parser::{parse_expression, parse_script, parse_statement};
pub use script::{Script, split_script};
pub use span::Span;

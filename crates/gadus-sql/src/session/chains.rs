//! Bounds on chains: `a OR b OR …`, joins, unions, subqueries, windows.
//!
//! - Parsers, planners and the release of a tree follow it by recursion. The parser bounds nesting; a
//!   chain it reads in a loop, and gives out a tree as deep as the chain is long.
//! - Words are counted before there is a tree, whose release alone would take a stack; the levels of
//!   expressions behind it.
//! - AND and OR mean the same in any grouping: their long chains become trees of few levels.

use crate::error::limit;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, Value, WindowSpec, WindowType,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use gadus_engine::Result;
use std::collections::HashSet;
use std::mem::replace;

/// Operators and words of grammar between two commas of one level of parentheses.
const WORDS_MAX: usize = 10_000;
/// Parentheses, brackets and braces within each other: the parser follows types by recursion, without a bound.
const PARENTHESES_MAX: usize = 1_000;
/// Queries, joins and tables of a statement: each may become a level of its plan.
const RELATIONS_MAX: usize = 200;
/// Windows with a PARTITION BY and ORDER BY of their own: each becomes an operator above the others, and DataFusion
/// compares the orders of all of them at each. 200 take a third of a second to plan, 1,600 took minutes.
const WINDOWS_MAX: usize = 200;
/// Levels of an expression.
const LEVELS_MAX: usize = 250;
/// Chains that are left as they came; as many tables or parentheses fit any stack.
const SHALLOW: usize = 16;
/// As many words of grammar do.
const SHALLOW_WORDS: usize = 64;

/// Whether a text may have a deep tree; refuses one of which the tree would have too many levels.
pub(super) fn check_words(tokens: &[TokenWithSpan]) -> Result<bool> {
    let (mut relations, mut unions, mut words, mut is_deep) = (0, 0, vec![0], false);
    for TokenWithSpan { token, span } in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => words.push(0),
            Token::RParen | Token::RBracket | Token::RBrace if words.len() > 1 => {
                words.pop();
            }
            _ => {}
        }
        let nesting = words.len();
        if nesting > PARENTHESES_MAX {
            return Err(limit("the statement is nested too deeply"));
        }
        let Some(words) = words.last_mut() else { continue };
        match token {
            Token::Comma | Token::SemiColon => *words = 0,
            Token::Word(word) => match word.keyword {
                Keyword::NoKeyword => {}
                Keyword::SELECT | Keyword::JOIN => relations += 1,
                // Beside the queries that they stand between, which may be without SELECT.
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => unions += 1,
                _ => *words += 1,
            },
            // Names and values are what the words that are counted stand between.
            Token::Whitespace(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::Period => {}
            _ => *words += 1,
        }
        if *words > WORDS_MAX {
            let words = format!("more than {WORDS_MAX} operators and keywords without a comma");
            return Err(limit(format!("{words}{}: IN takes long lists", span.start)));
        }
        let relations = relations.max(unions);
        check_relations(relations, Some(span.start))?;
        is_deep |= *words > SHALLOW_WORDS || relations > SHALLOW || nesting > SHALLOW;
    }
    Ok(is_deep)
}

fn check_relations(relations: usize, place: Option<Location>) -> Result<()> {
    if relations <= RELATIONS_MAX {
        return Ok(());
    }
    let text = format!("a statement of more than {RELATIONS_MAX} queries, joins and tables");
    Err(limit(place.map_or_else(|| text.clone(), |place| format!("{text}{place}"))))
}

/// Counts the levels of a statement while it is visited.
#[derive(Default)]
pub(super) struct Levels {
    tables: usize,
    deep: usize,
    /// PARTITION BY and ORDER BY of each window.
    windows: HashSet<String>,
}

impl Levels {
    /// Whether there were many tables or windows.
    pub(super) fn is_deep(&self) -> bool {
        self.tables > SHALLOW || self.windows.len() > SHALLOW
    }

    /// A table is visited.
    pub(super) fn table(&mut self) -> Result<()> {
        self.tables += 1;
        check_relations(self.tables, None)
    }

    /// An expression is visited, before its parts are.
    pub(super) fn enter(&mut self, expr: &mut Expr) -> Result<()> {
        self.deep += 1;
        if self.deep > LEVELS_MAX {
            return Err(limit(format!("an expression of more than {LEVELS_MAX} levels")));
        }
        regroup(expr);
        match expr {
            Expr::Function(Function { over: Some(window), .. }) => self.window(window),
            _ => Ok(()),
        }
    }

    /// A function's window is visited.
    fn window(&mut self, window: &WindowType) -> Result<()> {
        // Windows that differ in their frames alone run together.
        self.windows.insert(match window {
            WindowType::NamedWindow(name) => name.to_string(),
            WindowType::WindowSpec(spec) => {
                WindowSpec { window_frame: None, ..spec.clone() }.to_string()
            }
        });
        if self.windows.len() <= WINDOWS_MAX {
            return Ok(());
        }
        Err(limit(format!(
            "a statement of more than {WINDOWS_MAX} windows that differ in PARTITION BY or ORDER BY"
        )))
    }

    /// Behind the parts of an expression.
    pub(super) fn leave(&mut self) {
        self.deep -= 1;
    }
}

/// Makes a tree of few levels of a long chain of ANDs or ORs.
fn regroup(expr: &mut Expr) {
    let chain = |expr: &Expr| match expr {
        Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => {
            Some(op.clone())
        }
        _ => None,
    };
    let Some(operator) = chain(expr) else { return };
    let (mut length, mut at) = (0, &*expr);
    while let Expr::BinaryOp { left, op, .. } = at
        && *op == operator
    {
        (length, at) = (length + 1, left);
    }
    if length <= SHALLOW {
        return;
    }
    let mut parts = Vec::with_capacity(length + 1);
    let nothing = || Expr::Value(Value::Null.into());
    let mut rest = replace(expr, nothing());
    rest = loop {
        match rest {
            Expr::BinaryOp { left, op, right } if op == operator => {
                parts.push(*right);
                rest = *left;
            }
            first => break first,
        }
    };
    parts.push(rest);
    parts.reverse();
    *expr = grouped(parts, &operator);
}

/// The parts in halves of halves.
fn grouped(mut parts: Vec<Expr>, operator: &BinaryOperator) -> Expr {
    if parts.len() > 1 {
        let right = parts.split_off(parts.len().div_ceil(2));
        let halves = [parts, right].map(|half| Box::new(grouped(half, operator)));
        let [left, right] = halves;
        return Expr::BinaryOp { left, op: operator.clone(), right };
    }
    parts.pop().unwrap_or(Expr::Value(Value::Null.into()))
}

//! Texts of paths, read as trees.

use super::lexer::{Token, syntax_error, tokens};
use super::{Comparison, Expression, Method, Path, Predicate, Step};
use crate::error::{FunctionError, NOT_SUPPORTED, Result};
use crate::json::numbers::normalized_number;
use crate::json::value::Value;

/// Deepest nesting: trees are walked by recursion.
const DEPTH_MAX: usize = 100;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

/// Reads a path.
pub(super) fn parse(text: &str) -> Result<Path> {
    let tokens = tokens(text)?;
    if tokens.len() == 1 {
        let message = format!("invalid input syntax for type jsonpath: \"{text}\"");
        return Err(FunctionError::new("22P02", message));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let is_strict = parser.eat_word("strict");
    if !is_strict {
        parser.eat_word("lax");
    }
    let expression = parser.condition()?;
    match parser.peek() {
        Token::End => Ok(Path { is_strict, expression }),
        _ => Err(parser.unexpected()),
    }
}

fn refused(what: &str) -> FunctionError {
    FunctionError::new(NOT_SUPPORTED, format!("{what} in jsonpath is not supported"))
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is_next = matches!(self.peek(), Token::Symbol(next) if *next == symbol);
        self.at += usize::from(is_next);
        is_next
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Token::Word(next) if next == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> FunctionError {
        syntax_error(match self.peek() {
            Token::Word(text) | Token::Text(text) | Token::Number(text) | Token::Variable(text) => {
                text
            }
            Token::Symbol(symbol) => symbol,
            Token::End => "",
        })
    }

    /// Reads conditions that `||` connects, or an expression.
    fn condition(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(FunctionError::new("54001", "stack depth limit exceeded"));
        }
        let mut left = self.conjunction()?;
        while self.eat("||") {
            let right = self.conjunction()?;
            let (left_side, right) = (predicate(left), predicate(right));
            left = wrapped(Predicate::Or(Box::new(left_side), Box::new(right)));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression> {
        let mut left = self.negation()?;
        while self.eat("&&") {
            let right = self.negation()?;
            let (left_side, right) = (predicate(left), predicate(right));
            left = wrapped(Predicate::And(Box::new(left_side), Box::new(right)));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression> {
        if self.eat("!") {
            let operand = self.negation()?;
            return Ok(wrapped(Predicate::Not(Box::new(predicate(operand)))));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expression> {
        if self.eat_word("exists") {
            self.expect("(")?;
            let operand = self.condition()?;
            self.expect(")")?;
            return Ok(wrapped(Predicate::Exists(operand)));
        }
        let left = self.operand()?;
        let comparison = match self.peek() {
            Token::Symbol("==") => Comparison::Equal,
            Token::Symbol("!=" | "<>") => Comparison::NotEqual,
            Token::Symbol("<") => Comparison::Less,
            Token::Symbol("<=") => Comparison::LessOrEqual,
            Token::Symbol(">") => Comparison::Greater,
            Token::Symbol(">=") => Comparison::GreaterOrEqual,
            Token::Symbol("+" | "-" | "*" | "/" | "%") => return Err(refused("arithmetic")),
            Token::Word(word) => match word.as_str() {
                "starts" => return self.starts_with(left),
                "like_regex" => return self.like_regex(left),
                "is" => return self.is_unknown(left),
                _ => return Ok(left),
            },
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.operand()?;
        if matches!(self.peek(), Token::Symbol("+" | "-" | "*" | "/" | "%")) {
            return Err(refused("arithmetic"));
        }
        Ok(wrapped(Predicate::Compare(comparison, left, right)))
    }

    fn starts_with(&mut self, left: Expression) -> Result<Expression> {
        self.at += 1;
        if !self.eat_word("with") {
            return Err(self.unexpected());
        }
        let prefix = match self.next() {
            Token::Text(text) => Expression::Literal(Value::Text(text)),
            Token::Variable(name) => Expression::Variable(name),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        Ok(wrapped(Predicate::StartsWith(left, prefix)))
    }

    fn like_regex(&mut self, left: Expression) -> Result<Expression> {
        self.at += 1;
        let Token::Text(mut pattern) = self.next() else {
            self.at -= 1;
            return Err(self.unexpected());
        };
        let mut flags = String::new();
        if self.eat_word("flag") {
            let Token::Text(text) = self.next() else {
                self.at -= 1;
                return Err(self.unexpected());
            };
            flags = text;
        }
        if let Some(wrong) = flags.chars().find(|flag| !"ismxq".contains(*flag)) {
            let error = syntax_error("").detail(format!(
                "Unrecognized flag character \"{wrong}\" in LIKE_REGEX predicate."
            ));
            return Err(FunctionError {
                message: "invalid input syntax for type jsonpath".to_owned(),
                ..error
            });
        }
        let has = |flag| flags.contains(flag);
        if has('x') && !has('q') {
            let message = "XQuery \"x\" flag (expanded regular expressions) is not implemented";
            return Err(FunctionError::new(NOT_SUPPORTED, message));
        }
        let mut meant = String::from(if has('i') { "i" } else { "" });
        if has('q') {
            pattern.insert_str(0, "***=");
        } else {
            // Of a point and of anchors at ends of lines.
            meant.push(match (has('s'), has('m')) {
                (false, false) => 'p',
                (false, true) => 'n',
                (true, false) => 's',
                (true, true) => 'w',
            });
        }
        Ok(wrapped(Predicate::LikeRegex(left, pattern, meant)))
    }

    fn is_unknown(&mut self, left: Expression) -> Result<Expression> {
        self.at += 1;
        match self.eat_word("unknown") {
            true => Ok(wrapped(Predicate::IsUnknown(Box::new(predicate(left))))),
            false => Err(self.unexpected()),
        }
    }

    /// Reads a value with its steps.
    fn operand(&mut self) -> Result<Expression> {
        let first = self.primary()?;
        let mut steps = Vec::new();
        while let Some(step) = self.step()? {
            steps.push(step);
        }
        Ok(if steps.is_empty() { first } else { Expression::Steps(Box::new(first), steps) })
    }

    fn primary(&mut self) -> Result<Expression> {
        let number = |text: &str| normalized_number(text).map(Value::Number);
        Ok(match self.next() {
            Token::Symbol("$") => Expression::Root,
            Token::Symbol("@") => Expression::Current,
            Token::Symbol("(") => {
                let inner = self.condition()?;
                self.expect(")")?;
                inner
            }
            Token::Symbol("-") => match self.next() {
                Token::Number(text) => Expression::Literal(number(&format!("-{text}"))?),
                _ => return Err(refused("arithmetic")),
            },
            Token::Symbol("+") => match self.next() {
                Token::Number(text) => Expression::Literal(number(&text)?),
                _ => return Err(refused("arithmetic")),
            },
            Token::Number(text) => Expression::Literal(number(&text)?),
            Token::Text(text) => Expression::Literal(Value::Text(text)),
            Token::Variable(name) => Expression::Variable(name),
            Token::Word(word) => match word.as_str() {
                "last" => Expression::Last,
                "null" => Expression::Literal(Value::Null),
                "true" => Expression::Literal(Value::Boolean(true)),
                "false" => Expression::Literal(Value::Boolean(false)),
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            },
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn step(&mut self) -> Result<Option<Step>> {
        if self.eat("?") {
            self.expect("(")?;
            let condition = self.condition()?;
            self.expect(")")?;
            return Ok(Some(Step::Filter(predicate(condition))));
        }
        if self.eat("[") {
            return self.subscripts().map(Some);
        }
        if !self.eat(".") {
            return Ok(None);
        }
        if self.eat("**") {
            return self.levels().map(Some);
        }
        if self.eat("*") {
            return Ok(Some(Step::AnyKey));
        }
        match self.next() {
            Token::Text(key) => Ok(Some(Step::Key(key))),
            Token::Word(word) if self.eat("(") => {
                let method = match word.as_str() {
                    "abs" => Method::Abs,
                    "ceiling" => Method::Ceiling,
                    "double" => Method::Double,
                    "floor" => Method::Floor,
                    "size" => Method::Size,
                    "type" => Method::Type,
                    "datetime" | "keyvalue" => return Err(refused(&format!(".{word}()"))),
                    _ => return Err(self.unexpected()),
                };
                self.expect(")")?;
                Ok(Some(Step::Method(method)))
            }
            Token::Word(word) => Ok(Some(Step::Key(word))),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn subscripts(&mut self) -> Result<Step> {
        if self.eat("*") {
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        let mut subscripts = Vec::new();
        loop {
            let first = self.operand()?;
            let last = if self.eat_word("to") { Some(self.operand()?) } else { None };
            if matches!(self.peek(), Token::Symbol("+" | "-" | "*" | "/" | "%")) {
                return Err(refused("arithmetic"));
            }
            subscripts.push((first, last));
            if self.eat("]") {
                return Ok(Step::Elements(subscripts));
            }
            self.expect(",")?;
        }
    }

    /// Reads the levels after `.**`.
    fn levels(&mut self) -> Result<Step> {
        if !self.eat("{") {
            return Ok(Step::AnyLevel(0, u32::MAX));
        }
        let first = self.level()?;
        let last = if self.eat_word("to") { self.level()? } else { first };
        self.expect("}")?;
        Ok(Step::AnyLevel(first, last))
    }

    fn level(&mut self) -> Result<u32> {
        match self.next() {
            Token::Number(text) => text.parse().map_err(|_| syntax_error(&text)),
            Token::Word(word) if word == "last" => Ok(u32::MAX),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }
}

fn wrapped(condition: Predicate) -> Expression {
    Expression::Predicate(Box::new(condition))
}

fn predicate(expression: Expression) -> Predicate {
    match expression {
        Expression::Predicate(condition) => *condition,
        other => Predicate::Value(other),
    }
}

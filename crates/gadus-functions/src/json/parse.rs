//! Texts of JSON, read as trees.

use super::lexer::{Lexer, Token, invalid};
use super::value::Value;
use crate::error::{FunctionError, Result};

/// SQLSTATE of a document that is nested too deeply.
const TOO_DEEP: &str = "54001";

/// Deepest nesting: trees are walked by recursion.
const DEPTH_MAX: usize = 512;

/// Checks that a text is a document, whose strings are not decoded.
///
/// # Errors
/// 22P02 of a text that is none, 54001 of one that is too deep.
pub fn check_json(text: &str) -> Result<()> {
    read(text, false).map(drop)
}

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Value> {
    read(text, true)
}

/// Reads a document as JSONB.
pub(super) fn parse_normalized(text: &str) -> Result<Value> {
    parse(text)?.normalized()
}

fn read(text: &str, decodes: bool) -> Result<Value> {
    let mut reader = Reader { lexer: Lexer::new(text, decodes)?, open: Vec::new() };
    let value = reader.document()?;
    match reader.lexer.token {
        Token::End => Ok(value),
        _ => Err(reader.unexpected("end of input")),
    }
}

/// Container whose end is not read yet.
#[derive(Debug)]
enum Open {
    Array(Vec<Value>),
    /// Members, and the key of the next one.
    Object(Vec<(String, Value)>, String),
}

/// Reader with a stack of its own: texts are as deep as their writers like.
#[derive(Debug)]
struct Reader<'a> {
    lexer: Lexer<'a>,
    open: Vec<Open>,
}

impl Reader<'_> {
    fn unexpected(&self, what: &str) -> FunctionError {
        match self.lexer.token {
            Token::End => invalid("The input string ended unexpectedly."),
            _ => invalid(format!("Expected {what}, but found \"{}\".", self.lexer.shown())),
        }
    }

    fn document(&mut self) -> Result<Value> {
        loop {
            let Some(value) = self.begin()? else { continue };
            if let Some(document) = self.put(value)? {
                return Ok(document);
            }
        }
    }

    /// Reads a scalar or an empty container; `None` if a container with parts begins.
    fn begin(&mut self) -> Result<Option<Value>> {
        let value = match self.lexer.token {
            Token::ObjectStart => {
                self.lexer.next()?;
                match self.lexer.token {
                    Token::ObjectEnd => Value::Object(Vec::new()),
                    Token::Text => {
                        let key = self.key()?;
                        return self.push(Open::Object(Vec::new(), key));
                    }
                    _ => return Err(self.unexpected("string or \"}\"")),
                }
            }
            Token::ArrayStart => {
                self.lexer.next()?;
                match self.lexer.token {
                    Token::ArrayEnd => Value::Array(Vec::new()),
                    _ => return self.push(Open::Array(Vec::new())),
                }
            }
            Token::Text => Value::Text(std::mem::take(&mut self.lexer.value)),
            Token::Number => Value::Number(self.lexer.shown().to_owned()),
            Token::True => Value::Boolean(true),
            Token::False => Value::Boolean(false),
            Token::Null => Value::Null,
            _ => return Err(self.unexpected("JSON value")),
        };
        self.lexer.next()?;
        Ok(Some(value))
    }

    fn push(&mut self, open: Open) -> Result<Option<Value>> {
        if self.open.len() >= DEPTH_MAX {
            return Err(FunctionError::new(TOO_DEEP, "stack depth limit exceeded"));
        }
        self.open.push(open);
        Ok(None)
    }

    /// Puts a value into the containers that are open, and closes those that end after it; returns the document at its
    /// end.
    fn put(&mut self, value: Value) -> Result<Option<Value>> {
        let mut value = value;
        while let Some(open) = self.open.pop() {
            let is_more = self.lexer.token == Token::Comma;
            value = match open {
                Open::Array(mut values) => {
                    values.push(value);
                    if is_more {
                        self.lexer.next()?;
                        self.open.push(Open::Array(values));
                        return Ok(None);
                    }
                    if self.lexer.token != Token::ArrayEnd {
                        return Err(self.unexpected("\",\" or \"]\""));
                    }
                    Value::Array(values)
                }
                Open::Object(mut pairs, key) => {
                    pairs.push((key, value));
                    if is_more {
                        self.lexer.next()?;
                        let key = self.key()?;
                        self.open.push(Open::Object(pairs, key));
                        return Ok(None);
                    }
                    if self.lexer.token != Token::ObjectEnd {
                        return Err(self.unexpected("\",\" or \"}\""));
                    }
                    Value::Object(pairs)
                }
            };
            self.lexer.next()?;
        }
        Ok(Some(value))
    }

    /// Reads a key and the colon after it.
    fn key(&mut self) -> Result<String> {
        if self.lexer.token != Token::Text {
            return Err(self.unexpected("string"));
        }
        let key = std::mem::take(&mut self.lexer.value);
        self.lexer.next()?;
        if self.lexer.token != Token::Colon {
            return Err(self.unexpected("\":\""));
        }
        self.lexer.next()?;
        Ok(key)
    }
}

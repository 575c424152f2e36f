//! Tokens of a path.

use crate::error::{FunctionError, Result, SYNTAX};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Word without quotes.
    Word(String),
    /// Text between quotes.
    Text(String),
    Number(String),
    /// Name of a variable.
    Variable(String),
    /// One of the operators and brackets.
    Symbol(&'static str),
    End,
}

/// Symbols, longer ones before those that they begin with.
const SYMBOLS: [&str; 27] = [
    "**", "==", "!=", "<>", "<=", ">=", "&&", "||", "$", "@", ".", "*", "[", "]", "(", ")", "{",
    "}", "?", ",", "<", ">", "!", "+", "-", "/", "%",
];

/// Returns the error of a text that is no path, at a token.
pub(super) fn syntax_error(near: &str) -> FunctionError {
    let place = if near.is_empty() { "end".to_owned() } else { format!("or near \"{near}\"") };
    FunctionError::new(SYNTAX, format!("syntax error at {place} of jsonpath input"))
}

/// Reads all tokens of a path.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = if first == '"' {
            let (value, after) = quoted(rest)?;
            (Token::Text(value), after)
        } else if first.is_ascii_digit() {
            number(rest)
        } else if let Some(named) = rest.strip_prefix('$').filter(|named| begins_name(named)) {
            if named.starts_with('"') {
                let (value, after) = quoted(named)?;
                (Token::Variable(value), after)
            } else {
                let (name, after) = word(named);
                (Token::Variable(name.to_owned()), after)
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), rest.get(symbol.len()..).unwrap_or_default())
        } else if is_name(first) {
            let (name, after) = word(rest);
            (Token::Word(name.to_owned()), after)
        } else {
            return Err(syntax_error(&first.to_string()));
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens.push(Token::End);
    Ok(tokens)
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || !character.is_ascii()
}

fn begins_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '"' || is_name(c))
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()))
}

fn number(text: &str) -> (Token, &str) {
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let mut end = digits(0);
    if byte(end) == Some(b'.') && byte(end + 1).is_some_and(|byte| byte.is_ascii_digit()) {
        end = digits(end + 1);
    }
    if matches!(byte(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(end + 1), Some(b'+' | b'-')));
        let after = digits(end + 1 + sign);
        end = if after > end + 1 + sign { after } else { end };
    }
    let (number, after) = text.split_at(end);
    (Token::Number(number.to_owned()), after)
}

/// Reads a text between quotes, with the escapes of JSON.
fn quoted(text: &str) -> Result<(String, &str)> {
    let mut end = 1;
    let bytes = text.as_bytes();
    loop {
        match bytes.get(end) {
            None => return Err(syntax_error("")),
            Some(b'"') => break,
            Some(b'\\') => end += 2,
            Some(_) => end += 1,
        }
    }
    let Some((literal, after)) = text.split_at_checked(end + 1) else {
        return Err(syntax_error(""));
    };
    match crate::json::parse::parse(literal)? {
        crate::json::value::Value::Text(value) => Ok((value, after)),
        _ => Err(syntax_error(literal)),
    }
}

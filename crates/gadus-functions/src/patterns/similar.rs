//! Patterns of `SIMILAR TO` and `SUBSTRING … SIMILAR`, as regular expressions.

use crate::error::{FunctionError, Result};

/// SQLSTATE of an escape character that is none.
const INVALID_ESCAPE: &str = "22025";
/// SQLSTATE of an escape character in the wrong place.
const MISPLACED_ESCAPE: &str = "2200C";

/// Where the reader of a pattern is within brackets.
#[derive(Debug, Default)]
struct Brackets {
    depth: usize,
    /// Members that came since the opening one, as far as they decide what a closing one means.
    position: usize,
}

/// Converts a pattern of SQL to a regular expression. The escape is one character, or none if it is empty; it is the
/// backslash by default.
///
/// # Errors
/// 22025 of a longer escape, 2200C of a pattern with more than two separators.
pub fn similar_to_escape(pattern: &str, escape: Option<&str>) -> Result<String> {
    let mut characters = escape.unwrap_or("\\").chars();
    let escape = characters.next();
    if characters.next().is_some() {
        let hint = "Escape string must be empty or one character.";
        return Err(FunctionError::new(INVALID_ESCAPE, "invalid escape string").hint(hint));
    }
    let mut expression = String::from("^(?:");
    let mut brackets = Brackets::default();
    let mut separators = 0;
    let mut is_escaped = false;
    for character in pattern.chars() {
        if is_escaped {
            is_escaped = false;
            if character == '"' && brackets.depth == 0 {
                expression.push_str(separator(separators)?);
                separators += 1;
            } else {
                expression.push('\\');
                expression.push(character);
                brackets.position = 3;
            }
        } else if Some(character) == escape {
            is_escaped = true;
        } else if brackets.depth > 0 {
            if character == '\\' {
                expression.push('\\');
            }
            expression.push(character);
            brackets.advance(character);
        } else {
            match character {
                '[' => {
                    expression.push('[');
                    brackets = Brackets { depth: 1, position: 1 };
                }
                '%' => expression.push_str(".*"),
                '_' => expression.push('.'),
                '(' => expression.push_str("(?:"),
                '\\' | '.' | '^' | '$' => {
                    expression.push('\\');
                    expression.push(character);
                }
                other => expression.push(other),
            }
        }
    }
    expression.push_str(")$");
    Ok(expression)
}

/// Returns what divides the three parts of a pattern: the middle one is what SUBSTRING gives.
fn separator(number: usize) -> Result<&'static str> {
    match number {
        0 => Ok("){1,1}?("),
        1 => Ok("){1,1}(?:"),
        _ => {
            let message = "SQL regular expression may not contain more than two escape-double-quote separators";
            Err(FunctionError::new(MISPLACED_ESCAPE, message))
        }
    }
}

impl Brackets {
    fn advance(&mut self, character: char) {
        match character {
            ']' if self.position > 2 => self.depth -= 1,
            '[' => {
                self.depth += 1;
                self.position = 3;
            }
            '^' => self.position += 1,
            _ => self.position = 3,
        }
    }
}

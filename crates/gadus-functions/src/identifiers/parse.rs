//! Qualified names, taken apart.

use crate::error::{FunctionError, INVALID_PARAMETER, Result};

/// Splits a qualified name at its dots; names without quotes become lower case.
///
/// # Errors
/// 22023 if the text is no name, or continues behind one and `is_strict`.
pub fn parse_ident(text: &str, is_strict: bool) -> Result<Vec<String>> {
    let refused = || {
        let message = format!("string is not a valid identifier: \"{text}\"");
        FunctionError::new(INVALID_PARAMETER, message)
    };
    let mut names = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    loop {
        let (name, behind) = if let Some(quoted) = rest.strip_prefix('"') {
            let unclosed = || refused().detail("String has unclosed double quotes.");
            let (name, behind) = quoted_name(quoted).ok_or_else(unclosed)?;
            if name.is_empty() {
                return Err(refused().detail("Quoted identifier must not be empty."));
            }
            (name, behind)
        } else if rest.starts_with(is_start) {
            let end = rest.find(|c| !is_start(c) && !c.is_ascii_digit() && c != '$');
            let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
            (name.to_ascii_lowercase(), behind)
        } else if rest.starts_with('.') {
            return Err(refused().detail("No valid identifier before \".\"."));
        } else if names.is_empty() {
            return Err(refused());
        } else {
            return Err(refused().detail("No valid identifier after \".\"."));
        };
        names.push(name);
        let behind = behind.trim_start_matches(is_space);
        rest = match behind.strip_prefix('.') {
            Some(behind) => behind.trim_start_matches(is_space),
            None if behind.is_empty() || !is_strict => return Ok(names),
            None => return Err(refused()),
        };
    }
}

/// Returns a name up to its closing quote, and the text behind that.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (before, behind) = rest.split_once('"')?;
        name.push_str(before);
        match behind.strip_prefix('"') {
            Some(behind) => {
                name.push('"');
                rest = behind;
            }
            None => return Some((name, behind)),
        }
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn is_start(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

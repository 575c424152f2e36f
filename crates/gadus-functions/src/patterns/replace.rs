//! `regexp_replace`.

use super::options::Options;
use super::pattern::{Captures, Pattern};
use super::search::{Matches, check_positive, invalid};
use crate::error::{FunctionError, INVALID_PARAMETER, Result};

/// Replaces the `n`th match from a character on, or all of them if `n` is 0. Without `n` it is the first one, or all if
/// the flags have a `g`.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong arguments, 54000 if the result has more than `bytes_max` bytes.
pub fn regexp_replace(
    text: &str,
    pattern: &str,
    replacement: &str,
    (start, n): (i32, Option<i32>),
    flags: &str,
    bytes_max: usize,
) -> Result<String> {
    check_positive("start", start)?;
    if let Some(n) = n.filter(|n| *n < 0) {
        return Err(invalid("n", n));
    }
    let options = Options::of_flags(flags)?;
    let n = n.unwrap_or(if options.is_global { 0 } else { 1 });
    let pattern = Pattern::compiled(pattern, options)?;
    let has_references = replacement.contains('\\');
    let mut replaced = String::new();
    let mut copied = 0;
    let mut count = 0;
    for found in Matches::new(text, &pattern, start, has_references) {
        let found = found?;
        count += 1;
        if n > 0 && count != n {
            continue;
        }
        let range = found.whole();
        replaced.push_str(&text[copied..range.start]);
        insert(&mut replaced, replacement, text, &found);
        copied = range.end;
        if replaced.len() + text.len() - copied > bytes_max {
            return Err(FunctionError::too_large());
        }
        if n > 0 {
            break;
        }
    }
    replaced.push_str(&text[copied..]);
    Ok(replaced)
}

/// Replaces as `regexp_replace` with flags alone, which are perhaps meant as a start.
///
/// # Errors
/// As `regexp_replace`.
pub fn regexp_replace_by_flags(
    text: &str,
    pattern: &str,
    replacement: &str,
    flags: &str,
    bytes_max: usize,
) -> Result<String> {
    if let Some(digit) = flags.chars().next().filter(char::is_ascii_digit) {
        let message = format!("invalid regular expression option: \"{digit}\"");
        let hint = "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.";
        return Err(FunctionError::new(INVALID_PARAMETER, message).hint(hint));
    }
    regexp_replace(text, pattern, replacement, (1, None), flags, bytes_max)
}

/// Appends a replacement: `\1` to `\9` are captures, `\&` is the match.
fn insert(replaced: &mut String, replacement: &str, text: &str, found: &Captures) {
    let mut rest = replacement;
    while let Some((before, behind)) = rest.split_once('\\') {
        replaced.push_str(before);
        let number = match behind.chars().next() {
            Some(digit @ '1'..='9') => digit.to_digit(10).unwrap_or(0),
            Some('&') => 0,
            other => {
                replaced.push('\\');
                rest = if other == Some('\\') { &behind[1..] } else { behind };
                continue;
            }
        };
        if let Some(range) = found.get(number as usize) {
            replaced.push_str(&text[range]);
        }
        rest = &behind[1..];
    }
    replaced.push_str(rest);
}

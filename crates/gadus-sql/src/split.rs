//! Splitting a script into its statements, without understanding them.
//!
//! - A semicolon ends a statement unless it stands in quotes, a dollar-quoted text or a comment.
//! - Behind E, a backslash in quotes escapes what follows it; comments may stand in comments.

/// The statements of a script and what is left behind the last semicolon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Texts of whole statements, without their semicolons and without empty ones.
    pub statements: Vec<String>,
    /// Text behind the last semicolon, trimmed; a shell waits for the rest of it.
    pub rest: String,
    /// Where each statement begins in the script, in bytes, and then what is left.
    pub starts: Vec<usize>,
}

/// Splits a script.
#[must_use]
pub fn split_statements(text: &str) -> Script {
    let (mut statements, mut starts) = (Vec::new(), Vec::new());
    let mut start = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    let mut only_comment = true;
    while at < bytes.len() {
        match bytes[at] {
            b'\'' if is_behind_escape(bytes, at) => {
                only_comment = false;
                at = skip_escaped(bytes, at + 1);
            }
            quote @ (b'\'' | b'"') => {
                only_comment = false;
                at = skip_until(bytes, at + 1, &[quote]);
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => at = skip_until(bytes, at + 2, b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = skip_comment(bytes, at + 2),
            b'$' if dollar_tag(&bytes[at..]).is_some() => {
                only_comment = false;
                let tag = dollar_tag(&bytes[at..]).unwrap_or(b"$$").to_vec();
                at = skip_until(bytes, at + tag.len(), &tag);
            }
            b';' => {
                if !only_comment {
                    let statement = text[start..at].trim_start();
                    starts.push(at - statement.len());
                    statements.push(statement.trim_end().to_owned());
                }
                at += 1;
                start = at;
                only_comment = true;
            }
            other => {
                only_comment &= other.is_ascii_whitespace();
                at += 1;
            }
        }
    }
    let rest = if only_comment { "" } else { text[start..].trim_start() };
    starts.push(text.len() - rest.len());
    Script { statements, rest: rest.trim_end().to_owned(), starts }
}

/// Whether a quote belongs to the E before it, which is a word of its own.
fn is_behind_escape(bytes: &[u8], quote: usize) -> bool {
    let is_of_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_$".contains(byte) || !byte.is_ascii();
    match &bytes[..quote] {
        [before @ .., b'e' | b'E'] => !before.last().is_some_and(is_of_word),
        _ => false,
    }
}

/// The offset behind a text in which backslashes escape.
fn skip_escaped(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The offset behind a comment, and those within it.
fn skip_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 1_usize;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") if depth == 1 => return at + 2,
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The offset behind the next `end`, or the end of the text.
fn skip_until(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let found =
        bytes.get(from..).and_then(|rest| rest.windows(end.len()).position(|window| window == end));
    found.map_or(bytes.len(), |index| from + index + end.len())
}

/// `$tag$` at the start of the bytes.
fn dollar_tag(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.get(1..)?.iter().position(|&byte| byte == b'$')? + 1;
    let name = bytes.get(1..end)?;
    let starts_well = name.first().is_none_or(|byte| !byte.is_ascii_digit());
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (is_name && starts_well).then(|| &bytes[..=end])
}

#[cfg(test)]
mod tests;

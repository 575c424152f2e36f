//! Splitting a script into its statements, without understanding them.
//!
//! - A semicolon ends a statement unless it stands in quotes, a dollar-quoted text or a comment.

/// The statements of a script and what is left behind the last semicolon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Texts of whole statements, without their semicolons and without empty ones.
    pub statements: Vec<String>,
    /// Text behind the last semicolon, trimmed; a shell waits for the rest of it.
    pub rest: String,
}

/// Splits a script.
#[must_use]
pub fn split_statements(text: &str) -> Script {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    let mut only_comment = true;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                only_comment = false;
                at = skip_until(bytes, at + 1, &[quote]);
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => at = skip_until(bytes, at + 2, b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = skip_until(bytes, at + 2, b"*/"),
            b'$' if dollar_tag(&bytes[at..]).is_some() => {
                only_comment = false;
                let tag = dollar_tag(&bytes[at..]).unwrap_or(b"$$").to_vec();
                at = skip_until(bytes, at + tag.len(), &tag);
            }
            b';' => {
                if !only_comment {
                    statements.push(text[start..at].trim().to_owned());
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
    let rest = if only_comment { "" } else { text[start..].trim() };
    Script { statements, rest: rest.to_owned() }
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

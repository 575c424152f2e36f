//! Unicode escapes within texts.

use crate::error::{FunctionError, INVALID_PARAMETER, Result, SYNTAX};

/// Replaces `\XXXX`, `\+XXXXXX`, `\uXXXX` and `\UXXXXXXXX` by the characters of these code points, `\\` by a backslash.
///
/// # Errors
/// 42601 of an incomplete escape or half a surrogate pair, 22023 of a number that is no code point.
pub fn unistr(text: &str) -> Result<String> {
    let mut decoded = String::with_capacity(text.len());
    let mut pending = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let Some(escape) = rest.strip_prefix('\\') else {
            refuse_half(pending)?;
            decoded.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        if let Some(behind) = escape.strip_prefix('\\') {
            refuse_half(pending)?;
            decoded.push('\\');
            rest = behind;
            continue;
        }
        let (code, behind) = code_point(escape)?;
        rest = behind;
        let code = match (pending.take(), code) {
            (Some(high), 0xDC00..=0xDFFF) => ((high & 0x3FF) << 10) + 0x10000 + (code & 0x3FF),
            (Some(_), _) | (None, 0xDC00..=0xDFFF) => return Err(invalid_pair()),
            (None, _) => code,
        };
        match code {
            0xD800..=0xDBFF => pending = Some(code),
            _ => decoded.extend(char::from_u32(code)),
        }
    }
    refuse_half(pending)?;
    Ok(decoded)
}

/// Reads the number behind a backslash.
fn code_point(escape: &str) -> Result<(u32, &str)> {
    let forms = [("", 4), ("u", 4), ("+", 6), ("U", 8)];
    let read = |(prefix, digits): (&str, usize)| {
        let (number, behind) = escape.strip_prefix(prefix)?.split_at_checked(digits)?;
        let is_hexadecimal = number.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hexadecimal.then(|| u32::from_str_radix(number, 16).ok());
        Some((number??, behind))
    };
    let Some((code, behind)) = forms.into_iter().find_map(read) else {
        let hint = "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.";
        return Err(FunctionError::new(SYNTAX, "invalid Unicode escape").hint(hint));
    };
    match code {
        1..=0x10_FFFF => Ok((code, behind)),
        _ => {
            let message = format!("invalid Unicode code point: {code:04X}");
            Err(FunctionError::new(INVALID_PARAMETER, message))
        }
    }
}

fn refuse_half(pending: Option<u32>) -> Result<()> {
    pending.map_or(Ok(()), |_| Err(invalid_pair()))
}

fn invalid_pair() -> FunctionError {
    FunctionError::new(SYNTAX, "invalid Unicode surrogate pair")
}

//! Names of folders: `column=value`.
//!
//! - What is no letter, no digit and none of `-_.~` and blank is `%` and two hexadecimal digits; letters beyond ASCII
//!   stay. The name that means NULL is written so that a text of the same letters does not.

use std::fmt::Write;

/// The value of a folder whose rows have NULL.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The folder of a column's value; none is NULL.
pub(super) fn folder_name(column: &str, value: Option<&str>) -> String {
    let mut name = escaped(column);
    name.push('=');
    match value {
        None => name.push_str(NULL),
        Some(NULL) => {
            name.push_str("%5F");
            name.push_str(&NULL[1..]);
        }
        Some(value) => name.push_str(&escaped(value)),
    }
    name
}

/// The column and the value of a folder's name; none where it has no such name.
pub(super) fn of_folder(name: &str) -> Option<(String, Option<String>)> {
    let (column, value) = name.split_once('=')?;
    if column.is_empty() {
        return None;
    }
    Some((unescaped(column), (value != NULL).then(|| unescaped(value))))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let is_plain = !character.is_ascii()
            || character.is_ascii_alphanumeric()
            || matches!(character, '-' | '_' | '.' | '~' | ' ');
        match is_plain {
            true => escaped.push(character),
            false => drop(write!(escaped, "%{:02X}", u32::from(character))),
        }
    }
    escaped
}

/// The text of an escaped one; what is no escape, and what would be no text, stays as it is.
fn unescaped(name: &str) -> String {
    let bytes = name.as_bytes();
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests;

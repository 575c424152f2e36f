//! A Rust file with its comments and literals masked, and what can be read from it without a parser.
//!
//! - The mask keeps every line break and every column, so that positions hold in both texts.
//! - Macros are read as plain code: their braces balance, which is all that is needed.

use std::ops::Range;

/// One Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// The text with comments, strings and character literals blanked.
    pub(crate) code: String,
}

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of `fn`, from 1.
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: mask(text) }
    }

    /// True for files that hold nothing but tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// The line, from 1, of a byte of the text.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        self.code.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// The start of each occurrence of `word` in the code that is not a part of a longer word.
    pub(crate) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let bytes = self.code.as_bytes();
        let in_word = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at)).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        };
        self.code.match_indices(word).map(|(at, _)| at).filter(move |at| {
            let ends_open = !word.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            !in_word(at.checked_sub(1)) && (ends_open || !in_word(Some(at + word.len())))
        })
    }

    /// The functions that have a body, in order.
    pub(crate) fn functions(&self) -> Vec<Function> {
        self.words("fn").filter_map(|at| self.function_at(at)).collect()
    }

    fn function_at(&self, at: usize) -> Option<Function> {
        let rest = self.code[at + 2..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.is_empty() {
            return None; // a function pointer's type
        }
        let body = self.body_after(at)?;
        let line = self.line_at(at);
        Some(Function { name, line, lines: self.line_at(body.end - 1) - line + 1 })
    }

    /// The braces of the item that starts at `at`; none when it ends with `;` first.
    pub(crate) fn body_after(&self, at: usize) -> Option<Range<usize>> {
        let mut nesting = 0_usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(at) {
            match byte {
                b'(' | b'[' => nesting += 1,
                b')' | b']' => nesting = nesting.saturating_sub(1),
                b';' if nesting == 0 => return None,
                b'{' if nesting == 0 => return self.closing_brace(offset).map(|end| offset..end),
                _ => {}
            }
        }
        None
    }

    /// The offset after the brace that closes the one at `open`.
    fn closing_brace(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 1 => return Some(offset + 1),
                b'}' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The extent of an inline test module, from `mod` to its closing brace.
    pub(crate) fn inline_tests(&self) -> Option<Range<usize>> {
        let at = self.words("mod tests").next()?;
        Some(at..self.body_after(at)?.end)
    }

    /// Lines that hold code, counted outside `without`.
    pub(crate) fn code_lines(&self, without: &Range<usize>) -> usize {
        let outside = [&self.code[..without.start], &self.code[without.end..]];
        outside.iter().flat_map(|part| part.lines()).filter(|line| !line.trim().is_empty()).count()
    }
}

/// Blanks comments and literals.
fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut masked = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(bytes, at);
        if let Some(end) = end {
            for byte in &mut masked[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = end.unwrap_or(at + 1);
    }
    // Whole literals are blanked, so no character is cut.
    String::from_utf8_lossy(&masked).into_owned()
}

/// Where the comment or literal that starts at `at` ends; none when no such thing starts there.
fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let until = |end: Option<usize>| Some(end.map_or(bytes.len(), |end| at + end));
    match rest {
        [b'/', b'/', ..] => until(rest.iter().position(|byte| *byte == b'\n')),
        [b'/', b'*', ..] => until(block_comment_end(rest)),
        [b'"', ..] => until(quoted_end(rest, b'"')),
        [b'r', b'"' | b'#', ..] if !continues_word(bytes, at) => raw_end(rest).map(|end| at + end),
        // 'a' and '\n' are literals, 'a alone is a lifetime; a character may take four bytes.
        [b'\'', b'\\', ..] => until(quoted_end(rest, b'\'')),
        [b'\'', ..] => {
            let first = std::str::from_utf8(&rest[1..rest.len().min(5)])
                .or_else(|error| std::str::from_utf8(&rest[1..1 + error.valid_up_to()]))
                .ok()?
                .chars()
                .next()?;
            let close = 1 + first.len_utf8();
            (rest.get(close) == Some(&b'\'')).then_some(at + close + 1)
        }
        _ => None,
    }
}

fn continues_word(bytes: &[u8], at: usize) -> bool {
    // `br"…"` is a raw string too; any other letter before `r` makes it a part of a name.
    at.checked_sub(1).is_some_and(|before| {
        let byte = bytes[before];
        (byte.is_ascii_alphanumeric() || byte == b'_') && byte != b'b'
    })
}

fn block_comment_end(rest: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < rest.len() {
        match (rest[at], rest[at + 1]) {
            (b'/', b'*') => (depth, at) = (depth + 1, at + 2),
            (b'*', b'/') if depth == 1 => return Some(at + 2),
            (b'*', b'/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    None
}

fn quoted_end(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn raw_end(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None; // a raw identifier
    }
    let body = 2 + hashes;
    let closes = |at: &usize| {
        let after = &rest[at + 1..];
        rest[*at] == b'"' && after.len() >= hashes && after[..hashes].iter().all(|b| *b == b'#')
    };
    (body..rest.len()).find(closes).map(|at| at + 1 + hashes)
}

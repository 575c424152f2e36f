//! Statements as the log shows them.
//!
//! - Their text as it was sent, cut; never the values of parameters, which are no part of it, and never a
//!   password.

/// Characters of a statement: what tells it from others is there, and a thousand of them are a megabyte.
const CHARACTERS_MAX: usize = 1_000;

/// What stands at the end of a text that was cut.
const CUT: char = '…';
/// What stands in the place of a password.
const HIDDEN: &str = "'…'";

/// What a part of a statement is, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    /// A text in quotes, or between dollar signs.
    Literal,
    /// What may stand between a word and its literal: blanks, comments, an equals sign.
    Gap,
    Other,
}

/// The parts of a statement, one after another; what does not end goes to the text's end.
struct Parts<'a>(&'a str);

/// The beginning of a text, with the passwords in it hidden.
pub(crate) fn shown(text: &str) -> String {
    let cut = cut(text);
    let mut shown = String::with_capacity(cut.len());
    let mut is_password = false;
    for (kind, part) in Parts(cut) {
        if kind == Kind::Literal && is_password {
            if !shown.ends_with(char::is_whitespace) {
                shown.push(' ');
            }
            shown.push_str(HIDDEN);
        } else {
            shown.push_str(part);
        }
        if kind != Kind::Gap {
            is_password = kind == Kind::Word && is_password_word(part);
        }
    }
    if cut.len() < text.len() {
        shown.push(CUT);
    }
    shown
}

/// Whether a text sets a password, or may do so where it was cut: what an error says of it is not to be shown
/// either.
pub(super) fn tells_password(text: &str) -> bool {
    let words = || Parts(text).filter(|(kind, _)| *kind == Kind::Word).map(|(_, word)| word);
    let is = |word: &str, known: &str| word.eq_ignore_ascii_case(known);
    let may_be = |first: &str| is(first, "CREATE") || is(first, "ALTER");
    (text.ends_with(CUT) && words().next().is_some_and(may_be)) || words().any(is_password_word)
}

fn is_password_word(word: &str) -> bool {
    word.eq_ignore_ascii_case("PASSWORD")
}

/// At most so many characters.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(CHARACTERS_MAX).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

impl<'a> Iterator for Parts<'a> {
    type Item = (Kind, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.0.chars().next()?;
        let (kind, length) = part(self.0, first);
        let (part, rest) = self.0.split_at(length);
        self.0 = rest;
        Some((kind, part))
    }
}

/// What a text begins with, and its bytes.
fn part(text: &str, first: char) -> (Kind, usize) {
    let run = |is_part: fn(char) -> bool| text.find(|c| !is_part(c)).unwrap_or(text.len());
    if first.is_whitespace() || first == '=' {
        return (Kind::Gap, run(|c| c.is_whitespace() || c == '='));
    }
    if text.starts_with("--") {
        return (Kind::Gap, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (Kind::Gap, comment_length(text));
    }
    if let Some(length) = prefix_length(text) {
        let has_escapes = matches!(first, 'e' | 'E');
        return (Kind::Literal, length + quoted_length(&text[length..], '\'', has_escapes));
    }
    match first {
        '"' => (Kind::Other, quoted_length(text, '"', false)),
        '$' => match tag_length(text) {
            Some(length) => {
                let (tag, body) = text.split_at(length);
                let end = body.find(tag).map(|end| end + 2 * length);
                (Kind::Literal, end.unwrap_or(text.len()))
            }
            None => (Kind::Other, 1),
        },
        first if is_of_word(first) => (Kind::Word, run(is_of_word)),
        first => (Kind::Other, first.len_utf8()),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The letters before a quote that belong to the literal, where a text begins with one.
fn prefix_length(text: &str) -> Option<usize> {
    let quote = text.bytes().take(3).position(|byte| byte == b'\'')?;
    let prefix = &text[..quote];
    let known = ["", "E", "N", "B", "X", "U&"];
    known.iter().any(|one| one.eq_ignore_ascii_case(prefix)).then_some(quote)
}

/// The bytes of a text in quotes; a quote within is written twice, or behind a backslash.
fn quoted_length(text: &str, quote: char, has_escapes: bool) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        let is_twice = characters.peek().is_some_and(|(_, next)| *next == quote);
        match character {
            '\\' if has_escapes => drop(characters.next()),
            c if c == quote && is_twice => drop(characters.next()),
            c if c == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// The bytes of `$tag$`, or of `$$`.
fn tag_length(text: &str) -> Option<usize> {
    let end = text[1..].find('$')?;
    let tag = &text[1..=end];
    let is_tag = tag.chars().all(is_of_word) && !tag.starts_with(|c: char| c.is_ascii_digit());
    is_tag.then_some(end + 2)
}

/// The bytes of a comment and those within it.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut index) = (0_usize, 0);
    while let Some(found) = text[index..].find(['/', '*']) {
        index += found;
        match text.as_bytes().get(index..index + 2) {
            Some(b"/*") => (depth, index) = (depth + 1, index + 2),
            Some(b"*/") => {
                (depth, index) = (depth - 1, index + 2);
                if depth == 0 {
                    return index;
                }
            }
            _ => index += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;

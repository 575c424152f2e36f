//! Options of COPY that the parser has no words for: they are taken out of a statement's tokens.

use super::spelling::{begins_with, keyword};
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use gadus_engine::{Reason, Result};

/// Names of the options.
const NAMES: [&str; 12] = [
    "compression",
    "ignore_errors",
    "log_verbosity",
    "on_error",
    "overwrite",
    "overwrite_or_ignore",
    "partition_by",
    "reject_limit",
    "rejects",
    "rejects_limit",
    "rejects_table",
    "store_rejects",
];

/// The options that were taken, by their names in small letters, with their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyWords(Vec<(String, Vec<Word>)>);

/// A value as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it is a name that is folded.
    is_plain: bool,
}

impl Word {
    /// As the name of a table or a column.
    pub(super) fn folded(&self) -> String {
        if self.is_plain { self.text.to_lowercase() } else { self.text.clone() }
    }
}

impl CopyWords {
    /// Takes them out of a statement's tokens; none where it has none.
    ///
    /// # Errors
    /// Where an option's value is none.
    pub(super) fn take(tokens: &mut [TokenWithSpan]) -> Result<Option<Self>> {
        if !begins_with(tokens, Keyword::COPY) {
            return Ok(None);
        }
        let is_shown = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
        let shown = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
        let Some((open, close)) = list(tokens, &shown) else { return Ok(None) };
        let (mut taken, mut gone, mut left) = (Vec::new(), Vec::new(), 0);
        for (from, to) in items(tokens, &shown, open + 1, close) {
            let of = shown[from..to].iter().map(|place| &tokens[*place].token).collect::<Vec<_>>();
            match option(&of)? {
                Some(option) => {
                    taken.push(option);
                    // With the comma behind it.
                    gone.extend(from..(to + 1).min(close));
                }
                None => left += 1,
            }
        }
        if taken.is_empty() {
            return Ok(None);
        }
        if left == 0 {
            gone.extend([open, close]);
        } else {
            // What is last now has a comma behind it where others were.
            let last = (open..close).rev().find(|at| !gone.contains(at));
            gone.extend(last.filter(|at| tokens[shown[*at]].token == Token::Comma));
        }
        for at in gone {
            tokens[shown[at]].token = Token::Whitespace(Whitespace::Space);
        }
        Ok(Some(Self(taken)))
    }

    /// The values of an option; none where it was not said, or its value is that it is not so.
    pub(super) fn values(&self, name: &str) -> Option<&[Word]> {
        let said = self.0.iter().rev().find(|(said, _)| said == name);
        said.map(|(_, values)| values.as_slice())
    }

    /// The one value of an option.
    pub(super) fn value(&self, name: &str) -> Result<Option<&Word>> {
        match self.values(name) {
            None => Ok(None),
            Some([value]) => Ok(Some(value)),
            Some(_) => Err(input(format!("{} of a COPY has one value", name.to_uppercase()))),
        }
    }

    /// Whether an option is said, and not with a value that is none.
    pub(super) fn is_set(&self, name: &str) -> Result<bool> {
        let Some(values) = self.values(name) else { return Ok(false) };
        match values {
            [] => Ok(true),
            [value] => match value.text.to_ascii_lowercase().as_str() {
                "true" | "on" | "1" => Ok(true),
                "false" | "off" | "0" => Ok(false),
                _ => Err(input(format!("{} of a COPY is TRUE or FALSE", name.to_uppercase()))),
            },
            _ => Err(input(format!("{} of a COPY is TRUE or FALSE", name.to_uppercase()))),
        }
    }

    /// Whether one of these was said.
    pub(super) fn said_of(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.values(name).is_some())
    }

    /// Refuses them where they mean nothing.
    pub(super) fn refuse(&self, where_: &str) -> Result<()> {
        match self.0.first() {
            Some((name, _)) => {
                Err(unsupported(&format!("{} of a COPY {where_}", name.to_uppercase())))
            }
            None => Ok(()),
        }
    }
}

/// The places, among those that are shown, of the parentheses around the options.
fn list(tokens: &[TokenWithSpan], shown: &[usize]) -> Option<(usize, usize)> {
    let token = |at: usize| shown.get(at).map(|place| &tokens[*place].token);
    let mut depth = 0_usize;
    let direction = (0..shown.len()).find(|at| match token(*at) {
        Some(Token::LParen) => {
            depth += 1;
            false
        }
        Some(Token::RParen) => {
            depth = depth.saturating_sub(1);
            false
        }
        Some(word) => depth == 0 && matches!(keyword(word), Keyword::FROM | Keyword::TO),
        None => false,
    })?;
    let is = |at: usize, expected| token(at).map(keyword) == Some(expected);
    let mut open = direction + 2 + usize::from(is(direction + 1, Keyword::PROGRAM));
    open += usize::from(is(open, Keyword::WITH));
    if token(open) != Some(&Token::LParen) {
        return None;
    }
    let mut depth = 0_usize;
    let close = (open..shown.len()).find(|at| {
        match token(*at) {
            Some(Token::LParen) => depth += 1,
            Some(Token::RParen) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })?;
    Some((open, close))
}

/// What stands between the commas of a list: where each begins and ends.
fn items(tokens: &[TokenWithSpan], shown: &[usize], from: usize, to: usize) -> Vec<(usize, usize)> {
    let (mut begin, mut depth) = (from, 0_usize);
    let mut items = Vec::new();
    for (at, place) in shown.iter().enumerate().take(to).skip(from) {
        match tokens[*place].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => {
                items.push((begin, at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.push((begin, to));
    items
}

/// An option that is one of these, with its values.
fn option(tokens: &[&Token]) -> Result<Option<(String, Vec<Word>)>> {
    let Some((Token::Word(name), values)) = tokens.split_first() else { return Ok(None) };
    let name = name.value.to_ascii_lowercase();
    if !NAMES.contains(&name.as_str()) {
        return Ok(None);
    }
    let wrong = || {
        let message = format!("{} of a COPY has a name, a text or a number", name.to_uppercase());
        input(message).because(Reason::Syntax)
    };
    let word = |token: &&Token| match token {
        Token::Word(word) => {
            let is_plain = word.quote_style.is_none();
            Ok(Word { text: word.value.clone(), is_plain })
        }
        Token::SingleQuotedString(text) => Ok(Word { text: text.clone(), is_plain: false }),
        Token::Number(text, _) => Ok(Word { text: text.clone(), is_plain: true }),
        _ => Err(wrong()),
    };
    let values = match values {
        [Token::LParen, listed @ .., Token::RParen] => {
            let alternates = listed.iter().enumerate();
            let ends =
                alternates.clone().all(|(at, token)| (at % 2 == 1) == (**token == Token::Comma));
            if !ends || listed.len() % 2 == 0 {
                return Err(wrong());
            }
            listed.iter().step_by(2).map(word).collect::<Result<Vec<_>>>()?
        }
        [] => Vec::new(),
        [value] => vec![word(value)?],
        _ => return Err(wrong()),
    };
    Ok(Some((name, values)))
}

#[cfg(test)]
mod tests;

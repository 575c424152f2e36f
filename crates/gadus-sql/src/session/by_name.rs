//! PREPARE, EXECUTE and DEALLOCATE: statements that a session knows by a name.
//!
//! - A name stands for a text. EXECUTE writes its arguments into it, as types that PREPARE names, and what comes of that
//!   is a statement like any other: it is described, kept and compiled as one.
//! - They are the session's, not a transaction's, as PostgreSQL has them.

use super::modify::folded;
use super::spelling::{is_word, keyword};
use super::{Outcome, Prepared, Session};
use crate::error::{coded, from_parser, input, unsupported};
use datafusion::sql::sqlparser::ast::{Ident, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, Tokenizer};
use gadus_engine::{Error, ErrorKind, Reason, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The statements that a session knows by a name.
#[derive(Debug, Default)]
pub(super) struct ByName {
    texts: Mutex<HashMap<String, Named>>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
struct Named {
    text: String,
    /// Of its parameters, as far as they are named.
    types: Vec<String>,
}

/// A text with the places of its words.
struct Words<'a> {
    text: &'a str,
    words: Vec<(Token, Range<usize>)>,
}

impl ByName {
    pub(super) fn forget_all(&self) {
        self.texts.lock().clear();
    }

    /// Forgets one, or all.
    pub(super) fn deallocate(&self, name: Option<String>) -> Result<Outcome> {
        let Some(name) = name else {
            self.forget_all();
            return Ok(Outcome::Done("DEALLOCATE ALL"));
        };
        let known = self.texts.lock().remove(&name);
        known.map(|_| Outcome::Done("DEALLOCATE")).ok_or_else(|| unknown(&name))
    }

    /// What an EXECUTE runs; none for every other statement.
    fn executed(&self, text: &str) -> Result<Option<String>> {
        if !["execute", "explain"].iter().any(|word| first_word(text).eq_ignore_ascii_case(word)) {
            return Ok(None);
        }
        let words = Words::of(text)?;
        let Some(at) = words.place_of_execute() else { return Ok(None) };
        let (name, behind) = words.name(at + 1)?;
        let (arguments, behind) = words.list(behind)?;
        if behind < words.words.len() {
            return Err(input("EXECUTE takes a name, and values in parentheses"));
        }
        let named = self.texts.lock().get(&name).cloned().ok_or_else(|| unknown(&name))?;
        let before = &words.text[..words.words[at].1.start];
        Ok(Some(format!("{before}{}", named.with(&name, &words, &arguments)?)))
    }
}

impl Session {
    /// The statement that an EXECUTE runs; none for every other statement.
    pub(super) fn executed(&self, text: &str) -> Result<Option<Prepared>> {
        self.by_name.executed(text)?.map(|text| super::parse(&text)).transpose()
    }

    /// PREPARE.
    pub(super) fn prepare_by_name(&self, text: &str) -> Result<Outcome> {
        let (name, named, _) = taken_apart(text)?;
        let mut texts = self.by_name.texts.lock();
        if texts.contains_key(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(
                Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateStatement)
            );
        }
        texts.insert(name, named);
        Ok(Outcome::Done("PREPARE"))
    }
}

/// Parses a PREPARE, with the statement that it is about.
pub(super) fn parse_prepare(text: &str) -> Result<Prepared> {
    let (name, named, first) = taken_apart(text)?;
    // As long as before, so that errors name places of the whole text.
    let blank = |char| if char == '\n' { '\n' } else { ' ' };
    let before = text[..first].chars().map(blank).collect::<String>();
    let prepared = super::parse(&format!("{before}{}", named.text))?;
    if !prepared.names.is_empty() {
        return Err(other_parameter());
    }
    named.places()?;
    let is_taken = matches!(
        &*prepared.statement,
        Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
    );
    if !is_taken {
        return Err(input("PREPARE takes SELECT, VALUES, INSERT, UPDATE, DELETE and MERGE"));
    }
    let statement = Statement::Prepare {
        name: Ident::with_quote('"', name),
        data_types: Vec::new(),
        statement: Box::new(Arc::unwrap_or_clone(prepared.statement)),
    };
    Ok(Prepared {
        text: Arc::from(text),
        statement: Arc::new(statement),
        parameters: 0,
        calls_settings: false,
        calls_sequences: false,
        reads_settings: false,
        // It changes nothing itself.
        changes_within: false,
        ..prepared
    })
}

/// The name that a PREPARE gives, what to, and where that begins.
fn taken_apart(text: &str) -> Result<(String, Named, usize)> {
    let words = Words::of(text)?;
    let (name, behind) = words.name(1)?;
    let (types, behind) = words.list(behind)?;
    let begins = behind + 1;
    let first = words.words.get(begins).filter(|_| words.is(behind, Keyword::AS));
    let Some((_, first)) = first else {
        return Err(input("PREPARE takes a name, types in parentheses, and a statement behind AS"));
    };
    let types = types.into_iter().map(|range| words.shown(range).to_owned()).collect();
    let end = words.words.last().map_or(first.end, |(_, last)| last.end);
    Ok((name, Named { text: text[first.start..end].to_owned(), types }, first.start))
}

impl Named {
    /// Where its parameters stand, with their numbers.
    fn places(&self) -> Result<Vec<(usize, Range<usize>)>> {
        let mut places = Vec::new();
        for (token, range) in Words::of(&self.text)?.words {
            let Token::Placeholder(name) = token else { continue };
            match name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok()) {
                Some(number) if number > 0 => places.push((number, range)),
                _ => return Err(other_parameter()),
            }
        }
        Ok(places)
    }

    /// Its text with arguments, which are so many words of others.
    fn with(&self, name: &str, words: &Words<'_>, arguments: &[Range<usize>]) -> Result<String> {
        let places = self.places()?;
        let numbers = places.iter().map(|(number, _)| *number);
        let wanted = numbers.clone().max().unwrap_or(0).max(self.types.len());
        if arguments.len() != wanted {
            let message = format!(
                "wrong number of parameters for prepared statement \"{name}\": it has {wanted}, {} were given",
                arguments.len()
            );
            return Err(coded("42601", message));
        }
        let mut texts = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let often = numbers.clone().filter(|number| *number == at + 1).count();
            texts.push(words.argument(argument, self.types.get(at), often)?);
        }
        let (mut written, mut from) = (String::new(), 0);
        for (number, range) in places {
            written.push_str(&self.text[from..range.start]);
            written.push_str(&texts[number - 1]);
            from = range.end;
        }
        written.push_str(&self.text[from..]);
        Ok(written)
    }
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Result<Self> {
        let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location();
        let tokens = tokens.map_err(|error| from_parser(&error.into()))?;
        let mut bytes = Bytes { text, at: 0, location: Location::new(1, 1) };
        let (mut words, mut has_ended) = (Vec::new(), false);
        for with in tokens {
            let range = bytes.of(with.span.start)..bytes.of(with.span.end);
            match with.token {
                Token::Whitespace(_) | Token::EOF => {}
                Token::SemiColon => has_ended = true,
                _ if has_ended => return Err(input("one statement at a time")),
                token => words.push((token, range)),
            }
        }
        Ok(Self { text, words })
    }

    fn is(&self, at: usize, expected: Keyword) -> bool {
        self.words.get(at).is_some_and(|(token, _)| keyword(token) == expected)
    }

    /// Where the word stands: first, or behind EXPLAIN and its options.
    fn place_of_execute(&self) -> Option<usize> {
        let mut at = 0;
        if self.is(0, Keyword::EXPLAIN) {
            at = self.list(1).ok()?.1;
            while self.is(at, Keyword::ANALYZE) || self.is(at, Keyword::VERBOSE) {
                at += 1;
            }
        }
        // Not a column or a function that is called so.
        let (token, _) = self.words.get(at)?;
        let follows = matches!(self.words.get(at + 1), Some((Token::Word(_), _)));
        (is_word(token, "execute") && follows).then_some(at)
    }

    /// The name that stands there, and what stands behind it.
    fn name(&self, at: usize) -> Result<(String, usize)> {
        match self.words.get(at) {
            Some((Token::Word(word), _)) => {
                Ok((folded(&word.clone().into_ident(Span::empty())), at + 1))
            }
            _ => Err(input("a prepared statement has a name")),
        }
    }

    /// The parts of a list in parentheses, if one stands there, and what stands behind it.
    fn list(&self, at: usize) -> Result<(Vec<Range<usize>>, usize)> {
        if !matches!(self.words.get(at), Some((Token::LParen, _))) {
            return Ok((Vec::new(), at));
        }
        let (mut parts, mut depth, mut first) = (Vec::new(), 0_usize, at + 1);
        for place in at..self.words.len() {
            match self.words[place].0 {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                Token::Comma if depth == 1 => {
                    parts.push(first..place);
                    first = place + 1;
                }
                _ => {}
            }
            if depth == 0 {
                if place > at + 1 {
                    parts.push(first..place);
                }
                return match parts.iter().any(Range::is_empty) {
                    true => Err(input("between two commas stands nothing")),
                    false => Ok((parts, place + 1)),
                };
            }
        }
        Err(input("a parenthesis is not closed"))
    }

    fn shown(&self, words: Range<usize>) -> &'a str {
        &self.text[self.words[words.start].1.start..self.words[words.end - 1].1.end]
    }

    /// An argument of EXECUTE, as it is written in the place of a parameter that stands so often.
    fn argument(
        &self,
        words: &Range<usize>,
        of_type: Option<&String>,
        often: usize,
    ) -> Result<String> {
        let tokens = &self.words[words.clone()];
        let has = |wanted: fn(&Token) -> bool| tokens.iter().any(|(token, _)| wanted(token));
        if has(|token| matches!(token, Token::Placeholder(_)) || keyword(token) == Keyword::SELECT)
        {
            return Err(unsupported("a query or a parameter among the arguments of EXECUTE"));
        }
        if often > 1 && has(|token| *token == Token::LParen) {
            let what = "an argument of EXECUTE with parentheses, for a parameter that stands more than once";
            return Err(unsupported(what));
        }
        let text = self.shown(words.clone());
        let is_integer = |of_type: &str| {
            ["int", "integer", "bigint", "int4", "int8"]
                .into_iter()
                .any(|known| known.eq_ignore_ascii_case(of_type))
        };
        Ok(match (tokens, of_type) {
            ([(Token::Number(digits, _), _)], Some(of_type))
                if is_integer(of_type) && digits.parse::<i32>().is_ok() =>
            {
                text.to_owned()
            }
            (_, Some(of_type)) if !of_type.eq_ignore_ascii_case("unknown") => {
                format!("CAST({text} AS {of_type})")
            }
            ([_], _) => text.to_owned(),
            _ => format!("({text})"),
        })
    }
}

/// Where the tokenizer's places are in a text.
struct Bytes<'a> {
    text: &'a str,
    at: usize,
    location: Location,
}

impl Bytes<'_> {
    /// The first byte of a place that is not before those asked for so far.
    fn of(&mut self, place: Location) -> usize {
        let before =
            |location: &Location| (location.line, location.column) < (place.line, place.column);
        for char in self.text[self.at..].chars() {
            if !before(&self.location) {
                break;
            }
            self.at += char.len_utf8();
            self.location = match char {
                '\n' => Location::new(self.location.line + 1, 1),
                _ => Location::new(self.location.line, self.location.column + 1),
            };
        }
        self.at
    }
}

/// The first word of a text, behind comments.
fn first_word(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        text = match (text.strip_prefix("--"), text.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n').unwrap_or_default().1,
            (_, Some(comment)) => comment.split_once("*/").unwrap_or_default().1,
            _ => break,
        };
    }
    let end = text.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(text.len());
    &text[..end]
}

fn other_parameter() -> Error {
    unsupported("a parameter of PREPARE that is not $1, $2 and so on")
}

fn unknown(name: &str) -> Error {
    let message = format!("prepared statement \"{name}\" does not exist");
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownStatement)
}

//! Options of COPY, in both of PostgreSQL's spellings and with those of Gadus: they are taken out of a statement's
//! tokens, as the parser of statements does not know all of them.

use super::spelling::{begins_with, is_word, keyword};
use crate::copy_text::CopyForm;
use crate::error::{coded, input, unsupported};
use crate::room::with_room;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use gadus_engine::{Reason, Result};
use gadus_syntax::ast::{Copy, OptionValue, Statement, UtilityOption};
use gadus_syntax::parse_statement;

/// Names of the options that PostgreSQL does not have.
const OWN_NAMES: [&str; 12] = [
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
pub(crate) struct CopyWords(Vec<(String, Vec<Word>)>);

/// A value as it is written; a name without quotes is folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
}

impl Word {
    /// Returns the name of a table or a column.
    pub(crate) fn folded(&self) -> String {
        self.text.clone()
    }
}

impl CopyWords {
    /// Takes the options of a COPY out of its tokens; `None` for other statements.
    ///
    /// # Errors
    /// `42601` for options that are not known or are there twice, and for texts that are no COPY.
    pub(super) fn take(text: &str, tokens: &mut [TokenWithSpan]) -> Result<Option<Self>> {
        if !begins_with(tokens, Keyword::COPY) {
            return Ok(None);
        }
        let parsed = with_room(true, || parse_statement(text));
        let copy = match parsed.map(|parsed| parsed.statement) {
            Ok(Statement::Copy(copy)) => copy,
            Ok(_) => return Ok(None),
            Err(error) => return Err(input(error.message).because(Reason::Syntax)),
        };
        let Copy { options, filter, .. } = *copy;
        if filter.is_some() {
            return Err(unsupported("COPY … FROM with WHERE"));
        }
        let words = Self(options.into_iter().map(option).collect::<Result<_>>()?);
        words.check()?;
        without_options(tokens);
        Ok(Some(words))
    }

    fn check(&self) -> Result<()> {
        for (place, (name, _)) in self.0.iter().enumerate() {
            if !OWN_NAMES.contains(&name.as_str()) && !CopyForm::is_option(name) {
                return Err(coded("42601", format!("option \"{name}\" not recognized")));
            }
            if self.0[..place].iter().any(|(before, _)| before == name) {
                return Err(coded("42601", "conflicting or redundant options"));
            }
        }
        Ok(())
    }

    /// The values of an option; none where it was not said, or its value is that it is not so.
    pub(crate) fn values(&self, name: &str) -> Option<&[Word]> {
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
    pub(crate) fn is_set(&self, name: &str) -> Result<bool> {
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
    pub(crate) fn said_of(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.values(name).is_some())
    }

    /// Refuses options that PostgreSQL does not have where they have no meaning.
    pub(super) fn refuse_own(&self, where_: &str) -> Result<()> {
        match self.said_of(&OWN_NAMES) {
            Some(name) => Err(unsupported(&format!("{} of a COPY {where_}", name.to_uppercase()))),
            None => Ok(()),
        }
    }
}

fn option(option: UtilityOption) -> Result<(String, Vec<Word>)> {
    let UtilityOption { name, value } = option;
    let wrong = || {
        let message = format!("{} of a COPY has a name, a text or a number", name.to_uppercase());
        input(message).because(Reason::Syntax)
    };
    let word = |value: OptionValue| match value {
        OptionValue::Word(text) | OptionValue::Text(text) | OptionValue::Number(text) => {
            Ok(Word { text })
        }
        OptionValue::Star => Ok(Word { text: "*".to_owned() }),
        OptionValue::List(_) | OptionValue::Expr(_) => Err(wrong()),
    };
    let values = match value {
        None => Vec::new(),
        Some(OptionValue::List(values)) => values.into_iter().map(word).collect::<Result<_>>()?,
        Some(value) => vec![word(value)?],
    };
    Ok((name.to_ascii_lowercase(), values))
}

/// Makes tokens of options blanks: all that is after the file or the stream, and BINARY before the table.
fn without_options(tokens: &mut [TokenWithSpan]) {
    let is_shown = |place: &usize| {
        !matches!(tokens[*place].token, Token::Whitespace(_) | Token::EOF | Token::SemiColon)
    };
    let shown = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
    let mut depth = 0_usize;
    let direction = (0..shown.len()).find(|at| match &tokens[shown[*at]].token {
        Token::LParen => {
            depth += 1;
            false
        }
        Token::RParen => {
            depth = depth.saturating_sub(1);
            false
        }
        word => depth == 0 && matches!(keyword(word), Keyword::FROM | Keyword::TO),
    });
    let Some(direction) = direction else { return };
    let token = |at: usize| shown.get(at).map(|place| &tokens[*place].token);
    let is_program = token(direction + 1).is_some_and(|word| keyword(word) == Keyword::PROGRAM);
    let is_binary = token(1).is_some_and(|word| is_word(word, "binary"))
        && matches!(token(2), Some(Token::Word(_)))
        && direction > 2;
    let behind = shown.iter().skip(direction + 2 + usize::from(is_program));
    let gone = behind.chain(shown.get(1).filter(|_| is_binary)).copied().collect::<Vec<_>>();
    for place in gone {
        tokens[place].token = Token::Whitespace(Whitespace::Space);
    }
}

#[cfg(test)]
mod tests;

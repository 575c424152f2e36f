//! `BACKUP TO 'file'`: the database as it is, copied to a new file while others read and write.
//!
//! - It is no part of a transaction: it copies what is committed.

use super::locking::blocking;
use super::{Outcome, Session, State};
use crate::error::input;
use crate::session::cancel::Flag;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use gadus_engine::{Reason, Result};
use std::path::Path;

/// The file that a statement copies the database to; none where it is another statement.
///
/// # Errors
/// Where it begins as one, and goes on otherwise.
pub(super) fn target(text: &str) -> Result<Option<String>> {
    let is_word = |word: &str, expected: &str| word.eq_ignore_ascii_case(expected);
    let first = text.trim_start().split(|character: char| !character.is_alphanumeric()).next();
    if !first.is_some_and(|first| is_word(first, "backup")) {
        return Ok(None);
    }
    let wrong = || {
        Err(input("BACKUP TO 'file' is how a database is copied to a new file")
            .because(Reason::Syntax))
    };
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, text).tokenize() else { return wrong() };
    let tokens = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_)));
    let tokens = tokens.filter(|token| *token != Token::SemiColon).collect::<Vec<_>>();
    let rest = match tokens.as_slice() {
        [_, Token::Word(word), rest @ ..] if is_word(&word.value, "database") => rest,
        [_, rest @ ..] => rest,
        [] => return wrong(),
    };
    match rest {
        [Token::Word(to), Token::SingleQuotedString(file)] if is_word(&to.value, "to") => {
            Ok(Some(file.clone()))
        }
        _ => wrong(),
    }
}

impl Session {
    pub(super) fn back_up(&self, state: &State, flag: &Flag, file: &str) -> Result<Outcome> {
        if state.transaction.is_some() {
            let message =
                "BACKUP copies what is committed: COMMIT or ROLLBACK the transaction first";
            return Err(input(message).because(Reason::OpenTransaction));
        }
        let file = self.files.to_write(file)?;
        let mut known = 0;
        let copied = blocking(|| {
            self.engine.back_up_to(Path::new(&file), |rows, all| {
                if known == 0 {
                    self.progress.rows_expected(usize::try_from(all).unwrap_or(usize::MAX));
                }
                self.progress.rows_written(usize::try_from(rows - known).unwrap_or(usize::MAX));
                known = rows;
                if flag.is_set() { Err(flag.reason()) } else { Ok(()) }
            })
        });
        copied.map(|_| Outcome::Done("BACKUP"))
    }
}

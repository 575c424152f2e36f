//! CHECKPOINT, BACKUP and REINDEX: statements of the database's files, which the parser's grammar lacks.
//!
//! - They are found by their text before anything is parsed. For descriptions and implicit transactions they
//!   have a syntax tree: a CALL of a procedure of that name.

mod reindex;

use crate::error::input;
use datafusion::sql::sqlparser::ast::{Function, FunctionArguments, Ident, ObjectName, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use gadus_engine::{Reason, Result};
pub(super) use reindex::Reindex;

/// A statement of the database's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Maintenance {
    /// `CHECKPOINT`.
    Checkpoint,
    /// `BACKUP [DATABASE] TO 'file'`.
    Backup { file: String },
    /// `REINDEX TABLE t` and the like.
    Reindex(Reindex),
}

impl Maintenance {
    /// Reads such a statement; none if the text is another one.
    ///
    /// # Errors
    /// When the text begins as one, and goes on otherwise.
    pub(super) fn of(text: &str) -> Result<Option<Self>> {
        let is_word = |word: &str, expected: &str| word.eq_ignore_ascii_case(expected);
        let first = text.trim_start().split(|character: char| !character.is_alphanumeric()).next();
        let Some(first) = first else { return Ok(None) };
        let is_reindex = is_word(first, "reindex");
        if !is_word(first, "checkpoint") && !is_word(first, "backup") && !is_reindex {
            return Ok(None);
        }
        let wrong = || {
            let usage = match is_reindex {
                true => "REINDEX INDEX, TABLE, SCHEMA or DATABASE and a name",
                false => "CHECKPOINT, or BACKUP TO 'file'",
            };
            Err(input(format!(
                "syntax error in a statement of the database's files; expected {usage}"
            ))
            .because(Reason::Syntax))
        };
        let Ok(tokens) = Tokenizer::new(&GenericDialect {}, text).tokenize() else {
            return wrong();
        };
        let is_meant =
            |token: &Token| !matches!(token, Token::Whitespace(_) | Token::SemiColon | Token::EOF);
        let tokens = tokens.into_iter().filter(is_meant).collect::<Vec<_>>();
        let rest = match tokens.as_slice() {
            [Token::Word(word)] if is_word(&word.value, "checkpoint") => {
                return Ok(Some(Self::Checkpoint));
            }
            [Token::Word(_), rest @ ..] if is_reindex => {
                return Reindex::of(rest).map_or_else(wrong, |read| Ok(Some(Self::Reindex(read))));
            }
            [Token::Word(verb), rest @ ..] if is_word(&verb.value, "backup") => rest,
            _ => return wrong(),
        };
        let rest = match rest {
            [Token::Word(word), rest @ ..] if is_word(&word.value, "database") => rest,
            rest => rest,
        };
        match rest {
            [Token::Word(to), Token::SingleQuotedString(file)] if is_word(&to.value, "to") => {
                Ok(Some(Self::Backup { file: file.clone() }))
            }
            _ => wrong(),
        }
    }

    /// Returns the syntax tree that stands for the statement.
    pub(super) fn as_call(&self) -> Statement {
        let name = match self {
            Self::Checkpoint => "checkpoint",
            Self::Backup { .. } => "backup",
            Self::Reindex(_) => "reindex",
        };
        Statement::Call(Function {
            name: ObjectName::from(vec![Ident::new(name)]),
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::None,
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Maintenance;

    #[test]
    fn checkpoint_and_backup_are_read_in_any_spelling() {
        let of = |text| Maintenance::of(text).unwrap();
        assert_eq!(of(" checkPOINT ;"), Some(Maintenance::Checkpoint));
        let backup = Some(Maintenance::Backup { file: "it's".to_owned() });
        assert_eq!(of("BACKUP TO 'it''s'"), backup);
        assert_eq!(of("backup database to 'it''s';"), backup);
        assert_eq!(of("SELECT 1"), None);
        assert_eq!(of("backups"), None);
        for wrong in ["CHECKPOINT now", "BACKUP", "BACKUP 'x'", "BACKUP TO x"] {
            assert!(Maintenance::of(wrong).is_err(), "{wrong}");
        }
    }
}

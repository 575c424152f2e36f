//! What the catalog keeps as text: schemas, functions of SQL and enumerations by their names, and comments by what they
//! are about.
//!
//! - The texts mean something to whoever wrote them; here they are kept, and go with what they are about.
//!
//! Byte table of a key (version 1): kind u8, then by kind: 1 function: name text | 2 comment on a table, view or
//! sequence: id u32 | 3 comment on a column: id u32, number of the column u32 | 4 comment on an index: id u32 of its
//! table, number of the index u32 | 5 comment on a function: name text | 6 comment on the database | 7 schema: name
//! text | 8 comment on a schema: name text | 9 enumeration: name text | 10 comment on an enumeration: name text. An
//! unknown kind refuses the database.

use super::schema::{NAME_BYTES_MAX, check_name};
use crate::error::{Error, ErrorKind, Result};
use gadus_base::{ByteReader, ByteWriter, DecodeError, TableId};

/// Longest text, in bytes.
pub(crate) const DEFINITION_BYTES_MAX: usize = 1 << 20;
/// Most texts of a database.
pub(crate) const DEFINITIONS_MAX: usize = 1 << 20;

/// What a text is, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefinitionKey {
    /// The statement that makes a function of this name.
    Function(String),
    /// A comment on a table, a view or a sequence.
    CommentOnRelation(TableId),
    /// A comment on a column, by its number; a view's have their places.
    CommentOnColumn(TableId, u32),
    /// A comment on an index of a table, by its number.
    CommentOnIndex(TableId, u32),
    /// A comment on a function.
    CommentOnFunction(String),
    /// A comment on the database.
    CommentOnDatabase,
    /// A schema of this name, which has no text.
    Schema(String),
    /// A comment on a schema; the main one is always there.
    CommentOnSchema(String),
    /// The labels of an enumeration of this name, with its schema's as relations have it.
    Type(String),
    /// A comment on an enumeration.
    CommentOnType(String),
}

impl DefinitionKey {
    /// The relation that the text goes with.
    #[must_use]
    pub fn relation(&self) -> Option<TableId> {
        match self {
            Self::CommentOnRelation(id)
            | Self::CommentOnColumn(id, _)
            | Self::CommentOnIndex(id, _) => Some(*id),
            Self::Function(_)
            | Self::CommentOnFunction(_)
            | Self::CommentOnDatabase
            | Self::Schema(_)
            | Self::CommentOnSchema(_)
            | Self::Type(_)
            | Self::CommentOnType(_) => None,
        }
    }

    /// Refuses names and texts that could be written, and not be read again.
    pub(crate) fn check(&self, text: &str) -> Result<()> {
        if let Self::Function(name) | Self::CommentOnFunction(name) = self {
            check_name("function", name)?;
        }
        if let Self::Schema(name) | Self::CommentOnSchema(name) = self {
            check_name("schema", name)?;
        }
        if let Self::Type(name) | Self::CommentOnType(name) = self {
            check_name("type", name)?;
        }
        if text.len() > DEFINITION_BYTES_MAX {
            let message =
                format!("a text of {} bytes; {DEFINITION_BYTES_MAX} are possible", text.len());
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(())
    }

    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::Function(name) => {
                to.u8(1);
                to.text(name);
            }
            Self::CommentOnRelation(id) => {
                to.u8(2);
                to.u32(id.0);
            }
            Self::CommentOnColumn(id, number) => {
                to.u8(3);
                to.u32(id.0);
                to.u32(*number);
            }
            Self::CommentOnIndex(id, number) => {
                to.u8(4);
                to.u32(id.0);
                to.u32(*number);
            }
            Self::CommentOnFunction(name) => {
                to.u8(5);
                to.text(name);
            }
            Self::CommentOnDatabase => to.u8(6),
            Self::Schema(name) => {
                to.u8(7);
                to.text(name);
            }
            Self::CommentOnSchema(name) => {
                to.u8(8);
                to.text(name);
            }
            Self::Type(name) => {
                to.u8(9);
                to.text(name);
            }
            Self::CommentOnType(name) => {
                to.u8(10);
                to.text(name);
            }
        }
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> std::result::Result<Self, DecodeError> {
        let offset = from.offset();
        let key = match from.u8()? {
            1 => Self::Function(from.text(NAME_BYTES_MAX)?.to_owned()),
            2 => Self::CommentOnRelation(TableId(from.u32()?)),
            3 => Self::CommentOnColumn(TableId(from.u32()?), from.u32()?),
            4 => Self::CommentOnIndex(TableId(from.u32()?), from.u32()?),
            5 => Self::CommentOnFunction(from.text(NAME_BYTES_MAX)?.to_owned()),
            6 => Self::CommentOnDatabase,
            7 => Self::Schema(from.text(NAME_BYTES_MAX)?.to_owned()),
            8 => Self::CommentOnSchema(from.text(NAME_BYTES_MAX)?.to_owned()),
            9 => Self::Type(from.text(NAME_BYTES_MAX)?.to_owned()),
            10 => Self::CommentOnType(from.text(NAME_BYTES_MAX)?.to_owned()),
            _ => {
                let expected = "a kind of definition; a newer Gadus wrote it";
                return Err(DecodeError { offset, expected });
            }
        };
        match key.check("") {
            Ok(()) => Ok(key),
            Err(_) => {
                Err(DecodeError { offset, expected: "the name of a function, a schema or a type" })
            }
        }
    }
}

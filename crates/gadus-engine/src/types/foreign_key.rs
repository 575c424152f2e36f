//! FOREIGN KEY constraints: what the rows of one table have of the rows of another.
//!
//! - A row without a NULL among the referring columns has the values of a row that is there in the table it refers to.
//! - Both tables know: the one that refers has the constraint, the other one the tables that refer to it, so that
//!   its shape changes, too, and no statement that was made before misses it.

use super::schema::{INDEX_COLUMNS_MAX, NAME_BYTES_MAX, check_name};
use super::{ColumnType, Datum, TableSchema};
use crate::error::{Error, ErrorKind, Result};
use gadus_base::{ByteReader, ByteWriter, DecodeError, TableId};

/// Most constraints of a table that refer to others.
const FOREIGN_KEYS_MAX: usize = 64;

/// A constraint that rows have the values of rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name, one among those of its table.
    pub name: String,
    /// The numbers of the columns that refer; an index is over them, in this order.
    pub columns: Vec<u32>,
    /// The table that they refer to; 0 is their own, before that is created.
    pub table: TableId,
    /// The numbers of its columns, one each, in the order of its primary key or of a unique index.
    pub referenced: Vec<u32>,
    /// What becomes of rows that refer to one that is deleted.
    pub on_delete: ReferentialAction,
    /// What becomes of rows that refer to one that is given other values.
    pub on_update: ReferentialAction,
}

/// What becomes of rows that refer to one that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReferentialAction {
    /// When the statement ends there are none.
    #[default]
    NoAction,
    /// There are none, even where another row has come in its place.
    Restrict,
    /// They go with it, or are given its values.
    Cascade,
    /// They refer to nothing any more.
    SetNull,
}

impl ForeignKey {
    pub(super) fn encode(&self, to: &mut ByteWriter) {
        let count = u32::try_from(self.columns.len()).expect("checked against limits");
        to.text(&self.name);
        to.u32(self.table.0);
        to.u8(self.on_delete.code());
        to.u8(self.on_update.code());
        to.u32(count);
        self.columns.iter().chain(&self.referenced).for_each(|column| to.u32(*column));
    }

    pub(super) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let (name, table) = (from.text(NAME_BYTES_MAX)?.to_owned(), TableId(from.u32()?));
        let on_delete = ReferentialAction::decode(from)?;
        let on_update = ReferentialAction::decode(from)?;
        let count = from.count(8)?;
        let mut columns = (0..2 * count).map(|_| from.u32()).collect::<Result<Vec<_>, _>>()?;
        let referenced = columns.split_off(count);
        Ok(Self { name, columns, table, referenced, on_delete, on_update })
    }
}

impl ReferentialAction {
    fn code(self) -> u8 {
        match self {
            Self::NoAction => 0,
            Self::Restrict => 1,
            Self::Cascade => 2,
            Self::SetNull => 3,
        }
    }

    fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let offset = from.offset();
        match from.u8()? {
            0 => Ok(Self::NoAction),
            1 => Ok(Self::Restrict),
            2 => Ok(Self::Cascade),
            3 => Ok(Self::SetNull),
            _ => Err(DecodeError { offset, expected: "what becomes of rows that refer to one" }),
        }
    }
}

impl TableSchema {
    /// The constraints that refer to a table.
    pub fn references_to(&self, table: TableId) -> impl Iterator<Item = &ForeignKey> {
        self.foreign_keys.iter().filter(move |key| key.table == table)
    }

    /// The number of an index over exactly these columns, by their numbers, in this order; the primary key's is 0.
    #[must_use]
    pub fn index_over(&self, columns: &[u32]) -> Option<u32> {
        let of_key = self.key.iter().map(|&place| self.columns[place].id);
        if !self.key.is_empty() && of_key.eq(columns.iter().copied()) {
            return Some(crate::keys::PRIMARY);
        }
        self.indexes.iter().find(|index| index.columns == columns).map(|index| index.id)
    }

    /// The same, of which no two rows have the same values.
    #[must_use]
    pub fn unique_over(&self, columns: &[u32]) -> Option<u32> {
        let is_it = |(_, places): &(u32, Vec<usize>)| {
            places.iter().map(|&place| self.columns[place].id).eq(columns.iter().copied())
        };
        self.unique_keys().into_iter().find(is_it).map(|(index, _)| index)
    }

    /// The places of columns by their numbers.
    pub(crate) fn places(&self, columns: &[u32]) -> Vec<usize> {
        columns.iter().filter_map(|id| self.column_with_id(*id)).collect()
    }

    pub(super) fn check_foreign_keys(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Input, message));
        if self.foreign_keys.len() > FOREIGN_KEYS_MAX {
            let name = &self.name;
            return wrong(format!(
                "table \"{name}\" has more than {FOREIGN_KEYS_MAX} foreign keys"
            ));
        }
        for (place, key) in self.foreign_keys.iter().enumerate() {
            check_name("constraint", &key.name)?;
            let is_twice = self.foreign_keys[..place].iter().any(|other| other.name == key.name)
                || self.checks.iter().any(|check| check.name == key.name);
            let counts = 1..=INDEX_COLUMNS_MAX;
            let fits = counts.contains(&key.columns.len())
                && key.columns.len() == key.referenced.len()
                && key.columns.iter().all(|id| self.column_with_id(*id).is_some());
            if is_twice || !fits || self.index_over(&key.columns).is_none() {
                let (name, table) = (&key.name, &self.name);
                return wrong(format!("foreign key \"{name}\" of table \"{table}\" is wrong"));
            }
        }
        Ok(())
    }
}

impl ColumnType {
    /// Whether a value of a type that is kept like this one is one of this type, too.
    pub(crate) fn holds(self, value: &Datum) -> bool {
        if let (Self::Characters(of), Datum::Bytes(bytes)) = (self, value) {
            let text = std::str::from_utf8(bytes);
            return text.is_ok_and(|text| of.assigned(text).is_some_and(|stored| stored == text));
        }
        let Datum::Integer(value) = *value else { return true };
        match self {
            Self::Int8 => i8::try_from(value).is_ok(),
            Self::Int16 => i16::try_from(value).is_ok(),
            Self::Int32 => i32::try_from(value).is_ok(),
            Self::UInt8 => u8::try_from(value).is_ok(),
            Self::UInt16 => u16::try_from(value).is_ok(),
            Self::UInt32 => u32::try_from(value).is_ok(),
            _ => true,
        }
    }

    /// Whether values of the two types that are the same are kept the same.
    #[must_use]
    pub fn keeps_like(self, other: Self) -> bool {
        let is_integer = |of: Self| {
            matches!(
                of,
                Self::Int8
                    | Self::Int16
                    | Self::Int32
                    | Self::Int64
                    | Self::UInt8
                    | Self::UInt16
                    | Self::UInt32
            )
        };
        // While an enumeration is changed, some of its columns are of what it will be, and others of what it was.
        let are_enums = matches!((self, other), (Self::Enum(_), Self::Enum(_)));
        let are_characters = |of: Self| matches!(of, Self::Text | Self::Characters(_));
        self == other
            || are_enums
            || (is_integer(self) && is_integer(other))
            || (are_characters(self) && are_characters(other))
    }
}

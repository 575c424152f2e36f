//! Sequences: numbers that are given once each, by whichever process.
//!
//! - What has been given stays given: a transaction that is rolled back leaves a gap.
//! - A number is taken by a commit of its own that waits for nothing. The log is in order: a transaction that is
//!   durable has what it took durable before it.
//!
//! Byte table (version 1): id u32, version u32, name text, type code u8, start i64, increment i64, least i64, greatest
//! i64, cycles u8, owner u8 (1: table id u32, column number u32), place. A place: last number i64, is given u8.

use super::ColumnType;
use super::schema::{NAME_BYTES_MAX, check_name};
use crate::error::{Error, ErrorKind, Reason, Result};
use gadus_base::{ByteReader, ByteWriter, DecodeError, TableId};

/// A sequence, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// The sequence's id, one of those of tables; 0 until it is created.
    pub id: TableId,
    /// Rises with each change of its shape, not with the numbers that it gives.
    pub version: u32,
    /// The sequence's name.
    pub name: String,
    /// What its numbers are.
    pub shape: SequenceShape,
    /// The table and the number of the column with which it is dropped.
    pub owner: Option<(TableId, u32)>,
    /// How far it has come.
    pub position: SequencePosition,
    /// A transaction has made it, or has it begin anew, and has not committed: its numbers are for that alone.
    pub is_private: bool,
}

/// Which numbers a sequence gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceShape {
    /// The type of its numbers: 16, 32 or 64 bits.
    pub column_type: ColumnType,
    /// The first.
    pub start: i64,
    /// What the next is away from the last; not 0.
    pub increment: i64,
    /// The least.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
    /// Whether it begins at its other end behind its last; else it ends there.
    pub cycles: bool,
}

/// How far a sequence has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePosition {
    /// The last number that was given, or the first that will be.
    pub last: i64,
    /// Whether it was given.
    pub is_given: bool,
}

impl SequenceShape {
    /// The least and the greatest number of a type; none of one that sequences do not have.
    #[must_use]
    pub fn range_of(column_type: ColumnType) -> Option<(i64, i64)> {
        match column_type {
            ColumnType::Int16 => Some((i16::MIN.into(), i16::MAX.into())),
            ColumnType::Int32 => Some((i32::MIN.into(), i32::MAX.into())),
            ColumnType::Int64 => Some((i64::MIN, i64::MAX)),
            _ => None,
        }
    }

    /// Upwards from 1, or downwards from -1, as far as the type goes.
    ///
    /// # Errors
    /// `Input` for a type that sequences do not have.
    pub fn new(column_type: ColumnType, increment: i64) -> Result<Self> {
        let (least, greatest) = Self::range(column_type)?;
        let (least, greatest) = if increment < 0 { (least, -1) } else { (1, greatest) };
        let start = if increment < 0 { greatest } else { least };
        Ok(Self { column_type, start, increment, least, greatest, cycles: false })
    }

    fn range(column_type: ColumnType) -> Result<(i64, i64)> {
        Self::range_of(column_type)
            .ok_or_else(|| invalid("sequence type must be smallint, integer, or bigint".to_owned()))
    }

    /// Refuses what gives no numbers.
    ///
    /// # Errors
    /// `Input` with what is wrong.
    pub fn check(&self) -> Result<()> {
        let Self { start, increment, least, greatest, .. } = *self;
        let (type_least, type_greatest) = Self::range(self.column_type)?;
        if increment == 0 {
            return Err(invalid("INCREMENT must not be zero".to_owned()));
        }
        if least < type_least || greatest > type_greatest {
            let message = format!(
                "MINVALUE ({least}) and MAXVALUE ({greatest}) must fit the sequence's type {}",
                self.column_type
            );
            return Err(invalid(message));
        }
        if least >= greatest {
            let message = format!("MINVALUE ({least}) must be less than MAXVALUE ({greatest})");
            return Err(invalid(message));
        }
        if !(least..=greatest).contains(&start) {
            let message = format!(
                "START value ({start}) is not between MINVALUE ({least}) and MAXVALUE ({greatest})"
            );
            return Err(invalid(message));
        }
        Ok(())
    }
}

impl Sequence {
    /// A sequence to be created; checks its name and its numbers.
    ///
    /// # Errors
    /// `Input` with what is wrong.
    pub fn new(name: &str, shape: SequenceShape) -> Result<Self> {
        let position = SequencePosition { last: shape.start, is_given: false };
        let (id, version, name) = (TableId(0), 1, name.to_owned());
        let sequence = Self { id, version, name, shape, owner: None, position, is_private: false };
        sequence.check()?;
        Ok(sequence)
    }

    /// Refuses a name that cannot be, numbers that are none, and a place outside them.
    ///
    /// # Errors
    /// `Input` with what is wrong.
    pub fn check(&self) -> Result<()> {
        check_name("sequence", &self.name)?;
        self.shape.check()?;
        self.check_value(self.position.last)
    }

    /// Refuses a number that is none of the sequence's.
    ///
    /// # Errors
    /// `OutOfRange`.
    pub fn check_value(&self, value: i64) -> Result<()> {
        let SequenceShape { least, greatest, .. } = self.shape;
        if (least..=greatest).contains(&value) {
            return Ok(());
        }
        let name = &self.name;
        let message = format!(
            "setval: value {value} is out of bounds for sequence \"{name}\" ({least}..{greatest})"
        );
        Err(Error::new(ErrorKind::OutOfRange, message))
    }

    /// So many numbers from a place on, and the place behind them.
    ///
    /// # Errors
    /// `OutOfRange` where there are no more.
    pub fn take(
        &self,
        from: SequencePosition,
        count: usize,
    ) -> Result<(SequencePosition, Vec<i64>)> {
        let mut position = from;
        let mut given = Vec::with_capacity(count);
        for _ in 0..count {
            position = SequencePosition { last: self.next(position)?, is_given: true };
            given.push(position.last);
        }
        Ok((position, given))
    }

    fn next(&self, position: SequencePosition) -> Result<i64> {
        let SequenceShape { increment, least, greatest, cycles, .. } = self.shape;
        if !position.is_given {
            return Ok(position.last);
        }
        let next = position.last.checked_add(increment);
        if let Some(next) = next.filter(|next| (least..=greatest).contains(next)) {
            return Ok(next);
        }
        let (what, end, other) = match increment > 0 {
            true => ("maximum", greatest, least),
            false => ("minimum", least, greatest),
        };
        if cycles {
            return Ok(other);
        }
        let message =
            format!("nextval: reached {what} value of sequence \"{}\" ({end})", self.name);
        Err(Error::new(ErrorKind::OutOfRange, message).because(Reason::SequenceEnd))
    }
}

impl Sequence {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.id.0);
        to.u32(self.version);
        to.text(&self.name);
        to.u8(self.shape.column_type.to_code().0);
        let SequenceShape { start, increment, least, greatest, cycles, .. } = self.shape;
        [start, increment, least, greatest]
            .into_iter()
            .for_each(|number| to.u64(number.cast_unsigned()));
        to.u8(u8::from(cycles));
        to.u8(u8::from(self.owner.is_some()));
        if let Some((table, column)) = self.owner {
            to.u32(table.0);
            to.u32(column);
        }
        self.position.encode(to);
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let offset = from.offset();
        let wrong = DecodeError { offset, expected: "a valid sequence" };
        let (id, version) = (TableId(from.u32()?), from.u32()?);
        let name = from.text(NAME_BYTES_MAX)?.to_owned();
        let column_type = ColumnType::from_code(from.u8()?, 0, 0);
        let mut number = || from.u64().map(u64::cast_signed);
        let (start, increment) = (number()?, number()?);
        let (least, greatest, cycles) = (number()?, number()?, from.u8()? != 0);
        let owner = match from.u8()? {
            0 => None,
            _ => Some((TableId(from.u32()?), from.u32()?)),
        };
        let position = SequencePosition::decode(from)?;
        let Some(column_type) = column_type else { return Err(wrong) };
        let shape = SequenceShape { column_type, start, increment, least, greatest, cycles };
        let sequence = Self { id, version, name, shape, owner, position, is_private: false };
        sequence.check().map(|()| sequence).map_err(|_| wrong)
    }
}

impl SequencePosition {
    pub(crate) fn encode(self, to: &mut ByteWriter) {
        to.u64(self.last.cast_unsigned());
        to.u8(u8::from(self.is_given));
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { last: from.u64()?.cast_signed(), is_given: from.u8()? != 0 })
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::Input, message).because(Reason::InvalidParameter)
}

#[cfg(test)]
mod tests;

//! What is known of a column's values without reading them.

use crate::types::Datum;
use gadus_base::{ByteReader, ByteWriter, DecodeError};

/// Bounds and counts of one column of one segment's base.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sketch {
    pub(crate) nulls: u32,
    /// Distinct values: exact where a dictionary search ran to its end, else an upper bound.
    pub(crate) distinct: u32,
    /// No value lies outside; none when all are NULL or no short upper bound exists.
    pub(crate) range: Option<(Datum, Datum)>,
}

impl Sketch {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.nulls);
        to.u32(self.distinct);
        to.u8(u8::from(self.range.is_some()));
        if let Some((min, max)) = &self.range {
            min.encode(to);
            max.encode(to);
        }
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let (nulls, distinct) = (from.u32()?, from.u32()?);
        let range = match from.u8()? {
            0 => None,
            _ => Some((Datum::decode(from)?, Datum::decode(from)?)),
        };
        Ok(Self { nulls, distinct, range })
    }
}

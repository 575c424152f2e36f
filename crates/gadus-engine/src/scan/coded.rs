//! Groups of a segment's rows by small codes, without a look at the values.
//!
//! - Codes are those of dictionaries, the distances of packed integers, or the numbers of runs; those of
//!   several columns are put together. A table says which group a code means, once a row had it.

use crate::encoding::Column;
use crate::error::Result;
use crate::segment::{SegmentVersion, column_number};
use crate::snapshot::Table;
use crate::types::Datum;
use crate::vector::{Rows, append_codes};
use gadus_base::SegmentId;
use std::sync::Arc;

/// Bits of the codes of all columns: the table then stays in the second-level cache.
const CODE_BITS_MAX: u8 = 14;

/// No group yet.
const UNKNOWN: u32 = u32::MAX;

/// The columns that name groups, of a segment where all their rows have small codes.
#[derive(Debug)]
pub(super) struct CodedNames {
    columns: Vec<(Arc<Column>, u8)>,
    bits: u8,
}

/// Which group each code of a segment means.
#[derive(Debug, Default)]
pub(super) struct KnownCodes {
    segment: Option<SegmentId>,
    groups: Vec<u32>,
}

impl CodedNames {
    /// None where a value lies outside the base, or codes are large.
    pub(super) fn open(
        table: &Table,
        segment: &SegmentVersion,
        by: &[usize],
    ) -> Result<Option<Self>> {
        let Some(base) = &segment.encoded else { return Ok(None) };
        let is_patched = |column: &usize| segment.overlay.has_patches(column_number(*column));
        if base.rows() < segment.rows || by.iter().any(is_patched) {
            return Ok(None);
        }
        let (mut columns, mut bits) = (Vec::with_capacity(by.len()), 0);
        for &column in by {
            let column = base.column(table.schema(), table.blobs(), column)?;
            let Some(own) = column.code_bits() else { return Ok(None) };
            let own = own.saturating_add(u8::from(column.validity.is_some()));
            bits = own.saturating_add(bits);
            if bits > CODE_BITS_MAX {
                return Ok(None);
            }
            columns.push((column, own));
        }
        Ok(Some(Self { columns, bits }))
    }

    /// Hands the group of each row to `each`; `find` finds that of a row's values.
    pub(super) fn number(
        &self,
        segment: SegmentId,
        rows: Rows<'_>,
        known: &mut KnownCodes,
        mut find: impl FnMut(Box<[Datum]>) -> Option<u32>,
    ) -> Option<Vec<u32>> {
        if known.segment != Some(segment) {
            known.groups.clear();
            known.groups.resize(1 << self.bits, UNKNOWN);
            known.segment = Some(segment);
        }
        let codes = self.codes(rows);
        let mut numbers = Vec::with_capacity(codes.len());
        for (row, &code) in codes.iter().enumerate() {
            #[allow(clippy::cast_possible_truncation)] // of few bits
            let group = &mut known.groups[code as usize];
            if *group == UNKNOWN {
                let position = rows.position(row);
                *group =
                    find(self.columns.iter().map(|(column, _)| column.datum(position)).collect())?;
            }
            numbers.push(*group);
        }
        Some(numbers)
    }

    fn codes(&self, rows: Rows<'_>) -> Vec<u64> {
        let mut all = vec![0; rows.count()];
        let mut codes = Vec::with_capacity(rows.count());
        for (column, bits) in &self.columns {
            codes.clear();
            append_codes(column, rows, &mut codes);
            if let Some(validity) = &column.validity {
                // What the slot of a NULL holds means nothing.
                for (row, code) in codes.iter_mut().enumerate() {
                    *code = if validity.value(rows.position(row)) { *code << 1 } else { 1 };
                }
            }
            for (all, code) in all.iter_mut().zip(&codes) {
                *all = *all << bits | code;
            }
        }
        all
    }
}

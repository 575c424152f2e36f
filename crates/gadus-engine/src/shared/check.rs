//! Candidates against the rest of their question.

use super::Question;
use super::candidates::OpenSegment;
use crate::encoding::{Body, Column, PackedReader, Values, code_index, run_of};
use crate::error::Result;
use crate::scan::{Prepared, Test};
use crate::segment::column_number;

/// Preparing a test for a segment costs about as much as testing this many rows without.
const PREPARED_MIN: usize = 16;

/// Keeps the candidates that are live and pass those predicates that are named, in this order.
pub(super) fn keep(
    question: &Question,
    checks: &[usize],
    open: &mut OpenSegment<'_>,
    rows: &mut Vec<u32>,
) -> Result<()> {
    let segment = open.segment;
    if segment.overlay.deleted_count() > 0 {
        rows.retain(|position| !segment.overlay.is_deleted(*position));
    }
    for check in checks {
        if rows.is_empty() {
            break;
        }
        let predicate = &question.predicates[*check];
        let column = open.column(predicate.column)?;
        let number = column_number(predicate.column);
        // Asked once: few columns of few segments are patched.
        let is_patched = segment.overlay.has_patches(number);
        let is_encoded = segment.rows == segment.encoded_rows() && !is_patched;
        if let Some(column) = column.as_deref().filter(|_| is_encoded && rows.len() >= PREPARED_MIN)
            && keep_spans(column, &predicate.test, rows)
        {
            continue;
        }
        let patched = |position| {
            if is_patched { segment.overlay.patched(number, position) } else { None }
        };
        rows.retain(|&position| match patched(position) {
            Some(value) => predicate.test.passes(value),
            None => match &column {
                Some(column) if (position as usize) < column.rows => {
                    passes(column, position as usize, &predicate.test)
                }
                _ => predicate.test.passes(&segment.datum_with(None, predicate.column, position)),
            },
        });
    }
    Ok(())
}

/// Keeps the rows of a base that pass a test which is a range of packed values or codes; false where it
/// is none, and nothing was done.
fn keep_spans(column: &Column, test: &Test, rows: &mut Vec<u32>) -> bool {
    let (packed, low, span, negated) = match Prepared::new(column, test) {
        Prepared::Span { packed, low, span, negated } => (packed, low, span, negated),
        // Also what stands for a test of NULL.
        _ => return false,
    };
    let reader = packed.reader();
    rows.retain(|&row| is_within(column, reader, row as usize, (low, span), negated));
    true
}

/// Tells whether the packed value of a row lies within a range, or outside where that is wanted; NULL
/// does neither.
#[inline]
pub(super) fn is_within(
    column: &Column,
    packed: PackedReader<'_>,
    row: usize,
    (low, span): (u64, u64),
    negated: bool,
) -> bool {
    let is_inside = packed.distance(row).wrapping_sub(low) <= span;
    is_inside != negated && column.validity.as_ref().is_none_or(|valid| valid.value(row))
}

/// Whether the value of one row passes; without making a datum of bytes.
fn passes(column: &Column, row: usize, test: &Test) -> bool {
    if column.validity.as_ref().is_some_and(|valid| !valid.value(row)) {
        return matches!(test, Test::IsNull);
    }
    let (values, index) = match &column.body {
        Body::Plain(values) => (values, row),
        Body::Dictionary { values, codes } => (values, code_index(codes.get(row))),
        Body::Runs { ends, values } => (values, run_of(ends, row)),
    };
    match values {
        Values::Bytes(values) => test.passes_bytes(values.get(index)),
        values => test.passes(&values.datum(index)),
    }
}

//! What a planner is told of a scan before it runs.
//!
//! - Estimates, all of them: plans are chosen by them, and no answer depends on one.

use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Statistics};
use gadus_engine::Scan;

/// What a value takes whose type says nothing of it.
const VALUE_BYTES: usize = 32;

/// About what a scan gives, at most `limit` rows.
pub(super) fn statistics(scan: &Scan, limit: Option<usize>) -> Statistics {
    let schema = scan.schema();
    // What cannot be read fails when it is read.
    let Ok(expected) = scan.expected() else { return Statistics::new_unknown(schema) };
    let rows = whole(expected.rows).min(limit.unwrap_or(usize::MAX));
    let widths = schema.fields().iter().map(|field| field.data_type().primitive_width());
    let width = widths.map(|width| width.unwrap_or(VALUE_BYTES)).sum::<usize>();
    let mut columns = vec![ColumnStatistics::new_unknown(); schema.fields().len()];
    for (column, distinct) in columns.iter_mut().zip(&expected.distinct) {
        if let Some(distinct) = distinct {
            column.distinct_count = Precision::Inexact(whole(*distinct).min(rows));
        }
    }
    Statistics {
        num_rows: Precision::Inexact(rows),
        total_byte_size: Precision::Inexact(rows.saturating_mul(width)),
        column_statistics: columns,
    }
}

/// At least one: nothing is known to be empty.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an estimate, above zero
fn whole(number: f64) -> usize {
    number.ceil().max(1.0) as usize
}

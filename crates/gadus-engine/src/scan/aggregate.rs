//! Plain aggregates over the filtered rows of a table, without groups.
//!
//! - Each thread folds the morsels it takes; partial results are merged at the end.
//! - Integer sums are exact in 128 bits; NULLs count only in `CountRows`.

use super::{CHUNK_ROWS, Mask, Predicate, ScanRequest, SegmentFilter, contiguous, open_columns};
use crate::error::{Error, ErrorKind, Result};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::types::{Datum, StorageClass, compare_floats};
use crate::vector::{Rows, Vector};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What to fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Rows.
    CountRows,
    /// Values of a column that are not NULL.
    Count(usize),
    /// The sum of a numeric column.
    Sum(usize),
    /// The least value of a column.
    Min(usize),
    /// The greatest value of a column.
    Max(usize),
}

/// A folded value: counts as `Integer`, integer sums as `Wide`, sums of floats as `Float`, bounds in
/// the class of their column; `Null` where nothing was folded.
pub type Aggregated = Datum;

#[derive(Debug, Clone)]
enum Partial {
    Count(i64),
    SumWide(Option<i128>),
    SumFloat(Option<f64>),
    Bound { value: Datum, greatest: bool },
}

impl Table {
    /// Folds the rows that satisfy the predicates, on up to `threads` threads.
    ///
    /// `cancelled` is looked at between morsels.
    pub fn aggregate(
        &self,
        predicates: Vec<Predicate>,
        aggregates: &[Aggregate],
        threads: usize,
        cancelled: &AtomicBool,
    ) -> Result<Vec<Aggregated>> {
        let request = ScanRequest { predicates, ..ScanRequest::default() };
        let scan = self.scan(request)?;
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<Partial>> {
            let mut partials = self.start(aggregates)?;
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(segment) = scan.segments.get(index) else { return Ok(partials) };
                if cancelled.load(Ordering::Relaxed) {
                    return Err(Error::new(ErrorKind::Cancelled, "the statement was cancelled"));
                }
                let predicates = &scan.request.predicates;
                self.checked(self.fold(segment, predicates, aggregates, &mut partials))?;
            }
        };
        let threads = threads.min(scan.morsels()).max(1);
        let mut partials = if threads == 1 {
            work()?
        } else {
            std::thread::scope(|scope| {
                let others = (1..threads).map(|_| scope.spawn(work)).collect::<Vec<_>>();
                let mut merged = work()?;
                for other in others {
                    let partials =
                        other.join().map_err(|_| Error::internal("a scan thread panicked"))??;
                    merge_all(&mut merged, partials)?;
                }
                Ok::<_, Error>(merged)
            })?
        };
        Ok(partials.drain(..).map(finish).collect())
    }

    fn start(&self, aggregates: &[Aggregate]) -> Result<Vec<Partial>> {
        let start = |aggregate: &Aggregate| match *aggregate {
            Aggregate::CountRows | Aggregate::Count(_) => Ok(Partial::Count(0)),
            Aggregate::Min(_) => Ok(Partial::Bound { value: Datum::Null, greatest: false }),
            Aggregate::Max(_) => Ok(Partial::Bound { value: Datum::Null, greatest: true }),
            Aggregate::Sum(column) => match self.schema().columns[column].column_type.storage() {
                StorageClass::Float => Ok(Partial::SumFloat(None)),
                StorageClass::Bytes => {
                    Err(Error::new(ErrorKind::Input, "text and binary have no sum"))
                }
                _ => Ok(Partial::SumWide(None)),
            },
        };
        aggregates.iter().map(start).collect()
    }

    fn fold(
        &self,
        segment: &SegmentVersion,
        predicates: &[Predicate],
        aggregates: &[Aggregate],
        partials: &mut [Partial],
    ) -> Result<()> {
        let columns = open_columns(self, segment, predicates)?;
        let filter = SegmentFilter::new(self, segment, predicates, &columns);
        let rows = segment.rows as usize;
        let mut first = 0;
        while first < rows {
            let count = CHUNK_ROWS.min(rows - first);
            let mask = filter.chunk(first, count)?;
            self.fold_chunk(segment, &mask, first, count, aggregates, partials)?;
            first += count;
        }
        Ok(())
    }

    fn fold_chunk(
        &self,
        segment: &SegmentVersion,
        mask: &Mask,
        first: usize,
        count: usize,
        aggregates: &[Aggregate],
        partials: &mut [Partial],
    ) -> Result<()> {
        if mask.is_empty() {
            return Ok(());
        }
        let positions;
        let rows = if mask.is_all() {
            Rows::Range { first, count }
        } else {
            positions = mask.positions(u32::try_from(first).expect("within a segment"));
            contiguous(&positions)
        };
        let mut decoded: Vec<(usize, Vector)> = Vec::new();
        for (aggregate, partial) in aggregates.iter().zip(partials) {
            let column = match *aggregate {
                Aggregate::CountRows => {
                    if let Partial::Count(total) = partial {
                        *total += i64::try_from(rows.count()).expect("a chunk is small");
                    }
                    continue;
                }
                Aggregate::Count(column)
                | Aggregate::Sum(column)
                | Aggregate::Min(column)
                | Aggregate::Max(column) => column,
            };
            if !decoded.iter().any(|(known, _)| *known == column) {
                let vector = segment.vector(self.schema(), self.blobs(), column, rows)?;
                decoded.push((column, vector));
            }
            let (_, vector) =
                decoded.iter().find(|(known, _)| *known == column).expect("decoded above");
            fold_vector(vector, partial)?;
        }
        Ok(())
    }
}

fn overflow() -> Error {
    Error::new(ErrorKind::OutOfRange, "a sum leaves the range of 128-bit integers")
}

fn fold_vector(vector: &Vector, partial: &mut Partial) -> Result<()> {
    let valid = |row: &usize| vector.is_valid(*row);
    match partial {
        Partial::Count(total) => {
            let count = if vector.has_nulls() {
                (0..vector.len()).filter(valid).count()
            } else {
                vector.len()
            };
            *total += i64::try_from(count).expect("a chunk is small");
        }
        Partial::SumWide(total) => {
            let (sum, any) = match vector.as_integers() {
                // A chunk of 2,048 values of 64 bits cannot leave 128 bits.
                Some(values) if !vector.has_nulls() => {
                    (values.iter().map(|&value| i128::from(value)).sum(), !values.is_empty())
                }
                _ => {
                    let mut sum = 0_i128;
                    let mut any = false;
                    for row in (0..vector.len()).filter(valid) {
                        let value = vector.datum(row).as_wide().unwrap_or(0);
                        sum = sum.checked_add(value).ok_or_else(overflow)?;
                        any = true;
                    }
                    (sum, any)
                }
            };
            if any {
                *total = Some(total.unwrap_or(0).checked_add(sum).ok_or_else(overflow)?);
            }
        }
        Partial::SumFloat(total) => {
            for row in (0..vector.len()).filter(valid) {
                if let Datum::Float(value) = vector.datum(row) {
                    *total = Some(total.unwrap_or(0.0) + value);
                }
            }
        }
        Partial::Bound { value: bound, greatest } => {
            let greatest = *greatest;
            if let Some(values) = vector.as_integers().filter(|_| !vector.has_nulls()) {
                let found = if greatest { values.iter().max() } else { values.iter().min() };
                if let Some(&value) = found {
                    tighten(bound, Datum::Integer(value), greatest);
                }
            } else {
                for row in (0..vector.len()).filter(valid) {
                    tighten(bound, vector.datum(row), greatest);
                }
            }
        }
    }
    Ok(())
}

fn tighten(bound: &mut Datum, value: Datum, greatest: bool) {
    let better = match (&*bound, &value) {
        (Datum::Null, _) => true,
        (Datum::Float(old), Datum::Float(new)) => {
            let ordering = compare_floats(*new, *old);
            if greatest { ordering.is_gt() } else { ordering.is_lt() }
        }
        (old, new) => (new > old) == greatest && new != old,
    };
    if better {
        *bound = value;
    }
}

fn merge_all(into: &mut [Partial], from: Vec<Partial>) -> Result<()> {
    for (to, partial) in into.iter_mut().zip(from) {
        match (to, partial) {
            (Partial::Count(to), Partial::Count(from)) => *to += from,
            (Partial::SumWide(to), Partial::SumWide(Some(from))) => {
                *to = Some(to.unwrap_or(0).checked_add(from).ok_or_else(overflow)?);
            }
            (Partial::SumFloat(to), Partial::SumFloat(Some(from))) => {
                *to = Some(to.unwrap_or(0.0) + from);
            }
            (Partial::Bound { value, greatest }, Partial::Bound { value: other, .. })
                if !other.is_null() =>
            {
                tighten(value, other, *greatest);
            }
            _ => {}
        }
    }
    Ok(())
}

fn finish(partial: Partial) -> Aggregated {
    match partial {
        Partial::Count(count) => Datum::Integer(count),
        Partial::SumWide(sum) => sum.map_or(Datum::Null, |sum| Datum::Wide(Box::new(sum))),
        Partial::SumFloat(sum) => sum.map_or(Datum::Null, Datum::Float),
        Partial::Bound { value, .. } => value,
    }
}

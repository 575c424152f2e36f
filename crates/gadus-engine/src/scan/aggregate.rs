//! Plain aggregates over rows of a table.
//!
//! - Each thread folds the rows that it finds; partial results are merged at the end.
//! - Integer sums are exact in 128 bits, sums of doubles rounded once; NULLs count only in `CountRows`.

use super::float_sum::FloatSum;
use super::grouping::Room;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::types::{Datum, StorageClass, compare_floats};
use crate::vector::{Rows, Vector};
use std::ops::Range;

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

/// Aggregates of the rows that were added so far.
#[derive(Debug)]
pub(crate) struct Folding(Vec<Partial>);

#[derive(Debug, Clone)]
enum Partial {
    Count(i64),
    SumWide(Option<i128>),
    SumFloat(Option<Box<FloatSum>>),
    Bound { value: Datum, greatest: bool },
}

/// Aggregates of several groups of rows, which have numbers from 0.
#[derive(Debug)]
pub(super) struct Partials {
    /// Those of a group without rows.
    start: Vec<Partial>,
    /// Group after group.
    all: Vec<Partial>,
    /// Bytes of the long values among them.
    long_bytes: usize,
}

impl Aggregate {
    /// The column that it reads.
    fn column(self) -> Option<usize> {
        match self {
            Self::CountRows => None,
            Self::Count(column) | Self::Sum(column) | Self::Min(column) | Self::Max(column) => {
                Some(column)
            }
        }
    }

    /// It of no rows.
    fn start(self, table: &Table) -> Result<Partial> {
        Ok(match self {
            Self::CountRows | Self::Count(_) => Partial::Count(0),
            Self::Min(_) => Partial::Bound { value: Datum::Null, greatest: false },
            Self::Max(_) => Partial::Bound { value: Datum::Null, greatest: true },
            Self::Sum(column) => match table.schema().columns[column].column_type.storage() {
                StorageClass::Float => Partial::SumFloat(None),
                StorageClass::Bytes => {
                    return Err(Error::new(ErrorKind::Input, "text and binary have no sum"));
                }
                _ => Partial::SumWide(None),
            },
        })
    }
}

impl Folding {
    /// Aggregates of no rows.
    pub(crate) fn start(table: &Table, aggregates: &[Aggregate]) -> Result<Self> {
        let start = |aggregate: &Aggregate| aggregate.start(table);
        Ok(Self(aggregates.iter().map(start).collect::<Result<_>>()?))
    }

    /// Adds rows of a segment; `aggregates` are those that were started.
    pub(crate) fn add(
        &mut self,
        table: &Table,
        segment: &SegmentVersion,
        aggregates: &[Aggregate],
        rows: Rows<'_>,
    ) -> Result<()> {
        let mut decoded: Vec<(usize, Vector)> = Vec::new();
        for (aggregate, partial) in aggregates.iter().zip(&mut self.0) {
            let Some(column) = aggregate.column() else {
                if let Partial::Count(total) = partial {
                    *total += i64::try_from(rows.count()).expect("a chunk is small");
                }
                continue;
            };
            if !decoded.iter().any(|(known, _)| *known == column) {
                let vector = segment.vector(table.schema(), table.blobs(), column, rows)?;
                decoded.push((column, vector));
            }
            let (_, vector) =
                decoded.iter().find(|(known, _)| *known == column).expect("decoded above");
            fold_vector(vector, partial)?;
        }
        Ok(())
    }

    /// Adds what somebody else has added to the same aggregates.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        self.0.iter_mut().zip(other.0).try_for_each(|(to, from)| merge(to, from))
    }

    pub(crate) fn finish(self) -> Vec<Aggregated> {
        self.0.into_iter().map(finish).collect()
    }
}

impl Partials {
    /// Without a group.
    pub(super) fn of(table: &Table, aggregates: &[Aggregate]) -> Result<Self> {
        Ok(Self { start: Folding::start(table, aggregates)?.0, all: Vec::new(), long_bytes: 0 })
    }

    /// A group more, without rows.
    pub(super) fn push(&mut self) {
        self.all.extend_from_slice(&self.start);
    }

    /// Bytes of the long values that aggregates hold.
    pub(super) fn long_bytes(&self) -> usize {
        self.long_bytes
    }

    /// Adds rows, each to the group with the number that is given for it. `vector` reads a column of them. Some rows
    /// are left out once long values take more than `long_bytes_max`: then there is no room.
    pub(super) fn add(
        &mut self,
        (aggregates, long_bytes_max): (&[Aggregate], usize),
        numbers: &[u32],
        vector: impl Fn(usize) -> Result<Vector>,
    ) -> Result<Room> {
        let width = self.start.len();
        for (place, aggregate) in aggregates.iter().enumerate() {
            let places = numbers.iter().map(|&number| number as usize * width + place);
            match aggregate.column() {
                None => places.for_each(|place| {
                    if let Partial::Count(total) = &mut self.all[place] {
                        *total += 1;
                    }
                }),
                Some(column) => {
                    let vector = vector(column)?;
                    if !vector.is_of_bytes() {
                        fold_rows(&vector, places, &mut self.all)?;
                    } else if self.fold_texts(&vector, places, long_bytes_max)? == Room::TooMany {
                        return Ok(Room::TooMany);
                    }
                }
            }
        }
        Ok(Room::Enough)
    }

    /// Adds texts or binary values, as [`fold_rows`] does others.
    fn fold_texts(
        &mut self,
        vector: &Vector,
        places: impl Iterator<Item = usize>,
        long_bytes_max: usize,
    ) -> Result<Room> {
        for (row, place) in places.enumerate().filter(|(row, _)| vector.is_valid(*row)) {
            let partial = &mut self.all[place];
            let before = partial.long_bytes();
            fold_row(vector, row, partial)?;
            self.long_bytes = self.long_bytes + partial.long_bytes() - before;
            if self.long_bytes > long_bytes_max {
                return Ok(Room::TooMany);
            }
        }
        Ok(Room::Enough)
    }

    /// Adds what another worker has added to one of its groups to one of these.
    pub(super) fn merge(&mut self, to: u32, other: &Self, from: u32) -> Result<()> {
        let (to, from) = (self.group(to as usize), other.group(from as usize));
        for (to, from) in self.all[to].iter_mut().zip(&other.all[from]) {
            let before = to.long_bytes();
            merge(to, from.clone())?;
            self.long_bytes = self.long_bytes + to.long_bytes() - before;
        }
        Ok(())
    }

    pub(super) fn finish(&self, number: usize) -> Vec<Aggregated> {
        self.all[self.group(number)].iter().cloned().map(finish).collect()
    }

    fn group(&self, number: usize) -> Range<usize> {
        let width = self.start.len();
        number * width..(number + 1) * width
    }
}

impl Partial {
    fn long_bytes(&self) -> usize {
        match self {
            Self::Bound { value, .. } => value.long_bytes(),
            _ => 0,
        }
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
                    total.get_or_insert_default().add(value);
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
                    tighten_by_row(bound, (vector, row), greatest);
                }
            }
        }
    }
    Ok(())
}

/// Tightens a bound by a value that is not NULL. Texts are copied only where they become the bound.
fn tighten_by_row(bound: &mut Datum, (vector, row): (&Vector, usize), greatest: bool) {
    if vector.is_of_bytes() && !bound.is_null() {
        let ordering = vector.compare(row, bound);
        let is_better = if greatest { ordering.is_gt() } else { ordering.is_lt() };
        if !is_better {
            return;
        }
    }
    tighten(bound, vector.datum(row), greatest);
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

/// Adds each value to the partial at a place of its own.
fn fold_rows(
    vector: &Vector,
    places: impl Iterator<Item = usize>,
    partials: &mut [Partial],
) -> Result<()> {
    if let Some(values) = vector.as_integers().filter(|_| !vector.has_nulls()) {
        for (place, &value) in places.zip(values) {
            fold_integer(value, &mut partials[place])?;
        }
        return Ok(());
    }
    for (row, place) in places.enumerate().filter(|(row, _)| vector.is_valid(*row)) {
        fold_row(vector, row, &mut partials[place])?;
    }
    Ok(())
}

/// Adds a value of an integer column.
fn fold_integer(value: i64, partial: &mut Partial) -> Result<()> {
    match partial {
        Partial::Count(total) => *total += 1,
        Partial::SumWide(total) => {
            let sum = total.unwrap_or(0).checked_add(i128::from(value));
            *total = Some(sum.ok_or_else(overflow)?);
        }
        Partial::Bound { value: Datum::Integer(bound), greatest } => {
            *bound = if *greatest { value.max(*bound) } else { value.min(*bound) };
        }
        Partial::Bound { value: bound, .. } => *bound = Datum::Integer(value),
        Partial::SumFloat(_) => {}
    }
    Ok(())
}

/// Adds a value that is not NULL.
fn fold_row(vector: &Vector, row: usize, partial: &mut Partial) -> Result<()> {
    match partial {
        Partial::Count(total) => *total += 1,
        Partial::SumWide(total) => {
            let value = vector.datum(row).as_wide().unwrap_or(0);
            *total = Some(total.unwrap_or(0).checked_add(value).ok_or_else(overflow)?);
        }
        Partial::SumFloat(total) => {
            if let Datum::Float(value) = vector.datum(row) {
                total.get_or_insert_default().add(value);
            }
        }
        Partial::Bound { value, greatest } => tighten_by_row(value, (vector, row), *greatest),
    }
    Ok(())
}

fn merge(to: &mut Partial, from: Partial) -> Result<()> {
    match (to, from) {
        (Partial::Count(to), Partial::Count(from)) => *to += from,
        (Partial::SumWide(to), Partial::SumWide(Some(from))) => {
            *to = Some(to.unwrap_or(0).checked_add(from).ok_or_else(overflow)?);
        }
        (Partial::SumFloat(to), Partial::SumFloat(Some(from))) => {
            to.get_or_insert_default().merge(&from);
        }
        (Partial::Bound { value, greatest }, Partial::Bound { value: other, .. })
            if !other.is_null() =>
        {
            tighten(value, other, *greatest);
        }
        _ => {}
    }
    Ok(())
}

fn finish(partial: Partial) -> Aggregated {
    match partial {
        Partial::Count(count) => Datum::Integer(count),
        Partial::SumWide(sum) => sum.map_or(Datum::Null, |sum| Datum::Wide(Box::new(sum))),
        Partial::SumFloat(sum) => sum.map_or(Datum::Null, |sum| Datum::Float(sum.finish())),
        Partial::Bound { value, .. } => value,
    }
}

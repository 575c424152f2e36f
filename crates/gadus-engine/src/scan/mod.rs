//! Reading tables: filtered rows as Arrow batches, morsel by morsel, and plain aggregates.
//!
//! - A scan reads one snapshot, held until the scan is dropped.
//! - Segments that the sketches rule out are not read; of the others only the columns that the
//!   filter and the projection name.
//! - A morsel is a segment; any thread may take any morsel. Scans of a table that run at the same time may
//!   go round it together ([`tours`](crate::tours)).

mod aggregate;
mod batch_rows;
mod coded;
mod filter;
mod float_sum;
mod gather;
mod grouping;
mod lookup;
mod predicate;

pub(crate) use aggregate::Folding;
pub use aggregate::{Aggregate, Aggregated};
pub(crate) use batch_rows::BatchRows;
pub use batch_rows::ScannedBatch;
pub(crate) use filter::Prepared;
pub(crate) use gather::{Bases, batch_of};
pub use grouping::Group;
pub(crate) use grouping::{Grouping, Groups, Room};
pub use lookup::IndexUse;
pub(crate) use lookup::{NamedRows, look_up, look_up_first, passing};
pub(crate) use predicate::merged;
pub use predicate::{Comparison, Predicate, Test};

use crate::encoding::Column;
use crate::error::{Error, Result};
use crate::segment::{SegmentVersion, column_number};
use crate::snapshot::Table;
use crate::tours::Seat;
use crate::types::TableSchema;
use crate::vector::Rows;
use arrow::array::{RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use filter::Mask;
use gadus_base::{RowId, SegmentId, clock};
use gadus_machine::{Decision, Limits, Topology, decide_chunk_rows};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

/// Rows of a chunk at most: positions (4 bytes each) and the decoded values of two columns (8 bytes each)
/// then take 40 KiB, about a first-level cache. Shared scans may have smaller ones: see [`chunk_rows`].
pub(crate) const CHUNK_ROWS: usize = 2_048;

/// Rows that a shared scan works on at a time on this machine, and why.
pub(crate) fn decided_chunk_rows() -> &'static (usize, Decision) {
    static DECIDED: OnceLock<(usize, Decision)> = OnceLock::new();
    DECIDED.get_or_init(|| {
        let allowed = Limits::of_this_process().allowed.unwrap_or_default();
        // Where cores differ, those of a kind stand together.
        let ends = [allowed.first(), allowed.iter().last()].into_iter().flatten();
        decide_chunk_rows(&Topology::caches_of(&ends.collect()), CHUNK_ROWS)
    })
}

/// Rows that a shared scan works on at a time on this machine.
#[must_use]
pub fn chunk_rows() -> usize {
    decided_chunk_rows().0
}

/// Name of the column that holds row ids.
pub const ROW_ID_COLUMN: &str = "gadus_row_id";

/// What to read of a table.
#[derive(Debug, Clone, Default)]
pub struct ScanRequest {
    /// Indexes of the columns to hand out, in this order.
    pub projection: Vec<usize>,
    /// Conditions that every row satisfies.
    pub predicates: Vec<Predicate>,
    /// Adds a last column with row ids (`RowId::to_u64`).
    pub with_row_ids: bool,
    /// Whether to begin where others are who scan the table at the moment: rows then come in another
    /// order.
    pub together: bool,
}

/// A scan of one snapshot of a table.
#[derive(Debug)]
pub struct Scan {
    table: Table,
    request: ScanRequest,
    schema: SchemaRef,
    segments: Vec<Arc<SegmentVersion>>,
    /// The rows of each segment that an index names; none where all are looked at.
    named: Option<Vec<Vec<u32>>>,
    pruned: usize,
    batch_rows: BatchRows,
    /// Taken with the first morsel, by those who scan together.
    seat: OnceLock<Seat>,
}

impl Scan {
    pub(crate) fn new(table: Table, mut request: ScanRequest) -> Result<Self> {
        request.predicates = merged(request.predicates);
        let shape = table.schema().clone();
        let mut fields = fields_of(&shape, &request.projection);
        if request.with_row_ids {
            fields.push(Field::new(ROW_ID_COLUMN, DataType::UInt64, false));
        }
        let (schema, seat) = (Arc::new(Schema::new(fields)), OnceLock::new());
        let batch_rows = BatchRows::of(&shape, &request.projection);
        if let Some(rows) = look_up(&table, &request.predicates)? {
            let (segments, named): (Vec<_>, Vec<_>) = rows.segments.into_iter().unzip();
            let pruned = table.segments() - segments.len();
            request.together = false;
            let named = Some(named);
            return Ok(Self { table, request, schema, segments, named, pruned, batch_rows, seat });
        }
        let mut segments = Vec::new();
        let mut pruned = 0;
        for segment in table.version().segments.values() {
            if segment.live_rows() > 0 && may_hold(&table, segment, &request.predicates)? {
                segments.push(segment.clone());
            } else {
                pruned += 1;
            }
        }
        Ok(Self { table, request, schema, segments, named: None, pruned, batch_rows, seat })
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The table that it reads.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What it was asked for; bounds of one column are one predicate.
    #[must_use]
    pub fn request(&self) -> &ScanRequest {
        &self.request
    }

    /// How many morsels there are.
    #[must_use]
    pub fn morsels(&self) -> usize {
        self.segments.len()
    }

    /// The predicates, for people.
    #[must_use]
    pub fn predicates(&self) -> String {
        let name = |predicate: &Predicate| {
            let column = &self.table.schema().columns[predicate.column];
            format!("{} {}", column.name, predicate.test.shown(column.column_type))
        };
        self.request.predicates.iter().map(name).collect::<Vec<_>>().join(" AND ")
    }

    /// Whether an index names the rows that are looked at.
    #[must_use]
    pub fn is_by_index(&self) -> bool {
        self.named.is_some()
    }

    /// How many segments the sketches ruled out.
    #[must_use]
    pub fn pruned(&self) -> usize {
        self.pruned
    }

    /// Reads one morsel; batches have 8,192 rows or fewer, as many as fit into some megabytes, and none is empty.
    pub fn morsel(
        &self,
        index: usize,
        mut each: impl FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<()> {
        self.morsel_batches(index, |piece| each(piece.into_own()))
    }

    /// Reads one morsel into batches that may be kept for a while.
    pub fn morsel_batches(
        &self,
        index: usize,
        each: impl FnMut(ScannedBatch) -> ControlFlow<()>,
    ) -> Result<()> {
        let (tours, began) = (self.table.blobs().tours(), clock().thread_time());
        let segment = if self.request.together {
            let begin = || {
                let seat = tours.begin(self.table.id(), |id| from_segment(&self.segments, id));
                tours.note_scan(&seat);
                seat
            };
            let seat = self.seat.get_or_init(begin);
            let segment = seat.step(index, self.segments.len()).map(|place| &self.segments[place]);
            segment.inspect(|segment| seat.is_at(segment.id))
        } else {
            self.segments.get(index)
        };
        let no_morsel = || Error::internal("a morsel that a scan has not");
        let segment = segment.ok_or_else(no_morsel)?;
        let read = match &self.named {
            Some(named) => self.read_named(segment, &named[index], each),
            None => self.read_morsel(segment, each),
        };
        tours.note_time(clock().thread_time().saturating_sub(began));
        self.table.checked(read)
    }

    fn read_morsel(
        &self,
        segment: &SegmentVersion,
        mut each: impl FnMut(ScannedBatch) -> ControlFlow<()>,
    ) -> Result<()> {
        let rows = segment.rows as usize;
        let columns = open_columns(&self.table, segment, &self.request.predicates)?;
        let filter = SegmentFilter::new(&self.table, segment, &self.request.predicates, &columns);
        let mut waiting: Vec<u32> = Vec::new();
        let mut bases = None;
        let mut first = 0;
        while first < rows {
            let count = CHUNK_ROWS.min(rows - first);
            let mask = filter.chunk(first, count)?;
            waiting.extend(mask.positions(u32::try_from(first).expect("within a segment")));
            first += count;
            while waiting.len() >= self.batch_rows.next() || (first >= rows && !waiting.is_empty())
            {
                let batch_rows = self.batch_rows.next().min(waiting.len());
                let taken = waiting.drain(..batch_rows).collect::<Vec<_>>();
                let rows = self.rows(segment, &taken, &mut bases);
                let mut pieces = self.batch_rows.pieces(self.table.checked(rows)?);
                if pieces.try_for_each(&mut each).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads of a segment's rows those that an index names.
    fn read_named(
        &self,
        segment: &SegmentVersion,
        positions: &[u32],
        mut each: impl FnMut(ScannedBatch) -> ControlFlow<()>,
    ) -> Result<()> {
        let rows = passing(&self.table, (segment, positions), &self.request.predicates)?;
        let (mut rows, mut bases) = (&*rows, None);
        while !rows.is_empty() {
            let (taken, rest) = rows.split_at(self.batch_rows.next().min(rows.len()));
            rows = rest;
            let rows = self.rows(segment, taken, &mut bases);
            let mut pieces = self.batch_rows.pieces(self.table.checked(rows)?);
            if pieces.try_for_each(&mut each).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The rows at the given positions; opens the segment's columns with the first ones.
    fn rows(
        &self,
        segment: &SegmentVersion,
        positions: &[u32],
        bases: &mut Option<Bases>,
    ) -> Result<RecordBatch> {
        let projection = &self.request.projection;
        let bases = match bases {
            Some(bases) => bases,
            None => bases.insert(Bases::of(&self.table, segment, projection)?),
        };
        let mut columns = bases.arrays(&self.table, (segment, positions), projection)?;
        if self.request.with_row_ids {
            let id = |&position: &u32| RowId { segment: segment.id, position }.to_u64();
            columns.push(Arc::new(positions.iter().map(id).collect::<UInt64Array>()));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(positions.len()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

/// The place of the first segment from an id on, where they rise.
pub(crate) fn from_segment(segments: &[Arc<SegmentVersion>], id: SegmentId) -> usize {
    segments.partition_point(|segment| segment.id < id)
}

/// The fields of some columns.
pub(crate) fn fields_of(shape: &TableSchema, projection: &[usize]) -> Vec<Field> {
    let field = |&column: &usize| {
        let column = &shape.columns[column];
        column.column_type.field(&column.name, column.nullable)
    };
    projection.iter().map(field).collect()
}

/// Whether sketches leave it possible that a row passes.
pub(crate) fn may_hold(
    table: &Table,
    segment: &SegmentVersion,
    predicates: &[Predicate],
) -> Result<bool> {
    let Some(base) = &segment.encoded else { return Ok(true) };
    if base.rows() < segment.rows || predicates.is_empty() {
        return Ok(true);
    }
    let footer = base.footer(table.schema(), table.blobs())?;
    for predicate in predicates {
        let column = column_number(predicate.column);
        if segment.overlay.has_patches(column) {
            continue;
        }
        let sketch = &footer.columns[predicate.column].sketch;
        let possible = match (&predicate.test, &sketch.range) {
            (Test::IsNull, _) => sketch.nulls > 0,
            (_, _) if sketch.nulls == base.rows() => false,
            (test, Some((min, max))) => test.may_pass(min, max),
            (_, None) => true,
        };
        if !possible {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The columns that predicates test, opened once for a segment.
pub(crate) type OpenedColumns = Vec<Option<Arc<Column>>>;

pub(crate) fn open_columns(
    table: &Table,
    segment: &SegmentVersion,
    predicates: &[Predicate],
) -> Result<OpenedColumns> {
    let open =
        |predicate: &Predicate| segment.base(table.schema(), table.blobs(), predicate.column);
    predicates.iter().map(open).collect()
}

/// The predicates of a scan, ready for one segment.
pub(crate) struct SegmentFilter<'a> {
    table: &'a Table,
    segment: &'a SegmentVersion,
    tests: Vec<PreparedTest<'a>>,
}

/// A predicate with what its column makes of it.
struct PreparedTest<'a> {
    predicate: &'a Predicate,
    encoded: Option<(&'a Column, Prepared<'a>)>,
}

impl<'a> SegmentFilter<'a> {
    pub(crate) fn new(
        table: &'a Table,
        segment: &'a SegmentVersion,
        predicates: &'a [Predicate],
        columns: &'a OpenedColumns,
    ) -> Self {
        let prepare = |(predicate, column): (&'a Predicate, &'a Option<_>)| {
            let column: Option<&'a Arc<Column>> = column.as_ref();
            let encoded = column.map(|column| (&**column, Prepared::new(column, &predicate.test)));
            PreparedTest { predicate, encoded }
        };
        Self { table, segment, tests: predicates.iter().zip(columns).map(prepare).collect() }
    }

    /// Which rows of a chunk are live and pass every predicate.
    pub(crate) fn chunk(&self, first: usize, count: usize) -> Result<Mask> {
        let mut mask = Mask::all(count);
        let overlay = &self.segment.overlay;
        if overlay.deleted_count() > 0 {
            for word in 0..count.div_ceil(64) {
                let index = u32::try_from(first / 64 + word).expect("within a segment");
                mask.clear_word(word, overlay.deleted_word(index));
            }
        }
        for test in &self.tests {
            if mask.is_empty() {
                break;
            }
            mask.and(&self.test(test, first, count)?);
        }
        Ok(mask)
    }

    fn test(&self, test: &PreparedTest<'_>, first: usize, count: usize) -> Result<Mask> {
        let predicate = test.predicate;
        let split = (self.segment.encoded_rows() as usize).clamp(first, first + count);
        let mut mask = match &test.encoded {
            Some((column, prepared)) if split == first + count => {
                let mask = prepared.evaluate(first, count);
                with_nulls(mask, column, &predicate.test, first, count)
            }
            // The chunk reaches into open rows: its values are looked at one by one.
            _ => {
                let (shape, blobs) = (self.table.schema(), self.table.blobs());
                let rows = Rows::Range { first, count };
                let vector = self.segment.vector(shape, blobs, predicate.column, rows)?;
                let mut mask = Mask::all(count);
                for row in 0..count {
                    mask.set(row, predicate.test.passes(&vector.datum(row)));
                }
                return Ok(mask);
            }
        };
        let column = column_number(predicate.column);
        let start = u32::try_from(first).expect("within a segment");
        let end = u32::try_from(first + count).expect("within a segment");
        for (position, value) in self.segment.overlay.patches_within(column, start..end) {
            mask.set((position - start) as usize, predicate.test.passes(value));
        }
        Ok(mask)
    }
}

/// Lets NULLs pass or fail as the test says.
fn with_nulls(mut mask: Mask, column: &Column, test: &Test, first: usize, count: usize) -> Mask {
    let Some(validity) = &column.validity else {
        if matches!(test, Test::IsNull) {
            (0..count).for_each(|row| mask.set(row, false));
        }
        return mask;
    };
    let wanted = !matches!(test, Test::IsNull);
    for row in 0..count {
        if validity.value(first + row) != wanted {
            mask.set(row, false);
        }
    }
    mask
}

//! Explicit transactions: snapshot isolation, with or without a look at what was read when they commit, or a new
//! snapshot for each statement.
//!
//! - A transaction works on a private version made from its snapshot: its own reads see its writes
//!   through the same code as any other read.
//! - What it changes it locks first, and what was changed since its snapshot is a conflict then
//!   ([`locking`]). At commit it is looked at again: a bulk load locks no keys.
//! - What it wrote is also kept as places, so that commit can replay it on the appended head.
//! - Every part of it is persistent, so a statement that fails is undone by going back to a clone.

mod bulk;
mod bulk_workers;
mod commit;
mod definitions;
mod foreign_keys;
mod indexing;
mod isolation;
mod loaded;
mod locking;
mod reads;
mod references;
mod refresh;
mod sequences;
mod shapes;
mod update;

pub use bulk::BulkWriter;
pub use isolation::Isolation;
pub(crate) use reads::Reads;

use crate::blobs::Blobs;
use crate::coordinator::Pin;
use crate::engine::{Entered, Inner, RowChange, check_keys, check_row};
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt_check::{InterruptCheck, check_interrupt};
use crate::keys::NamedRun;
use crate::locks::Locker;
use crate::segment::{EncodedSegment, Row, SEGMENT_ROWS_MAX, fitting, row_bytes};
use crate::snapshot::{Snapshot, Table};
use crate::types::{Datum, TableSchema};
use crate::version::{Change, DatabaseVersion, PRIVATE_SEGMENTS, TableVersion};
use gadus_base::{CommitNumber, RowId, SegmentId, TableId};
use gadus_locks::Mode;
use gadus_storage::Durability;
use imbl::{OrdMap, OrdSet, Vector};
use references::Unsettled;
use std::collections::BTreeMap;
use std::sync::Arc;
use update::Patched;

/// Rows that are placed between two checks for interrupts: some milliseconds of work, with a few indexes.
const PLACED_ROWS_MAX: usize = 4096;

/// A transaction; dropped without `commit`, it leaves nothing behind.
#[derive(Debug)]
pub struct Transaction {
    inner: Arc<Inner>,
    blobs: Arc<Blobs>,
    state: State,
    durability: Durability,
    isolation: Isolation,
    /// Notes what is read, where that is looked at again at commit.
    reads: Option<Arc<Reads>>,
    /// Something was read in a snapshot that is not the state's any more.
    was_read: bool,
    /// It may have to go back to the state that it has.
    is_marked: bool,
    /// Who locks; none as long as nothing is to be locked.
    locker: Option<Arc<Locker>>,
    /// The next private id for a segment of the view; going back to a savepoint does not change it.
    next_private: u32,
    _open: Entered,
}

/// What the transaction has done so far; a clone is a savepoint.
#[derive(Debug, Clone)]
struct State {
    /// The snapshot.
    base: Arc<DatabaseVersion>,
    /// Keeps it readable.
    pin: Arc<Pin>,
    view: DatabaseVersion,
    writes: OrdMap<TableId, TableWrites>,
    /// Tables and views created, changed and dropped, in order.
    shapes: Vector<Change>,
    /// What foreign keys are to be looked at for, when the statement ends.
    unsettled: Unsettled,
    /// Memory that the values of changed rows take.
    value_bytes: u64,
}

/// A point to which a transaction can go back.
#[derive(Debug)]
pub struct Savepoint(State);

/// Places that a transaction wrote in one table.
#[derive(Debug, Clone, Default)]
struct TableWrites {
    /// (segment, column) → patched rows that the snapshot or a bulk load had.
    patched: OrdMap<(SegmentId, u32), Patched>,
    deleted: OrdMap<SegmentId, OrdSet<u32>>,
    /// The snapshot in which the first keys were added: who adds the same later is found at commit.
    keys_since: Option<CommitNumber>,
    /// The snapshot in which the first rows were deleted: who refers to them later is found at commit.
    deleted_since: Option<CommitNumber>,
    /// Segments with rows that the transaction inserted; they exist in its view alone.
    inserted: OrdSet<SegmentId>,
    /// The one that takes more rows.
    open: Option<SegmentId>,
    /// Segments already encoded and written.
    loaded: Vector<(SegmentId, Arc<EncodedSegment>)>,
    runs: Vector<NamedRun>,
}

impl Transaction {
    pub(crate) fn new(
        inner: Arc<Inner>,
        blobs: Arc<Blobs>,
        locker: Option<Arc<Locker>>,
    ) -> Result<Self> {
        let open = inner.transactions.enter();
        let (base, pin) = inner.coordinator.pin()?;
        let (view, writes, shapes) = (base.private(), OrdMap::new(), Vector::new());
        let unsettled = Unsettled::default();
        if let Some(locker) = &locker {
            locker.begin()?;
        }
        Ok(Self {
            durability: inner.options.durability,
            isolation: Isolation::Snapshot,
            reads: None,
            was_read: false,
            is_marked: false,
            inner,
            blobs,
            state: State {
                base,
                pin: Arc::new(pin),
                view,
                writes,
                shapes,
                unsettled,
                value_bytes: 0,
            },
            locker,
            next_private: PRIVATE_SEGMENTS,
            _open: open,
        })
    }

    /// Says what the commit waits for.
    pub fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// The database as the transaction sees it now, with its own writes.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let version = Arc::new(self.state.view.clone());
        Snapshot::new(version, self.blobs.clone(), self.state.pin.clone(), self.reads.clone())
    }

    /// A table as the transaction sees it now, where it still has the shape that the caller knows.
    pub fn table(&self, schema: &TableSchema) -> Result<Table> {
        let version = self.view_table(schema)?.clone();
        Ok(Table::new(version, self.blobs.clone(), self.state.pin.clone(), self.reads.clone()))
    }

    /// The same for who only looks at what he changes: whoever else changes that is in conflict.
    pub(crate) fn table_to_write(&self, schema: &TableSchema) -> Result<Table> {
        let version = self.view_table(schema)?.clone();
        Ok(Table::new(version, self.blobs.clone(), self.state.pin.clone(), None))
    }

    /// Marks a point to go back to.
    #[must_use]
    pub fn savepoint(&mut self) -> Savepoint {
        self.is_marked = true;
        Savepoint(self.state.clone())
    }

    /// Undoes everything since the savepoint.
    ///
    /// What was read since then counts all the same: whoever reads has seen it.
    pub fn restore(&mut self, savepoint: Savepoint) {
        self.was_read |= self.state.pin.was_read();
        // Reads are of one snapshot.
        assert!(self.reads.is_none() || savepoint.0.base.commit == self.state.base.commit);
        self.note_undone(&savepoint.0);
        self.state = savepoint.0;
        // Slots behind the savepoint's rows may be filled: later rows go to other segments.
        let tables = self.state.writes.keys().copied().collect::<Vec<_>>();
        for table in tables {
            if let Some(writes) = self.state.writes.get_mut(&table) {
                writes.open = None;
            }
        }
    }

    /// Refuses values of so many bytes more where there is no memory for them.
    fn check_values(&self, bytes: u64) -> Result<()> {
        self.inner.change_check.ask(self.state.value_bytes.saturating_add(bytes))
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.writes.is_empty() && self.state.shapes.is_empty()
    }

    /// Inserts whole rows.
    pub fn insert(&mut self, schema: &TableSchema, rows: Vec<Row>) -> Result<u64> {
        let mut check = InterruptCheck::default();
        rows.iter().try_for_each(|row| check.row().and_then(|()| check_row(schema, row)))?;
        self.check_values(rows.iter().map(|row| row_bytes(row)).sum())?;
        self.lock_keys(schema, &rows).map_err(|error| self.refused_keys(schema, &rows, error))?;
        let is_new = check_keys(self.view_table(schema)?, &rows, &self.blobs);
        self.refused(schema, self.state.pin.checked(is_new))?;
        let count = rows.len() as u64;
        self.place(schema, rows)?;
        Ok(count)
    }

    /// Deletes rows that the transaction sees; returns how many.
    pub fn delete(&mut self, schema: &TableSchema, rows: &[RowId]) -> Result<u64> {
        let count = self.delete_rows(schema, rows)?;
        self.note_removed(schema, rows.iter().copied(), &[]);
        Ok(count)
    }

    fn delete_rows(&mut self, schema: &TableSchema, rows: &[RowId]) -> Result<u64> {
        self.lock_rows(schema, rows, Mode::Exclusive)?;
        let table = self.view_table(schema)?;
        let mut by_segment: BTreeMap<SegmentId, Vec<u32>> = BTreeMap::new();
        for row in rows.iter().filter(|row| table.live(**row).is_some()) {
            by_segment.entry(row.segment).or_default().push(row.position);
        }
        let mut count = 0;
        for (segment, mut positions) in by_segment {
            check_interrupt()?;
            positions.sort_unstable();
            positions.dedup();
            count += positions.len() as u64;
            let change =
                Change::DeleteRows { table: schema.id, segment, positions: positions.clone() };
            self.apply(&change)?;
            let since = self.state.base.commit;
            let writes = self.writes(schema.id);
            if !writes.inserted.contains(&segment) {
                writes.deleted_since.get_or_insert(since);
                writes.deleted.entry(segment).or_default().extend(positions);
            }
        }
        Ok(count)
    }

    /// Finds the row with a key and lets `decide` say what becomes of it; returns rows changed.
    pub fn change_row(
        &mut self,
        schema: &TableSchema,
        key: &[Datum],
        decide: impl FnOnce(&[Datum]) -> Result<RowChange>,
    ) -> Result<u64> {
        let table = self.view_table(schema)?;
        let pin = &self.state.pin;
        if let Some(reads) = &self.reads {
            reads.note_key(table, &schema.key, key, 0..schema.columns.len())?;
        }
        let found = pin.checked(table.find_key(&self.blobs, key))?;
        let Some(row) = found else { return Ok(0) };
        let segment = table.live(row).expect("a found row is live");
        match decide(&pin.checked(segment.row(schema, &self.blobs, row.position))?)? {
            RowChange::Keep => Ok(0),
            RowChange::Delete => self.delete(schema, &[row]),
            RowChange::Update(values) => {
                let (columns, values): (Vec<usize>, Vec<Datum>) = values.into_iter().unzip();
                self.update(schema, &columns, &[row], &[values])
            }
        }
    }

    /// Undoes what `work` has done when it fails.
    fn whole_or_not<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.savepoint();
        let done = work(self);
        if done.is_err() {
            self.restore(before);
        }
        done
    }

    /// Appends rows to the transaction's own segments, some thousands at a time.
    fn place(&mut self, schema: &TableSchema, rows: Vec<Row>) -> Result<()> {
        let mut rows = rows.into_iter();
        while !rows.as_slice().is_empty() {
            let next = &rows.as_slice()[..rows.len().min(PLACED_ROWS_MAX)];
            let table = self.view_table(schema)?.clone();
            let open = self.writes(schema.id).open;
            let into = open.and_then(|id| table.segment(id)).map(|segment| &**segment);
            let (first, room) = match fitting(into, next) {
                0 => {
                    let segment = self.private_segment()?;
                    (RowId { segment, position: 0 }, fitting(None, next))
                }
                room => match into {
                    Some(segment) => (RowId { segment: segment.id, position: segment.rows }, room),
                    None => (RowId { segment: self.private_segment()?, position: 0 }, room),
                },
            };
            check_interrupt()?;
            let placed = rows.by_ref().take(room).collect::<Vec<_>>();
            let count = u32::try_from(placed.len()).unwrap_or(SEGMENT_ROWS_MAX);
            self.apply(&Change::AppendRows { table: schema.id, first, rows: placed })?;
            let since = self.state.base.commit;
            let writes = self.writes(schema.id);
            writes.keys_since.get_or_insert(since);
            writes.inserted.insert(first.segment);
            writes.open = Some(first.segment);
            self.note_added(schema, first, count);
        }
        Ok(())
    }

    /// An id for a segment of the view.
    fn private_segment(&mut self) -> Result<SegmentId> {
        let id = SegmentId(self.next_private);
        self.next_private = id.0.checked_add(1).ok_or_else(|| {
            Error::new(ErrorKind::Limit, "the transaction has too many segments; commit it before")
        })?;
        Ok(id)
    }

    fn view_table(&self, schema: &TableSchema) -> Result<&Arc<TableVersion>> {
        crate::engine::same_shape(&self.state.view, schema)
    }

    fn writes(&mut self, table: TableId) -> &mut TableWrites {
        self.state.writes.entry(table).or_default()
    }

    /// Applies a change to the private version, as a commit that comes after the snapshot.
    fn apply(&mut self, change: &Change) -> Result<()> {
        let at: CommitNumber = self.state.base.commit.next();
        self.state.value_bytes += change.value_bytes();
        self.state
            .view
            .apply(change, at)
            .map_err(|what| Error::internal(format!("a statement {what}")))
    }
}

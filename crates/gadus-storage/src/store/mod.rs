//! A store: the data file, the log, and what keeps them in step.
//!
//! - Order on the medium: extents, then the log record that names them; the root's extent, then the
//!   header that names it; a header, then the reuse of what only older headers name.
//! - Calls of `append` are serial (the caller's commit lock); everything else may overlap.
//! - The store owns both files' open devices until it is dropped, and drops nothing unsynced that
//!   was acknowledged.

mod checkpoint;
mod create;
mod files;
mod open;
mod relaxed;

pub(crate) use files::{Files, read_slots};
pub(crate) use open::log_start;

use crate::blob::{BLOB_ALIGNMENT_BYTES, Blob, BlobRef, ExtentRef};
use crate::error::{ErrorKind, StorageError};
use crate::header::Header;
use crate::log::{Log, LogRecord};
use crate::options::{Durability, Options};
use crate::poison::Poison;
use crate::space::{Extent, Misplaced, Space};
use gadus_base::{CommitNumber, DatabaseId, LogPosition};
use gadus_block::{AlignedBuffer, Device, Hint};
use parking_lot::Mutex;
use relaxed::RelaxedSync;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One open database. Bytes only: what they mean is the caller's business.
#[derive(Debug)]
pub struct Store {
    /// Stops before the rest is dropped.
    relaxed: Option<RelaxedSync>,
    shared: Arc<Shared>,
}

/// What opening found.
#[derive(Debug)]
pub struct Recovered {
    /// The root of the last checkpoint; none before the first.
    pub root: Option<Blob>,
    /// The commit that the root contains.
    pub commit: CommitNumber,
    /// The records after it, in order.
    pub records: Vec<LogRecord>,
    /// What was wrong and could be mended, in words for the user.
    pub warnings: Vec<String>,
}

/// Counts since the store was opened, and sizes now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreStatistics {
    /// Appended records.
    pub commits: u64,
    /// Syncs of the log on behalf of commits.
    pub log_syncs: u64,
    /// Syncs of the data file.
    pub data_syncs: u64,
    /// Completed checkpoints.
    pub checkpoints: u64,
    /// Bytes that opening would read from the log now.
    pub log_bytes: u64,
    /// Size of the log file.
    pub log_file_bytes: u64,
    /// Bytes of the data file up to the last extent.
    pub data_file_bytes: u64,
    /// Bytes of the data file that may be used at once.
    pub free_bytes: u64,
    /// Bytes of the data file that wait for two checkpoints.
    pub pending_bytes: u64,
    /// Extents in use.
    pub extents: u64,
}

#[derive(Debug)]
struct Shared {
    data: Arc<dyn Device>,
    data_described: String,
    options: Options,
    database: DatabaseId,
    poison: Arc<Poison>,
    space: Arc<Space>,
    log: Log,
    headers: Mutex<Headers>,
    /// Replay position of the newest header, readable without its lock.
    replay_from: AtomicU64,
    commits: AtomicU64,
    data_syncs: AtomicU64,
    checkpoints: AtomicU64,
}

/// The two slots, and the extents that keep their roots.
#[derive(Debug)]
struct Headers {
    newest: Header,
    newest_slot: usize,
    newest_extent: Option<Arc<Extent>>,
    /// The other slot; none when it is not valid.
    older: Option<Header>,
    older_extent: Option<Arc<Extent>>,
}

impl Store {
    /// Identity of the database.
    #[must_use]
    pub fn id(&self) -> DatabaseId {
        self.shared.database
    }

    /// Where the data file is, for messages.
    #[must_use]
    pub fn describe(&self) -> &str {
        &self.shared.data_described
    }

    /// Writes blobs side by side into an extent of their own. Not synced: call
    /// [`Store::sync_data`] before appending the record that names the extent.
    ///
    /// # Errors
    /// `NoSpace`, `ReadOnly`, or a failure of the device; the space is free again then.
    pub fn write_extent(
        &self,
        blobs: &[&[u8]],
    ) -> Result<(Arc<Extent>, Vec<BlobRef>), StorageError> {
        self.shared.writable()?;
        self.shared.write_extent(blobs)
    }

    /// Makes every extent written before durable.
    ///
    /// # Errors
    /// A failure poisons the store.
    pub fn sync_data(&self) -> Result<(), StorageError> {
        self.shared.writable()?;
        self.shared.sync_data()
    }

    /// Reads and verifies a blob.
    ///
    /// # Errors
    /// `Corrupt` with the offset when the bytes are not those that were written.
    pub fn read_blob(&self, blob: &BlobRef) -> Result<Blob, StorageError> {
        self.shared.read_blob(blob)
    }

    /// Says that a range will be read soon, or not again.
    pub fn hint(&self, range: Range<u64>, hint: Hint) {
        self.shared.data.hint(range, hint);
    }

    /// Marks an extent as used, during recovery: every extent that the root or a record names. The
    /// same reference gives the same handle.
    ///
    /// # Errors
    /// `Corrupt` when the reference cannot be true.
    pub fn adopt_extent(&self, extent: ExtentRef) -> Result<Arc<Extent>, StorageError> {
        if !self.shared.space.is_recovering() {
            return Err(self.shared.invalid("extents are adopted during recovery only"));
        }
        self.shared.adopt(extent)
    }

    /// Ends recovery: what was not adopted is free, and writing may begin.
    ///
    /// # Errors
    /// `Invalid` when recovery is over already.
    pub fn finish_recovery(&self) -> Result<(), StorageError> {
        if !self.shared.space.is_recovering() {
            return Err(self.shared.invalid("recovery ends once"));
        }
        self.shared.space.finish_recovery();
        Ok(())
    }

    /// Appends a record: written, not durable yet. The caller serialises calls.
    ///
    /// # Errors
    /// `NoSpace` and `Limit` fail this record only; other failures poison the store.
    pub fn append(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
    ) -> Result<LogPosition, StorageError> {
        self.append_record(commit, pieces, false)
    }

    /// Appends a record whose caller calls [`Store::wait_durable`] next: while a sync runs, the
    /// record may stay in memory, to be written together with others before the next sync. The
    /// caller serialises calls.
    ///
    /// # Errors
    /// `NoSpace` and `Limit` fail this record only; other failures poison the store.
    pub fn append_for_sync(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
    ) -> Result<LogPosition, StorageError> {
        self.append_record(commit, pieces, true)
    }

    fn append_record(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
        will_wait: bool,
    ) -> Result<LogPosition, StorageError> {
        self.shared.writable()?;
        let end = self.shared.log.append(commit, pieces, will_wait)?;
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        if let Some(relaxed) = &self.relaxed {
            relaxed.appended();
        }
        Ok(end)
    }

    /// Returns once everything before `end` is as durable as [`Options::durability`] asks for.
    ///
    /// # Errors
    /// `Poisoned`, or the failure that poisons: whether the record is durable is then unknown until
    /// the database is opened again. `Invalid` when nothing was appended up to `end`.
    pub fn wait_durable(&self, end: LogPosition) -> Result<(), StorageError> {
        if end > self.appended() {
            return Err(self.shared.invalid("nothing is appended there yet"));
        }
        match self.shared.options.durability {
            Durability::Sync => self.shared.log.group.wait(end),
            Durability::Relaxed | Durability::Off => self.shared.poison.check(),
        }
    }

    /// Everything before is durable on the medium, whatever the options.
    #[must_use]
    pub fn durable(&self) -> LogPosition {
        self.shared.log.group.durable()
    }

    /// The end of the last appended record.
    #[must_use]
    pub fn appended(&self) -> LogPosition {
        self.shared.log.group.appended()
    }

    /// Bytes that opening would have to read from the log now.
    #[must_use]
    pub fn log_bytes_since_checkpoint(&self) -> u64 {
        self.appended().0 - self.shared.replay_from.load(Ordering::Acquire)
    }

    /// Whether a failure has left the durable state unknown; see [`ErrorKind::Poisoned`].
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.shared.poison.is_set()
    }

    /// Counts and sizes.
    #[must_use]
    pub fn statistics(&self) -> StoreStatistics {
        let shared = &self.shared;
        let space = shared.space.figures();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StoreStatistics {
            commits: count(&shared.commits),
            log_syncs: shared.log.group.syncs(),
            data_syncs: count(&shared.data_syncs),
            checkpoints: count(&shared.checkpoints),
            log_bytes: self.log_bytes_since_checkpoint(),
            log_file_bytes: shared.log.file_bytes(),
            data_file_bytes: space.end,
            free_bytes: space.free,
            pending_bytes: space.pending,
            extents: space.extents as u64,
        }
    }
}

impl Shared {
    fn writable(&self) -> Result<(), StorageError> {
        if !self.options.read_only {
            return self.poison.check();
        }
        let message = "the database is open for reading only";
        Err(StorageError::new(ErrorKind::ReadOnly, &self.data_described, message))
    }

    fn invalid(&self, message: &str) -> StorageError {
        StorageError::new(ErrorKind::Invalid, &self.data_described, message)
    }

    fn adopt(&self, extent: ExtentRef) -> Result<Arc<Extent>, StorageError> {
        self.space.adopt(extent).map_err(|why| misplaced(why, extent, &self.data_described))
    }

    fn sync_data(&self) -> Result<(), StorageError> {
        self.poison.check()?;
        self.data_syncs.fetch_add(1, Ordering::Relaxed);
        self.data.sync().map_err(|error| self.poison.set(error.into()))
    }

    fn write_extent(&self, blobs: &[&[u8]]) -> Result<(Arc<Extent>, Vec<BlobRef>), StorageError> {
        const ZEROS: [u8; 4096] = [0; 4096];
        if self.space.is_recovering() {
            return Err(self.invalid("writing begins after recovery"));
        }
        let bytes = blobs.iter().map(|blob| room_of(blob)).sum();
        let Some(extent) = self.space.allocate(bytes) else {
            let message = "the data file has reached the largest size that files can have";
            return Err(StorageError::new(ErrorKind::Limit, &self.data_described, message));
        };
        let ExtentRef { offset: start, bytes: extent_bytes, id } = extent.reference();
        let mut references = Vec::with_capacity(blobs.len());
        let mut pieces = Vec::with_capacity(2 * blobs.len() + 1);
        let mut offset = start;
        for (blob, id) in blobs.iter().zip(id + 1..) {
            references.push(BlobRef::of(id, offset, blob));
            let room = room_of(blob);
            let padding = usize::try_from(room - blob.len() as u64).expect("at most 64 bytes");
            pieces.extend([IoSlice::new(blob), IoSlice::new(&ZEROS[..padding])]);
            offset += room;
        }
        let rest = usize::try_from(start + extent_bytes - offset).expect("at most one unit");
        pieces.push(IoSlice::new(&ZEROS[..rest]));
        match self.data.write_at(start, &pieces) {
            Ok(()) => Ok((extent, references)),
            Err(error) => {
                self.space.cancel(extent);
                Err(error.into())
            }
        }
    }

    fn read_blob(&self, blob: &BlobRef) -> Result<Blob, StorageError> {
        read_blob(&*self.data, &self.data_described, self.space.end(), blob)
    }
}

/// Space that a blob takes in its extent; also an empty one takes some, so that the ids of an
/// extent's blobs are bounded by its length.
fn room_of(blob: &[u8]) -> u64 {
    (blob.len() as u64).next_multiple_of(BLOB_ALIGNMENT_BYTES).max(BLOB_ALIGNMENT_BYTES)
}

/// Reads a blob of a file that ends at `file_end`, before which the reference must lie.
fn read_blob(
    data: &dyn Device,
    described: &str,
    file_end: u64,
    blob: &BlobRef,
) -> Result<Blob, StorageError> {
    let damaged = |message: &str| {
        let message = format!("blob {} of {} bytes {message}", blob.id, blob.bytes);
        StorageError::corrupt(described, blob.offset, message)
    };
    if !blob.offset.is_multiple_of(BLOB_ALIGNMENT_BYTES) || blob.end() > file_end {
        return Err(damaged("cannot be where its reference says"));
    }
    let length = usize::try_from(blob.bytes).map_err(|_| damaged("is too large"))?;
    let alignment = usize::try_from(BLOB_ALIGNMENT_BYTES).expect("small");
    let mut bytes = AlignedBuffer::zeroed(length, alignment);
    data.read_at(blob.offset, &mut bytes)?;
    if !blob.matches(&bytes) {
        return Err(damaged("is not what was written: its checksum differs; restore a copy"));
    }
    Ok(Blob::new(bytes))
}

fn misplaced(why: Misplaced, extent: ExtentRef, described: &str) -> StorageError {
    let why = match why {
        Misplaced::Malformed => "is not a possible extent",
        Misplaced::PastEnd => "reaches past the end of the file",
        Misplaced::Overlapping => "overlaps another extent in use",
    };
    let message = format!("extent {} of {} bytes {why}", extent.id, extent.bytes);
    StorageError::corrupt(described, extent.offset, message)
}

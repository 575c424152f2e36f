//! A store: the data file, the log, and what keeps them in step.
//!
//! - Order on the medium: extents, then the log record that names them; the root's extent, then the
//!   header that names it; a header, then the reuse of what only older headers name.
//! - Calls of `append` are serial (the caller's commit lock); everything else may overlap.
//! - The store owns both files' open devices until it is dropped, and drops nothing unsynced that
//!   was acknowledged.

mod blobs;
mod checkpoint;
mod create;
mod files;
mod follow;
mod open;
mod read_only;
mod relaxed;
mod remove;
mod revocation;
mod share;
mod statistics;

pub use blobs::WrittenExtent;
pub use checkpoint::CheckpointTurn;
pub(crate) use files::{Files, read_slots};
pub use follow::NUMBERS_MAX;
pub(crate) use open::{log_start, shape_of};
pub use statistics::StoreStatistics;

use crate::blob::{Blob, BlobRef, ExtentRef};
use crate::durable_mark::DurableMark;
use crate::error::{ErrorKind, StorageError};
use crate::header::Header;
use crate::holder::OpenersTurn;
use crate::log::{Log, LogEnd, LogRecord, Terms};
use crate::options::{Durability, Options};
use crate::peers::{Held, Peers, Stage};
use crate::poison::Poison;
use crate::space::{Extent, Misplaced, Space};
use gadus_base::{Account, CommitNumber, DatabaseId, LogPosition, ProcessMark, clock};
use gadus_block::Hint;
use gadus_locks::Owner;
use parking_lot::Mutex;
use relaxed::RelaxedSync;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
    /// Where they end.
    pub end: LogEnd,
    /// What was wrong and could be mended, in words for the user.
    pub warnings: Vec<String>,
}

/// The right to append, until it is dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    _held: Held<'a>,
}

#[derive(Debug)]
struct Shared {
    // What drops files frees what proves this instance alive: the peers go first.
    log: Log,
    space: Arc<Space>,
    poison: Arc<Poison>,
    peers: Arc<Peers>,
    files: Files,
    options: Options,
    database: DatabaseId,
    /// Where it was opened: a forked child has no part in it.
    process: ProcessMark,
    headers: Mutex<Headers>,
    /// Whether this instance has recovered the database; else it has joined others.
    recovered: bool,
    /// The turn of openers in which it opens: until it has recovered what it shares, or has joined.
    opens_in: Mutex<Option<OpenersTurn>>,
    /// What is pinned from here on, as this instance's own threads may rely on: what its pin says
    /// may be about to be refused.
    pinned_from: AtomicU64,
    commits: AtomicU64,
    durable_mark: DurableMark,
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
    /// The process that opened it.
    #[must_use]
    pub fn process(&self) -> ProcessMark {
        self.shared.process
    }

    /// Identity of the database.
    #[must_use]
    pub fn id(&self) -> DatabaseId {
        self.shared.database
    }

    /// Where the data file is, for messages.
    #[must_use]
    pub fn describe(&self) -> &str {
        &self.shared.files.data_described
    }

    /// Writes blobs side by side into an extent of their own. Not synced: call
    /// [`Store::sync_data`] before appending the record that names the extent.
    ///
    /// # Errors
    /// `NoSpace`, `ReadOnly`, or a failure of the device; the space is free again then.
    pub fn write_extent(&self, blobs: &[&[u8]]) -> Result<WrittenExtent, StorageError> {
        self.shared.writable()?;
        self.shared.write_extent(blobs)
    }

    /// Writes an extent like [`Store::write_extent`], and stops once `goes_on` returns false, which is asked every
    /// few milliseconds. It gives nothing then, and the space is free again.
    ///
    /// # Errors
    /// See [`Store::write_extent`].
    pub fn write_extent_while(
        &self,
        blobs: &[&[u8]],
        goes_on: impl Fn() -> bool,
    ) -> Result<Option<WrittenExtent>, StorageError> {
        self.shared.writable()?;
        self.shared.write_extent_while(blobs, &goes_on)
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

    /// Has the caller hear of each extent whose last handle here is dropped: nobody here reads its
    /// blobs any more. Said once.
    pub fn when_extents_drop(&self, listener: impl Fn(ExtentRef) + Send + Sync + 'static) {
        self.shared.space.listen(listener);
    }

    /// The length of a blob, where its reference may be true.
    ///
    /// # Errors
    /// `Corrupt` when it cannot.
    pub fn blob_length(&self, blob: &BlobRef) -> Result<usize, StorageError> {
        self.shared.blob_length(blob)
    }

    /// The same as [`Store::read_blob`], into memory of the blob's length.
    ///
    /// # Errors
    /// As [`Store::read_blob`].
    pub fn read_blob_into(&self, blob: &BlobRef, bytes: &mut [u8]) -> Result<(), StorageError> {
        self.shared.read_blob_into(blob, bytes)
    }

    /// Says that a range will be read soon, or not again.
    pub fn hint(&self, range: Range<u64>, hint: Hint) {
        self.shared.files.data.hint(range, hint);
    }

    /// Marks an extent as used: every extent that the root or a record names, during recovery or when
    /// others have appended it. The same reference gives the same handle.
    ///
    /// # Errors
    /// `Corrupt` when the reference cannot be true.
    pub fn adopt_extent(&self, extent: ExtentRef) -> Result<Arc<Extent>, StorageError> {
        if !self.shared.space.is_recovering() && !self.is_shared() {
            return Err(self.shared.invalid("extents are adopted during recovery only"));
        }
        self.shared.adopt(extent)
    }

    /// Ends recovery: what was not adopted is free, and writing may begin. Others can join from then
    /// on.
    ///
    /// # Errors
    /// `Invalid` when recovery is over already, `Corrupt` where the shared memory is lost.
    pub fn finish_recovery(&self) -> Result<(), StorageError> {
        if !self.shared.space.is_recovering() {
            return Err(self.shared.invalid("recovery ends once"));
        }
        self.shared.finish_recovery();
        self.check_memory()
    }

    /// Fails if the memory that the processes share was cut off, or overwritten, from outside: before a statement,
    /// and before anything else that uses it.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn check_memory(&self) -> Result<(), StorageError> {
        self.shared.peers.check_memory(&self.shared.files.data_described)
    }

    /// The same, relying on a look of up to some milliseconds ago.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn check_memory_cached(&self) -> Result<(), StorageError> {
        self.shared.peers.check_memory_cached(&self.shared.files.data_described)
    }

    /// Takes the turn to append, which one thread of one instance has at a time.
    #[must_use]
    pub fn turn(&self) -> Turn<'_> {
        let peers = &self.shared.peers;
        Turn { _held: peers.hold(&peers.state().commit, |_| Stage::Commit) }
    }

    /// The same, unless somebody has it for so long, who must be stopped then: nothing is taken from
    /// the living.
    ///
    /// # Errors
    /// `InUse`, with the name of who has it.
    pub fn turn_within(&self, patience: Duration) -> Result<Turn<'_>, StorageError> {
        let peers = &self.shared.peers;
        self.check_memory_cached()?;
        let end = Some(clock().now().plus(patience));
        let held = peers.hold_until(&peers.state().commit, end, |_| Stage::Commit);
        Ok(Turn { _held: held.map_err(|owner| self.shared.stuck(owner))? })
    }

    /// Appends a record: written, not durable yet.
    ///
    /// # Errors
    /// `NoSpace` and `Limit` fail this record only; other failures poison the store.
    pub fn append(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
    ) -> Result<LogPosition, StorageError> {
        self.append_record(&self.turn(), commit, pieces, Terms::default())
    }

    /// Appends a record whose caller calls [`Store::wait_durable`] next: the
    /// record may stay in memory, to be written together with others before the next sync.
    ///
    /// # Errors
    /// `NoSpace` and `Limit` fail this record only; other failures poison the store.
    pub fn append_for_sync(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
    ) -> Result<LogPosition, StorageError> {
        let terms = Terms { will_wait: true, ..Terms::default() };
        self.append_record(&self.turn(), commit, pieces, terms)
    }

    /// Appends a record in a turn that was taken before.
    ///
    /// # Errors
    /// `NoSpace`, `Limit` and `Cancelled` fail this record only; other failures poison the store. `Cancelled` is given
    /// for long records alone, if the statement that this thread works for is to end (`gadus_base::interruptible`).
    pub fn append_record(
        &self,
        _turn: &Turn<'_>,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
        terms: Terms,
    ) -> Result<LogPosition, StorageError> {
        self.shared.writable()?;
        let space = &self.shared.space;
        space.keep_reserve(terms.unsaved, terms.remaining)?;
        let end = self.shared.log.append(commit, pieces, terms)?;
        space.note_unsaved(terms.unsaved);
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        Account::note_written(pieces.iter().map(|piece| piece.len() as u64).sum());
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
            Durability::Sync => {
                self.shared.log.group.wait(end)?;
                let Shared { durable_mark, files, database, options, .. } = &*self.shared;
                if !options.read_only {
                    durable_mark.note(&*files.data, *database, self.durable());
                }
                Ok(())
            }
            Durability::Relaxed | Durability::Off => self.shared.poison.check(),
        }
    }

    /// Everything before is durable on the medium, whatever the options.
    #[must_use]
    pub fn durable(&self) -> LogPosition {
        self.shared.log.group.durable()
    }

    /// What the sync that runs will make durable, if it succeeds: a hint.
    #[must_use]
    pub fn sync_target(&self) -> LogPosition {
        self.shared.log.group.target()
    }

    /// The end of the last appended record.
    #[must_use]
    pub fn appended(&self) -> LogPosition {
        LogPosition(self.shared.log.end().position)
    }

    /// Bytes that opening would have to read from the log now.
    #[must_use]
    pub fn log_bytes_since_checkpoint(&self) -> u64 {
        let replay_from = self.shared.peers.state().log.replay_from.load(Ordering::Acquire);
        self.appended().0.saturating_sub(replay_from)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Shared {
    fn finish_recovery(&self) {
        self.space.finish_recovery(self.recovered);
        if !self.recovered {
            self.peers.unpin_all();
        }
        // Now others may join.
        self.opens_in.lock().take();
    }

    fn writable(&self) -> Result<(), StorageError> {
        if !self.options.read_only {
            return self.poison.check();
        }
        let message = "the database is open for reading only";
        Err(StorageError::new(ErrorKind::ReadOnly, &self.files.data_described, message))
    }

    /// Somebody is in the middle of a commit for too long.
    fn stuck(&self, owner: Owner) -> StorageError {
        let who = match self.peers.instances().describe(owner) {
            Some(found) => format!("process {} ({})", found.pid, found.program),
            None => "another process".to_owned(),
        };
        let message = format!(
            "{who} is in the middle of a commit and does not go on; if it is stopped, continue it \
             (kill -CONT) or end it (kill -KILL), and commit again"
        );
        StorageError::new(ErrorKind::InUse, &self.files.data_described, message)
    }

    fn invalid(&self, message: &str) -> StorageError {
        StorageError::new(ErrorKind::Invalid, &self.files.data_described, message)
    }

    fn adopt(&self, extent: ExtentRef) -> Result<Arc<Extent>, StorageError> {
        self.space.adopt(extent).map_err(|why| misplaced(why, extent, &self.files.data_described))
    }

    fn sync_data(&self) -> Result<(), StorageError> {
        self.poison.check()?;
        self.data_syncs.fetch_add(1, Ordering::Relaxed);
        self.files.data.sync().map_err(|error| self.poison.set(error.into()))
    }
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

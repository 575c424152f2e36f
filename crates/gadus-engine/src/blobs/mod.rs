//! Blobs of the data file, opened and cached within the memory limit.
//!
//! - A cache is of one process, shared by its threads, or of one connection: the same blobs, with the
//!   same checks, so that nobody can tell but by time and memory.
//! - The key of a cached blob is its id, which is never reused; so a cached blob is never stale.
//! - What is cached is the blob in place with its opened form; nothing is decoded twice because
//!   nothing is decoded.

mod private;
mod shared;

use crate::encoding::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::KeyPage;
use crate::scan_help::Helpers;
use crate::tours::Tours;
use crate::types::{ColumnType, StorageClass};
use arrow::buffer::Buffer;
use gadus_base::{Account, ByteCount, DecodeError};
use gadus_block::Hint;
use gadus_storage::{Blob, BlobRef, Store};
use parking_lot::Mutex;
use private::PrivateCache;
use shared::SharedCache;
use std::sync::Arc;
use std::time::Duration;

/// The store and the cache of blobs read from it.
#[derive(Debug)]
pub(crate) struct Blobs {
    store: Arc<Store>,
    cached: Cached,
    tours: Arc<Tours>,
    helpers: Arc<Helpers>,
    /// Whether the kernel is told of what will be read.
    announces: bool,
}

/// Of less the kernel reads all at once anyway.
const ANNOUNCED_BYTES_MIN: usize = 128 << 10;

/// Whose cache it is.
#[derive(Debug)]
enum Cached {
    /// All threads'.
    Process(Arc<SharedCache>),
    /// One connection's. Locked for a moment by the threads of one statement.
    Connection(Mutex<PrivateCache>),
}

/// An opened blob.
#[derive(Debug, Clone)]
enum Opened {
    Column(Arc<Column>),
    Keys(Arc<KeyPage>),
}

impl Blobs {
    /// Blobs of a store, cached for all threads up to `limit`.
    pub(crate) fn of_process(store: Arc<Store>, limit: ByteCount) -> Self {
        let cache = Arc::new(SharedCache::new(limit));
        let dropped = cache.clone();
        store.when_extents_drop(move |extent| dropped.forget(extent));
        Self::of(store, Cached::Process(cache))
    }

    /// Blobs of a store, cached for one connection up to `limit`.
    pub(crate) fn of_connection(store: Arc<Store>, limit: ByteCount) -> Self {
        let limit = usize::try_from(limit.0).unwrap_or(usize::MAX);
        Self::of(store, Cached::Connection(Mutex::new(PrivateCache::new(limit))))
    }

    fn of(store: Arc<Store>, cached: Cached) -> Self {
        let (tours, helpers) = Default::default();
        Self { store, cached, tours, helpers, announces: false }
    }

    /// The same, with the kernel told of what will be read, or not.
    pub(crate) fn announcing(self, announces: bool) -> Self {
        Self { announces, ..self }
    }

    /// The same, with the work from which on other threads help with a scan, or none for all.
    pub(crate) fn helped_from(self, work: Option<Duration>) -> Self {
        Self { helpers: Arc::new(Helpers::new(work)), ..self }
    }

    /// The same for another connection, whose scans go round with these.
    pub(crate) fn for_another(&self, limit: ByteCount) -> Self {
        let (tours, helpers) = (self.tours.clone(), self.helpers.clone());
        let announces = self.announces;
        Self { tours, helpers, announces, ..Self::of_connection(self.store.clone(), limit) }
    }

    /// Who scans which tables.
    pub(crate) fn tours(&self) -> &Tours {
        &self.tours
    }

    /// Who helps with scans of which tables.
    pub(crate) fn helpers(&self) -> &Helpers {
        &self.helpers
    }

    /// A statement has ended: of a connection's blobs, those over its limit go.
    pub(crate) fn trim(&self) {
        if let Cached::Connection(cache) = &self.cached {
            cache.lock().trim();
        }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Whether all threads of the process share them.
    pub(crate) fn are_of_process(&self) -> bool {
        matches!(self.cached, Cached::Process(_))
    }

    /// Caches so much from now on, where all threads share it; what is more goes at once.
    pub(crate) fn limit_cache(&self, limit: ByteCount) {
        if let Cached::Process(cache) = &self.cached {
            cache.set_limit(limit);
        }
    }

    /// Bytes that cached blobs take.
    pub(crate) fn cached(&self) -> ByteCount {
        match &self.cached {
            Cached::Process(cache) => ByteCount(cache.bytes()),
            Cached::Connection(cache) => ByteCount(cache.lock().bytes() as u64),
        }
    }

    /// A cached blob; else reads it, lets `open` open it, and caches it.
    fn cached_or(
        &self,
        blob: &BlobRef,
        open: impl FnOnce(Buffer) -> Result<Opened>,
    ) -> Result<Opened> {
        let cache = match &self.cached {
            Cached::Process(cache) => {
                if let Some(opened) = cache.get(blob.id) {
                    Account::note_hit();
                    return Ok(opened);
                }
                self.announce(blob)?;
                let opened = open(self.read(blob)?)?;
                cache.insert(blob.id, opened.clone());
                return Ok(opened);
            }
            Cached::Connection(cache) => cache,
        };
        let mut piece = {
            let mut cache = cache.lock();
            if let Some(opened) = cache.get(blob.id) {
                Account::note_hit();
                return Ok(opened.clone());
            }
            cache.take(self.store.blob_length(blob)?)
        };
        self.announce(blob)?;
        self.store.read_blob_into(blob, &mut piece.memory)?;
        let chunk = piece.chunk();
        let opened = open(Buffer::from(piece.memory.freeze()))?;
        cache.lock().insert(blob.id, chunk, opened.clone());
        Ok(opened)
    }

    /// Tells the kernel that a blob will be read, where that was decided and it is large enough.
    fn announce(&self, blob: &BlobRef) -> Result<()> {
        if self.announces {
            let bytes = self.store.blob_length(blob)?;
            if bytes >= ANNOUNCED_BYTES_MIN {
                let range = blob.offset..blob.offset.saturating_add(bytes as u64);
                self.store.hint(range, Hint::WillNeed);
            }
        }
        Ok(())
    }

    /// A column blob, opened.
    pub(crate) fn column(&self, blob: &BlobRef, column_type: ColumnType) -> Result<Arc<Column>> {
        let open = |buffer| self.open_column(blob, column_type, &buffer).map(Arc::new);
        match self.cached_or(blob, |buffer| open(buffer).map(Opened::Column))? {
            Opened::Column(column) => Ok(column),
            // Named as a column and as a key page: one of the two who name it is damaged.
            Opened::Keys(_) => open(self.read(blob)?),
        }
    }

    /// A column blob, opened without entering the cache: for verification, which reads the file.
    pub(crate) fn read_column(&self, blob: &BlobRef, column_type: ColumnType) -> Result<Column> {
        self.open_column(blob, column_type, &self.read(blob)?)
    }

    fn open_column(
        &self,
        blob: &BlobRef,
        column_type: ColumnType,
        buffer: &Buffer,
    ) -> Result<Column> {
        let class: StorageClass = column_type.storage();
        Column::open(class, column_type.is_text(), buffer)
            .map_err(|error| self.damaged(blob, error))
    }

    /// A page of a key run, opened.
    pub(crate) fn key_page(&self, blob: &BlobRef) -> Result<Arc<KeyPage>> {
        let open = |buffer| self.open_key_page(blob, &buffer).map(Arc::new);
        match self.cached_or(blob, |buffer| open(buffer).map(Opened::Keys))? {
            Opened::Keys(page) => Ok(page),
            Opened::Column(_) => open(self.read(blob)?),
        }
    }

    /// A page of a key run, opened without entering the cache: for merges and
    /// verification, which read it once.
    pub(crate) fn read_key_page(&self, blob: &BlobRef) -> Result<KeyPage> {
        self.open_key_page(blob, &self.read(blob)?)
    }

    fn open_key_page(&self, blob: &BlobRef, buffer: &Buffer) -> Result<KeyPage> {
        KeyPage::open(buffer).map_err(|error| self.damaged(blob, error))
    }

    fn read(&self, blob: &BlobRef) -> Result<Buffer> {
        let bytes = self.store.read_blob(blob)?;
        Ok(Buffer::from(bytes::Bytes::from_owner(OwnedBlob(bytes))))
    }

    /// The error for a blob whose checksum holds and whose content does not.
    pub(crate) fn damaged(&self, blob: &BlobRef, error: DecodeError) -> Error {
        let place = self.store.describe();
        Error::new(
            ErrorKind::Corrupt,
            format!(
                "{place}: the blob at offset {} is damaged: {error} of the blob; run `gadus check` \
                 and restore the file from a backup",
                blob.offset
            ),
        )
        .caused_by(error)
    }
}

/// Lets a blob be the owner of shared bytes.
struct OwnedBlob(Blob);

impl AsRef<[u8]> for OwnedBlob {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

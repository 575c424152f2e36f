//! Blobs of the data file, opened and cached within the memory limit.
//!
//! - The key of a cached blob is its id, which is never reused; so a cached blob is never stale.
//! - What is cached is the blob in place with its opened form; nothing is decoded twice because
//!   nothing is decoded.

use crate::encoding::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::KeyPage;
use crate::types::{ColumnType, StorageClass};
use arrow::buffer::Buffer;
use gadus_base::{ByteCount, DecodeError};
use gadus_storage::{Blob, BlobRef, Store};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The store and the cache of blobs read from it.
#[derive(Debug)]
pub(crate) struct Blobs {
    store: Arc<Store>,
    cache: Cache<u64, Opened, ByBytes>,
}

/// An opened blob.
#[derive(Debug, Clone)]
enum Opened {
    Column(Arc<Column>),
    Keys(Arc<KeyPage>),
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<u64, Opened> for ByBytes {
    fn weight(&self, _: &u64, opened: &Opened) -> u64 {
        // The constant stands for the opened form beside the blob's bytes.
        256 + match opened {
            Opened::Column(column) => column.bytes as u64,
            Opened::Keys(page) => page.bytes() as u64,
        }
    }
}

impl Blobs {
    /// Blobs of a store, cached up to `limit`.
    pub(crate) fn new(store: Arc<Store>, limit: ByteCount) -> Self {
        // Columns of a segment take about 64 KiB each: the number that sizes the cache's tables.
        let items = usize::try_from(limit.0 >> 16).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        Self { store, cache: Cache::with_weighter(items, limit.0, ByBytes) }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Bytes that cached blobs take.
    pub(crate) fn cached(&self) -> ByteCount {
        ByteCount(self.cache.weight())
    }

    /// A column blob, opened.
    pub(crate) fn column(&self, blob: &BlobRef, column_type: ColumnType) -> Result<Arc<Column>> {
        if let Some(Opened::Column(column)) = self.cache.get(&blob.id) {
            return Ok(column);
        }
        let column = Arc::new(self.read_column(blob, column_type)?);
        self.cache.insert(blob.id, Opened::Column(column.clone()));
        Ok(column)
    }

    /// A column blob, opened without entering the cache: for verification, which reads the file.
    pub(crate) fn read_column(&self, blob: &BlobRef, column_type: ColumnType) -> Result<Column> {
        let buffer = self.read(blob)?;
        let class: StorageClass = column_type.storage();
        Column::open(class, column_type == ColumnType::Text, &buffer)
            .map_err(|error| self.damaged(blob, error))
    }

    /// A page of a key run, opened.
    pub(crate) fn key_page(&self, blob: &BlobRef) -> Result<Arc<KeyPage>> {
        if let Some(Opened::Keys(page)) = self.cache.get(&blob.id) {
            return Ok(page);
        }
        let page = Arc::new(self.read_key_page(blob)?);
        self.cache.insert(blob.id, Opened::Keys(page.clone()));
        Ok(page)
    }

    /// A page of a key run, opened without entering the cache: for merges and
    /// verification, which read it once.
    pub(crate) fn read_key_page(&self, blob: &BlobRef) -> Result<KeyPage> {
        let buffer = self.read(blob)?;
        KeyPage::open(&buffer).map_err(|error| self.damaged(blob, error))
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

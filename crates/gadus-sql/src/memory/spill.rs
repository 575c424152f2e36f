//! Files for what plans hold beyond their memory: sorted rows, states of groups, and batches between partitions,
//! written once and read once, from front to back.
//!
//! - Each batch between partitions is written for itself ([`IN_FLIGHT_BYTES_MAX`]). Many of them share a file: others
//!   than the one that is written are whole.
//! - They have no name. Nobody else sees them, and when whoever wrote them ends, however that happens, their
//!   space is free again.
//! - They are written and read in pieces, each with its checksum: whoever reads trusts the bytes.

use crate::error::to_datafusion;
use arrow::array::RecordBatch;
use bytes::Bytes;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::disk_manager::DiskManager;
use datafusion::execution::{SpillFile, SpillWriter, TempFileFactory};
use datafusion::physical_plan::SpillManager;
use futures::{Stream, stream};
use gadus_base::{ByteCount, checksum};
use gadus_engine::{Error, ErrorKind};
use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, ErrorKind as IoErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Bytes of a piece; those at the end, and before each flush, are shorter.
pub(super) const PIECE_BYTES: usize = 128 * 1024;

/// Files merged at a time: more are merged in turns, as some rows of each are held.
pub(super) const MERGED_MAX: usize = 64;

/// Before each piece: its checksum and its length.
const HEAD_BYTES: usize = 16;

/// How `DataFusion` asks for a file of batches between partitions.
const IN_FLIGHT: &str = "SpillPool";

/// Limit at which `DataFusion` ends such a file: every batch does.
///
/// `DataFusion` 55 may wait for ever for longer ones: a partition's reader waits for the oldest one that is still open,
/// while its batch is in another writer's, who may have to wait for this reader. Two sides of a merge join, which each
/// wait for the other in some partition, hung so.
pub(crate) const IN_FLIGHT_BYTES_MAX: usize = 1;

/// A file that batches between partitions share takes no more once it is so long.
const SHARED_BYTES_MAX: u64 = 128 << 20;

/// Appends a batch to a file; none ends it. DataFusion has no public name for the type.
pub(crate) type Append =
    Box<dyn FnMut(Option<&RecordBatch>) -> Result<Option<Arc<dyn SpillFile>>> + Send>;

/// Begins a file, and returns what appends to it.
pub(crate) fn append_to_file(spill: &SpillManager, purpose: &'static str) -> Result<Append> {
    let mut file = spill.create_in_progress_file(purpose)?;
    Ok(Box::new(move |batch| match batch {
        Some(batch) => file.append_batch(batch).map(|_| None),
        None => file.finish(),
    }))
}

/// Where plans of a database write.
#[derive(Debug, Clone)]
pub(crate) struct SpillFolder {
    folder: PathBuf,
    counts: Arc<Counts>,
    /// Files of batches between partitions that have no writer now.
    shared: Arc<Mutex<Vec<Weak<TempFile>>>>,
}

/// What was written so far, and what of it takes space.
#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    kept: AtomicU64,
}

impl SpillFolder {
    /// None is the system's folder for such files.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
        Self { folder, counts: Arc::default(), shared: Arc::default() }
    }

    /// Has operators write there.
    pub(crate) fn disk_manager(&self) -> Arc<DiskManager> {
        self.merging(MERGED_MAX)
    }

    /// Has operators write there, and merge so many files at a time.
    pub(super) fn merging(&self, merged_max: usize) -> Arc<DiskManager> {
        let files = DiskManager::builder()
            .with_temp_file_factory(Arc::new(self.clone()))
            .with_max_spill_merge_fan_in(merged_max);
        Arc::new(files.build().expect("who makes files is taken as he is"))
    }

    /// Where that is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All that plans have written since the database was opened.
    pub(crate) fn written(&self) -> ByteCount {
        ByteCount(self.counts.written.load(Ordering::Relaxed))
    }

    /// What they take of the disk now.
    pub(crate) fn kept(&self) -> ByteCount {
        ByteCount(self.counts.kept.load(Ordering::Relaxed))
    }

    /// A file, where it may be made: a folder that is only read has room for none.
    fn file(&self) -> io::Result<Arc<TempFile>> {
        let file = tempfile::tempfile_in(&self.folder).or_else(|error| match error.kind() {
            IoErrorKind::PermissionDenied | IoErrorKind::ReadOnlyFilesystem => tempfile::tempfile(),
            _ => Err(error),
        });
        Ok(Arc::new(TempFile { file: file?, end: AtomicU64::new(0), of: self.clone() }))
    }

    /// Takes a file that batches between partitions share, for one that writes to it alone.
    fn take_shared(&self) -> Option<Arc<TempFile>> {
        let mut shared = self.shared.lock();
        std::iter::from_fn(|| shared.pop()).find_map(|file| file.upgrade())
    }

    /// Others may write to a file that batches between partitions share.
    fn give_back(&self, file: &Arc<TempFile>) {
        if file.end.load(Ordering::Relaxed) < SHARED_BYTES_MAX {
            self.shared.lock().push(Arc::downgrade(file));
        }
    }
}

impl TempFileFactory for SpillFolder {
    fn create_temp_file(&self, request: &str) -> Result<Arc<dyn SpillFile>> {
        let is_shared = request == IN_FLIGHT;
        let file = if is_shared { self.take_shared() } else { None };
        let file = file.map_or_else(|| self.file(), Ok);
        let file = file.map_err(|error| refused(&self.folder, &error))?;
        Ok(Arc::new(Reference(Arc::new(Spilled::behind(file, is_shared)))))
    }
}

/// A file of the system. It goes with the last reader of what was spilled to it.
#[derive(Debug)]
struct TempFile {
    file: File,
    end: AtomicU64,
    of: SpillFolder,
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.of.counts.kept.fetch_sub(*self.end.get_mut(), Ordering::Relaxed);
    }
}

/// A spill file of an operator: all of a file of the system, or a part of one.
#[derive(Debug)]
struct Spilled {
    file: Arc<TempFile>,
    begin: u64,
    end: AtomicU64,
    is_shared: bool,
}

impl Spilled {
    /// Begins at the end of a file that has no other writer.
    fn behind(file: Arc<TempFile>, is_shared: bool) -> Self {
        let begin = file.end.load(Ordering::Relaxed);
        Self { file, begin, end: AtomicU64::new(begin), is_shared }
    }

    /// Writes a piece behind those that are there.
    fn append(&self, piece: &mut [u8]) -> io::Result<()> {
        let (head, bytes) = piece.split_at_mut(HEAD_BYTES);
        let place = self.end.load(Ordering::Relaxed);
        head[..8].copy_from_slice(&checksum(place, bytes).to_le_bytes());
        head[8..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        let SpillFolder { folder, counts, .. } = &self.file.of;
        let written = self.file.file.write_all_at(piece, place);
        written.map_err(|error| refused_io(folder, &error))?;
        let length = piece.len() as u64;
        counts.written.fetch_add(length, Ordering::Relaxed);
        counts.kept.fetch_add(length, Ordering::Relaxed);
        self.file.end.store(place + length, Ordering::Relaxed);
        self.end.store(place + length, Ordering::Release);
        Ok(())
    }

    /// Nothing more is written.
    fn end(&self) {
        if self.is_shared {
            self.file.of.give_back(&self.file);
        }
    }

    /// The bytes of the piece that begins there, and where the next one does; none behind the last.
    fn piece(&self, place: u64) -> io::Result<Option<(Bytes, u64)>> {
        let left = self.end.load(Ordering::Acquire).saturating_sub(place);
        if left == 0 {
            return Ok(None);
        }
        let damaged = || io::Error::new(IoErrorKind::InvalidData, "what was spilled has changed");
        let mut head = [0; HEAD_BYTES];
        self.file.file.read_exact_at(&mut head, place)?;
        let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let (expected, length) = (half(0), usize::try_from(half(8)).unwrap_or(usize::MAX));
        if length > PIECE_BYTES || (HEAD_BYTES + length) as u64 > left {
            return Err(damaged());
        }
        let mut bytes = vec![0; length];
        self.file.file.read_exact_at(&mut bytes, place + HEAD_BYTES as u64)?;
        if checksum(place, &bytes) != expected {
            return Err(damaged());
        }
        Ok(Some((bytes.into(), place + (HEAD_BYTES + length) as u64)))
    }
}

/// What operators hold of a file.
#[derive(Debug)]
struct Reference(Arc<Spilled>);

impl SpillFile for Reference {
    fn size(&self) -> Option<u64> {
        Some(self.0.end.load(Ordering::Relaxed) - self.0.begin)
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        Ok(Box::pin(stream::iter(Pieces { file: self.0.clone(), place: Some(self.0.begin) })))
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        Ok(Box::new(Writer { file: self.0.clone(), piece: vec![0; HEAD_BYTES] }))
    }
}

/// Reads a file.
struct Pieces {
    file: Arc<Spilled>,
    /// Of the next piece; none after an error.
    place: Option<u64>,
}

impl Iterator for Pieces {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Result<Bytes>> {
        let place = self.place.take()?;
        let read = self.file.piece(place).transpose()?;
        Some(match read {
            Ok((bytes, next)) => {
                self.place = Some(next);
                Ok(bytes)
            }
            Err(error) => {
                let message = format!(
                    "reading what was spilled to {}: {error}",
                    self.file.file.of.folder.display()
                );
                Err(to_datafusion(Error::new(ErrorKind::Io, message)))
            }
        })
    }
}

/// Writes a file; the piece that is not full yet follows its head.
struct Writer {
    file: Arc<Spilled>,
    piece: Vec<u8>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = HEAD_BYTES + PIECE_BYTES - self.piece.len();
        let taken = &bytes[..bytes.len().min(room)];
        self.piece.extend_from_slice(taken);
        if taken.len() == room {
            self.flush()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.len() > HEAD_BYTES {
            self.file.append(&mut self.piece)?;
            self.piece.truncate(HEAD_BYTES);
        }
        Ok(())
    }
}

impl SpillWriter for Writer {
    fn finish(&mut self) -> Result<()> {
        self.flush().map_err(DataFusionError::IoError)?;
        self.file.end();
        Ok(())
    }
}

fn refused(folder: &Path, error: &io::Error) -> DataFusionError {
    DataFusionError::IoError(refused_io(folder, error))
}

fn refused_io(folder: &Path, error: &io::Error) -> io::Error {
    let message = format!(
        "a statement needs more than gadus.memory_limit, and what it holds cannot be written to {}: {error}",
        folder.display()
    );
    io::Error::new(error.kind(), message)
}

#[cfg(test)]
mod tests;

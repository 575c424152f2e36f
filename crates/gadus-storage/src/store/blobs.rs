//! Blobs in the data file: written side by side into extents, verified when read.
//!
//! - A reference is believed only as far as the file reaches, and its bytes only when their checksum
//!   is the reference's.

use super::Shared;
use crate::blob::{BLOB_ALIGNMENT_BYTES, Blob, BlobRef, ExtentRef};
use crate::error::StorageError;
use crate::space::Extent;
use gadus_base::Account;
use gadus_block::{AlignedBuffer, BlockError, Device};
use std::io::IoSlice;
use std::sync::Arc;

/// An extent that was written, and the references of its blobs.
pub type WrittenExtent = (Arc<Extent>, Vec<BlobRef>);

/// Bytes of an extent that are written at once: some milliseconds on most devices.
const WRITE_BYTES: usize = 4 << 20;

impl Shared {
    pub(super) fn write_extent(&self, blobs: &[&[u8]]) -> Result<WrittenExtent, StorageError> {
        let written = self.write_extent_while(blobs, &|| true)?;
        Ok(written.expect("nothing stops it"))
    }

    /// Writes an extent while `goes_on` returns true; gives none, and frees the space, if it does not.
    pub(super) fn write_extent_while(
        &self,
        blobs: &[&[u8]],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<WrittenExtent>, StorageError> {
        const ZEROS: [u8; 4096] = [0; 4096];
        if self.space.is_recovering() {
            return Err(self.invalid("writing begins after recovery"));
        }
        let bytes = blobs.iter().map(|blob| room_of(blob)).sum();
        let extent = self.space.allocate(bytes)?;
        let ExtentRef { offset: start, bytes: extent_bytes, id } = extent.reference();
        let mut references = Vec::with_capacity(blobs.len());
        let mut pieces = Vec::with_capacity(2 * blobs.len() + 1);
        let mut offset = start;
        for (blob, id) in blobs.iter().zip(id + 1..) {
            references.push(BlobRef::of(id, offset, blob));
            let room = room_of(blob);
            let padding = usize::try_from(room - blob.len() as u64).expect("at most 64 bytes");
            pieces.extend([*blob, &ZEROS[..padding]]);
            offset += room;
        }
        let rest = usize::try_from(start + extent_bytes - offset).expect("at most one unit");
        pieces.push(&ZEROS[..rest]);
        match write_while(&*self.files.data, start, &pieces, goes_on) {
            Ok(true) => {
                Account::note_written(extent_bytes);
                Ok(Some((extent, references)))
            }
            Ok(false) => {
                self.space.cancel(extent);
                Ok(None)
            }
            Err(error) => {
                self.space.cancel(extent);
                Err(error.into())
            }
        }
    }

    pub(super) fn read_blob(&self, blob: &BlobRef) -> Result<Blob, StorageError> {
        read_blob(&*self.files.data, &self.files.data_described, self.space.end(), blob)
    }

    pub(super) fn blob_length(&self, blob: &BlobRef) -> Result<usize, StorageError> {
        length(&self.files.data_described, self.space.end(), blob)
    }

    pub(super) fn read_blob_into(
        &self,
        blob: &BlobRef,
        bytes: &mut [u8],
    ) -> Result<(), StorageError> {
        read_into(&*self.files.data, &self.files.data_described, blob, bytes)
    }
}

/// Writes bytes one behind the other, [`WRITE_BYTES`] at once, while `goes_on` returns true; false if it did not.
fn write_while(
    data: &dyn Device,
    mut offset: u64,
    pieces: &[&[u8]],
    goes_on: &dyn Fn() -> bool,
) -> Result<bool, BlockError> {
    let (mut batch, mut room) = (Vec::with_capacity(pieces.len()), WRITE_BYTES);
    let mut write = |batch: &mut Vec<IoSlice<'_>>, bytes: usize| {
        let written = data.write_at(offset, batch);
        offset += bytes as u64;
        batch.clear();
        written
    };
    for piece in pieces {
        let mut left = *piece;
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(room));
            batch.push(IoSlice::new(now));
            (left, room) = (later, room - now.len());
            if room > 0 {
                continue;
            }
            if !goes_on() {
                return Ok(false);
            }
            write(&mut batch, WRITE_BYTES)?;
            room = WRITE_BYTES;
        }
    }
    if batch.is_empty() {
        return Ok(true);
    }
    write(&mut batch, WRITE_BYTES - room)?;
    Ok(true)
}

/// Space that a blob takes in its extent; also an empty one takes some, so that the ids of an
/// extent's blobs are bounded by its length.
fn room_of(blob: &[u8]) -> u64 {
    (blob.len() as u64).next_multiple_of(BLOB_ALIGNMENT_BYTES).max(BLOB_ALIGNMENT_BYTES)
}

/// Reads a blob of a file that ends at `file_end`, before which the reference must lie.
pub(super) fn read_blob(
    data: &dyn Device,
    described: &str,
    file_end: u64,
    blob: &BlobRef,
) -> Result<Blob, StorageError> {
    let length = length(described, file_end, blob)?;
    let alignment = usize::try_from(BLOB_ALIGNMENT_BYTES).expect("small");
    let mut bytes = AlignedBuffer::zeroed(length, alignment);
    read_into(data, described, blob, &mut bytes)?;
    Ok(Blob::new(bytes))
}

/// The length of a blob whose reference may be true.
fn length(described: &str, file_end: u64, blob: &BlobRef) -> Result<usize, StorageError> {
    if !blob.offset.is_multiple_of(BLOB_ALIGNMENT_BYTES) || blob.end() > file_end {
        return Err(damaged(described, blob, "cannot be where its reference says"));
    }
    usize::try_from(blob.bytes).map_err(|_| damaged(described, blob, "is too large"))
}

fn read_into(
    data: &dyn Device,
    described: &str,
    blob: &BlobRef,
    bytes: &mut [u8],
) -> Result<(), StorageError> {
    data.read_at(blob.offset, bytes)?;
    Account::note_read(bytes.len() as u64);
    if !blob.matches(bytes) {
        let message = "is not what was written: its checksum differs; restore a copy";
        return Err(damaged(described, blob, message));
    }
    Ok(())
}

fn damaged(described: &str, blob: &BlobRef, message: &str) -> StorageError {
    let message = format!("blob {} of {} bytes {message}", blob.id, blob.bytes);
    StorageError::corrupt(described, blob.offset, message)
}

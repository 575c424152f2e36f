//! Checkpoints: a new root, after which older log and extents may be reused.
//!
//! - Writes the slot that is not in use: until the new one is complete, the old one stands.
//! - Recycles only what lies behind the *older* of the two headers, so that recovery can fall back
//!   to it.
//! - A checkpoint that fails before its header is written has changed nothing, and its sequence
//!   is used again: sequences count complete checkpoints, and reuse relies on it.

use super::{Headers, Shared, Store};
use crate::blob::ExtentRef;
use crate::error::StorageError;
use crate::header::{Header, SLOT_OFFSETS};
use crate::space::{Extent, Pending};
use gadus_base::{ByteReader, ByteWriter, CommitNumber, DecodeError, LogPosition};
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Store {
    /// Says that the caller is about to take the state of its next checkpoint. What is dropped from
    /// now on may be named by records behind that checkpoint, and is kept as long as it is.
    pub fn checkpoint_begins(&self) {
        let headers = self.shared.headers.lock();
        self.shared.space.checkpoint_begins(headers.newest.sequence + 1);
    }

    /// Makes `root` the state as of `commit`; opening then replays the log from `up_to`, the end of
    /// a record, and every record before it must be contained in the root.
    ///
    /// The caller keeps the extents that the root names until this returns.
    ///
    /// # Errors
    /// `NoSpace` fails this checkpoint only; a failed sync or header poisons the store.
    pub fn checkpoint(
        &self,
        root: &[u8],
        commit: CommitNumber,
        up_to: LogPosition,
    ) -> Result<(), StorageError> {
        let shared = &self.shared;
        shared.writable()?;
        // One at a time; everything else goes on meanwhile.
        let headers = &mut *shared.headers.lock();
        let chain = shared.checked_position(headers, up_to)?;
        let sequence = headers.newest.sequence + 1;
        shared.space.checkpoint_begins(sequence);
        // The older header would need these records, and so would this one's proof of them.
        shared.log.group.wait(up_to)?;
        let log_durable = shared.log.group.durable();
        let pending = encode_pending(&shared.space.pending_at(sequence));
        let (extent, blobs) = shared.write_extent(&[root, &pending])?;
        let [root, pending] = blobs[..] else {
            return Err(shared.invalid("two blobs have two references"));
        };
        shared.sync_data()?;
        let header = Header {
            sequence,
            commit,
            replay_from: up_to,
            chain,
            log_durable,
            next_id: shared.space.next_id(),
            extent: extent.reference(),
            root,
            pending,
            ..headers.newest
        };
        shared.write_header(headers, header)?;
        shared.adopt_header(headers, header, extent);
        Ok(())
    }
}

impl Shared {
    /// The chain's checksum at the position up to which a root contains the log.
    fn checked_position(&self, headers: &Headers, up_to: LogPosition) -> Result<u64, StorageError> {
        let newest = &headers.newest;
        let chain = if up_to == newest.replay_from {
            Some(newest.chain)
        } else if up_to < newest.replay_from {
            None
        } else {
            self.log.chain_at(up_to)?
        };
        chain.ok_or_else(|| {
            self.invalid("a checkpoint ends where a record ends, not before the last checkpoint")
        })
    }

    /// Writes and syncs the slot that is not in use. A failure leaves unknown which slot recovery
    /// would find, hence poisons whatever its kind.
    fn write_header(&self, headers: &Headers, header: Header) -> Result<(), StorageError> {
        let slot = 1 - headers.newest_slot;
        let bytes = header.encode(slot);
        self.data
            .write_at(SLOT_OFFSETS[slot], &[IoSlice::new(&bytes)])
            .map_err(|error| self.poison.set(error.into()))?;
        self.sync_data()
    }

    /// The header is durable: what only its second predecessor named may be reused.
    fn adopt_header(&self, headers: &mut Headers, header: Header, extent: Arc<Extent>) {
        headers.older = Some(headers.newest);
        headers.older_extent = headers.newest_extent.replace(extent);
        headers.newest = header;
        headers.newest_slot = 1 - headers.newest_slot;
        self.replay_from.store(header.replay_from.0, Ordering::Release);
        self.space.checkpoint_completes(header.sequence);
        if let Some(older) = &headers.older {
            self.log.recycle_before(older.replay_from);
        }
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
    }
}

/// See the byte table in [`crate::header`].
fn encode_pending(pending: &[Pending]) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    for Pending { extent, dropped_after } in pending {
        extent.encode(&mut writer);
        writer.u64(*dropped_after);
    }
    writer.finish()
}

pub(super) fn decode_pending(bytes: &[u8]) -> Result<Vec<Pending>, DecodeError> {
    let mut reader = ByteReader::new(bytes);
    let mut pending = Vec::new();
    while reader.remaining() > 0 {
        let extent = ExtentRef::decode(&mut reader)?;
        pending.push(Pending { extent, dropped_after: reader.u64()? });
    }
    Ok(pending)
}

//! Checkpoints: a new root, after which older log and extents may be reused.
//!
//! - Writes the slot that is not in use: until the new one is complete, the old one stands.
//! - Recycles only what lies behind the *older* of the two headers, so that recovery can fall back
//!   to it.
//! - One instance at a time writes one; before it does, it learns what the one before was.
//! - A checkpoint that fails before its header is written has changed nothing, and its sequence
//!   is used again: sequences count complete checkpoints, and reuse relies on it.

use super::files::read_slots;
use super::open::adopt_headers;
use super::{Headers, Shared, Store};
use crate::blob::{BlobRef, ExtentRef};
use crate::error::StorageError;
use crate::header::{Header, SLOT_OFFSETS, Slot};
use crate::peers::{Held, Stage, StageState};
use crate::space::{Extent, Pending, Remaining, ReserveUse, Rewritten, Unsaved};
use gadus_base::{ByteReader, ByteWriter, CommitNumber, DecodeError, LogPosition};
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The right to write a checkpoint, and to what must not fall between its beginning and its end;
/// until it is dropped.
#[derive(Debug)]
pub struct CheckpointTurn<'a> {
    _held: Held<'a>,
}

impl Store {
    /// Takes the turn to write a checkpoint, which one thread of one instance has at a time, and
    /// learns which checkpoint is the newest: see [`Store::newest_root`].
    ///
    /// # Errors
    /// When what another instance has written meanwhile cannot be read.
    pub fn checkpoint_turn(&self) -> Result<CheckpointTurn<'_>, StorageError> {
        let shared = &self.shared;
        let state = shared.peers.state();
        let held = shared.peers.hold(&state.checkpoint, StageState::of_checkpointer);
        state.stages.enter(Stage::Fold);
        if !shared.peers.excludes_others() {
            shared.follow_headers(&held)?;
        }
        Ok(CheckpointTurn { _held: held })
    }

    /// The root of the newest checkpoint as of this instance's last turn, or its opening: what it
    /// names is in use, and the next checkpoint may name it again.
    #[must_use]
    pub fn newest_root(&self) -> Option<BlobRef> {
        Some(self.shared.headers.lock().newest.root).filter(|root| *root != BlobRef::NONE)
    }

    /// Says that the caller is about to take the state of its next checkpoint. What is dropped from
    /// now on may be named by records behind that checkpoint, and is kept as long as it is. Returns
    /// what it has to save, at least.
    pub fn checkpoint_begins(&self) -> Unsaved {
        let headers = self.shared.headers.lock();
        self.shared.peers.state().stages.enter(Stage::Checkpoint);
        self.shared.space.checkpoint_begins(headers.newest.sequence + 1);
        self.shared.space.unsaved()
    }

    /// Makes `root` the state as of `commit`; opening then replays the log from `up_to`, the end of
    /// a record, and every record before it must be contained in the root.
    ///
    /// The caller has the turn, and keeps the extents that the root names until this returns. An
    /// instance that shares the database then calls [`Store::find_free_space`].
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
        let headers = &mut *shared.headers.lock();
        let (header, extent) = shared.compose_header(headers, root, commit, up_to)?;
        shared.write_slot(1 - headers.newest_slot, header)?;
        shared.adopt_header(headers, header, extent);
        if shared.peers.excludes_others() {
            shared.space.find_free(|| true);
        }
        Ok(())
    }

    /// Says that a checkpoint saves that much, and what the next one may write again of it: on a full
    /// disk space is kept for that. In its turn, once all but its root is written, or at recovery.
    pub fn saved(&self, saved: Unsaved, rewritten: Rewritten) {
        self.shared.space.saved(saved, rewritten);
    }

    /// Notes that the next checkpoint has that much more to save: one has failed.
    pub fn note_unsaved(&self, unsaved: Unsaved) {
        self.shared.space.note_unsaved(unsaved);
    }

    /// Notes what recovered records add to the next checkpoint; once for all who have the database
    /// open.
    pub fn note_recovered(&self, unsaved: Unsaved) {
        if self.shared.recovered {
            self.note_unsaved(unsaved);
        }
    }

    /// Lets this thread write to the reserve, of which `remaining` must be left, until the guard is
    /// dropped: for what gives space back.
    #[must_use]
    pub fn use_reserve(&self, remaining: Remaining) -> ReserveUse {
        ReserveUse::begin(remaining)
    }

    /// Gives space behind the last extent back to the file system, but for the reserve.
    ///
    /// # Errors
    /// When the file cannot be shortened; it is as it was then.
    pub fn give_back_space(&self) -> Result<(), StorageError> {
        self.shared.writable()?;
        self.shared.space.cut()
    }

    /// Looks for space that nothing names any more, after a checkpoint and in its turn. `catch_up`
    /// makes the caller adopt every extent that is named by then; where it says that it could not,
    /// nothing is free. Versions of one commit must name the same extents in all instances: what this
    /// one has dropped, others have dropped who read nothing older.
    pub fn find_free_space(&self, catch_up: impl FnOnce() -> bool) {
        let older = self.shared.headers.lock().older;
        let (commit, position) =
            older.map_or_else(Default::default, |older| (older.commit, older.replay_from));
        // What others read that is older, nobody here knows.
        if self.shared.peers.others_read_from(commit, position) {
            self.shared.space.find_free(catch_up);
        }
    }
}

impl Shared {
    /// Takes over the headers as they are in the file, where another instance has written them.
    ///
    /// They are compared whole: one that died in its turn may have written a header and told nobody,
    /// and another of the same sequence may have taken that one's place.
    fn follow_headers(&self, held: &Held<'_>) -> Result<(), StorageError> {
        let headers = &mut *self.headers.lock();
        let slots = read_slots(&*self.files.data, &self.files.data_described)?;
        let newest = slots.iter().filter_map(Slot::header).max_by_key(|header| header.sequence);
        if newest != Some(&headers.newest) {
            let mut chosen = self.files.choose_header()?;
            // Recovery may fall back. Others live here: what was written since is theirs. Only a
            // dead one's header, half written, is nobody's.
            let half_written = held.was_taken_from_the_dead() && newest == Some(&chosen.header);
            if let Some(error) = chosen.passed_over.take().filter(|_| !half_written) {
                return Err(error);
            }
            (*headers, _) = adopt_headers(&self.space, &self.files, chosen)?;
            let replay_from = &self.peers.state().log.replay_from;
            replay_from.store(headers.newest.replay_from.0, Ordering::Release);
        }
        if held.was_taken_from_the_dead() {
            // Its header may be in the cache alone, and the error of its sync is gone with it.
            self.write_slot(headers.newest_slot, headers.newest)?;
        }
        Ok(())
    }

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

    /// Writes what a header names, and makes it durable; the header itself is not written.
    fn compose_header(
        &self,
        headers: &Headers,
        root: &[u8],
        commit: CommitNumber,
        up_to: LogPosition,
    ) -> Result<(Header, Arc<Extent>), StorageError> {
        let chain = self.checked_position(headers, up_to)?;
        let sequence = headers.newest.sequence + 1;
        self.space.checkpoint_begins(sequence);
        // The older header would need these records, and so would this one's proof of them.
        self.log.group.wait(up_to)?;
        let log_durable = self.log.group.durable();
        let pending = encode_pending(&self.space.pending_at(sequence));
        let (extent, blobs) = self.write_extent(&[root, &pending])?;
        let [root, pending] = blobs[..] else {
            return Err(self.invalid("two blobs have two references"));
        };
        self.sync_data()?;
        let header = Header {
            sequence,
            commit,
            replay_from: up_to,
            chain,
            log_durable,
            next_id: self.space.next_id(),
            extent: extent.reference(),
            root,
            pending,
            ..headers.newest
        };
        Ok((header, extent))
    }

    /// Writes and syncs a slot. A failure leaves unknown which slot recovery would find, hence
    /// poisons whatever its kind.
    fn write_slot(&self, slot: usize, header: Header) -> Result<(), StorageError> {
        let bytes = header.encode(slot);
        self.files
            .data
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
        let replay_from = &self.peers.state().log.replay_from;
        replay_from.store(header.replay_from.0, Ordering::Release);
        self.space.checkpoint_completes(header.sequence);
        self.space.named([header.extent]);
        self.peers.state().stages.enter(Stage::Recycling);
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

#[cfg(test)]
mod tests;

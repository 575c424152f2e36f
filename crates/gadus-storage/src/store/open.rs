//! Opening and recovering a database.
//!
//! - Changes nothing before both files are owned, and gives back the same state however often it is
//!   interrupted and repeated.
//! - What a dead process wrote may be in the cache and not on the medium, its sync's error consumed:
//!   the header in use and the unproven end of the log are written again, and synced, before
//!   anything relies on them.
//! - The files are owned by the open devices that write them, until the store is dropped.

use super::files::{Chosen, Files, holder_name};
use super::relaxed::RelaxedSync;
use super::{Headers, Recovered, Shared, Store, misplaced};
use crate::blob::ExtentRef;
use crate::error::StorageError;
use crate::header::{Header, SLOT_OFFSETS};
use crate::holder;
use crate::log::Log;
use crate::log::format::LogShape;
use crate::log::scan::{LogScan, LogStart, make_durable, scan};
use crate::options::{Durability, Options};
use crate::poison::Poison;
use crate::space::Space;
use gadus_block::Folder;
use parking_lot::Mutex;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

impl Store {
    /// Opens a database and recovers it. The caller then adopts every extent that the root and the
    /// records name, and calls [`Store::finish_recovery`].
    ///
    /// # Errors
    /// `NotFound`, `Unfinished`, `NotADatabase`, `Version`, `Corrupt`, `InUse`, `Foreign`, or a
    /// failure.
    pub fn open(
        folder: Arc<dyn Folder>,
        name: &str,
        options: Options,
    ) -> Result<(Self, Recovered), StorageError> {
        let files = Files::open(folder, name, options)?;
        let Chosen { slots, slot, header, root, pending, mut warnings } = files.choose_header()?;
        let shape =
            LogShape { database: header.database, zone_bytes: header.log_zone_bytes.into() };
        let other = slots[1 - slot].header().copied();
        let start = log_start(&header, other.as_ref());
        let mut scan = scan(&*files.log, &files.log_described, shape, start)?;

        let length = files.data.length()?;
        let space = Space::recovering(length, header.next_id, header.sequence);
        let described = &files.data_described;
        let refuse = |why, extent| misplaced(why, extent, described);
        let adopt = |extent: ExtentRef| match extent {
            ExtentRef::NONE => Ok(None),
            extent => space.adopt(extent).map(Some).map_err(|why| refuse(why, extent)),
        };
        let newest_extent = adopt(header.extent)?;
        // After falling back, the other slot is newer but cannot be used: it protects nothing.
        let mut older = other.filter(|other| other.sequence < header.sequence);
        let older_extent = older.and_then(|older| adopt(older.extent).ok());
        if older_extent.is_none() && older.is_some() {
            warnings.push(format!("{described}: the older header names an impossible extent"));
            older = None;
        }
        let complete = header.sequence + u64::from(older.is_none());
        for pending in pending.into_iter().filter(|pending| pending.is_kept_at(complete)) {
            space.adopt_pending(pending).map_err(|why| refuse(why, pending.extent))?;
        }
        if !options.read_only {
            make_durable(&*files.log, shape, &scan)?;
            let bytes = header.encode(slot);
            files.data.write_at(SLOT_OFFSETS[slot], &[IoSlice::new(&bytes)])?;
            files.data.sync()?;
            holder::record(&*files.folder, &holder_name(name));
        }
        let records = std::mem::take(&mut scan.records);
        let older_extent = older_extent.flatten();
        let headers =
            Headers { newest: header, newest_slot: slot, newest_extent, older, older_extent };
        let store = Self::assemble(files, options, shape, headers, space, scan)?;
        Ok((store, Recovered { root, commit: header.commit, records, warnings }))
    }

    pub(super) fn assemble(
        files: Files,
        options: Options,
        shape: LogShape,
        headers: Headers,
        space: Arc<Space>,
        scan: LogScan,
    ) -> Result<Self, StorageError> {
        let poison = Arc::new(Poison::default());
        let durable = scan.end;
        let log =
            Log::new(files.log, files.log_described, shape, Arc::clone(&poison), scan, durable);
        if let Some(older) = &headers.older {
            log.recycle_before(older.replay_from.min(headers.newest.replay_from));
        }
        let shared = Arc::new(Shared {
            data: files.data,
            data_described: files.data_described,
            options,
            database: shape.database,
            poison,
            space,
            log,
            replay_from: AtomicU64::new(headers.newest.replay_from.0),
            headers: Mutex::new(headers),
            commits: AtomicU64::new(0),
            data_syncs: AtomicU64::new(0),
            checkpoints: AtomicU64::new(0),
        });
        let syncs_later = options.durability == Durability::Relaxed && !options.read_only;
        let relaxed = syncs_later.then(|| RelaxedSync::start(&shared)).transpose()?;
        Ok(Self { relaxed, shared })
    }
}

/// Where to read the log from for a header, given the other one.
pub(crate) fn log_start(header: &Header, other: Option<&Header>) -> LogStart {
    let other = other.unwrap_or(header);
    LogStart {
        position: header.replay_from,
        chain: header.chain,
        durable: header.log_durable.max(other.log_durable),
        keep_from: header.replay_from.min(other.replay_from),
    }
}

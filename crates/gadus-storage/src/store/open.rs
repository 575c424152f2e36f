//! Opening and recovering a database.
//!
//! - Changes nothing before both files are owned, and gives back the same state however often it is
//!   interrupted and repeated.
//! - What a dead process wrote may be in the cache and not on the medium, its sync's error consumed:
//!   the header in use and the unproven end of the log are written again, and synced, before
//!   anything relies on them.
//! - The files are owned by the open devices that write them, until the store is dropped: all of
//!   their slots by an instance that excludes others, one by each that shares ([`super::share`]).

use super::files::{Chosen, Files, holder_name};
use super::read_only;
use super::relaxed::RelaxedSync;
use super::{Headers, Recovered, Shared, Store, misplaced};
use crate::blob::ExtentRef;
use crate::durable_mark::{self, DurableMark};
use crate::error::StorageError;
use crate::header::{Header, SLOT_OFFSETS};
use crate::holder::{self, OpenersTurn};
use crate::log::Log;
use crate::log::file::LogFile;
use crate::log::format::LogShape;
use crate::log::scan::{LogScan, LogStart, make_durable, scan};
use crate::log::state::{LogEnd, ZONES_MAX};
use crate::options::{Durability, Options, Sharing};
use crate::peers::Peers;
use crate::poison::Poison;
use crate::space::{Extent, Pending, Space};
use gadus_base::ProcessMark;
use gadus_block::Folder;
use parking_lot::Mutex;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

impl Store {
    /// Opens a database. The first of those who share it, or who excludes others, recovers it; who
    /// comes later learns the same from the files and from the others. The caller then adopts every
    /// extent that the root and the records name, and calls [`Store::finish_recovery`].
    ///
    /// # Errors
    /// `NotFound`, `Unfinished`, `NotADatabase`, `Version`, `Corrupt`, `InUse`, `Foreign`, or a
    /// failure.
    pub fn open(
        folder: Arc<dyn Folder>,
        name: &str,
        options: Options,
    ) -> Result<(Self, Recovered), StorageError> {
        match &options.sharing {
            Sharing::Shared { memory } => {
                let memory = memory.clone();
                match options.read_only {
                    true => Self::open_to_read(folder, name, options, &memory),
                    false => {
                        let files = Files::open(folder.clone(), name)
                            .map_err(|error| read_only::advise(&*folder, name, error))?;
                        Self::open_shared(files, name, options, &memory)
                    }
                }
            }
            Sharing::Exclusive if options.read_only => Self::read_alone(folder, name, options),
            Sharing::Exclusive => {
                let mut turn = OpenersTurn::take(&*folder, &holder_name(name), false)?;
                let files = Files::open_owned(folder.clone(), name, &options, Some(&mut turn))?;
                let peers = Peers::alone(&files.data_described)?;
                let opened = Self::recover(None, files, options, Arc::new(peers))?;
                holder::record_alone(&*folder, &holder_name(name));
                Ok(opened)
            }
        }
    }

    /// Recovers a database that nobody else has open.
    pub(super) fn recover(
        turn: Option<OpenersTurn>,
        files: Files,
        options: Options,
        peers: Arc<Peers>,
    ) -> Result<(Self, Recovered), StorageError> {
        let files = files.guarded_by(&peers);
        let chosen = files.choose_header()?;
        let (header, slot) = (chosen.header, chosen.slot);
        let shape = shape_of(&header);
        let mut start = log_start(&header, chosen.other());
        let noted = durable_mark::read(&*files.data, header.database)?;
        start.raise_durable(noted.position());
        let mut scan = scan(&*files.log, &files.log_described, shape, start)?;
        let length = files.data.length()?;
        let (id, checkpoint) = (header.next_id, header.sequence);
        let space = Space::recovering(peers.clone(), files.data_file(), length, id, checkpoint);
        let (headers, chosen) = adopt_headers(&space, &files, chosen)?;
        if files.are_writable {
            make_durable(&*files.log, shape, &scan)?;
            let bytes = header.encode(slot);
            files.data.write_at(SLOT_OFFSETS[slot], &[IoSlice::new(&bytes)])?;
            files.data.sync()?;
        }
        let records = std::mem::take(&mut scan.records);
        start_log(&peers, &files, &scan, header)?;
        let end = peers.state().log.end();
        let opening = Opening { recovered: true, turn };
        let store = Self::assemble(opening, files, options, shape, headers, space, peers)?;
        if let Some(older) = &store.shared.headers.lock().older {
            store.shared.log.recycle_before(older.replay_from.min(header.replay_from));
        }
        let (root, mut warnings) = (chosen.root, chosen.warnings);
        warnings.extend(noted.warning().map(str::to_owned));
        Ok((store, Recovered { root, commit: header.commit, records, end, warnings }))
    }

    pub(super) fn assemble(
        opening: Opening,
        files: Files,
        options: Options,
        shape: LogShape,
        headers: Headers,
        space: Arc<Space>,
        peers: Arc<Peers>,
    ) -> Result<Self, StorageError> {
        let poison = Arc::new(Poison::new(peers.clone(), files.data_described.clone()));
        let described = files.log_described.clone();
        let log = LogFile::new(files.log.clone(), described, shape, poison.clone(), peers.clone());
        let log = Log::new(log, options.gather_from);
        let shared = Arc::new(Shared {
            files,
            recovered: opening.recovered,
            opens_in: Mutex::new(opening.turn),
            database: shape.database,
            process: ProcessMark::here(),
            poison,
            space,
            log,
            peers,
            headers: Mutex::new(headers),
            pinned_from: AtomicU64::new(u64::MAX),
            commits: AtomicU64::new(0),
            durable_mark: DurableMark::default(),
            data_syncs: AtomicU64::new(0),
            checkpoints: AtomicU64::new(0),
            options,
        });
        let options = &shared.options;
        let syncs_later = options.durability == Durability::Relaxed && !options.read_only;
        let relaxed = syncs_later.then(|| RelaxedSync::start(&shared)).transpose()?;
        Ok(Self { relaxed, shared })
    }
}

/// How an instance opens.
pub(super) struct Opening {
    /// Whether it recovers; else it joins others.
    pub(super) recovered: bool,
    /// Where openers take turns. It is the store's as soon as there is one: whoever fails to open
    /// leaves in the turn that it has.
    pub(super) turn: Option<OpenersTurn>,
}

impl Chosen {
    /// The header in the other slot, if there is one.
    fn other(&self) -> Option<&Header> {
        self.slots[1 - self.slot].header()
    }
}

pub(crate) fn shape_of(header: &Header) -> LogShape {
    LogShape { database: header.database, zone_bytes: header.log_zone_bytes.into() }
}

/// What of a choice is left when its headers are adopted.
pub(super) struct Rest {
    pub(super) root: Option<crate::blob::Blob>,
    pub(super) warnings: Vec<String>,
}

/// Adopts what the headers themselves name.
pub(super) fn adopt_headers(
    space: &Arc<Space>,
    files: &Files,
    chosen: Chosen,
) -> Result<(Headers, Rest), StorageError> {
    let other = chosen.other().copied();
    let Chosen { slot, header, root, pending, passed_over, .. } = chosen;
    let passed_over = passed_over.map(|error| format!("{error}; the other checkpoint is used"));
    let mut warnings = passed_over.into_iter().collect::<Vec<_>>();
    let described = &files.data_described;
    let refuse = |why, extent| misplaced(why, extent, described);
    let adopt = |extent: ExtentRef| -> Result<Option<Arc<Extent>>, StorageError> {
        match extent {
            ExtentRef::NONE => Ok(None),
            extent => space.adopt(extent).map(Some).map_err(|why| refuse(why, extent)),
        }
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
    for pending in pending.into_iter().filter(|pending: &Pending| pending.is_kept_at(complete)) {
        space.adopt_pending(pending).map_err(|why| refuse(why, pending.extent))?;
    }
    let older_extent = older_extent.flatten();
    let headers = Headers { newest: header, newest_slot: slot, newest_extent, older, older_extent };
    Ok((headers, Rest { root, warnings }))
}

/// Makes what a scan found the shared state of the log.
pub(super) fn start_log(
    peers: &Peers,
    files: &Files,
    scan: &LogScan,
    header: Header,
) -> Result<(), StorageError> {
    let state = &peers.state().log;
    if scan.places > ZONES_MAX as u64 {
        let message = format!("the log has {} zones, more than can be: {ZONES_MAX}", scan.places);
        return Err(StorageError::corrupt(&files.log_described, 0, message));
    }
    for (number, place) in (scan.first_zone..).zip(&scan.zones) {
        let index = usize::try_from(*place).expect("below the number of places");
        state.zones[index].store(number + 1, Ordering::Relaxed);
    }
    state.places.store(scan.places, Ordering::Relaxed);
    let commit = scan.last_commit.unwrap_or(header.commit);
    state.writing_to.store(scan.end, Ordering::Relaxed);
    state.ring_from.store(scan.end, Ordering::Relaxed);
    state.written.store(scan.end, Ordering::Relaxed);
    state.replay_from.store(header.replay_from.0, Ordering::Relaxed);
    state.publish(LogEnd { position: scan.end, chain: scan.chain, commit });
    peers.state().group.durable.store(scan.end, Ordering::Release);
    peers.unpin_all();
    Ok(())
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

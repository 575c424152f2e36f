//! Creating and opening: ownership, the choice of a header, recovery of the log.
//!
//! - Creation writes the header last: a file without one never held anything, and creation can be
//!   repeated. With one, both files and their names are durable.
//! - Opening changes nothing before both files are owned, and gives back the same state however
//!   often it is interrupted and repeated.
//! - What a dead process wrote may be in the cache and not on the medium, its sync's error consumed:
//!   the header in use and the unproven end of the log are written again, and synced, before
//!   anything relies on them.
//! - A missing log is refused, always: nothing tells whether it held acknowledged commits.

use super::checkpoint::decode_pending;
use super::relaxed::RelaxedSync;
use super::{Headers, Recovered, Shared, Store, misplaced, read_blob};
use crate::blob::{Blob, BlobRef, ExtentRef};
use crate::error::{ErrorKind, StorageError};
use crate::header::{
    DATA_START, Header, LOG_ZONE_BYTES_MAX, LOG_ZONE_BYTES_MIN, SLOT_BYTES, SLOT_OFFSETS, Slot,
    zone_bytes_allowed,
};
use crate::holder;
use crate::log::Log;
use crate::log::format::{LogShape, ZONE_HEADER_BYTES, ZONE_HEADER_LENGTH, peek_zone_header};
use crate::log::scan::{LogScan, LogStart, make_durable, scan};
use crate::options::{Durability, Options};
use crate::poison::Poison;
use crate::space::{Pending, Space};
use gadus_base::{CommitNumber, DatabaseId, LogPosition, Random};
use gadus_block::{BlockError, Device, ErrorKind as BlockErrorKind, Folder, Hint, OpenMode};
use parking_lot::Mutex;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The files of a database, open and owned.
pub(crate) struct Files {
    pub(crate) folder: Arc<dyn Folder>,
    pub(crate) data: Arc<dyn Device>,
    pub(crate) log: Arc<dyn Device>,
    pub(crate) data_described: String,
    pub(crate) log_described: String,
}

/// The slots as found, and the header to recover from.
pub(crate) struct Chosen {
    pub(crate) slots: [Slot; 2],
    pub(crate) slot: usize,
    pub(crate) header: Header,
    pub(crate) root: Option<Blob>,
    pub(crate) pending: Vec<Pending>,
    pub(crate) warnings: Vec<String>,
}

pub(crate) fn log_name(name: &str) -> String {
    format!("{name}-wal")
}

fn holder_name(name: &str) -> String {
    format!("{name}-lck")
}

impl Store {
    /// Creates a database; also over one whose creation was interrupted.
    ///
    /// # Errors
    /// `AlreadyExists`, `InUse`, `Foreign` when a log with records lies there, or a failure.
    pub fn create(
        folder: Arc<dyn Folder>,
        name: &str,
        options: Options,
    ) -> Result<Self, StorageError> {
        let described = folder.describe(name);
        if options.read_only || !zone_bytes_allowed(options.log_zone_bytes) {
            let message = "a database is created for writing, with a log zone size of a power of \
                           two from 4 KiB to 64 MiB";
            return Err(StorageError::new(ErrorKind::Invalid, &described, message));
        }
        let data = open_or_create(&*folder, name)?;
        own(&*folder, name, &*data, options)?;
        if !matches!(read_slots(&*data, &described), Err(error) if error.kind == ErrorKind::Unfinished)
        {
            let message = "it exists; open it, or choose another name";
            return Err(StorageError::new(ErrorKind::AlreadyExists, &described, message));
        }
        let log_name = log_name(name);
        let log = open_or_create(&*folder, &log_name)?;
        own(&*folder, name, &*log, options)?;
        let log_described = folder.describe(&log_name);
        refuse_log_with_records(&*log, &log_described)?;
        // From here on a header proves that both names are durable.
        folder.sync()?;
        let database = DatabaseId::new(&mut Random::from_system());
        let files = Files { folder, data, log, data_described: described, log_described };
        let newest = files.initialise(database, options)?;
        holder::record(&*files.folder, &holder_name(name));
        let headers = Headers {
            newest,
            newest_slot: 1,
            newest_extent: None,
            older: Some(Header { sequence: 1, ..newest }),
            older_extent: None,
        };
        let shape = LogShape { database, zone_bytes: options.log_zone_bytes.into() };
        let start = LogStart {
            position: newest.replay_from,
            chain: newest.chain,
            durable: newest.log_durable,
            keep_from: newest.replay_from,
        };
        let scan = scan(&*files.log, &files.log_described, shape, start)?;
        let space = Space::recovering(0, newest.next_id, newest.sequence);
        space.finish_recovery();
        Self::assemble(files, options, shape, headers, space, scan)
    }

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

    fn assemble(
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

impl Files {
    /// Opens and owns both files; for reading, shares them with other readers.
    pub(crate) fn open(
        folder: Arc<dyn Folder>,
        name: &str,
        options: Options,
    ) -> Result<Self, StorageError> {
        let mode = if options.read_only { OpenMode::Read } else { OpenMode::ReadWrite };
        let data_described = folder.describe(name);
        let data = folder.open(name, mode)?;
        own(&*folder, name, &*data, options)?;
        // Before the log is asked for: a file that is no database needs no log either.
        read_slots(&*data, &data_described)?;
        let log_name = log_name(name);
        let log_described = folder.describe(&log_name);
        let log = folder.open(&log_name, mode).map_err(|error| match error.kind {
            BlockErrorKind::NotFound => {
                let message = format!(
                    "the log of {data_described} is missing, and acknowledged commits may be \
                     missing with it; put it back beside the data file, or restore a copy"
                );
                StorageError::new(ErrorKind::Corrupt, &log_described, message)
            }
            _ => error.into(),
        })?;
        own(&*folder, name, &*log, options)?;
        // What the cache holds may be what a failed sync did not write; best effort.
        log.hint(0..log.length()?, Hint::DontNeed);
        data.hint(0..DATA_START, Hint::DontNeed);
        Ok(Self { folder, data, log, data_described, log_described })
    }

    /// The newest header whose root can be read.
    pub(crate) fn choose_header(&self) -> Result<Chosen, StorageError> {
        let slots = read_slots(&*self.data, &self.data_described)?;
        let mut warnings = Vec::new();
        let mut candidates: Vec<(usize, Header)> = Vec::new();
        for (slot, found) in slots.iter().enumerate() {
            match found {
                Slot::Valid(header) => candidates.push((slot, *header)),
                Slot::Blank => {}
                Slot::Strange | Slot::Damaged | Slot::Version(_) => warnings.push(format!(
                    "{} at byte {}: a header is damaged, the other one is used",
                    self.data_described, SLOT_OFFSETS[slot]
                )),
            }
        }
        candidates.sort_by_key(|(_, header)| std::cmp::Reverse(header.sequence));
        if let [(_, one), (slot, other)] = candidates[..]
            && (one.database, one.log_zone_bytes) != (other.database, other.log_zone_bytes)
        {
            let message = "the two headers belong to different databases";
            let offset = SLOT_OFFSETS[slot];
            return Err(StorageError::corrupt(&self.data_described, offset, message));
        }
        let mut first_error = None;
        for (slot, header) in candidates {
            match self.read_root(&header) {
                Ok((root, pending)) => {
                    return Ok(Chosen { slots, slot, header, root, pending, warnings });
                }
                Err(error) => {
                    warnings.push(format!("{error}; the checkpoint before it is used"));
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.expect("at least one slot is valid, as read_slots has found"))
    }

    /// The root and the pending list that a header names.
    pub(crate) fn read_root(
        &self,
        header: &Header,
    ) -> Result<(Option<Blob>, Vec<Pending>), StorageError> {
        let length = self.data.length()?;
        let read = |blob: &BlobRef| match blob.id {
            0 => Ok(None),
            _ => read_blob(&*self.data, &self.data_described, length, blob).map(Some),
        };
        let root = read(&header.root)?;
        let pending = read(&header.pending)?;
        let pending = decode_pending(pending.as_deref().unwrap_or_default()).map_err(|error| {
            let message = format!("the list of pending extents is damaged: {error}");
            StorageError::corrupt(&self.data_described, header.pending.offset, message)
        })?;
        Ok((root, pending))
    }

    /// Writes an empty log, then both headers, newest last.
    fn initialise(&self, database: DatabaseId, options: Options) -> Result<Header, StorageError> {
        let zone_bytes = u64::from(options.log_zone_bytes);
        let shape = LogShape { database, zone_bytes };
        let mut zone = vec![0; options.log_zone_bytes as usize];
        zone[..ZONE_HEADER_LENGTH].copy_from_slice(&shape.zone_header(0));
        self.log.set_length(zone_bytes)?;
        self.log.write_at(0, &[IoSlice::new(&zone)])?;
        self.log.sync()?;
        let header = Header {
            database,
            log_zone_bytes: options.log_zone_bytes,
            sequence: 1,
            commit: CommitNumber(0),
            replay_from: LogPosition(ZONE_HEADER_BYTES),
            chain: 0,
            log_durable: LogPosition(ZONE_HEADER_BYTES),
            next_id: 1,
            extent: ExtentRef::NONE,
            root: BlobRef::NONE,
            pending: BlobRef::NONE,
        };
        let newest = Header { sequence: 2, ..header };
        for (slot, header) in [header, newest].into_iter().enumerate() {
            self.data.write_at(SLOT_OFFSETS[slot], &[IoSlice::new(&header.encode(slot))])?;
        }
        self.data.sync()?;
        Ok(newest)
    }
}

fn open_or_create(folder: &dyn Folder, name: &str) -> Result<Arc<dyn Device>, BlockError> {
    match folder.open(name, OpenMode::Create) {
        Err(error) if error.kind == BlockErrorKind::AlreadyExists => {
            folder.open(name, OpenMode::ReadWrite)
        }
        other => other,
    }
}

/// Takes ownership, or names who has it.
fn own(
    folder: &dyn Folder,
    name: &str,
    device: &dyn Device,
    options: Options,
) -> Result<(), StorageError> {
    let owned = if options.read_only { device.try_share()? } else { device.try_own()? };
    if owned {
        return Ok(());
    }
    let holder = holder::describe(folder, &holder_name(name));
    let holder = holder.unwrap_or_else(|| "a process that left no description".to_owned());
    let message = format!("it is in use by {holder}; close it there first");
    Err(StorageError::new(ErrorKind::InUse, &folder.describe(name), message))
}

/// Both slots, of which at least one is valid.
pub(crate) fn read_slots(data: &dyn Device, described: &str) -> Result<[Slot; 2], StorageError> {
    let length = data.length()?;
    let mut slots = [Slot::Blank; 2];
    for (slot, found) in slots.iter_mut().enumerate() {
        let offset = SLOT_OFFSETS[slot];
        let present = length.saturating_sub(offset).min(SLOT_BYTES as u64);
        let mut bytes = [0; SLOT_BYTES];
        let into = &mut bytes[..usize::try_from(present).expect("at most a slot")];
        data.read_at(offset, into)?;
        *found = Slot::decode(slot, &bytes);
    }
    if slots.iter().any(|slot| slot.header().is_some()) {
        return Ok(slots);
    }
    for slot in slots {
        if let Slot::Version(version) = slot {
            let message = format!("it has format {version}, this program knows 1; upgrade");
            return Err(StorageError::new(ErrorKind::Version, described, message));
        }
    }
    if slots.contains(&Slot::Damaged) {
        let message = "both headers are damaged; restore a copy";
        return Err(StorageError::corrupt(described, 0, message));
    }
    if slots == [Slot::Blank; 2] && length <= DATA_START && is_blank(data, length)? {
        let message = "its creation was interrupted and it holds nothing; create it again";
        return Err(StorageError::new(ErrorKind::Unfinished, described, message));
    }
    let message = "it is not a Gadus database";
    Err(StorageError::new(ErrorKind::NotADatabase, described, message))
}

fn is_blank(data: &dyn Device, length: u64) -> Result<bool, StorageError> {
    let mut bytes = vec![0; usize::try_from(length.min(DATA_START)).expect("at most 64 KiB")];
    data.read_at(0, &mut bytes)?;
    Ok(bytes.iter().all(|byte| *byte == 0))
}

/// A log that holds records belongs to a data file that someone has mislaid.
fn refuse_log_with_records(log: &dyn Device, described: &str) -> Result<(), StorageError> {
    /// Zones are at least this long, and the first ones are used first.
    const STEP_BYTES: usize = LOG_ZONE_BYTES_MIN as usize;
    const LOOK_BYTES_MAX: u64 = LOG_ZONE_BYTES_MAX as u64;
    let length = log.length()?;
    for offset in (0..length.min(LOOK_BYTES_MAX)).step_by(STEP_BYTES) {
        let present = usize::try_from(length - offset).unwrap_or(STEP_BYTES).min(STEP_BYTES);
        let mut bytes = vec![0; present];
        log.read_at(offset, &mut bytes)?;
        let Some((shape, number)) = peek_zone_header(&bytes) else { continue };
        let first = number.saturating_mul(shape.zone_bytes).saturating_add(ZONE_HEADER_BYTES);
        // A long fragment is not whole within one step; its header alone then tells.
        let named = bytes.get(72..80).is_some_and(|bytes| bytes == first.to_le_bytes());
        if named {
            let message = format!(
                "the log holds records of database {}, whose data file is not here; put that back, \
                 or remove the log if its commits are not wanted",
                shape.database
            );
            return Err(StorageError::new(ErrorKind::Foreign, described, message));
        }
    }
    Ok(())
}

//! The files of a database: opened, owned, and their headers read.
//!
//! - Nothing is changed here, and nothing is believed that its checksum does not cover.
//! - A missing log is refused, always: nothing tells whether it held acknowledged commits.

use super::Store;
use super::blobs::read_blob;
use super::checkpoint::decode_pending;
use super::open::shape_of;
use crate::blob::{Blob, BlobRef};
use crate::error::{ErrorKind, StorageError};
use crate::header::{DATA_START, Header, SLOT_BYTES, SLOT_OFFSETS, Slot};
use crate::holder::{self, OpenersTurn};
use crate::log::format::{LogShape, ZONE_HEADER_LENGTH, peek_zone_header};
use crate::options::Options;
use crate::peers::Peers;
use crate::space::{DataFile, Pending};
use gadus_block::{
    BlockError, Device, ErrorKind as BlockErrorKind, Folder, GuardedDevice, Hint, Identity,
    OpenMode,
};
use std::sync::Arc;

/// The files of a database, open.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) folder: Arc<dyn Folder>,
    pub(crate) data: Arc<dyn Device>,
    pub(crate) log: Arc<dyn Device>,
    pub(crate) data_described: String,
    pub(crate) log_described: String,
    /// They are open for writing, if only to recover them.
    pub(crate) are_writable: bool,
}

/// The slots as found, and the header to recover from.
pub(crate) struct Chosen {
    pub(crate) slots: [Slot; 2],
    pub(crate) slot: usize,
    pub(crate) header: Header,
    pub(crate) root: Option<Blob>,
    pub(crate) pending: Vec<Pending>,
    /// Why the other slot, which may be newer, was not chosen.
    pub(crate) passed_over: Option<StorageError>,
}

pub(crate) fn log_name(name: &str) -> String {
    format!("{name}{}", Store::LOG_ENDING)
}

pub(super) fn holder_name(name: &str) -> String {
    format!("{name}-lck")
}

/// Refuses a log that is a hard link and not the log of this database: it may be any file of this user, and a
/// log is written to.
pub(super) fn refuse_second_name(
    log: &dyn Device,
    described: &str,
    shape: Option<LogShape>,
) -> Result<(), StorageError> {
    if log.ownership().is_none_or(|file| file.names <= 1) {
        return Ok(());
    }
    if let Some(shape) = shape
        && has_zone_of(log, shape)?
    {
        return Ok(());
    }
    let message = "the log has a second name, so it may be any file; copy it, and remove the link";
    Err(StorageError::new(ErrorKind::Invalid, described, message))
}

/// True if some zone of the log says that it is this database's.
fn has_zone_of(log: &dyn Device, shape: LogShape) -> Result<bool, StorageError> {
    let mut bytes = [0; ZONE_HEADER_LENGTH];
    let mut offset = 0;
    while offset + ZONE_HEADER_LENGTH as u64 <= log.length()? {
        log.read_at(offset, &mut bytes)?;
        if peek_zone_header(&bytes).is_some_and(|(found, _)| found.database == shape.database) {
            return Ok(true);
        }
        offset += shape.zone_bytes.max(1);
    }
    Ok(false)
}

impl Files {
    /// Opens and owns both files, in the turn of an opener who writes, or names who has them; for
    /// reading, shares them with other readers.
    pub(crate) fn open_owned(
        folder: Arc<dyn Folder>,
        name: &str,
        options: &Options,
        mut turn: Option<&mut OpenersTurn>,
    ) -> Result<Self, StorageError> {
        let owner = folder.clone();
        let own = |device: &Arc<dyn Device>| {
            if let Some(turn) = &mut turn {
                turn.cover(device)?;
            }
            own(&*owner, name, &**device, options)
        };
        let mode = if options.read_only { OpenMode::Read } else { OpenMode::ReadWrite };
        let files = Self::open_each(folder, name, mode, own)?;
        // What the cache holds may be what a failed sync did not write; best effort.
        files.log.hint(0..files.log.length()?, Hint::DontNeed);
        files.data.hint(0..DATA_START, Hint::DontNeed);
        Ok(files)
    }

    /// Makes it the turn of both files, too.
    pub(crate) fn cover_by(&self, turn: &mut OpenersTurn) -> Result<(), StorageError> {
        turn.cover(&self.data)?;
        turn.cover(&self.log)
    }

    /// Returns the files behind a guard that refuses changes once the memory that the processes share is lost: zeros
    /// may then have decided the place and bytes of a change.
    pub(super) fn guarded_by(self, peers: &Arc<Peers>) -> Self {
        let guarded = |device, described: &str| {
            Arc::new(GuardedDevice::new(device, described, peers.clone())) as Arc<dyn Device>
        };
        Self {
            data: guarded(self.data, &self.data_described),
            log: guarded(self.log, &self.log_described),
            ..self
        }
    }

    /// The data file, for who gives its space.
    pub(super) fn data_file(&self) -> DataFile {
        DataFile { device: self.data.clone(), described: self.data_described.clone() }
    }

    /// Which files they are, the data file first.
    pub(crate) fn identities(&self) -> [Identity; 2] {
        [self.data.identity(), self.log.identity()]
    }

    /// Owns both files, if nobody else has them open.
    pub(crate) fn try_own(&self) -> Result<bool, StorageError> {
        self.of_both(|device| device.try_own())
    }

    /// Shares both files with readers, if nobody but readers has them open.
    pub(crate) fn try_share(&self) -> Result<bool, StorageError> {
        self.of_both(|device| device.try_share())
    }

    /// Takes both files in one way, or neither.
    fn of_both(
        &self,
        take: impl Fn(&dyn Device) -> Result<bool, BlockError>,
    ) -> Result<bool, StorageError> {
        let taken = take(&*self.data)? && take(&*self.log)?;
        if !taken {
            self.data.give_up_slots()?;
        }
        Ok(taken)
    }

    /// Opens both files to share them, for which an instance that only reads takes locks of writers, too.
    pub(crate) fn open(folder: Arc<dyn Folder>, name: &str) -> Result<Self, StorageError> {
        Self::open_each(folder, name, OpenMode::ReadWrite, |_| Ok(()))
    }

    fn open_each(
        folder: Arc<dyn Folder>,
        name: &str,
        mode: OpenMode,
        mut opened: impl FnMut(&Arc<dyn Device>) -> Result<(), StorageError>,
    ) -> Result<Self, StorageError> {
        let data_described = folder.describe(name);
        let data = folder.open(name, mode)?;
        opened(&data)?;
        // Before the log is asked for: a file that is no database needs no log either.
        let slots = read_slots(&*data, &data_described)?;
        let header = slots.iter().find_map(Slot::header);
        let log_name = log_name(name);
        let log_described = folder.describe(&log_name);
        let log = folder.open(&log_name, mode).map_err(|error| match error.kind {
            BlockErrorKind::PermissionDenied => StorageError {
                message: format!(
                    "{error}; if it has another group or mode than the data file, its owner has to open the \
                     database once, which sets them"
                ),
                ..error.into()
            },
            BlockErrorKind::NotFound => {
                let message = format!(
                    "the log of {data_described} is missing, and acknowledged commits may be \
                     missing with it; put it back beside the data file, or restore a copy"
                );
                StorageError::new(ErrorKind::Corrupt, &log_described, message)
            }
            _ => error.into(),
        })?;
        refuse_second_name(&*log, &log_described, header.map(shape_of))?;
        opened(&log)?;
        let are_writable = mode != OpenMode::Read;
        Ok(Self { folder, data, log, data_described, log_described, are_writable })
    }

    /// The newest header whose root can be read.
    pub(crate) fn choose_header(&self) -> Result<Chosen, StorageError> {
        let slots = read_slots(&*self.data, &self.data_described)?;
        let mut passed_over = None;
        let mut candidates: Vec<(usize, Header)> = Vec::new();
        for (slot, found) in slots.iter().enumerate() {
            match found {
                Slot::Valid(header) => candidates.push((slot, *header)),
                Slot::Blank => {}
                Slot::Strange | Slot::Damaged | Slot::Version(_) => {
                    let offset = SLOT_OFFSETS[slot];
                    let message = "a header is damaged";
                    passed_over =
                        Some(StorageError::corrupt(&self.data_described, offset, message));
                }
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
        for (slot, header) in candidates {
            match self.read_root(&header) {
                Ok((root, pending)) => {
                    return Ok(Chosen { slots, slot, header, root, pending, passed_over });
                }
                Err(error) => passed_over = passed_over.or(Some(error)),
            }
        }
        Err(passed_over.expect("at least one slot is valid, as read_slots has found"))
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
}

/// Takes ownership, or names who has it.
pub(super) fn own(
    folder: &dyn Folder,
    name: &str,
    device: &dyn Device,
    options: &Options,
) -> Result<(), StorageError> {
    let owned = if options.read_only { device.try_share()? } else { device.try_own()? };
    if owned { Ok(()) } else { Err(in_use(folder, name)) }
}

/// The error that names who has a database open.
pub(super) fn in_use(folder: &dyn Folder, name: &str) -> StorageError {
    let holder = holder::describe(folder, &holder_name(name));
    let holder = holder.unwrap_or_else(|| "a process that left no description".to_owned());
    let message = format!("it is in use by {holder}; close it there first");
    StorageError::new(ErrorKind::InUse, &folder.describe(name), message)
}

/// Both slots, of which at least one is valid.
pub(crate) fn read_slots(data: &dyn Device, described: &str) -> Result<[Slot; 2], StorageError> {
    let length = data.length()?;
    let mut slots = read_each_slot(data, length)?;
    if slots.contains(&Slot::Damaged) && slots.iter().all(|slot| slot.header().is_none()) {
        // Others may be at work: each slot was looked at while it was written. Then the first is whole
        // by now.
        slots = read_each_slot(data, length)?;
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

fn read_each_slot(data: &dyn Device, length: u64) -> Result<[Slot; 2], StorageError> {
    let mut slots = [Slot::Blank; 2];
    for (slot, found) in slots.iter_mut().enumerate() {
        let offset = SLOT_OFFSETS[slot];
        let present = length.saturating_sub(offset).min(SLOT_BYTES as u64);
        let mut bytes = [0; SLOT_BYTES];
        let into = &mut bytes[..usize::try_from(present).expect("at most a slot")];
        data.read_at(offset, into)?;
        *found = Slot::decode(slot, &bytes);
    }
    Ok(slots)
}

fn is_blank(data: &dyn Device, length: u64) -> Result<bool, StorageError> {
    let mut bytes = vec![0; usize::try_from(length.min(DATA_START)).expect("at most 64 KiB")];
    data.read_at(0, &mut bytes)?;
    Ok(bytes.iter().all(|byte| *byte == 0))
}

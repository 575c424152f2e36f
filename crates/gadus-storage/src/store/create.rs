//! Creating a database.
//!
//! - The headers are written last: a file without one never held anything, and creation can be
//!   repeated; with one, both files and their names are durable.
//! - A log with records is never overwritten: its data file may only be mislaid.

use super::Store;
use super::files::{Files, holder_name, log_name, own, read_slots, refuse_second_name};
use crate::blob::{BlobRef, ExtentRef};
use crate::error::{ErrorKind, StorageError};
use crate::header::{
    Header, LOG_ZONE_BYTES_MAX, LOG_ZONE_BYTES_MIN, SLOT_OFFSETS, zone_bytes_allowed,
};
use crate::holder::OpenersTurn;
use crate::log::format::{LogShape, ZONE_HEADER_BYTES, ZONE_HEADER_LENGTH, peek_zone_header};
use crate::options::{Options, Sharing};
use gadus_base::{CommitNumber, DatabaseId, LogPosition, Random};
use gadus_block::{BlockError, Device, ErrorKind as BlockErrorKind, Folder, OpenMode};
use std::io::IoSlice;
use std::sync::Arc;

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
        Self::make(folder.clone(), name, &options)?;
        let (store, _) = Self::open(folder, name, options)?;
        store.finish_recovery()?;
        Ok(store)
    }

    /// Makes the files of a new database, which holds nothing; also over one whose creation was
    /// interrupted. It is to be opened then, as others may do before.
    ///
    /// # Errors
    /// As [`Store::create`].
    pub fn make(
        folder: Arc<dyn Folder>,
        name: &str,
        options: &Options,
    ) -> Result<(), StorageError> {
        let described = folder.describe(name);
        if options.read_only || !zone_bytes_allowed(options.log_zone_bytes) {
            let message = "a database is created for writing, with a log zone size of a power of \
                           two from 4 KiB to 64 MiB";
            return Err(StorageError::new(ErrorKind::Invalid, &described, message));
        }
        let shares = matches!(options.sharing, Sharing::Shared { .. });
        let mut turn = OpenersTurn::take(&*folder, &holder_name(name), shares)?;
        let data = open_or_create(&*folder, name)?;
        turn.cover(&data)?;
        let owned = own(&*folder, name, &*data, options);
        if !shares {
            owned.clone()?;
        }
        if !matches!(read_slots(&*data, &described), Err(error) if error.kind == ErrorKind::Unfinished)
        {
            let message = "it exists; open it, or choose another name";
            return Err(StorageError::new(ErrorKind::AlreadyExists, &described, message));
        }
        owned?;
        let log_name = log_name(name);
        let log = open_or_create(&*folder, &log_name)?;
        refuse_second_name(&*log, &folder.describe(&log_name), None)?;
        turn.cover(&log)?;
        own(&*folder, name, &*log, options)?;
        let log_described = folder.describe(&log_name);
        refuse_log_with_records(&*log, &log_described)?;
        // From here on a header proves that both names are durable.
        folder.sync()?;
        let database = DatabaseId::new(&mut Random::from_system());
        let files = Files {
            folder,
            data,
            log,
            data_described: described,
            log_described,
            are_writable: true,
        };
        files.initialise(database, options)
    }
}

impl Files {
    /// Writes an empty log, then both headers, newest last.
    fn initialise(&self, database: DatabaseId, options: &Options) -> Result<(), StorageError> {
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
        Ok(self.data.sync()?)
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

//! Creating a database.
//!
//! - The headers are written last: a file without one never held anything, and creation can be
//!   repeated; with one, both files and their names are durable.
//! - A log with records is never overwritten: its data file may only be mislaid.

use super::files::{Files, holder_name, log_name, own, read_slots};
use super::{Headers, Store};
use crate::blob::{BlobRef, ExtentRef};
use crate::error::{ErrorKind, StorageError};
use crate::header::{
    Header, LOG_ZONE_BYTES_MAX, LOG_ZONE_BYTES_MIN, SLOT_OFFSETS, zone_bytes_allowed,
};
use crate::holder;
use crate::log::format::{LogShape, ZONE_HEADER_BYTES, ZONE_HEADER_LENGTH, peek_zone_header};
use crate::log::scan::{LogStart, scan};
use crate::options::Options;
use crate::space::Space;
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
}

impl Files {
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

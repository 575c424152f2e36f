//! The durable mark: a log position that had been durable, noted in the data file.
//!
//! A log whose end was cut off looks like one that ends there: no record in it says what came after. So the data
//! file says now and then how far the log had been durable.
//!
//! Mark, version 1, 512 bytes at byte 8192 of the data file, little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | magic `GadusDur` |
//! | 8..24 | database id |
//! | 24..32 | log position |
//! | 32..504 | zeros |
//! | 504..512 | XXH3 of 0..504, seeded by the offset |
//!
//! Version ladder: 1 = first. Older versions of the program leave the place alone, and blank.
//!
//! - It may be older than the truth, never newer: a position is noted once its sync has succeeded. So it needs no
//!   sync of its own, and a lost mark means nothing; a damaged one is a warning.
//! - What was acknowledged after the last mark cannot be missed: at most `STEP_BYTES` of the log, as long as the
//!   system runs.

use crate::error::StorageError;
use gadus_base::{ByteReader, ByteWriter, DatabaseId, LogPosition, checksum};
use gadus_block::Device;
use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the mark stands in the data file.
pub(crate) const OFFSET: u64 = 8192;
const BYTES: usize = 512;
const CHECKSUM_OFFSET: usize = BYTES - 8;
const MAGIC: [u8; 8] = *b"GadusDur";

/// Bytes of the log between two marks: a hundred small commits, of which the mark then costs less than a
/// hundredth.
const STEP_BYTES: u64 = 16 << 10;

/// Notes how far the log is durable.
#[derive(Debug, Default)]
pub(crate) struct DurableMark {
    /// The last position that this process has noted.
    noted: AtomicU64,
}

impl DurableMark {
    /// Notes a position that is durable, if the last mark is some way behind. A failure costs the next recovery a
    /// proof, nothing else.
    pub(crate) fn note(&self, data: &dyn Device, database: DatabaseId, durable: LogPosition) {
        let noted = self.noted.load(Ordering::Relaxed);
        if durable.0 < noted.saturating_add(STEP_BYTES) {
            return;
        }
        let (order, keeps) = (Ordering::Relaxed, Ordering::Relaxed);
        // Another thread that was faster notes about the same.
        if self.noted.compare_exchange(noted, durable.0, order, keeps).is_ok() {
            let _ = data.write_at(OFFSET, &[IoSlice::new(&encode(database, durable))]);
        }
    }
}

/// What a data file notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noted {
    /// Nothing: the place is blank, or the mark is another database's.
    Nothing,
    /// The log had been durable up to there.
    Durable(LogPosition),
    /// There is a mark that cannot be read.
    Damaged,
}

impl Noted {
    /// Returns the position, if there is one.
    pub(crate) fn position(self) -> Option<LogPosition> {
        match self {
            Self::Durable(position) => Some(position),
            Self::Nothing | Self::Damaged => None,
        }
    }

    /// Returns what the user is to know, if the mark is damaged.
    pub(crate) fn warning(self) -> Option<&'static str> {
        let message = "the mark of what was durable is damaged: a log that was cut off could not be told; the next \
                       commits write it anew";
        (self == Self::Damaged).then_some(message)
    }
}

/// Reads what a data file notes.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read(data: &dyn Device, database: DatabaseId) -> Result<Noted, StorageError> {
    if data.length()? < OFFSET + BYTES as u64 {
        return Ok(Noted::Nothing);
    }
    let mut bytes = [0; BYTES];
    data.read_at(OFFSET, &mut bytes)?;
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(Noted::Nothing);
    }
    let (content, stored) = bytes.split_at(CHECKSUM_OFFSET);
    if !content.starts_with(&MAGIC) || stored != checksum(OFFSET, content).to_le_bytes() {
        return Ok(Noted::Damaged);
    }
    let (owner, rest) = content[MAGIC.len()..].split_at(database.0.len());
    let position = ByteReader::new(rest).u64().ok().filter(|_| owner == database.0);
    Ok(position.map_or(Noted::Nothing, |position| Noted::Durable(LogPosition(position))))
}

fn encode(database: DatabaseId, durable: LogPosition) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    writer.raw(&MAGIC);
    writer.raw(&database.0);
    writer.u64(durable.0);
    writer.raw(&[0; BYTES][writer.len()..CHECKSUM_OFFSET]);
    writer.u64(checksum(OFFSET, writer.as_slice()));
    writer.finish()
}

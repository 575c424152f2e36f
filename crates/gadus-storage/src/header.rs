//! The two header slots of the data file, at bytes 0 and 4096.
//!
//! A checkpoint writes the slot that is not in use; the valid slot with the highest sequence wins.
//! The data begins at 64 KiB.
//!
//! Slot, version 1, 512 bytes (one sector, which disks write whole), little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | magic `GadusDB` and a zero; the same in every version |
//! | 8..12 | format version; the same place in every version |
//! | 12..16 | zone size of the log |
//! | 16..32 | database id |
//! | 32..40 | sequence of the checkpoint |
//! | 40..48 | commit that the root contains |
//! | 48..56 | log position to replay from |
//! | 56..64 | checksum of the log fragment that ends there, 0 for none |
//! | 64..72 | log position known to be durable when this was written |
//! | 72..80 | next id |
//! | 80..104 | extent of the root and of the pending list |
//! | 104..136 | blob of the root; id 0 before the first checkpoint |
//! | 136..168 | blob of the pending list: extents that the other slot may still name |
//! | 168..504 | zeros |
//! | 504..512 | XXH3 of 0..504, seeded by the slot's offset; the same place in every version |
//!
//! Pending list, version 1: per extent its reference (24 bytes) and the sequence of the newest
//! checkpoint that had begun when it was dropped (8 bytes).
//!
//! Version ladder: 1 = first.
//!
//! - A header is believed only when magic, checksum and version agree; its numbers are still
//!   checked against the files before anything is allocated or read by them.

use crate::blob::{BlobRef, ExtentRef};
use gadus_base::{
    ByteReader, ByteWriter, CommitNumber, DatabaseId, DecodeError, LogPosition, checksum,
};

pub(crate) const SLOT_OFFSETS: [u64; 2] = [0, 4096];
pub(crate) const SLOT_BYTES: usize = 512;
pub(crate) const DATA_START: u64 = 64 << 10;

pub(crate) const LOG_ZONE_BYTES_MIN: u32 = 4 << 10;
pub(crate) const LOG_ZONE_BYTES_MAX: u32 = 64 << 20;

const MAGIC: [u8; 8] = *b"GadusDB\0";
const VERSION: u32 = 1;
const CHECKSUM_OFFSET: usize = SLOT_BYTES - 8;

/// What a checkpoint left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) database: DatabaseId,
    pub(crate) log_zone_bytes: u32,
    pub(crate) sequence: u64,
    pub(crate) commit: CommitNumber,
    pub(crate) replay_from: LogPosition,
    pub(crate) chain: u64,
    pub(crate) log_durable: LogPosition,
    pub(crate) next_id: u64,
    pub(crate) extent: ExtentRef,
    pub(crate) root: BlobRef,
    pub(crate) pending: BlobRef,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Valid(Header),
    /// Zeros: never written.
    Blank,
    /// Without the magic: not ours, or destroyed.
    Strange,
    /// With the magic, but damaged.
    Damaged,
    /// Intact, of another version.
    Version(u32),
}

impl Header {
    pub(crate) fn encode(&self, slot: usize) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        writer.raw(&MAGIC);
        writer.u32(VERSION);
        writer.u32(self.log_zone_bytes);
        writer.raw(&self.database.0);
        writer.u64(self.sequence);
        writer.u64(self.commit.0);
        writer.u64(self.replay_from.0);
        writer.u64(self.chain);
        writer.u64(self.log_durable.0);
        writer.u64(self.next_id);
        self.extent.encode(&mut writer);
        self.root.encode(&mut writer);
        self.pending.encode(&mut writer);
        writer.raw(&[0; SLOT_BYTES][writer.len()..CHECKSUM_OFFSET]);
        writer.u64(checksum(SLOT_OFFSETS[slot], writer.as_slice()));
        writer.finish()
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = ByteReader::new(bytes);
        reader.raw(12)?;
        Ok(Self {
            log_zone_bytes: reader.u32()?,
            database: decode_database(&mut reader)?,
            sequence: reader.u64()?,
            commit: CommitNumber(reader.u64()?),
            replay_from: LogPosition(reader.u64()?),
            chain: reader.u64()?,
            log_durable: LogPosition(reader.u64()?),
            next_id: reader.u64()?,
            extent: ExtentRef::decode(&mut reader)?,
            root: BlobRef::decode(&mut reader)?,
            pending: BlobRef::decode(&mut reader)?,
        })
    }

    fn makes_sense(&self) -> bool {
        zone_bytes_allowed(self.log_zone_bytes)
            && self.sequence < u64::MAX
            && self.log_durable >= self.replay_from
            && (self.root.id == 0) == (self.extent.id == 0)
    }
}

impl Slot {
    pub(crate) fn decode(slot: usize, bytes: &[u8; SLOT_BYTES]) -> Self {
        if bytes.iter().all(|byte| *byte == 0) {
            return Self::Blank;
        }
        if !bytes.starts_with(&MAGIC) {
            return Self::Strange;
        }
        let (content, stored) = bytes.split_at(CHECKSUM_OFFSET);
        if stored != checksum(SLOT_OFFSETS[slot], content).to_le_bytes() {
            return Self::Damaged;
        }
        match ByteReader::new(&content[8..]).u32() {
            Ok(VERSION) => {}
            Ok(version) => return Self::Version(version),
            Err(_) => return Self::Damaged,
        }
        match Header::decode(content) {
            Ok(header) if header.makes_sense() => Self::Valid(header),
            _ => Self::Damaged,
        }
    }

    pub(crate) fn header(&self) -> Option<&Header> {
        match self {
            Self::Valid(header) => Some(header),
            _ => None,
        }
    }
}

pub(crate) fn zone_bytes_allowed(bytes: u32) -> bool {
    bytes.is_power_of_two() && (LOG_ZONE_BYTES_MIN..=LOG_ZONE_BYTES_MAX).contains(&bytes)
}

pub(crate) fn decode_database(reader: &mut ByteReader<'_>) -> Result<DatabaseId, DecodeError> {
    let mut id = [0; 16];
    id.copy_from_slice(reader.raw(16)?);
    Ok(DatabaseId(id))
}

const _: () = assert!(SLOT_OFFSETS[1] + SLOT_BYTES as u64 <= DATA_START);
const _: () = assert!(SLOT_OFFSETS[0] + (SLOT_BYTES as u64) <= SLOT_OFFSETS[1]);

#[cfg(test)]
mod tests;

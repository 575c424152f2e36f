//! Bytes of the log: zone headers and fragments.
//!
//! The log is endless; its positions only grow. Position `p` lies in zone `p / zone size`; the file
//! holds some of the zones, in any order, and each zone's header says which it is.
//!
//! Zone header, version 1, 64 bytes, little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | magic `GadusLog`; the same in every version |
//! | 8..12 | format version; the same place in every version |
//! | 12..16 | zone size |
//! | 16..32 | database id |
//! | 32..40 | zone number |
//! | 40..56 | zeros |
//! | 56..64 | XXH3 of 0..56, seeded by the zone number |
//!
//! Fragment, version 1, 48 bytes, the payload, and zeros up to a multiple of 8 bytes:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | XXH3 of 8..48 and the payload, seeded by position and database id |
//! | 8..16 | position of this fragment |
//! | 16..24 | commit number of the record |
//! | 24..32 | checksum of the fragment before |
//! | 32..40 | position known to be durable when this was written |
//! | 40..44 | length of the payload |
//! | 44 | 1 whole record, 2 first, 3 middle, 4 last fragment of a record |
//! | 45..48 | zeros |
//!
//! Version ladder: 1 = first.
//!
//! - The position in seed and content rejects what an earlier use of the zone left behind; the
//!   chain rejects what an abandoned end of the log left behind at the same positions.
//! - The durable position tells a torn end, which nobody was promised, from damage.

use crate::header::decode_database;
use gadus_base::{ByteReader, CommitNumber, DatabaseId, DecodeError, checksum};

pub(crate) const ZONE_HEADER_LENGTH: usize = 64;
pub(crate) const ZONE_HEADER_BYTES: u64 = ZONE_HEADER_LENGTH as u64;
pub(super) const FRAGMENT_HEADER_LENGTH: usize = 48;
pub(crate) const FRAGMENT_HEADER_BYTES: u64 = FRAGMENT_HEADER_LENGTH as u64;
pub(crate) const FRAGMENT_ALIGNMENT_BYTES: u64 = 8;

const MAGIC: [u8; 8] = *b"GadusLog";
const VERSION: u32 = 1;

/// Which database, and how its log is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogShape {
    pub(crate) database: DatabaseId,
    pub(crate) zone_bytes: u64,
}

/// What a zone header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZoneHeader {
    Valid(u64),
    Foreign(DatabaseId),
    Version(u32),
    /// Zeros, or damaged.
    Unknown,
}

/// The place of a fragment in its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole = 1,
    First = 2,
    Middle = 3,
    Last = 4,
}

/// A fragment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) position: u64,
    pub(crate) commit: CommitNumber,
    pub(crate) before: u64,
    pub(crate) durable: u64,
    pub(crate) kind: Kind,
}

/// A fragment found, intact, in a zone.
#[derive(Debug)]
pub(crate) struct FoundFragment<'a> {
    pub(crate) fragment: Fragment,
    pub(crate) checksum: u64,
    pub(crate) payload: &'a [u8],
}

impl LogShape {
    /// Number of the zone that holds a position.
    pub(crate) fn zone_of(&self, position: u64) -> u64 {
        position / self.zone_bytes
    }

    /// Where a position lies within its zone.
    pub(crate) fn within(&self, position: u64) -> u64 {
        position % self.zone_bytes
    }

    /// Where the fragment after one that ends at `end` begins: there, or in the next zone when not
    /// even a header and one unit of payload have room.
    pub(crate) fn fragment_start(&self, end: u64) -> u64 {
        let within = self.within(end);
        if within < ZONE_HEADER_BYTES {
            return end - within + ZONE_HEADER_BYTES;
        }
        if self.zone_bytes - within < FRAGMENT_HEADER_BYTES + FRAGMENT_ALIGNMENT_BYTES {
            return end - within + self.zone_bytes + ZONE_HEADER_BYTES;
        }
        end
    }

    /// Payload that fits a fragment at `start`.
    pub(crate) fn room_at(&self, start: u64) -> usize {
        let room = self.zone_bytes - self.within(start) - FRAGMENT_HEADER_BYTES;
        usize::try_from(room).expect("a zone is below 4 GiB")
    }

    pub(crate) fn zone_header(&self, number: u64) -> [u8; ZONE_HEADER_LENGTH] {
        let mut bytes = [0; ZONE_HEADER_LENGTH];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        let zone_bytes = u32::try_from(self.zone_bytes).expect("a zone is below 4 GiB");
        bytes[12..16].copy_from_slice(&zone_bytes.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.database.0);
        bytes[32..40].copy_from_slice(&number.to_le_bytes());
        let sum = checksum(number, &bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode_zone_header(&self, bytes: &[u8]) -> ZoneHeader {
        match decode_zone_header(bytes) {
            Ok(Some((VERSION, zone_bytes, database, number))) => {
                if database != self.database {
                    ZoneHeader::Foreign(database)
                } else if u64::from(zone_bytes) == self.zone_bytes {
                    ZoneHeader::Valid(number)
                } else {
                    ZoneHeader::Unknown
                }
            }
            Ok(Some((version, ..))) => ZoneHeader::Version(version),
            Ok(None) | Err(_) => ZoneHeader::Unknown,
        }
    }

    /// Appends a fragment to `buffer`, which becomes longer by [`Fragment::bytes`]; gives its
    /// checksum.
    pub(crate) fn encode<'p>(
        &self,
        fragment: &Fragment,
        payload: impl Iterator<Item = &'p [u8]>,
        buffer: &mut Vec<u8>,
    ) -> u64 {
        let start = buffer.len();
        buffer.extend_from_slice(&[0; 8]);
        buffer.extend_from_slice(&fragment.position.to_le_bytes());
        buffer.extend_from_slice(&fragment.commit.0.to_le_bytes());
        buffer.extend_from_slice(&fragment.before.to_le_bytes());
        buffer.extend_from_slice(&fragment.durable.to_le_bytes());
        buffer.extend_from_slice(&[0, 0, 0, 0, fragment.kind as u8, 0, 0, 0]);
        let payload_start = buffer.len();
        payload.for_each(|piece| buffer.extend_from_slice(piece));
        let length = u32::try_from(buffer.len() - payload_start).expect("a zone is below 4 GiB");
        buffer[payload_start - 8..payload_start - 4].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(self.place(fragment.position), &buffer[start + 8..]);
        buffer[start..start + 8].copy_from_slice(&sum.to_le_bytes());
        let padding = (buffer.len() - start).next_multiple_of(8) - (buffer.len() - start);
        buffer.extend_from_slice(&[0; 8][..padding]);
        sum
    }

    /// The intact fragment of `position` at the start of `bytes`, which end with the zone; its
    /// chain is the caller's to check.
    pub(crate) fn decode<'a>(&self, position: u64, bytes: &'a [u8]) -> Option<FoundFragment<'a>> {
        let mut reader = ByteReader::new(bytes);
        let (stored, found) = (reader.u64().ok()?, reader.u64().ok()?);
        if found != position {
            return None;
        }
        let (commit, before, durable) =
            (reader.u64().ok()?, reader.u64().ok()?, reader.u64().ok()?);
        let length = reader.u32().ok()? as usize;
        let kind = match reader.raw(4).ok()? {
            [1, 0, 0, 0] => Kind::Whole,
            [2, 0, 0, 0] => Kind::First,
            [3, 0, 0, 0] => Kind::Middle,
            [4, 0, 0, 0] => Kind::Last,
            _ => return None,
        };
        let payload = reader.raw(length).ok()?;
        let content = bytes.get(8..reader.offset())?;
        if checksum(self.place(position), content) != stored {
            return None;
        }
        let fragment = Fragment { position, commit: CommitNumber(commit), before, durable, kind };
        Some(FoundFragment { fragment, checksum: stored, payload })
    }

    fn place(&self, position: u64) -> u64 {
        position ^ checksum(0, &self.database.0)
    }
}

impl Fragment {
    /// Bytes that a fragment with so much payload takes.
    pub(crate) fn bytes(payload: usize) -> u64 {
        (FRAGMENT_HEADER_BYTES + payload as u64).next_multiple_of(FRAGMENT_ALIGNMENT_BYTES)
    }

    /// The kind of a fragment that is the first, the last, both or neither.
    pub(crate) fn kind(first: bool, last: bool) -> Kind {
        match (first, last) {
            (true, true) => Kind::Whole,
            (true, false) => Kind::First,
            (false, false) => Kind::Middle,
            (false, true) => Kind::Last,
        }
    }
}

type ZoneFields = (u32, u32, DatabaseId, u64);

fn decode_zone_header(bytes: &[u8]) -> Result<Option<ZoneFields>, DecodeError> {
    let mut reader = ByteReader::new(bytes);
    if reader.raw(8)? != MAGIC {
        return Ok(None);
    }
    let (version, zone_bytes) = (reader.u32()?, reader.u32()?);
    let (database, number) = (decode_database(&mut reader)?, reader.u64()?);
    reader.raw(16)?;
    let covered = reader.offset();
    let stored = reader.u64()?;
    let intact = bytes.get(..covered).is_some_and(|bytes| checksum(number, bytes) == stored);
    Ok(intact.then_some((version, zone_bytes, database, number)))
}

/// Any database's intact zone header: whose it is and how long its zones are.
pub(crate) fn peek_zone_header(bytes: &[u8]) -> Option<(LogShape, u64)> {
    let (_, zone_bytes, database, number) = decode_zone_header(bytes).ok()??;
    Some((LogShape { database, zone_bytes: u64::from(zone_bytes) }, number))
}

#[cfg(test)]
mod tests;

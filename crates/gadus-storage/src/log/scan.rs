//! Reading the log back: what is accepted, what is a torn end, and what is damage.
//!
//! - Accepts the chain of intact fragments from a checkpoint's position on, up to the last whole
//!   record.
//! - Stops at the first fragment that is not intact. If anything, before or after, proves that
//!   bytes beyond the accepted ones had been durable, the log is damaged; otherwise its end is
//!   torn, nobody was promised it, and it is cut.
//! - Reads only; allocates by the size of the file, never by a number found in it.

use super::format::{
    FRAGMENT_ALIGNMENT_BYTES, FRAGMENT_HEADER_BYTES, FoundFragment, Fragment, Kind, LogShape,
    ZONE_HEADER_BYTES, ZONE_HEADER_LENGTH, ZoneHeader,
};
use super::{LogRecord, RECORD_BYTES_MAX};
use crate::error::{ErrorKind, StorageError};
use gadus_base::{CommitNumber, LogPosition};
use gadus_block::Device;
use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;

/// Fragments begin at multiples of this.
const FRAGMENT_STEP: usize = 8;
const _: () = assert!(FRAGMENT_STEP as u64 == FRAGMENT_ALIGNMENT_BYTES);

/// Returns the position that a fragment would have that begins so.
fn stated_position(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?))
}

/// Where the accepted log begins, and what is known about it from elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogStart {
    pub(crate) position: LogPosition,
    pub(crate) chain: u64,
    pub(crate) durable: LogPosition,
    /// Zones with lower numbers may be reused.
    pub(crate) keep_from: LogPosition,
}

/// What the log holds.
#[derive(Debug)]
pub(crate) struct LogScan {
    pub(crate) records: Vec<LogRecord>,
    /// The commit of the last one.
    pub(crate) last_commit: Option<CommitNumber>,
    /// End of the last whole record, and the checksum of its last fragment.
    pub(crate) end: u64,
    pub(crate) chain: u64,
    /// Everything before is known to have been durable.
    pub(crate) proven: u64,
    pub(crate) zones: VecDeque<u64>,
    pub(crate) first_zone: u64,
    pub(crate) free: Vec<u64>,
    /// Places whose headers must be erased before their numbers are given again.
    pub(crate) stale: Vec<u64>,
    /// Offsets of intact fragments behind the end: they must not come back.
    pub(crate) abandoned: Vec<u64>,
    pub(crate) places: u64,
}

impl LogStart {
    /// Takes in a position that is known to have been durable from elsewhere.
    pub(crate) fn raise_durable(&mut self, durable: Option<LogPosition>) {
        self.durable = self.durable.max(durable.unwrap_or(self.durable));
    }
}

struct Scanner<'a> {
    device: &'a dyn Device,
    described: &'a str,
    shape: LogShape,
    places: u64,
    by_number: BTreeMap<u64, u64>,
    /// The last zone read.
    loaded: Option<(u64, Vec<u8>)>,
}

/// A record whose last fragment has not come yet.
struct OpenRecord {
    commit: CommitNumber,
    payload: Vec<u8>,
}

/// Reads the log of a database.
pub(crate) fn scan(
    device: &dyn Device,
    described: &str,
    shape: LogShape,
    start: LogStart,
) -> Result<LogScan, StorageError> {
    let places = device.length()? / shape.zone_bytes;
    let mut scanner =
        Scanner { device, described, shape, places, by_number: BTreeMap::new(), loaded: None };
    scanner.read_headers()?;
    let first = shape.zone_of(start.position.0.saturating_sub(1));
    if !scanner.by_number.contains_key(&first) {
        return Err(scanner.missing(first));
    }
    let (mut scan, stopped_at) = scanner.accept(start)?;
    scanner.refuse_misplaced(&scan)?;
    let claimed = scanner.look_behind(&mut scan)?.max(scan.proven);
    if claimed > scan.end {
        let offset = scanner.offset_of(stopped_at);
        let message = format!(
            "the log is damaged at {}, although everything before {} had been durable: \
             acknowledged commits after it cannot be recovered; restore a copy",
            LogPosition(stopped_at),
            LogPosition(claimed),
        );
        return Err(StorageError::corrupt(described, offset, message));
    }
    scanner.assign_places(start, &mut scan);
    Ok(scan)
}

impl Scanner<'_> {
    fn read_headers(&mut self) -> Result<(), StorageError> {
        let mut foreign = None;
        for place in 0..self.places {
            let offset = place * self.shape.zone_bytes;
            let mut bytes = [0; ZONE_HEADER_LENGTH];
            self.device.read_at(offset, &mut bytes)?;
            match self.shape.decode_zone_header(&bytes) {
                ZoneHeader::Valid(number) if number < u64::MAX / self.shape.zone_bytes => {
                    if self.by_number.insert(number, place).is_some() {
                        let message = "two zones of the log have the same number";
                        return Err(StorageError::corrupt(self.described, offset, message));
                    }
                }
                ZoneHeader::Foreign(database) => foreign = Some(database),
                ZoneHeader::Version(version) => {
                    let message = format!("the log has format {version}, unknown here; upgrade");
                    return Err(StorageError::new(ErrorKind::Version, self.described, message));
                }
                ZoneHeader::Valid(_) | ZoneHeader::Unknown => {}
            }
        }
        let Some(database) = foreign else { return Ok(()) };
        let message = format!(
            "the log belongs to database {database}, the data file is {}; put the right log beside \
             the data file",
            self.shape.database
        );
        Err(StorageError::new(ErrorKind::Foreign, self.described, message))
    }

    fn missing(&self, zone: u64) -> StorageError {
        let message = format!(
            "the log has no part for {}, which the data file needs: acknowledged commits may be \
             missing; put the right log beside the data file",
            LogPosition(zone * self.shape.zone_bytes)
        );
        StorageError::corrupt(self.described, 0, message)
    }

    /// The intact fragment at a position, if there is one.
    fn fragment(&mut self, position: u64) -> Result<Option<FoundFragment<'_>>, StorageError> {
        let zone = self.shape.zone_of(position);
        let Some(bytes) = self.zone(zone)? else { return Ok(None) };
        let within = position - zone * bytes.1.zone_bytes;
        let rest = usize::try_from(within).ok().and_then(|within| bytes.0.get(within..));
        Ok(rest.and_then(|rest| bytes.1.decode(position, rest)))
    }

    fn zone(&mut self, zone: u64) -> Result<Option<(&[u8], LogShape)>, StorageError> {
        let Some(place) = self.by_number.get(&zone) else { return Ok(None) };
        let current = self.loaded.take().filter(|(loaded, _)| *loaded == zone);
        let bytes = match current {
            Some((_, bytes)) => bytes,
            None => {
                let length = usize::try_from(self.shape.zone_bytes).expect("below 4 GiB");
                let mut bytes = vec![0; length];
                self.device.read_at(place * self.shape.zone_bytes, &mut bytes)?;
                bytes
            }
        };
        let (_, bytes) = self.loaded.insert((zone, bytes));
        Ok(Some((bytes, self.shape)))
    }

    /// Follows the chain; gives the position of the first fragment that is not accepted, too.
    fn accept(&mut self, start: LogStart) -> Result<(LogScan, u64), StorageError> {
        let mut scan = LogScan {
            records: Vec::new(),
            last_commit: None,
            end: start.position.0,
            chain: start.chain,
            proven: start.durable.0,
            zones: VecDeque::new(),
            first_zone: 0,
            free: Vec::new(),
            stale: Vec::new(),
            abandoned: Vec::new(),
            places: self.places,
        };
        let (mut end, mut chain) = (start.position.0, start.chain);
        let mut open: Option<OpenRecord> = None;
        let shape = self.shape;
        loop {
            let position = shape.fragment_start(end);
            let Some(found) = self.fragment(position)? else { return Ok((scan, position)) };
            let Fragment { commit, before, durable, kind, .. } = found.fragment;
            let begins = matches!(kind, Kind::Whole | Kind::First);
            let same_record = open.as_ref().is_none_or(|open| open.commit == commit);
            if before != chain || begins != open.is_none() || !same_record {
                return Ok((scan, position));
            }
            let record = open.get_or_insert(OpenRecord { commit, payload: Vec::new() });
            if record.payload.len() + found.payload.len() > RECORD_BYTES_MAX {
                return Ok((scan, position));
            }
            record.payload.extend_from_slice(found.payload);
            end = position + Fragment::bytes(found.payload.len());
            chain = found.checksum;
            scan.proven = scan.proven.max(durable);
            if matches!(kind, Kind::Whole | Kind::Last)
                && let Some(OpenRecord { commit, payload }) = open.take()
            {
                scan.last_commit = Some(commit);
                let (payload, position) = (payload.into(), LogPosition(end));
                scan.records.push(LogRecord { commit, payload, position, chain });
                (scan.end, scan.chain) = (end, chain);
            }
        }
    }

    /// Notes every intact fragment behind the accepted end; gives the highest position that one of
    /// them claims to be durable.
    fn look_behind(&mut self, scan: &mut LogScan) -> Result<u64, StorageError> {
        let shape = self.shape;
        let position = shape.fragment_start(scan.end);
        let first = shape.zone_of(position);
        let zones: Vec<u64> = self.by_number.range(first..).map(|(number, _)| *number).collect();
        let mut claim = 0;
        for zone in zones {
            let zone_start = zone * shape.zone_bytes;
            let mut at = position.max(zone_start + ZONE_HEADER_BYTES);
            let Some(place) = self.by_number.get(&zone).copied() else { continue };
            let Some((bytes, _)) = self.zone(zone)? else { continue };
            while at + FRAGMENT_HEADER_BYTES <= zone_start + shape.zone_bytes {
                let within = usize::try_from(at - zone_start).expect("within a zone");
                match bytes.get(within..).and_then(|rest| shape.decode(at, rest)) {
                    Some(found) => {
                        scan.abandoned.push(place * shape.zone_bytes + (at - zone_start));
                        claim = claim.max(found.fragment.durable);
                        at += Fragment::bytes(found.payload.len());
                    }
                    None => at += FRAGMENT_ALIGNMENT_BYTES,
                }
            }
        }
        Ok(claim)
    }

    /// Refuses a log that holds intact records after the accepted end at places that cannot be theirs: bytes were
    /// inserted before them, or are missing there. A crash may lose a zone's header, not move a record within its
    /// zone.
    fn refuse_misplaced(&mut self, scan: &LogScan) -> Result<(), StorageError> {
        let shape = self.shape;
        let first = shape.zone_of(shape.fragment_start(scan.end));
        let known = self.by_number.iter().map(|(number, place)| (*place, *number));
        let known = known.collect::<BTreeMap<_, _>>();
        let most = scan.end.saturating_add((self.places + 1).saturating_mul(shape.zone_bytes));
        let file_bytes = self.device.length()?;
        for place in 0..file_bytes.div_ceil(shape.zone_bytes) {
            let number = known.get(&place).copied();
            if number.is_some_and(|number| number < first) {
                continue;
            }
            let start = place * shape.zone_bytes;
            let length = shape.zone_bytes.min(file_bytes - start);
            let mut bytes = vec![0; usize::try_from(length).expect("at most a zone")];
            self.device.read_at(start, &mut bytes)?;
            for at in (0..bytes.len()).step_by(FRAGMENT_STEP) {
                let Some(rest) = bytes.get(at..) else { break };
                let Some(position) = stated_position(rest) else { break };
                let is_later = (scan.end..most).contains(&position);
                let is_moved = shape.within(position) != at as u64;
                if is_later && is_moved && shape.decode(position, rest).is_some() {
                    let message = format!(
                        "the log holds a record of {} at the wrong place: bytes were inserted or are missing before \
                         it, and acknowledged commits after {} cannot be recovered; restore a copy",
                        LogPosition(position),
                        LogPosition(scan.end)
                    );
                    return Err(StorageError::corrupt(self.described, start + at as u64, message));
                }
            }
        }
        Ok(())
    }

    /// Where a log position lies in the file; the end when its zone is not there.
    fn offset_of(&self, position: u64) -> u64 {
        let zone = self.shape.zone_of(position);
        let place = self.by_number.get(&zone).copied().unwrap_or(self.places);
        place * self.shape.zone_bytes + self.shape.within(position)
    }

    /// Decides which zones keep their numbers: an unbroken run around the accepted part.
    fn assign_places(&self, start: LogStart, scan: &mut LogScan) {
        let shape = self.shape;
        let in_use = shape.zone_of(start.position.0.saturating_sub(1));
        let lowest = shape.zone_of(start.keep_from.0.saturating_sub(1)).min(in_use);
        scan.first_zone = in_use;
        while scan.first_zone > lowest && self.by_number.contains_key(&(scan.first_zone - 1)) {
            scan.first_zone -= 1;
        }
        let mut next = scan.first_zone;
        while let Some(place) = self.by_number.get(&next) {
            scan.zones.push_back(*place);
            next += 1;
        }
        scan.stale = self.by_number.range(next..).map(|(_, place)| *place).collect();
        let mut taken: Vec<u64> = scan.zones.iter().copied().collect();
        taken.sort_unstable();
        let free = (0..self.places).rev().filter(|place| taken.binary_search(place).is_err());
        scan.free = free.collect();
    }
}

/// Writes again, with the same bytes, what was accepted but is not proven durable, and erases
/// zones that would claim numbers again and fragments behind the end; then syncs.
///
/// The process that wrote the bytes may have consumed the error of their sync and died: the cache
/// then shows bytes that the medium does not have, and nobody would ever write them again.
/// Fragments behind the end follow a record that was lost. Were the same record appended again, bit
/// for bit, they would continue it at the next recovery, and commits that had been found absent
/// would appear.
pub(crate) fn make_durable(
    device: &dyn Device,
    shape: LogShape,
    scan: &LogScan,
) -> Result<(), StorageError> {
    if scan.proven >= scan.end && scan.stale.is_empty() && scan.abandoned.is_empty() {
        return Ok(());
    }
    for offset in &scan.abandoned {
        device.write_at(*offset, &[IoSlice::new(&[0; 8])])?;
    }
    for place in &scan.stale {
        let blank = [0; ZONE_HEADER_LENGTH];
        device.write_at(place * shape.zone_bytes, &[IoSlice::new(&blank)])?;
    }
    let mut from = scan.proven;
    while from < scan.end {
        let zone = shape.zone_of(from);
        let zone_start = zone * shape.zone_bytes;
        let to = scan.end.min(zone_start + shape.zone_bytes);
        let index = usize::try_from(zone - scan.first_zone).expect("zones fit memory");
        let offset = scan.zones[index] * shape.zone_bytes + shape.within(from);
        let mut bytes = vec![0; usize::try_from(to - from).expect("at most a zone")];
        device.read_at(offset, &mut bytes)?;
        device.write_at(offset, &[IoSlice::new(&bytes)])?;
        from = to;
    }
    device.sync()?;
    Ok(())
}

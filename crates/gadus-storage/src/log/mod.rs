//! The log: appending records, reusing zones.
//!
//! - One inode, reused in place and never shortened: a zone is zeroed and synced once, when the
//!   file grows, so that later syncs of appended bytes need no change of the file's metadata.
//! - Bytes past the published end do not exist: an append that failed half way is overwritten by
//!   the next one.
//! - A zone keeps its number from when it is taken until it is recycled, also when the append that
//!   took it fails: two zones never carry the same number.
//! - Running out of space fails that append only, where it is written at once; any other failure
//!   to write poisons.

pub(crate) mod format;
pub(crate) mod scan;
pub(crate) mod tail;

use crate::error::{ErrorKind, StorageError};
use crate::group_commit::GroupCommit;
use crate::poison::Poison;
use format::{Fragment, Kind, LogShape, ZONE_HEADER_BYTES};
use gadus_base::{CommitNumber, LogPosition};
use gadus_block::Device;
use parking_lot::Mutex;
use scan::LogScan;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;
use tail::Tail;

/// A record larger than this would hold the commit lock for longer than anyone waits.
pub(crate) const RECORD_BYTES_MAX: usize = 1 << 30;

/// The file grows by a quarter, so that few commits pay for it, but never by more zones than this.
const GROWTH_ZONES_MAX: u64 = 16;

/// A record read back from the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// The commit it was appended with.
    pub commit: CommitNumber,
    /// What was appended.
    pub payload: Vec<u8>,
    /// The end of the record, as [`crate::Store::append`] returned it.
    pub position: LogPosition,
}

/// The log of one database, open for appending.
#[derive(Debug)]
pub(crate) struct Log {
    device: Arc<dyn Device>,
    described: String,
    shape: LogShape,
    poison: Arc<Poison>,
    pub(crate) group: GroupCommit,
    tail: Arc<Tail>,
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    end: u64,
    /// Checksum of the fragment that ends at `end`.
    chain: u64,
    /// Places in the file of the zones from number `first_zone` on.
    zones: VecDeque<u64>,
    first_zone: u64,
    free: Vec<u64>,
    places: u64,
    buffer: Vec<u8>,
}

impl Log {
    /// Continues after what a scan found.
    pub(crate) fn new(
        device: Arc<dyn Device>,
        described: String,
        shape: LogShape,
        poison: Arc<Poison>,
        scan: LogScan,
        durable: u64,
    ) -> Self {
        let tail = Arc::new(Tail::new(Arc::clone(&device), Arc::clone(&poison)));
        let group = GroupCommit::new(Arc::clone(&tail), Arc::clone(&poison), scan.end, durable);
        let writer = Writer {
            end: scan.end,
            chain: scan.chain,
            zones: scan.zones,
            first_zone: scan.first_zone,
            free: scan.free,
            places: scan.places,
            buffer: Vec::new(),
        };
        Self { device, described, shape, poison, group, tail, writer: Mutex::new(writer) }
    }

    /// Puts a record behind the last one; gives its end. The record is written when this returns,
    /// unless its caller will wait for a sync: then it may be left to the next sync.
    pub(crate) fn append(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
        will_wait: bool,
    ) -> Result<LogPosition, StorageError> {
        let payload_bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        if payload_bytes > RECORD_BYTES_MAX {
            let message = format!(
                "a record of {payload_bytes} bytes is above the limit of {RECORD_BYTES_MAX}; \
                 commit in smaller steps"
            );
            return Err(StorageError::new(ErrorKind::Limit, &self.described, message));
        }
        let mut writer = self.writer.lock();
        self.poison.check()?;
        let start = self.shape.fragment_start(writer.end);
        let gather = will_wait && self.group.is_syncing();
        let written = if payload_bytes <= self.shape.room_at(start) {
            self.put_fragments(&mut writer, commit, pieces, payload_bytes, gather)
        } else {
            let whole = pieces.iter().map(|piece| &**piece).collect::<Vec<_>>().concat();
            let whole = [IoSlice::new(&whole)];
            self.put_fragments(&mut writer, commit, &whole, payload_bytes, gather)
        };
        let (end, chain) = match written {
            Ok(written) => written,
            Err(error) if error.kind == ErrorKind::NoSpace => {
                self.erase(&writer, start);
                return Err(error);
            }
            Err(error) => return Err(self.poison.set(error)),
        };
        (writer.end, writer.chain) = (end, chain);
        self.group.publish(end);
        Ok(LogPosition(end))
    }

    /// Cuts a record into fragments and writes or gathers each; `pieces` is one piece, or fits one fragment.
    fn put_fragments(
        &self,
        writer: &mut Writer,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
        payload_bytes: usize,
        gather: bool,
    ) -> Result<(u64, u64), StorageError> {
        let durable = self.group.durable().0;
        let (mut end, mut before, mut done) = (writer.end, writer.chain, 0);
        loop {
            let position = self.shape.fragment_start(end);
            let count = self.shape.room_at(position).min(payload_bytes - done);
            let last = done + count == payload_bytes;
            let kind = Fragment::kind(done == 0, last);
            let fragment = Fragment { position, commit, before, durable, kind };
            let parts = pieces.iter().map(|piece| match pieces.len() {
                1 => piece.get(done..done + count).expect("the rest of the one piece"),
                _ => &**piece,
            });
            let zone = self.shape.zone_of(position);
            let place = self.place_of(writer, zone)?;
            let mut within = self.shape.within(position);
            writer.buffer.clear();
            if within == ZONE_HEADER_BYTES {
                // The first fragment brings the header along; both are covered by the same sync.
                writer.buffer.extend_from_slice(&self.shape.zone_header(zone));
                within = 0;
            }
            before = self.shape.encode(&fragment, parts, &mut writer.buffer);
            let offset = place * self.shape.zone_bytes + within;
            if gather {
                self.tail.gather(offset, &writer.buffer)?;
            } else {
                self.tail.write(offset, &writer.buffer)?;
            }
            end = position + Fragment::bytes(count);
            done += count;
            if last {
                return Ok((end, before));
            }
        }
    }

    /// Destroys the first fragment of a failed record, in case all of it was written and only its
    /// success was not told: a record that failed must not come back by a crash. Best effort, as
    /// the disk is full; that it is needed at all takes a device that reports a whole write as
    /// failed.
    fn erase(&self, writer: &Writer, start: u64) {
        // Parts of the record may be gathered; a failure to write them has poisoned.
        let _ = self.tail.flush();
        let index = usize::try_from(self.shape.zone_of(start) - writer.first_zone);
        if let Some(place) = index.ok().and_then(|index| writer.zones.get(index)) {
            let offset = place * self.shape.zone_bytes + self.shape.within(start);
            let _ = self.device.write_at(offset, &[IoSlice::new(&[0; 8])]);
        }
    }

    /// Where a zone lies in the file; takes or makes a place when it has none.
    fn place_of(&self, writer: &mut Writer, zone: u64) -> Result<u64, StorageError> {
        let index = usize::try_from(zone - writer.first_zone).expect("zones fit memory");
        while writer.zones.len() <= index {
            if writer.free.is_empty() {
                self.grow(writer)?;
            }
            writer.zones.extend(writer.free.pop());
        }
        Ok(writer.zones[index])
    }

    /// Adds zeroed, synced zones; only one when there is no space for more.
    fn grow(&self, writer: &mut Writer) -> Result<(), StorageError> {
        let wanted = (writer.places / 4).clamp(1, GROWTH_ZONES_MAX);
        let mut count = wanted;
        if let Err(error) = self.write_zeros(writer.places, wanted) {
            if error.kind != ErrorKind::NoSpace || wanted == 1 {
                return Err(error);
            }
            count = 1;
            self.write_zeros(writer.places, 1)?;
        }
        // Unlike a write, a sync that fails for want of space has lost bytes of others, too.
        self.device.sync().map_err(|error| self.poison.set(error.into()))?;
        // Popped from the back: the lowest place first, so that the file is used front to back.
        writer.free.extend((writer.places..writer.places + count).rev());
        writer.places += count;
        Ok(())
    }

    fn write_zeros(&self, first_place: u64, count: u64) -> Result<(), StorageError> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let count_each = usize::try_from(self.shape.zone_bytes / 4096);
        let pieces = vec![IoSlice::new(&ZEROS); count_each.expect("a zone is below 4 GiB")];
        for place in first_place..first_place + count {
            self.device.write_at(place * self.shape.zone_bytes, &pieces)?;
        }
        Ok(())
    }

    /// Checksum of the fragment that ends at `position`, which must be the end of a record.
    pub(crate) fn chain_at(&self, position: LogPosition) -> Result<Option<u64>, StorageError> {
        let zone = self.shape.zone_of(position.0.saturating_sub(1));
        let place = {
            let writer = self.writer.lock();
            if writer.end == position.0 {
                return Ok(Some(writer.chain));
            }
            let index = zone.checked_sub(writer.first_zone).and_then(|i| usize::try_from(i).ok());
            match index.and_then(|index| writer.zones.get(index)) {
                Some(place) if position.0 < writer.end => *place,
                _ => return Ok(None),
            }
        };
        self.tail.flush()?;
        let length = usize::try_from(position.0 - zone * self.shape.zone_bytes);
        let mut bytes = vec![0; length.expect("at most a zone")];
        self.device.read_at(place * self.shape.zone_bytes, &mut bytes)?;
        let mut at = zone * self.shape.zone_bytes + ZONE_HEADER_BYTES;
        while at < position.0 {
            let within = usize::try_from(self.shape.within(at)).expect("at most a zone");
            let found = bytes.get(within..).and_then(|bytes| self.shape.decode(at, bytes));
            let Some(found) = found else { return Ok(None) };
            at += Fragment::bytes(found.payload.len());
            if at == position.0 {
                let ends_record = matches!(found.fragment.kind, Kind::Whole | Kind::Last);
                return Ok(ends_record.then_some(found.checksum));
            }
        }
        Ok(None)
    }

    /// Gives back the zones that lie before the one with the byte before `position`: that one is
    /// kept, to prove at recovery that the log's part from there on is present.
    pub(crate) fn recycle_before(&self, position: LogPosition) {
        let keep = self.shape.zone_of(position.0.saturating_sub(1));
        let writer = &mut *self.writer.lock();
        while writer.first_zone < keep
            && let Some(place) = writer.zones.pop_front()
        {
            writer.free.push(place);
            writer.first_zone += 1;
        }
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.writer.lock().places * self.shape.zone_bytes
    }
}

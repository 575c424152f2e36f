//! Reading records that were appended since: catching up, and finding a record's end.
//!
//! - Reads the ring where it still holds the bytes, the file otherwise. The caller pins the log from
//!   where it reads, or has found that it is not recycled after pinning it.

use super::format::{FRAGMENT_HEADER_LENGTH, Fragment, Kind, ZONE_HEADER_BYTES};
use super::payload::Payload;
use super::state::LogEnd;
use super::{Log, LogRecord};
use crate::error::StorageError;
use gadus_base::LogPosition;
use std::sync::Arc;

impl Log {
    /// The records from `from`, an end that was published, up to the last one now, and their end.
    pub(crate) fn records_after(
        &self,
        from: LogEnd,
    ) -> Result<(Vec<LogRecord>, LogEnd), StorageError> {
        let to = self.end();
        let mut records = Vec::new();
        if to.position == from.position {
            return Ok((records, from));
        }
        let bytes = Arc::new(self.bytes(from.position, to.position)?);
        let (mut end, mut chain) = (from.position, from.chain);
        // Of a record in several fragments.
        let mut gathered = Vec::new();
        while end < to.position {
            let position = self.file.shape.fragment_start(end);
            let zone_end = (self.file.shape.zone_of(position) + 1) * self.file.shape.zone_bytes;
            let start = usize::try_from(position - from.position).expect("within the bytes");
            let stop = usize::try_from(zone_end.min(to.position) - from.position);
            let piece = bytes.get(start..stop.expect("within the bytes"));
            let found = piece.and_then(|piece| self.file.shape.decode(position, piece));
            let Some(found) = found.filter(|found| found.fragment.before == chain) else {
                let message = format!("a record that was appended at {} is gone", LogPosition(end));
                return Err(StorageError::corrupt(&self.file.described, position, message));
            };
            let payload = match found.fragment.kind {
                Kind::Whole => {
                    let start = start + FRAGMENT_HEADER_LENGTH;
                    Some(Payload::within(&bytes, start..start + found.payload.len()))
                }
                kind => {
                    gathered.extend_from_slice(found.payload);
                    (kind == Kind::Last).then(|| std::mem::take(&mut gathered).into())
                }
            };
            end = position + Fragment::bytes(found.payload.len());
            chain = found.checksum;
            if let Some(payload) = payload {
                let commit = found.fragment.commit;
                records.push(LogRecord { commit, payload, position: LogPosition(end), chain });
            }
        }
        Ok((records, to))
    }

    /// The log's bytes between two positions; those of no record are zeros.
    fn bytes(&self, from: u64, to: u64) -> Result<Vec<u8>, StorageError> {
        let mut bytes = Vec::new();
        if self.state().copy(from, to, &mut bytes) {
            return Ok(bytes);
        }
        self.flush.to(to)?;
        bytes.clear();
        let mut at = from;
        while at < to {
            let zone = self.file.shape.zone_of(at);
            let stop = to.min((zone + 1) * self.file.shape.zone_bytes);
            let start = bytes.len();
            bytes.resize(start + usize::try_from(stop - at).expect("at most a zone"), 0);
            self.file.read(zone, at, &mut bytes[start..])?;
            at = stop;
        }
        Ok(bytes)
    }

    /// Checksum of the fragment that ends at `position`, which must be the end of a record.
    pub(crate) fn chain_at(&self, position: LogPosition) -> Result<Option<u64>, StorageError> {
        let end = self.end();
        if end.position == position.0 {
            return Ok(Some(end.chain));
        }
        let zone = self.file.shape.zone_of(position.0.saturating_sub(1));
        if position.0 > end.position || self.file.find(zone).is_none() {
            return Ok(None);
        }
        let zone_start = zone * self.file.shape.zone_bytes;
        let bytes = self.bytes(zone_start, position.0)?;
        let mut at = zone_start + ZONE_HEADER_BYTES;
        while at < position.0 {
            let within = usize::try_from(at - zone_start).expect("at most a zone");
            let found = bytes.get(within..).and_then(|bytes| self.file.shape.decode(at, bytes));
            let Some(found) = found else { return Ok(None) };
            at += Fragment::bytes(found.payload.len());
            if at == position.0 {
                let ends_record = matches!(found.fragment.kind, Kind::Whole | Kind::Last);
                return Ok(ends_record.then_some(found.checksum));
            }
        }
        Ok(None)
    }
}

//! The tail of the log: records that are appended and not written yet.
//!
//! - While a sync runs, no later record can be durable before the next one: such records gather
//!   here, and the leader of the next sync writes them at once.
//! - Who has flushed knows that everything gathered before is written, also by others: one flush
//!   runs at a time, and takes what it writes only once it does.
//! - A write that fails here has failed several records, on which others may rest: it poisons.

use crate::error::StorageError;
use crate::poison::Poison;
use gadus_block::Device;
use parking_lot::Mutex;
use std::io::IoSlice;
use std::sync::Arc;

/// Beyond this, gathering saves no system call that counts; it bounds the memory.
const GATHERED_BYTES_MAX: usize = 1 << 20;

/// What is to be written behind the file's records.
#[derive(Debug)]
pub(crate) struct Tail {
    device: Arc<dyn Device>,
    poison: Arc<Poison>,
    gathered: Mutex<Gathered>,
    /// Held while gathered bytes are written; keeps the buffer of the last write for the next.
    writing: Mutex<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Gathered {
    offset: u64,
    bytes: Vec<u8>,
}

impl Tail {
    pub(crate) fn new(device: Arc<dyn Device>, poison: Arc<Poison>) -> Self {
        Self { device, poison, gathered: Mutex::default(), writing: Mutex::default() }
    }

    /// Writes bytes, and what was gathered before them. A failure of these bytes alone poisons
    /// nothing.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), StorageError> {
        self.flush()?;
        Ok(self.device.write_at(offset, &[IoSlice::new(bytes)])?)
    }

    /// Keeps bytes until the next flush. Callers take turns, as appending does.
    pub(super) fn gather(&self, offset: u64, bytes: &[u8]) -> Result<(), StorageError> {
        {
            let mut gathered = self.gathered.lock();
            if gathered.takes(offset, bytes.len()) {
                gathered.bytes.extend_from_slice(bytes);
                return Ok(());
            }
        }
        self.flush()?;
        *self.gathered.lock() = Gathered { offset, bytes: bytes.to_vec() };
        Ok(())
    }

    /// Writes all that was gathered before this call.
    pub(crate) fn flush(&self) -> Result<(), StorageError> {
        let mut bytes = self.writing.lock();
        self.poison.check()?;
        bytes.clear();
        let offset = {
            let mut gathered = self.gathered.lock();
            std::mem::swap(&mut gathered.bytes, &mut bytes);
            gathered.offset
        };
        if bytes.is_empty() {
            return Ok(());
        }
        let written = self.device.write_at(offset, &[IoSlice::new(&bytes)]);
        written.map_err(|error| self.poison.set(error.into()))
    }

    /// Writes and syncs all that was gathered before this call.
    pub(crate) fn sync(&self) -> Result<(), StorageError> {
        self.flush()?;
        self.device.sync().map_err(|error| self.poison.set(error.into()))
    }
}

impl Gathered {
    /// Whether bytes at `offset` continue what is here, and have room.
    fn takes(&mut self, offset: u64, count: usize) -> bool {
        if self.bytes.is_empty() {
            self.offset = offset;
        }
        self.offset + self.bytes.len() as u64 == offset
            && self.bytes.len() + count <= GATHERED_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadus_block::{Folder, MemoryFolder, OpenMode};

    fn tail() -> (Arc<dyn Device>, Tail) {
        let device = MemoryFolder::new().open("log", OpenMode::Create).unwrap();
        (device.clone(), Tail::new(device, Arc::new(Poison::default())))
    }

    fn read(device: &Arc<dyn Device>, offset: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        device.read_at(offset, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn gathered_bytes_are_written_by_the_flush_and_in_one_piece() {
        let (device, tail) = tail();
        device.write_at(0, &[IoSlice::new(&[0; 8])]).unwrap();
        tail.gather(2, b"ab").unwrap();
        tail.gather(4, b"cd").unwrap();
        assert_eq!(read(&device, 0, 8), [0; 8]);
        tail.flush().unwrap();
        assert_eq!(read(&device, 0, 8), b"\0\0abcd\0\0");
        tail.flush().unwrap();
        assert_eq!(read(&device, 0, 8), b"\0\0abcd\0\0");
    }

    #[test]
    fn bytes_elsewhere_or_too_many_go_out_before_those_that_come() {
        let (device, tail) = tail();
        let half = vec![1; GATHERED_BYTES_MAX / 2 + 1];
        tail.gather(0, &half).unwrap();
        tail.gather(half.len() as u64, &half).unwrap();
        assert_eq!(read(&device, 0, half.len()), half);
        tail.gather(4 << 20, b"z").unwrap();
        assert_eq!(read(&device, half.len() as u64, half.len()), half);
        tail.write((4 << 20) + 1, b"y").unwrap();
        assert_eq!(read(&device, 4 << 20, 2), b"zy");
    }
}

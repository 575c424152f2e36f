//! The least that any durable commit costs: one write and one fdatasync, in a loop.
//!
//! - Into a file that was written and synced before, so that no sync has metadata to write.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use gadus_base::clock;

use crate::failure::Failure;

/// Bytes of one write: about what a log record of a small row takes.
const RECORD_BYTES: usize = 128;
/// Bytes of the file that is written round and round.
const FILE_BYTES: usize = 16 << 20;

/// A prepared file.
#[derive(Debug)]
pub(in super::super) struct Bare {
    file: File,
    offset: u64,
}

impl Bare {
    pub(in super::super) fn create(path: &Path) -> Result<Self, Failure> {
        let mut file = File::create(path)?;
        file.write_all(&vec![0; FILE_BYTES])?;
        file.sync_all()?;
        Ok(Self { file, offset: 0 })
    }

    /// Commits for as long as told; returns commits a second.
    pub(in super::super) fn commit(&mut self, time: Duration) -> Result<f64, Failure> {
        let started = clock().now();
        let mut commits = 0_u32;
        while started.elapsed() < time {
            self.write_and_sync()?;
            commits += 1;
        }
        Ok(f64::from(commits) / started.elapsed().as_secs_f64())
    }

    /// One commit.
    pub(in super::super) fn write_and_sync(&mut self) -> Result<(), Failure> {
        self.file.write_all_at(&[1; RECORD_BYTES], self.offset)?;
        self.file.sync_data()?;
        self.offset = (self.offset + RECORD_BYTES as u64) % FILE_BYTES as u64;
        Ok(())
    }
}

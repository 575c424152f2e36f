//! A spinning disk, modelled: what reading the extents of a file would take on one.
//!
//! - Seek time grows with the square root of the distance up to a third of the disk, as it does on real ones, and a
//!   half turn is waited for after every seek; a gap shorter than what passes under the head meanwhile is read over.

use crate::system::Extent;
use std::fmt;
use std::time::Duration;

/// A disk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk {
    /// Turns in a minute.
    turns: u32,
    /// To the next track.
    seek_least: Duration,
    /// Over a third of the disk: what data sheets call the average.
    seek_usual: Duration,
    bytes: u64,
    bytes_per_second: f64,
}

impl Disk {
    /// A disk as data sheets of 4 TB ones with 7,200 turns have it.
    pub(super) const USUAL: Self = Self {
        turns: 7_200,
        seek_least: Duration::from_micros(800),
        seek_usual: Duration::from_micros(8_500),
        bytes: 4_000_000_000_000,
        bytes_per_second: 180e6,
    };

    /// What it takes to read extents one after the other, from a head that is at the first.
    pub(super) fn replay(&self, extents: &[Extent]) -> Duration {
        let mut time = self.half_turn();
        let mut at = extents.first().map_or(0, |first| first.physical);
        for extent in extents {
            if extent.physical != at {
                let distance = extent.physical.abs_diff(at);
                let over = self.transfer(distance);
                let seek = self.seek(distance) + self.half_turn();
                let is_ahead = extent.physical > at;
                time += if is_ahead { seek.min(over) } else { seek };
            }
            time += self.transfer(extent.bytes);
            at = extent.physical + extent.bytes;
        }
        time
    }

    fn half_turn(&self) -> Duration {
        Duration::from_secs(60) / self.turns / 2
    }

    fn transfer(&self, bytes: u64) -> Duration {
        Duration::from_secs_f64(crate::numbers::figure(bytes) / self.bytes_per_second)
    }

    fn seek(&self, distance: u64) -> Duration {
        let third = crate::numbers::figure(self.bytes) / 3.0;
        let share = (crate::numbers::figure(distance) / third).min(1.0).sqrt();
        self.seek_least + (self.seek_usual - self.seek_least).mul_f64(share)
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (usual, rate) = (self.seek_usual.as_secs_f64() * 1e3, self.bytes_per_second / 1e6);
        write!(f, "a disk of {} turns, {usual} ms to seek and {rate} MB/s", self.turns)
    }
}

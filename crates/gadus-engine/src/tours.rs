//! Scans of one table that run at the same time go round it together.
//!
//! - Who begins while others are under way begins at the segment that they are at, and goes round: what
//!   one of them has had read from the disk, the others find in the cache. Many scans of a table that is
//!   larger than the cache then read it as often as one, not as often as there are scans.
//! - Who is alone begins at the first segment.

use gadus_base::{SegmentId, TableId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The tours of all tables of a database.
#[derive(Debug, Default)]
pub(crate) struct Tours {
    tables: Mutex<HashMap<TableId, Weak<Tour>>>,
    scans: AtomicU64,
    joined: AtomicU64,
    nanoseconds: AtomicU64,
}

/// Where those are who go round a table.
#[derive(Debug, Default)]
struct Tour {
    seats: AtomicUsize,
    /// The segment that was begun last.
    at: AtomicU32,
}

/// One who goes round a table, until this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    tour: Arc<Tour>,
    /// The place of the segment that he began at.
    first: usize,
}

/// What scans of plans have done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TourStatistics {
    pub(crate) scans: u64,
    /// Those that began where others were.
    pub(crate) joined: u64,
    /// Processor time of their threads.
    pub(crate) time: Duration,
}

impl Tours {
    /// Begins to go round a table's segments, which `place_of` finds: the first from an id on.
    pub(crate) fn begin(&self, table: TableId, place_of: impl FnOnce(SegmentId) -> usize) -> Seat {
        let tour = {
            let mut tables = self.tables.lock();
            tables.retain(|_, tour| tour.strong_count() > 0);
            let known = tables.get(&table).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let tour = Arc::<Tour>::default();
                tables.insert(table, Arc::downgrade(&tour));
                tour
            })
        };
        let mut first = 0;
        if tour.seats.fetch_add(1, Ordering::Relaxed) > 0 {
            first = place_of(SegmentId(tour.at.load(Ordering::Relaxed)));
        }
        Seat { tour, first }
    }

    /// Counts a plan's scan that began.
    pub(crate) fn note_scan(&self, seat: &Seat) {
        self.scans.fetch_add(1, Ordering::Relaxed);
        self.joined.fetch_add(u64::from(seat.first > 0), Ordering::Relaxed);
    }

    /// Counts processor time that a plan's scan took of a thread.
    pub(crate) fn note_time(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(crate) fn statistics(&self) -> TourStatistics {
        TourStatistics {
            scans: self.scans.load(Ordering::Relaxed),
            joined: self.joined.load(Ordering::Relaxed),
            time: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
        }
    }
}

impl Seat {
    /// The place of the segment that comes next after so many, of all that there are.
    pub(crate) fn step(&self, done: usize, segments: usize) -> Option<usize> {
        (done < segments).then(|| (self.first + done) % segments)
    }

    /// A segment is begun.
    pub(crate) fn is_at(&self, segment: SegmentId) {
        self.tour.at.store(segment.0, Ordering::Relaxed);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.tour.seats.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(tours: &Tours, table: u32, ids: &[u32]) -> Seat {
        tours.begin(TableId(table), |at| ids.partition_point(|id| *id < at.0))
    }

    fn round(seat: &Seat, ids: &[u32]) -> Vec<u32> {
        let step = |done| {
            let id = ids[seat.step(done, ids.len())?];
            seat.is_at(SegmentId(id));
            Some(id)
        };
        (0..).map_while(step).collect()
    }

    #[test]
    fn who_comes_later_begins_where_others_are_and_misses_nothing() {
        let (tours, all) = (Tours::default(), (0..10).collect::<Vec<_>>());
        let first = begin(&tours, 1, &all);
        first.is_at(SegmentId(3));
        // Sketches ruled out some of his segments.
        let some = [0, 2, 4, 6];
        let second = begin(&tours, 1, &some);
        assert_eq!(round(&second, &some), [4, 6, 0, 2]);
        assert_eq!(round(&begin(&tours, 2, &all), &all), all);
        // The others are at the last of his segments.
        assert_eq!(round(&begin(&tours, 1, &some), &some), [2, 4, 6, 0]);
        drop((first, second));
        assert_eq!(round(&begin(&tours, 1, &all), &all), all);
    }
}

//! Scans of one table that run at the same time go round it together.
//!
//! - Who begins while others are under way begins at the segment that they are at, and goes round: what
//!   one of them has had read from the disk, the others find in the cache. Many scans of a table that is
//!   larger than the cache then read it as often as one, not as often as there are scans.
//! - Who is alone begins at the first segment.

use crate::segment::SegmentVersion;
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
    /// Begins to go round a table with these segments, rising by id.
    pub(crate) fn begin(&self, table: TableId, segments: &[Arc<SegmentVersion>]) -> Seat {
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
            let at = SegmentId(tour.at.load(Ordering::Relaxed));
            first = segments.partition_point(|segment| segment.id < at);
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
    /// The segment that comes next after so many, of all that there are.
    pub(crate) fn step<'s>(
        &self,
        done: usize,
        segments: &'s [Arc<SegmentVersion>],
    ) -> Option<(usize, &'s Arc<SegmentVersion>)> {
        if done >= segments.len() {
            return None;
        }
        let place = (self.first + done) % segments.len();
        let segment = &segments[place];
        self.tour.at.store(segment.id.0, Ordering::Relaxed);
        Some((place, segment))
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
    use crate::segment::Overlay;
    use gadus_base::CommitNumber;

    fn segments(ids: impl Iterator<Item = u32>) -> Vec<Arc<SegmentVersion>> {
        let segment = |id| SegmentVersion {
            id: SegmentId(id),
            rows: 1,
            encoded: None,
            open: None,
            overlay: Overlay::default(),
            last_changed: CommitNumber::default(),
        };
        ids.map(segment).map(Arc::new).collect()
    }

    fn round(seat: &Seat, segments: &[Arc<SegmentVersion>]) -> Vec<u32> {
        (0..).map_while(|done| Some(seat.step(done, segments)?.1.id.0)).collect()
    }

    #[test]
    fn who_comes_later_begins_where_others_are_and_misses_nothing() {
        let (tours, all) = (Tours::default(), segments(0..10));
        let first = tours.begin(TableId(1), &all);
        for done in 0..4 {
            first.step(done, &all).unwrap();
        }
        // Sketches ruled out some of his segments.
        let some = segments([0, 2, 4, 6].into_iter());
        let second = tours.begin(TableId(1), &some);
        assert_eq!(round(&second, &some), [4, 6, 0, 2]);
        assert_eq!(round(&tours.begin(TableId(2), &all), &all), (0..10).collect::<Vec<_>>());
        // The others are at the last of his segments.
        assert_eq!(round(&tours.begin(TableId(1), &some), &some), [2, 4, 6, 0]);
        drop((first, second));
        assert_eq!(round(&tours.begin(TableId(1), &all), &all), (0..10).collect::<Vec<_>>());
    }
}

//! Which segments of a pass are whose.
//!
//! - Usually whoever is free takes the next: a thread that is disturbed takes fewer, and delays nobody.
//! - Where threads run near several memory nodes, each begins with the segments of its node, and helps the others
//!   then. A segment has the same node in every pass: whoever reads it first has its memory near.
//! - Or each thread has an equal part, and nobody helps another: what most engines do, to compare with.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the segments of a pass are dealt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deal {
    /// Whoever is free takes the next.
    ToAll,
    /// Each of so many threads has a part, and no other does it.
    Divided(NonZero<usize>),
    /// Each thread, by its number, has a memory node of so many.
    ByNode(NonZero<usize>, Vec<usize>),
}

/// The segments of a pass, counted in the order in which it goes round the table.
#[derive(Debug)]
pub(crate) struct Dealing {
    parts: Vec<Part>,
    deal: Deal,
}

/// Segments that are dealt one after the other.
#[derive(Debug)]
struct Part {
    next: AtomicUsize,
    end: usize,
    /// Which they are; nothing where that is their number.
    segments: Option<Vec<usize>>,
}

impl Dealing {
    /// Of so many segments; `id` is what is always the same of each.
    pub(crate) fn new(segments: usize, deal: Deal, id: impl Fn(usize) -> u32) -> Self {
        let parts = match &deal {
            Deal::ToAll => vec![Part::of_row(0, segments)],
            Deal::Divided(count) => {
                let first = |number: usize| number * segments / count.get();
                (0..count.get())
                    .map(|number| Part::of_row(first(number), first(number + 1)))
                    .collect()
            }
            Deal::ByNode(nodes, _) => {
                let mut of_nodes = vec![Vec::new(); nodes.get()];
                for segment in 0..segments {
                    let node = id(segment) as usize % nodes.get();
                    of_nodes[node].push(segment);
                }
                of_nodes.into_iter().map(Part::of_list).collect()
            }
        };
        Self { parts, deal }
    }

    /// The next one for a thread, by its number.
    pub(crate) fn take(&self, number: usize) -> Option<usize> {
        self.parts_of(number).find_map(Part::take)
    }

    /// Whether a thread would get one.
    pub(crate) fn has_more_for(&self, number: usize) -> bool {
        self.parts_of(number).any(Part::has_more)
    }

    /// A number for which there is one.
    pub(crate) fn open_part(&self) -> Option<usize> {
        self.parts.iter().position(Part::has_more)
    }

    /// Whether all are dealt.
    pub(crate) fn is_over(&self) -> bool {
        !self.parts.iter().any(Part::has_more)
    }

    /// Those that are not dealt.
    pub(crate) fn left(&self) -> usize {
        self.parts.iter().map(Part::left).sum()
    }

    /// Whether others cannot do what a thread does not.
    pub(crate) fn is_divided(&self) -> bool {
        matches!(self.deal, Deal::Divided(_))
    }

    /// Those that a thread may have, its own first.
    fn parts_of(&self, number: usize) -> impl Iterator<Item = &Part> {
        let count = self.parts.len();
        let (first, all) = match &self.deal {
            Deal::ToAll => (0, count),
            Deal::Divided(_) => (number.min(count), usize::from(number < count)),
            Deal::ByNode(_, nodes) => (nodes.get(number).copied().unwrap_or(number) % count, count),
        };
        (first..first + all).map(move |place| &self.parts[place % count])
    }
}

impl Part {
    fn of_row(first: usize, end: usize) -> Self {
        Self { next: AtomicUsize::new(first), end, segments: None }
    }

    fn of_list(segments: Vec<usize>) -> Self {
        Self { next: AtomicUsize::new(0), end: segments.len(), segments: Some(segments) }
    }

    fn take(&self) -> Option<usize> {
        let taken = self.next.fetch_add(1, Ordering::Relaxed);
        let segment = |taken: usize| self.segments.as_ref().map_or(taken, |all| all[taken]);
        (taken < self.end).then(|| segment(taken))
    }

    fn has_more(&self) -> bool {
        self.left() > 0
    }

    fn left(&self) -> usize {
        self.end.saturating_sub(self.next.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealing(segments: usize, deal: Deal) -> Dealing {
        Dealing::new(segments, deal, |segment| u32::try_from(segment).unwrap())
    }

    fn taken(dealing: &Dealing, number: usize) -> Vec<usize> {
        std::iter::from_fn(|| dealing.take(number)).collect()
    }

    #[test]
    fn each_segment_is_dealt_once() {
        let three = dealing(3, Deal::ToAll);
        assert_eq!([three.take(1), three.take(0)], [Some(0), Some(1)]);
        assert!(three.has_more_for(7) && !three.is_over() && three.left() == 1);
        assert_eq!((taken(&three, 5), three.is_over()), (vec![2], true));
        assert!(!three.has_more_for(0) && dealing(0, Deal::ToAll).is_over());
    }

    #[test]
    fn parts_belong_to_one_each() {
        let seven = dealing(7, Deal::Divided(NonZero::new(3).unwrap()));
        assert_eq!(taken(&seven, 1), [2, 3]);
        assert!(!seven.has_more_for(1) && seven.has_more_for(2) && !seven.has_more_for(3));
        assert_eq!(seven.open_part(), Some(0));
        assert_eq!((taken(&seven, 0), taken(&seven, 2)), (vec![0, 1], vec![4, 5, 6]));
        assert!(seven.is_over() && taken(&seven, 3).is_empty());
        assert_eq!(seven.open_part(), None);
    }

    #[test]
    fn threads_begin_with_the_segments_of_their_memory_node() {
        let by_node = Deal::ByNode(NonZero::new(2).unwrap(), vec![1, 0]);
        let seven = dealing(7, by_node.clone());
        assert_eq!([seven.take(0), seven.take(1), seven.take(0)], [Some(1), Some(0), Some(3)]);
        assert_eq!(taken(&seven, 1), [2, 4, 6, 5], "and helps the others then");
        assert!(seven.is_over() && !seven.is_divided() && seven.take(0).is_none());
        // In the next pass, which begins elsewhere, each has the same ones.
        let later = Dealing::new(7, by_node, |dealt| (u32::try_from(dealt).unwrap() + 3) % 7);
        let first = (0..4).filter_map(|_| later.take(0)).map(|dealt| (dealt + 3) % 7);
        assert_eq!(first.collect::<Vec<_>>(), [3, 5, 1, 4]);
        assert_eq!(dealing(1, Deal::ByNode(NonZero::new(2).unwrap(), Vec::new())).take(9), Some(0));
    }
}

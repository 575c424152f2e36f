//! Which segments of a pass are whose.
//!
//! - Usually whoever is free takes the next: a thread that is disturbed takes fewer, and delays nobody.
//! - Or each thread has an equal part, and nobody helps another: what most engines do, to compare with.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The segments of a pass, counted in the order in which it goes round the table.
#[derive(Debug)]
pub(crate) struct Dealing {
    parts: Vec<Part>,
    is_divided: bool,
}

/// Segments in a row.
#[derive(Debug)]
struct Part {
    next: AtomicUsize,
    end: usize,
}

impl Dealing {
    /// In `parts` that belong to one thread each, or all to all.
    pub(crate) fn new(segments: usize, parts: Option<NonZero<usize>>) -> Self {
        let count = parts.map_or(1, NonZero::get);
        let part = |number: usize| Part {
            next: AtomicUsize::new(number * segments / count),
            end: (number + 1) * segments / count,
        };
        Self { parts: (0..count).map(part).collect(), is_divided: parts.is_some() }
    }

    /// The next one for a thread, by its number.
    pub(crate) fn take(&self, number: usize) -> Option<usize> {
        let part = self.part_of(number)?;
        let taken = part.next.fetch_add(1, Ordering::Relaxed);
        (taken < part.end).then_some(taken)
    }

    /// Whether a thread would get one.
    pub(crate) fn has_more_for(&self, number: usize) -> bool {
        self.part_of(number).is_some_and(Part::has_more)
    }

    /// A number for which there is one.
    pub(crate) fn open_part(&self) -> Option<usize> {
        self.parts.iter().position(Part::has_more)
    }

    /// Whether all are dealt.
    pub(crate) fn is_over(&self) -> bool {
        !self.parts.iter().any(Part::has_more)
    }

    /// Whether others cannot do what a thread does not.
    pub(crate) fn is_divided(&self) -> bool {
        self.is_divided
    }

    fn part_of(&self, number: usize) -> Option<&Part> {
        self.parts.get(if self.is_divided { number } else { 0 })
    }
}

impl Part {
    fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(dealing: &Dealing, number: usize) -> Vec<usize> {
        std::iter::from_fn(|| dealing.take(number)).collect()
    }

    #[test]
    fn each_segment_is_dealt_once() {
        let dealing = Dealing::new(3, None);
        assert_eq!([dealing.take(1), dealing.take(0)], [Some(0), Some(1)]);
        assert!(dealing.has_more_for(7) && !dealing.is_over());
        assert_eq!((taken(&dealing, 5), dealing.is_over()), (vec![2], true));
        assert!(!dealing.has_more_for(0) && Dealing::new(0, None).is_over());
    }

    #[test]
    fn parts_belong_to_one_each() {
        let dealing = Dealing::new(7, NonZero::new(3));
        assert_eq!(taken(&dealing, 1), [2, 3]);
        assert!(!dealing.has_more_for(1) && dealing.has_more_for(2) && !dealing.has_more_for(3));
        assert_eq!(dealing.open_part(), Some(0));
        assert_eq!((taken(&dealing, 0), taken(&dealing, 2)), (vec![0, 1], vec![4, 5, 6]));
        assert!(dealing.is_over() && taken(&dealing, 3).is_empty());
        assert_eq!(dealing.open_part(), None);
    }
}

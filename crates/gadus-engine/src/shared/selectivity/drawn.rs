//! Drawn values of a column, in order: how many of them pass a test.
//!
//! - One question looks in the sample of each segment. Whoever has many questions puts the samples together
//!   before, each value once with the number of those up to it: then every bound is looked up once, and among
//!   few values where a column has few.

use crate::scan::{Comparison, Test};
use crate::segment::Sample;
use crate::types::Datum;

/// Values in order, without NULLs.
pub(super) trait Drawn {
    /// All of them.
    fn count(&self) -> usize;

    fn nulls(&self) -> usize;

    fn rows(&self) -> usize {
        self.count() + self.nulls()
    }

    /// The first of them for which `holds`, which holds for none after one for which it does not.
    fn count_while(&self, holds: impl Fn(&Datum) -> bool) -> usize;

    fn equal(&self, value: &Datum) -> usize;

    /// How many rows pass a test.
    fn passing(&self, test: &Test) -> usize {
        let below = |bound: &Datum| self.count_while(|value| value < bound);
        let up_to = |bound: &Datum| self.count_while(|value| value <= bound);
        match test {
            Test::Compare(comparison, bound) => match comparison {
                Comparison::Equal => self.equal(bound),
                Comparison::NotEqual => self.count() - self.equal(bound),
                Comparison::Less => below(bound),
                Comparison::LessOrEqual => up_to(bound),
                Comparison::Greater => self.count() - up_to(bound),
                Comparison::GreaterOrEqual => self.count() - below(bound),
            },
            Test::Between(low, high) => up_to(high).saturating_sub(below(low)),
            Test::In(values) => values.iter().map(|value| self.equal(value)).sum(),
            Test::StartsWith(prefix) => {
                let prefix = prefix.as_slice();
                let is_below = |value: &Datum| match value {
                    Datum::Bytes(bytes) => **bytes < *prefix,
                    _ => true,
                };
                let up_to = self.count_while(|value| is_below(value) || test.passes(value));
                up_to - self.count_while(is_below)
            }
            Test::IsNull => self.nulls(),
            Test::IsNotNull => self.count(),
        }
    }
}

impl Drawn for Sample {
    fn count(&self) -> usize {
        self.values.len()
    }

    fn nulls(&self) -> usize {
        self.nulls
    }

    fn count_while(&self, holds: impl Fn(&Datum) -> bool) -> usize {
        self.values.partition_point(holds)
    }

    fn equal(&self, value: &Datum) -> usize {
        let rest = &self.values[self.count_while(|other| other < value)..];
        // Most values that are asked for are in no sample.
        if rest.first() == Some(value) { rest.partition_point(|other| other <= value) } else { 0 }
    }
}

/// The samples of several segments.
#[derive(Debug)]
pub(super) struct Together<'a> {
    /// Each value once, and how many there are up to it.
    values: Vec<(&'a Datum, usize)>,
    nulls: usize,
}

impl<'a> Together<'a> {
    pub(super) fn of(samples: &[&'a Sample]) -> Self {
        let mut all = samples.iter().flat_map(|sample| &sample.values).collect::<Vec<_>>();
        // Stretches in order already: a merge.
        all.sort();
        let mut values: Vec<(&Datum, usize)> = Vec::new();
        for (up_to, value) in (1..).zip(all) {
            match values.last_mut() {
                Some(last) if last.0 == value => last.1 = up_to,
                _ => values.push((value, up_to)),
            }
        }
        Self { values, nulls: samples.iter().map(|sample| sample.nulls).sum() }
    }

    /// The values before a place.
    fn before(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |last| self.values[last].1)
    }
}

impl Drawn for Together<'_> {
    fn count(&self) -> usize {
        self.before(self.values.len())
    }

    fn nulls(&self) -> usize {
        self.nulls
    }

    fn count_while(&self, holds: impl Fn(&Datum) -> bool) -> usize {
        self.before(self.values.partition_point(|(value, _)| holds(value)))
    }

    fn equal(&self, value: &Datum) -> usize {
        let found = self.values.binary_search_by(|(other, _)| (*other).cmp(value));
        found.map_or(0, |place| self.values[place].1 - self.before(place))
    }
}

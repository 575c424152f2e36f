//! What is asked for, as a segment's packed values, and how it is found among them.

use super::flags::Flags;
use super::index::QuestionIndex;
use crate::encoding::{Packed, Values, code_index};
use crate::types::Datum;
use std::ops::Range;

/// Values that are asked for, sorted.
pub(super) type Points<'a> = &'a [(Datum, Vec<QuestionIndex>)];

/// Packed values from `low` to `high`, as distances from the base, and who asks for them.
pub(super) struct Hit<'a> {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) questions: &'a [QuestionIndex],
}

/// The codes of the points that a dictionary has.
pub(super) fn dictionary_hits<'a>(
    values: &Values,
    codes: &Packed,
    points: Points<'a>,
) -> Vec<Hit<'a>> {
    let mut hits = Vec::new();
    let all = 0..values.count();
    meet(values, all, points, &|(value, _)| value, &mut |code, (_, questions)| {
        let code = i64::try_from(code).expect("a dictionary fits memory");
        if let Some(distance) = codes.distance_to(code) {
            hits.push(Hit { low: distance, high: distance, questions });
        }
    });
    hits
}

/// Hands to `each` where sorted values have the value of a point, in order; points are in the order of
/// their values, too. Both are divided at the middle point again and again: a search goes through what
/// lies between two points, not through all.
pub(super) fn meet<'a, T>(
    values: &Values,
    range: Range<usize>,
    points: &'a [T],
    value_of: &impl Fn(&'a T) -> &'a Datum,
    each: &mut impl FnMut(usize, &'a T),
) {
    if range.is_empty() {
        return;
    }
    let (before, rest) = points.split_at(points.len() / 2);
    let Some((point, behind)) = rest.split_first() else { return };
    let (place, is_there) = values.search(range.clone(), value_of(point));
    meet(values, range.start..place, before, value_of, each);
    if is_there {
        each(place, point);
    }
    meet(values, place + usize::from(is_there)..range.end, behind, value_of, each);
}

pub(super) fn integer_hits<'a>(packed: &Packed, points: Points<'a>) -> Vec<Hit<'a>> {
    let hit = |(value, questions): &'a (Datum, Vec<QuestionIndex>)| {
        let Datum::Integer(value) = value else { return None };
        let distance = packed.distance_to(*value)?;
        Some(Hit { low: distance, high: distance, questions })
    };
    points.iter().filter_map(hit).collect()
}

/// Intervals of packed values, and all who ask for each.
pub(super) struct Groups {
    intervals: Vec<(u64, u64)>,
    askers: Askers,
}

/// Who asks for each of several things: lists behind one another.
#[derive(Default)]
pub(super) struct Askers {
    questions: Vec<QuestionIndex>,
    /// Where each list ends.
    ends: Vec<usize>,
}

impl Askers {
    /// Adds a list.
    pub(super) fn push(&mut self, questions: impl IntoIterator<Item = QuestionIndex>) {
        self.questions.extend(questions);
        self.ends.push(self.questions.len());
    }

    /// The list at a place.
    pub(super) fn of(&self, place: usize) -> &[QuestionIndex] {
        let first = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.questions[first..self.ends[place]]
    }
}

impl Groups {
    /// Divides what hits cover into intervals that the same questions ask for; above `max` there are
    /// no values.
    pub(super) fn of(hits: &[Hit<'_>], max: u64) -> Self {
        let mut groups = Self { intervals: Vec::new(), askers: Askers::default() };
        let mut hits = hits.iter().filter(|hit| hit.low <= max).collect::<Vec<_>>();
        hits.sort_unstable_by_key(|hit| hit.low);
        let mut open: Vec<&Hit<'_>> = Vec::new();
        let mut rest = hits.as_slice();
        let mut low = rest.first().map_or(0, |hit| hit.low);
        while !rest.is_empty() || !open.is_empty() {
            let beginning = rest.iter().take_while(|hit| hit.low == low).count();
            open.extend(&rest[..beginning]);
            rest = &rest[beginning..];
            let next = rest.first().map_or(u64::MAX, |hit| hit.low - 1);
            let end = open.iter().map(|hit| hit.high).min().unwrap_or(u64::MAX).min(next).min(max);
            if !open.is_empty() {
                groups.intervals.push((low, end));
                groups.askers.push(open.iter().flat_map(|hit| hit.questions).copied());
            }
            open.retain(|hit| hit.high > end && end < max);
            low = match (open.is_empty(), rest.first()) {
                (true, Some(hit)) => hit.low,
                _ => end.saturating_add(1),
            };
        }
        groups
    }

    /// For each packed value the number of its group from 1 on, 0 where nobody asks; none where there
    /// are too many groups.
    pub(super) fn heads(&self, domain: usize) -> Option<Vec<u16>> {
        let last = u16::try_from(self.intervals.len()).ok()?;
        let mut heads = vec![0; domain];
        for (head, (low, high)) in (1..=last).zip(&self.intervals) {
            heads[code_index(low.cast_signed())..=code_index(high.cast_signed())].fill(head);
        }
        Some(heads)
    }

    /// Who asks for the values of a group.
    pub(super) fn of_head(&self, head: u16) -> &[QuestionIndex] {
        usize::from(head).checked_sub(1).map_or(&[], |place| self.askers.of(place))
    }

    /// Who asks for a packed value.
    pub(super) fn find(&self, distance: u64) -> &[QuestionIndex] {
        let place = self.intervals.partition_point(|(_, high)| *high < distance);
        match self.intervals.get(place) {
            Some((low, _)) if *low <= distance => self.askers.of(place),
            _ => &[],
        }
    }

    /// Which values of so many bits somebody asks for, of the widest by their upper bits.
    pub(super) fn flags(&self, width: u8) -> Flags {
        let mut flags = Flags::of_upper_bits(width);
        self.intervals.iter().for_each(|(low, high)| flags.add_range(*low, *high));
        flags
    }
}

#[cfg(test)]
mod tests;

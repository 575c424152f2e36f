//! The operator `OVERLAPS` of two periods.

/// Returns true if two periods have a common point; `None` if an end that is NULL might decide.
///
/// The ends of a period are in any order; a period of one point is that point. Callers resolve an end that is given as
/// an interval.
///
/// ```
/// use gadus_times::{Date, overlaps};
///
/// let day = |day| Date::make(2024, 1, day);
/// let period = (Some(day(1)?), Some(day(3)?));
/// assert_eq!(overlaps(period, (Some(day(3)?), Some(day(4)?))), Some(false));
/// assert_eq!(overlaps(period, (Some(day(2)?), None)), Some(true));
/// # Ok::<(), gadus_times::TimesError>(())
/// ```
#[must_use]
pub fn overlaps<T: Ord + Copy>(
    first: (Option<T>, Option<T>),
    second: (Option<T>, Option<T>),
) -> Option<bool> {
    let (first_begin, first_end) = ordered(first)?;
    let (second_begin, second_end) = ordered(second)?;
    if first_begin == second_begin {
        return first_end.and(second_end).map(|_| true);
    }
    // The later period begins before the earlier one ends.
    let (begin, late_end, early_end) = match first_begin > second_begin {
        true => (first_begin, first_end, second_end),
        false => (second_begin, second_end, first_end),
    };
    if begin < early_end? {
        return Some(true);
    }
    late_end.map(|_| false)
}

/// Returns the lesser end and the greater one; an end that is NULL is the greater one.
fn ordered<T: Ord + Copy>(period: (Option<T>, Option<T>)) -> Option<(T, Option<T>)> {
    match period {
        (Some(one), Some(other)) => Some((one.min(other), Some(one.max(other)))),
        (Some(one), None) | (None, Some(one)) => Some((one, None)),
        (None, None) => None,
    }
}

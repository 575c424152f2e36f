//! Julian days and weeks against known dates.

use super::{century, date_of_julian, decade, iso_week, iso_year, julian, millennium, weekday};

#[test]
fn julian_days_are_inverted() {
    for day in (0..5_000_000).step_by(97).chain([0, 1, 2_147_483_493]) {
        let date = date_of_julian(day);
        assert_eq!(julian(date.year, date.month, date.day), day);
    }
    assert_eq!(julian(2000, 1, 1), super::JULIAN_2000);
    assert_eq!(weekday(super::JULIAN_2000), 6);
}

#[test]
fn weeks_at_the_turn_of_a_year_belong_to_the_year_of_their_thursday() {
    assert_eq!((iso_year(2005, 1, 1), iso_week(2005, 1, 1)), (2004, 53));
    assert_eq!((iso_year(2019, 12, 30), iso_week(2019, 12, 30)), (2020, 1));
}

#[test]
fn centuries_begin_with_their_first_year() {
    assert_eq!(
        [century(1), century(100), century(101), century(0), century(-99)],
        [1, 1, 2, -1, -1]
    );
    assert_eq!([millennium(2000), millennium(2001), millennium(0)], [2, 3, -1]);
    assert_eq!([decade(1999), decade(0), decade(-1)], [199, 0, -1]);
}

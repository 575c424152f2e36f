//! Points in time in all units.

use super::write_point;

#[test]
fn points_in_time_are_written_as_postgresql_does() {
    for (value, digits, expected) in [
        (0, 0, "1970-01-01 00:00:00"),
        (-1, 0, "1969-12-31 23:59:59"),
        (1_740_830_400_500, 3, "2025-03-01 12:00:00.5"),
        (1_740_830_400_000_001, 6, "2025-03-01 12:00:00.000001"),
        (-1, 9, "1969-12-31 23:59:59.999999999"),
        (-62_135_596_801, 0, "0001-12-31 23:59:59 BC"),
        (253_402_300_800, 0, "10000-01-01 00:00:00"),
    ] {
        let mut text = String::new();
        write_point(&mut text, value, digits, "");
        assert_eq!(text, expected);
    }
}

#[test]
fn the_zone_stands_before_the_era() {
    let mut text = String::new();
    write_point(&mut text, -62_135_596_801, 0, "+00");
    assert_eq!(text, "0001-12-31 23:59:59+00 BC");
}

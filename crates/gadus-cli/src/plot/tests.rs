//! Scales and their texts, and what thinning leaves.

use super::bars::counts;
use super::data::{Data, Kind};
use super::scale::{Axis, Scale, number, text};
use super::{Page, drawn, write_svg};
use gadus::{Database, Options};

fn read(sql: &str, kind: Option<Kind>) -> Data {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    Data::read(connection.query(sql, &[]).unwrap(), kind).unwrap()
}

fn ticks(low: f64, high: f64, axis: &Axis) -> Vec<String> {
    Scale { low, high }.ticks(axis, 5).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn marks_are_round_numbers() {
    let of = |low, high| ticks(low, high, &Axis::Number);
    assert_eq!(of(0.0, 10.0), ["0", "2", "4", "6", "8", "10"]);
    assert_eq!(of(-0.013, 0.021), ["-0.01", "0", "0.01", "0.02"]);
    assert_eq!(of(0.0, 3_000_000.0), ["0", "1M", "2M", "3M"]);
    assert_eq!(of(1e300, 2e300).len(), 6);
    assert!(of(f64::MIN, f64::MAX).len() > 2);
    assert!(of(1e15, 1e15 + 1.0).len() < 1000);
    assert_eq!(number(-0.0, 1.0), "0");
    assert_eq!(number(1.5e-7, 1e-8), "1.5e-7");
}

#[test]
fn marks_of_times_are_where_days_and_months_begin() {
    let of = |low, high| ticks(low, high, &Axis::Time);
    let day = 86_400.0;
    // 2024-02-28 and on: the year has a 29th.
    let leap = 19_781.0 * day;
    let days = ["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03"];
    assert_eq!(of(leap, leap + 4.0 * day), days);
    let months = ["2024-03", "2024-04", "2024-05", "2024-06"];
    assert_eq!(of(leap, leap + 120.0 * day), months);
    assert_eq!(of(-20_000.0 * day, 20_000.0 * day), ["1950", "2000"]);
    assert_eq!(of(leap, leap + 7200.0), ["00:00", "00:30", "01:00", "01:30", "02:00"]);
    assert_eq!(of(leap, leap + 1.0).first().unwrap(), "00:00.000");
    assert_eq!(text(leap - 1.0, &Axis::Time, 1.0), "2024-02-27 23:59:59");
}

#[test]
fn what_sticks_out_of_many_points_is_drawn_and_the_rest_where_it_was() {
    let sql = "SELECT n, CASE WHEN n = 345678 THEN 2e6 ELSE n END AS v FROM generate_series(1, 1000000) AS n";
    let data = read(sql, None);
    assert!(data.thinned.as_ref().unwrap().starts_with("(1000000 rows, thinned to "));
    let points = &data.series[0].points;
    assert!(points.len() <= 20_001 && points.contains(&(345_678.0, 2e6)), "{}", points.len());
    // As dense at the beginning as at the end.
    let first = points.iter().filter(|point| point.0 <= 500_000.0).count();
    assert!(first.abs_diff(points.len() / 2) < points.len() / 50, "{first} of {}", points.len());
    assert!(points.iter().all(|(x, y)| x == y || *y == 2e6));
}

#[test]
fn a_histogram_counts_all_values() {
    let data =
        read("SELECT n % 10 AS v FROM generate_series(1, 100000) AS n", Some(Kind::Histogram));
    assert!(data.thinned.is_none());
    let counted = counts(&data, 10);
    assert!(counted.iter().all(|(_, _, count)| *count == 10_000), "{counted:?}");
}

#[test]
fn no_size_of_a_page_is_too_small() {
    let data = [
        read("SELECT 1 AS a", None),
        read("SELECT 'a long name of something' AS x, -1.5 AS y, 3 AS z", None),
        read("SELECT 7 AS a", Some(Kind::Histogram)),
        read(
            "SELECT TIMESTAMP '2024-01-01' AS t, CAST('1.7e308' AS DOUBLE) AS a UNION ALL SELECT TIMESTAMP '2025-01-01', CAST('-1.7e308' AS DOUBLE)",
            Some(Kind::Scatter),
        ),
    ];
    let picture = std::env::temp_dir().join(format!("gadus-chart-{}.svg", std::process::id()));
    for data in &data {
        write_svg(data, &picture).unwrap();
        assert!(std::fs::read_to_string(&picture).unwrap().contains("</svg>"));
        for (width, height) in [(1, 1), (10, 3), (20, 5), (200, 60)] {
            for (is_unicode, has_colors) in [(true, true), (true, false), (false, false)] {
                let lines = drawn(data, Page { width, height, is_unicode, has_colors });
                assert!(lines.len() > 1);
            }
        }
    }
    std::fs::remove_file(&picture).unwrap();
}

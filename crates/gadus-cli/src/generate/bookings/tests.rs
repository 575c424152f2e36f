//! The table repeats, its keys are unique, its columns are skewed and correlated as promised.

use std::collections::{HashMap, HashSet};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Date32Type, Int16Type, Int64Type, TimestampMicrosecondType};

use super::{Bookings, locator};

const ROWS: usize = 30_000;

fn table() -> RecordBatch {
    Bookings::new(ROWS as u64, 7).batch(0, ROWS)
}

fn text(batch: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let values = batch.column_by_name(column).unwrap().as_string_view();
    values.iter().map(|value| value.map(str::to_owned)).collect()
}

fn counts(batch: &RecordBatch, column: &str) -> Vec<usize> {
    let mut counts: HashMap<Option<String>, usize> = HashMap::new();
    for value in text(batch, column) {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_by(|a, b| b.cmp(a));
    counts
}

fn null_share(batch: &RecordBatch, column: &str) -> f64 {
    let nulls = batch.column_by_name(column).unwrap().null_count();
    f64::from(u32::try_from(nulls).unwrap()) / f64::from(u32::try_from(ROWS).unwrap())
}

#[test]
fn rows_depend_neither_on_batches_nor_on_order() {
    let bookings = Bookings::new(1_000, 7);
    let whole = bookings.batch(0, 1_000);
    let parts: Vec<RecordBatch> = (0..1_000).step_by(77).map(|at| bookings.batch(at, 77)).collect();
    assert_eq!(whole, concat_batches(&bookings.schema(), &parts).unwrap());
    assert_eq!(whole, Bookings::new(1_000, 7).batch(0, 5_000));
    assert_ne!(whole, Bookings::new(1_000, 8).batch(0, 1_000));
    assert_eq!(bookings.batch(1_000, 10).num_rows(), 0);
}

#[test]
fn locators_are_unique_and_distant_rows_computable() {
    let locators: HashSet<_> = text(&table(), "record_locator").into_iter().collect();
    assert_eq!(locators.len(), ROWS);
    let largest = Bookings::new(locator::ROWS_MAX, 7);
    assert_eq!(largest.batch(locator::ROWS_MAX - 1, 10).num_rows(), 1);
}

#[test]
fn columns_are_as_skewed_as_in_life() {
    let batch = table();
    for (column, distinct_min, distinct_max, top_share) in [
        ("carrier", 60, 64, 0.03),
        ("origin", 300, 376, 0.01),
        ("cabin", 4, 4, 0.7),
        ("status", 8, 8, 0.65),
        ("last_name", 350, 470, 0.005),
        ("channel", 5, 5, 0.3),
        ("fare_basis", 1_200, 2_600, 0.005),
    ] {
        let counts = counts(&batch, column);
        assert!(
            (distinct_min..=distinct_max).contains(&counts.len()),
            "{column}: {}",
            counts.len()
        );
        let top = f64::from(u32::try_from(counts[0]).unwrap()) / 30_000.0;
        assert!(top > top_share && counts[0] > 2 * counts[counts.len() - 1], "{column}: {top}");
    }
    assert!(counts(&batch, "agency").len() > 2_000);
}

#[test]
fn nulls_stand_where_nothing_was_assigned() {
    let batch = table();
    for (column, low, high) in
        [("seat", 0.3, 0.4), ("frequent_flyer", 0.55, 0.66), ("agency", 0.55, 0.66)]
    {
        let share = null_share(&batch, column);
        assert!((low..high).contains(&share), "{column}: {share}");
    }
    assert_eq!(batch.column_by_name("record_locator").unwrap().null_count(), 0);
}

#[test]
fn a_passenger_is_the_same_person_in_every_booking() {
    let batch = table();
    let ids = batch.column_by_name("passenger_id").unwrap().as_primitive::<Int64Type>();
    let births = batch.column_by_name("birth_date").unwrap().as_primitive::<Date32Type>();
    let names = text(&batch, "last_name");
    let mut people = HashMap::new();
    for (row, name) in names.iter().enumerate() {
        let person = (name.clone(), births.value(row));
        assert_eq!(people.entry(ids.value(row)).or_insert_with(|| person.clone()), &person);
    }
    assert!(people.len() < ROWS / 2, "{} people", people.len());
}

#[test]
fn a_flight_number_of_a_carrier_on_a_route_departs_at_one_time() {
    let batch = table();
    let (carriers, origins) = (text(&batch, "carrier"), text(&batch, "origin"));
    let destinations = text(&batch, "destination");
    let numbers = batch.column_by_name("flight_number").unwrap().as_primitive::<Int16Type>();
    let minutes = batch.column_by_name("departure_minute").unwrap().as_primitive::<Int16Type>();
    let mut conflicts = 0;
    let mut timetable = HashMap::new();
    for row in 0..ROWS {
        assert_ne!(origins[row], destinations[row]);
        let flight = (&carriers[row], &origins[row], &destinations[row], numbers.value(row));
        let minute = minutes.value(row);
        conflicts += i32::from(*timetable.entry(flight).or_insert(minute) != minute);
    }
    assert!(conflicts < 30, "{conflicts} of {ROWS} rows share a number by chance");
}

#[test]
fn bookings_rise_in_time_and_precede_departure() {
    let batch = table();
    let booked =
        batch.column_by_name("booked_at").unwrap().as_primitive::<TimestampMicrosecondType>();
    let departs = batch.column_by_name("departure_date").unwrap().as_primitive::<Date32Type>();
    let mut within_120_days = 0;
    for row in 0..ROWS {
        let lead = i64::from(departs.value(row)) - booked.value(row) / 86_400_000_000;
        assert!((0..=330).contains(&lead));
        within_120_days += usize::from(lead <= 120);
        assert!(row < 100 || booked.value(row) > booked.value(row - 100));
    }
    assert!(within_120_days > ROWS * 9 / 10);
}

#[test]
fn the_statement_names_every_column_of_the_schema() {
    let statement = Bookings::create_table();
    for field in Bookings::new(1, 1).schema().fields() {
        assert!(statement.contains(&format!("    {} ", field.name())), "{}", field.name());
    }
    assert!(statement.ends_with("PRIMARY KEY (record_locator)\n)"));
}

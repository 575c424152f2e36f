//! Bookings as plain arrays: the columns that statements look at.
//!
//! - Texts are codes by their dictionary; [`NULL`] has a code of its own, a text that does not occur
//!   has [`ABSENT`].
//! - Each column is as narrow as its values allow.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use arrow::error::ArrowError;

use super::super::super::workplace::bookings;
use super::shapes::START_CHARS;
use crate::failure::Failure;
use crate::load::BATCH_ROWS;

/// The code of no text.
const NULL: i32 = -1;
/// The code of texts that no booking has.
const ABSENT: i32 = -2;

/// The columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    BookedAt,
    FlightNumber,
    DepartureDate,
    PassengerId,
    BirthDate,
    FareCents,
    Bags,
    Carrier,
    Origin,
    Destination,
    LastName,
    FirstName,
    Nationality,
    Seat,
    FareBasis,
    Agency,
    FrequentFlyer,
    /// The first characters of the last name.
    LastNameStart,
}

/// Columns of numbers, then those of texts, in the order of [`Column`].
const NUMBERS: [&str; 7] = [
    "booked_at",
    "flight_number",
    "departure_date",
    "passenger_id",
    "birth_date",
    "fare_cents",
    "bags",
];
const TEXTS: [&str; 10] = [
    "carrier",
    "origin",
    "destination",
    "last_name",
    "first_name",
    "nationality",
    "seat",
    "fare_basis",
    "agency",
    "frequent_flyer",
];

/// The values of a column.
#[derive(Debug)]
pub(super) enum Values {
    Short(Vec<i16>),
    Middle(Vec<i32>),
    Long(Vec<i64>),
}

/// All columns.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: usize,
    columns: Vec<Values>,
}

/// The codes of texts, by column.
#[derive(Debug)]
pub(super) struct Dictionaries(Vec<HashMap<String, i32>>);

impl Values {
    fn narrow(values: Vec<i32>) -> Self {
        let shorts = values.iter().map(|&value| i16::try_from(value));
        match shorts.collect::<Result<Vec<_>, _>>() {
            Ok(shorts) => Self::Short(shorts),
            Err(_) => Self::Middle(values),
        }
    }

    fn narrowed(values: Vec<i64>) -> Self {
        let middles = values.iter().map(|&value| i32::try_from(value));
        match middles.collect::<Result<Vec<_>, _>>() {
            Ok(middles) => Self::narrow(middles),
            Err(_) => Self::Long(values),
        }
    }
}

impl Table {
    pub(super) fn column(&self, column: Column) -> &Values {
        &self.columns[column as usize]
    }

    pub(super) fn value(&self, column: Column, row: usize) -> i64 {
        match self.column(column) {
            Values::Short(values) => i64::from(values[row]),
            Values::Middle(values) => i64::from(values[row]),
            Values::Long(values) => values[row],
        }
    }
}

impl Dictionaries {
    /// The code of a text that a column has, or has not.
    pub(super) fn code(&self, column: Column, text: &str) -> i64 {
        let code = self.0[column as usize - NUMBERS.len()].get(text);
        i64::from(code.copied().unwrap_or(ABSENT))
    }

    fn add(&mut self, column: usize, text: &str) -> i32 {
        let codes = &mut self.0[column];
        if let Some(code) = codes.get(text) {
            return *code;
        }
        let code = i32::try_from(codes.len()).expect("fewer texts than bookings");
        codes.insert(text.to_owned(), code);
        code
    }
}

/// The characters that LIKE is asked for.
pub(super) fn start(name: &str) -> String {
    name.chars().take(START_CHARS).collect()
}

/// So many bookings, and the codes of their texts.
pub(super) fn load(rows: u64) -> Result<(Table, Dictionaries), Failure> {
    let mut dictionaries = Dictionaries(vec![HashMap::new(); TEXTS.len() + 1]);
    let mut numbers = vec![Vec::<i64>::new(); NUMBERS.len()];
    let mut codes = vec![Vec::<i32>::new(); TEXTS.len()];
    for batch in bookings(rows).into_table(BATCH_ROWS).batches {
        let batch = batch?;
        for (values, name) in numbers.iter_mut().zip(NUMBERS) {
            append_numbers(values, &batch, name)?;
        }
        for (place, (values, name)) in codes.iter_mut().zip(TEXTS).enumerate() {
            let texts = cast(named(&batch, name)?, &DataType::Utf8View)?;
            let code = |text: Option<&str>| text.map_or(NULL, |text| dictionaries.add(place, text));
            values.extend(texts.as_string_view().iter().map(code));
        }
    }
    let names = &codes[Column::LastName as usize - NUMBERS.len()];
    let starts = starts(names, &mut dictionaries);
    let columns = numbers.into_iter().map(Values::narrowed);
    let columns = columns.chain(codes.into_iter().chain([starts]).map(Values::narrow));
    let columns = columns.collect();
    Ok((Table { rows: usize::try_from(rows).expect("rows fit memory"), columns }, dictionaries))
}

/// The codes of the first characters of names, which become the last dictionary.
fn starts(names: &[i32], dictionaries: &mut Dictionaries) -> Vec<i32> {
    let all = dictionaries.0[Column::LastName as usize - NUMBERS.len()].clone();
    let mut of_code = vec![NULL; all.len()];
    for (name, code) in all {
        of_code[code.unsigned_abs() as usize] = dictionaries.add(TEXTS.len(), &start(&name));
    }
    names.iter().map(|&code| of_code[code.unsigned_abs() as usize]).collect()
}

fn named<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, Failure> {
    batch.column_by_name(name).ok_or_else(|| Failure::message(format!("no column {name}")))
}

/// Appends numbers that are never NULL.
fn append_numbers(values: &mut Vec<i64>, batch: &RecordBatch, name: &str) -> Result<(), Failure> {
    let column = named(batch, name)?;
    // A day is a number of 32 bits, which is all that a cast takes it for.
    let days = || cast(column, &DataType::Int32).and_then(|days| cast(&days, &DataType::Int64));
    let whole = match column.data_type() {
        DataType::Date32 => days()?,
        _ => cast(column, &DataType::Int64)?,
    };
    if whole.null_count() > 0 {
        return Err(Failure::from(ArrowError::ComputeError(format!("NULL in {name}"))));
    }
    values.extend_from_slice(whole.as_primitive::<Int64Type>().values());
    Ok(())
}

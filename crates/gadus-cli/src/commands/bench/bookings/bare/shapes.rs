//! What each shape of statements asks of the columns.
//!
//! - The order is that of the statements' shapes; the constants are numbered as there, by the columns of
//!   the sample.
//! - A shape is looked up by a key that it may have in common with others, and then tested: every
//!   conjunct has a column between two constants, which are one where it is equal to it.

use arrow::compute::kernels::cast_utils::Parser;
use arrow::datatypes::{Date32Type, TimestampMicrosecondType};

use super::table::{Column, Dictionaries, start};
use crate::failure::Failure;
use crate::generate::statements::SHAPES;

/// The characters of a last name that LIKE is asked for.
pub(super) const START_CHARS: usize = 2;

/// The most columns that a shape has conjuncts of.
pub(super) const CONJUNCTS_MAX: usize = 4;

/// One column of a key, and how many of its low bits do not matter: a range is entered at each value of
/// the rest that it covers, two where these are as long as the range.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) column: Column,
    pub(super) shift: u32,
}

/// From one constant to another.
type Span = (usize, usize);

#[derive(Debug)]
pub(super) struct Shape {
    /// Which of [`KEYS`].
    pub(super) key: usize,
    /// What the parts of the key must be: one alternative or several.
    pub(super) spans: &'static [&'static [Span]],
    pub(super) rest: &'static [(Column, Span)],
    /// What is summed up, beside the count.
    pub(super) sum: Option<Column>,
}

/// A day, in microseconds, is less than 2^37; two minutes are less than 2^27.
const DAY_SHIFT: u32 = 37;
const MINUTES_SHIFT: u32 = 27;
/// From one day to two days later is less than 2^2.
const DAYS_SHIFT: u32 = 2;

const fn exactly(column: Column) -> Part {
    Part { column, shift: 0 }
}

const fn about(column: Column, shift: u32) -> Part {
    Part { column, shift }
}

/// Every kind of key is a look-up for each row.
pub(super) const KEYS: [&[Part]; 9] = [
    &[exactly(Column::PassengerId)],
    &[exactly(Column::FlightNumber), exactly(Column::DepartureDate)],
    &[exactly(Column::Origin), exactly(Column::Destination), exactly(Column::DepartureDate)],
    &[exactly(Column::LastName), exactly(Column::FirstName)],
    &[exactly(Column::BirthDate)],
    &[exactly(Column::FrequentFlyer)],
    &[exactly(Column::Agency), about(Column::BookedAt, DAY_SHIFT)],
    &[
        exactly(Column::FareBasis),
        exactly(Column::Origin),
        about(Column::DepartureDate, DAYS_SHIFT),
    ],
    &[exactly(Column::Origin), about(Column::BookedAt, MINUTES_SHIFT)],
];

/// Columns of the sample, and what follows from them.
const BOOKED_AT: usize = 1;
const CARRIER: usize = 2;
const FLIGHT: usize = 3;
const ORIGIN: usize = 4;
const DESTINATION: usize = 5;
const DATE: usize = 6;
const PASSENGER: usize = 7;
const LAST_NAME: usize = 8;
const FIRST_NAME: usize = 9;
const BIRTH: usize = 10;
const NATIONALITY: usize = 11;
const SEAT: usize = 12;
const BASIS: usize = 13;
const AGENCY: usize = 14;
const FLYER: usize = 15;
const MINUTES_LATER: usize = 16;
const DAYS_LATER: usize = 17;
const DAY_LATER: usize = 18;
const NAME_START: usize = 19;
const PASSENGER_AND_1: usize = 20;
const PASSENGER_AND_2: usize = 21;
const NO_BOUND: usize = 22;
const CONSTANTS: usize = 23;

const fn is(constant: usize) -> Span {
    (constant, constant)
}

const fn shape(
    key: usize,
    spans: &'static [&'static [Span]],
    rest: &'static [(Column, Span)],
    sum: Option<Column>,
) -> Shape {
    Shape { key, spans, rest, sum }
}

const FARE: Option<Column> = Some(Column::FareCents);

#[rustfmt::skip] // one shape a line
pub(super) const ASKED: [Shape; SHAPES] = [
    shape(0, &[&[is(PASSENGER)]], &[], None),
    shape(1, &[&[is(FLIGHT), is(DATE)]], &[(Column::Carrier, is(CARRIER))], None),
    shape(2, &[&[is(ORIGIN), is(DESTINATION), is(DATE)]], &[], FARE),
    shape(3, &[&[is(LAST_NAME), is(FIRST_NAME)]], &[(Column::Nationality, is(NATIONALITY))], None),
    shape(4, &[&[is(BIRTH)]], &[(Column::LastNameStart, is(NAME_START))], None),
    shape(5, &[&[is(FLYER)]], &[], None),
    shape(6, &[&[is(AGENCY), (BOOKED_AT, DAY_LATER)]], &[], FARE),
    shape(1, &[&[is(FLIGHT), is(DATE)]], &[(Column::Seat, is(SEAT))], None),
    shape(7, &[&[is(BASIS), is(ORIGIN), (DATE, DAYS_LATER)]], &[], FARE),
    shape(4, &[&[is(BIRTH)]], &[(Column::Nationality, is(NATIONALITY))], Some(Column::Bags)),
    shape(8, &[&[is(ORIGIN), (BOOKED_AT, MINUTES_LATER)]], &[], None),
    shape(
        0,
        &[&[is(PASSENGER)], &[is(PASSENGER_AND_1)], &[is(PASSENGER_AND_2)]],
        &[(Column::DepartureDate, (DATE, NO_BOUND))],
        FARE,
    ),
    // What changes something.
    shape(0, &[&[is(PASSENGER)]], &[(Column::DepartureDate, is(DATE))], None),
    shape(
        1,
        &[&[is(FLIGHT), is(DATE)]],
        &[(Column::Carrier, is(CARRIER)), (Column::LastName, is(LAST_NAME))],
        None,
    ),
    shape(6, &[&[is(AGENCY), (BOOKED_AT, MINUTES_LATER)]], &[], None),
    shape(5, &[&[is(FLYER)]], &[(Column::DepartureDate, (DATE, NO_BOUND))], None),
    shape(
        0,
        &[&[is(PASSENGER)]],
        &[(Column::FlightNumber, is(FLIGHT)), (Column::Seat, is(SEAT))],
        None,
    ),
];

/// The constants of a row of the sample, as numbers.
#[derive(Debug)]
pub(super) struct Constants([i64; CONSTANTS]);

impl Constants {
    pub(super) fn of(row: &[String], dictionaries: &Dictionaries) -> Result<Self, Failure> {
        let mut values = [0; CONSTANTS];
        let mut known = |constant: usize, value: Option<i64>| {
            let unclear = || Failure::message(format!("the sample has {:?}", row.get(constant)));
            values[constant] = value.ok_or_else(unclear)?;
            Ok::<_, Failure>(())
        };
        for constant in [FLIGHT, PASSENGER] {
            known(constant, row[constant].parse().ok())?;
        }
        for constant in [DATE, BIRTH, DAYS_LATER] {
            known(constant, Date32Type::parse(&row[constant]).map(i64::from))?;
        }
        for constant in [BOOKED_AT, MINUTES_LATER, DAY_LATER] {
            known(constant, TimestampMicrosecondType::parse(&row[constant]))?;
        }
        for (constant, column) in [
            (CARRIER, Column::Carrier),
            (ORIGIN, Column::Origin),
            (DESTINATION, Column::Destination),
            (LAST_NAME, Column::LastName),
            (FIRST_NAME, Column::FirstName),
            (NATIONALITY, Column::Nationality),
            (SEAT, Column::Seat),
            (BASIS, Column::FareBasis),
            (AGENCY, Column::Agency),
            (FLYER, Column::FrequentFlyer),
        ] {
            known(constant, Some(dictionaries.code(column, &row[constant])))?;
        }
        let name_start = start(&row[LAST_NAME]);
        known(NAME_START, Some(dictionaries.code(Column::LastNameStart, &name_start)))?;
        // As the text of the statement has them: with a digit more.
        for (constant, digit) in [(PASSENGER_AND_1, "1"), (PASSENGER_AND_2, "2")] {
            known(constant, format!("{}{digit}", row[PASSENGER]).parse().ok())?;
        }
        known(NO_BOUND, Some(i64::MAX))?;
        Ok(Self(values))
    }

    /// The bounds that a span has here.
    pub(super) fn bounds(&self, (low, high): Span) -> (i64, i64) {
        (self.0[low], self.0[high])
    }
}

//! What is asked: twelve shapes over sixteen columns, with values that bookings have.
//!
//! - Values come from a sample of the bookings, the first of it more often than the last: what is hot
//!   is asked again and again.

use gadus::{Connection, Value};
use gadus_base::Random;

use super::super::scan::texts;
use crate::failure::Failure;

/// Bookings whose passenger has a number that this divides are in the sample.
const SAMPLE_EACH: u64 = 199;

const SAMPLE: &str = "SELECT record_locator, CAST(booked_at AS VARCHAR), carrier, \
    CAST(flight_number AS VARCHAR), origin, destination, CAST(departure_date AS VARCHAR), \
    CAST(passenger_id AS VARCHAR), last_name, first_name, CAST(birth_date AS VARCHAR), nationality, \
    coalesce(seat, '1A'), fare_basis, coalesce(agency, 'none'), coalesce(frequent_flyer, 'none'), \
    CAST(booked_at + INTERVAL '2 minutes' AS VARCHAR), \
    CAST(departure_date + INTERVAL '2 days' AS DATE)::VARCHAR, \
    CAST(booked_at + INTERVAL '1 day' AS VARCHAR) FROM bookings";

/// `{n}` stands for the n-th column of the sample.
const SHAPES: [&str; 12] = [
    "SELECT record_locator, carrier, flight_number, seat, status FROM bookings \
     WHERE passenger_id = {7}",
    "SELECT passenger_id, last_name, first_name, seat, cabin FROM bookings \
     WHERE carrier = '{2}' AND flight_number = {3} AND departure_date = DATE '{6}'",
    "SELECT count(*), sum(fare_cents) FROM bookings \
     WHERE origin = '{4}' AND destination = '{5}' AND departure_date = DATE '{6}'",
    "SELECT record_locator, passenger_id FROM bookings \
     WHERE last_name = '{8}' AND first_name = '{9}' AND nationality = '{11}'",
    "SELECT record_locator, first_name FROM bookings \
     WHERE birth_date = DATE '{10}' AND last_name LIKE '{8:2}%'",
    "SELECT record_locator, fare_cents, bags FROM bookings WHERE frequent_flyer = '{15}'",
    "SELECT count(*), sum(fare_cents), sum(tax_cents) FROM bookings \
     WHERE agency = '{14}' AND booked_at BETWEEN TIMESTAMP '{1}' AND TIMESTAMP '{18}'",
    "SELECT record_locator, last_name FROM bookings \
     WHERE departure_date = DATE '{6}' AND flight_number = {3} AND seat = '{12}'",
    "SELECT count(*), min(fare_cents), max(fare_cents) FROM bookings \
     WHERE fare_basis = '{13}' AND origin = '{4}' \
     AND departure_date BETWEEN DATE '{6}' AND DATE '{17}'",
    "SELECT count(*), sum(bags) FROM bookings \
     WHERE birth_date = DATE '{10}' AND nationality = '{11}'",
    "SELECT record_locator, channel FROM bookings \
     WHERE booked_at BETWEEN TIMESTAMP '{1}' AND TIMESTAMP '{16}' AND origin = '{4}'",
    "SELECT count(*), min(fare_cents) FROM bookings \
     WHERE passenger_id IN ({7}, {7}1, {7}2) AND departure_date >= DATE '{6}'",
];

/// Statements in the order in which they are asked.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) texts: Vec<String>,
}

impl Statements {
    /// Draws statements with values of the bookings that are there.
    pub(super) fn drawn_from(connection: &Connection, count: usize) -> Result<Self, Failure> {
        let sample = format!("{SAMPLE} WHERE passenger_id % {SAMPLE_EACH} = 0");
        let mut rows = texts(connection.query(&sample, &[] as &[Value])?)?;
        if rows.is_empty() {
            rows = texts(connection.query(&format!("{SAMPLE} LIMIT 100"), &[])?)?;
        }
        let mut random = Random::seeded(7);
        let mut draw = |shape: &&str| {
            // The cube of a uniform number: half of all statements ask for an eighth of the rows.
            let uniform = random.unit();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss
            )] // an index
            let place = (uniform.powi(3) * rows.len() as f64) as usize;
            filled(shape, &rows[place.min(rows.len() - 1)])
        };
        let texts = SHAPES.iter().cycle().take(count).map(&mut draw).collect();
        Ok(Self { texts })
    }

    /// So many statements of each shape.
    pub(super) fn some_of_each(&self, count: usize) -> impl Iterator<Item = &String> {
        self.texts.iter().take(count * SHAPES.len())
    }
}

/// A shape with the values of a row.
fn filled(shape: &str, row: &[String]) -> String {
    let mut text = String::with_capacity(shape.len() + 64);
    let mut rest = shape;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, behind) = behind.split_once('}').expect("shapes are whole");
        let (column, length) = name.split_once(':').unwrap_or((name, ""));
        let value = &row[column.parse::<usize>().expect("a column's number")];
        let length = length.parse::<usize>().unwrap_or(value.len());
        text.push_str(before);
        text.push_str(&value.chars().take(length).collect::<String>().replace('\'', "''"));
        rest = behind;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_their_columns_are_named() {
        let row = ["one".to_owned(), "O'Hara".to_owned()];
        assert_eq!(filled("a = '{1}' AND b LIKE '{0:2}%'", &row), "a = 'O''Hara' AND b LIKE 'on%'");
    }
}

//! What is asked of bookings: twelve shapes of queries over sixteen columns, and five that change what
//! they find, with values that bookings have.
//!
//! - Values come from a sample of the bookings, the first of it more often than the last: what is hot
//!   is asked again and again.
//! - The sample is in the order of its locators, which tells nothing of where a table keeps a booking: what
//!   is asked does not depend on the order in which it was loaded.

use gadus::{Connection, Value};
use gadus_base::Random;

use crate::failure::Failure;
use crate::texts::texts;

/// Bookings whose passenger has a number that this divides are in the sample.
const SAMPLE_EACH: u64 = 199;

const SAMPLE: &str = "SELECT record_locator, CAST(booked_at AS VARCHAR), carrier, \
    CAST(flight_number AS VARCHAR), origin, destination, CAST(departure_date AS VARCHAR), \
    CAST(passenger_id AS VARCHAR), last_name, first_name, CAST(birth_date AS VARCHAR), nationality, \
    coalesce(seat, '1A'), fare_basis, coalesce(agency, 'none'), coalesce(frequent_flyer, 'none'), \
    CAST(booked_at + INTERVAL '2 minutes' AS VARCHAR), \
    CAST(departure_date + INTERVAL '2 days' AS DATE)::VARCHAR, \
    CAST(booked_at + INTERVAL '1 day' AS VARCHAR) FROM bookings";

/// A shape of statements.
struct Shape {
    /// One statement; `{n}` stands for the n-th column of the sample.
    alone: &'static str,
    /// The rows that it adds to the values of a batch, and how the batch is asked as one join with them:
    /// what somebody writes by hand whose database shares nothing.
    values: &'static [&'static str],
    joined: &'static str,
}

const QUERIES: [Shape; 12] = [
    Shape {
        alone: "SELECT record_locator, carrier, flight_number, seat, status FROM bookings \
                WHERE passenger_id = {7}",
        values: &["{7}"],
        joined: "q(n, a) AS ({values}) SELECT n, record_locator, carrier, flight_number, seat, status \
                 FROM bookings JOIN q ON passenger_id = a",
    },
    Shape {
        alone: "SELECT passenger_id, last_name, first_name, seat, cabin FROM bookings \
                WHERE carrier = '{2}' AND flight_number = {3} AND departure_date = DATE '{6}'",
        values: &["'{2}', {3}, DATE '{6}'"],
        joined: "q(n, a, b, c) AS ({values}) \
                 SELECT n, passenger_id, last_name, first_name, seat, cabin FROM bookings \
                 JOIN q ON carrier = a AND flight_number = b AND departure_date = c",
    },
    Shape {
        alone: "SELECT count(*), sum(fare_cents) FROM bookings \
                WHERE origin = '{4}' AND destination = '{5}' AND departure_date = DATE '{6}'",
        values: &["'{4}', '{5}', DATE '{6}'"],
        joined: "q(n, a, b, c) AS ({values}) SELECT n, count(*), sum(fare_cents) FROM bookings \
                 JOIN q ON origin = a AND destination = b AND departure_date = c GROUP BY n",
    },
    Shape {
        alone: "SELECT record_locator, passenger_id FROM bookings \
                WHERE last_name = '{8}' AND first_name = '{9}' AND nationality = '{11}'",
        values: &["'{8}', '{9}', '{11}'"],
        joined: "q(n, a, b, c) AS ({values}) SELECT n, record_locator, passenger_id FROM bookings \
                 JOIN q ON last_name = a AND first_name = b AND nationality = c",
    },
    Shape {
        alone: "SELECT record_locator, first_name FROM bookings \
                WHERE birth_date = DATE '{10}' AND last_name LIKE '{8:2}%'",
        values: &["DATE '{10}', '{8:2}'"],
        joined: "q(n, a, b) AS ({values}) SELECT n, record_locator, first_name FROM bookings \
                 JOIN q ON birth_date = a AND starts_with(last_name, b)",
    },
    Shape {
        alone: "SELECT record_locator, fare_cents, bags FROM bookings \
                WHERE frequent_flyer = '{15}'",
        values: &["'{15}'"],
        joined: "q(n, a) AS ({values}) SELECT n, record_locator, fare_cents, bags FROM bookings \
                 JOIN q ON frequent_flyer = a",
    },
    Shape {
        alone: "SELECT count(*), sum(fare_cents), sum(tax_cents) FROM bookings \
                WHERE agency = '{14}' AND booked_at BETWEEN TIMESTAMP '{1}' AND TIMESTAMP '{18}'",
        values: &["'{14}', TIMESTAMP '{1}', TIMESTAMP '{18}'"],
        joined: "q(n, a, b, c) AS ({values}) \
                 SELECT n, count(*), sum(fare_cents), sum(tax_cents) FROM bookings \
                 JOIN q ON agency = a AND booked_at BETWEEN b AND c GROUP BY n",
    },
    Shape {
        alone: "SELECT record_locator, last_name FROM bookings \
                WHERE departure_date = DATE '{6}' AND flight_number = {3} AND seat = '{12}'",
        values: &["DATE '{6}', {3}, '{12}'"],
        joined: "q(n, a, b, c) AS ({values}) SELECT n, record_locator, last_name FROM bookings \
                 JOIN q ON departure_date = a AND flight_number = b AND seat = c",
    },
    Shape {
        alone: "SELECT count(*), min(fare_cents), max(fare_cents) FROM bookings \
                WHERE fare_basis = '{13}' AND origin = '{4}' \
                AND departure_date BETWEEN DATE '{6}' AND DATE '{17}'",
        values: &["'{13}', '{4}', DATE '{6}', DATE '{17}'"],
        joined: "q(n, a, b, c, d) AS ({values}) \
                 SELECT n, count(*), min(fare_cents), max(fare_cents) FROM bookings \
                 JOIN q ON fare_basis = a AND origin = b AND departure_date BETWEEN c AND d \
                 GROUP BY n",
    },
    Shape {
        alone: "SELECT count(*), sum(bags) FROM bookings \
                WHERE birth_date = DATE '{10}' AND nationality = '{11}'",
        values: &["DATE '{10}', '{11}'"],
        joined: "q(n, a, b) AS ({values}) SELECT n, count(*), sum(bags) FROM bookings \
                 JOIN q ON birth_date = a AND nationality = b GROUP BY n",
    },
    Shape {
        alone: "SELECT record_locator, channel FROM bookings \
                WHERE booked_at BETWEEN TIMESTAMP '{1}' AND TIMESTAMP '{16}' AND origin = '{4}'",
        values: &["TIMESTAMP '{1}', TIMESTAMP '{16}', '{4}'"],
        joined: "q(n, a, b, c) AS ({values}) SELECT n, record_locator, channel FROM bookings \
                 JOIN q ON booked_at BETWEEN a AND b AND origin = c",
    },
    Shape {
        alone: "SELECT count(*), min(fare_cents) FROM bookings \
                WHERE passenger_id IN ({7}, {7}1, {7}2) AND departure_date >= DATE '{6}'",
        values: &["{7}, DATE '{6}'", "{7}1, DATE '{6}'", "{7}2, DATE '{6}'"],
        joined: "q(n, a, b) AS ({values}) SELECT n, count(*), min(fare_cents) FROM bookings \
                 JOIN q ON passenger_id = a AND departure_date >= b GROUP BY n",
    },
];

const UPDATES: [Shape; 5] = [
    Shape {
        alone: "UPDATE bookings SET status = 'checked in' \
                WHERE passenger_id = {7} AND departure_date = DATE '{6}'",
        values: &["{7}, DATE '{6}'"],
        joined: "q(n, a, b) AS ({values}) UPDATE bookings SET status = 'checked in' FROM q \
                 WHERE passenger_id = a AND departure_date = b",
    },
    Shape {
        alone: "UPDATE bookings SET seat = '{12}', channel = 'desk' \
                WHERE carrier = '{2}' AND flight_number = {3} AND departure_date = DATE '{6}' \
                AND last_name = '{8}'",
        values: &["'{2}', {3}, DATE '{6}', '{8}', '{12}'"],
        joined: "q(n, a, b, c, d, e) AS ({values}) UPDATE bookings SET seat = e, channel = 'desk' \
                 FROM q WHERE carrier = a AND flight_number = b AND departure_date = c \
                 AND last_name = d",
    },
    Shape {
        alone: "UPDATE bookings SET fare_cents = fare_cents + 100 WHERE agency = '{14}' \
                AND booked_at BETWEEN TIMESTAMP '{1}' AND TIMESTAMP '{16}'",
        values: &["'{14}', TIMESTAMP '{1}', TIMESTAMP '{16}'"],
        joined: "q(n, a, b, c) AS ({values}) UPDATE bookings SET fare_cents = fare_cents + 100 \
                 FROM q WHERE agency = a AND booked_at BETWEEN b AND c",
    },
    Shape {
        alone: "UPDATE bookings SET bags = 2 \
                WHERE frequent_flyer = '{15}' AND departure_date >= DATE '{6}'",
        values: &["'{15}', DATE '{6}'"],
        joined: "q(n, a, b) AS ({values}) UPDATE bookings SET bags = 2 FROM q \
                 WHERE frequent_flyer = a AND departure_date >= b",
    },
    Shape {
        alone: "DELETE FROM bookings \
                WHERE passenger_id = {7} AND flight_number = {3} AND seat = '{12}'",
        values: &["{7}, {3}, '{12}'"],
        joined: "q(n, a, b, c) AS ({values}) DELETE FROM bookings USING q \
                 WHERE passenger_id = a AND flight_number = b AND seat = c",
    },
];

/// Shapes of queries; they take turns.
pub(crate) const QUERY_SHAPES: usize = QUERIES.len();

/// Shapes of queries, and behind them those of updates.
pub(crate) const SHAPES: usize = QUERIES.len() + UPDATES.len();

/// The sample that values are taken from.
#[derive(Debug)]
pub(crate) struct Sample(Vec<Vec<String>>);

/// Statements in the order in which they are asked.
#[derive(Debug)]
pub(crate) struct Statements<'a> {
    pub(crate) texts: Vec<String>,
    /// The shape of each, by its number, and the row of the sample that it has its values of.
    drawn: Vec<(usize, usize)>,
    sample: &'a Sample,
}

impl Sample {
    /// Of the bookings that are there.
    pub(crate) fn of(connection: &Connection) -> Result<Self, Failure> {
        let sample = format!("{SAMPLE} WHERE passenger_id % {SAMPLE_EACH} = 0");
        let mut rows = texts(connection.query(&sample, &[] as &[Value])?)?;
        if rows.is_empty() {
            rows = texts(connection.query(&format!("{SAMPLE} LIMIT 100"), &[])?)?;
        }
        rows.sort_unstable();
        Ok(Self(rows))
    }

    /// Its rows, by the numbers that columns have in shapes.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.0
    }
}

impl<'a> Statements<'a> {
    /// Draws statements, with an update after so many queries; zero for none.
    pub(crate) fn drawn_from(sample: &'a Sample, queries_per_update: u32, count: usize) -> Self {
        let rows = &sample.0;
        let mut random = Random::seeded(7);
        let mut place = || {
            // The cube of a uniform number: half of all statements ask for an eighth of the rows.
            let uniform = random.unit();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss
            )] // an index
            let place = (uniform.powi(3) * rows.len() as f64) as usize;
            place.min(rows.len() - 1)
        };
        let mut queries = (0..QUERIES.len()).cycle();
        let mut updates = (QUERIES.len()..SHAPES).cycle();
        let period = queries_per_update as usize + 1;
        let mut shape = |number: usize| {
            let is_update = queries_per_update > 0 && number % period == period - 1;
            let of_kind: &mut dyn Iterator<Item = usize> =
                if is_update { &mut updates } else { &mut queries };
            of_kind.next().expect("they go round and round")
        };
        let drawn = (0..count).map(|number| (shape(number), place())).collect::<Vec<_>>();
        let texts = drawn.iter().map(|&(shape, place)| filled(shape_of(shape).alone, &rows[place]));
        Self { texts: texts.collect(), drawn, sample }
    }

    /// What a shape asks for, a question mark for each value.
    pub(crate) fn condition(shape: usize) -> String {
        let (_, condition) = shape_of(shape).alone.split_once("WHERE ").expect("all have one");
        let mut marked = String::with_capacity(condition.len());
        for word in condition.split_inclusive([' ', '(', ')']) {
            match word.find('{') {
                None if matches!(word.trim_end(), "DATE" | "TIMESTAMP") => {}
                None => marked.push_str(word),
                Some(_) => {
                    marked.push_str(if word.contains('%') { "?%" } else { "?" });
                    let behind = word.rfind(['}', '\'']).map_or("", |last| &word[last + 1..]);
                    marked.push_str(behind.trim_start_matches(|behind: char| behind.is_numeric()));
                }
            }
        }
        marked
    }

    /// Whether the statement at a place is an update.
    pub(crate) fn is_update(&self, place: usize) -> bool {
        self.drawn[place].0 >= QUERIES.len()
    }

    /// The shape of the statement at a place, and the row of the sample that it has its values of; places
    /// go round and round.
    pub(crate) fn drawn(&self, place: usize) -> (usize, usize) {
        self.drawn[place % self.drawn.len()]
    }

    /// The statements from `first` on, `count` of them, as one join for each shape.
    pub(crate) fn batched(&self, first: usize, count: usize) -> Vec<String> {
        let of_shape = |number: usize| {
            let places = (first..first + count).map(|place| place % self.drawn.len());
            let places = places.filter(|&place| self.drawn[place].0 == number);
            let shape = shape_of(number);
            let rows = places.flat_map(|place| {
                let row = &self.sample.0[self.drawn[place].1];
                shape.values.iter().map(move |value| format!("({place}, {})", filled(value, row)))
            });
            let rows = rows.collect::<Vec<_>>();
            let values = format!("VALUES {}", rows.join(", "));
            (!rows.is_empty())
                .then(|| format!("WITH {}", shape.joined.replace("{values}", &values)))
        };
        (0..SHAPES).filter_map(of_shape).collect()
    }
}

fn shape_of(number: usize) -> &'static Shape {
    QUERIES.get(number).unwrap_or_else(|| &UPDATES[number - QUERIES.len()])
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
mod tests;

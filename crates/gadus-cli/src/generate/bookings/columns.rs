//! The table: its columns, their types in SQL and in Arrow, and the builders of a batch.
//!
//! - `COLUMNS`, `Columns::push` and `Columns::finish` name the columns in the same order.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Int16Builder, Int64Builder, RecordBatch,
    StringViewBuilder, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::row::Row;
use super::text::{Pool, TextColumn};

pub(super) const NAME: &str = "bookings";

/// Name, SQL type, and whether NULL occurs.
const COLUMNS: [(&str, &str, bool); 27] = [
    ("record_locator", "TEXT", false),
    ("booked_at", "TIMESTAMP", false),
    ("carrier", "TEXT", false),
    ("flight_number", "SMALLINT", false),
    ("origin", "TEXT", false),
    ("destination", "TEXT", false),
    ("departure_date", "DATE", false),
    ("departure_minute", "SMALLINT", false),
    ("arrival_minute", "SMALLINT", false),
    ("cabin", "TEXT", false),
    ("booking_class", "TEXT", false),
    ("passenger_id", "BIGINT", false),
    ("last_name", "TEXT", false),
    ("first_name", "TEXT", false),
    ("birth_date", "DATE", false),
    ("nationality", "TEXT", false),
    ("seat", "TEXT", true),
    ("status", "TEXT", false),
    ("fare_basis", "TEXT", false),
    ("fare_cents", "BIGINT", false),
    ("tax_cents", "BIGINT", false),
    ("currency", "TEXT", false),
    ("agency", "TEXT", true),
    ("frequent_flyer", "TEXT", true),
    ("bags", "SMALLINT", false),
    ("channel", "TEXT", false),
    ("refundable", "BOOLEAN", false),
];

pub(super) fn create_table() -> String {
    let mut text = format!("CREATE TABLE {NAME} (\n");
    for (name, kind, nullable) in COLUMNS {
        let rule = if nullable { "" } else { " NOT NULL" };
        writeln!(text, "    {name} {kind}{rule},").expect("a string can be written");
    }
    text + "    PRIMARY KEY (record_locator)\n)"
}

pub(super) fn schema() -> SchemaRef {
    let fields = COLUMNS.map(|(name, kind, nullable)| {
        let kind = match kind {
            "TEXT" => DataType::Utf8View,
            "TIMESTAMP" => DataType::Timestamp(TimeUnit::Microsecond, None),
            "SMALLINT" => DataType::Int16,
            "BIGINT" => DataType::Int64,
            "DATE" => DataType::Date32,
            "BOOLEAN" => DataType::Boolean,
            other => unreachable!("no column is a {other}"),
        };
        Field::new(name, kind, nullable)
    });
    Arc::new(Schema::new(fields.to_vec()))
}

/// The columns of a batch under construction.
#[derive(Debug)]
pub(super) struct Columns {
    record_locator: StringViewBuilder,
    booked_at: TimestampMicrosecondBuilder,
    carrier: TextColumn,
    flight_number: Int16Builder,
    origin: TextColumn,
    destination: TextColumn,
    departure_date: Date32Builder,
    departure_minute: Int16Builder,
    arrival_minute: Int16Builder,
    cabin: TextColumn,
    booking_class: TextColumn,
    passenger_id: Int64Builder,
    last_name: TextColumn,
    first_name: TextColumn,
    birth_date: Date32Builder,
    nationality: TextColumn,
    seat: TextColumn,
    status: TextColumn,
    fare_basis: TextColumn,
    fare_cents: Int64Builder,
    tax_cents: Int64Builder,
    currency: TextColumn,
    agency: TextColumn,
    frequent_flyer: StringViewBuilder,
    bags: Int16Builder,
    channel: TextColumn,
    refundable: BooleanBuilder,
}

impl Columns {
    pub(super) fn with_capacity(rows: usize) -> Self {
        let text = || TextColumn::with_capacity(rows);
        Self {
            record_locator: StringViewBuilder::with_capacity(rows),
            booked_at: TimestampMicrosecondBuilder::with_capacity(rows),
            carrier: text(),
            flight_number: Int16Builder::with_capacity(rows),
            origin: text(),
            destination: text(),
            departure_date: Date32Builder::with_capacity(rows),
            departure_minute: Int16Builder::with_capacity(rows),
            arrival_minute: Int16Builder::with_capacity(rows),
            cabin: text(),
            booking_class: text(),
            passenger_id: Int64Builder::with_capacity(rows),
            last_name: text(),
            first_name: text(),
            birth_date: Date32Builder::with_capacity(rows),
            nationality: text(),
            seat: text(),
            status: text(),
            fare_basis: text(),
            fare_cents: Int64Builder::with_capacity(rows),
            tax_cents: Int64Builder::with_capacity(rows),
            currency: text(),
            agency: text(),
            frequent_flyer: StringViewBuilder::with_capacity(rows),
            bags: Int16Builder::with_capacity(rows),
            channel: text(),
            refundable: BooleanBuilder::with_capacity(rows),
        }
    }

    pub(super) fn push(&mut self, row: &Row) {
        self.record_locator.append_value(text(&row.record_locator));
        self.booked_at.append_value(row.booked_at_us);
        self.carrier.push(row.carrier);
        self.flight_number.append_value(row.flight.number);
        self.origin.push(row.origin);
        self.destination.push(row.destination);
        self.departure_date.append_value(row.departure_day);
        self.departure_minute.append_value(row.flight.departure_minute);
        self.arrival_minute.append_value(row.flight.arrival_minute);
        self.cabin.push(row.fare.cabin);
        self.booking_class.push(row.fare.class);
        self.passenger_id.append_value(row.passenger_id);
        self.last_name.push(row.passenger.last_name);
        self.first_name.push(row.passenger.first_name);
        self.birth_date.append_value(row.passenger.birth_day);
        self.nationality.push(row.passenger.nationality);
        self.seat.push_option(row.seat);
        self.status.push(row.status);
        self.fare_basis.push(row.fare.basis);
        self.fare_cents.append_value(row.fare.fare_cents);
        self.tax_cents.append_value(row.fare.tax_cents);
        self.currency.push(row.currency);
        self.agency.push_option(row.agency);
        self.frequent_flyer.append_option(row.frequent_flyer.as_ref().map(|card| text(card)));
        self.bags.append_value(row.bags);
        self.channel.push(row.channel);
        self.refundable.append_value(row.fare.refundable);
    }

    pub(super) fn finish(mut self, schema: SchemaRef, pool: &Pool) -> RecordBatch {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.record_locator.finish()),
            Arc::new(self.booked_at.finish()),
            self.carrier.finish(pool),
            Arc::new(self.flight_number.finish()),
            self.origin.finish(pool),
            self.destination.finish(pool),
            Arc::new(self.departure_date.finish()),
            Arc::new(self.departure_minute.finish()),
            Arc::new(self.arrival_minute.finish()),
            self.cabin.finish(pool),
            self.booking_class.finish(pool),
            Arc::new(self.passenger_id.finish()),
            self.last_name.finish(pool),
            self.first_name.finish(pool),
            Arc::new(self.birth_date.finish()),
            self.nationality.finish(pool),
            self.seat.finish(pool),
            self.status.finish(pool),
            self.fare_basis.finish(pool),
            Arc::new(self.fare_cents.finish()),
            Arc::new(self.tax_cents.finish()),
            self.currency.finish(pool),
            self.agency.finish(pool),
            Arc::new(self.frequent_flyer.finish()),
            Arc::new(self.bags.finish()),
            self.channel.finish(pool),
            Arc::new(self.refundable.finish()),
        ];
        RecordBatch::try_new(schema, columns).expect("the builders follow COLUMNS")
    }
}

fn text(ascii: &[u8]) -> &str {
    std::str::from_utf8(ascii).expect("locators and card numbers are ASCII")
}

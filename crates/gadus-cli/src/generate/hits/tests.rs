//! The table repeats, it is ClickBench's, and every query that can finds rows in it.

use std::collections::HashSet;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int32Type, Int64Type, TimestampMicrosecondType};
use gadus::{Database, Options};

use super::queries::{self, QUERIES, Query};
use super::{Hits, ROWS_MAX, columns};
use crate::interrupt::Interrupt;
use crate::load::{BATCH_ROWS, load};

const ROWS: usize = 30_000;

/// Queries that demand more than a hundred thousand rows of a group, or leave out more groups than
/// there are of few rows.
const OF_MANY_ROWS: [u8; 7] = [28, 29, 39, 40, 41, 42, 43];

fn table() -> RecordBatch {
    Hits::new(ROWS as u64, 7).batch(0, ROWS)
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let values = batch.column_by_name(column).unwrap().as_string_view();
    values.iter().map(|value| value.unwrap().to_owned()).collect()
}

/// The share of texts for which something holds.
fn share(batch: &RecordBatch, column: &str, holds: impl Fn(&str) -> bool) -> f64 {
    let count = texts(batch, column).iter().filter(|text| holds(text)).count();
    f64::from(u32::try_from(count).unwrap()) / f64::from(u32::try_from(ROWS).unwrap())
}

#[test]
fn rows_depend_neither_on_batches_nor_on_order() {
    let hits = Hits::new(1_000, 7);
    let whole = hits.batch(0, 1_000);
    let parts: Vec<RecordBatch> = (0..1_000).step_by(77).map(|at| hits.batch(at, 77)).collect();
    assert_eq!(whole, concat_batches(&hits.schema(), &parts).unwrap());
    assert_eq!(whole, Hits::new(1_000, 7).batch(0, 5_000));
    assert_ne!(whole, Hits::new(1_000, 8).batch(0, 1_000));
    assert_eq!(hits.batch(1_000, 10).num_rows(), 0);
    assert_eq!(Hits::new(ROWS_MAX, 7).batch(ROWS_MAX - 1, 10).num_rows(), 1);
}

#[test]
fn the_table_has_the_columns_of_its_statement() {
    let statement = columns::create_table();
    let hits = Hits::new(1, 1);
    assert_eq!(hits.schema().fields().len(), 105);
    assert_eq!(statement.lines().count(), 107);
    for field in hits.schema().fields() {
        assert!(statement.contains(&format!("    {} ", field.name())), "{}", field.name());
    }
}

#[test]
fn no_two_hits_have_one_number_and_time_goes_on() {
    let batch = table();
    let numbers = batch.column_by_name("WatchID").unwrap().as_primitive::<Int64Type>();
    assert_eq!(numbers.values().iter().collect::<HashSet<_>>().len(), ROWS);
    let times = batch.column_by_name("EventTime").unwrap();
    let times = times.as_primitive::<TimestampMicrosecondType>().values();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1] + 4_000_000));
    assert!(times[0] >= 1_372_636_800_000_000 && times[ROWS - 1] < 1_375_315_200_000_000);
}

#[test]
fn no_two_sites_have_one_counter() {
    let batch = Hits::new(200_000, 7).batch(0, 200_000);
    let counters = batch.column_by_name("CounterID").unwrap().as_primitive::<Int32Type>();
    let domains = texts(&batch, "URL");
    let domain = |url: &str| url.split('/').nth(2).unwrap().to_owned();
    let pairs = counters.values().iter().zip(&domains).map(|(one, url)| (*one, domain(url)));
    let pairs = pairs.collect::<HashSet<_>>();
    let counters = counters.values().iter().collect::<HashSet<_>>();
    assert_eq!(pairs.len(), counters.len());
}

#[test]
fn columns_are_as_full_and_as_skewed_as_those_of_sites() {
    let batch = table();
    for (column, low, high) in [
        ("SearchPhrase", 0.11, 0.15),
        ("Referer", 0.82, 0.90),
        ("MobilePhoneModel", 0.03, 0.09),
        ("Title", 0.95, 0.99),
        ("OpenstatServiceName", 0.005, 0.02),
    ] {
        let full = share(&batch, column, |text| !text.is_empty());
        assert!((low..high).contains(&full), "{column}: {full}");
    }
    let distinct = |column: &str| texts(&batch, column).into_iter().collect::<HashSet<_>>().len();
    assert!((9_000..22_000).contains(&distinct("URL")), "{}", distinct("URL"));
    let google = share(&batch, "URL", |url| url.contains("google"));
    assert!((0.0002..0.003).contains(&google), "{google}");
    let engine = share(&batch, "Referer", |url| url.starts_with("http://yandex.ru/"));
    assert!(engine > 0.11, "{engine}");
}

#[test]
fn there_are_43_queries_of_one_table_each() {
    let texts = queries::all().map(|query| query.text).collect::<Vec<_>>();
    assert_eq!(texts.len(), usize::from(QUERIES));
    for text in texts {
        assert!(text.starts_with("SELECT ") && !text.contains(';'), "{text}");
        assert_eq!(text.matches(" FROM hits").count(), 1, "{text}");
    }
}

#[test]
fn gadus_answers_all_queries_and_finds_rows() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    let table = Hits::new(ROWS as u64, 7).into_table(BATCH_ROWS);
    load(&connection, table, &Interrupt::default()).unwrap();
    for Query { number, text } in queries::all() {
        let answered = connection.query(text, &[]).and_then(gadus::Rows::collect_batches);
        let answered = answered.unwrap_or_else(|error| panic!("query {number}: {error}"));
        let rows = answered.iter().map(RecordBatch::num_rows).sum::<usize>();
        assert!(rows > 0 || OF_MANY_ROWS.contains(&number), "query {number}");
    }
}

//! Queries, an update and a snapshot, on the loaded tables.

use gadus::{Connection, Database, params};
use gadus_base::{clock, counted};

use super::report::Report;
use crate::failure::Failure;
use crate::shell::shown_seconds;
use crate::terminal;

/// What is asked: a name for the summary, and the statement.
const QUERIES: [(&str, &str); 4] = [
    (
        "bookings by carrier",
        "SELECT carrier, count(*) AS bookings, sum(fare_cents) / 100 AS fares\n\
         FROM bookings WHERE cabin = 'Y' AND status <> 'XX'\n\
         GROUP BY carrier ORDER BY fares DESC LIMIT 5",
    ),
    (
        "TPC-H query 1: pricing summary",
        "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity,\n       \
         sum(l_extendedprice * (1 - l_discount)) AS price, avg(l_discount) AS discount,\n       \
         count(*) AS lines\n\
         FROM lineitem WHERE l_shipdate <= DATE '1998-09-02'\n\
         GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
    ),
    (
        "TPC-H query 5: six tables joined",
        "SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue\n\
         FROM customer, orders, lineitem, supplier, nation, region\n\
         WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey\n  \
         AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey\n  \
         AND n_regionkey = r_regionkey AND r_name = 'ASIA'\n  \
         AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'\n\
         GROUP BY n_name ORDER BY revenue DESC",
    ),
    (
        "TPC-H query 6: forecast of revenue",
        "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem\n\
         WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'\n  \
         AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    ),
];

/// Runs of a point query, to tell the time of one.
const POINT_QUERIES: u32 = 1_000;

pub(super) fn queries(connection: &Connection, report: &mut Report) -> Result<(), Failure> {
    report.heading("Ask")?;
    for (name, sql) in QUERIES {
        report.line(sql)?;
        let started = clock().now();
        let batches = connection.query(sql, &[])?.collect_batches()?;
        let first = started.elapsed().as_secs_f64();
        let started = clock().now();
        connection.execute(sql, &[])?;
        let again = started.elapsed().as_secs_f64();
        terminal::print_table(&batches)?;
        let times = format!("{}, again {}", shown_seconds(first), shown_seconds(again));
        report.line(&format!("{times}\n"))?;
        report.figure(name, &times);
    }
    point_query(connection, report)
}

fn point_query(connection: &Connection, report: &mut Report) -> Result<(), Failure> {
    let locator: String = single(connection, "SELECT max(record_locator) FROM bookings")?;
    let sql = "SELECT first_name, last_name, seat FROM bookings WHERE record_locator = ?";
    report.line(&format!("{sql}   -- '{locator}'"))?;
    let statement = connection.prepare(sql)?;
    let parameters = params![locator];
    let batches = statement.query(parameters)?.collect_batches()?;
    terminal::print_table(&batches)?;
    let started = clock().now();
    for _ in 0..POINT_QUERIES {
        statement.execute(parameters)?;
    }
    let each = started.elapsed().as_secs_f64() / f64::from(POINT_QUERIES);
    report.line(&shown_seconds(each))?;
    report.figure("a row by its primary key", &shown_seconds(each));
    Ok(())
}

/// Changes rows by a condition on columns without an index.
pub(super) fn update(connection: &Connection, report: &mut Report) -> Result<(), Failure> {
    report.heading("Update")?;
    let sql = "UPDATE bookings SET tax_cents = tax_cents + 500\n\
               WHERE cabin = 'C' AND refundable AND bags >= 2";
    report.line(sql)?;
    let started = clock().now();
    let rows = connection.execute(sql, &[])?;
    let time = shown_seconds(started.elapsed().as_secs_f64());
    report.line(&format!("{} rows changed and durable in {time}", counted(rows)))?;
    report.figure("rows changed by a condition", &format!("{} in {time}", counted(rows)));
    Ok(())
}

/// One connection goes on seeing what it saw first, whatever another commits.
pub(super) fn snapshot(database: &Database, report: &mut Report) -> Result<(), Failure> {
    report.heading("Snapshots")?;
    let (reader, writer) = (database.connect(), database.connect());
    let sum = "SELECT sum(fare_cents) FROM bookings";
    reader.execute("BEGIN", &[])?;
    let before: i64 = single(&reader, sum)?;
    report.line(&format!("  reader: BEGIN; {sum}   -- {before}"))?;
    let change = "UPDATE bookings SET fare_cents = fare_cents + 100 WHERE carrier = 'LH'";
    let changed = writer.execute(change, &[])?;
    report.line(&format!("  writer: {change}   -- {} rows", counted(changed)))?;
    let during: i64 = single(&reader, sum)?;
    report.line(&format!("  reader: {sum}   -- {during}"))?;
    reader.execute("COMMIT", &[])?;
    let after: i64 = single(&reader, sum)?;
    report.line(&format!("  reader: COMMIT; {sum}   -- {after}"))?;
    let changed_cents = i64::try_from(changed).unwrap_or(i64::MAX).saturating_mul(100);
    if before != during || after != before + changed_cents {
        return Err(Failure::message("a snapshot has changed"));
    }
    report.figure("rows changed under a reader that saw none of it", &counted(changed));
    Ok(())
}

/// The one value of a query's one row.
pub(super) fn single<T: gadus::FromValue>(
    connection: &Connection,
    sql: &str,
) -> Result<T, Failure> {
    match connection.query(sql, &[])?.next() {
        Some(row) => Ok(row?.get(0)?),
        None => Err(Failure::message(format!("no row: {sql}"))),
    }
}

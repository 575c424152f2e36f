//! TPC-H: the tables at a scale factor, by the crates tpchgen and tpchgen-arrow, and the queries.
//!
//! - Parents come before children, so that loading in this order can check references.

mod parameters;
pub(crate) mod queries;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use arrow::array::RecordBatchReader;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

use super::Table;

/// The tables' names, in the order of loading.
pub(crate) const TABLES: [&str; 8] =
    ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"];

const SUPPLIERS_PER_PART: i64 = 4;

const CREATE_TABLES: &str = include_str!("tpch/create_tables.sql");

static STATEMENTS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| CREATE_TABLES.split(';').map(str::trim).collect());

/// All tables, in the order of loading; nothing is generated before a batch is asked for.
pub(crate) fn tables(scale_factor: f64, batch_rows: usize) -> impl Iterator<Item = Table> {
    TABLES.into_iter().filter_map(move |name| table(name, scale_factor, batch_rows))
}

/// One table by its name; none when TPC-H has no such table.
pub(crate) fn table(name: &str, scale_factor: f64, batch_rows: usize) -> Option<Table> {
    let position = TABLES.iter().position(|known| *known == name)?;
    // Every generator is asked for part 1 of 1: the whole table.
    macro_rules! source {
        ($arrow:ident, $generator:ident, $rows:expr) => {
            assemble(
                position,
                $rows,
                $arrow::new($generator::new(scale_factor, 1, 1)).with_batch_size(batch_rows),
            )
        };
    }
    let suppliers = SupplierGenerator::calculate_row_count(scale_factor, 1, 1);
    let customers = CustomerGenerator::calculate_row_count(scale_factor, 1, 1);
    let parts = PartGenerator::calculate_row_count(scale_factor, 1, 1);
    let orders = OrderGenerator::calculate_row_count(scale_factor, 1, 1);
    Some(match name {
        "region" => source!(RegionArrow, RegionGenerator, 5),
        "nation" => source!(NationArrow, NationGenerator, 25),
        "supplier" => source!(SupplierArrow, SupplierGenerator, suppliers),
        "customer" => source!(CustomerArrow, CustomerGenerator, customers),
        "part" => source!(PartArrow, PartGenerator, parts),
        "partsupp" => source!(PartSuppArrow, PartSuppGenerator, parts * SUPPLIERS_PER_PART),
        "orders" => source!(OrderArrow, OrderGenerator, orders),
        // An order has one to seven lines; how many there are in all only the generator knows.
        _ => source!(LineItemArrow, LineItemGenerator, orders * 4),
    })
}

fn assemble(position: usize, rows: i64, reader: impl RecordBatchReader + Send + 'static) -> Table {
    Table {
        name: TABLES[position],
        create_table: STATEMENTS[position].to_owned(),
        schema: reader.schema(),
        rows: rows.max(0).cast_unsigned(),
        batches: Box::new(reader),
    }
}

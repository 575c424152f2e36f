//! The tables come complete, in types that fit their statements.

use arrow::datatypes::DataType;

use super::{TABLES, table, tables};

#[test]
fn every_column_has_the_type_that_its_statement_declares() {
    for table in tables(0.001, 100) {
        assert!(table.create_table.starts_with(&format!("CREATE TABLE {} (", table.name)));
        assert!(table.create_table.contains("PRIMARY KEY ("));
        for field in table.schema.fields() {
            let kind = match field.data_type() {
                DataType::Int64 => "BIGINT",
                DataType::Int32 => "INTEGER",
                DataType::Decimal128(15, 2) => "DECIMAL(15, 2)",
                DataType::Date32 => "DATE",
                DataType::Utf8View => "TEXT",
                other => panic!("{} has type {other}", field.name()),
            };
            let column = format!("    {} {kind} NOT NULL,", field.name());
            assert!(table.create_table.contains(&column), "{column}");
        }
    }
}

#[test]
fn tables_hold_the_rows_they_announce() {
    let mut seen = Vec::new();
    for table in tables(0.001, 100) {
        let rows: usize = table.batches.map(|batch| batch.unwrap().num_rows()).sum();
        let rows = u64::try_from(rows).unwrap();
        if table.name == "lineitem" {
            assert!(rows.abs_diff(table.rows) < table.rows / 10, "{rows} of {}", table.rows);
        } else {
            assert_eq!(rows, table.rows, "{}", table.name);
        }
        seen.push(table.name);
    }
    assert_eq!(seen, TABLES);
    assert!(table("no_such_table", 0.001, 100).is_none());
}

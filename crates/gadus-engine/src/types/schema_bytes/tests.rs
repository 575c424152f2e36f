//! Schemas of this version and of those before.

use super::*;
use crate::ReferentialAction;

#[test]
fn schemas_of_version_4_have_no_foreign_keys() {
    let columns = ["a", "b"].map(|name| ColumnDefinition::new(name, ColumnType::Int64));
    let mut schema = TableSchema::new("t", columns.to_vec(), vec![0]).unwrap();
    schema.add_index("i", &[1], (false, true));
    let encoded = |schema: &TableSchema| {
        let mut to = ByteWriter::new();
        schema.encode(&mut to);
        to.finish()
    };
    let newest = encoded(&schema);
    // It ended before the two counts.
    let before = &newest[..newest.len() - 8];
    let mut from = ByteReader::new(before);
    let decoded = TableSchema::decode(&mut from, SchemaForm::WithoutForeignKeys).unwrap();
    from.end().unwrap();
    assert_eq!(decoded, schema);
    schema.foreign_keys.push(ForeignKey {
        name: "k".to_owned(),
        columns: vec![1],
        table: TableId(7),
        referenced: vec![3],
        on_delete: ReferentialAction::Cascade,
        on_update: ReferentialAction::SetNull,
    });
    schema.referenced_by = vec![TableId(9), TableId(8)];
    let bytes = encoded(&schema);
    let mut from = ByteReader::new(&bytes);
    assert_eq!(TableSchema::decode(&mut from, SchemaForm::Newest).unwrap(), schema);
    for length in 0..bytes.len() {
        let mut from = ByteReader::new(&bytes[..length]);
        let decoded = TableSchema::decode(&mut from, SchemaForm::Newest);
        assert!(decoded.is_err(), "cut after {length} bytes");
    }
}

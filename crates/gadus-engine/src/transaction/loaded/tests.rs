//! Many loads in one transaction.

use crate::{
    ColumnDefinition, ColumnType, Datum, Engine, ErrorKind, Options, TableSchema, Transaction,
    array_from_datums,
};
use arrow::array::RecordBatch;
use std::sync::Arc;

/// Enough to be loaded into a segment of their own.
const ROWS: i64 = 8_192;
const LOADS: i64 = 33;

fn load(
    transaction: &mut Transaction,
    schema: &Arc<TableSchema>,
    first: i64,
) -> crate::Result<u64> {
    let ids = (first..first + ROWS).map(Datum::Integer).collect::<Vec<_>>();
    let array = array_from_datums(ColumnType::Int64, ids.iter())?;
    let batch = RecordBatch::try_new(schema.arrow(), vec![array]).expect("one column");
    let mut bulk = transaction.bulk(schema)?;
    bulk.push(&batch)?;
    transaction.finish_bulk(bulk)
}

/// Runs of the key: in the view, and of the transaction's own.
fn runs(transaction: &Transaction, schema: &TableSchema) -> (usize, usize) {
    let table = transaction.state.view.table(schema.id).unwrap();
    let own = &transaction.state.writes[&schema.id].runs;
    (table.keys.primary().unwrap().entries.runs().len(), own.len())
}

fn verify(engine: &Engine) {
    let found = engine.verify(&mut |_, _| ()).unwrap();
    assert!(found.problems.is_empty(), "{found:?}");
}

#[test]
fn runs_of_many_loads_are_few_and_every_key_is_known() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let id = ColumnDefinition { nullable: false, ..ColumnDefinition::new("id", ColumnType::Int64) };
    let schema = TableSchema::new("t", vec![id], vec![0]).unwrap();
    let mut before = engine.begin().unwrap();
    let schema = before.create_table(&schema).unwrap();
    load(&mut before, &schema, -ROWS).unwrap();
    before.commit().unwrap();

    let mut transaction = engine.begin().unwrap();
    for number in 0..LOADS {
        load(&mut transaction, &schema, number * ROWS).unwrap();
        let (all, own) = runs(&transaction, &schema);
        let loads = u32::try_from(number + 1).unwrap();
        assert_eq!((all, own), (own + 1, loads.count_ones() as usize));
    }
    // A key of the first load, of the last, and of before; each alone among many that are new.
    for taken in [0, LOADS * ROWS - 1, -1] {
        let (seen, first) = (runs(&transaction, &schema), taken - ROWS + 1);
        let error = load(&mut transaction, &schema, first).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UniqueViolation, "{taken}");
        assert_eq!(runs(&transaction, &schema), seen);
    }
    let savepoint = transaction.savepoint();
    load(&mut transaction, &schema, LOADS * ROWS).unwrap();
    transaction.restore(savepoint);
    load(&mut transaction, &schema, LOADS * ROWS).unwrap();

    // Others commit meanwhile: keys that nobody has, and afterwards some that they have.
    let mut other = engine.begin().unwrap();
    let mut late = engine.begin().unwrap();
    load(&mut other, &schema, (LOADS + 1) * ROWS).unwrap();
    other.commit().unwrap();
    load(&mut late, &schema, (LOADS + 2) * ROWS - 1).unwrap();
    assert_eq!(late.commit().unwrap_err().kind(), ErrorKind::UniqueViolation);
    transaction.commit().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    assert_eq!(table.rows(), u64::try_from((LOADS + 3) * ROWS).unwrap());
    for id in [-ROWS, 0, LOADS * ROWS, (LOADS + 2) * ROWS - 1] {
        assert!(table.find_key(&[Datum::Integer(id)]).unwrap().is_some(), "{id}");
    }
    verify(&engine);
}

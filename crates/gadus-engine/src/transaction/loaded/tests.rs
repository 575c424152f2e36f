//! Many loads in one transaction.

use crate::engine::test_tables::{LOADED_ROWS as ROWS, load_ids, of_ids};
use crate::{Datum, Engine, ErrorKind, Options, TableSchema, Transaction};

const LOADS: i64 = 33;

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
    let mut before = engine.begin().unwrap();
    let schema = of_ids(&mut before);
    load_ids(&mut before, &schema, -ROWS).unwrap();
    before.commit().unwrap();

    let mut transaction = engine.begin().unwrap();
    for number in 0..LOADS {
        load_ids(&mut transaction, &schema, number * ROWS).unwrap();
        let (all, own) = runs(&transaction, &schema);
        let loads = u32::try_from(number + 1).unwrap();
        assert_eq!((all, own), (own + 1, loads.count_ones() as usize));
    }
    // A key of the first load, of the last, and of before; each alone among many that are new.
    for taken in [0, LOADS * ROWS - 1, -1] {
        let (seen, first) = (runs(&transaction, &schema), taken - ROWS + 1);
        let error = load_ids(&mut transaction, &schema, first).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UniqueViolation, "{taken}");
        assert_eq!(runs(&transaction, &schema), seen);
    }
    let savepoint = transaction.savepoint();
    load_ids(&mut transaction, &schema, LOADS * ROWS).unwrap();
    transaction.restore(savepoint);
    load_ids(&mut transaction, &schema, LOADS * ROWS).unwrap();

    // Others commit meanwhile: keys that nobody has, and afterwards some that they have.
    let mut other = engine.begin().unwrap();
    let mut late = engine.begin().unwrap();
    load_ids(&mut other, &schema, (LOADS + 1) * ROWS).unwrap();
    other.commit().unwrap();
    load_ids(&mut late, &schema, (LOADS + 2) * ROWS - 1).unwrap();
    assert_eq!(late.commit().unwrap_err().kind(), ErrorKind::UniqueViolation);
    transaction.commit().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    assert_eq!(table.rows().unwrap(), u64::try_from((LOADS + 3) * ROWS).unwrap());
    for id in [-ROWS, 0, LOADS * ROWS, (LOADS + 2) * ROWS - 1] {
        assert!(table.find_key(&[Datum::Integer(id)]).unwrap().is_some(), "{id}");
    }
    verify(&engine);
}

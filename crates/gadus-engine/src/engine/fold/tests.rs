//! What folding bounds.

use super::RUNS_MAX;
use crate::{ColumnDefinition, ColumnType, Datum, Engine, Options, TableSchema};
use gadus_block::MemoryFolder;
use std::sync::Arc;

#[test]
fn many_short_openings_leave_few_key_runs() {
    let folder = MemoryFolder::new();
    let open = || Engine::open(Arc::new(folder.clone()), "x", Options::default()).unwrap();
    let columns = vec![ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new("id", ColumnType::Int64)
    }];
    let mut transaction = open().begin().unwrap();
    transaction.create_table(&TableSchema::new("t", columns, vec![0]).unwrap()).unwrap();
    transaction.commit().unwrap();
    for id in 0..3 * i64::try_from(RUNS_MAX).unwrap() {
        let engine = open();
        let mut transaction = engine.begin().unwrap();
        let schema = engine.snapshot().unwrap().table("t").unwrap().schema().clone();
        transaction.insert(&schema, vec![[Datum::Integer(id)].into()]).unwrap();
        transaction.commit().unwrap();
    }
    let engine = open();
    engine.fold().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    assert!(table.version().keys.runs().count() <= RUNS_MAX);
    for id in 0..3 * i64::try_from(RUNS_MAX).unwrap() {
        assert!(table.find_key(&[Datum::Integer(id)]).unwrap().is_some(), "key {id}");
    }
    let problems = engine.verify(&mut |_, _| {}).unwrap().problems;
    assert!(problems.is_empty(), "{problems:?}");
}

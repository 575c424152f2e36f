//! Shapes that change over rows that stay, and views, through the public face.

use crate::reference::{batch_of, random_row, rows_of, schema, verify};
use gadus_base::{ByteCount, Random};
use gadus_block::MemoryFolder;
use gadus_engine::{
    ColumnDefinition, ColumnType, Datum, Durability, Engine, ErrorKind, Options, Reason, RowChange,
    Table, TableSchema, UsedColumn, UsedRelation, ViewColumn, ViewSchema,
};
use std::sync::Arc;

const NAME: &str = "x.gadus";

fn open(folder: &Arc<MemoryFolder>) -> Engine {
    let options = Options { cache: Some(ByteCount::mib(4)), threads: 1, ..Options::default() };
    Engine::open(folder.clone(), NAME, options).unwrap()
}

fn table(engine: &Engine) -> Table {
    engine.snapshot().unwrap().table("t").unwrap()
}

/// All rows, each with its values of the named columns.
fn values(table: &Table, names: &[&str]) -> Vec<Vec<Datum>> {
    let columns = names.iter().map(|name| table.schema().column_index(name).unwrap());
    let columns = columns.collect::<Vec<_>>();
    let mut all = Vec::new();
    for first in 0..20_000 {
        let Some(row) = table.find_key(&[Datum::Integer(first)]).unwrap() else { continue };
        all.push(table.values(row, &columns).unwrap().unwrap());
    }
    all
}

/// A table with rows in a base, behind it, patched and deleted.
fn filled(engine: &Engine) -> Arc<TableSchema> {
    let mut random = Random::seeded(5);
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    let rows = (0..10_000).map(|first| random_row(&mut random, &schema, first));
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &rows.collect::<Vec<_>>())).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    for first in 10_000..10_100 {
        let row = random_row(&mut random, &schema, first).into();
        engine.insert_rows(&schema, vec![row], Durability::Off).unwrap();
    }
    change(engine, &schema, 7, 1, Datum::Integer(700));
    change(engine, &schema, 10_050, 3, Datum::Float(0.5));
    for first in [8, 10_051] {
        let key = [Datum::Integer(first)];
        engine.change_row(&schema, &key, Durability::Off, |_| Ok(RowChange::Delete)).unwrap();
    }
    schema
}

fn change(engine: &Engine, schema: &TableSchema, first: i64, column: usize, value: Datum) {
    let change = |_: &[Datum]| Ok(RowChange::Update(vec![(column, value.clone())]));
    let key = [Datum::Integer(first)];
    assert_eq!(engine.change_row(schema, &key, Durability::Off, change).unwrap(), 1);
}

/// Without c1, c3 called `c`, and a column more in the middle.
fn altered(engine: &Engine, before: &TableSchema) -> Arc<TableSchema> {
    let mut after = before.clone();
    after.columns.remove(1);
    after.columns[2].name = "c".to_owned();
    let added = ColumnDefinition {
        id: before.next_column,
        nullable: false,
        ..ColumnDefinition::new("added", ColumnType::Text)
    };
    after.columns.insert(1, added);
    after.next_column += 1;
    let mut transaction = engine.begin().unwrap();
    let value = (before.next_column, Datum::text("all have it"));
    let after = transaction.alter_table(&after, &[value]).unwrap();
    transaction.commit().unwrap();
    after
}

#[test]
fn columns_are_added_dropped_and_renamed_while_rows_stay() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let before = filled(&engine);
    let old = table(&engine);
    let kept = values(&old, &["c0", "c2", "c3", "c4"]);
    let after = altered(&engine, &before);
    assert_eq!(values(&table(&engine), &["c0", "c2", "c", "c4"]), kept);
    assert_eq!(values(&old, &["c0", "c2", "c3", "c4"]), kept, "the old snapshot is as it was");
    let key = [Datum::Integer(1)];
    let stale = engine.change_row(&before, &key, Durability::Off, |_| Ok(RowChange::Delete));
    assert_eq!(stale.unwrap_err().kind(), ErrorKind::Conflict);
    // What is written now is of the new shape.
    change(&engine, &after, 9, 1, Datum::text("one has another"));
    change(&engine, &after, 10_060, 3, Datum::Float(2.5));
    let row = [100_000, 1, 2, 3, 4].map(Datum::Integer);
    let row = [row[0].clone(), Datum::text("new"), Datum::Null, Datum::Null, Datum::Null];
    engine.insert_rows(&after, vec![row.into()], Durability::Off).unwrap();
    let names = ["c0", "added", "c2", "c", "c4"];
    let wanted = values(&table(&engine), &names);
    let is_added = |row: &&Vec<Datum>| row[1] == Datum::text("all have it");
    assert_eq!(wanted.iter().filter(is_added).count(), wanted.len() - 1);
    drop((old, engine));
    // By the manifest of the checkpoint; then by new bases.
    for _ in 0..2 {
        let engine = open(&folder);
        assert_eq!(values(&table(&engine), &names), wanted);
        verify(&engine, "after the change");
        engine.fold().unwrap();
        assert_eq!(values(&table(&engine), &names), wanted);
        engine.checkpoint().unwrap();
        verify(&engine, "after the change");
    }
}

#[test]
fn a_changed_shape_is_recovered_from_the_log() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let before = filled(&engine);
    altered(&engine, &before);
    let wanted = values(&table(&engine), &["c0", "added", "c", "c4"]);
    let crashed = Arc::new(folder.copy());
    drop(engine);
    let engine = open(&crashed);
    assert_eq!(values(&table(&engine), &["c0", "added", "c", "c4"]), wanted);
    verify(&engine, "after the change");
}

#[test]
fn a_transaction_changes_rows_and_then_their_shape() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let before = filled(&engine);
    let mut transaction = engine.begin().unwrap();
    let row = table(&engine).find_key(&[Datum::Integer(3)]).unwrap().unwrap();
    let value = vec![vec![Datum::Float(1.5)]];
    transaction.update(&before, &[3], &[row], &value).unwrap();
    let mut random = Random::seeded(6);
    let row = random_row(&mut random, &before, 15_000).into();
    transaction.insert(&before, vec![row]).unwrap();
    let rows = (16_000..26_000).map(|first| random_row(&mut random, &before, first));
    let mut bulk = transaction.bulk(&before).unwrap();
    bulk.push(&batch_of(&before, &rows.collect::<Vec<_>>())).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    let mut after = (*before).clone();
    after.columns.remove(1);
    let after = transaction.alter_table(&after, &[]).unwrap();
    let mut dropped = (*after).clone();
    dropped.columns.remove(1);
    transaction.alter_table(&dropped, &[]).unwrap();
    let wanted = values(&transaction.snapshot().table("t").unwrap(), &["c0", "c3", "c4"]);
    transaction.commit().unwrap();
    assert_eq!(wanted[3][1], Datum::Float(1.5));
    assert_eq!(values(&table(&engine), &["c0", "c3", "c4"]), wanted);
    verify(&engine, "after the change");
    drop(engine);
    let engine = open(&folder);
    assert_eq!(values(&table(&engine), &["c0", "c3", "c4"]), wanted);
    verify(&engine, "after the change");
}

#[test]
fn rows_that_are_kept_are_changed_by_nobody() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let schema = filled(&engine);
    let mut late = engine.begin().unwrap();
    change(&engine, &schema, 1, 1, Datum::Integer(1));
    assert_eq!(late.keep_rows(&schema).unwrap_err().kind(), ErrorKind::Conflict);
    drop(late);
    let mut transaction = engine.begin().unwrap();
    transaction.keep_rows(&schema).unwrap();
    let key = [Datum::Integer(1)];
    let refused = engine.change_row(&schema, &key, Durability::Off, |_| Ok(RowChange::Delete));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Locked);
    drop(transaction);
    change(&engine, &schema, 1, 1, Datum::Integer(2));
}

#[test]
fn an_emptied_table_takes_rows_and_keys_again() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let schema = filled(&engine);
    let mut transaction = engine.begin().unwrap();
    let old = table(&engine);
    assert_eq!(transaction.empty_table(&schema).unwrap(), 10_098);
    let row = random_row(&mut Random::seeded(7), &schema, 3).into();
    transaction.insert(&schema, vec![row]).unwrap();
    transaction.commit().unwrap();
    assert_eq!((old.rows().unwrap(), table(&engine).rows().unwrap()), (10_098, 1));
    engine.fold().unwrap();
    verify(&engine, "after the change");
    drop((old, engine));
    let engine = open(&folder);
    assert_eq!(rows_of(&table(&engine), Vec::new()).len(), 1);
    verify(&engine, "after the change");
}

fn view(name: &str, of: &str, id: gadus_base::TableId) -> ViewSchema {
    let column = ViewColumn { name: "c".to_owned(), column_type: Some(ColumnType::Int64) };
    let columns = vec![UsedColumn { id: 0, name: "c".to_owned(), is_used: true }];
    let uses = vec![UsedRelation { id, name: of.to_owned(), columns }];
    ViewSchema::new(name, format!("SELECT c FROM {of}"), vec![column], uses).unwrap()
}

#[test]
fn views_keep_what_they_read() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let schema = filled(&engine);
    let mut transaction = engine.begin().unwrap();
    let one = transaction.create_view(&view("one", "t", schema.id), false).unwrap();
    let two = transaction.create_view(&view("two", "one", one.id), false).unwrap();
    let taken = transaction.create_view(&view("t", "one", one.id), false).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    let round = transaction.create_view(&view("one", "two", two.id), true).unwrap_err();
    assert_eq!(round.reason(), Some(Reason::ReadsItself));
    transaction.commit().unwrap();
    let mut transaction = engine.begin().unwrap();
    for refused in [transaction.drop_table("t"), transaction.drop_view("one")] {
        assert_eq!(refused.unwrap_err().reason(), Some(Reason::Depended));
    }
    let mut without = (*schema).clone();
    without.columns.remove(0);
    without.key.clear();
    let refused = transaction.alter_table(&without, &[]).unwrap_err();
    assert_eq!(refused.reason(), Some(Reason::Depended));
    for (name, error) in [("one", transaction.drop_table("one")), ("t", transaction.drop_view("t"))]
    {
        assert_eq!(error.unwrap_err().reason(), Some(Reason::WrongObject), "{name}");
    }
    drop((transaction, engine));
    let engine = open(&folder);
    let snapshot = engine.snapshot().unwrap();
    assert_eq!(snapshot.find_view("two").unwrap(), two);
    assert_eq!(snapshot.readers(schema.id).map(|view| &view.name).collect::<Vec<_>>(), ["one"]);
}

#[test]
fn a_view_is_not_created_of_what_is_dropped_meanwhile() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let schema = filled(&engine);
    let (mut creates, mut drops) = (engine.begin().unwrap(), engine.begin().unwrap());
    creates.create_view(&view("one", "t", schema.id), false).unwrap();
    drops.drop_table("t").unwrap();
    drops.commit().unwrap();
    assert_eq!(creates.commit().unwrap_err().kind(), ErrorKind::Conflict);
    let schema = filled(&engine);
    let (mut creates, mut drops) = (engine.begin().unwrap(), engine.begin().unwrap());
    creates.create_view(&view("one", "t", schema.id), false).unwrap();
    drops.drop_table("t").unwrap();
    creates.commit().unwrap();
    assert_eq!(drops.commit().unwrap_err().kind(), ErrorKind::Conflict);
}

//! What a database should hold, in the simplest form, and the comparison with what it does hold.
//!
//! - What a scan answers alone, a pass must answer among others.
//! - Every table has the same columns, and its first column is unique, so that a row is named by it.

use arrow::array::RecordBatch;
use gadus_base::{Random, RowId};
use gadus_engine::{
    Aggregate, Answer, ColumnDefinition, ColumnType, Comparison, Datum, Engine, Predicate,
    Question, Result, ScanRequest, Snapshot, Table, TableSchema, Test, Wanted, array_from_datums,
    datum_from_array,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

pub(crate) type Row = Vec<Datum>;

/// All tables by name.
pub(crate) type State = BTreeMap<String, TableState>;

/// A table's schema and its rows by their first column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableState {
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) rows: BTreeMap<i64, Row>,
}

pub(crate) const TYPES: [ColumnType; 5] = [
    ColumnType::Int64,
    ColumnType::Int32,
    ColumnType::Text,
    ColumnType::Float64,
    ColumnType::UInt64,
];

/// A table without a key, with one of the first column, or with one of two columns.
pub(crate) fn schema(name: &str, key: Vec<usize>) -> TableSchema {
    let column = |(index, column_type): (usize, &ColumnType)| ColumnDefinition {
        nullable: index > 0,
        ..ColumnDefinition::new(&format!("c{index}"), *column_type)
    };
    TableSchema::new(name, TYPES.iter().enumerate().map(column).collect(), key).unwrap()
}

pub(crate) fn random_value(random: &mut Random, column: usize, nullable: bool) -> Datum {
    const WORDS: [&str; 7] = [
        "",
        "a",
        "ab",
        "abc",
        "twelve bytes",
        "thirteen byte",
        "a text that is longer than a view holds",
    ];
    if nullable && random.chance(0.2) {
        return Datum::Null;
    }
    let small = random.below(40) as i64 - 20;
    match column {
        1 => Datum::Integer(small),
        2 if random.chance(0.3) => Datum::text(&format!("{} {}", WORDS[6], random.below(1000))),
        2 => Datum::text(WORDS[random.below(7) as usize]),
        3 => Datum::Float(small as f64 * 0.5),
        4 if random.chance(0.1) => {
            Datum::Wide(Box::new(i128::from(u64::MAX) - i128::from(small + 20)))
        }
        4 => Datum::Wide(Box::new(i128::from(small + 20))),
        _ => Datum::Integer(random.next_u64().cast_signed()),
    }
}

pub(crate) fn random_row(random: &mut Random, schema: &TableSchema, first: i64) -> Row {
    let value = |column: usize| match column {
        0 => Datum::Integer(first),
        _ => random_value(random, column, schema.columns[column].nullable),
    };
    (0..TYPES.len()).map(value).collect()
}

pub(crate) fn batch_of(schema: &TableSchema, rows: &[Row]) -> RecordBatch {
    let column =
        |index: usize| array_from_datums(TYPES[index], rows.iter().map(|row| &row[index])).unwrap();
    RecordBatch::try_new(schema.arrow(), (0..TYPES.len()).map(column).collect()).unwrap()
}

/// The rows of a table that pass, with their ids.
pub(crate) fn rows_of(table: &Table, predicates: Vec<Predicate>) -> BTreeMap<i64, (RowId, Row)> {
    try_rows_of(table, predicates).unwrap()
}

/// The same from a disk that may fail.
pub(crate) fn try_rows_of(
    table: &Table,
    predicates: Vec<Predicate>,
) -> Result<BTreeMap<i64, (RowId, Row)>> {
    let request = ScanRequest {
        projection: (0..TYPES.len()).collect(),
        predicates,
        with_row_ids: true,
        together: true,
    };
    let scan = table.scan(request)?;
    let mut rows = BTreeMap::new();
    for morsel in 0..scan.morsels() {
        scan.morsel(morsel, |batch| {
            assert!(batch.num_rows() > 0, "no batch is empty");
            let ids = batch.column(TYPES.len());
            for (row, values) in values_of(&batch).enumerate() {
                let Datum::Wide(id) = datum_from_array(ColumnType::UInt64, ids, row).unwrap()
                else {
                    panic!("a row id is a number")
                };
                let id = RowId::from_u64(u64::try_from(*id).unwrap());
                let before = rows.insert(integer(&values[0]), (id, values));
                assert!(before.is_none(), "a row is there twice: {before:?}");
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(rows)
}

pub(crate) fn integer(value: &Datum) -> i64 {
    match value {
        Datum::Integer(value) => *value,
        other => panic!("{other} is no integer"),
    }
}

/// What a snapshot holds.
pub(crate) fn state_of(snapshot: &Snapshot) -> State {
    let state = |table: &Table| TableState {
        schema: table.schema().clone(),
        rows: rows_of(table, Vec::new()).into_iter().map(|(id, (_, row))| (id, row)).collect(),
    };
    let tables = snapshot.tables();
    tables.iter().map(|table| (table.schema().name.clone(), state(table))).collect()
}

/// Fails unless the snapshot holds the state, by full scan, by key, by predicate and in sum.
pub(crate) fn compare(snapshot: &Snapshot, state: &State, random: &mut Random, place: &str) {
    assert_eq!(&state_of(snapshot), state, "{place}");
    for (name, expected) in state {
        let table = snapshot.table(name).unwrap();
        assert_eq!(table.rows().unwrap(), expected.rows.len() as u64, "{place}: {name}");
        compare_keys(&table, expected, random, place);
        for _ in 0..2 {
            compare_predicate(&table, expected, random, place);
        }
        // What is drawn for it changes nothing else.
        let mut own = random.child(1);
        if own.chance(0.2) {
            crate::questions::compare_shared(&table, expected, &mut own, place);
        }
    }
}

fn compare_keys(table: &Table, expected: &TableState, random: &mut Random, place: &str) {
    let schema = &expected.schema;
    if schema.key.is_empty() {
        return;
    }
    let key_of = |row: &Row| schema.key.iter().map(|&column| row[column].clone()).collect::<Row>();
    let some = 1 + expected.rows.len() / 20;
    for row in expected.rows.values().skip(random.below(some as u64) as usize).step_by(some) {
        let found = table.find_key(&key_of(row)).unwrap();
        let found = found.unwrap_or_else(|| panic!("{place}: the key of {row:?} is lost"));
        assert_eq!(table.row(found).unwrap().as_ref(), Some(row), "{place}");
    }
    let missing = key_of(&random_row(random, schema, i64::MAX));
    assert_eq!(table.find_key(&missing).unwrap(), None, "{place}");
}

/// A question, and what its answer should be.
pub(crate) struct Expected<'a> {
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) rows: Vec<&'a Row>,
    pub(crate) column: usize,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) folded: Vec<Datum>,
}

pub(crate) fn random_question<'a>(table: &'a TableState, random: &mut Random) -> Expected<'a> {
    let mut predicates = Vec::new();
    if random.chance(0.4) {
        predicates = random_range(random, table);
    }
    for _ in 0..1 + random.below(2) {
        predicates.push(random_predicate(random, table));
    }
    let passes = |row: &&Row| predicates.iter().all(|one| one.test.passes(&row[one.column]));
    let rows = table.rows.values().filter(passes).collect::<Vec<_>>();
    let column = random.below(TYPES.len() as u64) as usize;
    let mut aggregates = vec![
        Aggregate::CountRows,
        Aggregate::Count(column),
        Aggregate::Min(column),
        Aggregate::Max(column),
    ];
    // The first column's values fill 64 bits; the others sum exactly also as floats.
    if column != 2 {
        aggregates.push(Aggregate::Sum(column));
    }
    let folded = fold(&rows, column);
    Expected { predicates, rows, column, aggregates, folded }
}

/// What [`random_question`]'s aggregates of a column are for some rows.
pub(crate) fn fold(rows: &[&Row], column: usize) -> Vec<Datum> {
    let values =
        rows.iter().map(|row| &row[column]).filter(|value| !value.is_null()).collect::<Vec<_>>();
    let count = |count: usize| Datum::Integer(count as i64);
    let bound = |value: Option<&&Datum>| value.map_or(Datum::Null, |value| (*value).clone());
    let mut folded = vec![
        count(rows.len()),
        count(values.len()),
        bound(values.iter().min()),
        bound(values.iter().max()),
    ];
    if column != 2 {
        folded.push(sum(&values));
    }
    folded
}

fn compare_predicate(table: &Table, expected: &TableState, random: &mut Random, place: &str) {
    let Expected { predicates, rows, column, aggregates, folded } =
        random_question(expected, random);
    let found = rows_of(table, predicates.clone());
    let found = found.values().map(|(_, row)| row).collect::<Vec<_>>();
    assert_eq!(found, rows, "{place}: {predicates:?}");
    let answer = folded_values(table, predicates, aggregates, 2);
    assert_eq!(answer, folded, "{place}: column {column}");
}

/// The answer to one question alone.
pub(crate) fn folded_values(
    table: &Table,
    predicates: Vec<Predicate>,
    aggregates: Vec<Aggregate>,
    threads: usize,
) -> Vec<Datum> {
    let question = Question { predicates, wanted: Wanted::Fold(aggregates) };
    match table.answer(vec![question], threads, &|_| false).unwrap().remove(0).unwrap() {
        Answer::Folded(values) => values,
        _ => panic!("values were asked for"),
    }
}

/// The rows of a batch of all columns.
pub(crate) fn values_of(batch: &RecordBatch) -> impl Iterator<Item = Row> {
    (0..batch.num_rows()).map(|row| {
        let value =
            |column: usize| datum_from_array(TYPES[column], batch.column(column), row).unwrap();
        (0..TYPES.len()).map(value).collect()
    })
}

fn sum(values: &[&Datum]) -> Datum {
    let Some(first) = values.first() else { return Datum::Null };
    if let Datum::Float(_) = first {
        let value = |value: &&Datum| if let Datum::Float(value) = value { *value } else { 0.0 };
        return Datum::Float(values.iter().map(value).sum());
    }
    Datum::Wide(Box::new(values.iter().map(|value| value.as_wide().unwrap()).sum()))
}

pub(crate) fn random_predicate(random: &mut Random, table: &TableState) -> Predicate {
    let column = random.below(TYPES.len() as u64) as usize;
    let mut constant = || {
        let there = table.rows.values().nth(random.below(1 + table.rows.len() as u64) as usize);
        match there.map(|row| row[column].clone()) {
            Some(value) if !value.is_null() && random.chance(0.7) => value,
            _ => random_value(random, column, false),
        }
    };
    let (one, mut several) = (constant(), vec![constant(), constant(), constant()]);
    several.sort();
    several.dedup();
    let test = match random.below(6) {
        0 => Test::IsNull,
        1 => Test::IsNotNull,
        2 => Test::In(several),
        3 if column == 2 => {
            let Datum::Bytes(bytes) = one else { panic!("texts are bytes") };
            let length = random.below(1 + bytes.len() as u64) as usize;
            Test::StartsWith(bytes[..length].to_vec())
        }
        4 => Test::Between(several[0].clone(), several[several.len() - 1].clone()),
        _ => Test::Compare(Comparison::ALL[random.below(6) as usize], one),
    };
    Predicate { column, test }
}

/// A lower and an upper bound of one column, in any order.
fn random_range(random: &mut Random, table: &TableState) -> Vec<Predicate> {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let mut bounds = loop {
        let (one, other) = (random_predicate(random, table), random_predicate(random, table));
        if let (Test::Compare(_, low), Test::Compare(_, high)) = (&one.test, &other.test)
            && one.column == other.column
        {
            break vec![(one.column, low.clone()), (one.column, high.clone())];
        }
    };
    bounds.sort_by(|one, other| one.1.cmp(&other.1));
    if random.chance(0.1) {
        bounds.reverse();
    }
    let lower = if random.chance(0.5) { Greater } else { GreaterOrEqual };
    let upper = if random.chance(0.5) { Less } else { LessOrEqual };
    let comparisons = [lower, upper].into_iter().zip(bounds);
    let mut range: Vec<Predicate> = comparisons
        .map(|(comparison, (column, constant))| Predicate {
            column,
            test: Test::Compare(comparison, constant),
        })
        .collect();
    if random.chance(0.5) {
        range.reverse();
    }
    range
}

/// Fails when the engine finds anything wrong with itself.
pub(crate) fn verify(engine: &Engine, place: &str) {
    let verified = engine.verify(&mut |_, _| {}).unwrap();
    let problems: Vec<String> = verified.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, [] as [String; 0], "{place}");
    assert!(verified.tables.iter().all(|table| table.rows_read == table.rows), "{place}");
}

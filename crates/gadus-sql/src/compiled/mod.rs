//! Statements compiled from their parse tree, without DataFusion: point statements by primary key,
//! inserts of rows, and plain aggregates over simple filters.
//!
//! - A compiled statement holds the schema that it was made for; it is compiled again when the
//!   table has another.
//! - A value that a column cannot compare with exactly sends the statement to DataFusion, whose
//!   rules of coercion then hold.

mod aggregate;
mod budget;
mod compile;
mod compile_grouped;
mod compile_order;
mod compile_writes;
mod filter;
mod modify;
mod order;
mod point;
mod scan;
mod writes;

use crate::error::input;
use crate::kept::KEPT_TEXT_BYTES_MAX;
use crate::session::{Cancel, Outcome};
use crate::value::Value;
use aggregate::AggregateQuery;
use datafusion::sql::sqlparser::ast::Statement;

use gadus_base::Account;
use gadus_engine::{
    Answer, ColumnType, Datum, Error, Modification, Question, Result, Snapshot, TableSchema,
};
use modify::ModifyQuery;
use parking_lot::RwLock;
use point::{Insert, Numbers, PointDelete, PointSelect, PointUpdate};
use scan::ScanQuery;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use budget::Budget;
pub(crate) use writes::Writes;

/// Shapes that are kept; the table is emptied when it is full, which costs each shape one parse.
const SHAPES_MAX: usize = 4_096;

/// A statement that the engine runs without a plan.
#[derive(Debug)]
pub(crate) enum Compiled {
    Select(PointSelect),
    Insert(Insert),
    Update(PointUpdate),
    Delete(PointDelete),
    Aggregate(AggregateQuery),
    Scan(ScanQuery),
    Modify(ModifyQuery),
}

/// Where a value comes from when the statement runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Literal(Value),
    /// The parameter with this index, from 0; negated where a minus stands before it.
    Parameter {
        index: usize,
        negated: bool,
    },
}

/// The table that a statement was compiled for.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) schema: Arc<TableSchema>,
}

/// Compiled statements by shape; `None` for shapes that cannot be compiled.
#[derive(Debug, Default)]
pub(crate) struct CompiledCache {
    shapes: RwLock<HashMap<String, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    compiled: Option<Arc<Compiled>>,
    parameters: usize,
    schema_version: u64,
}

impl CompiledCache {
    /// The compiled form of a shape, made now if it is new; none when there is none, or when it
    /// does not have this many parameters.
    pub(crate) fn get(
        &self,
        shape: &str,
        parameters: usize,
        snapshot: &Snapshot,
    ) -> Option<Arc<Compiled>> {
        if let Some(entry) = self.shapes.read().get(shape)
            && entry.fits(snapshot)
        {
            return entry.with_parameters(parameters);
        }
        let entry = Entry::compile(shape, snapshot);
        let compiled = entry.with_parameters(parameters);
        if shape.len() > KEPT_TEXT_BYTES_MAX {
            return compiled;
        }
        let mut shapes = self.shapes.write();
        if shapes.len() >= SHAPES_MAX {
            shapes.clear();
        }
        shapes.insert(shape.to_owned(), entry);
        compiled
    }
}

impl Entry {
    fn compile(shape: &str, snapshot: &Snapshot) -> Self {
        let schema_version = snapshot.schema_version();
        let Ok(prepared) = crate::session::parse(shape) else {
            return Self { compiled: None, parameters: 0, schema_version };
        };
        let compiled = Compiled::compile(prepared.statement(), snapshot).map(Arc::new);
        Self { compiled, parameters: prepared.parameters(), schema_version }
    }

    fn with_parameters(&self, count: usize) -> Option<Arc<Compiled>> {
        self.compiled.clone().filter(|_| self.parameters == count)
    }

    fn fits(&self, snapshot: &Snapshot) -> bool {
        match &self.compiled {
            Some(compiled) => compiled.target().fits(snapshot),
            None => self.schema_version == snapshot.schema_version(),
        }
    }
}

impl Target {
    fn fits(&self, snapshot: &Snapshot) -> bool {
        // Not by id and version: a table that was rolled back leaves both to the next.
        self.table(snapshot).is_some_and(|table| Arc::ptr_eq(table.schema(), &self.schema))
    }

    /// The table as a snapshot sees it.
    fn table(&self, snapshot: &Snapshot) -> Option<gadus_engine::Table> {
        snapshot.table_by_id(self.schema.id)
    }

    fn column_type(&self, column: usize) -> ColumnType {
        self.schema.columns[column].column_type
    }

    /// The key that operands give, where every part compares exactly.
    fn key(&self, operands: &[Operand], parameters: &[Value]) -> Result<Option<Vec<Datum>>> {
        let mut key = Vec::with_capacity(operands.len());
        for (operand, &column) in operands.iter().zip(&self.schema.key) {
            match operand.value(parameters)?.exact(self.column_type(column)) {
                Some(datum) => key.push(datum),
                None => return Ok(None),
            }
        }
        Ok(Some(key))
    }
}

impl Operand {
    fn value(&self, parameters: &[Value]) -> Result<Value> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Parameter { index, negated } => {
                let value = parameters.get(*index).ok_or_else(|| {
                    input(format!(
                        "parameter ${} has no value: {} were given",
                        index + 1,
                        parameters.len()
                    ))
                })?;
                if *negated { negate(value) } else { Ok(value.clone()) }
            }
        }
    }
}

/// The value with its sign changed.
pub(crate) fn negate(value: &Value) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Integer(value) => value
            .checked_neg()
            .map(Value::Integer)
            .ok_or_else(|| input("a number leaves the range of 64-bit integers")),
        Value::Float(value) => Ok(Value::Float(-value)),
        Value::Decimal(value, scale) => Ok(Value::Decimal(-value, *scale)),
        other => Err(input(format!("{other:?} has no sign"))),
    }
}

impl Compiled {
    /// Compiles a statement, where it has one of the forms.
    pub(crate) fn compile(statement: &Statement, snapshot: &Snapshot) -> Option<Self> {
        compile::compile(statement, snapshot)
    }

    fn target(&self) -> &Target {
        match self {
            Self::Select(select) => &select.target,
            Self::Insert(insert) => &insert.target,
            Self::Update(update) => &update.target,
            Self::Delete(delete) => &delete.target,
            Self::Aggregate(aggregate) => &aggregate.target,
            Self::Scan(scan) => &scan.target,
            Self::Modify(modify) => &modify.target,
        }
    }

    pub(crate) fn writes(&self) -> bool {
        matches!(self, Self::Insert(_) | Self::Update(_) | Self::Delete(_))
    }

    /// Runs a statement that reads one row by its key; none when its values need DataFusion's rules.
    pub(crate) fn look_up(
        &self,
        snapshot: &Snapshot,
        parameters: &[Value],
    ) -> Result<Option<Outcome>> {
        match self {
            Self::Select(select) => select.run(snapshot, parameters),
            _ => Err(Error::internal("a statement that is no look-up was run as one")),
        }
    }

    /// Whether it scans its table.
    pub(crate) fn scans(&self) -> bool {
        matches!(self, Self::Aggregate(_) | Self::Scan(_) | Self::Modify(_))
    }

    /// Whether it changes what it scans.
    pub(crate) fn modifies(&self) -> bool {
        matches!(self, Self::Modify(_))
    }

    /// What is to be done to the rows that it scans for; none when its values need DataFusion's rules.
    pub(crate) fn modification(&self, parameters: &[Value]) -> Result<Option<Modification>> {
        match self {
            Self::Modify(query) => query.modification(parameters),
            _ => Err(Error::internal("a statement that modifies nothing was run as one")),
        }
    }

    /// What a scan asks of its table; none when its values need DataFusion's rules.
    pub(crate) fn question(
        &self,
        parameters: &[Value],
        budget: Budget,
    ) -> Result<Option<Question>> {
        match self {
            Self::Aggregate(query) => query.question(parameters, budget),
            Self::Scan(query) => query.question(parameters, budget),
            Self::Modify(query) => query.question(parameters),
            _ => Err(Error::internal("a statement that is no scan was run as one")),
        }
    }

    /// The rows that an answer to its question with these parameters means; none where they are too
    /// many to be held: then DataFusion, which spills, is to answer.
    pub(crate) fn outcome(
        &self,
        answer: &Answer,
        (parameters, budget): (&[Value], Budget),
        cancel: &Arc<Cancel>,
    ) -> Result<Option<Outcome>> {
        if let Some(account) = Account::current() {
            account.hold(answer.bytes() as u64);
        }
        let outcome = match (self, answer) {
            (_, Answer::TooMany) => return Ok(None),
            (Self::Aggregate(query), Answer::Folded(values)) => {
                query.outcome(&[(&[], values)], parameters)
            }
            (Self::Aggregate(query), Answer::Groups(groups)) => {
                let groups = groups.iter().map(|(names, values)| (&**names, values.as_slice()));
                query.outcome(&groups.collect::<Vec<_>>(), parameters)
            }
            (Self::Scan(query), Answer::Rows(found)) => {
                return query.outcome(found, (parameters, budget), cancel);
            }
            (Self::Modify(query), Answer::Changed(rows)) => Ok(query.outcome(*rows)),
            _ => Err(Error::internal("an answer of another kind than was asked for")),
        };
        outcome.map(Some)
    }

    /// The columns that it looks at of rows that it finds, beside those of its question.
    pub(crate) fn columns(&self) -> &[usize] {
        match self {
            Self::Scan(query) => query.read(),
            _ => &[],
        }
    }

    pub(crate) fn schema(&self) -> &Arc<TableSchema> {
        &self.target().schema
    }

    /// The numbers of sequences that a statement needs to write.
    pub(crate) fn numbers(
        &self,
        take: impl FnMut(&str, usize) -> Result<Vec<i64>>,
    ) -> Result<Numbers> {
        match self {
            Self::Insert(insert) => insert.numbers(take),
            _ => Ok(Numbers::new()),
        }
    }

    /// Runs a statement that writes, with the numbers that it needs; none when its values need DataFusion's rules.
    pub(crate) fn write(
        &self,
        writes: Writes<'_>,
        numbers: &Numbers,
        parameters: &[Value],
    ) -> Result<Option<Outcome>> {
        match self {
            Self::Insert(insert) => insert.run(writes, numbers, parameters),
            Self::Update(update) => update.run(writes, parameters),
            Self::Delete(delete) => delete.run(writes, parameters),
            _ => Err(Error::internal("a statement that reads was run as one that writes")),
        }
    }

    /// How the statement runs, as EXPLAIN shows it.
    pub(crate) fn explained(&self) -> String {
        let table = &self.target().schema.name;
        match self {
            Self::Select(_) => format!("Compiled: look up one row of {table} by primary key"),
            Self::Insert(insert) => format!("Compiled: insert {} rows into {table}", insert.rows()),
            Self::Update(_) => format!("Compiled: update one row of {table} by primary key"),
            Self::Delete(_) => format!("Compiled: delete one row of {table} by primary key"),
            Self::Aggregate(query) => query.explain(),
            Self::Scan(query) => query.explain(),
            Self::Modify(query) => query.explain(),
        }
    }
}

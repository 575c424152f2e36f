//! INSERT, UPDATE, DELETE and MERGE that are carried out by their bound trees.
//!
//! - What a change reads and computes are plans of `lowering`: the rows that it is about, what becomes of rows whose keys
//!   are there, and RETURNING. All of them are made before anything is changed.
//! - Defaults, rules of tables, locks and writes are those of all changes.
//! - A change goes this way if the binder accepts it and all of it can be lowered; others are planned from their text.

mod conflict;
mod defaults;
mod insert;
mod merge;
mod rows;
mod update;
mod within;

pub(super) use defaults::SetDefaults;
pub(super) use rows::RowsInHand;

use insert::InsertPlans;
use merge::MergePlans;
use update::ModifyPlans;

use super::bound_queries::{is_certain, left_to_text, with_values};
use super::columns::Headings;
use super::describe::Description;
use super::preparing::LARGE_TEXT;
use super::returning::Written;
use super::{Outcome, Prepared, Session};
use crate::analysis::{BinderCatalog, MAIN, bound_change, from_bind, unnested};
use crate::error::{from_datafusion, input};
use crate::lowering::{ChangeLowering, Items, KnownTables, NotLowered, Tables, parameter_type};
use crate::names::{Names, kept};
use crate::room::with_room;
use crate::value::Value;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::ast::Statement;
use gadus_binder::bound::{BoundQuery, Change, ChangeKind, ColumnId, CommonTable, Relational};
use gadus_binder::types::SqlType;
use gadus_binder::{BindError, BoundStatement, Relation};
use gadus_engine::{Error, Result, Snapshot, TableSchema, Transaction};
use std::sync::Arc;

type Lowered<T> = std::result::Result<T, NotLowered>;

/// Change with the names of its session.
pub(super) struct ChangeText<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) names: Option<Names>,
}

/// Change that is bound, with all that its plans need.
struct Bound<'a> {
    schema: Arc<TableSchema>,
    snapshot: Snapshot,
    context: SessionContext,
    tables: Tables,
    /// Types of parameters.
    types: Vec<SqlType>,
    arrow_types: Vec<DataType>,
    /// Values of parameters; `None` if the change is only described.
    parameters: Option<&'a [Value]>,
    headings: Vec<Headings>,
    /// Common tables whose rows are there.
    known: KnownTables,
}

/// Parts of a bound change.
struct Parts<'a> {
    common_tables: &'a [CommonTable],
    change: &'a Change,
}

impl<'a> Parts<'a> {
    fn of(query: &'a BoundQuery) -> Lowered<Self> {
        let (common_tables, root) = match &query.root {
            Relational::With { tables, input } => (tables.as_slice(), &**input),
            root => (&[][..], root),
        };
        match root {
            Relational::Change(change) => Ok(Self { common_tables, change }),
            _ => missing("a change within a query"),
        }
    }
}

/// Plans of a change.
enum Plans {
    Insert(Box<InsertPlans>),
    Modify(Box<ModifyPlans>),
    Merge(Box<MergePlans>),
}

impl Plans {
    fn returning(&self) -> Option<&RowsInHand> {
        match self {
            Self::Insert(plans) => plans.returning.as_ref(),
            Self::Modify(plans) => plans.returning.as_ref(),
            Self::Merge(_) => None,
        }
    }
}

impl Session {
    /// Carries out a change by its bound tree; `None` if it has to be planned from its text.
    pub(super) async fn change_bound(
        &self,
        transaction: &mut Transaction,
        change: &ChangeText<'_>,
        parameters: &[Value],
    ) -> Result<Option<Outcome>> {
        let verb = match &*change.prepared.statement {
            Statement::Insert(_) => "INSERT",
            Statement::Update(_) => "UPDATE",
            Statement::Delete(_) => "DELETE",
            Statement::Merge(_) => "MERGE",
            _ => return Ok(None),
        };
        let written =
            match self.plan_change(change, transaction.snapshot(), Some(parameters)).await? {
                Ok((bound, Plans::Insert(plans))) => {
                    self.insert_bound(transaction, bound, *plans).await?
                }
                Ok((bound, Plans::Modify(plans))) => {
                    self.modify_bound(transaction, bound, *plans).await?
                }
                Ok((bound, Plans::Merge(plans))) => {
                    self.merge_bound(transaction, bound, *plans).await?
                }
                Err(reason) => return left_to_text(reason, change.prepared),
            };
        Ok(Some(written.outcome(verb)))
    }

    /// Describes a change by its bound tree; `None` if that has no plan.
    pub(super) async fn describe_change(
        &self,
        change: &ChangeText<'_>,
        snapshot: Snapshot,
    ) -> Result<Option<Description>> {
        let planned = self.plan_change(change, snapshot, None).await?;
        let (bound, plans) = match planned {
            Ok(planned) => planned,
            Err(reason) if change.prepared.unread.is_some() => {
                return left_to_text(reason, change.prepared);
            }
            Err(_) => return Ok(None),
        };
        let columns = plans.returning().and_then(RowsInHand::outputs).map(|schema| {
            bound.headings.iter().fold(schema, |schema, headings| headings.over(&schema))
        });
        let parameters = bound.arrow_types.into_iter().map(Some).collect();
        Ok(Some(Description { parameters, columns }))
    }

    /// Shows a change as it is bound, and what keeps it from being planned: EXPLAIN (BOUND).
    pub(super) async fn explained_change(
        &self,
        change: &ChangeText<'_>,
        snapshot: Snapshot,
    ) -> Result<Vec<String>> {
        let catalog = BinderCatalog::new(snapshot.clone(), change.names.clone());
        let bound = with_room(true, || {
            let bound = bound_change(&catalog, &change.prepared.text);
            bound.map(|bound| bound.query.to_string())
        });
        let bound = bound.map_err(|error| match error {
            Some(error) => from_bind(error),
            None => input("EXPLAIN (BOUND) shows queries and changes"),
        })?;
        let mut lines = bound.lines().map(str::to_owned).collect::<Vec<_>>();
        if let Err(reason) = self.plan_change(change, snapshot, None).await? {
            lines.push(format!("Not planned from this tree: {reason}"));
        }
        Ok(lines)
    }

    /// Plans all parts of a change; without values its parameters stay.
    async fn plan_change<'a>(
        &self,
        change: &ChangeText<'_>,
        snapshot: Snapshot,
        parameters: Option<&'a [Value]>,
    ) -> Result<Lowered<(Bound<'a>, Plans)>> {
        let ChangeText { prepared, names } = change;
        if prepared.text.len() >= LARGE_TEXT {
            return Ok(missing("a long text"));
        }
        let catalog = BinderCatalog::new(snapshot.clone(), names.clone());
        let bound = with_room(prepared.is_deep, || bound_change(&catalog, &prepared.text));
        let bound = bound.and_then(|bound| unnested(bound).map_err(Some));
        let statement = match bound {
            Ok(bound) => bound,
            Err(Some(error)) if is_certain(&error) || is_of_changes(&error) => {
                return Ok(Err(NotLowered::Refused(error)));
            }
            Err(Some(error)) => return Ok(Err(NotLowered::Unbound(error))),
            Err(None) => return Ok(missing("this statement")),
        };
        let bound = match self.bound_parts((catalog, snapshot), &statement, prepared, parameters) {
            Ok(bound) => bound.await?,
            Err(reason) => return Ok(Err(reason)),
        };
        let plans = with_room(prepared.is_deep, || {
            let parts = Parts::of(&statement.query);
            let plans = parts.and_then(|parts| bound.plans(&parts));
            drop(statement);
            plans
        });
        Ok(plans.map(|plans| (bound, plans)))
    }

    /// Finds what the plans of a change need.
    fn bound_parts<'a>(
        &self,
        (catalog, snapshot): (BinderCatalog, Snapshot),
        statement: &BoundStatement,
        prepared: &Prepared,
        parameters: Option<&'a [Value]>,
    ) -> Lowered<impl Future<Output = Result<Bound<'a>>>> {
        let relation = &Parts::of(&statement.query)?.change.relation;
        let stored = stored_name(relation);
        let arrow_types = statement.parameters.iter().map(|one| parameter_type(*one));
        let (Some(table), Some(arrow_types)) =
            (snapshot.find_table(&stored), arrow_types.collect::<Option<Vec<_>>>())
        else {
            return missing("this table, or the type of a parameter");
        };
        let schema = table.schema().clone();
        let headings = headings_of(statement, prepared);
        let types = statement.parameters.clone();
        let context = self.planner_of_tables(snapshot.clone(), self.reading());
        Ok(async move {
            let context = context?;
            let planner = context.state();
            let catalogs = &**planner.catalog_list();
            let tables = Tables::find(catalogs, &catalog.into_found()).await;
            let tables = tables.map_err(from_datafusion)?.with_changed(catalogs, &stored).await;
            let tables = tables.map_err(from_datafusion)?;
            Ok(Bound {
                schema,
                snapshot,
                context,
                tables,
                types,
                arrow_types,
                parameters,
                headings,
                known: KnownTables::default(),
            })
        })
    }

    /// Ends a change: `rows` are those that RETURNING reads.
    async fn written_bound(
        &self,
        count: u64,
        headings: &[Headings],
        returning: Option<&RowsInHand>,
    ) -> Result<Written> {
        let Some(rows) = returning else { return Ok(Written::of(count)) };
        let returned = self.run_over(rows).await?;
        let returned = headings.iter().fold(returned, |rows, one| rows.with_headings(one));
        Ok(Written::with(count, returned))
    }
}

/// Returns the headings of a statement's columns, each over those before.
fn headings_of(statement: &BoundStatement, prepared: &Prepared) -> Vec<Headings> {
    let names = statement.query.outputs.iter().map(|output| Some(output.name.clone()));
    vec![Headings::of_each(names.collect()), Headings::of(&prepared.statement)]
}

/// Returns the name by which a relation is stored.
fn stored_name(relation: &Relation) -> String {
    match relation.schema.as_str() {
        MAIN => relation.name.clone(),
        schema => kept(schema, &relation.name),
    }
}

/// Says what is not lowered.
fn missing<T>(what: &str) -> Lowered<T> {
    Err(NotLowered::Missing(what.to_owned()))
}

/// Beginnings of errors of the lists and clauses of changes, which are no errors of syntax.
const OF_LISTS: [&str; 5] = [
    "INSERT has more",
    "multiple assignments",
    "unreachable WHEN",
    "number of columns",
    "WITH RECURSIVE is not supported for MERGE",
];

/// Returns true for errors that a change has whichever way it is planned: of its columns, their values and its key.
fn is_of_changes(error: &BindError) -> bool {
    match error.sql_state {
        "428C9" | "42P10" | "42701" | "42712" => true,
        // `main` is a schema for the planner of texts alone.
        "42P01" => {
            error.message.starts_with("invalid reference to FROM-clause entry")
                && !error.message.contains('.')
        }
        "42601" => OF_LISTS.iter().any(|start| error.message.starts_with(start)),
        "42703" => error.message.contains("of relation"),
        // Texts and X'00' are taken for bytes.
        "42804" => !error.message.contains("type bytea"),
        _ => false,
    }
}

impl Bound<'_> {
    fn plans(&self, parts: &Parts<'_>) -> Lowered<Plans> {
        match &parts.change.kind {
            ChangeKind::Insert(insert) => {
                let plans = self.insert(parts, insert)?;
                Ok(Plans::Insert(Box::new(plans)))
            }
            ChangeKind::Update(_) | ChangeKind::Delete { .. } => {
                let plans = self.modification(parts)?;
                Ok(Plans::Modify(Box::new(plans)))
            }
            ChangeKind::Merge(merge) => Ok(Plans::Merge(Box::new(self.merge(parts, merge)?))),
        }
    }

    /// Puts the values of parameters into a plan.
    fn with_values(&self, plan: LogicalPlan) -> Lowered<LogicalPlan> {
        let Some(parameters) = self.parameters else { return Ok(plan) };
        match with_values(plan, &self.arrow_types, parameters) {
            Some(plan) => Ok(plan),
            None => missing("a value of another type than its parameter"),
        }
    }

    /// Plans RETURNING over rows of the table and of the tables next to it.
    fn returning(
        &self,
        lowering: &mut ChangeLowering<'_>,
        change: &Change,
        others: Vec<(ColumnId, Field)>,
    ) -> Lowered<Option<RowsInHand>> {
        let Some(items) = &change.returning else { return Ok(None) };
        let mut columns = rows::columns_of(&self.schema, &change.row)?;
        columns.extend(others);
        let rows = RowsInHand::new(&self.context, columns)?;
        let plan = lowering.over(rows.table(), rows.ids(), None, Items::Columns(items))?;
        Ok(Some(rows.asked(self.with_values(plan)?)))
    }
}

/// Returns the arrays of a batch by the names of columns.
fn arrays_of(batch: &RecordBatch, names: &[String]) -> Result<Vec<ArrayRef>> {
    let array = |name: &String| {
        let array = batch.column_by_name(name).cloned();
        array.ok_or_else(|| Error::internal(format!("no column {name} in a plan")))
    };
    names.iter().map(array).collect()
}

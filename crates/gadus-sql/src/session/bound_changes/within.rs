//! Statements whose WITH changes rows.
//!
//! - Each common table is computed once, in its order, and its rows are kept for those that read it; a change is carried
//!   out even if no part reads what it returns.
//! - All parts read the snapshot at which the statement began: none sees what another has changed.

use super::{Bound, ChangeText, Parts, Plans, RowsInHand, headings_of, stored_name};
use crate::analysis::{BinderCatalog, bound_statement, from_bind, unnested};
use crate::error::{from_datafusion, unsupported};
use crate::lowering::{
    KnownTables, NotLowered, Tables, lower_beside, lower_common_table, parameter_type,
};
use crate::memory::Gathered;
use crate::room::with_room;
use crate::rows::RowStream;
use crate::session::bound_queries::told;
use crate::session::columns::Headings;
use crate::session::describe::Description;
use crate::session::parse::no_changes_within;
use crate::session::returning::Written;
use crate::session::{Outcome, Session};
use crate::value::Value;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::MemTable;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use gadus_binder::bound::{BoundQuery, Change, ChangeKind, CommonTable, Relational};
use gadus_binder::{BoundStatement, Relation};
use gadus_engine::{Result, Snapshot, Transaction};
use std::sync::Arc;

/// Statement with all that its parts are planned with.
struct Whole<'a> {
    snapshot: Snapshot,
    /// Planner of all parts.
    context: SessionContext,
    /// Relations that the statement names.
    found: Vec<Arc<Relation>>,
    statement: BoundStatement,
    arrow_types: Vec<DataType>,
    parameters: Option<&'a [Value]>,
    known: KnownTables,
    is_deep: bool,
}

/// Part that has been carried out: its rows, or only what they look like.
enum Done {
    Written(Written),
    Rows(SchemaRef, Vec<RecordBatch>),
}

impl Whole<'_> {
    /// Finds the tables of a part, with the one that it changes.
    async fn tables(&self, changed: Option<&str>) -> Result<Tables> {
        let planner = self.context.state();
        let catalogs = &**planner.catalog_list();
        let tables = Tables::find(catalogs, &self.found).await.map_err(from_datafusion)?;
        match changed {
            Some(stored) => tables.with_changed(catalogs, stored).await.map_err(from_datafusion),
            None => Ok(tables),
        }
    }
}

impl Session {
    /// Carries out a statement whose WITH changes rows.
    pub(in crate::session) async fn change_within(
        &self,
        transaction: &mut Transaction,
        change: &ChangeText<'_>,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let snapshot = transaction.snapshot();
        let whole = self.whole(change, snapshot, Some(parameters))?;
        let headings = headings_of(&whole.statement, change.prepared);
        match self.carry_out(Some(transaction), whole, headings.clone()).await? {
            Done::Written(written) => Ok(written.outcome(verb(&change.prepared.statement))),
            Done::Rows(schema, rows) => {
                let rows = RowStream::ready(schema, rows);
                Ok(Outcome::Rows(headings.iter().fold(rows, RowStream::with_headings)))
            }
        }
    }

    /// Describes a statement whose WITH changes rows.
    pub(in crate::session) async fn describe_within(
        &self,
        change: &ChangeText<'_>,
        snapshot: Snapshot,
    ) -> Result<Description> {
        let whole = self.whole(change, snapshot, None)?;
        let headings = headings_of(&whole.statement, change.prepared);
        let parameters = whole.arrow_types.iter().cloned().map(Some).collect();
        let columns = match self.carry_out(None, whole, Vec::new()).await? {
            Done::Written(_) => None,
            Done::Rows(schema, _) => {
                Some(headings.iter().fold(schema, |schema, headings| headings.over(&schema)))
            }
        };
        Ok(Description { parameters, columns })
    }

    fn whole<'a>(
        &self,
        change: &ChangeText<'_>,
        snapshot: Snapshot,
        parameters: Option<&'a [Value]>,
    ) -> Result<Whole<'a>> {
        let ChangeText { prepared, names } = change;
        let catalog = BinderCatalog::new(snapshot.clone(), names.clone());
        let bound = with_room(true, || bound_statement(&catalog, &prepared.text));
        let bound = bound.and_then(|bound| unnested(bound).map_err(Some));
        let statement = bound.map_err(|error| match error {
            Some(error) => from_bind(error),
            None => no_changes_within(),
        })?;
        let arrow_types = statement.parameters.iter().map(|one| parameter_type(*one));
        let arrow_types = arrow_types.collect::<Option<_>>();
        let arrow_types = arrow_types.ok_or_else(|| unsupported("the type of a parameter"))?;
        let context = self.planner_of_tables(snapshot.clone(), self.reading())?;
        Ok(Whole {
            snapshot,
            context,
            found: catalog.into_found(),
            statement,
            arrow_types,
            parameters,
            known: KnownTables::default(),
            is_deep: prepared.is_deep,
        })
    }

    /// Carries out all parts in their order; without a transaction they are only planned.
    async fn carry_out(
        &self,
        mut transaction: Option<&mut Transaction>,
        mut whole: Whole<'_>,
        headings: Vec<Headings>,
    ) -> Result<Done> {
        let root = std::mem::replace(&mut whole.statement.query.root, Relational::OneRow);
        let (tables, main) = match root {
            Relational::With { tables, input } => (tables, *input),
            root => (Vec::new(), root),
        };
        for table in &tables {
            let part = match parts(&table.query) {
                Some(parts) => {
                    let change = self.bound_part(&whole, parts.change, Vec::new()).await?;
                    Some(
                        self.change_part(transaction.as_deref_mut(), &whole, change, &parts)
                            .await?,
                    )
                }
                None if table.readers == 0 => None,
                None => Some(self.common_rows(&whole, table, transaction.is_some()).await?),
            };
            if let Some(Done::Rows(schema, rows)) = part {
                let rows = MemTable::try_new(schema, vec![rows]).map_err(from_datafusion)?;
                whole.known.add(table.id, Arc::new(rows));
            }
        }
        let outputs = std::mem::take(&mut whole.statement.query.outputs);
        let main = BoundQuery { root: main, outputs };
        match parts(&main) {
            Some(parts) => {
                let change = self.bound_part(&whole, parts.change, headings).await?;
                self.change_part(transaction, &whole, change, &parts).await
            }
            None => {
                let tables = whole.tables(None).await?;
                let plan = with_room(whole.is_deep, || {
                    let beside = (&tables, &whole.known);
                    let planner = whole.context.state();
                    lower_beside(&main, &planner, beside, &whole.statement.parameters)
                });
                self.rows_of_plan(&whole, plan, transaction.is_some()).await
            }
        }
    }

    /// Finds what the plans of a change need.
    async fn bound_part<'a>(
        &self,
        whole: &Whole<'a>,
        change: &Change,
        headings: Vec<Headings>,
    ) -> Result<Bound<'a>> {
        let stored = stored_name(&change.relation);
        let Some(table) = whole.snapshot.find_table(&stored) else {
            return Err(unsupported("a change of this relation in WITH"));
        };
        let schema = table.schema().clone();
        Ok(Bound {
            schema,
            snapshot: whole.snapshot.clone(),
            context: whole.context.clone(),
            tables: whole.tables(Some(&stored)).await?,
            types: whole.statement.parameters.clone(),
            arrow_types: whole.arrow_types.clone(),
            parameters: whole.parameters,
            headings,
            known: whole.known.clone(),
        })
    }

    /// Carries out a change; returns its rows if it returns some.
    async fn change_part(
        &self,
        transaction: Option<&mut Transaction>,
        whole: &Whole<'_>,
        bound: Bound<'_>,
        parts: &Parts<'_>,
    ) -> Result<Done> {
        let plans = with_room(whole.is_deep, || bound.plans(parts));
        let plans = plans.map_err(|reason| told(reason, None))?;
        let Some(transaction) = transaction else {
            return Ok(match plans.returning().and_then(RowsInHand::outputs) {
                Some(schema) => Done::Rows(schema, Vec::new()),
                None => Done::Written(Written::of(0)),
            });
        };
        let is_main = !bound.headings.is_empty();
        let written = match plans {
            Plans::Insert(plans) => self.insert_bound(transaction, bound, *plans).await?,
            Plans::Modify(plans) => self.modify_bound(transaction, bound, *plans).await?,
            Plans::Merge(plans) => self.merge_bound(transaction, bound, *plans).await?,
        };
        if is_main {
            return Ok(Done::Written(written));
        }
        match written.into_rows().await? {
            Some((schema, rows)) => Ok(Done::Rows(schema, rows)),
            None => Ok(Done::Written(Written::of(0))),
        }
    }

    /// Computes the rows of a common table.
    async fn common_rows(
        &self,
        whole: &Whole<'_>,
        table: &CommonTable,
        runs: bool,
    ) -> Result<Done> {
        let tables = whole.tables(None).await?;
        let plan = with_room(whole.is_deep, || {
            let beside = (&tables, &whole.known);
            let planner = whole.context.state();
            lower_common_table(table, &planner, beside, &whole.statement.parameters)
        });
        self.rows_of_plan(whole, plan, runs).await
    }

    async fn rows_of_plan(
        &self,
        whole: &Whole<'_>,
        plan: std::result::Result<LogicalPlan, NotLowered>,
        runs: bool,
    ) -> Result<Done> {
        let plan = plan.map_err(|reason| told(reason, None))?;
        let plan = match whole.parameters {
            Some(parameters) => {
                let plan = super::with_values(plan, &whole.arrow_types, parameters);
                plan.ok_or_else(|| unsupported("a value of another type than its parameter"))?
            }
            None => plan,
        };
        let schema = Arc::new(plan.schema().as_arrow().clone());
        if !runs {
            return Ok(Done::Rows(schema, Vec::new()));
        }
        let stream = self.stream_plan(&whole.context, plan).await?;
        let schema = stream.schema();
        let rows = Gathered::new(&self.shared.memory).collect(stream).await?;
        Ok(Done::Rows(schema, rows))
    }
}

/// Returns the parts of a query that is a change.
fn parts(query: &BoundQuery) -> Option<Parts<'_>> {
    let parts = Parts::of(query).ok()?;
    (!matches!(parts.change.kind, ChangeKind::Merge(_))).then_some(parts)
}

fn verb(statement: &datafusion::sql::sqlparser::ast::Statement) -> &'static str {
    use datafusion::sql::sqlparser::ast::Statement;
    match statement {
        Statement::Update(_) => "UPDATE",
        Statement::Delete(_) => "DELETE",
        _ => "INSERT",
    }
}

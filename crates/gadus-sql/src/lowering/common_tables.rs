//! WITH, and WITH RECURSIVE.

use super::casts::converted;
use super::json::read_stored;
use super::keys::has_key;
use super::types::{common_type, is_exact};
use super::{KnownTables, Lowering, Result, Typed, column_name, column_of_name, missing};
use crate::common_rows::CommonTable as SharedTable;
use crate::json::{self, JSONB};
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use gadus_binder::bound::{BoundQuery, ColumnId, CommonTable, CommonTableId, Relational};
use std::collections::HashSet;
use std::sync::Arc;

/// Plan of a common table.
#[derive(Debug, Clone)]
pub(super) enum LoweredTable {
    /// Query that becomes a part of the plan wherever it is read.
    Query(Arc<LogicalPlan>),
    /// Query that is computed once.
    Shared(Arc<SharedTable>),
    /// Rows of the last step, within the query of a recursive one.
    Step {
        /// Name by which the plan of the whole knows it.
        name: String,
        schema: SchemaRef,
    },
}

impl Lowering<'_> {
    /// Lowers a query with its common tables.
    pub(super) fn with(
        &mut self,
        tables: &[CommonTable],
        input: &Relational,
    ) -> Result<LogicalPlan> {
        self.common_tables(tables)?;
        self.relational(input)
    }

    /// Lowers common tables.
    pub(super) fn common_tables(&mut self, tables: &[CommonTable]) -> Result<()> {
        // One that is not read may be a change, which is carried out all the same.
        for table in tables {
            if self.common_tables.contains_key(&table.id) {
                continue;
            }
            let around = self.columns.keys().copied().collect::<HashSet<_>>();
            let plan = self.common_table_plan(table)?;
            if depends_on(&plan, &around) {
                return missing("a common table that depends on the row around");
            }
            let lowered = match self.is_shared(table, &plan) {
                true => self.share(&table.name, plan),
                false => LoweredTable::Query(Arc::new(plan)),
            };
            self.common_tables.insert(table.id, lowered);
        }
        Ok(())
    }

    /// Lowers the query of a common table.
    pub(super) fn common_table_plan(&mut self, table: &CommonTable) -> Result<LogicalPlan> {
        match &table.recursive {
            Some((step, all)) => self.recursive(table, step, *all),
            None => self.query(&table.query),
        }
    }

    /// Adds tables whose rows are there.
    pub(super) fn provide(&mut self, known: &KnownTables) -> Result<()> {
        for (id, rows) in &known.0 {
            let schema = rows.schema();
            let scan = LogicalPlanBuilder::scan("common", provider_as_source(rows.clone()), None)?;
            let items = schema.fields().iter().map(|field| {
                let value = Expr::Column(Column::new(Some("common"), field.name()));
                let value = read_stored(field, value.clone()).map_or(value, |stored| stored.expr);
                value.alias(field.name())
            });
            let plan = scan.project(items)?.build()?;
            self.common_tables.insert(*id, LoweredTable::Query(Arc::new(plan)));
        }
        Ok(())
    }

    /// Returns true for a table that is computed once, as PostgreSQL has it: one that is read twice, that changes from
    /// one reading to the next, or that the query says it of. A plan within a recursive step is computed for each.
    fn is_shared(&self, table: &CommonTable, plan: &LogicalPlan) -> bool {
        let is_wanted = match table.materialized {
            Some(is_materialized) => is_materialized,
            None => table.readers > 1,
        };
        let is_computed_once = is_wanted || is_volatile(plan);
        table.readers > 0 && is_computed_once && self.steps == 0
    }

    fn share(&mut self, name: &str, plan: LogicalPlan) -> LoweredTable {
        let schema = Arc::new(plan.schema().as_arrow().clone());
        let table = Arc::new(SharedTable::new(name.to_owned(), schema));
        self.shared.push((table.clone(), plan));
        LoweredTable::Shared(table)
    }

    /// Lowers a query that reads its own rows.
    fn recursive(
        &mut self,
        table: &CommonTable,
        step: &BoundQuery,
        all: bool,
    ) -> Result<LogicalPlan> {
        let start = self.query(&table.query)?;
        let types = start.schema().fields().iter().map(|field| match field.data_type() {
            // A later step may have other digits.
            exact if is_exact(exact) => NUMERIC,
            other => other.clone(),
        });
        let types = types.collect::<Vec<_>>();
        if !all && types.iter().any(has_key) {
            return missing("a recursive UNION of numerics");
        }
        let name = format!("r{}", table.id.0);
        let start = named(start, &name, &types)?;
        let fields = start.schema().fields().iter();
        let fields = fields.map(|field| Field::new(field.name(), field.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let working = LoweredTable::Step { name: name.clone(), schema };
        self.common_tables.insert(table.id, working);
        self.steps += 1;
        let step = self.query(step);
        self.steps -= 1;
        let step = named(step?, &name, &types)?;
        Ok(LogicalPlanBuilder::from(start).to_recursive_query(name, step, !all)?.build()?)
    }

    /// Reads a common table, with numbers of its own.
    pub(super) fn common_table_scan(
        &mut self,
        table: CommonTableId,
        columns: &[ColumnId],
    ) -> Result<LogicalPlan> {
        let plan = match self.common_tables.get(&table) {
            Some(LoweredTable::Query(plan)) => plan.clone(),
            Some(LoweredTable::Shared(table)) => {
                let rows = provider_as_source(table.clone());
                Arc::new(LogicalPlanBuilder::scan("common", rows, None)?.build()?)
            }
            Some(LoweredTable::Step { name, schema }) => {
                let rows = provider_as_source(Arc::new(CteWorkTable::new(name, schema.clone())));
                Arc::new(LogicalPlanBuilder::scan(name.clone(), rows, None)?.build()?)
            }
            None => return missing("a common table of another query"),
        };
        let fields = plan.schema().columns().into_iter().zip(plan.schema().fields());
        let mut items = Vec::with_capacity(columns.len());
        for ((from, field), id) in fields.zip(columns) {
            items.push(Expr::Column(from).alias(column_name(*id)));
            self.make(*id, field.data_type().clone());
        }
        Ok(LogicalPlanBuilder::new_from_arc(plan.clone()).project(items)?.build()?)
    }
}

/// Returns true for a plan that reads columns of queries around it.
fn depends_on(plan: &LogicalPlan, around: &HashSet<ColumnId>) -> bool {
    let is_around = |expr: &Expr| match expr {
        Expr::OuterReferenceColumn(_, column) => {
            column_of_name(&column.name).is_some_and(|id| around.contains(&id))
        }
        _ => false,
    };
    plan.all_out_ref_exprs().iter().any(is_around)
}

/// Returns true for a plan whose rows may be others when it runs again.
fn is_volatile(plan: &LogicalPlan) -> bool {
    plan.exists(|node| {
        let mut found = false;
        node.apply_expressions(|expr| {
            found |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    })
    .unwrap_or(true)
}

/// Gives the columns of a plan names of a common table, and types.
fn named(plan: LogicalPlan, table: &str, types: &[DataType]) -> Result<LogicalPlan> {
    let columns = plan.schema().columns().into_iter().zip(plan.schema().fields()).zip(types);
    let mut items = Vec::with_capacity(types.len());
    for (place, ((from, field), wanted)) in columns.enumerate() {
        let given = field.data_type().clone();
        if common_type(&given, wanted).as_ref() != Some(wanted) {
            return missing(format!("a recursive column of {wanted} and {given}"));
        }
        let from = Expr::Column(from);
        // Columns of both parts have to be the same, extension types among them.
        let from = match field.metadata().is_empty() {
            false if given == JSONB => json::plain_jsonb(from),
            false if given == DataType::Utf8View => json::shown(from, None),
            _ => from,
        };
        let value = converted(Typed::new(from, given), wanted.clone(), false)?;
        items.push(value.expr.alias(format!("{table}_{place}")));
    }
    Ok(LogicalPlanBuilder::from(plan).project(items)?.build()?)
}

//! Views as the planner sees them: their plans, over what they know.
//!
//! - Inside a view a name means what it meant when the view was made: the same table or view, whatever it is
//!   called by now, with the columns that were there then, under their names of then.

use super::catalog::SnapshotSchema;
use crate::analysis::{ViewCatalog, bound_query, unnested};
use crate::enums;
use crate::error::{limit, to_datafusion};
use crate::executor::check_cancelled;
use crate::lowering::{Tables, lower_view};
use crate::room::with_room;
use crate::session::view_statement;
use arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::catalog::view::ViewTable;
use datafusion::common::Column;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::execution::SessionState as PlannerState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::parser::Statement as PlannerStatement;
use gadus_engine::{ColumnType, Error, Snapshot, UsedRelation, ViewSchema};
use std::sync::Arc;

/// Views that read one another, one above the other.
const LEVELS_MAX: usize = 50;

/// Tables that a query reads, those of its views among them: each may become a level of its plan.
pub(crate) const SCANS_MAX: usize = 200;

impl SnapshotSchema {
    /// A view, as its plan.
    pub(super) async fn view_table(&self, view: Arc<ViewSchema>) -> Result<Arc<dyn TableProvider>> {
        let catalog = self.catalog.inside(view.clone());
        if catalog.levels() > LEVELS_MAX {
            let message = format!("more than {LEVELS_MAX} views that read one another");
            return Err(to_datafusion(limit(message)));
        }
        let Some(planner) = &self.catalog.planner else {
            return Err(to_datafusion(Error::internal("a view is there, and nothing plans it")));
        };
        let mut planner = PlannerState::clone(planner);
        planner.register_catalog_list(Arc::new(catalog));
        let bound =
            bound_view(self.catalog.snapshot(), &planner, (&view.query, &view.uses)).await?;
        let plan = match bound.filter(|bound| has_types(&bound.plan, &view)) {
            Some(bound) => bound.plan,
            None => {
                let mut statement = view_statement(&view.query).map_err(to_datafusion)?;
                let resolved = enums::resolve(self.catalog.snapshot(), &mut statement);
                resolved.map_err(to_datafusion)?;
                let statement = PlannerStatement::Statement(Box::new(statement));
                planner.statement_to_plan(statement).await?
            }
        };
        let scans = scans(&plan)?;
        if scans > SCANS_MAX {
            let name = &view.name;
            let message = format!(
                "view \"{name}\" reads more than {SCANS_MAX} tables, with those of its views"
            );
            return Err(to_datafusion(limit(message)));
        }
        let columns = view.columns.iter().map(|column| column.name.as_str());
        let plan = named(plan, columns)?;
        Ok(Arc::new(ViewTable::new(plan, Some(view.query.clone()))))
    }

    /// What a name means inside a view.
    pub(super) async fn used(&self, used: &UsedRelation) -> Result<Option<Arc<dyn TableProvider>>> {
        let snapshot = self.catalog.snapshot();
        let names = used.columns.iter().map(|column| column.name.as_str());
        let (whole, places) = if let Some(table) = snapshot.table_by_id(used.id) {
            let schema = table.schema().clone();
            let places = used.columns.iter().map(|column| schema.column_with_id(column.id));
            (self.snapshot_table(table), places.collect::<Vec<_>>())
        } else if let Some(view) = snapshot.view_by_id(used.id) {
            let places = used.columns.iter().map(|column| Some(column.id as usize));
            (self.view_table(view).await?, places.collect())
        } else {
            return Ok(None);
        };
        let schema = whole.schema();
        if is_as_known(&schema, used, &places) {
            return Ok(Some(whole));
        }
        let scan = LogicalPlanBuilder::scan(used.name.as_str(), provider_as_source(whole), None)?;
        // A column that is gone is read by nothing.
        let kept = places.iter().zip(names).filter_map(|(place, name)| Some(((*place)?, name)));
        let items = kept.map(|(place, name)| {
            let (qualifier, field) = scan.schema().qualified_field(place);
            Expr::Column(Column::from((qualifier, field))).alias(name)
        });
        let items = items.collect::<Vec<_>>();
        Ok(Some(Arc::new(ViewTable::new(scan.project(items)?.build()?, None))))
    }
}

/// Plan of a view's bound query.
pub(crate) struct BoundView {
    pub(crate) plan: LogicalPlan,
    /// Names of its columns.
    pub(crate) names: Vec<String>,
}

/// Plans the query of a view that reads these relations from its bound tree; `None` if it has no such plan.
pub(crate) async fn bound_view(
    snapshot: &Snapshot,
    planner: &PlannerState,
    (query, uses): (&str, &[UsedRelation]),
) -> Result<Option<BoundView>> {
    let catalog = ViewCatalog::new(snapshot, uses);
    let bound = with_room(true, || bound_query(&catalog, query));
    let Ok(bound) = bound.and_then(|bound| unnested(bound).map_err(Some)) else { return Ok(None) };
    let tables = Tables::find(&**planner.catalog_list(), &catalog.into_found()).await?;
    let plan = with_room(true, || lower_view(&bound.query, planner, &tables));
    check_cancelled()?;
    let names = bound.query.outputs.iter().map(|output| output.name.clone()).collect();
    Ok(plan.ok().map(|plan| BoundView { plan, names }))
}

/// Returns true if the columns of a plan have the types that a view had when it was made.
fn has_types(plan: &LogicalPlan, view: &ViewSchema) -> bool {
    let fields = plan.schema().fields();
    fields.len() == view.columns.len()
        && fields
            .iter()
            .zip(&view.columns)
            .all(|(field, column)| ColumnType::from_field(field) == column.column_type)
}

/// Whether a relation is as a view knows it.
fn is_as_known(schema: &Schema, used: &UsedRelation, places: &[Option<usize>]) -> bool {
    let is_there = |(index, (place, column)): (usize, (&Option<usize>, &str))| {
        *place == Some(index) && schema.field(index).name() == column
    };
    let names = used.columns.iter().map(|column| column.name.as_str());
    schema.fields().len() == places.len() && places.iter().zip(names).enumerate().all(is_there)
}

/// A plan whose columns have these names.
pub(crate) fn named<'a>(
    plan: LogicalPlan,
    names: impl Iterator<Item = &'a str>,
) -> Result<LogicalPlan> {
    let items = plan.schema().iter().zip(names).map(|(field, name)| {
        let column = Column::from(field);
        match column.name == name {
            true => Expr::Column(column),
            false => Expr::Column(column).alias(name),
        }
    });
    let items = items.collect::<Vec<_>>();
    LogicalPlanBuilder::from(plan).project(items)?.build()
}

/// The tables that a plan reads.
pub(crate) fn scans(plan: &LogicalPlan) -> Result<usize> {
    let mut scans = 0;
    plan.apply_with_subqueries(|plan| {
        scans += usize::from(matches!(plan, LogicalPlan::TableScan(_)));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(scans)
}

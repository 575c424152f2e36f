//! Bound queries as DataFusion's logical plans.
//!
//! - Columns are called by their numbers: no rule can take one for another. Headings are put on when rows leave.
//! - Each expression has its type, and each conversion is there: rules that give types find nothing to do.
//! - What has no plan yet ([`NotLowered::Missing`]) is left to the planner of texts.

mod arrays;
mod calls;
mod casts;
mod changes;
mod common_tables;
mod constants;
mod distinct;
mod forms;
mod frames;
mod functions;
mod grouping;
mod groups;
mod guards;
mod joins;
mod json;
mod keys;
mod operators;
mod ordered_sets;
mod relations;
mod rows;
mod scalars;
mod set_operations;
mod subqueries;
mod table_functions;
mod tables;
mod times;
mod types;
mod windows;

pub(crate) use changes::{
    CLAUSE_COLUMN, ChangeLowering, Items, Set, assigned_columns, column_of_name, schema_in_hand,
};
pub(crate) use rows::lower_row;
pub(crate) use tables::Tables;
pub(crate) use types::parameter_type;

use crate::arrays::leaf_of;
use crate::common_rows::{CommonTable as SharedTable, CommonTables};
use crate::json::JSONB;
use crate::numerics::NUMERIC;
use arrays::shown_array;
use casts::typed_output;
use common_tables::LoweredTable;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, DFSchema};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState as PlannerState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SortExpr};
use gadus_binder::BindError;
use gadus_binder::bound::{BoundQuery, ColumnId, CommonTable, CommonTableId};
use gadus_binder::types::SqlType;
use grouping::Grouping;
use keys::{bits, key};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Reason why a query has no plan of its bound tree.
#[derive(Debug)]
pub(crate) enum NotLowered {
    /// Form, type or function that is not lowered yet.
    Missing(String),
    /// Error of building the plan.
    Failed(DataFusionError),
    /// Error of the binder that may be due to what it does not know.
    Unbound(BindError),
    /// Error of the binder that the statement has in any case.
    Refused(BindError),
}

impl fmt::Display for NotLowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) => f.write_str(what),
            Self::Failed(error) => write!(f, "{error}"),
            Self::Unbound(error) | Self::Refused(error) => f.write_str(&error.message),
        }
    }
}

type Result<T> = std::result::Result<T, NotLowered>;

impl From<DataFusionError> for NotLowered {
    fn from(error: DataFusionError) -> Self {
        Self::Failed(error)
    }
}

/// Returns the error of what is not lowered.
fn missing<T>(what: impl Into<String>) -> Result<T> {
    Err(NotLowered::Missing(what.into()))
}

/// Expression with the type of its values.
#[derive(Debug, Clone)]
struct Typed {
    expr: Expr,
    data_type: DataType,
}

impl Typed {
    fn new(expr: Expr, data_type: DataType) -> Self {
        Self { expr, data_type }
    }
}

/// State of lowering one query.
struct Lowering<'a> {
    planner: &'a PlannerState,
    tables: &'a Tables,
    parameters: &'a [SqlType],
    /// Types of all columns so far.
    columns: HashMap<ColumnId, DataType>,
    /// Columns that were made within each query around, the innermost last.
    made: Vec<HashSet<ColumnId>>,
    common_tables: HashMap<CommonTableId, LoweredTable>,
    /// Common tables that are computed once, with their plans.
    shared: Vec<(Arc<SharedTable>, LogicalPlan)>,
    /// Recursive steps around.
    steps: usize,
    /// Grouping sets so far.
    groupings: Vec<Grouping>,
    /// Values of the CASEs around that have an operand, the innermost last.
    case_operands: Vec<Typed>,
    /// Order of the rows that are aggregated, for calls that have none of their own.
    input_order: Vec<SortExpr>,
    /// First column of the table that is changed, whose rows have their numbers with them.
    changed: Option<ColumnId>,
}

/// Returns the plan of a bound query. Its columns are in the order of the query's outputs.
pub(crate) fn lower(
    query: &BoundQuery,
    planner: &PlannerState,
    tables: &Tables,
    parameters: &[SqlType],
) -> Result<LogicalPlan> {
    lower_beside(query, planner, (tables, &KnownTables::default()), parameters)
}

/// Returns the plan of a view's query; common tables that are computed once have no position in it.
pub(crate) fn lower_view(
    query: &BoundQuery,
    planner: &PlannerState,
    tables: &Tables,
) -> Result<LogicalPlan> {
    let mut lowering = Lowering::new(planner, tables, &[]);
    let plan = shown(typed(lowering.query(query)?, query)?)?;
    match lowering.shared.is_empty() {
        true => Ok(plan),
        false => missing("a common table that is computed once, in a view"),
    }
}

/// Common tables whose rows are there.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownTables(HashMap<CommonTableId, Arc<dyn TableProvider>>);

impl KnownTables {
    /// Adds a table.
    pub(crate) fn add(&mut self, id: CommonTableId, rows: Arc<dyn TableProvider>) {
        self.0.insert(id, rows);
    }
}

/// Returns the plan of a bound query some of whose common tables are there.
pub(crate) fn lower_beside(
    query: &BoundQuery,
    planner: &PlannerState,
    (tables, known): (&Tables, &KnownTables),
    parameters: &[SqlType],
) -> Result<LogicalPlan> {
    beside(planner, (tables, known), parameters, |lowering| {
        shown(typed(lowering.query(query)?, query)?)
    })
}

/// Returns the plan of a common table that may read those that are there.
pub(crate) fn lower_common_table(
    table: &CommonTable,
    planner: &PlannerState,
    (tables, known): (&Tables, &KnownTables),
    parameters: &[SqlType],
) -> Result<LogicalPlan> {
    beside(planner, (tables, known), parameters, |lowering| lowering.common_table_plan(table))
}

/// Returns a plan that may read common tables that are there, with those that it computes once.
fn beside(
    planner: &PlannerState,
    (tables, known): (&Tables, &KnownTables),
    parameters: &[SqlType],
    lower: impl FnOnce(&mut Lowering<'_>) -> Result<LogicalPlan>,
) -> Result<LogicalPlan> {
    let mut lowering = Lowering::new(planner, tables, parameters);
    lowering.provide(known)?;
    let plan = lower(&mut lowering)?;
    Ok(CommonTables::around(plan, lowering.shared))
}

/// Returns a plan whose texts tell of which character type they are, and if they are JSON.
fn typed(plan: LogicalPlan, query: &BoundQuery) -> Result<LogicalPlan> {
    let (mut items, mut is_other) = (Vec::with_capacity(query.outputs.len()), false);
    for (field, output) in plan.schema().fields().iter().zip(&query.outputs) {
        let value = Expr::Column(Column::new_unqualified(field.name()));
        let other = typed_output(value.clone(), field, output.data_type)?;
        is_other |= other.is_some();
        items.push(other.unwrap_or(value));
    }
    match is_other {
        true => Ok(LogicalPlanBuilder::from(plan).project(items)?.build()?),
        false => Ok(plan),
    }
}

/// Returns a plan whose numerics and JSONB are as they leave.
fn shown(plan: LogicalPlan) -> Result<LogicalPlan> {
    let fields = plan.schema().fields();
    if !fields.iter().any(|field| [NUMERIC, JSONB].contains(leaf_of(field.data_type()))) {
        return Ok(plan);
    }
    let mut items = Vec::with_capacity(fields.len());
    for field in fields {
        let value = Expr::Column(Column::new_unqualified(field.name()));
        items.push(match json::shown_value(value.clone(), field.data_type()) {
            Some(shown) => shown.alias(field.name()),
            None => match shown_array(value.clone(), field.data_type())? {
                Some(shown) => shown.alias(field.name()),
                None => value,
            },
        });
    }
    Ok(LogicalPlanBuilder::from(plan).project(items)?.build()?)
}

/// Name of a column in plans.
fn column_name(id: ColumnId) -> String {
    format!("c{}", id.0)
}

/// Returns an expression that is a column of a plan's input.
fn column(id: ColumnId) -> Expr {
    Expr::Column(Column::new_unqualified(column_name(id)))
}

impl<'a> Lowering<'a> {
    fn new(planner: &'a PlannerState, tables: &'a Tables, parameters: &'a [SqlType]) -> Self {
        Self {
            planner,
            tables,
            parameters,
            columns: HashMap::new(),
            made: vec![HashSet::new()],
            common_tables: HashMap::new(),
            shared: Vec::new(),
            steps: 0,
            groupings: Vec::new(),
            case_operands: Vec::new(),
            input_order: Vec::new(),
            changed: None,
        }
    }

    /// Lowers a query, with exactly its outputs.
    fn query(&mut self, query: &BoundQuery) -> Result<LogicalPlan> {
        let plan = self.relational(&query.root)?;
        if query.outputs.is_empty() {
            return missing("a query without columns");
        }
        let wanted = query.outputs.iter().map(|output| column_name(output.id)).collect::<Vec<_>>();
        let fields = plan.schema().fields().iter();
        if fields.map(|field| field.name()).eq(wanted.iter()) {
            return Ok(plan);
        }
        let mut named = HashSet::new();
        let mut items = Vec::with_capacity(wanted.len());
        for (place, name) in wanted.into_iter().enumerate() {
            let expr = Expr::Column(Column::new_unqualified(&name));
            // A plan cannot give a column twice under its name.
            items.push(if named.insert(name.clone()) {
                expr
            } else {
                expr.alias(format!("{name}_{place}"))
            });
        }
        Ok(LogicalPlanBuilder::from(plan).project(items)?.build()?)
    }

    /// Returns a column that was made as an expression that stands for it in comparisons, orders and groups.
    fn key_of_column(&self, id: ColumnId) -> Expr {
        match self.columns.get(&id) {
            Some(data_type) => key(Typed::new(column(id), data_type.clone())),
            None => column(id),
        }
    }

    /// Returns a column that was made as an expression that stands for it where DataFusion compares bits.
    fn bits_of_column(&self, id: ColumnId) -> Expr {
        match self.columns.get(&id) {
            Some(data_type) => bits(Typed::new(column(id), data_type.clone())),
            None => column(id),
        }
    }

    /// Notes a column that an operator makes.
    fn make(&mut self, id: ColumnId, data_type: DataType) {
        self.columns.insert(id, data_type);
        if let Some(made) = self.made.last_mut() {
            made.insert(id);
        }
    }

    /// Returns a column as an expression, of this query or of one around it.
    fn column(&self, id: ColumnId) -> Result<Typed> {
        let Some(data_type) = self.columns.get(&id) else {
            return missing(format!("column {} that no operator makes", id.0));
        };
        let is_inner = self.made.last().is_some_and(|made| made.contains(&id));
        let expr = match is_inner {
            true => column(id),
            false => {
                let field = Field::new(column_name(id), data_type.clone(), true);
                let name = Column::new_unqualified(column_name(id));
                Expr::OuterReferenceColumn(field.into(), name)
            }
        };
        Ok(Typed::new(expr, data_type.clone()))
    }

    /// Lowers within a query of its own: columns of others are outer references there.
    fn nested<T>(&mut self, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.made.push(HashSet::new());
        let lowered = lower(self);
        self.made.pop();
        lowered
    }
}

/// Schema without columns, for expressions that name none.
fn no_columns() -> DFSchema {
    DFSchema::empty()
}

//! CHECK constraints: conditions on the rows of a table, evaluated over rows before they are written.
//!
//! - A row for which a condition is unknown passes, as everywhere in SQL.
//! - Statements that are compiled write no columns that a condition is about: see `compile_writes`.

use super::Session;
use super::modify::folded;
use crate::analysis::bound_row_expression;
use crate::enums;
use crate::error::{coded, from_datafusion, input, unsupported};
use crate::executor::refuse_numerics_within;
use crate::lowering::lower_row;
use crate::names::beside;
use crate::room::with_room;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ToDFSchema};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    EmptyRelation, Expr as PlannerExpr, LogicalPlan, LogicalPlanBuilder,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::sql::sqlparser::ast::{
    CheckConstraint, Expr, Ident, Query, SelectItem, SetExpr, Statement, VisitMut, VisitorMut,
};
use gadus_engine::{
    CheckDefinition, ColumnType, Error, ErrorKind, Reason, Result, TableSchema, schema_and_name,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The conditions of a table, ready to be evaluated.
pub(super) struct Checks {
    table: String,
    shape: SchemaRef,
    each: Vec<(String, Arc<dyn PhysicalExpr>)>,
}

impl Checks {
    pub(super) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// The columns of the table, in their order.
    pub(super) fn shape(&self) -> &SchemaRef {
        &self.shape
    }

    /// Refuses rows, given with all columns of their table, that do not meet a condition.
    pub(super) fn pass(&self, columns: &[ArrayRef]) -> Result<()> {
        if self.each.is_empty() || columns.first().is_none_or(|column| column.is_empty()) {
            return Ok(());
        }
        let batch = RecordBatch::try_new(self.shape.clone(), columns.to_vec())?;
        for (name, condition) in &self.each {
            let values = condition.evaluate(&batch).map_err(from_datafusion)?;
            let values = values.into_array(batch.num_rows()).map_err(from_datafusion)?;
            let is_met = |values: &dyn Array| {
                values
                    .as_boolean_opt()
                    .is_none_or(|values| !values.iter().any(|v| v == Some(false)))
            };
            if !is_met(&*values) {
                return Err(violated(&self.table, name));
            }
        }
        Ok(())
    }
}

impl Session {
    /// The conditions of a table.
    pub(super) fn checks(&self, schema: &TableSchema) -> Result<Checks> {
        let field =
            |column: &gadus_engine::ColumnDefinition| column.column_type.field(&column.name, true);
        let shape = Arc::new(Schema::new(schema.columns.iter().map(field).collect::<Vec<_>>()));
        let (table, mut each) = (schema.name.clone(), Vec::new());
        for check in &schema.checks {
            each.push((check.name.clone(), self.condition(&shape, &check.condition)?));
        }
        Ok(Checks { table, shape, each })
    }

    /// A condition over rows of a shape.
    fn condition(&self, shape: &SchemaRef, condition: &str) -> Result<Arc<dyn PhysicalExpr>> {
        let physical = self.row_expression(shape, condition, |_| Ok(()))?;
        match physical.data_type(shape).map_err(from_datafusion)? {
            DataType::Boolean | DataType::Null => Ok(physical),
            other => {
                let message = format!("argument of CHECK must be type boolean, not type {other}");
                Err(input(message).because(Reason::TypeMismatch))
            }
        }
    }

    /// An expression over rows of a shape, typed as in every query, where `look` has nothing against it.
    pub(super) fn row_expression(
        &self,
        shape: &SchemaRef,
        expression: &str,
        look: impl Fn(&PlannerExpr) -> Result<()>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let planner = &self.shared.planner;
        let schema: DFSchema = shape.clone().to_dfschema().map_err(from_datafusion)?;
        let bound = with_room(true, || {
            let bound = bound_row_expression(shape, expression)?;
            lower_row(&bound.query, planner, shape).ok()
        });
        if let Some(expr) = bound {
            look(&expr)?;
            let context = SimplifyContext::builder()
                .with_schema(Arc::new(schema.clone()))
                .with_config_options(planner.config_options().clone())
                .build();
            let simplified = ExprSimplifier::new(context).simplify(expr);
            let expr = simplified.map_err(from_datafusion)?;
            return planner.create_physical_expr(expr, &schema).map_err(from_datafusion);
        }
        let mut expr = respelled(expression)?;
        let types = shape.fields().iter().filter_map(|field| ColumnType::from_field(field));
        let types = types.collect::<Vec<_>>();
        enums::with_types_of(&types, &self.engine.snapshot()?, &mut expr)?;
        let expr = expr.to_string();
        let expr = planner.create_logical_expr(&expr, &schema).map_err(from_datafusion)?;
        refuse_numerics_within(&expr, &schema).map_err(from_datafusion)?;
        let is_aggregate =
            |expr: &PlannerExpr| Ok(matches!(expr, PlannerExpr::AggregateFunction(_)));
        if expr.exists(is_aggregate).map_err(from_datafusion)? {
            let message = "aggregate functions are not allowed in expressions of one row";
            return Err(coded("42803", message));
        }
        look(&expr)?;
        let rows = EmptyRelation { produce_one_row: false, schema: Arc::new(schema.clone()) };
        let plan = LogicalPlanBuilder::from(LogicalPlan::EmptyRelation(rows)).project([expr]);
        let plan = plan.and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
        let options = planner.config_options();
        let plan = planner.analyzer().execute_and_check(plan, options, |_, _| {});
        let LogicalPlan::Projection(mut typed) = plan.map_err(from_datafusion)? else {
            return Err(Error::internal("a condition is no expression"));
        };
        let expr = typed.expr.pop().ok_or_else(|| Error::internal("a condition is missing"))?;
        planner.create_physical_expr(expr, &schema).map_err(from_datafusion)
    }

    /// A CHECK of a table, as it is kept; its condition is one that can be evaluated.
    pub(super) fn check_definition(
        &self,
        schema: &TableSchema,
        constraint: &CheckConstraint,
    ) -> Result<CheckDefinition> {
        if constraint.enforced == Some(false) {
            return Err(unsupported("CHECK … NOT ENFORCED"));
        }
        let (condition, columns) = OfRows::look(schema, &constraint.expr, "check constraint")?;
        let condition = condition.to_string();
        let usual = usual_name(schema, &columns);
        let name = constraint_name(schema, constraint.name.as_ref(), &usual)?;
        let check = CheckDefinition { name, condition, columns };
        let one = TableSchema { checks: vec![check.clone()], ..schema.clone() };
        self.checks(&one)?;
        Ok(check)
    }
}

/// What the primary key of a table is called as a constraint.
pub(crate) fn key_name(schema: &TableSchema) -> String {
    format!("{}_pkey", schema_and_name(&schema.name).1)
}

/// Whether a constraint of a table has a name.
fn is_constraint(schema: &TableSchema, name: &str) -> bool {
    let is_key = !schema.key.is_empty() && key_name(schema) == name;
    let is_index = schema
        .index_named(&beside(&schema.name, name))
        .is_some_and(|index| index.constraint && index.unique);
    let is_foreign_key = schema.foreign_keys.iter().any(|key| key.name == name);
    is_key || is_index || is_foreign_key || schema.checks.iter().any(|check| check.name == name)
}

/// A row does not meet a condition of its table.
pub(super) fn violated(table: &str, name: &str) -> Error {
    let message = format!("new row for relation \"{table}\" violates check constraint \"{name}\"");
    Error::new(ErrorKind::CheckViolation, message)
}

/// The name of a constraint: the one that it is given, or the usual one with a number where that is taken.
pub(super) fn constraint_name(
    schema: &TableSchema,
    given: Option<&Ident>,
    usual: &str,
) -> Result<String> {
    let Some(name) = given.map(folded) else {
        let numbered = (1..).map(|number| format!("{usual}{number}"));
        let mut names = std::iter::once(usual.to_owned()).chain(numbered);
        return Ok(names.find(|name| !is_constraint(schema, name)).unwrap_or_default());
    };
    if is_constraint(schema, &name) {
        let table = &schema.name;
        let message = format!("constraint \"{name}\" for relation \"{table}\" already exists");
        return Err(Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateObject));
    }
    Ok(name)
}

/// As PostgreSQL names what has no name.
fn usual_name(schema: &TableSchema, columns: &[u32]) -> String {
    let of_column = match columns {
        [column] => schema.column_with_id(*column).map(|place| &schema.columns[place].name),
        _ => None,
    };
    let table = schema_and_name(&schema.name).1;
    match of_column {
        Some(column) => format!("{table}_{column}_check"),
        None => format!("{table}_check"),
    }
}

/// The same condition where a column has another name.
pub(super) fn with_name(condition: &str, old: &str, new: &str) -> Result<String> {
    struct Renamed<'a>(&'a str, &'a str);
    impl VisitorMut for Renamed<'_> {
        type Break = ();
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Identifier(name) = expr
                && folded(name) == self.0
            {
                *name = Ident::with_quote('"', self.1);
            }
            ControlFlow::Continue(())
        }
    }
    let mut expr = parsed(condition)?;
    let _ = VisitMut::visit(&mut expr, &mut Renamed(old, new));
    Ok(expr.to_string())
}

/// A condition, parsed as a part of a statement.
fn parsed(condition: &str) -> Result<Expr> {
    let prepared = super::parse(&format!("SELECT ({condition})"))?;
    item(&prepared.statement).ok_or_else(|| input(format!("{condition} is no condition")))
}

/// The same in words that the planner knows.
fn respelled(condition: &str) -> Result<Expr> {
    let prepared = super::parse(&format!("SELECT ({condition})"))?;
    let mut statement = Statement::clone(&prepared.statement);
    super::planners_words::respell(&mut statement, |_| false, &|_| None)?;
    item(&statement).ok_or_else(|| input(format!("{condition} is no condition")))
}

/// The one expression of a SELECT, without its parentheses.
fn item(statement: &Statement) -> Option<Expr> {
    let Statement::Query(query) = statement else { return None };
    let SetExpr::Select(select) = &*query.body else { return None };
    match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(Expr::Nested(expr))] => Some(Expr::clone(expr)),
        [SelectItem::UnnamedExpr(expr)] => Some(expr.clone()),
        _ => None,
    }
}

/// Sees that an expression is about one row of a table, and takes the table's name from its columns.
pub(super) struct OfRows<'a> {
    schema: &'a TableSchema,
    /// What it is a part of.
    of: &'a str,
    columns: BTreeSet<u32>,
}

impl<'a> OfRows<'a> {
    /// The expression as it is kept, and the numbers of the columns that it reads.
    pub(super) fn look(
        schema: &'a TableSchema,
        expr: &Expr,
        of: &'a str,
    ) -> Result<(Expr, Vec<u32>)> {
        let mut expr = expr.clone();
        let mut of_rows = Self { schema, of, columns: BTreeSet::new() };
        match VisitMut::visit(&mut expr, &mut of_rows) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok((expr, of_rows.columns.into_iter().collect())),
        }
    }
}

impl VisitorMut for OfRows<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        let message = format!("cannot use subquery in {}", self.of);
        ControlFlow::Break(Error::new(ErrorKind::Unsupported, message))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::CompoundIdentifier(names) = expr
            && let [table, column] = names.as_slice()
            && folded(table) == schema_and_name(&self.schema.name).1
        {
            *expr = Expr::Identifier(column.clone());
        }
        match expr {
            Expr::Identifier(name) => match self.schema.column_index(&folded(name)) {
                Some(place) => {
                    self.columns.insert(self.schema.columns[place].id);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(
                    Error::new(
                        ErrorKind::NotFound,
                        format!("column \"{}\" does not exist", folded(name)),
                    )
                    .because(Reason::UnknownColumn),
                ),
            },
            Expr::Function(function) if function.over.is_some() => {
                let message = format!("window functions are not allowed in {}s", self.of);
                ControlFlow::Break(coded("42P20", message))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

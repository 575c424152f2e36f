//! Subqueries in the place of values that depend on the row around them by other conditions than equality.
//!
//! - DataFusion makes joins of those that depend by equality, and runs no others: `(SELECT count(*) FROM t AS
//!   x WHERE x.b < t.b)`. An analyzer rule makes joins of these, too.
//! - The rows around are reduced to the distinct values that the subquery depends on; these are joined with what
//!   it reads, aggregated together, and joined back. So each value is computed once, and a row that finds nothing
//!   gets what the aggregate gives of nothing.
//! - What is around is planned twice: where it calls what is another each time, it is left alone.

mod as_values;
mod in_values;
mod membership;
mod outer_types;

pub(crate) use as_values::ConditionsAsValues;
pub(crate) use in_values::QueriesInValues;
pub(crate) use membership::Memberships;
pub(crate) use outer_types::OuterTypes;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullEquality, Result};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Operator,
    Subquery, lit, utils::split_conjunction,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes joins of subqueries that depend on rows in any way. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct JoinSubqueries {
    /// Sets the names of its columns apart.
    made: AtomicUsize,
}

impl AnalyzerRule for JoinSubqueries {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let joined = plan.transform_up_with_subqueries(|plan| self.node(plan))?;
        Ok(joined.data)
    }

    fn name(&self) -> &'static str {
        "join_subqueries"
    }
}

impl JoinSubqueries {
    /// Joins a node's input with what its subqueries give.
    fn node(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let is_ours = matches!(
            plan,
            LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::Aggregate(_)
        );
        let mut has_any = false;
        if is_ours {
            plan.apply_expressions(|expr| {
                expr.apply(|expr| {
                    has_any |= matches!(expr, Expr::ScalarSubquery(_));
                    Ok(TreeNodeRecursion::Continue)
                })
            })?;
        }
        if !has_any {
            return Ok(Transformed::no(plan));
        }
        let inputs = plan.inputs();
        let [input] = inputs.as_slice() else { return Ok(Transformed::no(plan)) };
        let before = (*input).clone();
        let (mut input, mut is_changed) = (before.clone(), false);
        let names = NamePreserver::new(&plan);
        let rewritten = plan.clone().map_expressions(|expr| {
            let name = names.save(&expr);
            let rewritten = expr.transform_up(|expr| {
                let Expr::ScalarSubquery(subquery) = &expr else {
                    return Ok(Transformed::no(expr));
                };
                match self.joined(&input, subquery)? {
                    Some((joined, value)) => {
                        input = joined;
                        is_changed = true;
                        Ok(Transformed::yes(value))
                    }
                    None => Ok(Transformed::no(expr)),
                }
            })?;
            Ok(rewritten.update_data(|expr| name.restore(expr)))
        })?;
        if !is_changed {
            return Ok(Transformed::no(plan));
        }
        let expressions = rewritten.data.expressions();
        let joined = rewritten.data.with_new_exprs(expressions, vec![input])?;
        // A filter gives what its input does.
        let joined = match joined {
            LogicalPlan::Filter(_) => {
                let columns = before.schema().iter().map(|field| Expr::Column(field.into()));
                let columns = columns.collect::<Vec<_>>();
                LogicalPlanBuilder::from(joined).project(columns)?.build()?
            }
            joined => joined,
        };
        Ok(Transformed::yes(joined))
    }

    /// Rows joined with the values of a subquery, and the column that has them; none where it is one that
    /// DataFusion joins, or that cannot be joined.
    fn joined(
        &self,
        rows: &LogicalPlan,
        subquery: &Subquery,
    ) -> Result<Option<(LogicalPlan, Expr)>> {
        let Some(Shape { value, aggregate, predicate, base }) = Shape::of(&subquery.subquery)
        else {
            return Ok(None);
        };
        let mut outer = outer_columns(&predicate)?;
        let of_value = outer_columns(&value)?;
        outer.extend(
            of_value.into_iter().filter(|column| !outer.contains(column)).collect::<Vec<_>>(),
        );
        let is_around = |column: &Column| rows.schema().has_column(column);
        if outer.is_empty()
            || !outer.iter().all(is_around)
            || !needs_join(&predicate)?
            || depends(base)?
            || aggregate.aggr_expr.iter().any(Expr::contains_outer)
            || is_volatile(rows)?
        {
            return Ok(None);
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mark = format!("gadus.mark{number}");
        let given = (0..outer.len()).map(|index| format!("gadus.given{number}_{index}"));
        let given = given.collect::<Vec<_>>();
        let items =
            outer.iter().zip(&given).map(|(column, name)| Expr::Column(column.clone()).alias(name));
        let distinct = LogicalPlanBuilder::from(rows.clone())
            .project(items.collect::<Vec<_>>())?
            .distinct()?;
        let read = base.schema().iter().map(|field| Expr::Column(field.into()));
        let read = read.chain([lit(true).alias(&mark)]).collect::<Vec<_>>();
        let read = LogicalPlanBuilder::from(base.clone()).project(read)?.build()?;
        let given_columns = given.iter().map(|name| Expr::Column(Column::new_unqualified(name)));
        let given_columns = given_columns.collect::<Vec<_>>();
        let condition = with_given(predicate, &outer, &given_columns)?;
        let mark = Expr::Column(Column::new_unqualified(&mark));
        let names =
            (0..aggregate.aggr_expr.len()).map(|index| format!("gadus.value{number}_{index}"));
        let names = names.collect::<Vec<_>>();
        let aggregates = aggregate.aggr_expr.iter().zip(&names);
        let aggregates = aggregates.map(|(expr, name)| of_marked(expr, &mark, name));
        let Some(aggregates) = aggregates.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let values = distinct
            .join_on(read, JoinType::Left, [condition])?
            .aggregate(given_columns, aggregates)?
            .build()?;
        let value = over_joined(value, &aggregate.aggr_expr, &names)?;
        let right = given.iter().map(Column::new_unqualified).collect::<Vec<_>>();
        let joined = LogicalPlanBuilder::from(rows.clone()).join_detailed(
            values,
            JoinType::Left,
            (outer, right),
            None,
            NullEquality::NullEqualsNull,
        )?;
        Ok(Some((joined.build()?, value)))
    }
}

/// A condition in which columns stand for those of the row around.
fn with_given(predicate: Expr, outer: &[Column], given: &[Expr]) -> Result<Expr> {
    let replaced = predicate.transform_up(|expr| {
        let Expr::OuterReferenceColumn(_, column) = &expr else { return Ok(Transformed::no(expr)) };
        let place = outer.iter().position(|outer| outer == column);
        Ok(place.map_or(Transformed::no(expr), |place| Transformed::yes(given[place].clone())))
    });
    replaced.map(|replaced| replaced.data)
}

/// An expression over aggregates and columns of the row around, where both are columns of one row.
fn over_joined(value: Expr, aggregates: &[Expr], names: &[String]) -> Result<Expr> {
    let replaced = value.transform_up(|expr| match &expr {
        Expr::OuterReferenceColumn(_, column) => Ok(Transformed::yes(Expr::Column(column.clone()))),
        Expr::Column(column) => {
            let is_it = |known: &Expr| known.schema_name().to_string() == column.name;
            let place = aggregates.iter().position(is_it);
            Ok(place.map_or(Transformed::no(expr), |place| {
                Transformed::yes(Expr::Column(Column::new_unqualified(&names[place])))
            }))
        }
        _ => Ok(Transformed::no(expr)),
    });
    replaced.map(|replaced| replaced.data)
}

/// A subquery that is an expression over aggregates of what a filter lets pass.
struct Shape<'a> {
    value: Expr,
    aggregate: &'a Aggregate,
    predicate: Expr,
    base: &'a LogicalPlan,
}

impl<'a> Shape<'a> {
    fn of(plan: &'a LogicalPlan) -> Option<Self> {
        let LogicalPlan::Projection(projection) = plan else { return None };
        let [value] = projection.expr.as_slice() else { return None };
        let LogicalPlan::Aggregate(aggregate) = &*projection.input else { return None };
        let LogicalPlan::Filter(Filter { predicate, input, .. }) = &*aggregate.input else {
            return None;
        };
        if !aggregate.group_expr.is_empty() {
            return None;
        }
        let (value, predicate) = (value.clone().unalias(), predicate.clone());
        Some(Self { value, aggregate, predicate, base: input })
    }
}

/// The same aggregate over marked rows, under a name.
fn of_marked(expr: &Expr, mark: &Expr, name: &str) -> Option<Expr> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = expr.clone().unalias() else {
        return None;
    };
    let filter = match params.filter {
        Some(filter) => filter.and(mark.clone()),
        None => mark.clone(),
    };
    let params = AggregateFunctionParams { filter: Some(Box::new(filter)), ..params };
    Some(Expr::AggregateFunction(AggregateFunction { func, params }).alias(name))
}

/// The columns of the rows around that an expression names, each once.
fn outer_columns(expr: &Expr) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    expr.apply(|expr| {
        if let Expr::OuterReferenceColumn(_, column) = expr
            && !columns.contains(column)
        {
            columns.push(column.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(columns)
}

/// Whether DataFusion makes no join of a subquery with this filter: something of it depends on the row around by
/// other than equality.
fn needs_join(predicate: &Expr) -> Result<bool> {
    for part in split_conjunction(predicate) {
        if !part.contains_outer() {
            continue;
        }
        let is_equality = match part {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
                let sides = [left.contains_outer(), right.contains_outer()];
                let inner = match sides {
                    [true, false] => right,
                    [false, true] => left,
                    _ => return Ok(true),
                };
                let outer = if sides[0] { left } else { right };
                outer.column_refs().is_empty() && !inner.column_refs().is_empty()
            }
            _ => false,
        };
        if !is_equality {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a plan depends on rows around it.
fn depends(plan: &LogicalPlan) -> Result<bool> {
    let mut depends = false;
    plan.apply_with_subqueries(|plan| {
        plan.apply_expressions(|expr| {
            depends |= expr.contains_outer();
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(depends)
}

fn is_subquery(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_))
}

fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut is_volatile = false;
    plan.apply_with_subqueries(|plan| {
        plan.apply_expressions(|expr| {
            is_volatile |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(is_volatile)
}

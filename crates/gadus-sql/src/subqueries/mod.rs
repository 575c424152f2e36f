//! Subqueries in the place of values and LATERAL ones, which depend on the row around them.
//!
//! - DataFusion makes joins of those that aggregate what equals a column of the row, and runs hardly any others:
//!   `(SELECT x FROM u WHERE u.k = t.k ORDER BY x LIMIT 1)`. An analyzer rule makes joins of these, too.
//! - The rows around are reduced to the distinct values that the subquery depends on, its bindings; the query is planned for
//!   all of them at once, and joined back. So each value is computed once.
//! - What gives several rows where one value is wanted is an error only for a row that asks for it.
//! - What is around is planned twice: where it may be another each time, it is left alone.

mod apart;
mod as_values;
mod bindings;
mod compared;
mod free;
mod in_values;
mod lateral;
mod membership;
mod only;
mod outer_types;
mod settled;

pub(crate) use apart::NamesApart;
pub(crate) use as_values::ConditionsAsValues;
pub(crate) use in_values::QueriesInValues;
pub(crate) use membership::Memberships;
pub(crate) use only::Only;
pub(crate) use outer_types::OuterTypes;

use bindings::Bindings;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, NullEquality, Result};
use datafusion::functions_aggregate::expr_fn::{count, first_value};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, FetchType, Filter, JoinType, LogicalPlan, LogicalPlanBuilder,
    Operator, Projection, Subquery, lit, utils::split_conjunction,
};
use datafusion::optimizer::AnalyzerRule;
use free::{column_of, depends, depends_in, free};
use settled::{is_settled, settled_limits};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes joins of subqueries that depend on rows in any way. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct JoinSubqueries {
    /// Sets the names of its columns apart.
    made: AtomicUsize,
    only: Only,
}

impl AnalyzerRule for JoinSubqueries {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(|plan| self.plan(plan))?.data)
    }

    fn name(&self) -> &'static str {
        "join_subqueries"
    }
}

impl JoinSubqueries {
    /// Joins a node's input with what its subqueries give.
    fn node(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let gives_its_input =
            matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Window(_));
        let is_planners = matches!(plan, LogicalPlan::Projection(_) | LogicalPlan::Filter(_));
        let is_ours = gives_its_input || is_planners || matches!(plan, LogicalPlan::Aggregate(_));
        let (mut has_any, mut has_dependent) = (false, false);
        if is_ours {
            plan.apply_expressions(|expr| {
                expr.apply(|expr| {
                    if let Expr::ScalarSubquery(subquery) = expr {
                        has_any = true;
                        let query = &subquery.subquery;
                        let is_left = is_planners && is_left_to_planner(query)?;
                        has_dependent |= !is_left && depends(query)?;
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })?;
        }
        if !has_any {
            return Ok(Transformed::no(plan));
        }
        let inputs = plan.inputs();
        let [input] = inputs.as_slice() else { return Ok(Transformed::no(plan)) };
        let around = match has_dependent {
            true => settled_limits(LogicalPlan::clone(input))?,
            false => LogicalPlan::clone(input),
        };
        let (mut input, mut is_changed) = (around.clone(), false);
        let names = NamePreserver::new(&plan);
        let rewritten = plan.clone().map_expressions(|expr| {
            let name = names.save(&expr);
            let rewritten = expr.transform_up(|expr| {
                let Expr::ScalarSubquery(subquery) = &expr else {
                    return Ok(Transformed::no(expr));
                };
                if let Some(nullable) = self.nullable(subquery)? {
                    is_changed = true;
                    return Ok(Transformed::yes(Expr::ScalarSubquery(nullable)));
                }
                if is_planners && is_left_to_planner(&subquery.subquery)? {
                    return Ok(Transformed::no(expr));
                }
                match self.joined((&input, &around), subquery)? {
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
        Ok(Transformed::yes(match gives_its_input {
            true => like(joined, plan.schema())?,
            false => joined,
        }))
    }

    /// A subquery that names nothing around it, and whose value may be NULL, as it may give no row: DataFusion looks only at
    /// what it selects, which may be found to be never NULL. None where it is like that.
    fn nullable(&self, subquery: &Subquery) -> Result<Option<Subquery>> {
        let query = &subquery.subquery;
        let columns = query.schema().columns();
        let [column] = columns.as_slice() else { return Ok(None) };
        if has_always_a_row(query) || is_call(query) || depends(query)? {
            return Ok(None);
        }
        let value = Expr::Column(column.clone());
        let value = self.only.call(value, lit(1_i64)).alias(&column.name);
        let query = LogicalPlanBuilder::from(query.clone()).project([value])?.build()?;
        Ok(Some(Subquery { subquery: Arc::new(query), ..subquery.clone() }))
    }

    /// Rows joined with the values of a subquery that depends on what is around, which they have, and the expression that has
    /// them; none where it cannot be joined.
    fn joined(
        &self,
        (rows, around): (&LogicalPlan, &LogicalPlan),
        subquery: &Subquery,
    ) -> Result<Option<(LogicalPlan, Expr)>> {
        let query = &*subquery.subquery;
        let columns = query.schema().columns();
        // Of others, the planner says what is wrong.
        let [value] = columns.as_slice() else { return Ok(None) };
        let value = Expr::Column(value.clone());
        let Some(bindings) = self.bindings(around, query)? else { return Ok(None) };
        let Some(bound) = self.bound(&bindings, query)? else { return Ok(None) };
        let number = bindings.number();
        let (name, many) = (format!("gadus.value{number}"), format!("gadus.many{number}"));
        let column = |name: &str| Expr::Column(Column::new_unqualified(name));
        let values = LogicalPlanBuilder::from(bound);
        let given = bindings.given();
        let (values, value) = if is_one_row(query) {
            let items = given.chain([value.alias(&name)]).collect::<Vec<_>>();
            (values.project(items)?, column(&name))
        } else {
            let one = first_value(value, vec![]).alias(&name);
            let aggregates = [one, count(lit(1_i64)).alias(&many)];
            let values = values.aggregate(given.collect::<Vec<_>>(), aggregates)?;
            (values, self.only.call(column(&name), column(&many)))
        };
        let (outer, given) = bindings.columns();
        let joined = LogicalPlanBuilder::from(rows.clone()).join_detailed(
            values.build()?,
            JoinType::Left,
            (outer.to_vec(), given.to_vec()),
            None,
            NullEquality::NullEqualsNull,
        )?;
        Ok(Some((joined.build()?, value)))
    }

    /// A query for all bindings; what was left of queries within it, as it depends on rows further out, is joined now.
    fn bound(&self, bindings: &Bindings, query: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        let Some(bound) = bindings.bound(query)? else { return Ok(None) };
        Ok(Some(bound.transform_up_with_subqueries(|plan| self.plan(plan))?.data))
    }

    fn plan(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match &plan {
            LogicalPlan::Join(join) => Ok(match self.lateral(join)? {
                Some(joined) => Transformed::yes(joined),
                None => Transformed::no(plan),
            }),
            _ => self.node(plan),
        }
    }

    /// What a query names of the rows around; none where it names nothing, or something that is further out, or where they
    /// are others each time.
    fn bindings(&self, rows: &LogicalPlan, query: &LogicalPlan) -> Result<Option<Bindings>> {
        let outer = free(query)?.iter().filter_map(column_of).cloned().collect::<Vec<_>>();
        let is_around = |column: &Column| rows.schema().has_column(column);
        if outer.is_empty() || !outer.iter().all(is_around) {
            return Ok(None);
        }
        let rows = without_windows(rows, &outer);
        if !is_settled(rows, &outer)? {
            return Ok(None);
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        Bindings::of(rows, outer, number).map(Some)
    }
}

/// Rows without what is computed for each of them by windows, where only the other columns are asked for.
fn without_windows<'a>(rows: &'a LogicalPlan, columns: &[Column]) -> &'a LogicalPlan {
    match rows {
        LogicalPlan::Window(window) => {
            let has = |column: &Column| window.input.schema().has_column(column);
            if columns.iter().all(has) { without_windows(&window.input, columns) } else { rows }
        }
        _ => rows,
    }
}

/// A plan with the columns of a schema, no more.
fn like(plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    let columns = schema.iter().map(|field| Expr::Column(field.into()));
    LogicalPlanBuilder::from(plan).project(columns.collect::<Vec<_>>())?.build()
}

/// Whether DataFusion makes a good join of a subquery: of an aggregate, or of a table's row by its key.
fn is_left_to_planner(query: &LogicalPlan) -> Result<bool> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = query else { return Ok(false) };
    let input = below_names(input);
    let (is_aggregate, filter) = match &**input {
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
            let own = aggregate.input.schema();
            for expr in &aggregate.aggr_expr {
                if depends_in(expr, own)? {
                    return Ok(false);
                }
            }
            (true, &aggregate.input)
        }
        _ => (false, input),
    };
    let LogicalPlan::Filter(Filter { predicate, input, .. }) = &**filter else { return Ok(false) };
    let is_one = is_aggregate || is_table(input) && query.max_rows().is_some_and(|rows| rows <= 1);
    for part in split_conjunction(predicate) {
        if has_subquery(part)? && depends_in(part, input.schema())? {
            return Ok(false);
        }
    }
    let is_plain = !expr.iter().any(Expr::contains_outer);
    Ok(is_one && is_plain && !depends(input)? && !needs_join(predicate)?)
}

/// Returns what is below projections that only give columns other names.
fn below_names(plan: &Arc<LogicalPlan>) -> &Arc<LogicalPlan> {
    match &**plan {
        LogicalPlan::Projection(projection) if projection.expr.iter().all(is_column) => {
            below_names(&projection.input)
        }
        _ => plan,
    }
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_column(&alias.expr),
        expr => matches!(expr, Expr::Column(_)),
    }
}

fn is_table(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) if projection.expr.iter().all(is_column) => {
            is_table(&projection.input)
        }
        LogicalPlan::SubqueryAlias(alias) => is_table(&alias.input),
        plan => matches!(plan, LogicalPlan::TableScan(_)),
    }
}

/// Whether a query gives a value that was made one that may be NULL.
fn is_call(query: &LogicalPlan) -> bool {
    match query {
        LogicalPlan::Projection(projection) => match projection.expr.as_slice() {
            [Expr::Alias(alias)] => Only::is_call(&alias.expr),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a query gives a row, whatever there is.
fn has_always_a_row(query: &LogicalPlan) -> bool {
    match query {
        LogicalPlan::Projection(projection) => has_always_a_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => has_always_a_row(&alias.input),
        LogicalPlan::Sort(sort) => has_always_a_row(&sort.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(empty) => empty.produce_one_row,
        _ => false,
    }
}

/// Whether a query gives no more than one row, whatever there is.
fn is_one_row(query: &LogicalPlan) -> bool {
    match query {
        LogicalPlan::Projection(projection) => is_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_one_row(&alias.input),
        LogicalPlan::Filter(filter) => is_one_row(&filter.input),
        LogicalPlan::Sort(sort) => is_one_row(&sort.input),
        LogicalPlan::Distinct(Distinct::All(input)) => is_one_row(input),
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1))))
                || is_one_row(&limit.input)
        }
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(_) => true,
        _ => false,
    }
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

fn is_subquery(expr: &Expr) -> bool {
    query_of(expr).is_some()
}

/// The query that an expression is.
fn query_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(query) => Some(query),
        Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::Exists(Exists { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// Returns true if an expression has a query within it.
pub(crate) fn has_subquery(expr: &Expr) -> Result<bool> {
    expr.exists(|expr| Ok(is_subquery(expr)))
}

fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut is_volatile = false;
    plan.apply_with_subqueries(|plan| {
        plan.apply_expressions(|expr| {
            is_volatile = is_volatile
                || expr.exists(|expr| Ok(expr.is_volatile_node() && !Only::is_call(expr)))?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(is_volatile)
}

//! A query for all rows around it at once.
//!
//! - What it names of a row around is a binding; the bindings are rows of their own, each once. They are joined with what
//!   the query reads, as far below as it names them, and each operator above keeps them apart: groups and windows are of one
//!   binding, a limit counts within one (Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015, section 3).
//! - What is not known here is not guessed at: then there is no such plan.

mod by_row;
mod joined;
mod ordered;

pub(super) use by_row::is_by_row;

use super::free::{self, depends, depends_in};
use super::has_subquery;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, Sort as SortExpr,
};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Operator,
    Projection, SubqueryAlias, binary_expr, lit,
};
use std::cell::Cell;

/// The rows around a query, as far as it names them.
pub(super) struct Bindings {
    /// Each once, in the columns `given`.
    rows: LogicalPlan,
    outer: Vec<Column>,
    given: Vec<Column>,
    /// Sets the names of columns apart.
    number: usize,
    made: Cell<usize>,
}

/// A filter of rows that do not depend on the bindings, or of some that do.
struct Parts {
    input: LogicalPlan,
    joining: Vec<Expr>,
    above: Vec<Expr>,
}

/// A plan of all bindings, which has their columns beside its own; none where there is no such plan.
type Bound = Result<Option<LogicalPlan>>;

impl Bindings {
    /// Those of these columns of rows.
    pub(super) fn of(around: &LogicalPlan, outer: Vec<Column>, number: usize) -> Result<Self> {
        let name = |place: usize| format!("gadus.given{number}_{place}");
        let given = (0..outer.len()).map(|place| Column::new_unqualified(name(place)));
        let given = given.collect::<Vec<_>>();
        let both = outer.iter().zip(&given);
        let items = both.map(|(outer, given)| Expr::Column(outer.clone()).alias(&given.name));
        let rows = LogicalPlanBuilder::from(around.clone())
            .project(items.collect::<Vec<_>>())?
            .distinct()?
            .build()?;
        Ok(Self { rows, outer, given, number, made: Cell::new(0) })
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// What they are of the rows around, and the columns that have them in a plan that is bound.
    pub(super) fn columns(&self) -> (&[Column], &[Column]) {
        (&self.outer, &self.given)
    }

    pub(super) fn given(&self) -> impl Iterator<Item = Expr> {
        self.given.iter().map(|column| Expr::Column(column.clone()))
    }

    /// The rows that a plan gives, for all bindings.
    pub(super) fn bound(&self, plan: &LogicalPlan) -> Bound {
        if matches!(plan, LogicalPlan::EmptyRelation(empty) if empty.produce_one_row) {
            return Ok(Some(self.rows.clone()));
        }
        if !depends(plan)? {
            let rows = LogicalPlanBuilder::from(self.rows.clone());
            return rows.cross_join(plan.clone())?.build().map(Some);
        }
        match plan {
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::Filter(filter) => self.filter(filter),
            LogicalPlan::SubqueryAlias(alias) => self.alias(alias),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Distinct(Distinct::All(input)) => self.over(input, |input| {
                LogicalPlanBuilder::from(self.only(input, plan)?).distinct()?.build()
            }),
            LogicalPlan::Distinct(Distinct::On(distinct)) => self.distinct_on(distinct),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Window(window) => self.window(window),
            LogicalPlan::Unnest(unnest) => self.unnest(unnest),
            LogicalPlan::Subquery(within) => self.bound(&within.subquery),
            _ => Ok(None),
        }
    }

    fn over(
        &self,
        input: &LogicalPlan,
        plan: impl FnOnce(LogicalPlan) -> Result<LogicalPlan>,
    ) -> Bound {
        self.bound(input)?.map(plan).transpose()
    }

    /// A plan with the columns of the bindings and those of another, no more.
    fn only(&self, plan: LogicalPlan, like: &LogicalPlan) -> Result<LogicalPlan> {
        let items = self.given().chain(columns_of(like)).collect::<Vec<_>>();
        LogicalPlanBuilder::from(plan).project(items)?.build()
    }

    fn name(&self, what: &str) -> String {
        let number = self.made.get();
        self.made.set(number + 1);
        format!("gadus.{what}{}_{number}", self.number)
    }

    /// An expression over rows of this schema, in which the bindings' columns stand for what they are.
    fn replaced(&self, expr: Expr, own: &DFSchema) -> Result<Expr> {
        free::replaced(expr, own, &|column| {
            let place = self.outer.iter().position(|outer| outer == column);
            place.map(|place| self.given[place].clone())
        })
    }

    /// The items of a plan over this input, each under the name that it has there.
    fn items(
        &self,
        items: &[Expr],
        input: &DFSchema,
        plan: &LogicalPlan,
        first: usize,
    ) -> Result<Vec<Expr>> {
        let item = |(place, expr): (usize, &Expr)| {
            if !depends_in(expr, input)? {
                return Ok(expr.clone());
            }
            let (qualifier, field) = plan.schema().qualified_field(first + place);
            let replaced = self.replaced(expr.clone().unalias(), input)?;
            Ok(replaced.alias_qualified(qualifier.cloned(), field.name()))
        };
        items.iter().enumerate().map(item).collect()
    }

    fn sorted(&self, exprs: &[SortExpr], input: &DFSchema) -> Result<Vec<SortExpr>> {
        let replaced = |sort: &SortExpr| {
            let expr = self.replaced(sort.expr.clone(), input)?;
            Ok(SortExpr { expr, ..sort.clone() })
        };
        exprs.iter().map(replaced).collect()
    }

    fn projection(&self, projection: &Projection) -> Bound {
        let plan = LogicalPlan::Projection(projection.clone());
        let items = self.items(&projection.expr, projection.input.schema(), &plan, 0)?;
        self.over(&projection.input, |input| {
            let items = self.given().chain(items).collect::<Vec<_>>();
            LogicalPlanBuilder::from(input).project(items)?.build()
        })
    }

    fn filter(&self, filter: &Filter) -> Bound {
        let parts = self.parts(filter)?;
        let bound = match depends(&parts.input)? {
            true => self.bound(&parts.input)?,
            false => {
                let rows = LogicalPlanBuilder::from(self.rows.clone());
                Some(match parts.joining.is_empty() {
                    true => rows.cross_join(parts.input)?.build()?,
                    false => rows.join_on(parts.input, JoinType::Inner, parts.joining)?.build()?,
                })
            }
        };
        let above = parts.above.into_iter().reduce(Expr::and);
        let filtered = |bound: LogicalPlan| match above {
            Some(above) => LogicalPlanBuilder::from(bound).filter(above)?.build(),
            None => Ok(bound),
        };
        bound.map(filtered).transpose()
    }

    /// The conditions of a filter: what does not depend on the bindings is asked of the input, what does joins it with them,
    /// and what has a query within it is no condition of a join.
    fn parts(&self, Filter { predicate, input, .. }: &Filter) -> Result<Parts> {
        let own = input.schema();
        let is_bound = depends(input)?;
        let (mut below, mut joining, mut above) = (Vec::new(), Vec::new(), Vec::new());
        for part in split_conjunction(predicate) {
            let replaced = self.replaced(part.clone(), own)?;
            match (depends_in(part, own)?, has_subquery(part)?) {
                (false, _) if !is_bound && !part.is_volatile() => below.push(replaced),
                (_, false) if !is_bound => joining.push(replaced),
                _ => above.push(replaced),
            }
        }
        let input = LogicalPlan::clone(input);
        let input = match below.into_iter().reduce(Expr::and) {
            Some(below) => LogicalPlanBuilder::from(input).filter(below)?.build()?,
            None => input,
        };
        Ok(Parts { input, joining, above })
    }

    fn alias(&self, SubqueryAlias { input, alias, .. }: &SubqueryAlias) -> Bound {
        let named = columns_of(input)
            .zip(input.schema().fields())
            .map(|(column, field)| column.alias_qualified(Some(alias.clone()), field.name()));
        let items = self.given().chain(named).collect::<Vec<_>>();
        self.over(input, |input| LogicalPlanBuilder::from(input).project(items)?.build())
    }

    fn aggregate(&self, aggregate: &Aggregate) -> Bound {
        let Aggregate { input, group_expr, aggr_expr, .. } = aggregate;
        let plan = LogicalPlan::Aggregate(aggregate.clone());
        if group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
            return Ok(None);
        }
        if group_expr.is_empty() {
            return self.aggregate_of_all(aggregate, &plan);
        }
        let groups = self
            .given()
            .chain(self.items(group_expr, input.schema(), &plan, 0)?)
            .collect::<Vec<_>>();
        let aggregates = self.items(aggr_expr, input.schema(), &plan, group_expr.len())?;
        self.over(input, |input| {
            LogicalPlanBuilder::from(input).aggregate(groups, aggregates)?.build()
        })
    }

    /// An aggregate without groups gives a row of nothing, too.
    fn aggregate_of_all(&self, aggregate: &Aggregate, plan: &LogicalPlan) -> Bound {
        let mark = self.name("mark");
        let Some(marked) = self.marked(&aggregate.input, &mark)? else { return Ok(None) };
        let mark = Expr::Column(Column::new_unqualified(mark));
        let mut aggregates = Vec::new();
        for (expr, field) in aggregate.aggr_expr.iter().zip(plan.schema().fields()) {
            let Expr::AggregateFunction(AggregateFunction { func, params }) =
                self.replaced(expr.clone().unalias(), aggregate.input.schema())?
            else {
                return Ok(None);
            };
            let filter = match params.filter {
                Some(filter) => filter.and(mark.clone()),
                None => mark.clone(),
            };
            let params = AggregateFunctionParams { filter: Some(Box::new(filter)), ..params };
            let marked = Expr::AggregateFunction(AggregateFunction { func, params });
            aggregates.push(marked.alias(field.name()));
        }
        let groups = self.given().collect::<Vec<_>>();
        LogicalPlanBuilder::from(marked).aggregate(groups, aggregates)?.build().map(Some)
    }

    /// The bindings, each with the rows that a plan gives for it, which are marked; where there are none, with one that is
    /// not.
    fn marked(&self, plan: &LogicalPlan, mark: &str) -> Bound {
        let rows = LogicalPlanBuilder::from(self.rows.clone());
        let with_mark = |input: LogicalPlan, columns: Vec<Expr>| {
            let columns = columns.into_iter().chain([lit(true).alias(mark)]);
            LogicalPlanBuilder::from(input).project(columns.collect::<Vec<_>>())?.build()
        };
        if let LogicalPlan::Filter(filter) = plan {
            let Parts { input, joining, above } = self.parts(filter)?;
            if !joining.is_empty() && above.is_empty() {
                let columns = columns_of(&input).collect();
                let input = with_mark(input, columns)?;
                return rows.join_on(input, JoinType::Left, joining)?.build().map(Some);
            }
        }
        let Some(bound) = self.bound(plan)? else { return Ok(None) };
        let (again, same) = self.again(&bound, plan)?;
        let marked = with_mark(again.clone(), columns_of(&again).collect())?;
        rows.join_on(marked, JoinType::Left, [same])?.build().map(Some)
    }

    /// A plan that is bound, with other names for the columns of the bindings, and that they are the same.
    pub(super) fn again(
        &self,
        bound: &LogicalPlan,
        like: &LogicalPlan,
    ) -> Result<(LogicalPlan, Expr)> {
        let name = self.name("again");
        let names = (0..self.given.len()).map(|place| format!("{name}_{place}"));
        let names = names.collect::<Vec<_>>();
        let again = self.given().zip(&names).map(|(given, name)| given.alias(name));
        let items = again.chain(columns_of(like)).collect::<Vec<_>>();
        let again = LogicalPlanBuilder::from(bound.clone()).project(items)?.build()?;
        let same = self
            .given()
            .zip(&names)
            .map(|(given, name)| is_same(given, Expr::Column(Column::new_unqualified(name))));
        Ok((again, same.reduce(Expr::and).unwrap_or_else(|| lit(true))))
    }
}

fn columns_of(plan: &LogicalPlan) -> impl Iterator<Item = Expr> + use<> {
    let columns = plan.schema().iter().map(|field| Expr::Column(Column::from(field)));
    columns.collect::<Vec<_>>().into_iter()
}

/// Equal, or both NULL.
pub(super) fn is_same(left: Expr, right: Expr) -> Expr {
    binary_expr(left, Operator::IsNotDistinctFrom, right)
}

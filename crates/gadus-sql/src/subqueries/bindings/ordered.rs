//! Orders, and what counts by them: each of one binding.

use super::super::settled::{PLACE, with_all_of};
use super::{Bindings, Bound};
use datafusion::common::{Column, Result};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{Sort as SortExpr, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Distinct, DistinctOn, Expr, ExprFunctionExt, FetchType, Limit, LogicalPlan, LogicalPlanBuilder,
    Projection, SkipType, Sort, Window, lit,
};
use std::sync::Arc;

impl Bindings {
    pub(super) fn distinct_on(&self, distinct: &DistinctOn) -> Bound {
        let DistinctOn { on_expr, select_expr, sort_expr, input, .. } = distinct;
        let plan = LogicalPlan::Distinct(Distinct::On(distinct.clone()));
        let on = on_expr.iter().map(|expr| self.replaced(expr.clone(), input.schema()));
        let on = self.given().map(Ok).chain(on).collect::<Result<Vec<_>>>()?;
        let selected = self
            .given()
            .chain(self.items(select_expr, input.schema(), &plan, 0)?)
            .collect::<Vec<_>>();
        let order = match sort_expr {
            Some(order) => Some(self.in_order(self.sorted(order, input.schema())?)),
            None => None,
        };
        self.over(input, |input| {
            LogicalPlanBuilder::from(input).distinct_on(on, selected, order)?.build()
        })
    }

    pub(super) fn in_order(&self, order: Vec<SortExpr>) -> Vec<SortExpr> {
        self.given().map(|given| given.sort(true, true)).chain(order).collect()
    }

    pub(super) fn sort(&self, Sort { expr, input, fetch }: &Sort) -> Bound {
        if fetch.is_some() {
            return Ok(None);
        }
        let expr = self.in_order(self.sorted(expr, input.schema())?);
        self.over(input, |input| {
            Ok(LogicalPlan::Sort(Sort { expr, input: Arc::new(input), fetch: None }))
        })
    }

    /// The first rows of each binding.
    pub(super) fn limit(&self, limit: &Limit) -> Bound {
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) =
            (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return Ok(None);
        };
        // Which rows there are is not decided by what they are projected to.
        if let LogicalPlan::Projection(projection) = &*limit.input {
            let below =
                LogicalPlan::Limit(Limit { input: projection.input.clone(), ..limit.clone() });
            let above = Projection::try_new(projection.expr.clone(), Arc::new(below))?;
            return self.projection(&above);
        }
        let (order, input) = match &*limit.input {
            LogicalPlan::Sort(Sort { expr, input, fetch: None }) => {
                (self.sorted(expr, input.schema())?, input)
            }
            _ => (Vec::new(), &limit.input),
        };
        // Rows that tie are alike.
        let order = with_all_of(order, input);
        let name = self.name(&PLACE["gadus.".len()..]);
        let call = WindowFunction::new(row_number_udwf(), vec![]);
        let place = Expr::WindowFunction(Box::new(call)).partition_by(self.given().collect());
        let place = match order.is_empty() {
            true => place.build()?,
            false => place.order_by(order).build()?,
        };
        let number = Expr::Column(Column::new_unqualified(&name));
        let mut is_wanted = number.clone().gt(lit(skip as u64));
        if let Some(fetch) = fetch {
            is_wanted = is_wanted.and(number.lt_eq(lit(skip.saturating_add(fetch) as u64)));
        }
        self.over(input, |bound| {
            let numbered = LogicalPlanBuilder::from(bound).window([place.alias(name)])?;
            self.only(numbered.filter(is_wanted)?.build()?, input)
        })
    }

    pub(super) fn window(&self, window: &Window) -> Bound {
        let plan = LogicalPlan::Window(window.clone());
        let first = window.input.schema().fields().len();
        let mut exprs = Vec::new();
        for (place, expr) in window.window_expr.iter().enumerate() {
            let call = self.replaced(expr.clone().unalias(), window.input.schema())?;
            let Expr::WindowFunction(call) = call else {
                return Ok(None);
            };
            let WindowFunction { fun, params } = *call;
            let partition_by = self.given().chain(params.partition_by).collect();
            let params = WindowFunctionParams { partition_by, ..params };
            let call = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
            exprs.push(call.alias(plan.schema().field(first + place).name()));
        }
        self.over(&window.input, |input| LogicalPlanBuilder::from(input).window(exprs)?.build())
    }
}

//! Queries within expressions.

use super::keys::bits;
use super::operators::{comparable, comparison};
use super::{Lowering, Result, Typed, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Operator as PlanOperator, Subquery as PlanSubquery,
};
use gadus_binder::bound::{Scalar, ScalarKind, Subquery, SubqueryKind};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn subquery(&mut self, subquery: &Subquery, schema: &DFSchema) -> Result<Typed> {
        let query = &subquery.query;
        match &subquery.kind {
            SubqueryKind::Scalar => {
                let plan = self.nested(|lowering| lowering.query(query))?;
                let data_type = plan.schema().field(0).data_type().clone();
                Ok(Typed::new(Expr::ScalarSubquery(within(plan)), data_type))
            }
            SubqueryKind::Exists => {
                let plan = self.nested(|lowering| lowering.relational(&query.root))?;
                let exists = Exists { subquery: within(plan), negated: false };
                Ok(Typed::new(Expr::Exists(exists), DataType::Boolean))
            }
            SubqueryKind::Any(condition) => {
                self.compared_with_query(condition, subquery, SetQuantifier::Any, schema)
            }
            SubqueryKind::All(condition) => {
                self.compared_with_query(condition, subquery, SetQuantifier::All, schema)
            }
            SubqueryKind::Array => self.array_of_query(query),
        }
    }

    /// Lowers a comparison with any or all rows of a query with one column.
    fn compared_with_query(
        &mut self,
        condition: &Scalar,
        subquery: &Subquery,
        quantifier: SetQuantifier,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let ScalarKind::Operator { operator, operands } = &condition.kind else {
            return missing("a comparison of rows with a query");
        };
        let ([left, right], [output]) = (operands.as_slice(), subquery.query.outputs.as_slice())
        else {
            return missing("a comparison of rows with a query");
        };
        let Some(comparison) = comparison(operator.name) else {
            return missing(format!("operator {} of a query's rows", operator.name));
        };
        let left = self.scalar(left, schema)?;
        let (plan, right) = self.nested(|lowering| {
            let plan = lowering.query(&subquery.query)?;
            let right = lowering.scalar(right, plan.schema())?;
            Ok((plan, right))
        })?;
        let (left, right) = comparable(left, right)?;
        let name = Column::new_unqualified(super::column_name(output.id));
        let plan = match bits(right) {
            Expr::Column(column) if column == name => plan,
            compared => {
                let alias = format!("{}_compared", name.name);
                LogicalPlanBuilder::from(plan).project([compared.alias(alias)])?.build()?
            }
        };
        let expr = Box::new(bits(left));
        let subquery = within(plan);
        let compared = match (comparison, quantifier) {
            (PlanOperator::Eq, SetQuantifier::Any) => {
                Expr::InSubquery(InSubquery { expr, subquery, negated: false })
            }
            (PlanOperator::NotEq, SetQuantifier::All) => {
                Expr::InSubquery(InSubquery { expr, subquery, negated: true })
            }
            (op, quantifier) => {
                Expr::SetComparison(SetComparison { expr, subquery, op, quantifier })
            }
        };
        Ok(Typed::new(compared, DataType::Boolean))
    }
}

/// Returns a plan as a part of an expression.
fn within(plan: LogicalPlan) -> PlanSubquery {
    let outer_ref_columns = plan.all_out_ref_exprs();
    PlanSubquery { subquery: Arc::new(plan), outer_ref_columns, spans: Default::default() }
}

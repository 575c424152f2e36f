//! Forms of the grammar: CASE, COALESCE, IN with a list, comparisons of rows, values of the session.

use super::casts::converted;
use super::keys::key;
use super::operators::{comparable, compared, comparison};
use super::relations::unify;
use super::scalars::balanced;
use super::{Lowering, Result, Typed, missing};
use crate::arrays::is_array;
use crate::json::JSONB;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Case, InList, ScalarFunction};
use datafusion::logical_expr::{Expr, Operator as PlanOperator, lit};
use gadus_binder::bound::{QuantifiedArray, Scalar, ScalarKind};
use gadus_binder::catalog::Operator;
use gadus_syntax::ast::{Quantifier, ValueFunction};

/// Returns the greater or the lesser of two values of JSONB; of NULL and a value the value.
fn extreme_of(name: &str, one: Expr, other: Expr) -> Expr {
    let keys = [&one, &other].map(|value| key(Typed::new(value.clone(), JSONB)));
    let [first, second] = keys;
    let decides = if name == "greatest" { first.lt(second) } else { first.gt(second) };
    let takes_other = one.clone().is_null().or(other.clone().is_not_null().and(decides));
    let branches = vec![(Box::new(takes_other), Box::new(other))];
    Expr::Case(Case::new(None, branches, Some(Box::new(one))))
}

impl Lowering<'_> {
    /// Lowers a function that gives one of its arguments.
    pub(super) fn choice(
        &mut self,
        name: &str,
        values: &[Scalar],
        schema: &DFSchema,
    ) -> Result<Typed> {
        let mut values =
            values.iter().map(|value| self.scalar(value, schema)).collect::<Result<Vec<_>>>()?;
        let common = unify(values.iter_mut())?;
        if is_array(&common) && name != "coalesce" {
            return missing(format!("{name} of arrays"));
        }
        let values = values.into_iter().map(|value| value.expr);
        if common == JSONB && name != "coalesce" {
            let extreme = values.reduce(|one, other| extreme_of(name, one, other));
            let extreme = extreme.unwrap_or_else(|| lit(ScalarValue::LargeUtf8(None)));
            return Ok(Typed::new(extreme, JSONB));
        }
        Ok(Typed::new(self.call(name, values.collect())?, common))
    }

    /// Calls a function of the planner.
    pub(super) fn call(&self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        match self.planner.scalar_functions().get(name) {
            Some(function) => {
                let call = ScalarFunction::new_udf(function.clone(), arguments);
                Ok(Expr::ScalarFunction(call))
            }
            None => missing(format!("function {name}")),
        }
    }

    pub(super) fn is_distinct(
        &mut self,
        operands: &[Scalar; 2],
        negated: bool,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let [left, right] = operands;
        let comparison = match negated {
            false => PlanOperator::IsDistinctFrom,
            true => PlanOperator::IsNotDistinctFrom,
        };
        compared(comparison, self.scalar(left, schema)?, self.scalar(right, schema)?)
    }

    pub(super) fn null_if(&mut self, operands: &[Scalar; 2], schema: &DFSchema) -> Result<Typed> {
        let [value, other] = operands;
        let (value, other) = (self.scalar(value, schema)?, self.scalar(other, schema)?);
        if value.expr.is_volatile() {
            return missing("NULLIF of a value that changes");
        }
        let equal = compared(PlanOperator::Eq, value.clone(), other)?;
        let null = lit(ScalarValue::try_from(&value.data_type)?);
        let case = Case {
            expr: None,
            when_then_expr: vec![(Box::new(equal.expr), Box::new(null))],
            else_expr: Some(Box::new(value.expr)),
        };
        Ok(Typed::new(Expr::Case(case), value.data_type))
    }

    pub(super) fn case(
        &mut self,
        operand: Option<&Scalar>,
        branches: &[(Scalar, Scalar)],
        otherwise: Option<&Scalar>,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let operand = operand.map(|operand| self.scalar(operand, schema)).transpose()?;
        if operand.as_ref().is_some_and(|operand| operand.expr.is_volatile()) {
            return missing("CASE of a value that changes");
        }
        let mut conditions = Vec::with_capacity(branches.len());
        for (when, _) in branches {
            self.case_operands.extend(operand.clone());
            let condition = self.condition(when, schema);
            if operand.is_some() {
                self.case_operands.pop();
            }
            conditions.push(condition?);
        }
        let results = branches.iter().map(|(_, then)| then).chain(otherwise);
        let mut results =
            results.map(|result| self.scalar(result, schema)).collect::<Result<Vec<_>>>()?;
        let common = unify(results.iter_mut())?;
        let otherwise = otherwise.and_then(|_| results.pop()).map(|last| Box::new(last.expr));
        let results = results.into_iter().map(|result| Box::new(result.expr));
        let when_then_expr = conditions.into_iter().map(Box::new).zip(results).collect();
        let case = Case { expr: None, when_then_expr, else_expr: otherwise };
        Ok(Typed::new(Expr::Case(case), common))
    }

    /// Lowers IN with a list, and ANY and ALL of an array that is written out.
    pub(super) fn quantified(
        &mut self,
        quantified: &QuantifiedArray,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let QuantifiedArray { operator, left, array, quantifier } = quantified;
        let ScalarKind::Array(elements) = &array.kind else {
            return self.quantified_array(quantified, array, schema);
        };
        if elements.is_empty() || elements.iter().any(|element| element.data_type.id.is_array) {
            return self.quantified_array(quantified, array, schema);
        }
        let left = self.scalar(left, schema)?;
        let elements = elements
            .iter()
            .map(|element| self.scalar(element, schema))
            .collect::<Result<Vec<_>>>()?;
        let is_list = matches!(
            (comparison(operator.name), quantifier),
            (Some(PlanOperator::Eq), Quantifier::Any)
                | (Some(PlanOperator::NotEq), Quantifier::All)
        );
        if is_list {
            return in_list(left, elements, *quantifier == Quantifier::All);
        }
        let result = gadus_binder::types::constants::BOOL.plain();
        let parts = elements.into_iter().map(|element| {
            let part = self.infix(operator, left.clone(), element, (result, schema))?;
            Ok(part.expr)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let by = match quantifier {
            Quantifier::Any => PlanOperator::Or,
            Quantifier::All => PlanOperator::And,
        };
        match balanced(parts, by) {
            Some(expr) => Ok(Typed::new(expr, DataType::Boolean)),
            None => missing("ANY or ALL of no elements"),
        }
    }

    /// Lowers a comparison of rows, which the first fields that differ decide.
    pub(super) fn row_comparison(
        &mut self,
        operators: &[&'static Operator],
        fields: &[[Scalar; 2]],
        schema: &DFSchema,
    ) -> Result<Typed> {
        let mut decided: Option<Expr> = None;
        for (operator, [left, right]) in operators.iter().zip(fields).rev() {
            let Some(comparison) = comparison(operator.name) else {
                return missing(format!("rows compared by {}", operator.name));
            };
            let (left, right) = (self.scalar(left, schema)?, self.scalar(right, schema)?);
            decided = Some(match decided {
                None => compared(comparison, left, right)?.expr,
                Some(rest) => {
                    let before = compared(strict(comparison), left.clone(), right.clone())?.expr;
                    before.or(compared(PlanOperator::Eq, left, right)?.expr.and(rest))
                }
            });
        }
        match decided {
            Some(expr) => Ok(Typed::new(expr, DataType::Boolean)),
            None => missing("a comparison of empty rows"),
        }
    }

    /// Lowers CURRENT_DATE and the like.
    pub(super) fn value_function(&mut self, function: ValueFunction) -> Result<Typed> {
        match self.time_of_session(function) {
            Some(value) => Ok(value),
            None => missing("a value of the session"),
        }
    }
}

fn in_list(left: Typed, elements: Vec<Typed>, negated: bool) -> Result<Typed> {
    let mut left = left;
    for element in &elements {
        left = comparable(left, element.clone())?.0;
    }
    let mut list = Vec::with_capacity(elements.len());
    for element in elements {
        list.push(key(converted(element, left.data_type.clone(), false)?));
    }
    let list = InList { expr: Box::new(key(left)), list, negated };
    Ok(Typed::new(Expr::InList(list), DataType::Boolean))
}

/// Returns the comparison without equality.
fn strict(comparison: PlanOperator) -> PlanOperator {
    match comparison {
        PlanOperator::LtEq => PlanOperator::Lt,
        PlanOperator::GtEq => PlanOperator::Gt,
        other => other,
    }
}

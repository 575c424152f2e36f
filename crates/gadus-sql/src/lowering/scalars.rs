//! Expressions.

use super::guards::{GUARDED_MAX, guard, may_fail};
use super::json::{document_kind, refuse_compared};
use super::{Lowering, Result, Typed, missing};
use crate::executor::check_cancelled;
use crate::subqueries::Only;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::{Expr, Operator, binary_expr, is_not_null, is_null, lit};
use gadus_binder::bound::{Scalar, ScalarKind};
use gadus_syntax::ast::BooleanTest;

impl Lowering<'_> {
    /// Lowers an expression over the columns of a schema.
    pub(super) fn scalar(&mut self, scalar: &Scalar, schema: &DFSchema) -> Result<Typed> {
        check_cancelled()?;
        match &scalar.kind {
            ScalarKind::Constant(constant) => {
                self.constant(constant, scalar.data_type, scalar.span)
            }
            ScalarKind::Parameter(number) => self.parameter(*number, scalar.data_type),
            ScalarKind::Column(id) => self.column(*id),
            ScalarKind::Operator { operator, operands } => {
                self.operator(operator, operands, scalar.data_type, schema)
            }
            ScalarKind::Function { function, arguments } => {
                self.function(function, arguments, scalar.data_type, schema)
            }
            ScalarKind::Cast { operand, path, is_try, .. } => {
                self.cast(operand, *path, *is_try, scalar.data_type, schema)
            }
            ScalarKind::ApplyModifier { operand, is_explicit } => {
                self.apply_modifier((operand, *is_explicit), scalar.data_type, schema)
            }
            ScalarKind::And(parts) => self.connected(parts, Operator::And, schema),
            ScalarKind::Or(parts) => self.connected(parts, Operator::Or, schema),
            ScalarKind::Not(operand) => self.negated(operand, schema),
            ScalarKind::Is { operand, test, negated } => {
                self.tested(operand, *test, *negated, schema)
            }
            ScalarKind::IsDistinct { operands, negated, .. } => {
                self.is_distinct(operands, *negated, schema)
            }
            ScalarKind::Coalesce(values) => self.choice("coalesce", values, schema),
            ScalarKind::Greatest(values) | ScalarKind::Least(values) => {
                let is_greatest = matches!(scalar.kind, ScalarKind::Greatest(_));
                refuse_compared([(scalar.data_type, scalar.span)])?;
                self.choice(if is_greatest { "greatest" } else { "least" }, values, schema)
            }
            ScalarKind::NullIf { operands, .. } => self.null_if(operands, schema),
            ScalarKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), schema)
            }
            ScalarKind::CaseOperand => match self.case_operands.last() {
                Some(operand) => Ok(operand.clone()),
                None => missing("the operand of no CASE"),
            },
            ScalarKind::Quantified(quantified) => self.quantified(quantified, schema),
            ScalarKind::RowComparison { operators, fields } => {
                self.row_comparison(operators, fields, schema)
            }
            ScalarKind::Subquery(subquery) => self.subquery(subquery, schema),
            ScalarKind::OnlyRow { value, rows } => self.only_row(value, rows, schema),
            ScalarKind::Value(function) => self.value_function(*function),
            ScalarKind::Array(elements) => self.array(elements, scalar.data_type, schema),
            ScalarKind::Row(_) => missing("a row as a value"),
            ScalarKind::Field { operand, index } => self.field_of_row(operand, *index, schema),
            ScalarKind::Subscript { operand, items } => match document_kind(operand.data_type.id) {
                Some(_) => self.document_subscript(operand, items, schema),
                None => self.subscript((operand, items), scalar.span, schema),
            },
            // Texts are compared by their bytes.
            ScalarKind::Collate { operand, collation }
                if matches!(collation.as_str(), "C" | "POSIX" | "ucs_basic" | "default") =>
            {
                self.scalar(operand, schema)
            }
            ScalarKind::Collate { .. } => missing("COLLATE"),
            ScalarKind::Grouping(groups) => self.grouping(groups, scalar.data_type),
            ScalarKind::Default => missing("DEFAULT"),
        }
    }

    /// Lowers the value of a query's only row.
    fn only_row(&mut self, value: &Scalar, rows: &Scalar, schema: &DFSchema) -> Result<Typed> {
        let Typed { expr, data_type } = self.scalar(value, schema)?;
        let rows = self.scalar(rows, schema)?.expr;
        Ok(Typed::new(Only::default().call(expr, rows), data_type))
    }

    /// Lowers a condition.
    pub(super) fn condition(&mut self, scalar: &Scalar, schema: &DFSchema) -> Result<Expr> {
        let Typed { expr, data_type } = self.scalar(scalar, schema)?;
        match data_type {
            DataType::Boolean => Ok(expr),
            other => missing(format!("a condition of type {other}")),
        }
    }

    /// Lowers a field of a row that a query gives.
    fn field_of_row(&mut self, operand: &Scalar, index: usize, schema: &DFSchema) -> Result<Typed> {
        let row = self.scalar(operand, schema)?;
        let DataType::Struct(fields) = &row.data_type else { return missing("a field of a row") };
        match fields.get(index) {
            Some(field) => {
                let data_type = field.data_type().clone();
                Ok(Typed::new(get_field(row.expr, field_name(index)), data_type))
            }
            None => missing("a field that the row does not have"),
        }
    }

    /// Lowers AND and OR.
    fn connected(&mut self, parts: &[Scalar], by: Operator, schema: &DFSchema) -> Result<Typed> {
        let (mut safe, mut guarded) = (Vec::with_capacity(parts.len()), Vec::new());
        for part in parts {
            let condition = self.condition(part, schema)?;
            match parts.len() <= GUARDED_MAX && !safe.is_empty() && may_fail(part) {
                true => guarded.push(guard(balanced(safe.clone(), by), condition, by)),
                false => safe.push(condition),
            }
        }
        safe.extend(guarded);
        let parts = safe;
        match balanced(parts, by) {
            Some(expr) => Ok(Typed::new(expr, DataType::Boolean)),
            None => missing("a condition without parts"),
        }
    }

    fn negated(&mut self, operand: &Scalar, schema: &DFSchema) -> Result<Typed> {
        let expr = match self.condition(operand, schema)? {
            Expr::InSubquery(mut query) => {
                query.negated = !query.negated;
                Expr::InSubquery(query)
            }
            Expr::Exists(mut query) => {
                query.negated = !query.negated;
                Expr::Exists(query)
            }
            expr => Expr::Not(Box::new(expr)),
        };
        Ok(Typed::new(expr, DataType::Boolean))
    }

    /// Lowers IS NULL, IS TRUE and the like.
    fn tested(
        &mut self,
        operand: &Scalar,
        test: BooleanTest,
        negated: bool,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if matches!(operand.kind, ScalarKind::Row(_)) {
            return missing("a test of a row");
        }
        let operand = self.scalar(operand, schema)?.expr;
        let expr = match (test, negated) {
            (BooleanTest::Null, false) => is_null(operand),
            (BooleanTest::Null, true) => is_not_null(operand),
            // As comparisons: what DataFusion makes of its own tests it takes for NULL at times.
            (BooleanTest::True, false) => same_truth(operand, true),
            (BooleanTest::True, true) => other_truth(operand, true),
            (BooleanTest::False, false) => same_truth(operand, false),
            (BooleanTest::False, true) => other_truth(operand, false),
            (BooleanTest::Unknown, false) => is_null(operand),
            (BooleanTest::Unknown, true) => is_not_null(operand),
            (BooleanTest::Document | BooleanTest::Normalized, _) => {
                return missing("this test");
            }
        };
        Ok(Typed::new(expr, DataType::Boolean))
    }
}

fn same_truth(operand: Expr, truth: bool) -> Expr {
    binary_expr(operand, Operator::IsNotDistinctFrom, lit(truth))
}

fn other_truth(operand: Expr, truth: bool) -> Expr {
    binary_expr(operand, Operator::IsDistinctFrom, lit(truth))
}

/// Returns the name of a field of a row.
pub(super) fn field_name(index: usize) -> String {
    format!("f{index}")
}

/// Connects conditions as a tree whose depth is the logarithm of their number.
pub(super) fn balanced(mut parts: Vec<Expr>, by: Operator) -> Option<Expr> {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => binary_expr(left, by, right),
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop()
}

//! Comparisons: BETWEEN, IN, LIKE, IS DISTINCT FROM, ANY and ALL elements of an array.

use super::Binder;
use super::expressions::row_fields;
use super::operators::choose_infix;
use crate::bound::{QuantifiedArray, Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{BooleanTest, Expr, ExprKind, LikeKind, Literal, Quantifier};

impl Binder<'_> {
    pub(super) fn is_distinct(
        &mut self,
        left: &Expr,
        right: &Expr,
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        for (null, other) in [(left, right), (right, left)] {
            if matches!(null.kind, ExprKind::Literal(Literal::Null)) {
                return self.is_test(other, BooleanTest::Null, !negated, span);
            }
        }
        if let (Some(left), Some(right)) = (row_fields(left), row_fields(right)) {
            let (left, right) = (self.expanded(left)?, self.expanded(right)?);
            return self.rows_are_distinct(left, right, negated, span);
        }
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        self.values_are_distinct(left, right, negated, span)
    }

    pub(super) fn values_are_distinct(
        &mut self,
        left: Scalar,
        right: Scalar,
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        let (operator, operands) = self.equality(left, right, span)?;
        let kind = ScalarKind::IsDistinct { operator, operands: Box::new(operands), negated };
        Ok(Scalar::new(kind, constants::BOOL, span))
    }

    pub(super) fn between(
        &mut self,
        [operand, low, high]: [&Expr; 3],
        (symmetric, negated): (bool, bool),
        span: Span,
    ) -> Result<Scalar> {
        let (value, low, high) = (self.expr(operand)?, self.expr(low)?, self.expr(high)?);
        let range = |binder: &mut Self, low: Scalar, high: Scalar| {
            let (above, below) = if negated { ("<", ">") } else { (">=", "<=") };
            let above = binder.infix_named(above, value.clone(), low, span)?;
            let below = binder.infix_named(below, value.clone(), high, span)?;
            let parts = vec![above, below];
            let kind = if negated { ScalarKind::Or(parts) } else { ScalarKind::And(parts) };
            Ok(Scalar::new(kind, constants::BOOL, span))
        };
        if !symmetric {
            return range(self, low, high);
        }
        let both = vec![range(self, low.clone(), high.clone())?, range(self, high, low)?];
        let kind = if negated { ScalarKind::And(both) } else { ScalarKind::Or(both) };
        Ok(Scalar::new(kind, constants::BOOL, span))
    }

    pub(super) fn in_list(
        &mut self,
        operand: &Expr,
        list: &[Expr],
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        let name = if negated { "<>" } else { "=" };
        if let Some(fields) = row_fields(operand) {
            let fields = self.expanded(fields)?;
            return self.row_in_list(fields, list, negated, span);
        }
        let left = self.expr(operand)?;
        let values = self.exprs(list)?;
        // Constants are one array if they have a type in common; others are compared one by one.
        let constants = values.iter().filter(|value| !value.depends_on_rows()).cloned();
        let constants = constants.collect::<Vec<_>>();
        let mut parts = Vec::new();
        let mut rest = values;
        if let Some(array) = self.list_comparison(name, &left, &constants, negated, span)? {
            parts.push(array);
            rest.retain(Scalar::depends_on_rows);
        }
        for value in rest {
            parts.push(self.infix_named(name, left.clone(), value, span)?);
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ if negated => Ok(Scalar::new(ScalarKind::And(parts), constants::BOOL, span)),
            _ => Ok(Scalar::new(ScalarKind::Or(parts), constants::BOOL, span)),
        }
    }

    /// Binds the comparison with several constants as one with an array, if they have a type in common.
    fn list_comparison(
        &mut self,
        name: &str,
        left: &Scalar,
        values: &[Scalar],
        negated: bool,
        span: Span,
    ) -> Result<Option<Scalar>> {
        if values.len() < 2 {
            return Ok(None);
        }
        let all = std::iter::once(left).chain(values).cloned().collect::<Vec<_>>();
        let Ok(common) = self.coercion().common(&all, "IN") else { return Ok(None) };
        let Some(array_type) = common.id.array_of() else { return Ok(None) };
        let elements = values.iter().cloned();
        let elements = elements.map(|value| self.coercion().convert_to_common(value, common, "IN"));
        let elements = elements.collect::<Result<Vec<_>>>()?;
        let array = Scalar::new(ScalarKind::Array(elements), array_type, span);
        let quantifier = if negated { Quantifier::All } else { Quantifier::Any };
        self.compare_with_array(name, left.clone(), array, quantifier, span).map(Some)
    }

    /// Binds a comparison with the elements of an array.
    pub(super) fn compare_with_array(
        &mut self,
        name: &str,
        left: Scalar,
        array: Scalar,
        quantifier: Quantifier,
        span: Span,
    ) -> Result<Scalar> {
        let array_type = array.data_type.id;
        let element = match (array_type.is_unknown(), array_type.element()) {
            (true, _) => constants::UNKNOWN,
            (false, Some(element)) => element,
            (false, None) => {
                let message = "op ANY/ALL (array) requires array on right side";
                return Err(BindError::new("42809", message, span));
            }
        };
        let chosen = choose_infix(name, left.data_type.id, element, span)?;
        if chosen.result != constants::BOOL {
            let message = "op ANY/ALL (array) requires operator to yield boolean";
            return Err(BindError::new("42809", message, span));
        }
        let left = self.coercion().argument(left, chosen.operands[0])?;
        let to = chosen.operands[1].array_of().unwrap_or(array_type);
        let array = self.coercion().argument(array, to)?;
        let parts = QuantifiedArray { operator: chosen.operator, left, array, quantifier };
        Ok(Scalar::new(ScalarKind::Quantified(Box::new(parts)), constants::BOOL, span))
    }

    pub(super) fn like(
        &mut self,
        operand: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        (kind, negated): (LikeKind, bool),
    ) -> Result<Scalar> {
        let span = operand.span.to(pattern.span);
        let value = self.expr(operand)?;
        let mut pattern = self.expr(pattern)?;
        let escape = escape.map(|escape| self.expr(escape)).transpose()?;
        let name = match (kind, negated) {
            (LikeKind::Like, false) => "~~",
            (LikeKind::Like, true) => "!~~",
            (LikeKind::ILike, false) => "~~*",
            (LikeKind::ILike, true) => "!~~*",
            (LikeKind::SimilarTo, false) => "~",
            (LikeKind::SimilarTo, true) => "!~",
            (LikeKind::Glob, _) => return Err(BindError::unsupported("GLOB", span)),
        };
        if kind == LikeKind::SimilarTo {
            let arguments = std::iter::once(pattern).chain(escape).collect();
            pattern = self.call_named("similar_to_escape", arguments, span)?;
        } else if let Some(escape) = escape {
            pattern = self.call_named("like_escape", vec![pattern, escape], span)?;
        }
        self.infix_named(name, value, pattern, span)
    }
}

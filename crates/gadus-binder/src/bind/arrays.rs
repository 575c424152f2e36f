//! Arrays: constructors, elements, parts.

use super::Binder;
use crate::bound::{Scalar, ScalarKind, SubscriptItem};
use crate::catalog::CastContext;
use crate::error::{BindError, Result};
use crate::types::{TypeId, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{Expr, ExprKind};

impl Binder<'_> {
    /// Binds `ARRAY[…]`; `wanted` is the array's type if a cast gives it.
    pub(super) fn array(
        &mut self,
        elements: &[Expr],
        wanted: Option<TypeId>,
        span: Span,
    ) -> Result<Scalar> {
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            values.push(match &element.kind {
                ExprKind::Array(inner) => self.array(inner, wanted, element.span)?,
                _ => self.expr(element)?,
            });
        }
        if let Some(wanted) = wanted {
            let element = wanted.element().unwrap_or(wanted);
            let mut convert = |value: Scalar| {
                let to = if value.data_type.id.is_array { wanted } else { element };
                self.coercion().explicit(value, to.plain())
            };
            let values = values.into_iter().map(&mut convert).collect::<Result<_>>()?;
            return Ok(Scalar::new(ScalarKind::Array(values), wanted, span));
        }
        if values.is_empty() {
            let message = "cannot determine type of empty array";
            let hint = "Explicitly cast to the desired type, for example ARRAY[]::integer[].";
            return Err(BindError::new("42P18", message, span).with_hint(hint));
        }
        let values = self.coercion().unify(values, "ARRAY")?;
        let element = values.first().map_or(constants::TEXT, |value| value.data_type.id);
        let whole = if element.is_array { Some(element) } else { element.array_of() };
        let whole = whole.ok_or_else(|| {
            let message = format!("could not find array type for data type {element}");
            BindError::new("42704", message, span)
        })?;
        Ok(Scalar::new(ScalarKind::Array(values), whole, span))
    }

    /// Binds `a[1][2:3]`.
    pub(super) fn subscript(&mut self, expr: &Expr) -> Result<Scalar> {
        let operand = self.expr(subscripted(expr))?;
        let source = operand.data_type.id;
        let (_, items) = self.subscript_items(expr, source)?;
        let has_slice = items.iter().any(|item| matches!(item, SubscriptItem::Slice(..)));
        let result = match source.element() {
            Some(element) if !has_slice => element,
            _ => source,
        };
        let kind = ScalarKind::Subscript { operand: Box::new(operand), items };
        Ok(Scalar::new(kind, result, expr.span))
    }

    /// Binds the subscripts of a value of a type, and returns the expression that they are of.
    pub(super) fn subscript_items<'e>(
        &mut self,
        expr: &'e Expr,
        source: TypeId,
    ) -> Result<(&'e Expr, Vec<SubscriptItem>)> {
        let (mut inner, mut indices) = (expr, Vec::new());
        loop {
            match &inner.kind {
                _ if !indices.is_empty() && is_in_parentheses(inner) => break,
                ExprKind::Subscript { operand, index } => {
                    indices.push((Some(index.as_ref()), None, false));
                    inner = operand;
                }
                ExprKind::Slice { operand, low, high } => {
                    indices.push((low.as_deref(), high.as_deref(), true));
                    inner = operand;
                }
                _ => break,
            }
        }
        let is_json = source == constants::JSONB;
        let has_slice = indices.iter().any(|(_, _, is_slice)| *is_slice);
        if !source.is_array && (!is_json || has_slice) && !indices.is_empty() {
            let message = match is_json {
                true => "jsonb subscript does not support slices".to_owned(),
                false => format!(
                    "cannot subscript type {source} because it does not support subscripting"
                ),
            };
            return Err(BindError::new("42804", message, expr.span));
        }
        let mut items = Vec::with_capacity(indices.len());
        for (low, high, is_slice) in indices.into_iter().rev() {
            let low = low.map(|low| self.array_index(low, is_json)).transpose()?;
            let high = high.map(|high| self.array_index(high, is_json)).transpose()?;
            items.push(match (is_slice, low) {
                (false, Some(index)) => SubscriptItem::Index(index),
                (_, low) => SubscriptItem::Slice(low, high),
            });
        }
        Ok((inner, items))
    }

    fn array_index(&mut self, index: &Expr, is_json: bool) -> Result<Scalar> {
        let value = self.expr(index)?;
        let source = value.data_type.id;
        if is_json {
            return self.document_index(value, source, index.span);
        }
        let converted = self.coercion().convert(value, constants::INT4, CastContext::Assignment)?;
        converted.ok_or_else(|| {
            BindError::new("42804", "array subscript must have type integer", index.span)
        })
    }

    /// Converts a subscript of JSONB to what it converts to implicitly: an integer, or a text.
    fn document_index(&mut self, value: Scalar, source: TypeId, span: Span) -> Result<Scalar> {
        let targets = match source.is_unknown() {
            true => [constants::TEXT, constants::INT4],
            false => [constants::INT4, constants::TEXT],
        };
        for target in targets {
            let converted =
                self.coercion().convert(value.clone(), target, CastContext::Implicit)?;
            if let Some(converted) = converted {
                return Ok(converted);
            }
        }
        let message = format!("subscript type {source} is not supported");
        let hint = "jsonb subscript must be coercible to either integer or text.";
        Err(BindError::new("42804", message, span).with_hint(hint))
    }
}

/// Returns the expression that subscripts are of.
fn subscripted(expr: &Expr) -> &Expr {
    let mut inner = expr;
    while let ExprKind::Subscript { operand, .. } | ExprKind::Slice { operand, .. } = &inner.kind {
        inner = operand;
        if is_in_parentheses(inner) {
            break;
        }
    }
    inner
}

/// Returns true for `(a[1:2])`: subscripts after it are of the slice.
fn is_in_parentheses(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Subscript { operand, .. } | ExprKind::Slice { operand, .. } => {
            operand.span.start != expr.span.start
        }
        _ => false,
    }
}

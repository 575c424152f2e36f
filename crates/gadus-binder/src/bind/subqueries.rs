//! Queries within expressions.

use super::rows::check_width;
use super::{Binder, UnknownOutputs};
use crate::bound::{BoundQuery, Scalar, ScalarKind, Subquery, SubqueryKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{Expr, ExprKind, LikeKind, Quantified, Quantifier, Query};

impl Binder<'_> {
    /// Binds a query whose only column and row is the value.
    pub(super) fn scalar_query(&mut self, query: &Query, span: Span) -> Result<Scalar> {
        let query = self.query(query, UnknownOutputs::BecomeText)?;
        let [output] = query.outputs.as_slice() else {
            return Err(BindError::new("42601", "subquery must return only one column", span));
        };
        let data_type = output.data_type;
        Ok(subquery(SubqueryKind::Scalar, query, data_type, span))
    }

    /// Binds EXISTS.
    pub(super) fn exists(&mut self, query: &Query, span: Span) -> Result<Scalar> {
        let query = self.query(query, UnknownOutputs::BecomeText)?;
        Ok(subquery(SubqueryKind::Exists, query, constants::BOOL.plain(), span))
    }

    /// Binds ARRAY(query).
    pub(super) fn array_query(&mut self, query: &Query, span: Span) -> Result<Scalar> {
        let query = self.query(query, UnknownOutputs::BecomeText)?;
        let [output] = query.outputs.as_slice() else {
            return Err(BindError::new("42601", "subquery must return only one column", span));
        };
        let element = output.data_type.id;
        let array = if element.is_array { Some(element) } else { element.array_of() };
        let array = array.ok_or_else(|| {
            let message = format!("could not find array type for data type {element}");
            BindError::new("42704", message, span)
        })?;
        Ok(subquery(SubqueryKind::Array, query, array.plain(), span))
    }

    /// Binds IN and NOT IN with a query.
    pub(super) fn in_query(
        &mut self,
        operand: &Expr,
        query: &Query,
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        let found = self.compare_with_query(operand, "=", query, (Quantifier::Any, span))?;
        if !negated {
            return Ok(found);
        }
        Ok(Scalar::new(ScalarKind::Not(Box::new(found)), constants::BOOL, span))
    }

    /// Binds a comparison with ANY or ALL rows of a query or elements of an array.
    pub(super) fn quantified(&mut self, quantified: &Quantified, span: Span) -> Result<Scalar> {
        let Quantified { left, operator, like, quantifier, right } = quantified;
        let name = match like {
            None => operator.operator.text(),
            Some((LikeKind::Like, false)) => "~~",
            Some((LikeKind::Like, true)) => "!~~",
            Some((LikeKind::ILike, false)) => "~~*",
            Some((LikeKind::ILike, true)) => "!~~*",
            Some(_) => return Err(BindError::unsupported("this comparison with ANY or ALL", span)),
        };
        if let ExprKind::Query(query) = &right.kind {
            return self.compare_with_query(left, name, query, (*quantifier, span));
        }
        let (left, array) = (self.expr(left)?, self.expr(right)?);
        self.compare_with_array(name, left, array, *quantifier, span)
    }

    fn compare_with_query(
        &mut self,
        operand: &Expr,
        name: &str,
        query: &Query,
        (quantifier, span): (Quantifier, Span),
    ) -> Result<Scalar> {
        let fields = match super::expressions::row_fields(operand) {
            Some(fields) => self.expanded(fields)?,
            None => vec![self.expr(operand)?],
        };
        let query = self.query(query, UnknownOutputs::BecomeText)?;
        check_width(query.outputs.len(), fields.len(), span)?;
        let values = query.columns(span);
        let condition = self.compare_fields(name, fields, values, span)?;
        if condition.data_type.id != constants::BOOL {
            let message = format!(
                "operator {name} must return type boolean, not type {}",
                condition.data_type.id
            );
            return Err(BindError::new("42804", message, span));
        }
        let condition = Box::new(condition);
        let kind = match quantifier {
            Quantifier::Any => SubqueryKind::Any(condition),
            Quantifier::All => SubqueryKind::All(condition),
        };
        Ok(subquery(kind, query, constants::BOOL.plain(), span))
    }
}

fn subquery(
    kind: SubqueryKind,
    query: BoundQuery,
    data_type: crate::types::SqlType,
    span: Span,
) -> Scalar {
    let subquery = Subquery { kind, query };
    Scalar::new(ScalarKind::Subquery(Box::new(subquery)), data_type, span)
}

//! UNION, INTERSECT, EXCEPT

use super::{Binder, UnknownOutputs};
use crate::bound::{BoundQuery, OutputColumn, Relational, Scalar, ScalarKind, SetOperation};
use crate::error::{BindError, Result};
use crate::types::SqlType;
use gadus_syntax::Span;
use gadus_syntax::ast::{Query, QueryBody, SetOperator};

impl Binder<'_> {
    /// Binds a set operation without its order.
    pub(super) fn set_operation(&mut self, query: &Query) -> Result<BoundQuery> {
        let QueryBody::SetOperation { operator, all, by_name, left, right } = &query.body else {
            return Err(BindError::unsupported("this set operation", query.span));
        };
        let name = match operator {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
        };
        if *by_name {
            return Err(BindError::unsupported("BY NAME", query.span));
        }
        let bound_left = self.query(left, UnknownOutputs::Stay)?;
        let mut bound_right = self.query(right, UnknownOutputs::Stay)?;
        check_columns(name, bound_left.outputs.len(), &mut bound_right, right.span)?;
        let mut types = Vec::with_capacity(bound_left.outputs.len());
        for (first, second) in bound_left.outputs.iter().zip(&bound_right.outputs) {
            let side = |output: &OutputColumn, query: &Query| {
                Scalar::new(ScalarKind::Column(output.id), output.data_type, query.span)
            };
            let both = [side(first, left), side(second, right)];
            types.push(self.coercion().common(&both, name)?);
        }
        let names = bound_left.outputs.iter().map(|output| output.name.clone()).collect::<Vec<_>>();
        let left = self.with_types(bound_left, &types, name)?;
        let right = self.with_types(bound_right, &types, name)?;
        let output = |(name, data_type)| OutputColumn { name, id: self.new_column(), data_type };
        let outputs = names.into_iter().zip(types).map(output).collect::<Vec<_>>();
        let columns = outputs.iter().map(|output| (output.id, output.data_type)).collect();
        let (operator, all) = (*operator, *all);
        let operation = SetOperation { operator, all, left, right, columns };
        Ok(BoundQuery { root: Relational::SetOperation(Box::new(operation)), outputs })
    }

    /// Converts the columns of a query; literals of undecided type are read as the types.
    fn with_types(
        &mut self,
        mut query: BoundQuery,
        types: &[SqlType],
        name: &str,
    ) -> Result<BoundQuery> {
        let is_same =
            |(output, wanted): (&OutputColumn, &SqlType)| output.data_type.id == wanted.id;
        if query.outputs.iter().zip(types).all(is_same) {
            return Ok(query);
        }
        let (mut items, mut outputs) = (Vec::new(), Vec::new());
        for (output, wanted) in query.outputs.iter().zip(types) {
            let literal = literal_of(&mut query.root, output.id);
            if let Some(literal) = literal.filter(|literal| literal.data_type.id.is_unknown()) {
                let span = literal.span;
                let value = std::mem::replace(
                    literal,
                    Scalar::new(ScalarKind::Default, output.data_type, span),
                );
                *literal = self.coercion().convert_to_common(value, *wanted, name)?;
                let (id, data_type) = (output.id, literal.data_type);
                items.push((id, Scalar::new(ScalarKind::Column(id), data_type, span)));
                outputs.push(OutputColumn { data_type, ..output.clone() });
                continue;
            }
            let span = Span::default();
            let value = Scalar::new(ScalarKind::Column(output.id), output.data_type, span);
            let value = self.coercion().convert_to_common(value, *wanted, name)?;
            let id = if value.as_column().is_some() { output.id } else { self.new_column() };
            outputs.push(OutputColumn { id, data_type: value.data_type, ..output.clone() });
            items.push((id, value));
        }
        let is_plain = items.iter().all(|(id, value)| value.as_column() == Some(*id));
        let root = match is_plain {
            true => query.root,
            false => Relational::Project { input: Box::new(query.root), items },
        };
        Ok(BoundQuery { root, outputs })
    }
}

/// Checks that the right side of a set operation has as many columns as the left one.
pub(super) fn check_columns(
    name: &str,
    count: usize,
    right: &mut BoundQuery,
    span: Span,
) -> Result<()> {
    if count == right.outputs.len() {
        return Ok(());
    }
    let first = right.outputs.first().map(|output| output.id);
    let first = first.and_then(|id| item_of(&mut right.root, id)).map(|item| item.span);
    let message = format!("each {name} query must have the same number of columns");
    Err(BindError::new("42601", message, first.unwrap_or(span)))
}

/// Returns the literal of a column in the projection below sorts and limits.
fn literal_of(root: &mut Relational, column: crate::bound::ColumnId) -> Option<&mut Scalar> {
    item_of(root, column)
        .filter(|value| matches!(value.kind, ScalarKind::Constant(_) | ScalarKind::Parameter(_)))
}

/// Returns the expression of a column in the projection below sorts and limits.
pub(super) fn item_of(
    root: &mut Relational,
    column: crate::bound::ColumnId,
) -> Option<&mut Scalar> {
    match root {
        Relational::Project { items, .. } => {
            items.iter_mut().find(|(id, _)| *id == column).map(|(_, value)| value)
        }
        Relational::Sort { input, .. }
        | Relational::Distinct { input, .. }
        | Relational::With { input, .. }
        | Relational::Lock { input, .. } => item_of(input, column),
        Relational::Limit(limit) => item_of(&mut limit.input, column),
        _ => None,
    }
}

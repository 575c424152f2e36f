//! Rows as values: comparisons field by field, fields by name.

use super::operators::choose_infix;
use super::{Binder, UnknownOutputs};
use crate::bound::{Scalar, ScalarKind, Subquery, SubqueryKind};
use crate::error::{BindError, Result};
use crate::types::{BaseType, TypeId, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{Expr, Name, OperatorName, Query};

impl Binder<'_> {
    /// Binds a comparison of two rows.
    pub(super) fn compare_rows(
        &mut self,
        operator: &OperatorName,
        left: Vec<Scalar>,
        right: Vec<Scalar>,
        span: Span,
    ) -> Result<Scalar> {
        self.compare_fields(operator.operator.text(), left, right, span)
    }

    pub(super) fn compare_fields(
        &mut self,
        name: &str,
        left: Vec<Scalar>,
        right: Vec<Scalar>,
        span: Span,
    ) -> Result<Scalar> {
        if left.len() != right.len() {
            let message = "unequal number of entries in row expressions";
            return Err(BindError::new("42601", message, span));
        }
        if left.is_empty() {
            return Err(BindError::new("0A000", "cannot compare rows of zero length", span));
        }
        let pairs = left.into_iter().zip(right);
        if matches!(name, "=" | "<>" | "!=") {
            let compared = pairs.map(|(left, right)| self.infix_named(name, left, right, span));
            let mut compared = compared.collect::<Result<Vec<_>>>()?;
            if compared.len() == 1 {
                return Ok(compared.remove(0));
            }
            let is_equality = name == "=";
            let kind =
                if is_equality { ScalarKind::And(compared) } else { ScalarKind::Or(compared) };
            return Ok(Scalar::new(kind, constants::BOOL, span));
        }
        let (mut operators, mut fields) = (Vec::new(), Vec::new());
        for (left, right) in pairs {
            let chosen = choose_infix(name, left.data_type.id, right.data_type.id, span)?;
            fields.push(self.operands(left, right, &chosen)?);
            operators.push(chosen.operator);
        }
        if let ([operator], [operands]) = (operators.as_slice(), fields.as_slice()) {
            let kind = ScalarKind::Operator { operator, operands: operands.to_vec() };
            return Ok(Scalar::new(kind, constants::BOOL, span));
        }
        let kind = ScalarKind::RowComparison { operators, fields };
        Ok(Scalar::new(kind, constants::BOOL, span))
    }

    /// Binds `(a, b) = (SELECT c, d …)`.
    pub(super) fn compare_row_with_query(
        &mut self,
        operator: &OperatorName,
        fields: &[Expr],
        query: &Query,
        span: Span,
    ) -> Result<Scalar> {
        let fields = self.expanded(fields)?;
        let query = self.query(query, UnknownOutputs::BecomeText)?;
        check_width(query.outputs.len(), fields.len(), span)?;
        let values = query.columns(span);
        let condition = self.compare_fields(operator.operator.text(), fields, values, span)?;
        // At most one row: its comparison is the value, NULL without it.
        let condition_id = self.new_column();
        let outputs = vec![crate::bound::OutputColumn {
            name: String::new(),
            id: condition_id,
            data_type: condition.data_type,
        }];
        let items = vec![(condition_id, condition)];
        let root = crate::bound::Relational::Project { input: Box::new(query.root), items };
        let query = crate::bound::BoundQuery { root, outputs };
        let subquery = Subquery { kind: SubqueryKind::Scalar, query };
        Ok(Scalar::new(ScalarKind::Subquery(Box::new(subquery)), constants::BOOL, span))
    }

    /// Binds IS DISTINCT FROM between rows.
    pub(super) fn rows_are_distinct(
        &mut self,
        left: Vec<Scalar>,
        right: Vec<Scalar>,
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        if left.len() != right.len() {
            let message = "unequal number of entries in row expressions";
            return Err(BindError::new("42601", message, span));
        }
        let pairs = left.into_iter().zip(right);
        let compared =
            pairs.map(|(left, right)| self.values_are_distinct(left, right, negated, span));
        let compared = compared.collect::<Result<Vec<_>>>()?;
        let kind = if negated { ScalarKind::And(compared) } else { ScalarKind::Or(compared) };
        Ok(Scalar::new(kind, constants::BOOL, span))
    }

    /// Binds `(a, b) IN ((1, 2), (3, 4))`.
    pub(super) fn row_in_list(
        &mut self,
        fields: Vec<Scalar>,
        list: &[Expr],
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        let name = if negated { "<>" } else { "=" };
        let mut parts = Vec::with_capacity(list.len());
        for item in list {
            let Some(values) = super::expressions::row_fields(item) else {
                let value = self.expr(item)?;
                let row = Scalar::new(ScalarKind::Row(fields.clone()), constants::RECORD, span);
                parts.push(self.infix_named(name, row, value, span)?);
                continue;
            };
            let values = self.expanded(values)?;
            parts.push(self.compare_fields(name, fields.clone(), values, span)?);
        }
        let kind = if negated { ScalarKind::And(parts) } else { ScalarKind::Or(parts) };
        Ok(Scalar::new(kind, constants::BOOL, span))
    }

    /// Binds `(row).field`.
    pub(super) fn field(&mut self, operand: &Expr, field: &Name, span: Span) -> Result<Scalar> {
        let operand = self.expr(operand)?;
        let source = operand.data_type.id;
        if let Some(outputs) = self.outputs_of(&operand) {
            let found = outputs.iter().position(|(name, _)| *name == field.text);
            let index = found.ok_or_else(|| missing(source, field, span))?;
            let kind = ScalarKind::Field { operand: Box::new(operand), index };
            return Ok(Scalar::new(kind, outputs[index].1, span));
        }
        if source.is_array || !matches!(source.base, BaseType::Composite(_) | BaseType::Record) {
            let message = format!(
                "column notation .{} applied to type {source}, which is not a composite type",
                field.text
            );
            return Err(BindError::new("42809", message, span));
        }
        let found = match (&operand.kind, self.provider.fields(source)) {
            (ScalarKind::Row(values), Some(fields)) => {
                let index = fields.iter().position(|known| known.name == field.text);
                return index
                    .and_then(|index| values.get(index).cloned())
                    .ok_or_else(|| missing(source, field, span));
            }
            (_, Some(fields)) => {
                let index = fields.iter().position(|known| known.name == field.text);
                index.map(|index| (index, fields[index].data_type))
            }
            (ScalarKind::Row(values), None) => {
                let number =
                    field.text.strip_prefix('f').and_then(|rest| rest.parse::<usize>().ok());
                let index = number.and_then(|number| number.checked_sub(1));
                index.and_then(|index| Some((index, values.get(index)?.data_type)))
            }
            _ => None,
        };
        let (index, data_type) = found.ok_or_else(|| missing(source, field, span))?;
        Ok(Scalar::new(ScalarKind::Field { operand: Box::new(operand), index }, data_type, span))
    }

    /// Returns the columns of a call's result if it has several.
    pub(super) fn outputs_of(
        &mut self,
        value: &Scalar,
    ) -> Option<&'static [(&'static str, TypeId)]> {
        let function = match &value.kind {
            ScalarKind::Function { function, .. } => function,
            ScalarKind::Column(id) => {
                let (_, set) = self.scope().sets.iter().find(|(_, set)| set.id == *id)?;
                let ScalarKind::Function { function, .. } = &set.call.kind else { return None };
                function
            }
            _ => return None,
        };
        (!function.outputs.is_empty()).then_some(function.outputs)
    }

    /// Binds `t.*` as an expression.
    pub(super) fn whole_row_of(&mut self, parts: &[Name], span: Span) -> Result<Scalar> {
        let (schema, name) = match parts {
            [name] => (None, name),
            [.., schema, name] => (Some(schema.text.as_str()), name),
            [] => return Err(BindError::unsupported("* here", span)),
        };
        match self.find_table(schema, &name.text) {
            Some(table) => Ok(super::names::whole_row(table, span)),
            None => Err(self.missing_table(schema, &name.text, span)),
        }
    }
}

fn missing(source: TypeId, field: &Name, span: Span) -> BindError {
    let message = match source.base {
        BaseType::Record => {
            format!("could not identify column \"{}\" in record data type", field.text)
        }
        _ => format!("column \"{}\" not found in data type {source}", field.text),
    };
    BindError::new("42703", message, span)
}

/// Checks that a query has as many columns as a row has fields.
pub(super) fn check_width(columns: usize, fields: usize, span: Span) -> Result<()> {
    match columns.cmp(&fields) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => {
            Err(BindError::new("42601", "subquery has too few columns", span))
        }
        std::cmp::Ordering::Greater => {
            Err(BindError::new("42601", "subquery has too many columns", span))
        }
    }
}

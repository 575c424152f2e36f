//! VALUES

use super::scope::Clause;
use super::{Binder, UnknownOutputs};
use crate::bound::{BoundQuery, OutputColumn, Relational, Scalar};
use crate::error::{BindError, Result};
use crate::resolve::coerce::with_modifier;
use crate::types::{Modifier, SqlType, constants};
use gadus_syntax::ast::Expr;

impl Binder<'_> {
    /// Binds the rows of VALUES.
    pub(super) fn values(
        &mut self,
        rows: &[Vec<Expr>],
        unknown: UnknownOutputs,
    ) -> Result<BoundQuery> {
        let (bound, _) = self.in_scope(|binder| {
            binder.scope().clause = Clause::Values;
            rows.iter().map(|row| binder.expanded(row)).collect::<Result<Vec<_>>>()
        })?;
        let width = bound.first().map_or(0, Vec::len);
        if let Some(place) = bound.iter().position(|row| row.len() != width) {
            let span = rows[place].first().map(|value| value.span).unwrap_or_default();
            return Err(BindError::new("42601", "VALUES lists must all be the same length", span));
        }
        let mut columns = transpose(bound, width);
        let mut outputs = Vec::with_capacity(width);
        for (place, column) in columns.iter_mut().enumerate() {
            let is_undecided = column.iter().all(|value| value.data_type.id.is_unknown());
            if !(is_undecided && unknown == UnknownOutputs::Stay) {
                let common = self.coercion().common(column, "VALUES")?;
                let values = std::mem::take(column).into_iter();
                let values =
                    values.map(|value| self.coercion().convert_to_common(value, common, "VALUES"));
                *column = values
                    .map(|value| Ok(with_modifier(value?, common.modifier, false)))
                    .collect::<Result<_>>()?;
            }
            let data_type = common_modifier(column);
            let name = format!("column{}", place + 1);
            outputs.push(OutputColumn { name, id: self.new_column(), data_type });
        }
        let columns_of = outputs.iter().map(|output| (output.id, output.data_type)).collect();
        let count = rows.len();
        let rows = transpose(columns, count);
        Ok(BoundQuery { root: Relational::Values { rows, columns: columns_of }, outputs })
    }
}

/// Returns the type of values of one type; with their modifier if all have the same one (`select_common_typmod`).
fn common_modifier(values: &[Scalar]) -> SqlType {
    let Some(first) = values.first() else { return constants::TEXT.plain() };
    let is_same = values.iter().all(|value| value.data_type.modifier == first.data_type.modifier);
    match is_same {
        true => first.data_type,
        false => SqlType { modifier: Modifier::None, ..first.data_type },
    }
}

/// Turns rows into columns, and columns into rows.
fn transpose(rows: Vec<Vec<Scalar>>, width: usize) -> Vec<Vec<Scalar>> {
    let mut columns = (0..width).map(|_| Vec::with_capacity(rows.len())).collect::<Vec<_>>();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

//! Values that are assigned to columns (`transformAssignedExpr`), and SET.

use crate::bind::scope::Clause;
use crate::bind::set_operations::item_of;
use crate::bind::{Binder, UnknownOutputs};
use crate::bound::{
    Assignments, ColumnId, ColumnValue, OutputColumn, Relational, Scalar, ScalarKind, Subquery,
    SubqueryKind, SubscriptItem,
};
use crate::catalog::CastContext;
use crate::error::{BindError, Result};
use crate::provider::Relation;
use crate::resolve::coerce::with_modifier;
use crate::types::{Modifier, SqlType, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{Assignment, AssignmentTarget, Expr, ExprKind, Name, Query};

/// Column that takes a value, or elements of it.
#[derive(Debug, Clone)]
pub(super) struct AssignedColumn {
    /// Position
    pub(super) column: usize,
    pub(super) subscripts: Vec<SubscriptItem>,
    /// Type of the value.
    data_type: SqlType,
    pub(super) span: Span,
}

impl AssignedColumn {
    /// Creates a whole column.
    pub(super) fn whole(relation: &Relation, column: usize, span: Span) -> Self {
        let data_type = relation.columns[column].data_type;
        Self { column, subscripts: Vec::new(), data_type, span }
    }
}

/// Value of SET before it is converted.
struct Assigned<'a> {
    target: &'a AssignmentTarget,
    value: Scalar,
}

impl Binder<'_> {
    /// Binds a value that may be DEFAULT.
    pub(super) fn value_or_default(&mut self, expr: &Expr) -> Result<Scalar> {
        match expr.kind {
            ExprKind::Default => {
                Ok(Scalar::new(ScalarKind::Default, constants::UNKNOWN, expr.span))
            }
            _ => self.expr(expr),
        }
    }

    /// Binds the values of a row, of which some may be DEFAULT.
    pub(super) fn values_and_defaults(&mut self, exprs: &[Expr]) -> Result<Vec<Scalar>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match expr.kind {
                ExprKind::Default => values.push(self.value_or_default(expr)?),
                _ => values.extend(self.expanded(std::slice::from_ref(expr))?),
            }
        }
        Ok(values)
    }

    /// Resolves a column of a list or of SET, with its subscripts.
    pub(super) fn assigned_column(
        &mut self,
        relation: &Relation,
        target: &AssignmentTarget,
    ) -> Result<AssignedColumn> {
        let column = relation.column(&target.column)?;
        let mut assigned = AssignedColumn::whole(relation, column, target.column.span);
        let Some(path) = &target.path else { return Ok(assigned) };
        let (inner, items) = self.subscript_items(path, assigned.data_type.id)?;
        if !matches!(&inner.kind, ExprKind::Column(parts) if parts.len() == 1) {
            return Err(BindError::unsupported("an assignment to a field of a row", path.span));
        }
        let has_slice = items.iter().any(|item| matches!(item, SubscriptItem::Slice(..)));
        assigned.data_type = match assigned.data_type.id.element() {
            Some(element) if !has_slice => {
                SqlType { id: element, modifier: assigned.data_type.modifier }
            }
            _ => assigned.data_type,
        };
        assigned.subscripts = items;
        Ok(assigned)
    }

    /// Converts a value to the type of its column.
    pub(super) fn assign(
        &mut self,
        relation: &Relation,
        target: &AssignedColumn,
        value: Scalar,
    ) -> Result<Scalar> {
        let AssignedColumn { data_type, subscripts, span, .. } = target;
        let (wanted, name) = (data_type.id, &relation.columns[target.column].name);
        if matches!(value.kind, ScalarKind::Default) {
            if !subscripts.is_empty() {
                let message = "cannot set an array element to DEFAULT";
                return Err(BindError::new("0A000", message, *span));
            }
            return Ok(Scalar { data_type: *data_type, ..value });
        }
        let has_fields = wanted == constants::INTERVAL && data_type.modifier != Modifier::None;
        if value.is_unknown_constant() && has_fields {
            // The fields decide how the literal is read.
            return Ok(Scalar { data_type: *data_type, ..value });
        }
        let (source, value_span) = (value.data_type.id, value.span);
        let converted = self.coercion().convert(value, wanted, CastContext::Assignment)?;
        let converted = converted.ok_or_else(|| {
            let message = match subscripts.is_empty() {
                true => format!(
                    "column \"{name}\" is of type {wanted} but expression is of type {source}"
                ),
                false => format!(
                    "subscripted assignment to \"{name}\" requires type {wanted} but expression is of type {source}"
                ),
            };
            let span = if subscripts.is_empty() { value_span } else { *span };
            let error = BindError::new("42804", message, span);
            error.with_hint("You will need to rewrite or cast the expression.")
        })?;
        Ok(with_modifier(converted, data_type.modifier, false))
    }

    /// Binds SET.
    pub(super) fn assignments(
        &mut self,
        relation: &Relation,
        assignments: &[Assignment],
    ) -> Result<Assignments> {
        self.scope().clause = Clause::Set;
        let (mut assigned, mut queries) = (Vec::new(), Vec::new());
        for assignment in assignments {
            match assignment {
                Assignment::One { target, value } => {
                    assigned.push(Assigned { target, value: self.value_or_default(value)? });
                }
                Assignment::Many { targets, value } => {
                    let values = self.several_values(value, targets.len(), &mut queries)?;
                    let pairs = targets.iter().zip(values);
                    assigned.extend(pairs.map(|(target, value)| Assigned { target, value }));
                }
            }
        }
        let mut values = Vec::with_capacity(assigned.len());
        for Assigned { target, value } in assigned {
            let target = self.assigned_column(relation, target)?;
            let value = self.assign(relation, &target, value)?;
            let AssignedColumn { column, subscripts, .. } = target;
            values.push(ColumnValue { column, subscripts, value });
        }
        Ok(Assignments { queries, values })
    }

    /// Binds the source of `(a, b) = …`: fields of a row, or columns of a query.
    fn several_values(
        &mut self,
        source: &Expr,
        wanted: usize,
        queries: &mut Vec<(ColumnId, Scalar)>,
    ) -> Result<Vec<Scalar>> {
        let values = match &source.kind {
            ExprKind::Row { fields, .. } => self.values_and_defaults(fields)?,
            ExprKind::Query(query) => self.row_values(query, source.span, queries)?,
            _ => {
                let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
                return Err(BindError::new("0A000", message, source.span));
            }
        };
        if values.len() != wanted {
            let message = "number of columns does not match number of values";
            return Err(BindError::new("42601", message, source.span));
        }
        Ok(values)
    }

    /// Binds a query as one row, and returns its fields.
    fn row_values(
        &mut self,
        query: &Query,
        span: Span,
        queries: &mut Vec<(ColumnId, Scalar)>,
    ) -> Result<Vec<Scalar>> {
        let mut query = self.query(query, UnknownOutputs::BecomeText)?;
        let (row, id) = (self.new_column(), self.new_column());
        let fields = query.columns(span);
        let mut types = Vec::with_capacity(fields.len());
        for output in &query.outputs {
            let item = item_of(&mut query.root, output.id);
            types.push((output.data_type, item.map_or(span, |item| item.span)));
        }
        let record = constants::RECORD.plain();
        let items = vec![(row, Scalar::new(ScalarKind::Row(fields), record, span))];
        let root = Relational::Project { input: Box::new(query.root), items };
        let outputs = vec![OutputColumn { name: String::new(), id: row, data_type: record }];
        let query = crate::bound::BoundQuery { root, outputs };
        let subquery = Subquery { kind: SubqueryKind::Scalar, query };
        queries.push((id, Scalar::new(ScalarKind::Subquery(Box::new(subquery)), record, span)));
        let field = |(index, (data_type, span))| {
            let operand = Box::new(Scalar::new(ScalarKind::Column(id), record, span));
            Scalar::new(ScalarKind::Field { operand, index }, data_type, span)
        };
        Ok(types.into_iter().enumerate().map(field).collect())
    }
}

/// Returns the error of a column that a list names twice.
pub(super) fn named_twice(name: &Name) -> BindError {
    BindError::new("42701", format!("column \"{}\" specified more than once", name.text), name.span)
}

//! INSERT: its columns, and values from VALUES or a query.

use super::assignments::{AssignedColumn, named_twice};
use super::generated::{check_inserted, check_updated};
use super::{BoundChange, ChangedTable};
use crate::bind::scope::Clause;
use crate::bind::{Binder, LaterStep, UnknownOutputs};
use crate::bound::{
    ChangeKind, ColumnId, ColumnValue, InsertChange, Relational, Scalar, ScalarKind,
};
use crate::error::{BindError, Result};
use crate::provider::Relation;
use gadus_syntax::Span;
use gadus_syntax::ast::{
    Alias, AssignmentTarget, Expr, Insert, InsertSource, Overriding, Query, QueryBody,
};

/// Rows of INSERT and the values that they give.
struct Source {
    input: Relational,
    values: Vec<ColumnValue>,
    /// Columns of the input that hold defaults alone.
    defaults: Vec<ColumnId>,
}

impl Binder<'_> {
    /// Binds INSERT without WITH.
    pub(super) fn insert(&mut self, insert: &Insert) -> Result<BoundChange> {
        let alias = insert.alias.clone().map(|name| Alias { name, columns: Vec::new() });
        let target = self.changed_table(&insert.table, alias.as_ref())?;
        let relation = target.relation.clone();
        let has_list = !insert.columns.is_empty();
        let columns = self.insert_columns(&relation, &insert.columns)?;
        let Source { input, mut values, defaults } = match &insert.source {
            InsertSource::DefaultValues => {
                Source { input: Relational::OneRow, values: Vec::new(), defaults: Vec::new() }
            }
            InsertSource::Query { query, by_name: true } => {
                return Err(BindError::unsupported("BY NAME", query.span));
            }
            InsertSource::Query { query, .. } => match plain_rows(query) {
                Some([row]) => self.insert_row(&relation, &columns, has_list, row)?,
                Some(rows) => self.insert_rows(&relation, &columns, has_list, rows)?,
                None => self.insert_query(&relation, &columns, has_list, query)?,
            },
        };
        let (on_conflict, returning, row) = self.insert_tail(insert, &target)?;
        let is_default = |value: &ColumnValue| match value.value.kind {
            ScalarKind::Default => true,
            ScalarKind::Column(id) => defaults.contains(&id),
            _ => false,
        };
        let checked = check_inserted(&relation, &mut values, insert.overriding, is_default);
        self.check_later(LaterStep::Rewrite, checked);
        if let Some(update) = on_conflict.as_ref().and_then(|conflict| conflict.update.as_ref()) {
            let checked = check_updated(&relation, &update.assignments.values);
            self.check_later(LaterStep::Rewrite, checked);
        }
        let overriding = insert.overriding;
        let insert = InsertChange { input, values, overriding, on_conflict };
        let kind = ChangeKind::Insert(Box::new(insert));
        Ok(BoundChange { kind, row, returning, relation })
    }

    /// Binds ON CONFLICT and RETURNING.
    #[allow(clippy::type_complexity)] // three results of one scope
    fn insert_tail(
        &mut self,
        insert: &Insert,
        target: &ChangedTable,
    ) -> Result<(
        Option<crate::bound::OnConflict>,
        Option<super::Returning>,
        crate::bound::RowColumns,
    )> {
        let bound = self.in_scope(|binder| {
            let conflict = insert.on_conflict.as_ref();
            let conflict = conflict.map(|conflict| binder.on_conflict(conflict, target));
            let conflict = conflict.transpose()?;
            let (row, table) = binder.another_row(&target.table);
            let scope = binder.scope();
            scope.tables = scope.tables.iter().skip(1).map(|excluded| excluded.hidden()).collect();
            scope.add(table);
            Ok((conflict, binder.returning(&insert.returning)?, row))
        });
        Ok(bound?.0)
    }

    /// Resolves the column list of INSERT; all columns without one.
    fn insert_columns(
        &mut self,
        relation: &Relation,
        targets: &[AssignmentTarget],
    ) -> Result<Vec<AssignedColumn>> {
        if targets.is_empty() {
            let column = |column| AssignedColumn::whole(relation, column, Span::default());
            return Ok((0..relation.columns.len()).map(column).collect());
        }
        let mut columns = Vec::<AssignedColumn>::with_capacity(targets.len());
        for target in targets {
            let column = relation.column(&target.column)?;
            let is_part = target.path.is_some();
            let is_double = |other: &AssignedColumn| {
                other.column == column && (!is_part || other.subscripts.is_empty())
            };
            if columns.iter().any(is_double) {
                return Err(named_twice(&target.column));
            }
            columns.push(self.assigned_column(relation, target)?);
        }
        Ok(columns)
    }

    /// Binds VALUES of one row, or the values of MERGE.
    pub(super) fn insert_values(
        &mut self,
        relation: &Relation,
        columns: &[AssignedColumn],
        has_list: bool,
        row: &[Expr],
    ) -> Result<Vec<ColumnValue>> {
        self.scope().clause = Clause::InsertValues;
        let values = self.values_and_defaults(row)?;
        check_count(columns, has_list, &values, values.first().and_then(row_width))?;
        self.assign_row(relation, columns, values)
    }

    fn insert_row(
        &mut self,
        relation: &Relation,
        columns: &[AssignedColumn],
        has_list: bool,
        row: &[Expr],
    ) -> Result<Source> {
        let bind = |binder: &mut Self| binder.insert_values(relation, columns, has_list, row);
        let (values, mut scope) = self.in_scope(bind)?;
        let sets = std::mem::take(&mut scope.sets);
        let input = crate::bind::select::with_sets(Relational::OneRow, sets);
        Ok(Source { input, values, defaults: Vec::new() })
    }

    /// Binds VALUES of several rows, each value with the type of its column.
    fn insert_rows(
        &mut self,
        relation: &Relation,
        columns: &[AssignedColumn],
        has_list: bool,
        rows: &[Vec<Expr>],
    ) -> Result<Source> {
        let (bound, _) = self.in_scope(|binder| {
            binder.scope().clause = Clause::Values;
            let mut bound = Vec::with_capacity(rows.len());
            for row in rows {
                let values = binder.values_and_defaults(row)?;
                if bound.first().is_some_and(|first: &Vec<Scalar>| first.len() != values.len()) {
                    let span = row.first().map(|value| value.span).unwrap_or_default();
                    let message = "VALUES lists must all be the same length";
                    return Err(BindError::new("42601", message, span));
                }
                check_count(columns, has_list, &values, values.first().and_then(row_width))?;
                let values = binder.assign_row(relation, columns, values)?;
                bound.push(values.into_iter().map(|value| value.value).collect::<Vec<_>>());
            }
            Ok(bound)
        })?;
        let width = bound.first().map_or(0, Vec::len);
        let (mut outputs, mut values, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
        for (place, target) in columns.iter().take(width).enumerate() {
            let (id, first) = (self.new_column(), &bound[0][place]);
            let is_default = |row: &Vec<Scalar>| matches!(row[place].kind, ScalarKind::Default);
            if bound.iter().all(is_default) {
                defaults.push(id);
            }
            outputs.push((id, first.data_type));
            let value = Scalar::new(ScalarKind::Column(id), first.data_type, first.span);
            let subscripts = target.subscripts.clone();
            values.push(ColumnValue { column: target.column, subscripts, value });
        }
        let input = Relational::Values { rows: bound, columns: outputs };
        Ok(Source { input, values, defaults })
    }

    /// Binds a query; its literals of undecided type are read as the columns' types.
    fn insert_query(
        &mut self,
        relation: &Relation,
        columns: &[AssignedColumn],
        has_list: bool,
        query: &Query,
    ) -> Result<Source> {
        let mut bound = self.query(query, UnknownOutputs::Stay)?;
        let mut values = Vec::with_capacity(bound.outputs.len());
        let mut fields = None;
        for output in &bound.outputs {
            let (id, data_type) = (output.id, output.data_type);
            let source = crate::bind::set_operations::item_of(&mut bound.root, id);
            let span = source.as_ref().map_or(query.span, |source| source.span);
            fields = source.as_deref().and_then(row_width);
            let literal = source.filter(|source| {
                source.data_type.id.is_unknown()
                    && matches!(source.kind, ScalarKind::Constant(_) | ScalarKind::Parameter(_))
            });
            values.push(match literal {
                Some(literal) => literal.clone(),
                None => Scalar::new(ScalarKind::Column(id), data_type, span),
            });
        }
        check_count(columns, has_list, &values, fields)?;
        let values = self.assign_row(relation, columns, values)?;
        Ok(Source { input: bound.root, values, defaults: Vec::new() })
    }

    /// Converts the values of one row to the types of its columns (`transformInsertRow`).
    fn assign_row(
        &mut self,
        relation: &Relation,
        columns: &[AssignedColumn],
        values: Vec<Scalar>,
    ) -> Result<Vec<ColumnValue>> {
        let mut assigned = Vec::with_capacity(values.len());
        for (target, value) in columns.iter().zip(values) {
            let value = self.assign(relation, target, value)?;
            let subscripts = target.subscripts.clone();
            assigned.push(ColumnValue { column: target.column, subscripts, value });
        }
        Ok(assigned)
    }

    /// Binds the INSERT of a WHEN clause.
    pub(super) fn merge_insert(
        &mut self,
        relation: &Relation,
        targets: &[AssignmentTarget],
        overriding: Option<Overriding>,
        row: Option<&[Expr]>,
    ) -> Result<Vec<ColumnValue>> {
        let columns = self.insert_columns(relation, targets)?;
        let mut values = match row {
            Some(row) => self.insert_values(relation, &columns, !targets.is_empty(), row)?,
            None => Vec::new(),
        };
        let is_default = |value: &ColumnValue| matches!(value.value.kind, ScalarKind::Default);
        let checked = check_inserted(relation, &mut values, overriding, is_default);
        self.check_later(LaterStep::Rewrite, checked);
        Ok(values)
    }
}

/// Checks the number of values; `fields` is that of a row which is the only value.
fn check_count(
    columns: &[AssignedColumn],
    has_list: bool,
    values: &[Scalar],
    fields: Option<usize>,
) -> Result<()> {
    if let Some(extra) = values.get(columns.len()) {
        let message = "INSERT has more expressions than target columns";
        return Err(BindError::new("42601", message, extra.span));
    }
    let Some(missing) = columns.get(values.len()).filter(|_| has_list) else { return Ok(()) };
    let message = "INSERT has more target columns than expressions";
    let error = BindError::new("42601", message, missing.span);
    let is_row = values.len() == 1 && fields == Some(columns.len());
    Err(match is_row {
        true => error.with_hint("The insertion source is a row expression containing the same number of columns expected by the INSERT. Did you accidentally use extra parentheses?"),
        false => error,
    })
}

/// Returns the number of fields of a row.
fn row_width(value: &Scalar) -> Option<usize> {
    match &value.kind {
        ScalarKind::Row(fields) => Some(fields.len()),
        _ => None,
    }
}

/// Returns the rows of VALUES without any other clause.
fn plain_rows(query: &Query) -> Option<&[Vec<Expr>]> {
    let is_plain = query.with.is_none()
        && query.order_by.is_empty()
        && query.order_by_all.is_none()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty();
    match &query.body {
        QueryBody::Values(rows) if is_plain => Some(rows),
        _ => None,
    }
}

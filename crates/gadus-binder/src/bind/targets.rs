//! Select lists: wildcards, headings.

use super::Binder;
use crate::bound::{Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{
    Expr, ExprKind, Name, Query, QueryBody, Replacement, Target, TargetKind, TypeName,
    ValueFunction,
};

/// Heading of an expression that has no better one.
const NO_NAME: &str = "?column?";

/// Most entries of a select list.
const TARGETS_MAX: usize = 1664;

/// Entry of a select list.
#[derive(Debug, Clone)]
pub(super) struct BoundTarget {
    pub(super) name: String,
    pub(super) value: Scalar,
    /// True for values that only the order needs.
    pub(super) is_hidden: bool,
}

impl Binder<'_> {
    /// Binds a select list.
    pub(super) fn targets(&mut self, targets: &[Target]) -> Result<Vec<BoundTarget>> {
        let mut bound = Vec::with_capacity(targets.len());
        for target in targets {
            match &target.kind {
                TargetKind::Expr {
                    expr: Expr { kind: ExprKind::AllFields(operand), .. }, ..
                } => {
                    self.all_fields(operand, target.span, &mut bound)?;
                }
                TargetKind::Expr { expr, label } => {
                    let value = self.expr(expr)?;
                    let name =
                        label.as_ref().map_or_else(|| heading(expr), |label| label.text.clone());
                    bound.push(BoundTarget { name, value, is_hidden: false });
                }
                TargetKind::Wildcard { qualifier, exclude, replace, rename } => {
                    let columns = self.wildcard(qualifier, target.span)?;
                    self.changed(columns, (exclude, replace, rename), &mut bound)?;
                }
            }
            if bound.len() > TARGETS_MAX {
                let message = format!("target lists can have at most {TARGETS_MAX} entries");
                return Err(BindError::new("54011", message, target.span));
            }
        }
        Ok(bound)
    }

    /// Binds the values of a row; `t.*` gives one for each column.
    pub(super) fn expanded(&mut self, exprs: &[Expr]) -> Result<Vec<Scalar>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match &expr.kind {
                ExprKind::AllColumns(qualifier) => {
                    let columns = self.wildcard(qualifier, expr.span)?;
                    values.extend(columns.into_iter().map(|(_, value)| value));
                }
                ExprKind::AllFields(operand) => {
                    let mut fields = Vec::new();
                    self.all_fields(operand, expr.span, &mut fields)?;
                    values.extend(fields.into_iter().map(|field| field.value));
                }
                _ => values.push(self.expr(expr)?),
            }
        }
        Ok(values)
    }

    /// Returns the columns of `*` or `t.*`.
    fn wildcard(&mut self, qualifier: &[Name], span: Span) -> Result<Vec<(String, Scalar)>> {
        let pairs = |columns: &[super::scope::ScopeColumn]| {
            let pair = |column: &super::scope::ScopeColumn| {
                (column.name.clone(), Scalar { span, ..column.value.clone() })
            };
            columns.iter().map(pair).collect::<Vec<_>>()
        };
        let (schema, name) = match qualifier {
            [] => {
                let scope = self.scope();
                let tables = scope.tables.iter().filter(|table| table.has_plain_columns);
                let columns = tables.flat_map(|table| pairs(table.expanded())).collect::<Vec<_>>();
                if scope.tables.is_empty() {
                    let message = "SELECT * with no tables specified is not valid";
                    return Err(BindError::new("42601", message, span));
                }
                return Ok(columns);
            }
            [name] => (None, name),
            [.., schema, name] => (Some(schema.text.as_str()), name),
        };
        match self.find_table(schema, &name.text) {
            Some(table) => Ok(pairs(table.expanded())),
            None => Err(self.missing_table(schema, &name.text, span)),
        }
    }

    /// Applies EXCLUDE, REPLACE and RENAME.
    fn changed(
        &mut self,
        columns: Vec<(String, Scalar)>,
        (exclude, replace, rename): (&[Name], &[Replacement], &[(Name, Name)]),
        bound: &mut Vec<BoundTarget>,
    ) -> Result<()> {
        let named = exclude.iter().chain(replace.iter().map(|one| &one.column));
        let named = named.chain(rename.iter().map(|(from, _)| from));
        for name in named {
            if !columns.iter().any(|(column, _)| *column == name.text) {
                let message = format!("column \"{}\" does not exist", name.text);
                return Err(BindError::new("42703", message, name.span));
            }
        }
        for (column, value) in columns {
            if exclude.iter().any(|name| name.text == column) {
                continue;
            }
            let replaced = replace.iter().find(|one| one.column.text == column);
            let value = match replaced {
                Some(replacement) => self.expr(&replacement.expr)?,
                None => value,
            };
            let renamed = rename.iter().find(|(from, _)| from.text == column);
            let name = renamed.map_or(column, |(_, to)| to.text.clone());
            bound.push(BoundTarget { name, value, is_hidden: false });
        }
        Ok(())
    }

    /// Binds `(row).*`.
    fn all_fields(
        &mut self,
        operand: &Expr,
        span: Span,
        bound: &mut Vec<BoundTarget>,
    ) -> Result<()> {
        let row = self.expr(operand)?;
        if let Some(outputs) = self.outputs_of(&row) {
            for (index, (name, data_type)) in outputs.iter().enumerate() {
                let kind = ScalarKind::Field { operand: Box::new(row.clone()), index };
                let value = Scalar::new(kind, *data_type, span);
                bound.push(BoundTarget { name: (*name).to_owned(), value, is_hidden: false });
            }
            return Ok(());
        }
        if let Some(fields) = self.provider.fields(row.data_type.id) {
            for (index, field) in fields.iter().enumerate() {
                let kind = match &row.kind {
                    ScalarKind::Row(values) if index < values.len() => values[index].kind.clone(),
                    _ => ScalarKind::Field { operand: Box::new(row.clone()), index },
                };
                let value = Scalar::new(kind, field.data_type, span);
                bound.push(BoundTarget { name: field.name.clone(), value, is_hidden: false });
            }
            return Ok(());
        }
        match row.kind {
            ScalarKind::Row(values) => {
                for (index, value) in values.into_iter().enumerate() {
                    let name = format!("f{}", index + 1);
                    bound.push(BoundTarget { name, value, is_hidden: false });
                }
                Ok(())
            }
            _ if row.data_type.id == constants::RECORD => {
                Err(BindError::new("42601", "record type has not been registered", span))
            }
            _ => {
                let message = format!("type {} is not composite", row.data_type.id);
                Err(BindError::new("42809", message, span))
            }
        }
    }
}

/// Returns the heading of an expression (`FigureColname`).
pub(super) fn heading(expr: &Expr) -> String {
    figure(expr).map_or_else(|| NO_NAME.to_owned(), |(name, _)| name)
}

/// Returns a name, and true if it is of the value rather than of a type or a construct.
fn figure(expr: &Expr) -> Option<(String, bool)> {
    let strong = |name: &str| Some((name.to_owned(), true));
    let weak = |name: &str| Some((name.to_owned(), false));
    match &expr.kind {
        ExprKind::Column(parts) | ExprKind::AllColumns(parts) => strong(&parts.last()?.text),
        ExprKind::Field { field, .. } => strong(&field.text),
        ExprKind::Subscript { operand, .. }
        | ExprKind::Slice { operand, .. }
        | ExprKind::AllFields(operand)
        | ExprKind::Collate { operand, .. } => figure(operand),
        ExprKind::Call(call) => strong(&call.name.parts.last()?.text),
        ExprKind::AtTimeZone { .. } => strong("timezone"),
        ExprKind::Cast { operand, data_type, .. } => match figure(operand) {
            Some((name, true)) => Some((name, true)),
            _ => weak(&type_heading(data_type)),
        },
        ExprKind::TypedText { data_type, .. } => weak(&type_heading(data_type)),
        ExprKind::Case { otherwise, .. } => {
            match otherwise.as_ref().and_then(|otherwise| figure(otherwise)) {
                Some((name, true)) => Some((name, true)),
                _ => weak("case"),
            }
        }
        ExprKind::Array(_) | ExprKind::ArrayQuery(_) => strong("array"),
        ExprKind::Row { .. } => strong("row"),
        ExprKind::Exists(_) => strong("exists"),
        ExprKind::Query(query) => query_heading(query),
        ExprKind::ValueFunction { function, .. } => strong(value_heading(*function)),
        _ => None,
    }
}

fn type_heading(name: &TypeName) -> String {
    name.name.parts.last().map_or_else(String::new, |part| part.text.clone())
}

fn query_heading(query: &Query) -> Option<(String, bool)> {
    let select = match &query.body {
        QueryBody::Select(select) => select,
        QueryBody::Values(_) => return Some(("column1".to_owned(), true)),
        QueryBody::SetOperation { left, .. } => return query_heading(left),
        QueryBody::Table(_) | QueryBody::Modification(_) => return None,
    };
    match &select.targets.first()?.kind {
        TargetKind::Expr { label: Some(label), .. } => Some((label.text.clone(), true)),
        TargetKind::Expr { expr, .. } => figure(expr),
        TargetKind::Wildcard { .. } => None,
    }
}

fn value_heading(function: ValueFunction) -> &'static str {
    match function {
        ValueFunction::CurrentDate => "current_date",
        ValueFunction::CurrentTime => "current_time",
        ValueFunction::CurrentTimestamp => "current_timestamp",
        ValueFunction::LocalTime => "localtime",
        ValueFunction::LocalTimestamp => "localtimestamp",
        ValueFunction::CurrentRole => "current_role",
        ValueFunction::CurrentUser => "current_user",
        ValueFunction::SessionUser => "session_user",
        ValueFunction::User => "user",
        ValueFunction::CurrentCatalog => "current_catalog",
        ValueFunction::CurrentSchema => "current_schema",
    }
}

//! ON CONFLICT: the unique index that is meant, and DO UPDATE.

use super::ChangedTable;
use crate::bind::scope::{Clause, ScopeTable};
use crate::bind::{Binder, LaterStep};
use crate::bound::{
    Arbiter, Assignments, ColumnValue, ConflictUpdate, OnConflict, Scalar, ScalarKind,
};
use crate::catalog::CastContext;
use crate::error::{BindError, Result};
use crate::provider::{Relation, UniqueIndex};
use gadus_syntax::Span;
use gadus_syntax::ast::{
    self, ConflictAction, ConflictTarget, IndexElement, NullsOrder, SortDirection,
};

impl Binder<'_> {
    /// Binds ON CONFLICT in a scope of its own.
    pub(super) fn on_conflict(
        &mut self,
        conflict: &ast::OnConflict,
        target: &ChangedTable,
    ) -> Result<OnConflict> {
        let relation = &target.relation;
        let is_update = matches!(conflict.action, ConflictAction::Update { .. });
        self.scope().add(target.table.clone());
        let arbiter = match &conflict.target {
            None if is_update => {
                let message =
                    "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                let error = BindError::new("42601", message, conflict.span);
                return Err(error.with_hint("For example, ON CONFLICT (column_name)."));
            }
            None => None,
            Some(ConflictTarget::Constraint(name)) => {
                check_constraint(relation, &name.text)?;
                Some(Arbiter::Constraint(name.text.clone()))
            }
            Some(ConflictTarget::Columns { elements, filter, span }) => {
                Some(self.arbiter_elements(elements, filter.as_ref(), *span)?)
            }
        };
        let (excluded, mut table) = self.another_row(&target.table);
        (table.name, table.hidden_name, table.schema) = ("excluded".to_owned(), None, None);
        let (arbiter, update) = match &conflict.action {
            ConflictAction::Nothing => (arbiter, None),
            ConflictAction::Update { assignments, filter } => {
                self.scope().add(table);
                let assignments = self.assignments(relation, assignments)?;
                self.scope().clause = Clause::Where;
                let predicate = filter.as_ref().map(|filter| self.condition(filter, "WHERE"));
                let predicate = predicate.transpose()?;
                (arbiter, Some(ConflictUpdate { excluded, assignments, predicate }))
            }
            ConflictAction::Replace => {
                let (arbiter, assignments) = replaced(target, &table, conflict.span)?;
                let update = ConflictUpdate { excluded, assignments, predicate: None };
                (Some(arbiter), Some(update))
            }
        };
        if let Some(arbiter @ Arbiter::Elements { .. }) = &arbiter {
            // Expressions of indexes see the table alone.
            let excluded = self.scope().tables.split_off(1);
            let checked = self.check_arbiter(relation, arbiter, target);
            self.check_later(LaterStep::Plan, checked);
            self.scope().tables.extend(excluded);
        }
        Ok(OnConflict { arbiter, existing: target.row.clone(), update })
    }

    fn arbiter_elements(
        &mut self,
        elements: &[IndexElement],
        filter: Option<&ast::Expr>,
        span: Span,
    ) -> Result<Arbiter> {
        self.scope().clause = Clause::IndexExpression;
        let mut bound = Vec::with_capacity(elements.len());
        for element in elements {
            let refused = match element {
                element if element.direction != SortDirection::Default => "ASC/DESC",
                element if element.nulls != NullsOrder::Default => "NULLS FIRST/LAST",
                _ => {
                    bound.push(self.arbiter_element(&element.expr, span)?);
                    continue;
                }
            };
            let message = format!("{refused} is not allowed in ON CONFLICT clause");
            return Err(BindError::new("42P10", message, span));
        }
        self.scope().clause = Clause::IndexPredicate;
        let predicate = filter.map(|filter| self.condition(filter, "WHERE")).transpose()?;
        Ok(Arbiter::Elements { elements: bound, predicate })
    }

    /// Binds a column, with the position of the list for its error, or an expression.
    fn arbiter_element(&mut self, element: &ast::Expr, span: Span) -> Result<Scalar> {
        match &element.kind {
            ast::ExprKind::Column(parts) if parts.len() == 1 => self.column(parts, span),
            _ => self.expr(element),
        }
    }

    /// Checks that there is a unique index of an arbiter's elements (`infer_arbiter_indexes`).
    fn check_arbiter(
        &mut self,
        relation: &Relation,
        arbiter: &Arbiter,
        target: &ChangedTable,
    ) -> Result<()> {
        let Arbiter::Elements { elements, predicate } = arbiter else { return Ok(()) };
        let (mut columns, mut expressions) = (Vec::new(), Vec::new());
        for element in elements {
            match position_of(element, target) {
                Some(column) => columns.push(column),
                None => expressions.push(element),
            }
        }
        columns.sort_unstable();
        columns.dedup();
        let is_key = |key: &Vec<usize>| {
            let mut key = key.clone();
            key.sort_unstable();
            key == columns
        };
        let mut is_found = expressions.is_empty() && relation.keys.iter().any(is_key);
        for index in &relation.unique_indexes {
            // A predicate may follow from the one that is given: this is left to the engine.
            let fits = index.predicate.is_none() || predicate.is_some();
            is_found |= fits && is_key(&index.columns) && self.has_expressions(index, &expressions);
        }
        match is_found {
            true => Ok(()),
            false => {
                let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
                Err(BindError::without_position("42P10", message))
            }
        }
    }

    /// Returns true if an index has the expressions of an arbiter, and no others; also if they cannot be bound.
    fn has_expressions(&mut self, index: &UniqueIndex, wanted: &[&Scalar]) -> bool {
        let mut known = Vec::with_capacity(index.expressions.len());
        for text in &index.expressions {
            let parsed = gadus_syntax::parse_expression(text).ok();
            let Some(bound) = parsed.and_then(|parsed| self.expr(&parsed).ok()) else {
                return true;
            };
            known.push(with_one_context(&bound));
        }
        let wanted = wanted.iter().map(|wanted| with_one_context(wanted)).collect::<Vec<_>>();
        known.iter().all(|known| wanted.contains(known))
            && wanted.iter().all(|wanted| known.contains(wanted))
    }
}

/// Returns an expression in which no cast differs by having been written or not.
fn with_one_context(value: &Scalar) -> Scalar {
    let mut value = value.clone();
    value.for_each(&mut |part| {
        if let ScalarKind::Cast { context, .. } = &mut part.kind {
            *context = CastContext::Implicit;
        }
    });
    value
}

/// Returns the position of the column that an expression is.
fn position_of(element: &Scalar, target: &ChangedTable) -> Option<usize> {
    let id = element.as_column()?;
    target.row.iter().find(|(_, known)| *known == id).map(|(column, _)| *column)
}

fn check_constraint(relation: &Relation, name: &str) -> Result<()> {
    let mut constraints =
        relation.unique_indexes.iter().filter_map(|index| index.constraint.as_deref());
    // Databases that do not name their indexes decide themselves.
    if relation.unique_indexes.is_empty() || constraints.any(|known| known == name) {
        return Ok(());
    }
    let message = format!("constraint \"{name}\" for table \"{}\" does not exist", relation.name);
    Err(BindError::without_position("42704", message))
}

/// Returns what INSERT OR REPLACE means: all columns of the row with the same key are replaced.
fn replaced(
    target: &ChangedTable,
    excluded: &ScopeTable,
    span: Span,
) -> Result<(Arbiter, Assignments)> {
    let key = target.relation.keys.first().ok_or_else(|| {
        BindError::unsupported("INSERT OR REPLACE into a table without a primary key", span)
    })?;
    let column = |column: &usize| target.table.columns.get(*column).map(|one| one.value.clone());
    let elements = key.iter().filter_map(column).collect();
    let values = excluded.columns.iter().enumerate().filter(|(column, _)| !key.contains(column));
    let value = |(column, of): (usize, &crate::bind::scope::ScopeColumn)| ColumnValue {
        column,
        subscripts: Vec::new(),
        value: of.value.clone(),
    };
    let is_generated =
        |column: &usize| target.relation.generated.iter().any(|(one, _)| one == column);
    let mut values = values.map(value).collect::<Vec<_>>();
    for value in values.iter_mut().filter(|value| is_generated(&value.column)) {
        value.value.kind = ScalarKind::Default;
    }
    let arbiter = Arbiter::Elements { elements, predicate: None };
    Ok((arbiter, Assignments { queries: Vec::new(), values }))
}

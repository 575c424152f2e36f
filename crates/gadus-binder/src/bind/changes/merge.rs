//! MERGE: the join of both tables, and the WHEN clauses.

use super::generated::check_updated;
use super::{BoundChange, ChangedTable};
use crate::bind::scope::{Clause, ScopeTable};
use crate::bind::{Binder, LaterStep};
use crate::bound::{ChangeKind, MergeChange, MergeClause, MergeStep, Relational, RowColumns};
use crate::error::{BindError, Result};
use crate::provider::Relation;
use gadus_syntax::ast::{Merge, MergeAction, MergeMatch, MergeWhen};
use std::sync::Arc;

impl Binder<'_> {
    /// Binds MERGE without WITH.
    pub(super) fn merge_change(&mut self, merge: &Merge) -> Result<BoundChange> {
        if merge.with.as_ref().is_some_and(|with| with.recursive) {
            let message = "WITH RECURSIVE is not supported for MERGE statement";
            return Err(BindError::without_position("42601", message));
        }
        if let Some(target) = merge.returning.first() {
            return Err(BindError::unsupported("RETURNING of MERGE", target.span));
        }
        check_reachable(&merge.clauses)?;
        let (change, _) = self.in_scope(|binder| binder.merge_in_scope(merge))?;
        Ok(change)
    }

    fn merge_in_scope(&mut self, merge: &Merge) -> Result<BoundChange> {
        let target = self.changed_table(&merge.table, merge.alias.as_ref())?;
        let ChangedTable { relation, table, scan, row: old } = target;
        self.scope().add(table.hidden());
        let source = self.bind_item(&merge.source)?;
        if self.scope().tables.iter().any(|other| other.is_named && other.name == table.name) {
            let message = format!("name \"{}\" specified more than once", table.name);
            let detail = "The name is used both as MERGE target table and data source.";
            return Err(BindError::without_position("42712", message).with_detail(detail));
        }
        self.show_changed(&table, true);
        self.scope().clause = Clause::JoinOn;
        let condition = self.condition(&merge.on, "JOIN/ON")?;
        let mut clauses = Vec::with_capacity(merge.clauses.len());
        for clause in &merge.clauses {
            clauses.push(self.merge_clause(clause, &relation, &table)?);
        }
        for clause in &clauses {
            if let MergeStep::Update(assignments) = &clause.action {
                let checked = check_updated(&relation, &assignments.values);
                self.check_later(LaterStep::Rewrite, checked);
            }
        }
        Ok(merged(relation, scan, old, MergeRest { source, condition, clauses }))
    }

    /// Binds one WHEN clause; the table is not visible where it has no row.
    fn merge_clause(
        &mut self,
        clause: &MergeWhen,
        relation: &Relation,
        table: &ScopeTable,
    ) -> Result<MergeClause> {
        let is_matched = clause.matched == MergeMatch::Matched;
        self.show_changed(table, is_matched);
        self.scope().clause = Clause::MergeWhen;
        let condition =
            clause.condition.as_ref().map(|condition| self.condition(condition, "WHEN"));
        let condition = condition.transpose()?;
        let action = match &clause.action {
            MergeAction::Update(assignments) => {
                MergeStep::Update(self.assignments(relation, assignments)?)
            }
            MergeAction::Delete => MergeStep::Delete,
            MergeAction::Nothing => MergeStep::Nothing,
            MergeAction::Insert { columns, overriding, values } => {
                let row = values.as_deref();
                let values = self.merge_insert(relation, columns, *overriding, row)?;
                MergeStep::Insert { values, overriding: *overriding }
            }
        };
        Ok(MergeClause { is_matched, condition, action })
    }
}

impl Binder<'_> {
    /// Makes the table of MERGE visible or not.
    fn show_changed(&mut self, table: &ScopeTable, is_visible: bool) {
        let shown = if is_visible { table.clone() } else { table.hidden() };
        let scope = self.scope();
        scope.own.extend(table.columns.iter().filter_map(|column| column.value.as_column()));
        scope.tables[0] = shown;
    }
}

/// Parts of MERGE without its table.
struct MergeRest {
    source: Relational,
    condition: crate::bound::Scalar,
    clauses: Vec<MergeClause>,
}

fn merged(
    relation: Arc<Relation>,
    target: Relational,
    old: RowColumns,
    rest: MergeRest,
) -> BoundChange {
    let MergeRest { source, condition, clauses } = rest;
    let merge = MergeChange { target, old: old.clone(), source, condition, clauses };
    BoundChange { kind: ChangeKind::Merge(Box::new(merge)), row: old, returning: None, relation }
}

/// Refuses clauses after one of their kind without a condition.
fn check_reachable(clauses: &[MergeWhen]) -> Result<()> {
    for (place, clause) in clauses.iter().enumerate() {
        if clause.matched == MergeMatch::NotMatchedBySource {
            let span = clause.condition.as_ref().map(|condition| condition.span);
            let what = "WHEN NOT MATCHED BY SOURCE";
            return Err(BindError::unsupported(what, span.unwrap_or_default()));
        }
        let ends = |other: &MergeWhen| other.matched == clause.matched && other.condition.is_none();
        if clauses[..place].iter().any(ends) {
            let message = "unreachable WHEN clause specified after unconditional WHEN clause";
            return Err(BindError::without_position("42601", message));
        }
    }
    Ok(())
}

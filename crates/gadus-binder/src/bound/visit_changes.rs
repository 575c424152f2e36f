//! Going through the expressions of changes.

use super::visit::Visit;
use super::{
    Arbiter, Assignments, Change, ChangeKind, ColumnValue, InsertChange, MergeChange, MergeStep,
    OnConflict, Relational,
};

impl Change {
    /// Calls a function for each expression of the change, not for those of its inputs or within expressions.
    pub(super) fn for_each_scalar(&mut self, visit: Visit<'_>) {
        match &mut self.kind {
            ChangeKind::Insert(insert) => insert.for_each_scalar(visit),
            ChangeKind::Update(update) => update.assignments.for_each_scalar(visit),
            ChangeKind::Delete { .. } => {}
            ChangeKind::Merge(merge) => merge.for_each_scalar(visit),
        }
        self.returning.iter_mut().flatten().for_each(|(_, item)| visit(item));
    }

    /// Calls a function for each input.
    pub(super) fn for_each_input(&mut self, visit: &mut dyn FnMut(&mut Relational)) {
        match &mut self.kind {
            ChangeKind::Insert(insert) => visit(&mut insert.input),
            ChangeKind::Update(update) => visit(&mut update.input),
            ChangeKind::Delete { input } => visit(input),
            ChangeKind::Merge(merge) => {
                visit(&mut merge.target);
                visit(&mut merge.source);
            }
        }
    }
}

impl InsertChange {
    fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.values.iter_mut().for_each(|value| value.for_each_scalar(visit));
        if let Some(conflict) = &mut self.on_conflict {
            conflict.for_each_scalar(visit);
        }
    }
}

impl OnConflict {
    fn for_each_scalar(&mut self, visit: Visit<'_>) {
        if let Some(Arbiter::Elements { elements, predicate }) = &mut self.arbiter {
            elements.iter_mut().chain(predicate).for_each(&mut *visit);
        }
        if let Some(update) = &mut self.update {
            update.assignments.for_each_scalar(visit);
            update.predicate.iter_mut().for_each(visit);
        }
    }
}

impl Assignments {
    fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.queries.iter_mut().for_each(|(_, query)| visit(query));
        self.values.iter_mut().for_each(|value| value.for_each_scalar(visit));
    }
}

impl ColumnValue {
    fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.subscripts.iter_mut().for_each(|item| item.for_each_scalar(visit));
        visit(&mut self.value);
    }
}

impl MergeChange {
    fn for_each_scalar(&mut self, visit: Visit<'_>) {
        visit(&mut self.condition);
        for clause in &mut self.clauses {
            clause.condition.iter_mut().for_each(&mut *visit);
            match &mut clause.action {
                MergeStep::Update(assignments) => assignments.for_each_scalar(visit),
                MergeStep::Insert { values, .. } => {
                    values.iter_mut().for_each(|value| value.for_each_scalar(visit));
                }
                MergeStep::Delete | MergeStep::Nothing => {}
            }
        }
    }
}

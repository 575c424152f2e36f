//! UPDATE and DELETE of the rows that a simple filter lets pass, found by the engine's own scan.

use super::Target;
use super::filter::Filter;
use super::point::{Assigned, assigned_values};
use crate::session::Outcome;
use crate::value::Value;
use gadus_engine::{Datum, Fate, Modification, NewValues, Question, Result, Wanted};
use std::sync::Arc;

/// UPDATE table SET … WHERE conjunction, or DELETE FROM table WHERE conjunction.
#[derive(Debug)]
pub(crate) struct ModifyQuery {
    pub(super) target: Target,
    filter: Filter,
    /// What is assigned; none where rows are deleted.
    assigned: Option<Arc<[Assigned]>>,
}

impl ModifyQuery {
    pub(super) fn update(target: Target, filter: Filter, assigned: Vec<Assigned>) -> Self {
        Self { target, filter, assigned: Some(Arc::from(assigned)) }
    }

    pub(super) fn delete(target: Target, filter: Filter) -> Self {
        Self { target, filter, assigned: None }
    }

    /// What is to be done; none when a value needs DataFusion's rules.
    pub(super) fn modification(&self, parameters: &[Value]) -> Result<Option<Modification>> {
        let Some(predicates) = self.filter.predicates(&self.target, parameters)? else {
            return Ok(None);
        };
        let Some(assigned) = &self.assigned else {
            return Ok(Some(Modification { predicates, fate: Fate::Deleted }));
        };
        let Some(values) = assigned_values(assigned, &self.target, parameters)? else {
            return Ok(None);
        };
        let columns = assigned.iter().map(Assigned::column).collect();
        let reads = assigned.iter().filter_map(Assigned::source).collect();
        let assigned = assigned.clone();
        let make = move |old: &[Datum], new: &mut Vec<Datum>| {
            let mut old = old.iter();
            for (assigned, value) in assigned.iter().zip(&values) {
                // In the order of `reads`.
                new.push(assigned.apply(assigned.source().and_then(|_| old.next()), value)?);
            }
            Ok(())
        };
        let fate = Fate::Changed(NewValues { columns, reads, make: Arc::new(make) });
        Ok(Some(Modification { predicates, fate }))
    }

    /// Which rows it is for.
    pub(super) fn question(&self, parameters: &[Value]) -> Result<Option<Question>> {
        let predicates = self.filter.predicates(&self.target, parameters)?;
        Ok(predicates.map(|predicates| Question {
            predicates,
            wanted: Wanted::Rows { rows_max: usize::MAX },
        }))
    }

    pub(super) fn outcome(&self, rows: u64) -> Outcome {
        Outcome::Changed { verb: if self.assigned.is_some() { "UPDATE" } else { "DELETE" }, rows }
    }

    pub(super) fn explain(&self) -> String {
        let (verb, preposition) =
            if self.assigned.is_some() { ("update", "of") } else { ("delete", "from") };
        format!(
            "Compiled: {verb} rows {preposition} {} with {} pushed-down conjuncts",
            self.target.schema.name,
            self.filter.conjuncts.len()
        )
    }
}

//! What is done to all rows that a question finds.

use super::question::{Question, Wanted};
use crate::error::{Error, Result};
use crate::scan::Predicate;
use crate::types::{Datum, TableSchema};
use std::fmt;
use std::sync::Arc;

/// UPDATE or DELETE of all rows that pass some predicates.
#[derive(Debug, Clone)]
pub struct Modification {
    /// Conditions that every row satisfies.
    pub predicates: Vec<Predicate>,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a row.
#[derive(Debug, Clone)]
pub enum Fate {
    /// It is deleted.
    Deleted,
    /// It gets new values.
    Changed(NewValues),
}

/// New values of some columns, made of old values of the same row.
#[derive(Clone)]
pub struct NewValues {
    /// Columns that get values; none of them belongs to the key.
    pub columns: Vec<usize>,
    /// Columns whose values `make` wants to see.
    pub reads: Vec<usize>,
    /// Adds the values for `columns`, made of those of `reads`.
    pub make: Arc<MakeValues>,
}

/// See [`NewValues::make`].
pub type MakeValues = dyn Fn(&[Datum], &mut Vec<Datum>) -> Result<()> + Send + Sync;

impl Modification {
    /// Which rows it is for.
    #[must_use]
    pub fn question(&self) -> Question {
        Question {
            predicates: self.predicates.clone(),
            wanted: Wanted::Rows { rows_max: usize::MAX },
        }
    }

    /// The columns that it looks at of the rows that it changes.
    #[must_use]
    pub fn reads(&self) -> &[usize] {
        match &self.fate {
            Fate::Deleted => &[],
            Fate::Changed(values) => &values.reads,
        }
    }

    /// Refuses new values of keys: their rows would be elsewhere afterwards.
    pub(super) fn check(&self, schema: &TableSchema) -> Result<()> {
        if let Fate::Changed(values) = &self.fate
            && values.columns.iter().any(|column| schema.is_indexed(*column))
        {
            return Err(Error::internal("modifications leave keys as they are"));
        }
        Ok(())
    }
}

impl fmt::Debug for NewValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewValues")
            .field("columns", &self.columns)
            .field("reads", &self.reads)
            .finish_non_exhaustive()
    }
}

//! Changes: INSERT, UPDATE, DELETE and MERGE as operators over tables.

use super::{ColumnId, Relational, Scalar, SubscriptItem};
use crate::provider::Relation;
use gadus_syntax::ast::Overriding;
use std::sync::Arc;

/// Columns of a row of a table, by position.
pub type RowColumns = Vec<(usize, ColumnId)>;

/// Change of the rows of a table; as an operator it gives the rows of RETURNING, none without it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Table
    pub relation: Arc<Relation>,
    /// Kind
    pub kind: ChangeKind,
    /// Row that RETURNING reads: the new one of INSERT and UPDATE, the old one of DELETE.
    pub row: RowColumns,
    /// RETURNING, with columns of the row and of the tables next to it.
    pub returning: Option<Vec<(ColumnId, Scalar)>>,
}

/// Kind of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// INSERT
    Insert(Box<InsertChange>),
    /// UPDATE
    Update(UpdateChange),
    /// DELETE
    Delete {
        /// Rows to be deleted, joined with those of USING.
        input: Relational,
    },
    /// MERGE
    Merge(Box<MergeChange>),
}

/// Value of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnValue {
    /// Position of the column.
    pub column: usize,
    /// Elements of the column that are set; none for the whole column.
    pub subscripts: Vec<SubscriptItem>,
    /// Value of the column's type; [`super::ScalarKind::Default`] for its default.
    pub value: Scalar,
}

/// INSERT: columns without a value have their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct InsertChange {
    /// Rows from which values are taken. In VALUES of several rows [`super::ScalarKind::Default`] stands for the default
    /// of the column that takes the value.
    pub input: Relational,
    /// Values over the columns of the input.
    pub values: Vec<ColumnValue>,
    /// OVERRIDING
    pub overriding: Option<Overriding>,
    /// ON CONFLICT
    pub on_conflict: Option<OnConflict>,
}

/// ON CONFLICT
#[derive(Debug, Clone, PartialEq)]
pub struct OnConflict {
    /// Unique index that is meant; `None` for any.
    pub arbiter: Option<Arbiter>,
    /// Row that is there already.
    pub existing: RowColumns,
    /// DO UPDATE; `None` for DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// Unique index that is meant by ON CONFLICT.
#[derive(Debug, Clone, PartialEq)]
pub enum Arbiter {
    /// Index of these columns and expressions, over the row that is there already.
    Elements {
        /// Columns and expressions
        elements: Vec<Scalar>,
        /// Predicate of partial indexes.
        predicate: Option<Scalar>,
    },
    /// Constraint of a name.
    Constraint(String),
}

/// DO UPDATE
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictUpdate {
    /// Row that could not be inserted.
    pub excluded: RowColumns,
    /// SET, over both rows.
    pub assignments: Assignments,
    /// WHERE
    pub predicate: Option<Scalar>,
}

/// SET
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assignments {
    /// Queries of `(a, b) = (SELECT …)`, each a row that values name by its column; evaluated once for a changed row.
    pub queries: Vec<(ColumnId, Scalar)>,
    /// Values
    pub values: Vec<ColumnValue>,
}

/// UPDATE
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateChange {
    /// Rows to be changed, joined with those of FROM.
    pub input: Relational,
    /// Columns of the input that are the old row.
    pub old: RowColumns,
    /// SET, over the columns of the input.
    pub assignments: Assignments,
}

/// MERGE
#[derive(Debug, Clone, PartialEq)]
pub struct MergeChange {
    /// Scan of the table.
    pub target: Relational,
    /// Columns of the scan.
    pub old: RowColumns,
    /// Rows of USING.
    pub source: Relational,
    /// ON
    pub condition: Scalar,
    /// WHEN clauses; the first one that holds for a row decides.
    pub clauses: Vec<MergeClause>,
}

/// WHEN clause of MERGE.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeClause {
    /// True for rows of USING that have one in the table.
    pub is_matched: bool,
    /// AND
    pub condition: Option<Scalar>,
    /// THEN
    pub action: MergeStep,
}

/// Action of a WHEN clause.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeStep {
    /// UPDATE SET
    Update(Assignments),
    /// DELETE
    Delete,
    /// INSERT
    Insert {
        /// Values
        values: Vec<ColumnValue>,
        /// OVERRIDING
        overriding: Option<Overriding>,
    },
    /// DO NOTHING
    Nothing,
}

//! Statements that change rows.

use super::{Alias, Expr, FromItem, Name, ObjectName, Query, Target, With};
use crate::span::Span;

#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    pub with: Option<With>,
    pub table: ObjectName,
    pub alias: Option<Name>,
    pub columns: Vec<AssignmentTarget>,
    pub overriding: Option<Overriding>,
    pub source: InsertSource,
    /// DuckDB's INSERT OR REPLACE and INSERT OR IGNORE, too.
    pub on_conflict: Option<OnConflict>,
    pub returning: Vec<Target>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    DefaultValues,
    Query { query: Box<Query>, by_name: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overriding {
    User,
    System,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OnConflict {
    pub target: Option<ConflictTarget>,
    pub action: ConflictAction,
    /// Range of the clause.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ConflictTarget {
    Columns { elements: Vec<super::IndexElement>, filter: Option<Expr>, span: Span },
    Constraint(Name),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ConflictAction {
    Nothing,
    Update {
        assignments: Vec<Assignment>,
        filter: Option<Expr>,
    },
    /// INSERT OR REPLACE
    Replace,
}

/// Column, with fields or elements of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AssignmentTarget {
    pub column: Name,
    /// Subscripts and fields, as expressions whose innermost operand is the column.
    pub path: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Assignment {
    One {
        target: AssignmentTarget,
        value: Expr,
    },
    /// `(a, b) = …`
    Many {
        targets: Vec<AssignmentTarget>,
        value: Expr,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub with: Option<With>,
    pub table: ObjectName,
    pub only: bool,
    pub alias: Option<Alias>,
    pub assignments: Vec<Assignment>,
    pub from: Vec<FromItem>,
    pub filter: Option<Expr>,
    pub returning: Vec<Target>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    pub with: Option<With>,
    pub table: ObjectName,
    pub only: bool,
    pub alias: Option<Alias>,
    pub using: Vec<FromItem>,
    pub filter: Option<Expr>,
    pub returning: Vec<Target>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    pub with: Option<With>,
    pub table: ObjectName,
    pub only: bool,
    pub alias: Option<Alias>,
    pub source: FromItem,
    pub on: Expr,
    pub clauses: Vec<MergeWhen>,
    pub returning: Vec<Target>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MergeWhen {
    pub matched: MergeMatch,
    pub condition: Option<Expr>,
    pub action: MergeAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMatch {
    Matched,
    NotMatchedByTarget,
    NotMatchedBySource,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MergeAction {
    Update(Vec<Assignment>),
    Delete,
    /// Without values: DEFAULT VALUES.
    Insert {
        columns: Vec<AssignmentTarget>,
        overriding: Option<Overriding>,
        values: Option<Vec<Expr>>,
    },
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Truncate {
    pub tables: Vec<ObjectName>,
    pub restart_identity: bool,
    pub cascade: bool,
}

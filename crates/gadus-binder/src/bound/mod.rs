//! Bound queries: relational operators over numbered columns, with typed expressions.
//!
//! - A column's number is unique in its statement. An expression that names a column which no input of its operator has is
//!   correlated: the column is of a query around it.
//! - Every conversion is a [`ScalarKind::Cast`]; operators and functions are entries of the catalog.
//! - Positions in the text are kept for errors, and are no part of equality.

mod change;
mod expression;
mod numbers;
mod print;
mod print_changes;
mod print_scalars;
mod query;
mod visit;
mod visit_changes;

pub use change::{
    Arbiter, Assignments, Change, ChangeKind, ColumnValue, ConflictUpdate, InsertChange,
    MergeChange, MergeClause, MergeStep, OnConflict, RowColumns, UpdateChange,
};
pub use expression::{
    ColumnId, Constant, QuantifiedArray, Scalar, ScalarKind, Subquery, SubqueryKind, SubscriptItem,
};
pub use query::{
    AggregateCall, BoundQuery, CommonTable, CommonTableId, Join, JoinKind, Limit, OrderedScalar,
    OutputColumn, Relational, RowLock, SetCall, SetOperation, SortKey, TableCall, WindowBound,
    WindowCall, WindowFrame,
};

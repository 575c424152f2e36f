//! Relational operators.

use super::{Change, ColumnId, Scalar, ScalarKind};
use crate::catalog::Function;
use crate::provider::Relation;
use crate::types::SqlType;
use gadus_syntax::Span;
use gadus_syntax::ast::{FrameExclusion, FrameUnits, LockStrength, LockWait, SetOperator};
use std::sync::Arc;

/// Query with the columns that it gives, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundQuery {
    /// Operators
    pub root: Relational,
    /// Columns of the result.
    pub outputs: Vec<OutputColumn>,
}

impl BoundQuery {
    /// Returns the columns of the result as expressions.
    pub(crate) fn columns(&self, span: Span) -> Vec<Scalar> {
        let column = |output: &OutputColumn| {
            Scalar::new(ScalarKind::Column(output.id), output.data_type, span)
        };
        self.outputs.iter().map(column).collect()
    }
}

/// Column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Heading
    pub name: String,
    /// Number
    pub id: ColumnId,
    /// Type
    pub data_type: SqlType,
}

/// Operator over rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Relational {
    /// One row without columns.
    OneRow,
    /// Rows of a table; columns by position and number.
    Scan {
        /// Table
        relation: Arc<Relation>,
        /// Columns
        columns: Vec<(usize, ColumnId)>,
    },
    /// Rows of expressions.
    Values {
        /// Rows
        rows: Vec<Vec<Scalar>>,
        /// Columns
        columns: Vec<(ColumnId, SqlType)>,
    },
    /// Rows of functions, next to each other.
    TableFunctions {
        /// Calls
        calls: Vec<TableCall>,
        /// Number of the row, from 1.
        ordinality: Option<ColumnId>,
    },
    /// Columns of expressions over the input's.
    Project {
        /// Rows
        input: Box<Relational>,
        /// Columns
        items: Vec<(ColumnId, Scalar)>,
    },
    /// Rows of sets that functions return, next to the input's columns; shorter sets are filled with NULL.
    ProjectSets {
        /// Rows
        input: Box<Relational>,
        /// Calls
        calls: Vec<SetCall>,
    },
    /// Rows for which a predicate is true.
    Filter {
        /// Rows
        input: Box<Relational>,
        /// Predicate
        predicate: Scalar,
    },
    /// Pairs of rows.
    Join(Box<Join>),
    /// Groups
    Aggregate {
        /// Rows
        input: Box<Relational>,
        /// Expressions by which rows are grouped; columns keep their numbers.
        groups: Vec<(ColumnId, Scalar)>,
        /// Positions of the groups in each grouping set; `None` for one set of all.
        sets: Option<Vec<Vec<usize>>>,
        /// Aggregates of each group.
        aggregates: Vec<(ColumnId, AggregateCall)>,
        /// Number of a row's grouping set, if GROUPING needs it.
        set_number: Option<ColumnId>,
    },
    /// Window functions, next to the input's columns.
    Window {
        /// Rows
        input: Box<Relational>,
        /// Calls
        calls: Vec<(ColumnId, WindowCall)>,
    },
    /// Different rows.
    Distinct {
        /// Rows
        input: Box<Relational>,
        /// Expressions of DISTINCT ON, of which the first row each stays; `None` for all columns.
        on: Option<Vec<ColumnId>>,
        /// Columns that are compared.
        columns: Vec<ColumnId>,
    },
    /// UNION, INTERSECT, EXCEPT
    SetOperation(Box<SetOperation>),
    /// Order
    Sort {
        /// Rows
        input: Box<Relational>,
        /// Keys, the most significant first.
        keys: Vec<SortKey>,
    },
    /// LIMIT, OFFSET
    Limit(Box<Limit>),
    /// WITH: queries that the input reads by their numbers.
    With {
        /// Queries
        tables: Vec<CommonTable>,
        /// Rows
        input: Box<Relational>,
    },
    /// Rows of a common table; columns in its order.
    CommonTableScan {
        /// Table
        table: CommonTableId,
        /// Columns
        columns: Vec<ColumnId>,
    },
    /// INSERT, UPDATE, DELETE, MERGE
    Change(Box<Change>),
    /// FOR UPDATE and the like.
    Lock {
        /// Rows
        input: Box<Relational>,
        /// Locks
        locks: Vec<RowLock>,
    },
}

/// Call in FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCall {
    /// Call
    pub call: Scalar,
    /// Columns: of the result, or of its fields.
    pub columns: Vec<(ColumnId, SqlType)>,
    /// Names of the columns before an alias renames them.
    pub names: Vec<String>,
}

/// Call of a function that returns a set, in a select list.
#[derive(Debug, Clone, PartialEq)]
pub struct SetCall {
    /// Number of its column.
    pub id: ColumnId,
    /// Call
    pub call: Scalar,
}

/// Join
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Kind
    pub kind: JoinKind,
    /// Left input
    pub left: Relational,
    /// Right input; of a lateral join it may name columns of the left one.
    pub right: Relational,
    /// Condition; `None` for all pairs.
    pub condition: Option<Scalar>,
    /// True if the right input is evaluated for each row of the left one.
    pub is_lateral: bool,
}

/// Kind of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs
    Inner,
    /// Pairs, and rows of the left input without one.
    Left,
    /// Pairs, and rows of the right input without one.
    Right,
    /// Pairs, and rows of both without one.
    Full,
    /// Rows of the left input with a pair.
    Semi,
    /// Rows of the left input without a pair.
    Anti,
    /// Rows of the left input, with a column that says if they have a pair.
    Mark(ColumnId),
}

impl JoinKind {
    /// Returns true for joins whose rows are rows of the left input, all or some of them, once or more.
    #[must_use]
    pub fn keeps_left(self) -> bool {
        matches!(self, Self::Left | Self::Semi | Self::Anti | Self::Mark(_))
    }

    /// Returns true for joins whose rows have the columns of the right input.
    #[must_use]
    pub fn gives_right(self) -> bool {
        !matches!(self, Self::Semi | Self::Anti | Self::Mark(_))
    }
}

/// Call of an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    /// Entry of the catalog.
    pub function: &'static Function,
    /// Arguments; direct ones first.
    pub arguments: Vec<Scalar>,
    /// True for `count(*)`.
    pub is_star: bool,
    /// DISTINCT
    pub is_distinct: bool,
    /// ORDER BY within the call, or WITHIN GROUP.
    pub order_by: Vec<OrderedScalar>,
    /// FILTER
    pub filter: Option<Scalar>,
    /// Type of the result.
    pub data_type: SqlType,
}

/// Expression with a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedScalar {
    /// Value
    pub value: Scalar,
    /// DESC
    pub is_descending: bool,
    /// NULLS FIRST
    pub nulls_first: bool,
}

/// Call of a window function or an aggregate OVER a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// Function, its arguments, FILTER.
    pub call: AggregateCall,
    /// IGNORE NULLS
    pub ignores_nulls: bool,
    /// PARTITION BY
    pub partition_by: Vec<Scalar>,
    /// ORDER BY
    pub order_by: Vec<OrderedScalar>,
    /// Frame
    pub frame: WindowFrame,
}

/// Frame of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// ROWS, RANGE, GROUPS
    pub units: FrameUnits,
    /// First row
    pub start: WindowBound,
    /// Last row
    pub end: WindowBound,
    /// EXCLUDE
    pub exclusion: FrameExclusion,
}

/// Bound of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowBound {
    /// UNBOUNDED PRECEDING
    UnboundedPreceding,
    /// Rows, peers or a distance before the current row.
    Preceding(Scalar),
    /// CURRENT ROW
    CurrentRow,
    /// Rows, peers or a distance after it.
    Following(Scalar),
    /// UNBOUNDED FOLLOWING
    UnboundedFollowing,
}

/// Key of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// Column
    pub column: ColumnId,
    /// DESC
    pub is_descending: bool,
    /// NULLS FIRST
    pub nulls_first: bool,
}

/// LIMIT and OFFSET, of type bigint.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Rows
    pub input: Relational,
    /// Most rows; `None` for all.
    pub limit: Option<Scalar>,
    /// Rows that are left out first.
    pub offset: Option<Scalar>,
    /// Rows equal to the last one stay, too.
    pub with_ties: bool,
}

/// Set operation; both inputs have as many columns of the same types.
#[derive(Debug, Clone, PartialEq)]
pub struct SetOperation {
    /// UNION, INTERSECT, EXCEPT
    pub operator: SetOperator,
    /// ALL
    pub all: bool,
    /// Left input
    pub left: BoundQuery,
    /// Right input
    pub right: BoundQuery,
    /// Columns of the result.
    pub columns: Vec<(ColumnId, SqlType)>,
}

/// Number of a common table, unique in its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommonTableId(pub u32);

/// Query of WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    /// Number
    pub id: CommonTableId,
    /// Name, for EXPLAIN.
    pub name: String,
    /// Query, or a change with the columns of RETURNING; of a recursive query the part that does not read itself.
    pub query: BoundQuery,
    /// Part that reads the rows of the last step, and true for UNION ALL.
    pub recursive: Option<(BoundQuery, bool)>,
    /// MATERIALIZED, NOT MATERIALIZED
    pub materialized: Option<bool>,
    /// Number of its readers.
    pub readers: u32,
}

/// Lock of the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLock {
    /// Strength
    pub strength: LockStrength,
    /// NOWAIT, SKIP LOCKED
    pub wait: LockWait,
}

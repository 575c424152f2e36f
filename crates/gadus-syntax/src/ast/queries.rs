//! Queries: SELECT, VALUES, set operations, and what stands in FROM.

use super::{ColumnDefinition, Expr, Name, ObjectName};
use crate::span::Span;

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub with: Option<With>,
    pub body: QueryBody,
    pub order_by: Vec<OrderBy>,
    /// ORDER BY ALL
    pub order_by_all: Option<(SortDirection, NullsOrder)>,
    pub limit: Option<Expr>,
    pub with_ties: bool,
    pub offset: Option<Expr>,
    pub locking: Vec<Locking>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    Select(Box<Select>),
    Values(Vec<Vec<Expr>>),
    /// TABLE name
    Table(ObjectName),
    SetOperation {
        operator: SetOperator,
        all: bool,
        by_name: bool,
        left: Box<Query>,
        right: Box<Query>,
    },
    /// INSERT, UPDATE, DELETE or MERGE with RETURNING, in WITH.
    Modification(Box<super::Statement>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

#[derive(Debug, Clone, PartialEq)]
pub struct With {
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    pub name: Name,
    pub columns: Vec<Name>,
    pub materialized: Option<bool>,
    pub query: Query,
    pub search: Option<Box<SearchClause>>,
    pub cycle: Option<Box<CycleClause>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchClause {
    /// BREADTH FIRST instead of DEPTH FIRST.
    pub is_breadth_first: bool,
    pub columns: Vec<Name>,
    pub sequence: Name,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CycleClause {
    pub columns: Vec<Name>,
    pub mark: Name,
    /// TO and DEFAULT
    pub values: Option<(Expr, Expr)>,
    pub path: Name,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    pub distinct: Distinct,
    pub targets: Vec<Target>,
    /// SELECT … INTO name
    pub into: Option<ObjectName>,
    pub from: Vec<FromItem>,
    pub filter: Option<Expr>,
    pub group_by: Option<GroupBy>,
    pub having: Option<Expr>,
    pub windows: Vec<(Name, Window)>,
    pub qualify: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Distinct {
    All,
    Distinct,
    On(Vec<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub kind: TargetKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TargetKind {
    Expr {
        expr: Expr,
        label: Option<Name>,
    },
    /// `*` or `t.*`, with DuckDB's EXCLUDE, REPLACE and RENAME.
    Wildcard {
        qualifier: Vec<Name>,
        exclude: Vec<Name>,
        replace: Vec<Replacement>,
        rename: Vec<(Name, Name)>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    pub expr: Expr,
    pub column: Name,
}

#[derive(Debug, Clone, PartialEq)]
pub enum GroupBy {
    /// GROUP BY ALL
    All,
    Elements {
        distinct: bool,
        elements: Vec<GroupingElement>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum GroupingElement {
    Expr(Expr),
    Empty,
    Rollup(Vec<Expr>),
    Cube(Vec<Expr>),
    Sets(Vec<GroupingElement>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct OrderBy {
    pub expr: Expr,
    pub direction: SortDirection,
    /// ORDER BY … USING operator
    pub using: Option<super::OperatorName>,
    pub nulls: NullsOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortDirection {
    #[default]
    Default,
    Ascending,
    Descending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullsOrder {
    #[default]
    Default,
    First,
    Last,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Locking {
    pub strength: LockStrength,
    pub tables: Vec<ObjectName>,
    pub wait: LockWait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    Block,
    NoWait,
    SkipLocked,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FromItem {
    pub kind: FromKind,
    pub alias: Option<Alias>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FromKind {
    Table {
        name: ObjectName,
        only: bool,
        sample: Option<Sample>,
    },
    /// One function, or several by ROWS FROM.
    Functions {
        functions: Vec<TableFunction>,
        ordinality: bool,
        lateral: bool,
        sample: Option<Sample>,
    },
    Query {
        query: Box<Query>,
        lateral: bool,
    },
    /// A file's name in quotes, as DuckDB reads it.
    File(String),
    Join {
        left: Box<FromItem>,
        right: Box<FromItem>,
        kind: JoinKind,
        condition: JoinCondition,
    },
    Pivot(Box<Pivot>),
    Unpivot(Box<Unpivot>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableFunction {
    pub call: Expr,
    pub columns: Vec<ColumnDefinition>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    pub name: Name,
    pub columns: Vec<ColumnAlias>,
}

/// Name of a column, with its type for functions that give records.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnAlias {
    pub name: Name,
    pub data_type: Option<super::TypeName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
    /// DuckDB's joins by the nearest key, in rows' order, and for existence.
    AsOf {
        left: bool,
    },
    Positional,
    Semi,
    Anti,
}

#[derive(Debug, Clone, PartialEq)]
pub enum JoinCondition {
    None,
    On(Expr),
    Using { columns: Vec<Name>, alias: Option<Name> },
    Natural,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub method: ObjectName,
    pub arguments: Vec<Expr>,
    pub repeatable: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pivot {
    pub source: FromItem,
    pub aggregates: Vec<Target>,
    /// Column, and the values that become columns; none if they are looked up.
    pub columns: Vec<(Expr, Option<Vec<Target>>)>,
    pub group_by: Option<Vec<Expr>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Unpivot {
    pub source: FromItem,
    pub values: Vec<Name>,
    pub name: Name,
    pub columns: Vec<Target>,
    pub include_nulls: bool,
}

/// Window after OVER: a name alone, or a specification.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowSpecification {
    Name(Name),
    Window(Box<Window>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Window that this one refines.
    pub base: Option<Name>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderBy>,
    pub frame: Option<Frame>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub units: FrameUnits,
    pub start: FrameBound,
    pub end: Option<FrameBound>,
    pub exclusion: FrameExclusion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameUnits {
    Rows,
    Range,
    Groups,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameExclusion {
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}

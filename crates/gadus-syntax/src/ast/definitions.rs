//! Statements that define tables, indexes, views, types, sequences and functions.

use super::{Expr, Name, ObjectName, Query, TypeName};
use crate::span::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    #[default]
    Permanent,
    Temporary,
    Unlogged,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    pub name: ObjectName,
    pub persistence: Persistence,
    pub if_not_exists: bool,
    /// DuckDB's OR REPLACE
    pub or_replace: bool,
    pub elements: Vec<TableElement>,
    pub inherits: Vec<ObjectName>,
    pub storage: Vec<StorageParameter>,
    /// Clauses that have no meaning here: PARTITION BY, PARTITION OF, OF type, USING, TABLESPACE, ON COMMIT other
    /// than PRESERVE ROWS.
    pub unsupported: Option<(&'static str, Span)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableElement {
    Column(Box<ColumnDefinition>),
    Constraint(Box<TableConstraint>),
    Like(LikeTable),
}

#[derive(Debug, Clone, PartialEq)]
pub struct LikeTable {
    pub table: ObjectName,
    /// INCLUDING (true) and EXCLUDING of what.
    pub options: Vec<(bool, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    pub name: Name,
    pub data_type: TypeName,
    pub collation: Option<ObjectName>,
    pub constraints: Vec<ColumnConstraint>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnConstraint {
    pub name: Option<Name>,
    pub kind: ColumnConstraintKind,
    pub deferrable: bool,
    pub initially_deferred: bool,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ColumnConstraintKind {
    NotNull,
    Null,
    Unique,
    PrimaryKey,
    Check {
        expr: Expr,
        no_inherit: bool,
    },
    Default(Expr),
    /// GENERATED ALWAYS AS (…) STORED, or VIRTUAL.
    Generated {
        expr: Expr,
        stored: bool,
    },
    Identity {
        kind: IdentityKind,
        options: Vec<SequenceOption>,
    },
    References(References),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityKind {
    Always,
    ByDefault,
}

#[derive(Debug, Clone, PartialEq)]
pub struct References {
    pub table: ObjectName,
    pub columns: Vec<Name>,
    /// MATCH FULL; otherwise SIMPLE.
    pub match_full: bool,
    pub on_delete: KeyAction,
    /// Columns that ON DELETE SET NULL or SET DEFAULT sets; none for all.
    pub on_delete_columns: Vec<Name>,
    pub on_update: KeyAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyAction {
    #[default]
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableConstraint {
    pub name: Option<Name>,
    pub kind: TableConstraintKind,
    pub deferrable: bool,
    pub initially_deferred: bool,
    pub not_valid: bool,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableConstraintKind {
    Unique {
        columns: Vec<Name>,
        nulls_distinct: bool,
    },
    PrimaryKey {
        columns: Vec<Name>,
    },
    Check {
        expr: Expr,
        no_inherit: bool,
    },
    ForeignKey {
        columns: Vec<Name>,
        references: References,
    },
    /// UNIQUE or PRIMARY KEY USING INDEX
    UsingIndex {
        primary: bool,
        index: Name,
    },
    Exclusion,
}

/// `fillfactor = 70`, `autovacuum_enabled`.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageParameter {
    pub name: String,
    pub value: Option<super::OptionValue>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTableAs {
    pub name: ObjectName,
    pub persistence: Persistence,
    pub if_not_exists: bool,
    pub or_replace: bool,
    pub materialized_view: bool,
    pub columns: Vec<Name>,
    /// A query or an EXECUTE.
    pub source: super::Statement,
    pub with_data: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    pub name: ObjectName,
    pub or_replace: bool,
    pub temporary: bool,
    pub recursive: bool,
    pub columns: Vec<Name>,
    pub options: Vec<StorageParameter>,
    pub query: Query,
    pub check: Option<ViewCheck>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewCheck {
    Local,
    Cascaded,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    pub name: Option<Name>,
    pub if_not_exists: bool,
    pub unique: bool,
    pub concurrently: bool,
    pub table: ObjectName,
    pub method: Option<Name>,
    pub elements: Vec<IndexElement>,
    pub include: Vec<Name>,
    pub nulls_distinct: bool,
    pub options: Vec<StorageParameter>,
    pub filter: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IndexElement {
    /// A column alone, or any expression.
    pub expr: Expr,
    pub collation: Option<ObjectName>,
    pub operator_class: Option<ObjectName>,
    pub direction: super::SortDirection,
    pub nulls: super::NullsOrder,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateSequence {
    pub name: ObjectName,
    pub persistence: Persistence,
    pub if_not_exists: bool,
    pub options: Vec<SequenceOption>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterSequence {
    pub name: ObjectName,
    pub if_exists: bool,
    pub options: Vec<SequenceOption>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SequenceOption {
    As(TypeName),
    Increment(String),
    MinValue(Option<String>),
    MaxValue(Option<String>),
    Start(String),
    Restart(Option<String>),
    Cache(String),
    Cycle(bool),
    OwnedBy(Option<ObjectName>),
    SequenceName(ObjectName),
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateEnum {
    pub name: ObjectName,
    pub labels: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CompositeField {
    pub name: Name,
    pub data_type: TypeName,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateDomain {
    pub name: ObjectName,
    pub data_type: TypeName,
    pub collation: Option<ObjectName>,
    pub constraints: Vec<ColumnConstraint>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateSchema {
    pub name: Option<Name>,
    pub if_not_exists: bool,
    pub owner: Option<Name>,
    pub elements: Vec<super::ScriptStatement>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateFunction {
    pub name: ObjectName,
    pub or_replace: bool,
    pub is_procedure: bool,
    pub temporary: bool,
    pub parameters: Vec<FunctionParameter>,
    pub returns: Option<TypeName>,
    /// RETURNS TABLE (…)
    pub returns_table: Option<Vec<ColumnDefinition>>,
    pub options: Vec<FunctionOption>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionParameter {
    pub mode: ParameterMode,
    pub name: Option<Name>,
    /// None for parameters of DuckDB's macros.
    pub data_type: Option<TypeName>,
    pub default: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterMode {
    In,
    Out,
    InOut,
    Variadic,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FunctionOption {
    Language(String),
    /// AS '…', whose second text names a symbol.
    Text(Vec<String>),
    /// RETURN expr, or a macro's AS expr.
    Return(Box<Expr>),
    /// AS TABLE query, DuckDB's.
    Table(Box<Query>),
    /// BEGIN ATOMIC … END
    Statements(Vec<super::ScriptStatement>),
    /// IMMUTABLE, STRICT, COST 10 and the like, in words.
    Property(String),
}

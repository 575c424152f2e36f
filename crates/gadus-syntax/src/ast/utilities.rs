//! Transactions, settings, cursors, COPY, EXPLAIN and the like.

use super::{Expr, Name, ObjectName, Query, Statement, TypeName};

#[derive(Debug, Clone, PartialEq)]
pub enum Transaction {
    Begin(Vec<TransactionMode>),
    Commit { chain: bool },
    Rollback { chain: bool },
    Savepoint(Name),
    Release(Name),
    RollbackTo(Name),
    PrepareTransaction(String),
    CommitPrepared(String),
    RollbackPrepared(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionMode {
    Isolation(String),
    ReadOnly(bool),
    Deferrable(bool),
}

#[derive(Debug, Clone, PartialEq)]
pub struct SetStatement {
    pub scope: SetScope,
    pub name: String,
    pub value: SetValue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetScope {
    Session,
    Local,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    Default,
    Values(Vec<OptionValue>),
    /// SET TRANSACTION, and SET SESSION CHARACTERISTICS AS TRANSACTION.
    Transaction(Vec<TransactionMode>),
    /// FROM CURRENT
    Current,
}

/// Value of an option or setting.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// Word without quotes.
    Word(String),
    Text(String),
    /// Number with its sign.
    Number(String),
    Star,
    List(Vec<OptionValue>),
    /// Anything else, which DuckDB's options allow.
    Expr(Box<Expr>),
}

/// `name`, or `name value`, in the parentheses of EXPLAIN, VACUUM and COPY.
#[derive(Debug, Clone, PartialEq)]
pub struct UtilityOption {
    pub name: String,
    pub value: Option<OptionValue>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    pub options: Vec<UtilityOption>,
    pub statement: Statement,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Prepare {
    pub name: Name,
    pub types: Vec<TypeName>,
    pub statement: Statement,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CursorDeclaration {
    pub name: Name,
    pub binary: bool,
    pub insensitive: Option<bool>,
    pub scroll: Option<bool>,
    pub hold: bool,
    pub query: Query,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fetch {
    pub cursor: Name,
    pub direction: FetchDirection,
    /// MOVE
    pub is_move: bool,
}

/// Rows that FETCH returns; a missing count is ALL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchDirection {
    Forward(Option<i64>),
    Backward(Option<i64>),
    Absolute(i64),
    Relative(i64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct LockTable {
    pub tables: Vec<ObjectName>,
    /// Mode in words, such as `ROW EXCLUSIVE`.
    pub mode: Option<String>,
    pub nowait: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    pub source: CopySource,
    pub direction: CopyDirection,
    pub options: Vec<UtilityOption>,
    pub filter: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CopySource {
    Table { name: ObjectName, columns: Vec<Name> },
    Query(Box<Statement>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum CopyDirection {
    FromFile(String),
    FromStdin,
    FromProgram(String),
    ToFile(String),
    ToStdout,
    ToProgram(String),
}

//! Syntax trees: statements, queries, expressions.
//!
//! Fields bear the names of their clauses in PostgreSQL's manual.

#![allow(missing_docs)]

mod alterations;
mod data_types;
mod definitions;
mod expressions;
mod modifications;
mod queries;
mod utilities;

pub use alterations::{
    AlterAction, AlterColumn, AlterObject, AlterObjectAction, AlterTable, CommentOn, DropBehavior,
    DropObjects, ObjectKind,
};
pub use data_types::{ArrayBound, IntervalFields, TypeName};
pub use definitions::{
    AlterSequence, ColumnConstraint, ColumnConstraintKind, ColumnDefinition, CompositeField,
    CreateDomain, CreateEnum, CreateFunction, CreateIndex, CreateSchema, CreateSequence,
    CreateTable, CreateTableAs, CreateView, FunctionOption, FunctionParameter, IdentityKind,
    IndexElement, KeyAction, LikeTable, ParameterMode, Persistence, References, SequenceOption,
    StorageParameter, TableConstraint, TableConstraintKind, TableElement, ViewCheck,
};
pub use expressions::{
    Argument, BinaryOperator, BooleanTest, CallForm, CaseBranch, CastForm, Expr, ExprKind,
    FunctionCall, LikeKind, Literal, OperatorName, Parameter, Quantified, Quantifier,
    ValueFunction,
};
pub use modifications::{
    Assignment, AssignmentTarget, ConflictAction, ConflictTarget, Delete, Insert, InsertSource,
    Merge, MergeAction, MergeMatch, MergeWhen, OnConflict, Overriding, Truncate, Update,
};
pub use queries::{
    Alias, ColumnAlias, CommonTable, CycleClause, Distinct, Frame, FrameBound, FrameExclusion,
    FrameUnits, FromItem, FromKind, GroupBy, GroupingElement, JoinCondition, JoinKind,
    LockStrength, LockWait, Locking, NullsOrder, OrderBy, Pivot, Query, QueryBody, Replacement,
    Sample, SearchClause, Select, SetOperator, SortDirection, TableFunction, Target, TargetKind,
    Unpivot, Window, WindowSpecification, With,
};
pub use utilities::{
    Copy, CopyDirection, CopySource, CursorDeclaration, Explain, Fetch, FetchDirection, LockTable,
    OptionValue, Prepare, SetScope, SetStatement, SetValue, Transaction, TransactionMode,
    UtilityOption,
};

use crate::span::Span;

/// Name, folded to lower case unless it was quoted.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// Name with its schema, and possibly its database before that.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectName {
    pub parts: Vec<Name>,
}

impl ObjectName {
    /// Returns the range of all parts.
    #[must_use]
    pub fn span(&self) -> Span {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span::default(),
        }
    }
}

/// Statement of a script, and its range of the text without white space, comments and semicolon around it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptStatement {
    pub statement: Statement,
    pub span: Span,
}

/// Statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    Truncate(Truncate),

    CreateTable(Box<CreateTable>),
    CreateTableAs(Box<CreateTableAs>),
    CreateView(Box<CreateView>),
    CreateIndex(Box<CreateIndex>),
    CreateSequence(CreateSequence),
    CreateEnum(CreateEnum),
    CreateComposite {
        name: ObjectName,
        fields: Vec<CompositeField>,
    },
    CreateDomain(Box<CreateDomain>),
    CreateFunction(Box<CreateFunction>),
    CreateSchema(CreateSchema),
    AlterTable(AlterTable),
    AlterSequence(AlterSequence),
    AlterObject(AlterObject),
    Drop(DropObjects),
    Comment(CommentOn),

    Copy(Box<Copy>),
    Explain(Box<Explain>),
    Transaction(Transaction),
    Set(SetStatement),
    Show {
        name: Option<String>,
    },
    Reset {
        name: Option<String>,
    },
    SetConstraints {
        names: Option<Vec<ObjectName>>,
        deferred: bool,
    },
    Prepare(Box<Prepare>),
    Execute {
        name: Name,
        arguments: Vec<Expr>,
    },
    Deallocate {
        name: Option<Name>,
    },
    DeclareCursor(Box<CursorDeclaration>),
    Fetch(Fetch),
    CloseCursor {
        name: Option<Name>,
    },
    Lock(LockTable),
    Vacuum {
        options: Vec<UtilityOption>,
        tables: Vec<(ObjectName, Vec<Name>)>,
    },
    Analyze {
        options: Vec<UtilityOption>,
        tables: Vec<(ObjectName, Vec<Name>)>,
    },
    Checkpoint,
    Discard {
        what: String,
    },
    Call(Expr),
    /// RETURN in the body of a function.
    Return(Expr),
    Do {
        language: Option<Name>,
        body: String,
    },

    /// Statement of PostgreSQL that is read, but has no meaning here.
    Unsupported {
        command: &'static str,
    },
}

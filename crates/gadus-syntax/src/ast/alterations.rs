//! Statements that alter, drop and describe objects.

use super::{
    ColumnDefinition, Expr, IdentityKind, Name, ObjectName, SequenceOption, StorageParameter,
    TableConstraint, TypeName,
};

#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    pub name: ObjectName,
    pub kind: ObjectKind,
    pub if_exists: bool,
    pub only: bool,
    pub actions: Vec<AlterAction>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterAction {
    AddColumn {
        column: Box<ColumnDefinition>,
        if_not_exists: bool,
    },
    DropColumn {
        column: Name,
        if_exists: bool,
        behavior: DropBehavior,
    },
    AlterColumn {
        column: Name,
        action: AlterColumn,
    },
    AddConstraint(Box<TableConstraint>),
    DropConstraint {
        name: Name,
        if_exists: bool,
        behavior: DropBehavior,
    },
    ValidateConstraint(Name),
    AlterConstraint {
        name: Name,
    },
    OwnerTo(Name),
    SetStorageParameters(Vec<StorageParameter>),
    /// Actions that are read and have no meaning here, such as ENABLE TRIGGER.
    Unsupported(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterColumn {
    SetType { data_type: Box<TypeName>, collation: Option<ObjectName>, using: Option<Expr> },
    SetDefault(Expr),
    DropDefault,
    SetNotNull,
    DropNotNull,
    DropExpression { if_exists: bool },
    AddIdentity { kind: IdentityKind, options: Vec<SequenceOption> },
    SetIdentity { kind: Option<IdentityKind>, options: Vec<SequenceOption> },
    DropIdentity { if_exists: bool },
    Unsupported(&'static str),
}

/// ALTER of any object that renames it, moves it or changes its owner.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterObject {
    pub kind: ObjectKind,
    pub name: ObjectName,
    pub if_exists: bool,
    pub action: AlterObjectAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterObjectAction {
    RenameTo(Name),
    RenameColumn { from: Name, to: Name },
    RenameConstraint { from: Name, to: Name },
    SetSchema(Name),
    OwnerTo(Name),
    AddValue { label: String, if_not_exists: bool, before: Option<String>, after: Option<String> },
    RenameValue { from: String, to: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    Table,
    View,
    MaterializedView,
    Index,
    Sequence,
    Type,
    Domain,
    Schema,
    Function,
    Procedure,
    Routine,
    Aggregate,
    Column,
    Constraint,
    Database,
    Role,
    Extension,
    Other(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DropBehavior {
    #[default]
    Restrict,
    Cascade,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropObjects {
    pub kind: ObjectKind,
    pub if_exists: bool,
    pub names: Vec<ObjectName>,
    /// Types of a function's arguments, if given, for each name.
    pub arguments: Vec<Option<Vec<TypeName>>>,
    pub behavior: DropBehavior,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CommentOn {
    pub kind: ObjectKind,
    pub name: ObjectName,
    /// The table of a constraint, rule or trigger.
    pub on: Option<ObjectName>,
    pub text: Option<String>,
}

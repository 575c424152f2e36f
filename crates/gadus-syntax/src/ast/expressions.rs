//! Expressions.

use super::{Name, ObjectName, OrderBy, Query, TypeName, WindowSpecification};
use crate::span::Span;

/// Expression and its range of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Literal(Literal),
    Parameter(Parameter),
    /// `a`, `t.a`, `s.t.a`: resolved by scopes, and possibly fields.
    Column(Vec<Name>),
    /// `t.*` as an expression: the whole row.
    AllColumns(Vec<Name>),
    /// `DATE '2024-02-29'`: a text under a type's name.
    TypedText {
        data_type: Box<TypeName>,
        text: String,
        text_span: Span,
    },
    Cast {
        operand: Box<Expr>,
        data_type: Box<TypeName>,
        form: CastForm,
    },
    Unary {
        operator: OperatorName,
        operand: Box<Expr>,
    },
    Binary {
        operator: OperatorName,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    IsTest {
        operand: Box<Expr>,
        test: BooleanTest,
        negated: bool,
    },
    IsDistinctFrom {
        left: Box<Expr>,
        right: Box<Expr>,
        negated: bool,
    },
    Between {
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        symmetric: bool,
        negated: bool,
    },
    InList {
        operand: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    InQuery {
        operand: Box<Expr>,
        query: Box<Query>,
        negated: bool,
    },
    Like {
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        kind: LikeKind,
        negated: bool,
    },
    Quantified(Box<Quantified>),
    Call(Box<FunctionCall>),
    /// `CURRENT_DATE`, `LOCALTIME(3)` and the like.
    ValueFunction {
        function: ValueFunction,
        precision: Option<u32>,
    },
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<CaseBranch>,
        otherwise: Option<Box<Expr>>,
    },
    Array(Vec<Expr>),
    ArrayQuery(Box<Query>),
    /// `ROW(…)` if explicit, else `(a, b)`.
    Row {
        fields: Vec<Expr>,
        explicit: bool,
    },
    Query(Box<Query>),
    Exists(Box<Query>),
    Subscript {
        operand: Box<Expr>,
        index: Box<Expr>,
    },
    Slice {
        operand: Box<Expr>,
        low: Option<Box<Expr>>,
        high: Option<Box<Expr>>,
    },
    Field {
        operand: Box<Expr>,
        field: Name,
    },
    /// `(row).*`
    AllFields(Box<Expr>),
    Collate {
        operand: Box<Expr>,
        collation: ObjectName,
    },
    /// Without a zone: `AT LOCAL`.
    AtTimeZone {
        operand: Box<Expr>,
        zone: Option<Box<Expr>>,
    },
    /// DEFAULT as a value to be stored.
    Default,
    CurrentOf(Name),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Boolean(bool),
    /// Digits without underscores, or with a prefix as 0x.
    Integer(String),
    /// Digits, point and exponent without underscores.
    Decimal(String),
    /// Text of unknown type.
    Text(String),
    /// `B'101'`
    Bits(String),
    /// `X'1FF'`
    HexBits(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// `$1`, `:1`
    Number(u32),
    /// `?`, with its number in the statement, from 1.
    Next(u32),
    /// `:name`, `$name`
    Name(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastForm {
    /// `CAST(… AS …)` or `…::…`
    Explicit,
    /// `TRY_CAST(… AS …)`: NULL instead of an error.
    Try,
}

/// Operator, with its schema if OPERATOR(…) gives one.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorName {
    pub schema: Vec<Name>,
    pub operator: BinaryOperator,
    pub span: Span,
}

/// Operators that the grammar knows, and all others by their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Equals,
    NotEquals,
    Less,
    LessEquals,
    Greater,
    GreaterEquals,
    Other(String),
}

impl BinaryOperator {
    /// Returns the operator's text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Power => "^",
            Self::Equals => "=",
            Self::NotEquals => "<>",
            Self::Less => "<",
            Self::LessEquals => "<=",
            Self::Greater => ">",
            Self::GreaterEquals => ">=",
            Self::Other(text) => text,
        }
    }
}

/// Test after IS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BooleanTest {
    Null,
    True,
    False,
    Unknown,
    Document,
    Normalized,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeKind {
    Like,
    ILike,
    SimilarTo,
    /// DuckDB's `GLOB`
    Glob,
}

/// Comparison with the elements of an array or the rows of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantified {
    pub left: Expr,
    pub operator: OperatorName,
    /// LIKE and ILIKE in the place of an operator.
    pub like: Option<(LikeKind, bool)>,
    pub quantifier: Quantifier,
    /// A query, or an array's expression.
    pub right: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    Any,
    All,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CaseBranch {
    pub when: Expr,
    pub then: Expr,
}

/// Call of a function, an aggregate or a window function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    pub name: ObjectName,
    pub form: CallForm,
    pub arguments: Vec<Argument>,
    /// `count(*)`
    pub star: bool,
    pub distinct: bool,
    pub order_by: Vec<OrderBy>,
    /// WITHIN GROUP (ORDER BY …)
    pub within_group: Vec<OrderBy>,
    pub filter: Option<Expr>,
    /// IGNORE NULLS or RESPECT NULLS.
    pub ignore_nulls: Option<bool>,
    pub over: Option<WindowSpecification>,
}

impl FunctionCall {
    pub(crate) fn new(name: ObjectName, form: CallForm, arguments: Vec<Argument>) -> Self {
        Self {
            name,
            form,
            arguments,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            within_group: Vec::new(),
            filter: None,
            ignore_nulls: None,
            over: None,
        }
    }
}

/// How a call was written: forms of the grammar resolve among PostgreSQL's own functions alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallForm {
    /// `f(a, b)`
    Ordinary,
    /// `EXTRACT(year FROM a)`, `SUBSTRING(a FROM b)`, `TRIM(…)`, `POSITION(a IN b)`, `OVERLAY(…)`, `COALESCE(…)`.
    Grammar,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// `name => value`
    pub name: Option<Name>,
    pub value: Expr,
    pub variadic: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueFunction {
    CurrentDate,
    CurrentTime,
    CurrentTimestamp,
    LocalTime,
    LocalTimestamp,
    CurrentRole,
    CurrentUser,
    SessionUser,
    User,
    CurrentCatalog,
    CurrentSchema,
}

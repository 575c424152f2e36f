//! Typed expressions.

use super::BoundQuery;
use crate::catalog::{CastContext, CastPath, Function, Operator};
use crate::types::SqlType;
use gadus_syntax::Span;
use gadus_syntax::ast::{BooleanTest, Quantifier, ValueFunction};
use std::sync::Arc;

/// Number of a column, unique in its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);

/// Expression with its type.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// Form
    pub kind: ScalarKind,
    /// Type of its value.
    pub data_type: SqlType,
    /// Range of the statement's text, for errors.
    pub span: Span,
    /// Names of the fields of a row, if it is one of a relation.
    pub field_names: Option<Arc<[String]>>,
}

/// Positions make no difference.
impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.data_type == other.data_type && self.kind == other.kind
    }
}

/// Forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ScalarKind {
    /// Literal
    Constant(Constant),
    /// `$1`
    Parameter(u32),
    /// Column of an input, or of a query around.
    Column(ColumnId),
    /// Operator of the catalog.
    Operator {
        /// Entry
        operator: &'static Operator,
        /// One or two.
        operands: Vec<Scalar>,
    },
    /// Function of the catalog; repeated arguments are one array if the entry says so.
    Function {
        /// Entry
        function: &'static Function,
        /// All, defaults left out.
        arguments: Vec<Scalar>,
    },
    /// Conversion
    Cast {
        /// Value
        operand: Box<Scalar>,
        /// Way
        path: CastPath,
        /// Explicit casts truncate texts that are too long.
        context: CastContext,
        /// True for TRY_CAST, which gives NULL instead of an error.
        is_try: bool,
    },
    /// Application of a type's modifier: a length, a precision.
    ApplyModifier {
        /// Value
        operand: Box<Scalar>,
        /// True if texts that are too long are truncated.
        is_explicit: bool,
    },
    /// AND
    And(Vec<Scalar>),
    /// OR
    Or(Vec<Scalar>),
    /// NOT
    Not(Box<Scalar>),
    /// IS TRUE and the like.
    Is {
        /// Value
        operand: Box<Scalar>,
        /// Test
        test: BooleanTest,
        /// True for IS NOT.
        negated: bool,
    },
    /// IS DISTINCT FROM
    IsDistinct {
        /// Equality of the operands.
        operator: &'static Operator,
        /// Both
        operands: Box<[Scalar; 2]>,
        /// True for IS NOT DISTINCT FROM.
        negated: bool,
    },
    /// COALESCE
    Coalesce(Vec<Scalar>),
    /// GREATEST
    Greatest(Vec<Scalar>),
    /// LEAST
    Least(Vec<Scalar>),
    /// NULLIF
    NullIf {
        /// Equality of the operands.
        operator: &'static Operator,
        /// Both; the first one is the result.
        operands: Box<[Scalar; 2]>,
    },
    /// CASE
    Case {
        /// Value that each branch compares with [`ScalarKind::CaseOperand`].
        operand: Option<Box<Scalar>>,
        /// Conditions and results.
        branches: Vec<(Scalar, Scalar)>,
        /// ELSE
        otherwise: Option<Box<Scalar>>,
    },
    /// Value of the operand of the CASE around.
    CaseOperand,
    /// IN with a list, and comparisons with ANY or ALL elements of an array.
    Quantified(Box<QuantifiedArray>),
    /// ARRAY[…]
    Array(Vec<Scalar>),
    /// ROW(…)
    Row(Vec<Scalar>),
    /// Comparison of rows by `<`, `<=`, `>` or `>=`: decided by the first fields that differ.
    RowComparison {
        /// Operators of the fields.
        operators: Vec<&'static Operator>,
        /// Fields of both rows.
        fields: Vec<[Scalar; 2]>,
    },
    /// Query
    Subquery(Box<Subquery>),
    /// Value of the only row of a query that was joined: error 21000 if it has several.
    OnlyRow {
        /// Value of one of its rows.
        value: Box<Scalar>,
        /// Number of its rows.
        rows: Box<Scalar>,
    },
    /// Element or part of an array.
    Subscript {
        /// Array
        operand: Box<Scalar>,
        /// One for each dimension.
        items: Vec<SubscriptItem>,
    },
    /// Field of a row, by its position.
    Field {
        /// Row
        operand: Box<Scalar>,
        /// Position
        index: usize,
    },
    /// CURRENT_DATE and the like.
    Value(ValueFunction),
    /// COLLATE
    Collate {
        /// Text
        operand: Box<Scalar>,
        /// Name
        collation: String,
    },
    /// GROUPING(…): bits of the groups that are not in a row's grouping set, by position.
    Grouping(Vec<usize>),
    /// DEFAULT
    Default,
}

/// Value of a literal. Its expression's type says how to read it.
///
/// A literal of undecided type is read as the type that its context asks for, in one form for each value: integers and
/// truth values as such, all else as the text that PostgreSQL writes, intervals as `14 mons 3 days 5.5 secs`. Texts whose
/// meaning depends on a session's settings stay as they are written; those that depend on the time are cast from text.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// NULL
    Null,
    /// Truth value
    Boolean(bool),
    /// Integer of up to 64 bits
    Integer(i64),
    /// Text, digits of a numeric, or a literal of another type as it is written.
    Text(String),
}

/// Comparison with the elements of a list or an array.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantifiedArray {
    /// Operator of the value and each element.
    pub operator: &'static Operator,
    /// Value
    pub left: Scalar,
    /// Array
    pub array: Scalar,
    /// ANY or ALL
    pub quantifier: Quantifier,
}

/// Query within an expression.
#[derive(Debug, Clone)]
pub struct Subquery {
    /// Way in which its rows become a value.
    pub kind: SubqueryKind,
    /// Query
    pub query: BoundQuery,
}

/// Way in which the rows of a query become a value.
#[derive(Debug, Clone, PartialEq)]
pub enum SubqueryKind {
    /// Column of its only row; NULL without rows.
    Scalar,
    /// True if there is a row.
    Exists,
    /// All values of its column.
    Array,
    /// True if the condition, which names the query's columns, holds for any row.
    Any(Box<Scalar>),
    /// True if it holds for all rows.
    All(Box<Scalar>),
}

/// Index, or bounds of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum SubscriptItem {
    /// `[1]`
    Index(Scalar),
    /// `[1:2]`
    Slice(Option<Scalar>, Option<Scalar>),
}

impl Scalar {
    /// Creates an expression.
    #[must_use]
    pub fn new(kind: ScalarKind, data_type: impl Into<SqlType>, span: Span) -> Self {
        Self { kind, data_type: data_type.into(), span, field_names: None }
    }

    /// Returns true if a value may differ by row: it names a column, or has a query.
    #[must_use]
    pub fn depends_on_rows(&self) -> bool {
        let mut found = false;
        self.clone().for_each(&mut |part| {
            found |= matches!(part.kind, ScalarKind::Column(_) | ScalarKind::Subquery(_));
        });
        found
    }

    /// Returns the number of the column that the expression is, if it is one.
    #[must_use]
    pub fn as_column(&self) -> Option<ColumnId> {
        match self.kind {
            ScalarKind::Column(id) => Some(id),
            _ => None,
        }
    }

    /// Returns true for NULL, and a literal of undecided type.
    #[must_use]
    pub fn is_unknown_constant(&self) -> bool {
        self.data_type.id.is_unknown() && matches!(self.kind, ScalarKind::Constant(_))
    }
}

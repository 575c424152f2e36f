//! Names that are visible in a query: tables and columns of FROM, and what its clauses collect.

use crate::bound::{AggregateCall, ColumnId, Scalar, SetCall, WindowCall};
use crate::types::{SqlType, TypeId};
use gadus_syntax::Span;
use gadus_syntax::ast::Window;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Clause in which an expression stands; decides which calls are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    /// Select list
    Select,
    /// FROM: functions and lateral queries
    From,
    /// ON
    JoinOn,
    /// WHERE
    Where,
    /// GROUP BY
    GroupBy,
    /// HAVING
    Having,
    /// QUALIFY
    Qualify,
    /// WINDOW, and the window of a call
    Window,
    /// ORDER BY
    OrderBy,
    /// DISTINCT ON
    DistinctOn,
    /// LIMIT
    Limit,
    /// OFFSET
    Offset,
    /// VALUES
    Values,
    /// VALUES of one row, of INSERT
    InsertValues,
    /// SET
    Set,
    /// RETURNING
    Returning,
    /// Elements of ON CONFLICT
    IndexExpression,
    /// WHERE of the elements of ON CONFLICT
    IndexPredicate,
    /// WHEN of MERGE
    MergeWhen,
    /// FILTER
    Filter,
}

impl Clause {
    /// Returns the name that messages have.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::From => "functions in FROM",
            Self::JoinOn => "JOIN conditions",
            Self::Where => "WHERE",
            Self::GroupBy => "GROUP BY",
            Self::Having => "HAVING",
            Self::Qualify => "QUALIFY",
            Self::Window => "window definitions",
            Self::OrderBy => "ORDER BY",
            Self::DistinctOn => "DISTINCT ON",
            Self::Limit => "LIMIT",
            Self::Offset => "OFFSET",
            Self::Values | Self::InsertValues => "VALUES",
            Self::Set => "UPDATE",
            Self::Returning => "RETURNING",
            Self::IndexExpression => "index expressions",
            Self::IndexPredicate => "index predicates",
            Self::MergeWhen => "MERGE WHEN conditions",
            Self::Filter => "FILTER",
        }
    }

    /// Returns true if aggregates of this query may be called.
    pub(crate) fn allows_aggregates(self) -> bool {
        matches!(
            self,
            Self::Select
                | Self::Having
                | Self::Qualify
                | Self::OrderBy
                | Self::DistinctOn
                | Self::Window
        )
    }

    /// Returns true if window functions may be called.
    pub(crate) fn allows_windows(self) -> bool {
        matches!(self, Self::Select | Self::OrderBy | Self::DistinctOn | Self::Qualify)
    }

    /// Returns true if functions that return sets may be called.
    pub(crate) fn allows_sets(self) -> bool {
        matches!(
            self,
            Self::Select | Self::OrderBy | Self::GroupBy | Self::DistinctOn | Self::InsertValues
        )
    }
}

/// Column of a table in scope.
#[derive(Debug, Clone)]
pub(crate) struct ScopeColumn {
    pub(crate) name: String,
    /// Column, or the merged one of a join.
    pub(crate) value: Scalar,
}

/// Table in scope.
#[derive(Debug, Clone)]
pub(crate) struct ScopeTable {
    /// Alias, or the table's name.
    pub(crate) name: String,
    /// Name of the table if an alias hides it.
    pub(crate) hidden_name: Option<String>,
    /// Schema, unless an alias hides it.
    pub(crate) schema: Option<String>,
    pub(crate) columns: Vec<ScopeColumn>,
    /// Columns at the end that `*` leaves out.
    pub(crate) unexpanded: usize,
    /// True if `name.column` finds it.
    pub(crate) is_named: bool,
    /// True if a column's name alone finds it.
    pub(crate) has_plain_columns: bool,
    /// Type of the whole row.
    pub(crate) row_type: Option<TypeId>,
    /// Sets of columns that identify a row.
    pub(crate) keys: Vec<Vec<ColumnId>>,
}

/// Names of one query, and what its expressions call.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) tables: Vec<ScopeTable>,
    /// Tables before this one are not visible: in ON.
    pub(crate) visible_from: usize,
    /// True while an item of FROM is bound that is not lateral.
    pub(crate) is_hidden: bool,
    pub(crate) clause: Clause,
    /// Call whose arguments are bound: no aggregate may stand in them.
    pub(crate) aggregate_depth: u32,
    pub(crate) window_depth: u32,
    pub(crate) aggregates: Vec<(ColumnId, AggregateCall)>,
    pub(crate) windows: Vec<(ColumnId, WindowCall)>,
    /// Set-returning calls with the step in which each is evaluated.
    pub(crate) sets: Vec<(u32, SetCall)>,
    /// Calls of GROUPING, to be resolved when the groups are known.
    pub(crate) groupings: Vec<(ColumnId, Vec<Scalar>)>,
    pub(crate) window_names: HashMap<String, Arc<Window>>,
    /// Columns of the tables.
    pub(crate) own: HashSet<ColumnId>,
    /// True while FROM of a change is bound: lateral items cannot name its first table, which is changed.
    pub(crate) is_changed_hidden: bool,
    /// True if FROM has the table that this query is the recursive part of.
    pub(crate) reads_itself: bool,
}

impl Scope {
    pub(crate) fn new() -> Self {
        Self {
            tables: Vec::new(),
            visible_from: 0,
            is_hidden: false,
            clause: Clause::From,
            aggregate_depth: 0,
            window_depth: 0,
            aggregates: Vec::new(),
            windows: Vec::new(),
            sets: Vec::new(),
            groupings: Vec::new(),
            window_names: HashMap::new(),
            own: HashSet::new(),
            is_changed_hidden: false,
            reads_itself: false,
        }
    }

    /// Adds a table.
    pub(crate) fn add(&mut self, table: ScopeTable) {
        self.own.extend(table.columns.iter().filter_map(|column| column.value.as_column()));
        self.tables.push(table);
    }

    /// Returns the tables that expressions may name now.
    pub(crate) fn visible(&self) -> &[ScopeTable] {
        self.tables.get(self.visible_from..).unwrap_or_default()
    }

    /// Returns the columns of a name without a table.
    pub(crate) fn plain_columns<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Scalar> {
        let tables = self.visible().iter().filter(|table| table.has_plain_columns);
        let columns = tables.flat_map(|table| &table.columns);
        columns.filter(move |column| column.name == name).map(|column| &column.value)
    }

    /// Returns the table that is changed if nothing may name it now.
    pub(crate) fn hidden_changed(&self) -> Option<&ScopeTable> {
        self.tables.first().filter(|_| self.is_changed_hidden && !self.is_hidden)
    }

    /// Returns the table of a name.
    pub(crate) fn table(&self, schema: Option<&str>, name: &str) -> Option<&ScopeTable> {
        let is_it = |table: &&ScopeTable| {
            let fits = |schema| table.schema.as_deref() == Some(schema);
            table.is_named && table.name == name && schema.is_none_or(fits)
        };
        self.visible().iter().find(is_it)
    }
}

impl ScopeTable {
    /// Creates a table of columns by their numbers.
    pub(crate) fn new(
        name: impl Into<String>,
        columns: impl IntoIterator<Item = (String, ColumnId, SqlType)>,
        span: Span,
    ) -> Self {
        let column = |(name, id, data_type)| {
            let value = Scalar::new(crate::bound::ScalarKind::Column(id), data_type, span);
            ScopeColumn { name, value }
        };
        Self {
            name: name.into(),
            hidden_name: None,
            schema: None,
            columns: columns.into_iter().map(column).collect(),
            unexpanded: 0,
            is_named: true,
            has_plain_columns: true,
            row_type: None,
            keys: Vec::new(),
        }
    }

    /// Returns the columns that `*` means.
    pub(crate) fn expanded(&self) -> &[ScopeColumn] {
        let count = self.columns.len().saturating_sub(self.unexpanded);
        self.columns.get(..count).unwrap_or_default()
    }

    /// Returns a table of this name that is not visible, for errors that name it.
    pub(crate) fn hidden(&self) -> Self {
        let columns = Vec::new();
        Self { columns, unexpanded: 0, is_named: false, has_plain_columns: false, ..self.clone() }
    }

    /// Returns the columns of a name.
    pub(crate) fn columns_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Scalar> {
        self.columns.iter().filter(move |column| column.name == name).map(|column| &column.value)
    }
}

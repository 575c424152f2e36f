//! Views: queries with names.
//!
//! - A view names what it reads by numbers, and remembers under which names it knew it: tables and columns
//!   that are renamed, and columns that are added, do not change it.

use super::ColumnType;
use super::schema::{COLUMNS_MAX, check_name};
use crate::error::{Error, ErrorKind, Result};
use gadus_base::TableId;

/// Longest text of a view's query, in bytes.
pub(super) const VIEW_BYTES_MAX: usize = 1 << 20;
/// Most tables and views that a view reads.
pub(super) const RELATIONS_MAX: usize = 1_000;

/// A view's query, and what it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewSchema {
    /// The view's id, one of those of tables; 0 until it is created.
    pub id: TableId,
    /// Rises with each change of the view.
    pub version: u32,
    /// The view's name.
    pub name: String,
    /// Its query, as SQL, in the names of the time when it was made.
    pub query: String,
    /// Its columns.
    pub columns: Vec<ViewColumn>,
    /// What the query reads.
    pub uses: Vec<UsedRelation>,
    /// Tables that are read in all, those of its views among them.
    pub scans: u32,
}

/// A column of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// Its type; none where it is one that only results have.
    pub column_type: Option<ColumnType>,
}

/// A table or a view that a view reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedRelation {
    /// Which one.
    pub id: TableId,
    /// By what name the view knows it.
    pub name: String,
    /// The columns that the view knows, in order.
    pub columns: Vec<UsedColumn>,
}

/// A column that a view knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedColumn {
    /// The column's number; of a view's column, its place.
    pub id: u32,
    /// By what name the view knows it.
    pub name: String,
    /// Whether the view reads it.
    pub is_used: bool,
}

impl ViewSchema {
    /// A view to be created; checks names and limits.
    pub fn new(
        name: &str,
        query: String,
        columns: Vec<ViewColumn>,
        uses: Vec<UsedRelation>,
    ) -> Result<Self> {
        let (id, version, name) = (TableId(0), 1, name.to_owned());
        let view = Self { id, version, name, query, columns, uses, scans: 1 };
        view.check()?;
        Ok(view)
    }

    /// What it reads of a relation; none where it does not read it.
    #[must_use]
    pub fn reads(&self, relation: TableId) -> Option<&UsedRelation> {
        self.uses.iter().find(|used| used.id == relation)
    }

    pub(super) fn check(&self) -> Result<()> {
        check_name("view", &self.name)?;
        let limit = |what: &str, max: usize| {
            let message = format!("view \"{}\" has more than {max} {what}", self.name);
            Err(Error::new(ErrorKind::Limit, message))
        };
        if self.query.len() > VIEW_BYTES_MAX {
            return limit("bytes of text", VIEW_BYTES_MAX);
        }
        if self.columns.len() > COLUMNS_MAX {
            return limit("columns", COLUMNS_MAX);
        }
        if self.uses.len() > RELATIONS_MAX {
            return limit("tables and views to read", RELATIONS_MAX);
        }
        for (index, ViewColumn { name, .. }) in self.columns.iter().enumerate() {
            check_name("column", name)?;
            if self.columns[..index].iter().any(|before| before.name == *name) {
                let message = format!("column \"{name}\" specified more than once");
                return Err(Error::new(ErrorKind::Input, message)
                    .because(crate::error::Reason::DuplicateColumn));
            }
        }
        Ok(())
    }
}

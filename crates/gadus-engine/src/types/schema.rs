//! The shape of a table: columns, key, defaults.
//!
//! - A schema never changes in place; its version number rises with each change of the table.
//! - A column has a number of its own, which stays with it whatever it is called and wherever it stands, and is
//!   never given to another: views name columns by it.

use super::{ColumnType, Datum, Enum, ForeignKey, ReferentialAction};
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::keys::PRIMARY;
use arrow::datatypes::{Schema, SchemaRef};
use gadus_base::TableId;
use std::sync::Arc;

/// Most columns of a table.
pub(crate) const COLUMNS_MAX: usize = 1_600;
/// Most indexes of a table besides that of its primary key.
const INDEXES_MAX: usize = 64;
/// Most columns of an index, as in PostgreSQL.
pub(super) const INDEX_COLUMNS_MAX: usize = 32;
/// Longest name of a table or column, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// Longest text of an expression that belongs to a table, in bytes.
pub(super) const EXPRESSION_BYTES_MAX: usize = 64 << 10;

/// A table's columns and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// The table's id; 0 until it is created.
    pub id: TableId,
    /// Rises with each change of the table's shape.
    pub version: u32,
    /// The table's name.
    pub name: String,
    /// The columns in order.
    pub columns: Vec<ColumnDefinition>,
    /// Indexes of the primary key's columns in key order; empty without a key.
    pub key: Vec<usize>,
    /// The number of the next column that is added.
    pub next_column: u32,
    /// What holds for each row; whoever writes rows sees to it.
    pub checks: Vec<CheckDefinition>,
    /// Indexes besides that of the primary key.
    pub indexes: Vec<IndexDefinition>,
    /// The number of the next index that is added; 0 is the primary key's.
    pub next_index: u32,
    /// What its rows have of rows of other tables, or of its own.
    pub foreign_keys: Vec<ForeignKey>,
    /// Tables with foreign keys that refer to it, each once.
    pub referenced_by: Vec<TableId>,
}

/// An index of a table, besides that of its primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDefinition {
    /// The index's number within its table, never given to another.
    pub id: u32,
    /// Its name, one among those of all indexes, tables and views.
    pub name: String,
    /// The numbers of its columns, in its order.
    pub columns: Vec<u32>,
    /// Whether no two rows have the same values in them, none of them NULL.
    pub unique: bool,
    /// Whether it stands for a constraint: it is then dropped with that.
    pub constraint: bool,
}

/// A condition that each row of a table meets, or that is unknown for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckDefinition {
    /// Its name, one among those of its table.
    pub name: String,
    /// The condition, as SQL over the columns by their names of today.
    pub condition: String,
    /// The numbers of the columns that it is about.
    pub columns: Vec<u32>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The column's number within its table; a new table gives it.
    pub id: u32,
    /// The column's name.
    pub name: String,
    /// The type of its values.
    pub column_type: ColumnType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// What an INSERT that does not name the column stores; NULL without one.
    pub default: Option<DefaultValue>,
    /// Whether its default is a number of a sequence of its own, and whether it may be given another.
    pub identity: Option<Identity>,
    /// What its values follow from, where they do: nobody gives it others, and it has no default.
    pub generated: Option<Generated>,
}

/// An expression over other columns of the row, whose value a column has; whoever writes rows sees to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The expression, as SQL over the columns by their names of today.
    pub expression: String,
    /// The numbers of the columns that it reads, none of them generated.
    pub columns: Vec<u32>,
}

/// Whether an identity column may be given values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// No, unless that is said apart.
    Always,
    /// Yes.
    ByDefault,
}

/// The text of a DEFAULT expression, as SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultValue(pub String);

impl ColumnDefinition {
    /// A column that may be NULL, and has no DEFAULT.
    #[must_use]
    pub fn new(name: &str, column_type: ColumnType) -> Self {
        Self {
            id: 0,
            name: name.to_owned(),
            column_type,
            nullable: true,
            default: None,
            identity: None,
            generated: None,
        }
    }

    /// Whether it may be in a key or an index.
    fn check_ordered(&self) -> Result<()> {
        if self.column_type.is_ordered() {
            return Ok(());
        }
        let message = format!(
            "column \"{}\" is of the type {}, which can be in no key or index",
            self.name, self.column_type
        );
        Err(Error::new(ErrorKind::Input, message))
    }
}

impl TableSchema {
    /// A schema for a new table; checks names, limits and key, and gives the columns their numbers.
    pub fn new(name: &str, columns: Vec<ColumnDefinition>, key: Vec<usize>) -> Result<Self> {
        let mut schema = Self {
            id: TableId(0),
            version: 1,
            name: name.to_owned(),
            columns,
            key,
            next_column: 0,
            checks: Vec::new(),
            indexes: Vec::new(),
            next_index: 1,
            foreign_keys: Vec::new(),
            referenced_by: Vec::new(),
        };
        schema.check()?;
        for column in &mut schema.columns {
            column.id = schema.next_column;
            schema.next_column += 1;
        }
        for &column in &schema.key {
            schema.columns[column].nullable = false;
        }
        Ok(schema)
    }

    /// The Arrow schema in which the table's rows leave the engine.
    #[must_use]
    pub fn arrow(&self) -> SchemaRef {
        let field =
            |column: &ColumnDefinition| column.column_type.field(&column.name, column.nullable);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    /// The enumerations of its columns.
    pub(crate) fn enums(&self) -> impl Iterator<Item = &'static Enum> {
        self.columns.iter().filter_map(|column| match column.column_type {
            ColumnType::Enum(of) => Some(of),
            _ => None,
        })
    }

    /// The index of the column with this exact name.
    #[must_use]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The index of the column with this number.
    #[must_use]
    pub fn column_with_id(&self, id: u32) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }

    /// Whether a row with another value in this column is another row to some index.
    #[must_use]
    pub fn is_indexed(&self, column: usize) -> bool {
        let id = self.columns[column].id;
        self.key.contains(&column) || self.indexes.iter().any(|index| index.columns.contains(&id))
    }

    /// What no two rows have alike: the numbers of indexes, the primary key's first, and the places of their columns.
    #[must_use]
    pub fn unique_keys(&self) -> Vec<(u32, Vec<usize>)> {
        let primary = (!self.key.is_empty()).then(|| (PRIMARY, self.key.clone()));
        let others = self.indexes.iter().filter(|index| index.unique).map(|index| {
            let columns = index.columns.iter().filter_map(|id| self.column_with_id(*id));
            (index.id, columns.collect())
        });
        primary.into_iter().chain(others).collect()
    }

    /// The index with this exact name.
    #[must_use]
    pub fn index_named(&self, name: &str) -> Option<&IndexDefinition> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The generated columns that read a column, by their places.
    pub fn generated_from(&self, column: u32) -> impl Iterator<Item = usize> {
        let reads = move |one: &ColumnDefinition| {
            one.generated.as_ref().is_some_and(|generated| generated.columns.contains(&column))
        };
        let columns = self.columns.iter().enumerate();
        columns.filter(move |(_, one)| reads(one)).map(|(place, _)| place)
    }

    /// Adds an index over columns by their places; returns its number.
    pub fn add_index(
        &mut self,
        name: &str,
        columns: &[usize],
        (unique, constraint): (bool, bool),
    ) -> u32 {
        let id = self.next_index;
        self.next_index += 1;
        let columns = columns.iter().map(|&column| self.columns[column].id).collect();
        let index = IndexDefinition { id, name: name.to_owned(), columns, unique, constraint };
        self.indexes.push(index);
        id
    }

    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Input, message));
        check_name("table", &self.name)?;
        if self.columns.is_empty() || self.columns.len() > COLUMNS_MAX {
            return wrong(format!(
                "table \"{}\" has {} columns; 1 to {COLUMNS_MAX} are possible",
                self.name,
                self.columns.len()
            ));
        }
        for (index, column) in self.columns.iter().enumerate() {
            check_name("column", &column.name)?;
            if self.columns[..index].iter().any(|other| other.name == column.name) {
                let message = format!("column \"{}\" specified more than once", column.name);
                let error = Error::new(ErrorKind::Input, message);
                return Err(error.because(Reason::DuplicateColumn));
            }
        }
        for (index, check) in self.checks.iter().enumerate() {
            check_name("constraint", &check.name)?;
            let is_there = |id: &u32| self.column_with_id(*id).is_some();
            let is_twice = self.checks[..index].iter().any(|other| other.name == check.name);
            if is_twice || !check.columns.iter().all(is_there) {
                return wrong(format!(
                    "constraint \"{}\" of table \"{}\" is wrong",
                    check.name, self.name
                ));
            }
            if check.condition.len() > EXPRESSION_BYTES_MAX {
                return wrong(format!("constraint \"{}\" has more than 64 KiB", check.name));
            }
        }
        if self.checks.len() > COLUMNS_MAX {
            return wrong(format!("table \"{}\" has more than {COLUMNS_MAX} checks", self.name));
        }
        for (index, &column) in self.key.iter().enumerate() {
            if let Some(column) = self.columns.get(column) {
                column.check_ordered()?;
            }
            if column >= self.columns.len() || self.key[..index].contains(&column) {
                return wrong(format!("the primary key of table \"{}\" is wrong", self.name));
            }
        }
        self.check_indexes()?;
        self.check_foreign_keys()?;
        self.check_generated()
    }

    /// What generated columns read is there, and is changed by statements alone.
    fn check_generated(&self) -> Result<()> {
        let changed = |key: &ForeignKey| match (key.on_delete, key.on_update) {
            (ReferentialAction::SetNull, _)
            | (_, ReferentialAction::SetNull | ReferentialAction::Cascade) => key.columns.clone(),
            _ => Vec::new(),
        };
        let changed = self.foreign_keys.iter().flat_map(changed).collect::<Vec<_>>();
        for column in &self.columns {
            let Some(generated) = &column.generated else { continue };
            let is_given = |id: &u32| {
                let read = self.column_with_id(*id).map(|place| &self.columns[place]);
                read.is_some_and(|read| read.generated.is_none())
            };
            let wrong = |what: &str| {
                let message = format!("generated column \"{}\" {what}", column.name);
                Err(Error::new(ErrorKind::Input, message))
            };
            if column.default.is_some() || !generated.columns.iter().all(is_given) {
                return wrong("reads columns that are not there, or has a default");
            }
            if generated.expression.len() > EXPRESSION_BYTES_MAX {
                return wrong("has an expression of more than 64 KiB");
            }
            if generated.columns.iter().any(|id| changed.contains(id))
                || changed.contains(&column.id)
            {
                return wrong(
                    "depends on a foreign key with ON DELETE SET NULL, or ON UPDATE SET NULL or CASCADE",
                );
            }
        }
        Ok(())
    }

    fn check_indexes(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Input, message));
        if self.indexes.len() > INDEXES_MAX {
            return wrong(format!("table \"{}\" has more than {INDEXES_MAX} indexes", self.name));
        }
        for (place, index) in self.indexes.iter().enumerate() {
            check_name("index", &index.name)?;
            for column in index.columns.iter().filter_map(|id| self.column_with_id(*id)) {
                self.columns[column].check_ordered()?;
            }
            let others = &self.indexes[..place];
            let is_twice =
                others.iter().any(|other| other.name == index.name || other.id == index.id);
            let columns = &index.columns;
            let is_wrong = |(place, id): (usize, &u32)| {
                self.column_with_id(*id).is_none() || columns[..place].contains(id)
            };
            let is_numbered = (1..self.next_index).contains(&index.id);
            if is_twice
                || !is_numbered
                || columns.is_empty()
                || columns.len() > INDEX_COLUMNS_MAX
                || columns.iter().enumerate().any(is_wrong)
            {
                return wrong(format!("index \"{}\" of \"{}\" is wrong", index.name, self.name));
            }
        }
        Ok(())
    }

    /// Whether the columns can hold these values, one each.
    pub(crate) fn admits(&self, row: &[Datum]) -> bool {
        row.len() == self.columns.len()
            && self.columns.iter().zip(row).all(|(column, value)| column.column_type.admits(value))
    }
}

pub(super) fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains('\0') {
        return Err(Error::new(
            ErrorKind::Input,
            format!("a {what} name has 1 to {NAME_BYTES_MAX} bytes without NUL: \"{name}\""),
        ));
    }
    Ok(())
}

//! What the binder asks of a database: relations, types and functions by name.

use crate::error::Result;
use crate::types::{SqlType, TypeId};
use std::fmt::Debug;
use std::sync::Arc;

/// Catalog of a database at the statement's snapshot.
pub trait Provider: Debug {
    /// Returns the relation of a name; without a schema the first one of the search path.
    ///
    /// # Errors
    /// Errors of reading the catalog.
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<Relation>>>;

    /// Returns an enumeration or a row type by its name.
    ///
    /// # Errors
    /// Errors of reading the catalog.
    fn type_named(&self, schema: Option<&str>, name: &str) -> Result<Option<TypeId>>;

    /// Returns the name of an enumeration or a row type.
    fn type_name(&self, id: TypeId) -> Option<String>;

    /// Returns the fields of a row type.
    fn fields(&self, id: TypeId) -> Option<Arc<[RelationColumn]>>;

    /// Returns the labels of an enumeration; without them literals are not checked.
    fn enum_labels(&self, _id: TypeId) -> Option<Arc<[String]>> {
        None
    }
}

/// Table or view.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Number in the catalog.
    pub id: RelationId,
    /// Schema and name.
    pub schema: String,
    /// Name without its schema.
    pub name: String,
    /// Columns in the order of `*`.
    pub columns: Vec<RelationColumn>,
    /// Sets of columns that are not null and whose values no two rows share, by position.
    pub keys: Vec<Vec<usize>>,
    /// Row type, if the database has one.
    pub row_type: Option<TypeId>,
    /// Query of a view, as stored.
    pub view: Option<String>,
}

/// Number of a relation in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationId(pub u64);

/// Column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationColumn {
    /// Name
    pub name: String,
    /// Type, with its modifier.
    pub data_type: SqlType,
}

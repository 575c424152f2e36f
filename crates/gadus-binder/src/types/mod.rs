//! Types of values: identities, modifiers, categories.

mod base;
pub mod constants;
mod modifier;
mod names;

pub use base::{BaseType, Category};
pub use modifier::{IntervalPrecision, Modifier};
pub use names::{resolve_type, type_of_plain_name};

use std::fmt;

/// Identity of a type: what functions, operators and casts are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId {
    /// The type, or the type of an array's elements.
    pub base: BaseType,
    /// True if the type is an array of `base`, of any number of dimensions.
    pub is_array: bool,
}

/// Type of an expression or a column: its identity, and the modifier if one is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlType {
    /// Identity.
    pub id: TypeId,
    /// Length, precision or scale.
    pub modifier: Modifier,
}

impl TypeId {
    /// Returns the identity of a type that is no array.
    #[must_use]
    pub const fn scalar(base: BaseType) -> Self {
        Self { base, is_array: false }
    }

    /// Returns the identity of an array.
    #[must_use]
    pub const fn array(base: BaseType) -> Self {
        Self { base, is_array: true }
    }

    /// Returns the array of this type; `None` for arrays and pseudo-types.
    #[must_use]
    pub fn array_of(self) -> Option<Self> {
        let has_array = !self.base.is_pseudo() || self.base == BaseType::Record;
        (!self.is_array && has_array).then_some(Self::array(self.base))
    }

    /// Returns the type of an array's elements.
    #[must_use]
    pub fn element(self) -> Option<Self> {
        self.is_array.then_some(Self::scalar(self.base))
    }

    /// Returns the category by which types are preferred.
    #[must_use]
    pub fn category(self) -> Category {
        if self.is_array { Category::Array } else { self.base.category() }
    }

    /// Returns true for the type that is preferred in its category.
    #[must_use]
    pub fn is_preferred(self) -> bool {
        !self.is_array && self.base.is_preferred()
    }

    /// Returns true for a literal or parameter whose type is not decided yet.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self == constants::UNKNOWN
    }

    /// Returns true for types that stand for others in signatures.
    #[must_use]
    pub fn is_polymorphic(self) -> bool {
        !self.is_array && self.base.is_polymorphic()
    }

    /// Returns PostgreSQL's object identifier; zero for types that PostgreSQL does not have.
    #[must_use]
    pub fn oid(self) -> u32 {
        let (scalar, array) = self.base.oids();
        if self.is_array { array } else { scalar }
    }

    /// Returns this type without a modifier.
    #[must_use]
    pub const fn plain(self) -> SqlType {
        SqlType { id: self, modifier: Modifier::None }
    }
}

impl SqlType {
    /// Returns true if both have one identity.
    #[must_use]
    pub fn is_same_type(self, other: Self) -> bool {
        self.id == other.id
    }
}

impl From<TypeId> for SqlType {
    fn from(id: TypeId) -> Self {
        id.plain()
    }
}

/// Writes the name as PostgreSQL's `format_type` does.
impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base.sql_name())?;
        if self.is_array { f.write_str("[]") } else { Ok(()) }
    }
}

/// Writes the name with its modifier.
impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.modifier.write(&self.id.base.sql_name(), f)?;
        if self.id.is_array { f.write_str("[]") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;

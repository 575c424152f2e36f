//! Casts between types, and the contexts in which each is allowed.

use super::cast_table::casts_from;
use crate::types::{BaseType, Category, TypeId, constants};

/// Context of a conversion; a cast that is allowed in one is allowed in those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CastContext {
    /// An expression that needs another type.
    Implicit,
    /// A value that is stored in a column.
    Assignment,
    /// CAST or `::`
    Explicit,
}

/// Work of a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastMethod {
    /// None: both types have one representation.
    Relabel,
    /// Conversion of the value.
    Function,
    /// Output of the one type as text, and input of the other.
    Text,
}

/// Way from one type to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastPath {
    /// Conversion of the value itself.
    Value(CastMethod),
    /// Conversion of each element of an array.
    Elements(CastMethod),
}

/// Returns the way from a type to another, if the context allows one (`find_coercion_pathway`).
#[must_use]
pub fn find_cast(source: TypeId, target: TypeId, context: CastContext) -> Option<CastPath> {
    if source == target {
        return Some(CastPath::Value(CastMethod::Relabel));
    }
    if let Some((_, least, method)) = casts_from(source).iter().find(|(to, ..)| *to == target) {
        return (context >= *least).then_some(CastPath::Value(*method));
    }
    if let (Some(from), Some(to)) = (source.element(), target.element()) {
        return match find_cast(from, to, context)? {
            CastPath::Value(method) => Some(CastPath::Elements(method)),
            CastPath::Elements(_) => None,
        };
    }
    let by_text = |least| (context >= least).then_some(CastPath::Value(CastMethod::Text));
    if has_no_text(source) || has_no_text(target) {
        return None;
    }
    // Any type is stored as text, and text is any type if that is asked for.
    if target.category() == Category::String {
        return by_text(CastContext::Assignment);
    }
    if source.category() == Category::String {
        return by_text(CastContext::Explicit);
    }
    None
}

/// Returns true if values of a type are those of another without any work.
#[must_use]
pub fn is_binary_coercible(source: TypeId, target: TypeId) -> bool {
    if source == target || target == constants::ANY || target == constants::ANYELEMENT {
        return true;
    }
    if target == constants::RECORD {
        return !source.is_array && source.category() == Category::Composite;
    }
    let relabels = |(to, context, method): &(TypeId, CastContext, CastMethod)| {
        *to == target && *context == CastContext::Implicit && *method == CastMethod::Relabel
    };
    casts_from(source).iter().any(relabels)
}

fn has_no_text(id: TypeId) -> bool {
    !id.is_array && id.base.is_pseudo() && id.base != BaseType::Record
}

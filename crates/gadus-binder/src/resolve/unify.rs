//! One type for several expressions (`select_common_type`).

use super::candidates::can_coerce;
use crate::types::{Modifier, SqlType, TypeId, constants};

/// Types that have no common one, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Type so far.
    pub(crate) left: TypeId,
    /// Type that does not fit.
    pub(crate) right: TypeId,
    /// Position of the latter.
    pub(crate) place: usize,
}

/// Returns the type to which all convert; text if all are unknown.
pub(crate) fn common_type(types: &[SqlType]) -> Result<SqlType, Mismatch> {
    let Some(first) = types.first() else { return Ok(constants::TEXT.plain()) };
    let mut common = first.id;
    for (place, other) in types.iter().enumerate().skip(1) {
        let next = other.id;
        if next.is_unknown() || next == common {
            continue;
        }
        if common.is_unknown() {
            common = next;
        } else if common.category() != next.category() {
            return Err(Mismatch { left: common, right: next, place });
        } else if !common.is_preferred() && can_coerce(common, next) && !can_coerce(next, common) {
            common = next;
        }
    }
    if common.is_unknown() {
        common = constants::TEXT;
    }
    // The modifier holds only if all have it.
    let mut modifiers = types.iter().map(|other| (other.id, other.modifier));
    let is_same = modifiers.all(|(id, modifier)| id == common && modifier == first.modifier);
    Ok(SqlType { id: common, modifier: if is_same { first.modifier } else { Modifier::None } })
}

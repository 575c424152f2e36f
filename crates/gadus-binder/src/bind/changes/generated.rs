//! Columns whose values the database makes, and columns that are assigned twice (`rewriteTargetListIU`).

use crate::bound::{ColumnValue, ScalarKind};
use crate::error::{BindError, Result};
use crate::provider::{Generation, Relation};
use gadus_syntax::ast::Overriding;

fn detail(name: &str, generation: Generation) -> String {
    match generation {
        Generation::Stored => format!("Column \"{name}\" is a generated column."),
        Generation::IdentityAlways | Generation::IdentityByDefault => {
            format!("Column \"{name}\" is an identity column defined as GENERATED ALWAYS.")
        }
    }
}

/// Checks the values of INSERT; removes those that OVERRIDING USER VALUE replaces by defaults.
pub(super) fn check_inserted(
    relation: &Relation,
    values: &mut Vec<ColumnValue>,
    overriding: Option<Overriding>,
    is_default: impl Fn(&ColumnValue) -> bool,
) -> Result<()> {
    let mut generated = relation.generated.clone();
    generated.sort_unstable_by_key(|(column, _)| *column);
    for (column, generation) in generated {
        let Some(place) = values.iter().position(|value| value.column == column) else { continue };
        if is_default(&values[place]) {
            continue;
        }
        let is_refused = match (generation, overriding) {
            (Generation::Stored, _) => true,
            (_, Some(Overriding::User)) => {
                values.remove(place);
                false
            }
            (Generation::IdentityAlways, None) => true,
            (_, Some(Overriding::System)) | (Generation::IdentityByDefault, None) => false,
        };
        if is_refused {
            let name = &relation.columns[column].name;
            let message = format!("cannot insert a non-DEFAULT value into column \"{name}\"");
            let error =
                BindError::without_position("428C9", message).with_detail(detail(name, generation));
            return Err(match generation {
                Generation::Stored => error,
                _ => error.with_hint("Use OVERRIDING SYSTEM VALUE to override."),
            });
        }
    }
    Ok(())
}

/// Checks the values of UPDATE.
pub(super) fn check_updated(relation: &Relation, values: &[ColumnValue]) -> Result<()> {
    for (place, value) in values.iter().enumerate() {
        let is_same = |other: &&ColumnValue| {
            other.column == value.column
                && (other.subscripts.is_empty() || value.subscripts.is_empty())
        };
        if values[..place].iter().any(|other| is_same(&other)) {
            let name = &relation.columns[value.column].name;
            let message = format!("multiple assignments to same column \"{name}\"");
            return Err(BindError::without_position("42601", message));
        }
    }
    for (column, generation) in &relation.generated {
        let is_set = |value: &ColumnValue| {
            value.column == *column && !matches!(value.value.kind, ScalarKind::Default)
        };
        if *generation != Generation::IdentityByDefault && values.iter().any(is_set) {
            let name = &relation.columns[*column].name;
            let message = format!("column \"{name}\" can only be updated to DEFAULT");
            return Err(BindError::without_position("428C9", message)
                .with_detail(detail(name, *generation)));
        }
    }
    Ok(())
}

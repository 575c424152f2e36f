//! ON CONFLICT: the keys that it is about, and DO UPDATE.

use super::rows::{RowsInHand, columns_of};
use super::{Bound, Lowered, SetDefaults};
use crate::lowering::{ChangeLowering, Items, NotLowered, Set, assigned_columns};
use crate::session::on_conflict::{OnKey, RowUpdate, UniqueKey, key_named};
use gadus_binder::bound::{Arbiter, OnConflict, Scalar};
use std::collections::BTreeSet;

/// Plans ON CONFLICT.
pub(super) fn on_key(
    bound: &Bound<'_>,
    lowering: &mut ChangeLowering<'_>,
    conflict: &OnConflict,
) -> Lowered<OnKey<'static>> {
    let keys = match &conflict.arbiter {
        None => bound.schema.unique_keys(),
        Some(arbiter) => vec![key(bound, conflict, arbiter)?],
    };
    let Some(update) = &conflict.update else { return Ok(OnKey { update: None, keys }) };
    let mut columns = columns_of(&bound.schema, &conflict.existing)?;
    columns.extend(columns_of(&bound.schema, &update.excluded)?);
    let rows = RowsInHand::new(&bound.context, columns)?;
    let (values, defaults) = SetDefaults::take(&bound.schema, &update.assignments.values);
    let set = Set { queries: &update.assignments.queries, values: &values };
    let predicate = update.predicate.as_ref();
    let plan = lowering.over(
        rows.table(),
        rows.ids(),
        predicate,
        Items::Values(set, &conflict.existing),
    )?;
    let columns = assigned_columns(&values);
    let rows = Box::new(rows.asked(bound.with_values(plan)?));
    Ok(OnKey { update: Some(RowUpdate::Planned { columns, defaults, rows }), keys })
}

/// Returns the key that an arbiter means.
fn key(bound: &Bound<'_>, conflict: &OnConflict, arbiter: &Arbiter) -> Lowered<UniqueKey> {
    let unknown = || NotLowered::Missing("the key of ON CONFLICT".to_owned());
    let elements = match arbiter {
        Arbiter::Constraint(name) => return key_named(&bound.schema, name).ok_or_else(unknown),
        Arbiter::Elements { predicate: Some(_), .. } => return Err(unknown()),
        Arbiter::Elements { elements, predicate: None } => elements,
    };
    let place = |element: &Scalar| {
        let id = element.as_column()?;
        conflict.existing.iter().find(|(_, known)| *known == id).map(|(place, _)| *place)
    };
    let places = elements.iter().map(place).collect::<Option<BTreeSet<_>>>().ok_or_else(unknown)?;
    let mut keys = bound.schema.unique_keys().into_iter();
    keys.find(|(_, key)| key.iter().copied().collect::<BTreeSet<_>>() == places).ok_or_else(unknown)
}

//! What DataFusion answers wrongly, or in types that nobody expects, and what is done instead.

mod conditions_kept;
mod keys_of_groups;
mod no_constants;
mod no_waiting;
mod null_safe_joins;
mod orders_seen;
mod ranks;
mod same_names;
mod unused_groups;

pub(crate) use conditions_kept::ConditionsKept;
pub(crate) use keys_of_groups::KeysOfGroups;
pub(crate) use no_constants::NoConstants;
pub(crate) use null_safe_joins::NullSafeJoins;
pub(crate) use orders_seen::OrdersSeen;
pub(crate) use ranks::signed_ranks;
pub(crate) use same_names::FiltersByName;

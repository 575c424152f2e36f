//! Functions of JSON documents, which are texts.
//!
//! - What PostgreSQL gives as JSONB is written as it writes JSONB: keys by length and bytes, the last of equal ones, a
//!   blank behind colons and commas.

mod contains;
mod delete;
mod numbers;
mod objects;
mod parse;
mod path;
#[cfg(test)]
mod tests;
mod value;

pub use contains::{jsonb_contains, jsonb_exists_any_or_all};
pub use delete::{jsonb_delete_index, jsonb_delete_keys};
pub use objects::{
    json_object, json_object_of_lists, json_strip_nulls, jsonb_pretty, jsonb_strip_nulls,
    normalized,
};
pub use path::{NullTreatment, jsonb_delete_path, jsonb_insert, jsonb_set, jsonb_set_lax};

//! Functions of JSON documents, which are texts.
//!
//! - What PostgreSQL gives as JSONB is written as it writes JSONB: keys by length and bytes, the last of equal ones, a
//!   blank after colons and commas.

mod access;
mod array_texts;
mod assign;
mod concat;
mod contains;
mod delete;
mod jsonpath;
mod lexer;
mod numbers;
mod objects;
mod parse;
mod path;
mod sets;
mod sort_key;
#[cfg(test)]
mod tests;
mod value;

pub use access::{
    DocumentKind, array_element, array_length, extract_path, object_field, scalar_for, type_name,
    value_text,
};
pub use array_texts::array_text;
pub use assign::jsonb_assign;
pub use concat::jsonb_concat;
pub use contains::{jsonb_contains, jsonb_exists_any_or_all};
pub use delete::{jsonb_delete_index, jsonb_delete_keys};
pub use jsonpath::{
    JsonPath, jsonb_path_exists, jsonb_path_match, jsonb_path_query, jsonb_path_query_array,
};
pub use objects::{
    json_object, json_object_of_array, json_object_of_lists, json_strip_nulls, jsonb_pretty,
    jsonb_strip_nulls, normalized,
};
pub use parse::check_json;
pub use path::{NullTreatment, jsonb_delete_path, jsonb_insert, jsonb_set, jsonb_set_lax};
pub use sets::{Member, array_elements, element_texts, object_keys, object_members};
pub use sort_key::jsonb_sort_key;
pub use value::write_text;

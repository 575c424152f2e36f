//! Functions of arrays and sets of rows.

use super::{Function, scalar};
use crate::types::constants::*;

pub(super) const FUNCTIONS: &[Function] = &[
    scalar("array_append", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], ANYCOMPATIBLEARRAY).accepts_null(),
    scalar("array_cat", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLEARRAY], ANYCOMPATIBLEARRAY)
        .accepts_null(),
    scalar("array_dims", &[ANYARRAY], TEXT),
    scalar("array_fill", &[ANYELEMENT, INT4_ARRAY], ANYARRAY).accepts_null(),
    scalar("array_fill", &[ANYELEMENT, INT4_ARRAY, INT4_ARRAY], ANYARRAY).accepts_null(),
    scalar("array_length", &[ANYARRAY, INT4], INT4),
    scalar("array_lower", &[ANYARRAY, INT4], INT4),
    scalar("array_ndims", &[ANYARRAY], INT4),
    scalar("array_position", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], INT4).accepts_null(),
    scalar("array_position", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE, INT4], INT4).accepts_null(),
    scalar("array_positions", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], INT4_ARRAY).accepts_null(),
    scalar("array_prepend", &[ANYCOMPATIBLE, ANYCOMPATIBLEARRAY], ANYCOMPATIBLEARRAY)
        .accepts_null(),
    scalar("array_remove", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], ANYCOMPATIBLEARRAY).accepts_null(),
    scalar(
        "array_replace",
        &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE, ANYCOMPATIBLE],
        ANYCOMPATIBLEARRAY,
    )
    .accepts_null(),
    scalar("array_to_string", &[ANYARRAY, TEXT], TEXT).stable(),
    scalar("array_to_string", &[ANYARRAY, TEXT, TEXT], TEXT).accepts_null().stable(),
    scalar("array_upper", &[ANYARRAY, INT4], INT4),
    scalar("cardinality", &[ANYARRAY], INT4),
    scalar("generate_series", &[TIMESTAMP, TIMESTAMP, INTERVAL], TIMESTAMP).set(),
    scalar("generate_series", &[TIMESTAMPTZ, TIMESTAMPTZ, INTERVAL], TIMESTAMPTZ).stable().set(),
    scalar("generate_series", &[NUMERIC, NUMERIC], NUMERIC).set(),
    scalar("generate_series", &[NUMERIC, NUMERIC, NUMERIC], NUMERIC).set(),
    scalar("generate_series", &[INT8, INT8], INT8).set(),
    scalar("generate_series", &[INT8, INT8, INT8], INT8).set(),
    scalar("generate_series", &[INT4, INT4], INT4).set(),
    scalar("generate_series", &[INT4, INT4, INT4], INT4).set(),
    scalar("generate_subscripts", &[ANYARRAY, INT4], INT4).set(),
    scalar("generate_subscripts", &[ANYARRAY, INT4, BOOL], INT4).set(),
    scalar("string_to_array", &[TEXT, TEXT], TEXT_ARRAY).accepts_null(),
    scalar("string_to_array", &[TEXT, TEXT, TEXT], TEXT_ARRAY).accepts_null(),
    scalar("string_to_table", &[TEXT, TEXT], TEXT).accepts_null().set(),
    scalar("string_to_table", &[TEXT, TEXT, TEXT], TEXT).accepts_null().set(),
    scalar("trim_array", &[ANYARRAY, INT4], ANYARRAY),
    scalar("unnest", &[ANYARRAY], ANYELEMENT).set(),
];

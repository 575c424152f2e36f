//! Functions of JSON.

use super::{Function, scalar};
use crate::types::constants::*;

/// Names of the arguments of functions of paths.
const PATH_ARGUMENTS: &[&str] = &["target", "path", "vars", "silent"];

pub(super) const FUNCTIONS: &[Function] = &[
    scalar("json_array_elements", &[JSON], JSON).set(),
    scalar("json_array_elements_text", &[JSON], TEXT).set(),
    scalar("jsonb_array_elements", &[JSONB], JSONB).set(),
    scalar("jsonb_array_elements_text", &[JSONB], TEXT).set(),
    scalar("array_to_json", &[ANYARRAY], JSON).stable(),
    scalar("array_to_json", &[ANYARRAY, BOOL], JSON).stable(),
    scalar("json_array_length", &[JSON], INT4),
    scalar("json_build_array", &[], JSON).accepts_null().stable(),
    scalar("json_build_array", &[ANY], JSON).accepts_null().stable().variadic(),
    scalar("json_build_object", &[], JSON).accepts_null().stable(),
    scalar("json_build_object", &[ANY], JSON).accepts_null().stable().variadic(),
    scalar("json_each", &[JSON], RECORD).set().outputs(&[("key", TEXT), ("value", JSON)]),
    scalar("json_each_text", &[JSON], RECORD).set().outputs(&[("key", TEXT), ("value", TEXT)]),
    scalar("json_extract_path", &[JSON, TEXT_ARRAY], JSON).variadic(),
    scalar("json_extract_path_text", &[JSON, TEXT_ARRAY], TEXT).variadic(),
    scalar("json_object", &[TEXT_ARRAY], JSON),
    scalar("json_object", &[TEXT_ARRAY, TEXT_ARRAY], JSON),
    scalar("json_object_keys", &[JSON], TEXT).set(),
    scalar("json_populate_record", &[ANYELEMENT, JSON, BOOL], ANYELEMENT)
        .accepts_null()
        .stable()
        .optional(1),
    scalar("json_populate_recordset", &[ANYELEMENT, JSON, BOOL], ANYELEMENT)
        .accepts_null()
        .stable()
        .set()
        .optional(1),
    scalar("json_strip_nulls", &[JSON], JSON),
    scalar("json_to_record", &[JSON], RECORD).stable(),
    scalar("json_to_recordset", &[JSON], RECORD).accepts_null().stable().set(),
    scalar("json_typeof", &[JSON], TEXT),
    scalar("jsonb_array_length", &[JSONB], INT4),
    scalar("jsonb_build_array", &[], JSONB).accepts_null().stable(),
    scalar("jsonb_build_array", &[ANY], JSONB).accepts_null().stable().variadic(),
    scalar("jsonb_build_object", &[], JSONB).accepts_null().stable(),
    scalar("jsonb_build_object", &[ANY], JSONB).accepts_null().stable().variadic(),
    scalar("jsonb_concat", &[JSONB, JSONB], JSONB),
    scalar("jsonb_contained", &[JSONB, JSONB], BOOL),
    scalar("jsonb_contains", &[JSONB, JSONB], BOOL),
    scalar("jsonb_delete", &[JSONB, TEXT_ARRAY], JSONB).variadic(),
    scalar("jsonb_delete", &[JSONB, INT4], JSONB),
    scalar("jsonb_delete", &[JSONB, TEXT], JSONB),
    scalar("jsonb_delete_path", &[JSONB, TEXT_ARRAY], JSONB),
    scalar("jsonb_each", &[JSONB], RECORD).set().outputs(&[("key", TEXT), ("value", JSONB)]),
    scalar("jsonb_each_text", &[JSONB], RECORD).set().outputs(&[("key", TEXT), ("value", TEXT)]),
    scalar("jsonb_exists", &[JSONB, TEXT], BOOL),
    scalar("jsonb_exists_all", &[JSONB, TEXT_ARRAY], BOOL),
    scalar("jsonb_exists_any", &[JSONB, TEXT_ARRAY], BOOL),
    scalar("jsonb_extract_path", &[JSONB, TEXT_ARRAY], JSONB).variadic(),
    scalar("jsonb_extract_path_text", &[JSONB, TEXT_ARRAY], TEXT).variadic(),
    scalar("jsonb_insert", &[JSONB, TEXT_ARRAY, JSONB, BOOL], JSONB).optional(1).named(&[
        "jsonb_in",
        "path",
        "replacement",
        "insert_after",
    ]),
    scalar("jsonb_object", &[TEXT_ARRAY], JSONB),
    scalar("jsonb_object", &[TEXT_ARRAY, TEXT_ARRAY], JSONB),
    scalar("jsonb_object_keys", &[JSONB], TEXT).set(),
    scalar("jsonb_path_exists", &[JSONB, JSONPATH, JSONB, BOOL], BOOL)
        .optional(2)
        .named(PATH_ARGUMENTS),
    scalar("jsonb_path_match", &[JSONB, JSONPATH, JSONB, BOOL], BOOL)
        .optional(2)
        .named(PATH_ARGUMENTS),
    scalar("jsonb_path_query", &[JSONB, JSONPATH, JSONB, BOOL], JSONB)
        .set()
        .optional(2)
        .named(PATH_ARGUMENTS),
    scalar("jsonb_path_query_array", &[JSONB, JSONPATH, JSONB, BOOL], JSONB)
        .optional(2)
        .named(PATH_ARGUMENTS),
    scalar("jsonb_path_query_first", &[JSONB, JSONPATH, JSONB, BOOL], JSONB)
        .optional(2)
        .named(PATH_ARGUMENTS),
    scalar("jsonb_populate_record", &[ANYELEMENT, JSONB], ANYELEMENT).accepts_null().stable(),
    scalar("jsonb_populate_recordset", &[ANYELEMENT, JSONB], ANYELEMENT)
        .accepts_null()
        .stable()
        .set(),
    scalar("jsonb_pretty", &[JSONB], TEXT),
    scalar("jsonb_set", &[JSONB, TEXT_ARRAY, JSONB, BOOL], JSONB).optional(1).named(&[
        "jsonb_in",
        "path",
        "replacement",
        "create_if_missing",
    ]),
    scalar("jsonb_set_lax", &[JSONB, TEXT_ARRAY, JSONB, BOOL, TEXT], JSONB)
        .accepts_null()
        .optional(2)
        .named(&["jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"]),
    scalar("jsonb_strip_nulls", &[JSONB], JSONB),
    scalar("jsonb_to_record", &[JSONB], RECORD).stable(),
    scalar("jsonb_to_recordset", &[JSONB], RECORD).accepts_null().stable().set(),
    scalar("jsonb_typeof", &[JSONB], TEXT),
    scalar("row_to_json", &[RECORD], JSON).stable(),
    scalar("row_to_json", &[RECORD, BOOL], JSON).stable(),
    scalar("to_json", &[ANYELEMENT], JSON).stable(),
    scalar("to_jsonb", &[ANYELEMENT], JSONB).stable(),
];

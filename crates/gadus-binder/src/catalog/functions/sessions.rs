//! Functions of sequences, enumerations and the session.

use super::{Function, scalar};
use crate::types::constants::*;

pub(super) const FUNCTIONS: &[Function] = &[
    scalar("current_database", &[], NAME).stable(),
    scalar("current_query", &[], TEXT).accepts_null().volatile(),
    scalar("current_schema", &[], NAME).stable(),
    scalar("current_schemas", &[BOOL], NAME_ARRAY).stable(),
    scalar("current_setting", &[TEXT], TEXT).stable(),
    scalar("current_setting", &[TEXT, BOOL], TEXT).stable(),
    scalar("current_user", &[], NAME).stable(),
    scalar("currval", &[REGCLASS], INT8).volatile(),
    scalar("enum_first", &[ANYENUM], ANYENUM).accepts_null().stable(),
    scalar("enum_last", &[ANYENUM], ANYENUM).accepts_null().stable(),
    scalar("enum_range", &[ANYENUM], ANYARRAY).accepts_null().stable(),
    scalar("enum_range", &[ANYENUM, ANYENUM], ANYARRAY).accepts_null().stable(),
    scalar("format_type", &[OID, INT4], TEXT).accepts_null().stable(),
    scalar("gen_random_uuid", &[], UUID).volatile(),
    scalar("lastval", &[], INT8).volatile(),
    scalar("nextval", &[REGCLASS], INT8).volatile(),
    scalar("num_nonnulls", &[ANY], INT4).accepts_null().variadic(),
    scalar("num_nulls", &[ANY], INT4).accepts_null().variadic(),
    scalar("oid", &[INT8], OID),
    scalar("regclass", &[TEXT], REGCLASS).stable(),
    scalar("session_user", &[], NAME).stable(),
    scalar("set_config", &[TEXT, TEXT, BOOL], TEXT).accepts_null().volatile(),
    scalar("setseed", &[FLOAT8], VOID).volatile(),
    scalar("setval", &[REGCLASS, INT8], INT8).volatile(),
    scalar("setval", &[REGCLASS, INT8, BOOL], INT8).volatile(),
    scalar("to_regclass", &[TEXT], REGCLASS).stable(),
    scalar("to_regtype", &[TEXT], REGTYPE).stable(),
    scalar("version", &[], TEXT).stable(),
];

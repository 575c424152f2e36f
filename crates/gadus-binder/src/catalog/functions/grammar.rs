//! Functions that forms of the grammar call, and those about the server.

use super::{Function, scalar};
use crate::types::constants::*;

pub(super) const FUNCTIONS: &[Function] = &[
    scalar("like_escape", &[TEXT, TEXT], TEXT),
    scalar("like_escape", &[BYTEA, BYTEA], BYTEA),
    scalar("similar_to_escape", &[TEXT], TEXT),
    scalar("similar_to_escape", &[TEXT, TEXT], TEXT),
    scalar("pg_collation_for", &[ANY], TEXT).stable(),
    scalar("pg_typeof", &[ANY], REGTYPE).accepts_null().stable(),
    scalar("pg_column_size", &[ANY], INT4).stable(),
    scalar("pg_sleep", &[FLOAT8], VOID).volatile(),
    scalar("pg_backend_pid", &[], INT4).stable(),
    scalar("pg_client_encoding", &[], NAME).stable(),
    scalar("pg_input_is_valid", &[TEXT, TEXT], BOOL).stable(),
    scalar("pg_size_pretty", &[INT8], TEXT),
    scalar("pg_size_pretty", &[NUMERIC], TEXT),
    scalar("pg_table_is_visible", &[OID], BOOL).stable(),
    scalar("pg_get_userbyid", &[OID], NAME).stable(),
    scalar("pg_get_expr", &[TEXT, OID], TEXT).stable(),
    scalar("pg_get_viewdef", &[TEXT], TEXT).stable(),
    scalar("pg_get_viewdef", &[OID], TEXT).stable(),
    scalar("pg_get_viewdef", &[TEXT, BOOL], TEXT).stable(),
    scalar("pg_get_viewdef", &[OID, BOOL], TEXT).stable(),
    scalar("pg_get_constraintdef", &[OID], TEXT).stable(),
    scalar("pg_get_indexdef", &[OID], TEXT).stable(),
    scalar("pg_get_serial_sequence", &[TEXT, TEXT], TEXT).stable(),
    scalar("pg_relation_size", &[REGCLASS], INT8).volatile(),
    scalar("pg_total_relation_size", &[REGCLASS], INT8).volatile(),
    scalar("obj_description", &[OID, NAME], TEXT).stable(),
    scalar("obj_description", &[OID], TEXT).stable(),
    scalar("col_description", &[OID, INT4], TEXT).stable(),
];

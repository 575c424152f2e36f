//! Window functions.

use super::{Function, window};
use crate::types::constants::*;

pub(super) const FUNCTIONS: &[Function] = &[
    window("cume_dist", &[], FLOAT8),
    window("dense_rank", &[], INT8),
    window("first_value", &[ANYELEMENT], ANYELEMENT),
    window("lag", &[ANYELEMENT], ANYELEMENT),
    window("lag", &[ANYELEMENT, INT4], ANYELEMENT),
    window("lag", &[ANYCOMPATIBLE, INT4, ANYCOMPATIBLE], ANYCOMPATIBLE),
    window("last_value", &[ANYELEMENT], ANYELEMENT),
    window("lead", &[ANYELEMENT], ANYELEMENT),
    window("lead", &[ANYELEMENT, INT4], ANYELEMENT),
    window("lead", &[ANYCOMPATIBLE, INT4, ANYCOMPATIBLE], ANYCOMPATIBLE),
    window("nth_value", &[ANYELEMENT, INT4], ANYELEMENT),
    window("ntile", &[INT4], INT4),
    window("percent_rank", &[], FLOAT8),
    window("rank", &[], INT8),
    window("row_number", &[], INT8),
];

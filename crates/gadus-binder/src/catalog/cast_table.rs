//! Casts by source, as `pg_cast` has them; those by way of text are not in it.

use super::casts::{CastContext, CastMethod};
use crate::types::TypeId;
use crate::types::constants::*;

use CastContext::{Assignment, Explicit, Implicit};
use CastMethod::{Function, Relabel, Text as ByText};

/// Target, context and method.
pub(super) type Row = (TypeId, CastContext, CastMethod);

/// Casts of each type that has any.
const CASTS: &[(TypeId, &[Row])] = &[
    (
        BOOL,
        &[
            (INT4, Explicit, Function),
            (TEXT, Assignment, Function),
            (BPCHAR, Assignment, Function),
            (VARCHAR, Assignment, Function),
        ],
    ),
    (
        CHAR,
        &[
            (INT4, Explicit, Function),
            (TEXT, Implicit, Function),
            (BPCHAR, Assignment, Function),
            (VARCHAR, Assignment, Function),
        ],
    ),
    (
        NAME,
        &[
            (TEXT, Implicit, Function),
            (BPCHAR, Assignment, Function),
            (VARCHAR, Assignment, Function),
        ],
    ),
    (
        INT8,
        &[
            (INT2, Assignment, Function),
            (INT4, Assignment, Function),
            (REGPROC, Implicit, Function),
            (OID, Implicit, Function),
            (FLOAT4, Implicit, Function),
            (FLOAT8, Implicit, Function),
            (BIT, Explicit, Function),
            (NUMERIC, Implicit, Function),
            (REGCLASS, Implicit, Function),
            (REGTYPE, Implicit, Function),
        ],
    ),
    (
        INT2,
        &[
            (INT8, Implicit, Function),
            (INT4, Implicit, Function),
            (REGPROC, Implicit, Function),
            (OID, Implicit, Function),
            (FLOAT4, Implicit, Function),
            (FLOAT8, Implicit, Function),
            (NUMERIC, Implicit, Function),
            (REGCLASS, Implicit, Function),
            (REGTYPE, Implicit, Function),
        ],
    ),
    (
        INT4,
        &[
            (BOOL, Explicit, Function),
            (CHAR, Explicit, Function),
            (INT8, Implicit, Function),
            (INT2, Assignment, Function),
            (REGPROC, Implicit, Relabel),
            (OID, Implicit, Relabel),
            (FLOAT4, Implicit, Function),
            (FLOAT8, Implicit, Function),
            (BIT, Explicit, Function),
            (NUMERIC, Implicit, Function),
            (REGCLASS, Implicit, Relabel),
            (REGTYPE, Implicit, Relabel),
        ],
    ),
    (
        REGPROC,
        &[(INT8, Assignment, Function), (INT4, Assignment, Relabel), (OID, Implicit, Relabel)],
    ),
    (
        TEXT,
        &[
            (CHAR, Assignment, Function),
            (NAME, Implicit, Function),
            (BPCHAR, Implicit, Relabel),
            (VARCHAR, Implicit, Relabel),
            (REGCLASS, Implicit, Function),
        ],
    ),
    (
        OID,
        &[
            (INT8, Assignment, Function),
            (INT4, Assignment, Relabel),
            (REGPROC, Implicit, Relabel),
            (REGCLASS, Implicit, Relabel),
            (REGTYPE, Implicit, Relabel),
        ],
    ),
    (JSON, &[(JSONB, Assignment, ByText)]),
    (
        FLOAT4,
        &[
            (INT8, Assignment, Function),
            (INT2, Assignment, Function),
            (INT4, Assignment, Function),
            (FLOAT8, Implicit, Function),
            (NUMERIC, Assignment, Function),
        ],
    ),
    (
        FLOAT8,
        &[
            (INT8, Assignment, Function),
            (INT2, Assignment, Function),
            (INT4, Assignment, Function),
            (FLOAT4, Assignment, Function),
            (NUMERIC, Assignment, Function),
        ],
    ),
    (
        BPCHAR,
        &[
            (CHAR, Assignment, Function),
            (NAME, Implicit, Function),
            (TEXT, Implicit, Function),
            (BPCHAR, Implicit, Function),
            (VARCHAR, Implicit, Function),
        ],
    ),
    (
        VARCHAR,
        &[
            (CHAR, Assignment, Function),
            (NAME, Implicit, Function),
            (TEXT, Implicit, Relabel),
            (BPCHAR, Implicit, Relabel),
            (VARCHAR, Implicit, Function),
            (REGCLASS, Implicit, Function),
        ],
    ),
    (DATE, &[(TIMESTAMP, Implicit, Function), (TIMESTAMPTZ, Implicit, Function)]),
    (
        TIME,
        &[(TIME, Implicit, Function), (INTERVAL, Implicit, Function), (TIMETZ, Implicit, Function)],
    ),
    (
        TIMESTAMP,
        &[
            (DATE, Assignment, Function),
            (TIME, Assignment, Function),
            (TIMESTAMP, Implicit, Function),
            (TIMESTAMPTZ, Implicit, Function),
        ],
    ),
    (
        TIMESTAMPTZ,
        &[
            (DATE, Assignment, Function),
            (TIME, Assignment, Function),
            (TIMESTAMP, Assignment, Function),
            (TIMESTAMPTZ, Implicit, Function),
            (TIMETZ, Assignment, Function),
        ],
    ),
    (INTERVAL, &[(TIME, Assignment, Function), (INTERVAL, Implicit, Function)]),
    (TIMETZ, &[(TIME, Assignment, Function), (TIMETZ, Implicit, Function)]),
    (
        BIT,
        &[
            (INT8, Explicit, Function),
            (INT4, Explicit, Function),
            (BIT, Implicit, Function),
            (VARBIT, Implicit, Relabel),
        ],
    ),
    (VARBIT, &[(BIT, Implicit, Relabel), (VARBIT, Implicit, Function)]),
    (
        NUMERIC,
        &[
            (INT8, Assignment, Function),
            (INT2, Assignment, Function),
            (INT4, Assignment, Function),
            (FLOAT4, Implicit, Function),
            (FLOAT8, Implicit, Function),
            (NUMERIC, Implicit, Function),
        ],
    ),
    (
        REGCLASS,
        &[(INT8, Assignment, Function), (INT4, Assignment, Relabel), (OID, Implicit, Relabel)],
    ),
    (
        REGTYPE,
        &[(INT8, Assignment, Function), (INT4, Assignment, Relabel), (OID, Implicit, Relabel)],
    ),
    (
        JSONB,
        &[
            (BOOL, Explicit, Function),
            (INT8, Explicit, Function),
            (INT2, Explicit, Function),
            (INT4, Explicit, Function),
            (JSON, Assignment, ByText),
            (FLOAT4, Explicit, Function),
            (FLOAT8, Explicit, Function),
            (NUMERIC, Explicit, Function),
        ],
    ),
];

/// Returns the casts of a type.
pub(super) fn casts_from(source: TypeId) -> &'static [Row] {
    CASTS.iter().find(|(known, _)| *known == source).map_or(&[], |(_, casts)| casts)
}

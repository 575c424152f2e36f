//! Types by their names, for tables of signatures.

#![allow(missing_docs)]

use super::{BaseType, TypeId};

macro_rules! scalars {
    ($($name:ident $base:ident)*) => { $(pub const $name: TypeId = TypeId::scalar(BaseType::$base);)* };
}

macro_rules! arrays {
    ($($name:ident $base:ident)*) => { $(pub const $name: TypeId = TypeId::array(BaseType::$base);)* };
}

scalars! {
    BOOL Bool BYTEA Bytea CHAR Char NAME Name INT8 Int8 INT2 Int2 INT4 Int4 TEXT Text OID Oid JSON Json FLOAT4 Float4
    FLOAT8 Float8 BPCHAR Bpchar VARCHAR Varchar DATE Date TIME Time TIMESTAMP Timestamp TIMESTAMPTZ Timestamptz
    INTERVAL Interval TIMETZ Timetz BIT Bit VARBIT Varbit NUMERIC Numeric REGPROC Regproc REGCLASS Regclass
    REGTYPE Regtype UUID Uuid JSONB Jsonb JSONPATH Jsonpath RECORD Record VOID Void UNKNOWN Unknown ANY Any ANYARRAY AnyArray
    ANYELEMENT AnyElement ANYNONARRAY AnyNonArray ANYENUM AnyEnum ANYCOMPATIBLE AnyCompatible
    ANYCOMPATIBLEARRAY AnyCompatibleArray ANYCOMPATIBLENONARRAY AnyCompatibleNonArray
}

arrays! {
    BOOL_ARRAY Bool NAME_ARRAY Name INT2_ARRAY Int2 INT4_ARRAY Int4 INT8_ARRAY Int8 TEXT_ARRAY Text OID_ARRAY Oid
    FLOAT4_ARRAY Float4 FLOAT8_ARRAY Float8 VARCHAR_ARRAY Varchar NUMERIC_ARRAY Numeric INTERVAL_ARRAY Interval
    RECORD_ARRAY Record JSON_ARRAY Json JSONB_ARRAY Jsonb
}

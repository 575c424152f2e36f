//! Functions behind operators, as `pg_proc` calls them.

use super::{Operator, operators_named};
use crate::types::TypeId;
use crate::types::constants::*;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Functions of the operators between two types: a name and an operator for each.
struct Named {
    left: Option<TypeId>,
    right: TypeId,
    names: &'static [(&'static str, &'static str)],
}

const fn infix(
    left: TypeId,
    right: TypeId,
    names: &'static [(&'static str, &'static str)],
) -> Named {
    Named { left: Some(left), right, names }
}

const fn prefix(right: TypeId, names: &'static [(&'static str, &'static str)]) -> Named {
    Named { left: None, right, names }
}

/// Returns the operators whose function has a name.
#[must_use]
pub fn operators_of_function(name: &str) -> &'static [&'static Operator] {
    OPERATORS.get(name).map_or(&[], Vec::as_slice)
}

type ByFunction = HashMap<&'static str, Vec<&'static Operator>>;

static OPERATORS: LazyLock<ByFunction> = LazyLock::new(|| {
    let mut all = ByFunction::new();
    for Named { left, right, names } in NAMED {
        for (function, operator) in *names {
            let known = operators_named(operator, left.is_none()).iter();
            let known = known.filter(|known| known.left == *left && known.right == *right);
            all.entry(function).or_default().extend(known);
        }
    }
    all
});

#[rustfmt::skip]
const NAMED: &[Named] = &[
    prefix(BIT, &[
        ("bitnot", "~"),
    ]),
    prefix(FLOAT4, &[
        ("float4abs", "@"), ("float4um", "-"), ("float4up", "+"),
    ]),
    prefix(FLOAT8, &[
        ("dcbrt", "||/"), ("dsqrt", "|/"), ("float8abs", "@"), ("float8um", "-"), ("float8up", "+"),
    ]),
    prefix(INT2, &[
        ("int2abs", "@"), ("int2not", "~"), ("int2um", "-"), ("int2up", "+"),
    ]),
    prefix(INT4, &[
        ("int4abs", "@"), ("int4not", "~"), ("int4um", "-"), ("int4up", "+"),
    ]),
    prefix(INT8, &[
        ("int8abs", "@"), ("int8not", "~"), ("int8um", "-"), ("int8up", "+"),
    ]),
    prefix(INTERVAL, &[
        ("interval_um", "-"),
    ]),
    prefix(NUMERIC, &[
        ("numeric_abs", "@"), ("numeric_uminus", "-"), ("numeric_uplus", "+"),
    ]),
    infix(ANYARRAY, ANYARRAY, &[
        ("array_eq", "="), ("array_ge", ">="), ("array_gt", ">"), ("array_le", "<="), ("array_lt", "<"),
        ("array_ne", "<>"), ("arraycontained", "<@"), ("arraycontains", "@>"), ("arrayoverlap", "&&"),
    ]),
    infix(ANYENUM, ANYENUM, &[
        ("enum_eq", "="), ("enum_ge", ">="), ("enum_gt", ">"), ("enum_le", "<="), ("enum_lt", "<"),
        ("enum_ne", "<>"),
    ]),
    infix(ANYNONARRAY, TEXT, &[
        ("anytextcat", "||"),
    ]),
    infix(BIT, BIT, &[
        ("bitand", "&"), ("biteq", "="), ("bitge", ">="), ("bitgt", ">"), ("bitle", "<="), ("bitlt", "<"),
        ("bitne", "<>"), ("bitor", "|"), ("bitxor", "#"),
    ]),
    infix(BIT, INT4, &[
        ("bitshiftleft", "<<"), ("bitshiftright", ">>"),
    ]),
    infix(BOOL, BOOL, &[
        ("booleq", "="), ("boolge", ">="), ("boolgt", ">"), ("boolle", "<="), ("boollt", "<"), ("boolne", "<>"),
    ]),
    infix(BPCHAR, BPCHAR, &[
        ("bpchar_pattern_ge", "~>=~"), ("bpchar_pattern_gt", "~>~"), ("bpchar_pattern_le", "~<=~"),
        ("bpchar_pattern_lt", "~<~"), ("bpchareq", "="), ("bpcharge", ">="), ("bpchargt", ">"),
        ("bpcharle", "<="), ("bpcharlt", "<"), ("bpcharne", "<>"),
    ]),
    infix(BPCHAR, TEXT, &[
        ("bpchariclike", "~~*"), ("bpcharicnlike", "!~~*"), ("bpcharicregexeq", "~*"),
        ("bpcharicregexne", "!~*"), ("bpcharlike", "~~"), ("bpcharnlike", "!~~"), ("bpcharregexeq", "~"),
        ("bpcharregexne", "!~"),
    ]),
    infix(BYTEA, BYTEA, &[
        ("byteacat", "||"), ("byteaeq", "="), ("byteage", ">="), ("byteagt", ">"), ("byteale", "<="),
        ("bytealike", "~~"), ("bytealt", "<"), ("byteane", "<>"), ("byteanlike", "!~~"),
    ]),
    infix(CHAR, CHAR, &[
        ("chareq", "="), ("charge", ">="), ("chargt", ">"), ("charle", "<="), ("charlt", "<"), ("charne", "<>"),
    ]),
    infix(DATE, DATE, &[
        ("date_eq", "="), ("date_ge", ">="), ("date_gt", ">"), ("date_le", "<="), ("date_lt", "<"),
        ("date_mi", "-"), ("date_ne", "<>"),
    ]),
    infix(DATE, INT4, &[
        ("date_mii", "-"), ("date_pli", "+"),
    ]),
    infix(DATE, INTERVAL, &[
        ("date_mi_interval", "-"), ("date_pl_interval", "+"),
    ]),
    infix(DATE, TIME, &[
        ("datetime_pl", "+"),
    ]),
    infix(DATE, TIMESTAMP, &[
        ("date_eq_timestamp", "="), ("date_ge_timestamp", ">="), ("date_gt_timestamp", ">"),
        ("date_le_timestamp", "<="), ("date_lt_timestamp", "<"), ("date_ne_timestamp", "<>"),
    ]),
    infix(DATE, TIMESTAMPTZ, &[
        ("date_eq_timestamptz", "="), ("date_ge_timestamptz", ">="), ("date_gt_timestamptz", ">"),
        ("date_le_timestamptz", "<="), ("date_lt_timestamptz", "<"), ("date_ne_timestamptz", "<>"),
    ]),
    infix(DATE, TIMETZ, &[
        ("datetimetz_pl", "+"),
    ]),
    infix(FLOAT4, FLOAT4, &[
        ("float4div", "/"), ("float4eq", "="), ("float4ge", ">="), ("float4gt", ">"), ("float4le", "<="),
        ("float4lt", "<"), ("float4mi", "-"), ("float4mul", "*"), ("float4ne", "<>"), ("float4pl", "+"),
    ]),
    infix(FLOAT4, FLOAT8, &[
        ("float48div", "/"), ("float48eq", "="), ("float48ge", ">="), ("float48gt", ">"), ("float48le", "<="),
        ("float48lt", "<"), ("float48mi", "-"), ("float48mul", "*"), ("float48ne", "<>"), ("float48pl", "+"),
    ]),
    infix(FLOAT8, FLOAT4, &[
        ("float84div", "/"), ("float84eq", "="), ("float84ge", ">="), ("float84gt", ">"), ("float84le", "<="),
        ("float84lt", "<"), ("float84mi", "-"), ("float84mul", "*"), ("float84ne", "<>"), ("float84pl", "+"),
    ]),
    infix(FLOAT8, FLOAT8, &[
        ("dpow", "^"), ("float8div", "/"), ("float8eq", "="), ("float8ge", ">="), ("float8gt", ">"),
        ("float8le", "<="), ("float8lt", "<"), ("float8mi", "-"), ("float8mul", "*"), ("float8ne", "<>"),
        ("float8pl", "+"),
    ]),
    infix(FLOAT8, INTERVAL, &[
        ("mul_d_interval", "*"),
    ]),
    infix(INT2, INT2, &[
        ("int2and", "&"), ("int2div", "/"), ("int2eq", "="), ("int2ge", ">="), ("int2gt", ">"),
        ("int2le", "<="), ("int2lt", "<"), ("int2mi", "-"), ("int2mod", "%"), ("int2mul", "*"),
        ("int2ne", "<>"), ("int2or", "|"), ("int2pl", "+"), ("int2xor", "#"),
    ]),
    infix(INT2, INT4, &[
        ("int24div", "/"), ("int24eq", "="), ("int24ge", ">="), ("int24gt", ">"), ("int24le", "<="),
        ("int24lt", "<"), ("int24mi", "-"), ("int24mul", "*"), ("int24ne", "<>"), ("int24pl", "+"),
        ("int2shl", "<<"), ("int2shr", ">>"),
    ]),
    infix(INT2, INT8, &[
        ("int28div", "/"), ("int28eq", "="), ("int28ge", ">="), ("int28gt", ">"), ("int28le", "<="),
        ("int28lt", "<"), ("int28mi", "-"), ("int28mul", "*"), ("int28ne", "<>"), ("int28pl", "+"),
    ]),
    infix(INT4, DATE, &[
        ("integer_pl_date", "+"),
    ]),
    infix(INT4, INT2, &[
        ("int42div", "/"), ("int42eq", "="), ("int42ge", ">="), ("int42gt", ">"), ("int42le", "<="),
        ("int42lt", "<"), ("int42mi", "-"), ("int42mul", "*"), ("int42ne", "<>"), ("int42pl", "+"),
    ]),
    infix(INT4, INT4, &[
        ("int4and", "&"), ("int4div", "/"), ("int4eq", "="), ("int4ge", ">="), ("int4gt", ">"),
        ("int4le", "<="), ("int4lt", "<"), ("int4mi", "-"), ("int4mod", "%"), ("int4mul", "*"),
        ("int4ne", "<>"), ("int4or", "|"), ("int4pl", "+"), ("int4shl", "<<"), ("int4shr", ">>"),
        ("int4xor", "#"),
    ]),
    infix(INT4, INT8, &[
        ("int48div", "/"), ("int48eq", "="), ("int48ge", ">="), ("int48gt", ">"), ("int48le", "<="),
        ("int48lt", "<"), ("int48mi", "-"), ("int48mul", "*"), ("int48ne", "<>"), ("int48pl", "+"),
    ]),
    infix(INT8, INT2, &[
        ("int82div", "/"), ("int82eq", "="), ("int82ge", ">="), ("int82gt", ">"), ("int82le", "<="),
        ("int82lt", "<"), ("int82mi", "-"), ("int82mul", "*"), ("int82ne", "<>"), ("int82pl", "+"),
    ]),
    infix(INT8, INT4, &[
        ("int84div", "/"), ("int84eq", "="), ("int84ge", ">="), ("int84gt", ">"), ("int84le", "<="),
        ("int84lt", "<"), ("int84mi", "-"), ("int84mul", "*"), ("int84ne", "<>"), ("int84pl", "+"),
        ("int8shl", "<<"), ("int8shr", ">>"),
    ]),
    infix(INT8, INT8, &[
        ("int8and", "&"), ("int8div", "/"), ("int8eq", "="), ("int8ge", ">="), ("int8gt", ">"),
        ("int8le", "<="), ("int8lt", "<"), ("int8mi", "-"), ("int8mod", "%"), ("int8mul", "*"),
        ("int8ne", "<>"), ("int8or", "|"), ("int8pl", "+"), ("int8xor", "#"),
    ]),
    infix(INTERVAL, DATE, &[
        ("interval_pl_date", "+"),
    ]),
    infix(INTERVAL, FLOAT8, &[
        ("interval_div", "/"), ("interval_mul", "*"),
    ]),
    infix(INTERVAL, INTERVAL, &[
        ("interval_eq", "="), ("interval_ge", ">="), ("interval_gt", ">"), ("interval_le", "<="),
        ("interval_lt", "<"), ("interval_mi", "-"), ("interval_ne", "<>"), ("interval_pl", "+"),
    ]),
    infix(INTERVAL, TIME, &[
        ("interval_pl_time", "+"),
    ]),
    infix(INTERVAL, TIMESTAMP, &[
        ("interval_pl_timestamp", "+"),
    ]),
    infix(INTERVAL, TIMESTAMPTZ, &[
        ("interval_pl_timestamptz", "+"),
    ]),
    infix(INTERVAL, TIMETZ, &[
        ("interval_pl_timetz", "+"),
    ]),
    infix(JSON, INT4, &[
        ("json_array_element", "->"), ("json_array_element_text", "->>"),
    ]),
    infix(JSON, TEXT, &[
        ("json_object_field", "->"), ("json_object_field_text", "->>"),
    ]),
    infix(JSONB, INT4, &[
        ("jsonb_array_element", "->"), ("jsonb_array_element_text", "->>"),
    ]),
    infix(JSONB, JSONB, &[
        ("jsonb_eq", "="), ("jsonb_ge", ">="), ("jsonb_gt", ">"), ("jsonb_le", "<="), ("jsonb_lt", "<"),
        ("jsonb_ne", "<>"),
    ]),
    infix(JSONB, JSONPATH, &[
        ("jsonb_path_exists_opr", "@?"), ("jsonb_path_match_opr", "@@"),
    ]),
    infix(JSONB, TEXT, &[
        ("jsonb_object_field", "->"), ("jsonb_object_field_text", "->>"),
    ]),
    infix(NAME, NAME, &[
        ("nameeq", "="), ("namege", ">="), ("namegt", ">"), ("namele", "<="), ("namelt", "<"), ("namene", "<>"),
    ]),
    infix(NAME, TEXT, &[
        ("nameeqtext", "="), ("namegetext", ">="), ("namegttext", ">"), ("nameiclike", "~~*"),
        ("nameicnlike", "!~~*"), ("nameicregexeq", "~*"), ("nameicregexne", "!~*"), ("nameletext", "<="),
        ("namelike", "~~"), ("namelttext", "<"), ("namenetext", "<>"), ("namenlike", "!~~"),
        ("nameregexeq", "~"), ("nameregexne", "!~"),
    ]),
    infix(NUMERIC, NUMERIC, &[
        ("numeric_add", "+"), ("numeric_div", "/"), ("numeric_eq", "="), ("numeric_ge", ">="),
        ("numeric_gt", ">"), ("numeric_le", "<="), ("numeric_lt", "<"), ("numeric_mod", "%"),
        ("numeric_mul", "*"), ("numeric_ne", "<>"), ("numeric_power", "^"), ("numeric_sub", "-"),
    ]),
    infix(OID, OID, &[
        ("oideq", "="), ("oidge", ">="), ("oidgt", ">"), ("oidle", "<="), ("oidlt", "<"), ("oidne", "<>"),
    ]),
    infix(RECORD, RECORD, &[
        ("record_eq", "="), ("record_ge", ">="), ("record_gt", ">"), ("record_image_eq", "*="),
        ("record_image_ge", "*>="), ("record_image_gt", "*>"), ("record_image_le", "*<="),
        ("record_image_lt", "*<"), ("record_image_ne", "*<>"), ("record_le", "<="), ("record_lt", "<"),
        ("record_ne", "<>"),
    ]),
    infix(TEXT, ANYNONARRAY, &[
        ("textanycat", "||"),
    ]),
    infix(TEXT, NAME, &[
        ("texteqname", "="), ("textgename", ">="), ("textgtname", ">"), ("textlename", "<="),
        ("textltname", "<"), ("textnename", "<>"),
    ]),
    infix(TEXT, TEXT, &[
        ("text_ge", ">="), ("text_gt", ">"), ("text_le", "<="), ("text_lt", "<"), ("text_pattern_ge", "~>=~"),
        ("text_pattern_gt", "~>~"), ("text_pattern_le", "~<=~"), ("text_pattern_lt", "~<~"), ("textcat", "||"),
        ("texteq", "="), ("texticlike", "~~*"), ("texticnlike", "!~~*"), ("texticregexeq", "~*"),
        ("texticregexne", "!~*"), ("textlike", "~~"), ("textne", "<>"), ("textnlike", "!~~"),
        ("textregexeq", "~"), ("textregexne", "!~"),
    ]),
    infix(TIME, DATE, &[
        ("timedate_pl", "+"),
    ]),
    infix(TIME, INTERVAL, &[
        ("time_mi_interval", "-"), ("time_pl_interval", "+"),
    ]),
    infix(TIME, TIME, &[
        ("time_eq", "="), ("time_ge", ">="), ("time_gt", ">"), ("time_le", "<="), ("time_lt", "<"),
        ("time_mi_time", "-"), ("time_ne", "<>"),
    ]),
    infix(TIMESTAMP, DATE, &[
        ("timestamp_eq_date", "="), ("timestamp_ge_date", ">="), ("timestamp_gt_date", ">"),
        ("timestamp_le_date", "<="), ("timestamp_lt_date", "<"), ("timestamp_ne_date", "<>"),
    ]),
    infix(TIMESTAMP, INTERVAL, &[
        ("timestamp_mi_interval", "-"), ("timestamp_pl_interval", "+"),
    ]),
    infix(TIMESTAMP, TIMESTAMP, &[
        ("timestamp_eq", "="), ("timestamp_ge", ">="), ("timestamp_gt", ">"), ("timestamp_le", "<="),
        ("timestamp_lt", "<"), ("timestamp_mi", "-"), ("timestamp_ne", "<>"),
    ]),
    infix(TIMESTAMP, TIMESTAMPTZ, &[
        ("timestamp_eq_timestamptz", "="), ("timestamp_ge_timestamptz", ">="),
        ("timestamp_gt_timestamptz", ">"), ("timestamp_le_timestamptz", "<="),
        ("timestamp_lt_timestamptz", "<"), ("timestamp_ne_timestamptz", "<>"),
    ]),
    infix(TIMESTAMPTZ, DATE, &[
        ("timestamptz_eq_date", "="), ("timestamptz_ge_date", ">="), ("timestamptz_gt_date", ">"),
        ("timestamptz_le_date", "<="), ("timestamptz_lt_date", "<"), ("timestamptz_ne_date", "<>"),
    ]),
    infix(TIMESTAMPTZ, INTERVAL, &[
        ("timestamptz_mi_interval", "-"), ("timestamptz_pl_interval", "+"),
    ]),
    infix(TIMESTAMPTZ, TIMESTAMP, &[
        ("timestamptz_eq_timestamp", "="), ("timestamptz_ge_timestamp", ">="),
        ("timestamptz_gt_timestamp", ">"), ("timestamptz_le_timestamp", "<="),
        ("timestamptz_lt_timestamp", "<"), ("timestamptz_ne_timestamp", "<>"),
    ]),
    infix(TIMESTAMPTZ, TIMESTAMPTZ, &[
        ("timestamptz_eq", "="), ("timestamptz_ge", ">="), ("timestamptz_gt", ">"), ("timestamptz_le", "<="),
        ("timestamptz_lt", "<"), ("timestamptz_mi", "-"), ("timestamptz_ne", "<>"),
    ]),
    infix(TIMETZ, DATE, &[
        ("timetzdate_pl", "+"),
    ]),
    infix(TIMETZ, INTERVAL, &[
        ("timetz_mi_interval", "-"), ("timetz_pl_interval", "+"),
    ]),
    infix(TIMETZ, TIMETZ, &[
        ("timetz_eq", "="), ("timetz_ge", ">="), ("timetz_gt", ">"), ("timetz_le", "<="), ("timetz_lt", "<"),
        ("timetz_ne", "<>"),
    ]),
    infix(UUID, UUID, &[
        ("uuid_eq", "="), ("uuid_ge", ">="), ("uuid_gt", ">"), ("uuid_le", "<="), ("uuid_lt", "<"),
        ("uuid_ne", "<>"),
    ]),
    infix(VARBIT, VARBIT, &[
        ("bitcat", "||"), ("varbiteq", "="), ("varbitge", ">="), ("varbitgt", ">"), ("varbitle", "<="),
        ("varbitlt", "<"), ("varbitne", "<>"),
    ]),
];

//! Types as the catalog has them, and the types of columns among them.

use super::build::{Cell, Rows};
use super::enums::enum_number;
use super::oids;
use gadus_engine::{
    Characters, ColumnType, Error, ErrorKind, Nested, NumericDigits, Result, Snapshot,
    schema_and_name,
};

/// A type: number, name, bytes or -1, category, number of its array, what SQL calls it.
pub(super) struct Type {
    pub(super) oid: i64,
    pub(super) name: &'static str,
    pub(super) size: i64,
    category: &'static str,
    array: i64,
    pub(super) title: &'static str,
}

const fn of(
    oid: i64,
    name: &'static str,
    size: i64,
    category: &'static str,
    array: i64,
    title: &'static str,
) -> Type {
    Type { oid, name, size, category, array, title }
}

/// What the catalog says that a label takes, as which PostgreSQL keeps its number.
const ENUM_BYTES: i64 = 4;

/// Types of columns and of the catalog itself.
pub(super) const TYPES: &[Type] = &[
    of(16, "bool", 1, "B", 1000, "boolean"),
    of(17, "bytea", -1, "U", 1001, "bytea"),
    of(18, "char", 1, "Z", 1002, "\"char\""),
    of(19, "name", 64, "S", 1003, "name"),
    of(20, "int8", 8, "N", 1016, "bigint"),
    of(21, "int2", 2, "N", 1005, "smallint"),
    of(22, "int2vector", -1, "A", 1006, "int2vector"),
    of(23, "int4", 4, "N", 1007, "integer"),
    of(25, "text", -1, "S", 1009, "text"),
    of(26, "oid", 4, "N", 1028, "oid"),
    of(30, "oidvector", -1, "A", 1013, "oidvector"),
    of(114, "json", -1, "U", 199, "json"),
    of(700, "float4", 4, "N", 1021, "real"),
    of(701, "float8", 8, "N", 1022, "double precision"),
    of(705, "unknown", -2, "X", 0, "unknown"),
    of(1042, "bpchar", -1, "S", 1014, "character"),
    of(1043, "varchar", -1, "S", 1015, "character varying"),
    of(1082, "date", 4, "D", 1182, "date"),
    of(1083, "time", 8, "D", 1183, "time without time zone"),
    of(1114, "timestamp", 8, "D", 1115, "timestamp without time zone"),
    of(1184, "timestamptz", 8, "D", 1185, "timestamp with time zone"),
    of(1186, "interval", 16, "T", 1187, "interval"),
    of(1700, "numeric", -1, "N", 1231, "numeric"),
    of(2205, "regclass", 4, "N", 2210, "regclass"),
    of(2206, "regtype", 4, "N", 2211, "regtype"),
    of(2950, "uuid", 16, "U", 2951, "uuid"),
    of(3802, "jsonb", -1, "U", 3807, "jsonb"),
];

/// The type that values of a column are sent as.
pub(super) struct OfColumn {
    pub(super) oid: i64,
    /// Of the values, or of a list's elements.
    pub(super) name: &'static str,
    pub(super) size: i64,
    /// Precision and scale as they are packed.
    pub(super) modifier: i64,
    /// Whether it is a list.
    pub(super) is_list: bool,
}

/// The type that values of a column are sent as. Structures and maps are JSON; arrays have one type, whatever their
/// dimensions.
pub(super) fn of_column(column: ColumnType) -> OfColumn {
    if let ColumnType::Nested(Nested::List(element)) = column {
        let mut element = *element;
        while let ColumnType::Nested(Nested::List(inner)) = element {
            element = *inner;
        }
        let (known, modifier) = of_value(element);
        let Type { array: oid, name, .. } = *known;
        return OfColumn { oid, name, size: -1, modifier, is_list: true };
    }
    if let ColumnType::Enum(of) = column {
        let name = schema_and_name(of.name()).1;
        let oid = enum_number(of).into();
        return OfColumn { oid, name, size: ENUM_BYTES, modifier: -1, is_list: false };
    }
    let (known, modifier) = of_value(column);
    let Type { oid, name, size, .. } = *known;
    OfColumn { oid, name, size, modifier, is_list: false }
}

fn of_value(column: ColumnType) -> (&'static Type, i64) {
    let (name, modifier) = match column {
        ColumnType::Boolean => ("bool", -1),
        ColumnType::Int8 | ColumnType::Int16 | ColumnType::UInt8 => ("int2", -1),
        ColumnType::Int32 | ColumnType::UInt16 => ("int4", -1),
        ColumnType::Int64 | ColumnType::UInt32 => ("int8", -1),
        ColumnType::UInt64 => ("numeric", packed(20, 0)),
        ColumnType::Float32 => ("float4", -1),
        ColumnType::Float64 => ("float8", -1),
        ColumnType::Decimal { precision, scale } => ("numeric", packed(precision, scale)),
        ColumnType::Numeric(None) => ("numeric", -1),
        ColumnType::Numeric(Some(NumericDigits { precision, scale })) => {
            ("numeric", (i64::from(precision) << 16) + i64::from(scale.cast_unsigned() & 0x7FF) + 4)
        }
        ColumnType::Text | ColumnType::Nested(Nested::List(_)) => ("text", -1),
        ColumnType::Characters(of) => match of {
            Characters::Varchar(length) => ("varchar", i64::from(length) + 4),
            Characters::Char(length) => ("bpchar", i64::from(length) + 4),
            Characters::Name => ("name", -1),
            Characters::Byte => ("char", -1),
        },
        ColumnType::Binary => ("bytea", -1),
        ColumnType::Date => ("date", -1),
        ColumnType::Time => ("time", -1),
        ColumnType::Timestamp => ("timestamp", -1),
        ColumnType::TimestampUtc => ("timestamptz", -1),
        ColumnType::Uuid => ("uuid", -1),
        ColumnType::Interval => ("interval", -1),
        ColumnType::Json | ColumnType::Nested(_) => ("json", -1),
        ColumnType::Jsonb => ("jsonb", -1),
        // Of which there are no lists.
        ColumnType::Enum(_) => ("text", -1),
    };
    (named(name).unwrap_or(&TYPES[0]), modifier)
}

fn packed(precision: u8, scale: i8) -> i64 {
    (i64::from(precision) << 16) + i64::from(scale) + 4
}

/// The type of a name, as SQL or the catalog has it.
pub(super) fn named(name: &str) -> Option<&'static Type> {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
    let name = match name {
        "int" => "int4",
        "decimal" => "numeric",
        "float" => "float8",
        "timestamp with time zone" => "timestamptz",
        other => other,
    };
    TYPES.iter().find(|known| known.name == name || known.title == name)
}

/// The number of a type or of a list of it, by any of its names; a number is its own.
pub(super) fn find(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(oid) = text.parse() {
        return Some(oid);
    }
    let list_of = |element: &str| named(element).map(|known| known.array).filter(|oid| *oid > 0);
    // What stands in parentheses is of the column, not of the type.
    let plain = match text.split_once('(').zip(text.rsplit_once(')')) {
        Some(((before, _), (_, behind))) => format!("{}{behind}", before.trim_end()),
        None => text.to_owned(),
    };
    let is_known = named(&plain).is_some();
    let plain = if is_known { plain } else { plain.replace('"', "") };
    if let Some(element) = plain.strip_suffix("[]") {
        return list_of(element.trim_end());
    }
    let bare = plain.strip_prefix("pg_catalog.").unwrap_or(&plain);
    named(bare).map(|known| known.oid).or_else(|| bare.strip_prefix('_').and_then(list_of))
}

/// The same for a name that somebody relies on.
///
/// # Errors
/// `NotFound`.
pub(super) fn number_of(snapshot: &Snapshot, text: &str) -> Result<i64> {
    if text.trim() == "-" {
        return Ok(0);
    }
    let unknown = || Error::new(ErrorKind::NotFound, format!("type \"{text}\" does not exist"));
    let made = || super::enums::find(snapshot, text);
    find(text).or_else(made).ok_or_else(unknown)
}

/// What SQL calls a type with its precision and scale.
pub(super) fn title(snapshot: &Snapshot, oid: i64, modifier: Option<i64>) -> String {
    if let Some(element) = TYPES.iter().find(|known| known.array == oid && oid != 0) {
        return format!("{}[]", title(snapshot, element.oid, modifier));
    }
    let Some(known) = TYPES.iter().find(|known| known.oid == oid) else {
        let other = if oid == 0 { "-" } else { "???" };
        return super::enums::title(snapshot, oid).unwrap_or_else(|| other.to_owned());
    };
    match modifier.filter(|modifier| *modifier >= 4) {
        Some(modifier) if known.name == "numeric" => {
            let modifier = modifier - 4;
            format!("numeric({},{})", modifier >> 16, modifier & 0x7ff)
        }
        Some(modifier) if matches!(known.name, "varchar" | "bpchar") => {
            format!("{}({})", known.title, modifier - 4)
        }
        _ => known.title.to_owned(),
    }
}

/// The rows of `pg_type`.
pub(super) fn rows(snapshot: &Snapshot) -> Rows {
    let mut rows = super::enums::types(snapshot);
    for known in TYPES {
        let Type { oid, name, size, category, array, .. } = *known;
        let element = match name {
            "int2vector" => 21,
            "oidvector" => 26,
            _ => 0,
        };
        rows.push(row(oid, name, size, "b", category, element, array));
        if array > 0 && name != "unknown" {
            rows.push(row(array, &format!("_{name}"), -1, "b", "A", oid, 0));
        }
    }
    rows
}

/// The row of an enumeration in a schema.
pub(super) fn row_of_enum(oid: i64, name: &'static str, schema: i64) -> Vec<(&'static str, Cell)> {
    let own = [("typnamespace", schema), ("typcollation", 0)];
    let mut row = row(oid, name, ENUM_BYTES, "e", "E", 0, 0);
    row.retain(|(column, _)| !own.iter().any(|(known, _)| known == column));
    row.extend(own.map(|(column, value)| (column, value.into())));
    for (column, value) in &mut row {
        let of_all = match *column {
            "typinput" => "enum_in",
            "typoutput" => "enum_out",
            "typreceive" => "enum_recv",
            "typsend" => "enum_send",
            _ => continue,
        };
        *value = of_all.into();
    }
    row
}

fn row(
    oid: i64,
    name: &str,
    size: i64,
    kind: &str,
    category: &str,
    element: i64,
    array: i64,
) -> Vec<(&'static str, Cell)> {
    // Lists of texts have the collation of texts.
    let of = name.strip_prefix('_').and_then(named).map_or(category, |element| element.category);
    let is_of_text = of == "S";
    vec![
        ("oid", oid.into()),
        ("typname", name.into()),
        ("typnamespace", oids::CATALOG_SCHEMA.into()),
        ("typowner", oids::OWNER.into()),
        ("typlen", size.into()),
        ("typbyval", (1..=8).contains(&size).into()),
        ("typtype", kind.into()),
        ("typcategory", category.into()),
        ("typispreferred", false.into()),
        ("typisdefined", true.into()),
        ("typdelim", ",".into()),
        ("typrelid", 0.into()),
        ("typelem", element.into()),
        ("typarray", array.into()),
        ("typinput", format!("{name}in").into()),
        ("typoutput", format!("{name}out").into()),
        ("typreceive", format!("{name}recv").into()),
        ("typsend", format!("{name}send").into()),
        ("typnotnull", false.into()),
        ("typbasetype", 0.into()),
        ("typtypmod", (-1).into()),
        ("typndims", 0.into()),
        ("typcollation", (if is_of_text { 100 } else { 0 }).into()),
    ]
}

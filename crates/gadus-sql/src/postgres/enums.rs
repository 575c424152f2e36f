//! Enumerations in the catalog.
//!
//! - The number of a type is made of its name: it is the same in all sessions for as long as the type has the name, and a
//!   field that tells of the type tells its number. Two names that have the same number are not both given.

use super::build::Rows;
use super::{oids, parts_of_name, quoted, types};
use crate::names::kept;
use gadus_base::checksum;
use gadus_engine::{Enum, Snapshot, schema_and_name};

/// The first number, beyond those of PostgreSQL's own types, and how many there are: numbers have 32 bits, of which some
/// drivers take one for a sign.
const FIRST: u32 = 1 << 30;
const COUNT: u32 = (1 << 30) - 1;

/// The number of an enumeration in PostgreSQL's catalog.
#[must_use]
pub fn enum_number(of: &Enum) -> u32 {
    let place = checksum(0, of.name().as_bytes()) % u64::from(COUNT);
    FIRST + u32::try_from(place).unwrap_or(0)
}

fn number(of: &Enum) -> i64 {
    enum_number(of).into()
}

/// The rows of `pg_enum`.
pub(super) fn labels(snapshot: &Snapshot) -> Rows {
    let rows = |(type_place, of): (i64, &'static Enum)| {
        let label = move |(place, label): (i64, &'static String)| {
            vec![
                // Behind one another, in the order of the types.
                ("oid", (i64::from(FIRST) / 2 + type_place * 4_096 + place).into()),
                ("enumtypid", number(of).into()),
                ("enumsortorder", (place + 1).into()),
                ("enumlabel", label.as_str().into()),
            ]
        };
        (0..).zip(of.labels()).map(label)
    };
    (0..).zip(snapshot.enums()).flat_map(rows).collect()
}

/// The rows of `pg_type` for them.
pub(super) fn types(snapshot: &Snapshot) -> Rows {
    let row = |of: &'static Enum| {
        let home = oids::of_schema_of(snapshot, of.name());
        types::row_of_enum(number(of), schema_and_name(of.name()).1, home)
    };
    snapshot.enums().map(row).collect()
}

/// The number of the enumeration of a name, as statements write it.
pub(super) fn find(snapshot: &Snapshot, text: &str) -> Option<i64> {
    let parts = parts_of_name(text)?;
    let name = match parts.as_slice() {
        [name] => name.clone(),
        [schema, name] => kept(schema, name),
        _ => return None,
    };
    snapshot.find_enum(&name).map(number)
}

/// What SQL calls the enumeration of a number.
pub(super) fn title(snapshot: &Snapshot, oid: i64) -> Option<String> {
    by_number(snapshot, oid).map(|of| quoted(of.name()))
}

fn by_number(snapshot: &Snapshot, oid: i64) -> Option<&'static Enum> {
    snapshot.enums().find(|of| number(of) == oid)
}

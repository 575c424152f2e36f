//! Names of types.

use super::*;

#[test]
fn types_are_shown_as_postgresql_shows_them() {
    let shown = |id: TypeId, modifier| SqlType { id, modifier }.to_string();
    assert_eq!(shown(constants::INT4, Modifier::None), "integer");
    assert_eq!(shown(constants::TEXT_ARRAY, Modifier::None), "text[]");
    assert_eq!(shown(constants::VARCHAR, Modifier::Length(3)), "character varying(3)");
    let numeric = Modifier::Numeric { precision: 10, scale: -2 };
    assert_eq!(shown(constants::NUMERIC, numeric), "numeric(10,-2)");
    assert_eq!(
        shown(constants::TIMESTAMPTZ, Modifier::Precision(3)),
        "timestamp(3) with time zone"
    );
}

#[test]
fn modifiers_have_the_numbers_of_the_wire() {
    assert_eq!(Modifier::None.code(false), -1);
    assert_eq!(Modifier::Length(3).code(false), 7);
    assert_eq!(Modifier::Length(3).code(true), 3);
    assert_eq!(Modifier::Numeric { precision: 10, scale: 2 }.code(false), 655_366);
    assert_eq!(Modifier::Precision(3).code(false), 3);
}

#[test]
fn object_identifiers_are_different() {
    let mut oids = BaseType::BUILT_IN.iter().map(|base| base.oids().0).collect::<Vec<_>>();
    oids.sort_unstable();
    let count = oids.len();
    oids.dedup();
    assert_eq!(oids.len(), count);
}

#[test]
fn arrays_are_named_by_an_underscore() {
    assert_eq!(type_of_plain_name("_int4"), Some(constants::INT4_ARRAY));
    assert_eq!(type_of_plain_name("blob"), Some(constants::BYTEA));
    assert_eq!(type_of_plain_name("mood"), None);
}

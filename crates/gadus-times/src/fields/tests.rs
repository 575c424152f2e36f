//! Fields of finite values and of infinities.

use super::value::Number;
use super::{Field, FieldValue};
use crate::settings::Settings;
use crate::values::{Interval, Timestamp, TimestampTz};

#[test]
fn fields_repeat_or_grow() {
    let infinity = Timestamp::INFINITY;
    assert_eq!(infinity.extract(&Field::new("YEAR")), Ok(Some(FieldValue::Infinity)));
    assert_eq!(infinity.extract(&Field::new("hour")), Ok(None));
    let error = infinity.extract(&Field::new("today")).unwrap_err();
    assert_eq!(
        error.message(),
        "unit \"today\" not supported for type timestamp without time zone"
    );
}

#[test]
fn names_have_synonyms() {
    let settings = Settings::new(TimestampTz(0));
    let value = TimestampTz::parse("2005-01-01 10:00:07.25+00", &settings).unwrap();
    let field = |name| value.date_part(&Field::new(name), &settings).unwrap();
    assert_eq!(
        [field("week"), field("isoyear"), field("sec")],
        [Some(53.0), Some(2004.0), Some(7.25)]
    );
    assert_eq!(
        value.extract(&Field::new("weeks"), &settings).unwrap(),
        Some(FieldValue::integer(53))
    );
}

#[test]
fn julian_days_have_sixteen_significant_digits_of_the_day() {
    let noon: FieldValue = Number::julian(2_451_545, 43_200_000_000);
    let unscaled = 24_515_455 * 10_i128.pow(19);
    assert_eq!(noon, FieldValue::Decimal { unscaled, scale: 20 });
}

#[test]
fn epochs_of_intervals_have_years_of_a_quarter_day_more() {
    let epoch = Interval::new(12, 0, 1).extract(&Field::new("epoch"));
    assert_eq!(epoch, Ok(FieldValue::Decimal { unscaled: 31_557_600_000_001, scale: 6 }));
}

#[test]
fn epochs_of_the_last_years_have_four_digits() {
    let settings = Settings::new(TimestampTz(0));
    let epoch = |text| {
        let value = Timestamp::parse(text, &settings).unwrap();
        value.extract(&Field::new("epoch")).unwrap()
    };
    let decimal = |unscaled| Some(FieldValue::Decimal { unscaled, scale: 6 });
    assert_eq!(epoch("294276-06-01 23:59:59.123456"), decimal(9_224_299_612_799_123_500));
    assert_eq!(epoch("294246-06-01 23:59:59.123456"), decimal(9_223_352_841_599_123_456));
}

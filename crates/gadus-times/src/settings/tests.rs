//! Texts of settings.

use super::{DateOrder, DateStyle, IntervalStyle, Settings};
use crate::values::TimestampTz;
use crate::zone::TimeZone;

#[test]
fn date_styles_name_a_style_or_an_order_or_both() {
    let mut settings = Settings::new(TimestampTz(0));
    settings.set_date_style("German").unwrap();
    assert_eq!((settings.date_style, settings.date_order), (DateStyle::German, DateOrder::Dmy));
    settings.set_date_style("ymd, sql").unwrap();
    assert_eq!(settings.date_style_text(), "SQL, YMD");
    let error = settings.set_date_style("ISO, SQL").unwrap_err();
    assert_eq!(error.detail(), Some("Conflicting \"datestyle\" specifications."));
    assert_eq!(settings.date_style_text(), "SQL, YMD");
}

#[test]
fn interval_styles_have_names() {
    assert_eq!("ISO_8601".parse(), Ok(IntervalStyle::Iso8601));
    assert_eq!("iso".parse::<IntervalStyle>().unwrap_err().sqlstate(), "22023");
}

#[test]
fn zones_are_set_by_name_or_by_hours() {
    let name = |text| TimeZone::setting(text).map(|zone| zone.name().to_owned());
    assert_eq!(name("-7").as_deref(), Ok("<-07>+07"));
    assert_eq!(name("5.5").as_deref(), Ok("<+05:30>-05:30"));
    assert_eq!(name("europe/berlin").as_deref(), Ok("Europe/Berlin"));
    assert_eq!(name("168").unwrap_err().sqlstate(), "22023");
}

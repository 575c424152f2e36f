//! Calls by name, with arguments and results as texts: those of the golden files.

use crate::call_values::{Answer, Arguments, bits, boolean, field, number, optional, ordering};
use gadus_times::{
    Date, Interval, IntervalModifier, Result, Settings, Time, TimeTz, TimeZone, Timestamp,
    TimestampTz, ZoneArgument, overlaps,
};

/// Returns the settings of a text such as `ISO, MDY|postgres|UTC`.
pub(crate) fn settings(text: &str, now: TimestampTz) -> Settings {
    let mut parts = text.split('|');
    let mut settings = Settings::new(now);
    settings.set_date_style(parts.next().unwrap()).unwrap();
    settings.interval_style = parts.next().unwrap().parse().unwrap();
    settings.time_zone = TimeZone::setting(parts.next().unwrap()).unwrap();
    settings
}

/// Returns the result of a call as PostgreSQL writes it.
pub(crate) fn call(function: &str, arguments: &[&str], settings: &Settings) -> String {
    let arguments = Arguments { texts: arguments, settings };
    let answer = texts(function, &arguments)
        .or_else(|| fields(function, &arguments))
        .or_else(|| sums(function, &arguments))
        .or_else(|| zoned_sums(function, &arguments))
        .or_else(|| intervals(function, &arguments))
        .or_else(|| conversions(function, &arguments))
        .or_else(|| zones(function, &arguments))
        .or_else(|| comparisons(function, &arguments))
        .or_else(|| makes(function, &arguments))
        .or_else(|| session(function, &arguments));
    match answer.unwrap_or_else(|| panic!("unknown function {function}")) {
        Ok(text) => text,
        Err(error) => {
            let hint = error.hint().map(|hint| format!(" HINT {hint}")).unwrap_or_default();
            let detail = error.detail().map(|text| format!(" DETAIL {text}")).unwrap_or_default();
            format!("ERROR {} {}{detail}{hint}", error.sqlstate(), error.message())
        }
    }
}

fn texts(function: &str, a: &Arguments) -> Option<Answer> {
    let text = a.texts[0];
    let s = a.settings;
    Some(match function {
        "in_date" => Date::parse(text, s).map(|value| value.to_text(s)),
        "in_timestamp" => Timestamp::parse(text, s).map(|value| value.to_text(s)),
        "in_timestamptz" => TimestampTz::parse(text, s).map(|value| value.to_text(s)),
        "in_time" => Time::parse(text, s).map(|value| value.to_text(s)),
        "in_timetz" => TimeTz::parse(text, s).map(|value| value.to_text(s)),
        "in_interval" => Interval::parse(text, None, s).map(|value| value.to_text(s)),
        "in_interval_modified" => IntervalModifier::from_packed(a.integer(1))
            .and_then(|modifier| Interval::parse(text, modifier, s))
            .map(|value| value.to_text(s)),
        "precision_timestamp" => {
            a.timestamp(0).map(|value| value.with_precision(a.digits(1)).to_text(s))
        }
        "precision_timestamptz" => {
            a.timestamptz(0).map(|value| value.with_precision(a.digits(1)).to_text(s))
        }
        "precision_time" => a.time(0).map(|value| value.with_precision(a.digits(1)).to_text(s)),
        "precision_timetz" => a.timetz(0).map(|value| value.with_precision(a.digits(1)).to_text(s)),
        _ => return None,
    })
}

fn fields(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    let name = &field(a.texts[0]);
    Some(match function {
        "extract_date" => a.date(1).and_then(|value| value.extract(name)).map(optional(number)),
        "extract_timestamp" => {
            a.timestamp(1).and_then(|value| value.extract(name)).map(optional(number))
        }
        "extract_timestamptz" => {
            a.timestamptz(1).and_then(|value| value.extract(name, s)).map(optional(number))
        }
        "extract_time" => a.time(1).and_then(|value| value.extract(name)).map(number),
        "extract_timetz" => a.timetz(1).and_then(|value| value.extract(name)).map(number),
        "extract_interval" => a.interval(1).and_then(|value| value.extract(name)).map(number),
        "part_date" => a.date(1).and_then(|value| value.date_part(name)).map(optional(bits)),
        "part_timestamp" => {
            a.timestamp(1).and_then(|value| value.date_part(name)).map(optional(bits))
        }
        "part_timestamptz" => {
            a.timestamptz(1).and_then(|value| value.date_part(name, s)).map(optional(bits))
        }
        "part_time" => a.time(1).and_then(|value| value.date_part(name)).map(bits),
        "part_timetz" => a.timetz(1).and_then(|value| value.date_part(name)).map(bits),
        "part_interval" => a.interval(1).and_then(|value| value.date_part(name)).map(bits),
        "trunc_timestamp" => {
            a.timestamp(1).and_then(|value| value.truncate(name)).map(|value| value.to_text(s))
        }
        "trunc_timestamptz" => {
            a.timestamptz(1).and_then(|value| value.truncate(name, s)).map(|value| value.to_text(s))
        }
        "trunc_interval" => {
            a.interval(1).and_then(|value| value.truncate(name)).map(|value| value.to_text(s))
        }
        "trunc_zone" => a.timestamptz(1).and_then(|value| {
            if !value.is_finite() {
                return Ok(value.to_text(s));
            }
            let zone = ZoneArgument::parse(a.texts[2])?;
            Ok(value.truncate_in_zone(name, &zone)?.to_text(s))
        }),
        _ => return None,
    })
}

fn sums(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    Some(match function {
        "date_plus_days" => {
            a.date(0).and_then(|date| date.add_days(a.integer(1))).map(|date| date.to_text(s))
        }
        "date_minus_days" => {
            a.date(0).and_then(|date| date.subtract_days(a.integer(1))).map(|date| date.to_text(s))
        }
        "date_minus_date" => {
            a.date(0).and_then(|date| date.subtract(a.date(1)?)).map(|days| days.to_string())
        }
        "date_plus_interval" => a
            .date(0)
            .and_then(|date| date.add_interval(a.interval(1)?))
            .map(|value| value.to_text(s)),
        "date_minus_interval" => a
            .date(0)
            .and_then(|date| date.subtract_interval(a.interval(1)?))
            .map(|value| value.to_text(s)),
        "timestamp_plus_interval" => a
            .timestamp(0)
            .and_then(|value| value.add_interval(a.interval(1)?))
            .map(|value| value.to_text(s)),
        "timestamp_minus_interval" => a
            .timestamp(0)
            .and_then(|value| value.subtract_interval(a.interval(1)?))
            .map(|value| value.to_text(s)),
        "timestamp_minus" => a
            .timestamp(0)
            .and_then(|value| value.subtract(a.timestamp(1)?))
            .map(|value| value.to_text(s)),
        "time_plus_interval" => {
            a.time(0).and_then(|value| Ok(value.add_interval(a.interval(1)?).to_text(s)))
        }
        "time_minus_interval" => {
            a.time(0).and_then(|value| Ok(value.subtract_interval(a.interval(1)?).to_text(s)))
        }
        "time_minus" => a.time(0).and_then(|value| Ok(value.subtract(a.time(1)?).to_text(s))),
        "timetz_plus_interval" => {
            a.timetz(0).and_then(|value| Ok(value.add_interval(a.interval(1)?).to_text(s)))
        }
        "timetz_minus_interval" => {
            a.timetz(0).and_then(|value| Ok(value.subtract_interval(a.interval(1)?).to_text(s)))
        }
        "age_timestamp" => a
            .timestamp(0)
            .and_then(|value| value.age(a.timestamp(1)?))
            .map(|value| value.to_text(s)),
        "age_now_timestamp" => {
            a.timestamp(0).and_then(|value| value.age_now(s)).map(|value| value.to_text(s))
        }
        "bin_timestamp" => a
            .interval(0)
            .and_then(|stride| a.timestamp(1)?.bin(stride, a.timestamp(2)?))
            .map(|value| value.to_text(s)),
        _ => return None,
    })
}

fn zoned_sums(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    Some(match function {
        "timestamptz_plus_interval" => a
            .timestamptz(0)
            .and_then(|value| value.add_interval(a.interval(1)?, s))
            .map(|value| value.to_text(s)),
        "timestamptz_minus_interval" => a
            .timestamptz(0)
            .and_then(|value| value.subtract_interval(a.interval(1)?, s))
            .map(|value| value.to_text(s)),
        "timestamptz_minus" => a
            .timestamptz(0)
            .and_then(|value| value.subtract(a.timestamptz(1)?))
            .map(|value| value.to_text(s)),
        "age_timestamptz" => a
            .timestamptz(0)
            .and_then(|value| value.age(a.timestamptz(1)?, s))
            .map(|value| value.to_text(s)),
        "age_now_timestamptz" => {
            a.timestamptz(0).and_then(|value| value.age_now(s)).map(|value| value.to_text(s))
        }
        "bin_timestamptz" => a
            .interval(0)
            .and_then(|stride| a.timestamptz(1)?.bin(stride, a.timestamptz(2)?))
            .map(|value| value.to_text(s)),
        _ => return None,
    })
}

fn intervals(function: &str, a: &Arguments) -> Option<Answer> {
    let text = |value: Interval| value.to_text(a.settings);
    Some(match function {
        "interval_plus" => {
            a.interval(0).and_then(|value| value.add_interval(a.interval(1)?)).map(text)
        }
        "interval_minus" => {
            a.interval(0).and_then(|value| value.subtract_interval(a.interval(1)?)).map(text)
        }
        "interval_times" => a.interval(0).and_then(|value| value.multiply(a.float(1))).map(text),
        "interval_divided" => a.interval(0).and_then(|value| value.divide(a.float(1))).map(text),
        "interval_negated" => a.interval(0).and_then(Interval::negate).map(text),
        "justify_days" => a.interval(0).and_then(Interval::justify_days).map(text),
        "justify_hours" => a.interval(0).and_then(Interval::justify_hours).map(text),
        "justify_interval" => a.interval(0).and_then(Interval::justify_interval).map(text),
        _ => return None,
    })
}

fn conversions(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    let time = optional(|value: Time| value.to_text(s));
    let timetz = optional(|value: TimeTz| value.to_text(s));
    Some(match function {
        "date_to_timestamp" => a.date(0).and_then(Date::to_timestamp).map(|value| value.to_text(s)),
        "date_to_timestamptz" => {
            a.date(0).and_then(|value| value.to_timestamptz(s)).map(|value| value.to_text(s))
        }
        "timestamp_to_date" => a.timestamp(0).map(|value| value.to_date().to_text(s)),
        "timestamp_to_time" => a.timestamp(0).map(Timestamp::to_time).map(time),
        "timestamp_to_timestamptz" => {
            a.timestamp(0).and_then(|value| value.to_timestamptz(s)).map(|value| value.to_text(s))
        }
        "timestamptz_to_timestamp" => {
            a.timestamptz(0).and_then(|value| value.to_timestamp(s)).map(|value| value.to_text(s))
        }
        "timestamptz_to_date" => {
            a.timestamptz(0).and_then(|value| value.to_date(s)).map(|value| value.to_text(s))
        }
        "timestamptz_to_time" => a.timestamptz(0).and_then(|value| value.to_time(s)).map(time),
        "timestamptz_to_timetz" => {
            a.timestamptz(0).and_then(|value| value.to_timetz(s)).map(timetz)
        }
        "time_to_timetz" => {
            a.time(0).and_then(|value| value.to_timetz(s)).map(|value| value.to_text(s))
        }
        "time_to_interval" => a.time(0).map(|value| value.to_interval().to_text(s)),
        "timetz_to_time" => a.timetz(0).map(|value| value.time().to_text(s)),
        "interval_to_time" => a.interval(0).map(|value| value.to_time().to_text(s)),
        "date_at_time" => {
            a.date(0).and_then(|date| date.at(a.time(1)?)).map(|value| value.to_text(s))
        }
        "date_at_timetz" => {
            a.date(0).and_then(|date| date.at_timetz(a.timetz(1)?)).map(|value| value.to_text(s))
        }
        "to_timestamp" => TimestampTz::from_unix_seconds(a.float(0)).map(|value| value.to_text(s)),
        _ => return None,
    })
}

fn zones(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    let zone = || ZoneArgument::parse(a.texts[0]);
    Some(match function {
        "zone_timestamp" => a.timestamp(1).and_then(|value| match value.is_finite() {
            true => value.at_zone(&zone()?).map(|value| value.to_text(s)),
            false => Ok(value.to_text(s)),
        }),
        "zone_timestamptz" => a.timestamptz(1).and_then(|value| match value.is_finite() {
            true => value.at_zone(&zone()?).map(|value| value.to_text(s)),
            false => Ok(value.to_text(s)),
        }),
        "zone_timetz" => a.timetz(1).and_then(|value| Ok(value.at_zone(&zone()?, s).to_text(s))),
        "offset_timestamp" => a
            .interval(0)
            .and_then(|offset| a.timestamp(1)?.at_offset(offset, s))
            .map(|value| value.to_text(s)),
        "offset_timestamptz" => a
            .interval(0)
            .and_then(|offset| a.timestamptz(1)?.at_offset(offset, s))
            .map(|value| value.to_text(s)),
        "offset_timetz" => a
            .interval(0)
            .and_then(|offset| a.timetz(1)?.at_offset(offset, s))
            .map(|value| value.to_text(s)),
        _ => return None,
    })
}

fn comparisons(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    let order: Result<std::cmp::Ordering> = match function {
        "compare_interval" => a.interval(0).and_then(|value| Ok(value.cmp(&a.interval(1)?))),
        "compare_timetz" => a.timetz(0).and_then(|value| Ok(value.cmp(&a.timetz(1)?))),
        "compare_date_timestamp" => {
            a.date(0).and_then(|date| Ok(date.compare_timestamp(a.timestamp(1)?)))
        }
        "compare_date_timestamptz" => {
            a.date(0).and_then(|date| Ok(date.compare_timestamptz(a.timestamptz(1)?, s)))
        }
        "compare_timestamp_timestamptz" => {
            a.timestamp(0).and_then(|value| Ok(value.compare_timestamptz(a.timestamptz(1)?, s)))
        }
        "isfinite_date" => return Some(a.date(0).map(|value| boolean(value.is_finite()))),
        "isfinite_timestamp" => {
            return Some(a.timestamp(0).map(|value| boolean(value.is_finite())));
        }
        "overlaps" => {
            let point = |index| a.optional_timestamp(index);
            let periods = || Ok(overlaps((point(0)?, point(1)?), (point(2)?, point(3)?)));
            return Some(periods().map(optional(boolean)));
        }
        _ => return None,
    };
    Some(order.map(ordering))
}

fn makes(function: &str, a: &Arguments) -> Option<Answer> {
    let s = a.settings;
    let n = |index| a.integer(index);
    Some(match function {
        "make_date" => Date::make(n(0), n(1), n(2)).map(|value| value.to_text(s)),
        "make_time" => Time::make(n(0), n(1), a.float(2)).map(|value| value.to_text(s)),
        "make_timestamp" => {
            Timestamp::make(n(0), n(1), n(2), n(3), n(4), a.float(5)).map(|value| value.to_text(s))
        }
        "make_timestamptz" => TimestampTz::make((n(0), n(1), n(2)), (n(3), n(4), a.float(5)), s)
            .map(|value| value.to_text(s)),
        "make_timestamptz_zone" => Timestamp::make(n(0), n(1), n(2), n(3), n(4), a.float(5))
            .and_then(|value| value.at_made_zone(a.texts[6]))
            .map(|value| value.to_text(s)),
        "make_interval" => Interval::make((n(0), n(1)), (n(2), n(3)), (n(4), n(5), a.float(6)))
            .map(|value| value.to_text(s)),
        _ => return None,
    })
}

fn session(function: &str, a: &Arguments) -> Option<Answer> {
    Some(match function {
        "set_date_style" => {
            let mut settings = a.settings.clone();
            settings.set_date_style(a.texts[0]).map(|()| settings.date_style_text())
        }
        "set_time_zone" => TimeZone::setting(a.texts[0]).map(|zone| zone.name().to_owned()),
        _ => return None,
    })
}

//! `to_char`, `to_number`, `to_timestamp` and `to_date`.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use gadus_functions::number_templates as numbers;
use gadus_functions::time_templates::{self as times, Span};
use gadus_functions::{FunctionError, Result as Computed};

use Kind::{Bigint, Double, Integer, Interval, Numeric, Text, Timestamp, TimestampUtc};

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "to_char", overloads: &[
        Overload::strict(&[Timestamp, Text], Text, |of| {
            answer(times::timestamp_to_char(of.bigint(0), false, of.text(1)))
        }),
        Overload::strict(&[TimestampUtc, Text], Text, |of| {
            answer(times::timestamp_to_char(of.bigint(0), true, of.text(1)))
        }),
        Overload::strict(&[Interval, Text], Text, interval),
        Overload::strict(&[Integer, Text], Text, |of| answer(numbers::integer_to_char(of.integer(0)?, of.text(1)))),
        Overload::strict(&[Bigint, Text], Text, |of| answer(numbers::bigint_to_char(of.bigint(0), of.text(1)))),
        Overload::strict(&[Double, Text], Text, |of| answer(numbers::double_to_char(of.double(0), of.text(1)))),
        Overload::strict(&[Numeric, Text], Text, |of| answer(numbers::decimal_to_char(of.decimal(0), of.text(1)))),
    ] },
    Function { name: "to_number", overloads: &[
        Overload::strict(&[Text, Text], Kind::Scaled(numbers::fraction_digits), |of| {
            answer(numbers::to_number(of.text(0), of.text(1)))
        }),
    ] },
    Function { name: "to_timestamp", overloads: &[
        Overload::strict(&[Double], TimestampUtc, seconds),
        Overload::strict(&[Text, Text], TimestampUtc, |of| answer(times::to_timestamp(of.text(0), of.text(1)))),
    ] },
    Function { name: "to_date", overloads: &[
        Overload::strict(&[Text, Text], Kind::Date, |of| answer(times::to_date(of.text(0), of.text(1)))),
    ] },
];

fn interval(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let interval = of.interval(0);
    let span =
        Span { months: interval.months, days: interval.days, microseconds: interval.microseconds };
    answer(times::interval_to_char(span, of.text(1)))
}

fn seconds(of: &Arguments<'_>) -> Computed<Answer> {
    answer(gadus_functions::times::timestamp_of_seconds(of.double(0)))
}

//! Results of PostgreSQL 15: four thousand calls and their results, in `golden/*.tsv`.
//!
//! A line is a function, its arguments and its result, separated by tabs; the items of an aggregate are separated by
//! semicolons. The files were made so: a seeded generator wrote calls, a tenth of whose operands are edges (zeros, ones,
//! halves, limits of integers, NaN, infinities); they were copied into a table of PostgreSQL 15.18, where a function in
//! PL/pgSQL per line's function computed the result as text, or caught the exception and returned its SQLSTATE, message
//! and detail; lines of up to 150 characters were kept. They are not rewritten by a switch, because this crate is not
//! the authority for them.

use gadus_numeric::{Numeric, NumericError, Result, SumState, TypeModifier, VarianceState};
use std::fmt::Display;

/// Values before the current one in a window.
const WINDOW_PRECEDING: usize = 3;

#[test]
fn text_is_postgresqls() {
    check(include_str!("golden/text.tsv"), 330);
}

#[test]
fn arithmetic_is_postgresqls() {
    check(include_str!("golden/arithmetic.tsv"), 990);
}

#[test]
fn rounding_is_postgresqls() {
    check(include_str!("golden/rounding.tsv"), 880);
}

#[test]
fn functions_are_postgresqls() {
    check(include_str!("golden/functions.tsv"), 725);
}

#[test]
fn conversions_are_postgresqls() {
    check(include_str!("golden/conversions.tsv"), 770);
}

#[test]
fn aggregates_are_postgresqls() {
    check(include_str!("golden/aggregates.tsv"), 693);
}

fn check(lines: &str, count: usize) {
    let mut checked = 0;
    for line in lines.lines() {
        let line = line.replace("\\t", "\u{1}").replace("\\n", "\n").replace("\\v", "\u{b}");
        let line = line.replace("\\\\N", "NULL");
        let columns: Vec<String> =
            line.split('\t').map(|column| column.replace('\u{1}', "\t")).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let [function, arguments @ .., expected] = columns.as_slice() else { panic!("{line}") };
        let result = call(function, arguments).unwrap_or_else(|error| described(&error));
        assert_eq!(result, *expected, "{line}");
        checked += 1;
    }
    assert_eq!(checked, count);
}

fn described(error: &NumericError) -> String {
    let detail = error.detail().map(|detail| format!(" | {detail}")).unwrap_or_default();
    format!("ERROR {} {}{detail}", error.sqlstate(), error.message())
}

fn call(function: &str, arguments: &[&str]) -> Result<String> {
    let integer = |index: usize| arguments[index].parse::<i32>().unwrap();
    match function {
        "parse_modified" => {
            let modifier = TypeModifier::new(integer(1), Some(integer(2)))?;
            return text(Numeric::parse(arguments[0], Some(modifier)));
        }
        "factorial" => return text(Numeric::factorial(arguments[0].parse().unwrap())),
        "from_f64" => return text(Ok(Numeric::from(arguments[0].parse::<f64>().unwrap()))),
        "from_f32" => return text(Ok(Numeric::from(arguments[0].parse::<f32>().unwrap()))),
        "sum" | "average" | "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp" => {
            return aggregate(function, arguments[0]);
        }
        "window" => return window(arguments[0]),
        _ => {}
    }
    let first: Numeric = arguments[0].parse()?;
    match function {
        "parse" => text(Ok(first)),
        "modify" => text(TypeModifier::new(integer(1), Some(integer(2)))?.apply(&first)),
        "negate" => text(Ok(first.negate())),
        "abs" => text(Ok(first.abs())),
        "sign" => text(Ok(first.sign())),
        "ceil" => text(first.ceil()),
        "floor" => text(first.floor()),
        "round" => text(first.round(integer(1))),
        "truncate" => text(Ok(first.truncate(integer(1)))),
        "sqrt" => text(first.sqrt()),
        "exp" => text(first.exp()),
        "ln" => text(first.ln()),
        "log10" => text(first.log10()),
        "to_i16" => text(first.to_i16()),
        "to_i32" => text(first.to_i32()),
        "to_i64" => text(first.to_i64()),
        "to_f64" => first.to_f64().map(|value| bits(value, format!("{:016x}", value.to_bits()))),
        "to_f32" => {
            first.to_f32().map(|value| bits(value.into(), format!("{:08x}", value.to_bits())))
        }
        "scales" => {
            let scale = |scale: Option<u16>| scale.map_or("NULL".to_owned(), |it| it.to_string());
            let trimmed = first.trim_scale();
            Ok(format!("{} {} {trimmed}", scale(first.scale()), scale(first.min_scale())))
        }
        _ => call_binary(function, &first, arguments),
    }
}

fn call_binary(function: &str, first: &Numeric, arguments: &[&str]) -> Result<String> {
    let second: Numeric = arguments[1].parse()?;
    match function {
        "add" => text(first.add(&second)),
        "subtract" => text(first.subtract(&second)),
        "multiply" => text(first.multiply(&second)),
        "divide" => text(first.divide(&second)),
        "remainder" => text(first.remainder(&second)),
        "quotient" => text(first.quotient(&second)),
        "gcd" => text(first.gcd(&second)),
        "lcm" => text(first.lcm(&second)),
        "log" => text(first.log(&second)),
        "power" => text(first.power(&second)),
        "width_bucket" => {
            let count = arguments[3].parse().unwrap();
            text(first.width_bucket(&second, &arguments[2].parse()?, count))
        }
        _ => panic!("unknown function {function}"),
    }
}

fn text<T: Display>(result: Result<T>) -> Result<String> {
    result.map(|value| value.to_string())
}

fn nullable(result: Result<Option<Numeric>>) -> Result<String> {
    result.map(|value| value.map_or("NULL".to_owned(), |value| value.to_string()))
}

fn bits(value: f64, hexadecimal: String) -> String {
    match value {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ if value.is_nan() => "NaN".to_owned(),
        _ => hexadecimal,
    }
}

/// Aggregates in two states, which are merged.
fn aggregate(function: &str, items: &str) -> Result<String> {
    let (mut sums, mut variances) =
        ([SumState::new(), SumState::new()], [VarianceState::new(), VarianceState::new()]);
    for (index, item) in items.split(';').enumerate() {
        let value = item.parse()?;
        sums[index % 2].add(&value);
        variances[index % 2].add(&value);
    }
    let ([mut sum, other_sum], [mut variance, other_variance]) = (sums, variances);
    sum.merge(&other_sum);
    variance.merge(&other_variance);
    nullable(match function {
        "sum" => sum.sum(),
        "average" => sum.average(),
        "var_pop" => variance.var_pop(),
        "var_samp" => variance.var_samp(),
        "stddev_pop" => variance.stddev_pop(),
        _ => variance.stddev_samp(),
    })
}

/// Aggregates a sliding window: values leave the states that they were added to.
fn window(items: &str) -> Result<String> {
    let values: Vec<Numeric> = items.split(';').map(str::parse).collect::<Result<_>>()?;
    let (mut sum, mut variance) = (SumState::new(), VarianceState::new());
    let mut results = Vec::new();
    for (index, value) in values.iter().enumerate() {
        sum.add(value);
        variance.add(value);
        if index > WINDOW_PRECEDING {
            let remaining = &values[index - WINDOW_PRECEDING..=index];
            let leaving = &values[index - WINDOW_PRECEDING - 1];
            if !sum.remove(leaving) {
                sum = SumState::new();
                remaining.iter().for_each(|value| sum.add(value));
            }
            if !variance.remove(leaving) {
                variance = VarianceState::new();
                remaining.iter().for_each(|value| variance.add(value));
            }
        }
        let deviation = nullable(variance.stddev_samp())?;
        results.push(format!("{}|{}|{deviation}", nullable(sum.sum())?, nullable(sum.average())?));
    }
    Ok(results.join(","))
}

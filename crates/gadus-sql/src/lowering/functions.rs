//! Functions of the catalog, and the kernels that compute them.

use super::casts::converted;
use super::operators::numeric_call;
use super::types::{arrow_type, lowered_type};
use super::{Lowering, Result, Typed, missing};
use crate::checked::number_function;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, binary_expr, lit, when};
use gadus_binder::bound::{Constant, Scalar, ScalarKind};
use gadus_binder::catalog::Function;
use gadus_binder::types::{SqlType, constants};

/// Functions whose kernel of the same name does what PostgreSQL's function does, for the types of the catalog that are
/// lowered.
const KERNELS: &[&str] = &[
    "ascii",
    "bit_count",
    "bit_length",
    "btrim",
    "chr",
    "concat",
    "concat_ws",
    "cos",
    "cosd",
    "cosh",
    "degrees",
    "encode",
    "format",
    "get_bit",
    "get_byte",
    "initcap",
    "isfinite",
    "left",
    "length",
    "lower",
    "lpad",
    "ltrim",
    "make_timestamp",
    "make_timestamptz",
    "md5",
    "now",
    "octet_length",
    "parse_ident",
    "pi",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "radians",
    "random",
    "regexp_count",
    "regexp_instr",
    "regexp_like",
    "regexp_replace",
    "regexp_substr",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "set_bit",
    "set_byte",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sin",
    "sind",
    "sinh",
    "split_part",
    "starts_with",
    "strpos",
    "substr",
    "tan",
    "tand",
    "tanh",
    "to_char",
    "to_date",
    "to_hex",
    "translate",
    "unistr",
    "upper",
    "width_bucket",
    "gen_random_uuid",
    "age",
    "justify_days",
    "justify_hours",
    "justify_interval",
];

/// Functions whose kernel has another name.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("char_length", "length"),
    ("character_length", "length"),
    ("position", "strpos"),
    ("substring", "substr"),
];

impl Lowering<'_> {
    /// Lowers a call.
    pub(super) fn function(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if is_of_numerics(function) {
            let values = arguments.iter().map(|argument| self.scalar(argument, schema));
            return numeric_call(function.name, values.collect::<Result<_>>()?);
        }
        let of_type = arguments.first().and_then(|first| arrow_type(first.data_type));
        let of_numbers = of_type
            .as_ref()
            .and_then(|data_type| number_function(function.name, data_type, arguments.len()));
        if let (Some(kernel), Some(data_type)) = (of_numbers, of_type) {
            let values = arguments.iter().map(|argument| Ok(self.scalar(argument, schema)?.expr));
            let values = values.collect::<Result<_>>()?;
            let call = Expr::ScalarFunction(ScalarFunction::new_udf(kernel, values));
            return converted(Typed::new(call, data_type), lowered_type(result)?, false);
        }
        if matches!(function.name, "extract" | "date_part") {
            return self.part_of_time(function, arguments, schema);
        }
        let name = match kernel_name(function) {
            Some(name) => name,
            None => return missing(format!("function {}", function.name)),
        };
        let Some(kernel) = self.planner.scalar_functions().get(name).cloned() else {
            return missing(format!("kernel {name}"));
        };
        let wanted = lowered_type(result)?;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            if matches!(argument.kind, ScalarKind::Default) {
                return missing(format!("{} without an argument in between", function.name));
            }
            let value = self.scalar(argument, schema)?;
            values.push(value.expr);
        }
        if let ("lpad" | "rpad", Some(length)) = (name, values.get_mut(1)) {
            // A length below zero is none.
            let given = std::mem::take(length);
            *length = when(given.clone().lt(lit(0)), lit(0)).otherwise(given)?;
        }
        let call = Expr::ScalarFunction(ScalarFunction::new_udf(kernel, values));
        let given = call.get_type(schema)?;
        let is_wider = given.is_integer() && wanted.is_integer();
        let is_text = |data_type: &DataType| {
            matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        };
        let is_bytes = |data_type: &DataType| {
            matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
        };
        let is_same_kind =
            (is_text(&given) && is_text(&wanted)) || (is_bytes(&given) && is_bytes(&wanted));
        match given == wanted || is_wider || is_same_kind {
            true => converted(Typed::new(call, given), wanted, false),
            false => missing(format!("{} that gives {given} for {wanted}", function.name)),
        }
    }
}

/// Parts of dates and points in time that are whole numbers in all of them.
const WHOLE_PARTS: &[&str] =
    &["year", "quarter", "month", "week", "day", "hour", "minute", "dow", "doy"];

impl Lowering<'_> {
    /// Lowers EXTRACT and `date_part` of a part that is written out.
    fn part_of_time(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        schema: &DFSchema,
    ) -> Result<Typed> {
        let [part, time] = arguments else { return missing("a part of no time") };
        let ScalarKind::Constant(Constant::Text(name)) = &part.kind else {
            return missing("a part of a time that is computed");
        };
        let is_whole = WHOLE_PARTS.contains(&name.as_str());
        let time = self.scalar(time, schema)?;
        if let Some(part) = part_of_microseconds(name, &time)? {
            return match function.result == constants::NUMERIC {
                true => Ok(part),
                false => converted(part, DataType::Float64, false),
            };
        }
        let is_time_of_day = matches!(name.as_str(), "hour" | "minute");
        let has_part = match &time.data_type {
            DataType::Timestamp(..) => true,
            DataType::Date32 => !is_time_of_day,
            _ => false,
        };
        let Some(kernel) = self.planner.scalar_functions().get("date_part").cloned() else {
            return missing("kernel date_part");
        };
        if !is_whole || !has_part {
            return missing(format!("the part {name} of {}", time.data_type));
        }
        let part = lit(name.as_str());
        let call = ScalarFunction::new_udf(kernel, vec![part, time.expr]);
        let call = Typed::new(Expr::ScalarFunction(call), DataType::Int32);
        let wanted = match function.result == constants::NUMERIC {
            true => DataType::Decimal128(10, 0),
            false => DataType::Float64,
        };
        converted(call, wanted, false)
    }
}

/// Microseconds of a minute.
const MINUTE: i64 = 60_000_000;

/// Returns a part of a time that has a fraction, as a numeric with PostgreSQL's digits; `None` for others.
fn part_of_microseconds(name: &str, time: &Typed) -> Result<Option<Typed>> {
    // Digits behind the point, and whether it is counted from the last minute on.
    let (scale, is_of_minute) = match name {
        "second" | "seconds" => (6, true),
        "millisecond" | "milliseconds" => (3, true),
        "microsecond" | "microseconds" => (0, true),
        "epoch" => (6, false),
        _ => return Ok(None),
    };
    if !matches!(time.data_type, DataType::Timestamp(..) | DataType::Time64(_)) {
        return Ok(None);
    }
    let count = converted(time.clone(), DataType::Int64, false)?.expr;
    let count = match is_of_minute {
        // Before 1970 the remainder is negative.
        true => {
            let rest = binary_expr(count, Operator::Modulo, lit(MINUTE));
            let positive = binary_expr(rest, Operator::Plus, lit(MINUTE));
            binary_expr(positive, Operator::Modulo, lit(MINUTE))
        }
        false => count,
    };
    let whole = converted(Typed::new(count, DataType::Int64), DataType::Decimal128(19, 0), false)?;
    let unit = ScalarValue::Decimal128(Some(1), 7, scale);
    let value = binary_expr(whole.expr, Operator::Multiply, lit(unit));
    Ok(Some(Typed::new(value, DataType::Decimal128(27, scale))))
}

/// Returns true for functions that `numerics` has.
fn is_of_numerics(function: &Function) -> bool {
    let is_plain = !function.arguments.contains(&constants::TEXT);
    is_plain && (function.arguments.contains(&constants::NUMERIC) || function.name == "factorial")
}

/// Returns the name of the kernel of a function.
fn kernel_name(function: &Function) -> Option<&'static str> {
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == function.name);
    // Of a pattern, not of a place.
    let is_of_pattern =
        function.name == "substring" && function.arguments.get(1) == Some(&constants::TEXT);
    if is_of_pattern || function.returns_set {
        return None;
    }
    other
        .map(|(_, kernel)| *kernel)
        .or_else(|| KERNELS.iter().copied().find(|name| *name == function.name))
}

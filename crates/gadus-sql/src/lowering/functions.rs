//! Functions of the catalog, and the kernels that compute them.

use super::casts::{converted, with_blanks};
use super::operators::numeric_call;
use super::types::{arrow_type, lowered_type};
use super::{Lowering, Result, Typed, missing};
use crate::checked::number_function;
use crate::scalar_functions::{SUBSTRING, SUBSTRING_SIMILAR};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, lit, when};
use gadus_binder::bound::{Constant, Scalar, ScalarKind};
use gadus_binder::catalog::Function;
use gadus_binder::types::{SqlType, constants};

/// Functions whose kernel of the same name does what PostgreSQL's function does, for the types of the catalog that are
/// lowered.
const KERNELS: &[&str] = &[
    "acosd",
    "asind",
    "ascii",
    "atan2d",
    "atand",
    "bit_count",
    "bit_length",
    "boolsend",
    "btrim",
    "chr",
    "cos",
    "cosd",
    "cosh",
    "cotd",
    "degrees",
    "float4send",
    "float8send",
    "get_bit",
    "get_byte",
    "initcap",
    "int2send",
    "int4send",
    "int8send",
    "left",
    "length",
    "lower",
    "lpad",
    "ltrim",
    "md5",
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
    "similar_to_escape",
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
    "textsend",
    "to_hex",
    "to_timestamp",
    "to_char",
    "to_date",
    "translate",
    "unistr",
    "upper",
    "width_bucket",
    "gen_random_uuid",
];

/// Functions whose kernel has another name.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("char_length", "length"),
    ("character_length", "length"),
    ("position", "strpos"),
    ("substring", "substr"),
];

/// Functions of sequences, whose name is their first argument.
const OF_SEQUENCES: [&str; 4] = ["currval", "lastval", "nextval", "setval"];

impl Lowering<'_> {
    /// Lowers a call of a function of a sequence that is named by a literal.
    fn sequence_call(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        schema: &DFSchema,
    ) -> Result<Typed> {
        let Some(kernel) = self.planner.scalar_functions().get(function.name).cloned() else {
            return missing(format!("function {}", function.name));
        };
        let mut values = Vec::with_capacity(arguments.len());
        for (place, argument) in arguments.iter().enumerate() {
            values.push(match (place, &argument.kind) {
                (0, ScalarKind::Constant(Constant::Text(name))) => {
                    lit(ScalarValue::Utf8(Some(name.clone())))
                }
                (0, _) => return missing("a sequence whose name is computed"),
                _ => self.scalar(argument, schema)?.expr,
            });
        }
        let call = Expr::ScalarFunction(ScalarFunction::new_udf(kernel, values));
        Ok(Typed::new(call, DataType::Int64))
    }

    /// Lowers a call.
    pub(super) fn function(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if let Some(call) = self.array_function(function, arguments, result, schema)? {
            return Ok(call);
        }
        if let Some(call) = self.document_function(function, arguments, result, schema)? {
            return Ok(call);
        }
        if let Some(call) = self.other_call(function, arguments, result, schema)? {
            return Ok(call);
        }
        if OF_SEQUENCES.contains(&function.name) {
            return self.sequence_call(function, arguments, schema);
        }
        if is_of_numerics(function) {
            let values = arguments.iter().map(|argument| self.scalar(argument, schema));
            return numeric_call(function.name, values.collect::<Result<_>>()?);
        }
        if let Some(call) = self.time_function(function, arguments, result, schema)? {
            return Ok(call);
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
        let name = match kernel_name(function) {
            Some(name) => name,
            None => return missing(format!("function {}", function.name)),
        };
        let Some(kernel) = self.planner.scalar_functions().get(name).cloned() else {
            return missing(format!("kernel {name}"));
        };
        let wanted = lowered_type(result)?;
        let mut values = Vec::with_capacity(arguments.len());
        for (place, argument) in arguments.iter().enumerate() {
            if matches!(argument.kind, ScalarKind::Default) {
                return missing(format!("{} without an argument in between", function.name));
            }
            let value = self.scalar(argument, schema)?;
            let takes_stored = function.arguments.get(place) == Some(&constants::BPCHAR)
                && function.name != "octet_length";
            values.push(match takes_stored {
                true => value.expr,
                false => with_blanks(value, argument.data_type)?.expr,
            });
        }
        if let ("lpad" | "rpad", Some(length)) = (name, values.get_mut(1)) {
            // A length below zero is none.
            let given = std::mem::take(length);
            *length = when(given.clone().lt(lit(0)), lit(0)).otherwise(given)?;
        }
        let call = Expr::ScalarFunction(ScalarFunction::new_udf(kernel, values));
        let given = call.get_type(schema)?;
        match is_of_kind(&given, &wanted) {
            true => converted(Typed::new(call, given), wanted, false),
            false => missing(format!("{} that gives {given} for {wanted}", function.name)),
        }
    }
}

/// Returns true if a kernel's results have the type that is wanted, or another of its kind.
fn is_of_kind(given: &DataType, wanted: &DataType) -> bool {
    let is_wider = given.is_integer() && wanted.is_integer();
    let is_text = |data_type: &DataType| {
        matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    };
    let is_bytes = |data_type: &DataType| {
        matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
    };
    let is_same_kind = (is_text(given) && is_text(wanted)) || (is_bytes(given) && is_bytes(wanted));
    given == wanted || is_wider || is_same_kind
}

/// Returns true for functions that `numerics` has.
fn is_of_numerics(function: &Function) -> bool {
    let is_plain = !function.arguments.contains(&constants::TEXT);
    is_plain && (function.arguments.contains(&constants::NUMERIC) || function.name == "factorial")
}

/// Returns the name of the kernel of a function.
fn kernel_name(function: &Function) -> Option<&'static str> {
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == function.name);
    if function.returns_set {
        return None;
    }
    // With a pattern, not with a place.
    if function.name == "substring" && function.arguments.get(1) == Some(&constants::TEXT) {
        let is_similar = function.arguments.len() == 3;
        return Some(if is_similar { SUBSTRING_SIMILAR } else { SUBSTRING });
    }
    other
        .map(|(_, kernel)| *kernel)
        .or_else(|| KERNELS.iter().copied().find(|name| *name == function.name))
}

//! Calls that are lowered to something else than a kernel of their name: casts, `concat` and `format`, templates of
//! numerics, byte strings, `pg_typeof`.

use super::arrays::{element_texts, output_text};
use super::casts::converted;
use super::guards::may_fail;
use super::types::lowered_type;
use super::{Lowering, Result, Typed, missing};
use crate::arrays::{ArrayFunction, call, depth_of, list_of};
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, lit};
use gadus_binder::bound::Scalar;
use gadus_binder::catalog::{CastContext, Function, find_cast};
use gadus_binder::types::{SqlType, constants, type_of_plain_name};

/// Functions of byte strings, with the names of their kernels.
const OF_BYTES: [(&str, &str); 9] = [
    ("btrim", "gadus_bytea_btrim"),
    ("encode", "gadus_bytea_encode"),
    ("like_escape", "gadus_bytea_like_escape"),
    ("ltrim", "gadus_bytea_ltrim"),
    ("overlay", "gadus_bytea_overlay"),
    ("position", "gadus_bytea_position"),
    ("rtrim", "gadus_bytea_rtrim"),
    ("substr", "gadus_bytea_substr"),
    ("substring", "gadus_bytea_substr"),
];

impl Lowering<'_> {
    /// Lowers a call that is another expression; `None` for others.
    pub(super) fn other_call(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        if let [value] = arguments
            && type_of_plain_name(function.name) == Some(function.result)
            && let Some(path) =
                find_cast(value.data_type.id, function.result, CastContext::Explicit)
        {
            return self.cast(value, path, false, result, schema).map(Some);
        }
        if function.name == "pg_typeof" {
            return type_name(arguments).map(Some);
        }
        if function.arguments.last() == Some(&constants::ANYARRAY)
            && let Some(value) = self.of_array(function.name, arguments, schema)?
        {
            return Ok(Some(value));
        }
        if function.arguments.last() == Some(&constants::ANY)
            && matches!(function.name, "concat" | "concat_ws" | "format")
        {
            let mut texts = Vec::with_capacity(arguments.len());
            for argument in arguments {
                let value = self.scalar(argument, schema)?;
                texts.push(output_text(value, argument.data_type)?.expr);
            }
            return self.text_kernel(function.name, texts).map(Some);
        }
        if let "to_char" = function.name
            && function.arguments.first() == Some(&constants::NUMERIC)
        {
            let values = self.as_texts(arguments, schema)?;
            return self.text_kernel("gadus_numeric_to_char", values).map(Some);
        }
        if let "to_number" = function.name {
            let values = self.as_texts(arguments, schema)?;
            let text = self.text_kernel("gadus_text_to_number", values)?;
            return converted(text, NUMERIC, false).map(Some);
        }
        self.call_of_bytes(function, arguments, result, schema)
    }

    /// Lowers a call with byte strings; `None` for others.
    fn call_of_bytes(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        let is_of_bytes = function.arguments.first() == Some(&constants::BYTEA);
        let name = match function.name {
            "decode" => "gadus_bytea_decode",
            name => match OF_BYTES.iter().find(|(known, _)| *known == name && is_of_bytes) {
                Some((_, kernel)) => kernel,
                None => return Ok(None),
            },
        };
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let value = self.scalar(argument, schema)?;
            values.push(converted(value, lowered_type(argument.data_type)?, false)?.expr);
        }
        let kernel = self.kernel_call(name, values)?;
        Ok(Some(Typed::new(kernel, lowered_type(result)?)))
    }

    /// Lowers LIKE of byte strings.
    pub(super) fn like_of_bytes(
        &self,
        value: Typed,
        pattern: Typed,
        is_negated: bool,
    ) -> Result<Typed> {
        let is_like = self.kernel_call("gadus_bytea_like", vec![value.expr, pattern.expr])?;
        let is_like = if is_negated { Expr::Not(Box::new(is_like)) } else { is_like };
        Ok(Typed::new(is_like, DataType::Boolean))
    }

    /// Lowers a call whose repeated arguments are elements of an array; `None` for functions that take no such arguments.
    fn of_array(
        &mut self,
        name: &str,
        arguments: &[Scalar],
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        let Some((array, before)) = arguments.split_last() else { return Ok(None) };
        if !matches!(name, "concat" | "concat_ws" | "format") {
            return Ok(None);
        }
        let elements = self.scalar(array, schema)?;
        let elements = element_texts(elements, array.data_type)?;
        let before = before.iter().map(|value| Ok(self.scalar(value, schema)?.expr));
        let mut values = before.collect::<Result<Vec<_>>>()?;
        if name == "format" {
            let flat = list_of(DataType::Utf8View);
            values.push(match depth_of(&elements.data_type) {
                1 => elements.expr,
                _ => call(ArrayFunction::Flatten, vec![elements.expr], flat),
            });
            return self.text_kernel("gadus_format_of_array", values).map(Some);
        }
        let separator = values.pop().unwrap_or_else(|| lit(ScalarValue::Utf8View(Some("".into()))));
        let text = call(ArrayFunction::Join, vec![elements.expr, separator], DataType::Utf8View);
        Ok(Some(Typed::new(text, DataType::Utf8View)))
    }

    /// Lowers values as texts.
    fn as_texts(&mut self, values: &[Scalar], schema: &DFSchema) -> Result<Vec<Expr>> {
        let text = |value: &Scalar| {
            Ok(converted(self.scalar(value, schema)?, DataType::Utf8View, false)?.expr)
        };
        values.iter().map(text).collect()
    }

    /// Calls a kernel that gives a text.
    fn text_kernel(&self, name: &str, arguments: Vec<Expr>) -> Result<Typed> {
        let call = self.kernel_call(name, arguments)?;
        let call = datafusion::logical_expr::cast(call, DataType::Utf8View);
        Ok(Typed::new(call, DataType::Utf8View))
    }
}

/// Returns the name of a value's type.
fn type_name(arguments: &[Scalar]) -> Result<Typed> {
    let [value] = arguments else { return missing("pg_typeof") };
    if may_fail(value) {
        return missing("pg_typeof of a value that may fail");
    }
    let name = value.data_type.id.to_string();
    Ok(Typed::new(lit(ScalarValue::Utf8View(Some(name))), DataType::Utf8View))
}

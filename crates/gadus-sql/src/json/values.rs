//! Values of SQL as JSON: `to_json`, `json_build_object`, `json_agg` and the like.
//!
//! - The type of each argument is known when the query is lowered; Arrow's does not tell a document from a text.
//! - Dates and times have ISO 8601's form, in the zone of the statement's session.
//! - JSONB is made of the text that JSON would be.

use super::JSONB;
use super::writers::{Key, Writer};
use crate::executor::check_cancelled;
use crate::scalar_functions::of_function;
use arrow::array::{Array, ArrayRef, AsArray, LargeStringBuilder, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use gadus_functions::FunctionError;
use gadus_functions::json::normalized;
use std::sync::Arc;

/// Type of a value, as JSON sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum JsonType {
    Boolean,
    Number,
    Text,
    Document,
    List(Box<JsonType>),
    Row(Vec<(String, JsonType)>),
}

/// Form of a document that is made of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// The value; line feeds between its parts if a second argument is true.
    Value,
    /// Keys and values in turns.
    Object,
    Array,
    /// One element of an aggregate: NULL is null.
    Element,
    /// One member of an aggregate.
    Member,
    /// Keys and values in turns, as elements of a list.
    ObjectOfList,
    /// Elements of a list between two texts.
    Joined {
        open: &'static str,
        separator: &'static str,
        close: &'static str,
    },
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Build {
    form: Form,
    is_binary: bool,
    types: Vec<JsonType>,
    signature: Signature,
}

/// Returns a document that is made of values of these types.
pub(crate) fn build(
    form: Form,
    is_binary: bool,
    types: Vec<JsonType>,
    arguments: Vec<Expr>,
) -> Expr {
    let any = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
    let signature = Signature::one_of(any, Volatility::Stable);
    let function = ScalarUDF::from(Build { form, is_binary, types, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), arguments))
}

impl ScalarUDFImpl for Build {
    fn name(&self) -> &str {
        match (self.form, self.is_binary) {
            (Form::Value, false) => "to_json",
            (Form::Value, true) => "to_jsonb",
            (Form::Object | Form::ObjectOfList, false) => "json_build_object",
            (Form::Object | Form::ObjectOfList, true) => "jsonb_build_object",
            (Form::Array, false) => "json_build_array",
            (Form::Array, true) => "jsonb_build_array",
            (Form::Element, _) => "json_element",
            (Form::Member, _) => "json_member",
            (Form::Joined { .. }, _) => "json_joined",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.is_binary { JSONB } else { DataType::Utf8View })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let mut arrays = Vec::with_capacity(args.args.len());
        for value in &args.args {
            arrays.push(value.to_array(rows)?);
        }
        let mut writers = Vec::with_capacity(arrays.len());
        for (array, of) in arrays.iter().zip(&self.types) {
            writers.push(Writer::new(array, of)?);
        }
        // A second argument without a type of its own asks for line feeds.
        let flags = arrays.get(self.types.len()).cloned();
        let (mut texts, mut documents) = (StringViewBuilder::new(), LargeStringBuilder::new());
        let mut text = String::new();
        for row in 0..rows {
            check_cancelled()?;
            text.clear();
            let is_written =
                self.write(&writers, (row, flags.as_ref()), &mut text).map_err(of_function)?;
            match (is_written, self.is_binary) {
                (true, true) => {
                    documents.append_value(normalized(&text).map_err(of_function)?);
                }
                (true, false) => texts.try_append_value(&text)?,
                (false, true) => documents.append_null(),
                (false, false) => texts.append_null(),
            }
        }
        let built: ArrayRef = match self.is_binary {
            true => Arc::new(documents.finish()),
            false => Arc::new(texts.finish()),
        };
        Ok(ColumnarValue::Array(built))
    }
}

impl Build {
    /// Writes the document of a row; returns false for NULL.
    fn write(
        &self,
        writers: &[Writer],
        (row, flags): (usize, Option<&ArrayRef>),
        text: &mut String,
    ) -> Result<bool, FunctionError> {
        match (self.form, writers) {
            (Form::Value | Form::Joined { .. } | Form::ObjectOfList, writers)
                if writers.iter().any(|writer| writer.is_null(row))
                    || flags.is_some_and(|flags| flags.is_null(row)) =>
            {
                return Ok(false);
            }
            (Form::Value, [value]) => {
                let is_pretty = flags.is_some_and(|flags| flags.as_boolean().value(row));
                value.write(row, if is_pretty { ",\n " } else { "," }, text);
            }
            (Form::Element, [value]) => value.write(row, ",", text),
            (Form::Member, [key, value]) => {
                key.write_key(row, Key::Field, text)?;
                text.push_str(" : ");
                value.write(row, ",", text);
            }
            (Form::Joined { open, separator, close }, [list]) => {
                text.push_str(open);
                list.write_elements(row, separator, text);
                text.push_str(close);
            }
            (Form::Object, writers) => {
                let parts = writers.iter().map(|writer| (writer, row)).collect::<Vec<_>>();
                self.write_object(&parts, text)?;
            }
            (Form::ObjectOfList, [list]) => self.write_object(&list.elements(row), text)?,
            (_, writers) => {
                text.push('[');
                for (place, value) in writers.iter().enumerate() {
                    text.push_str(if place > 0 { ", " } else { "" });
                    value.write(row, ",", text);
                }
                text.push(']');
            }
        }
        Ok(true)
    }

    /// Writes keys and values in turns, each a row of a writer.
    fn write_object(
        &self,
        parts: &[(&Writer, usize)],
        text: &mut String,
    ) -> Result<(), FunctionError> {
        if !parts.len().is_multiple_of(2) {
            let message = "argument list must have even number of elements";
            let name = self.name();
            let hint =
                format!("The arguments of {name}() must consist of alternating keys and values.");
            return Err(FunctionError {
                sqlstate: "22023",
                message: message.to_owned(),
                detail: None,
                hint: Some(hint),
            });
        }
        text.push('{');
        for (place, pair) in parts.chunks_exact(2).enumerate() {
            text.push_str(if place > 0 { ", " } else { "" });
            let number = place * 2 + 1;
            let key = if self.is_binary { Key::Jsonb(number) } else { Key::Json(number) };
            let [(name, name_row), (value, row)] = pair else { continue };
            name.write_key(*name_row, key, text)?;
            text.push_str(" : ");
            value.write(*row, ",", text);
        }
        text.push('}');
        Ok(())
    }
}

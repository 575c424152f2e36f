//! Conversions of documents: to JSON and JSONB, to what they are compared by, to what leaves.

use super::JSONB;
use crate::one_value::of_one_value;
use crate::scalar_functions::of_function;
use arrow::array::{
    Array, ArrayRef, AsArray, LargeBinaryBuilder, LargeStringBuilder, StringViewBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use gadus_engine::{EXTENSION_KEY, JSON_EXTENSION, JSONB_EXTENSION};
use gadus_functions::json::{self, DocumentKind};
use std::sync::Arc;

/// Conversion of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Conversion {
    /// Text to JSON: it is checked.
    Json,
    /// Text to JSONB.
    Jsonb,
    /// JSONB to bytes by which documents are compared.
    Key,
    /// Document or text to one that says which of them it is.
    Shown(Option<DocumentKind>),
    /// JSONB to JSONB that does not say so.
    Plain,
    /// JSONB to the text of a boolean or a number, for a cast to this type.
    Scalar(&'static str),
}

/// Conversion as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Converted {
    conversion: Conversion,
    signature: Signature,
}

/// Converts a text to JSON.
pub(crate) fn to_json(text: Expr) -> Expr {
    call(Conversion::Json, text)
}

/// Converts a text to JSONB.
pub(crate) fn to_jsonb(text: Expr) -> Expr {
    call(Conversion::Jsonb, text)
}

/// Returns what JSONB is compared by.
pub(crate) fn key_of(document: Expr) -> Expr {
    call(Conversion::Key, document)
}

/// Returns a document or a text as it leaves.
pub(crate) fn shown(value: Expr, kind: Option<DocumentKind>) -> Expr {
    call(Conversion::Shown(kind), value)
}

/// Returns JSONB whose field has no extension type, as columns of recursive queries.
pub(crate) fn plain_jsonb(document: Expr) -> Expr {
    call(Conversion::Plain, document)
}

/// Returns the text of a boolean or a number that JSONB is, for a cast to a type.
pub(crate) fn scalar_text(document: Expr, type_of_sql: &'static str) -> Expr {
    call(Conversion::Scalar(type_of_sql), document)
}

fn call(conversion: Conversion, value: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = ScalarUDF::from(Converted { conversion, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![value]))
}

impl ScalarUDFImpl for Converted {
    fn name(&self) -> &str {
        match self.conversion {
            Conversion::Json => "to_json_document",
            Conversion::Jsonb => "to_jsonb_document",
            Conversion::Key => "jsonb_key",
            Conversion::Plain => "jsonb_plain",
            Conversion::Shown(None) => "text_shown",
            Conversion::Shown(Some(DocumentKind::Text)) => "json_shown",
            Conversion::Shown(Some(DocumentKind::Binary)) => "jsonb_shown",
            Conversion::Scalar(type_of_sql) => type_of_sql,
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.conversion {
            Conversion::Jsonb | Conversion::Plain => JSONB,
            Conversion::Key => DataType::LargeBinary,
            _ => DataType::Utf8View,
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types = args.arg_fields.iter().map(|field| field.data_type().clone());
        let field = Field::new(self.name(), self.return_type(&types.collect::<Vec<_>>())?, true);
        let extension = match self.conversion {
            Conversion::Shown(Some(DocumentKind::Text)) => JSON_EXTENSION,
            Conversion::Shown(Some(DocumentKind::Binary)) => JSONB_EXTENSION,
            _ => return Ok(Arc::new(field)),
        };
        let extension = [(EXTENSION_KEY.to_owned(), extension.to_owned())];
        Ok(Arc::new(field.with_metadata(extension.into())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |array| converted(self.conversion, array))
    }
}

fn converted(conversion: Conversion, array: &ArrayRef) -> Result<ArrayRef> {
    if conversion == Conversion::Plain {
        return Ok(array.clone());
    }
    let texts = cast(array, &DataType::Utf8View)?;
    let rows = texts.as_string_view();
    match conversion {
        Conversion::Shown(_) | Conversion::Plain => Ok(texts),
        Conversion::Json => {
            for text in rows.iter().flatten() {
                json::check_json(text).map_err(of_function)?;
            }
            Ok(texts)
        }
        Conversion::Jsonb => {
            let mut documents = LargeStringBuilder::new();
            for text in rows {
                let document = text.map(json::normalized).transpose().map_err(of_function)?;
                documents.append_option(document);
            }
            Ok(Arc::new(documents.finish()))
        }
        Conversion::Key => {
            let mut keys = LargeBinaryBuilder::new();
            for text in rows {
                let key = text.map(json::jsonb_sort_key).transpose().map_err(of_function)?;
                keys.append_option(key);
            }
            Ok(Arc::new(keys.finish()))
        }
        Conversion::Scalar(type_of_sql) => {
            let mut scalars = StringViewBuilder::with_capacity(rows.len());
            for text in rows {
                let scalar = text.map(|text| json::scalar_for(text, type_of_sql)).transpose();
                scalars.append_option(scalar.map_err(of_function)?);
            }
            Ok(Arc::new(scalars.finish()))
        }
    }
}

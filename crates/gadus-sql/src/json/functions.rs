//! The functions of JSON.

use super::built::building_functions;
use super::{checked, read};
use crate::checked::ReadAs;
use crate::error::to_datafusion;
use arrow::array::{ArrayRef, AsArray, BooleanArray, StringViewArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, create_udf,
};
use datafusion_functions_json::udfs;
use gadus_engine::ColumnType;
use jiter::{Jiter, Peek};
use std::sync::Arc;

/// The function that a cast to JSON is.
pub(super) const JSON: &str = "json";

/// The functions, for all sessions.
pub(crate) fn json_functions() -> Vec<Arc<ScalarUDF>> {
    let also = |function: Arc<ScalarUDF>, names: &[&'static str]| {
        Arc::new(ScalarUDF::clone(&function).with_aliases(names.iter().copied()))
    };
    let mut functions = vec![
        udfs::json_get_bool_udf(),
        udfs::json_get_float_udf(),
        udfs::json_get_int_udf(),
        udfs::json_get_str_udf(),
        also(part(), &["json_extract_path", "jsonb_extract_path"]),
        also(udfs::json_as_text_udf(), &["json_extract_path_text", "jsonb_extract_path_text"]),
        also(udfs::json_contains_udf(), &["jsonb_exists"]),
        also(udfs::json_length_udf(), &["json_array_length", "jsonb_array_length"]),
        udfs::json_object_keys_udf(),
        also(documents(), &["jsonb"]),
        also(own("json_typeof", DataType::Utf8View, kinds), &["jsonb_typeof"]),
        own("json_valid", DataType::Boolean, valid),
    ];
    functions.extend(building_functions());
    functions
}

/// What a path leads to, as a document.
pub(super) fn part() -> Arc<ScalarUDF> {
    gives_documents(udfs::json_get_json_udf())
}

/// What makes of a text the document that it is.
pub(crate) fn document() -> ReadAs {
    Box::new(|text| Expr::ScalarFunction(ScalarFunction::new_udf(documents(), vec![text])))
}

fn documents() -> Arc<ScalarUDF> {
    gives_documents(own(JSON, DataType::Utf8View, checked_documents))
}

/// A function whose texts are told to be documents, in the words in which columns of tables are.
fn gives_documents(function: Arc<ScalarUDF>) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::from(Documents(function)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Documents(Arc<ScalarUDF>);

impl ScalarUDFImpl for Documents {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn aliases(&self) -> &[String] {
        self.0.aliases()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.0.return_type(arguments)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types = args.arg_fields.iter().map(|field| field.data_type().clone());
        let gives = self.return_type(&types.collect::<Vec<_>>())?;
        let column = ColumnType::Json.field(self.name(), true);
        Ok(Arc::new(column.with_data_type(gives)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.0.invoke_with_args(args)
    }
}

/// A function of one text.
fn own(name: &str, gives: DataType, compute: fn(&ArrayRef) -> Result<ArrayRef>) -> Arc<ScalarUDF> {
    let compute = Arc::new(move |arguments: &[ColumnarValue]| match arguments {
        [ColumnarValue::Array(texts)] => Ok(ColumnarValue::Array(compute(texts)?)),
        [ColumnarValue::Scalar(text)] => {
            let computed = compute(&text.to_array()?)?;
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&computed, 0)?))
        }
        _ => internal_err!("a function of one text"),
    });
    let takes = vec![DataType::Utf8View];
    Arc::new(create_udf(name, takes, gives, Volatility::Immutable, compute))
}

fn checked_documents(texts: &ArrayRef) -> Result<ArrayRef> {
    checked(texts).map_err(to_datafusion)
}

/// Whether texts are documents.
fn valid(texts: &ArrayRef) -> Result<ArrayRef> {
    let texts = texts.as_string_view().iter();
    let valid = texts.map(|text| text.map(|text| read(text).is_ok()));
    Ok(Arc::new(valid.collect::<BooleanArray>()))
}

/// What documents are, in PostgreSQL's words.
fn kinds(texts: &ArrayRef) -> Result<ArrayRef> {
    let texts = checked_documents(texts)?;
    let kind = |text: &str| match Jiter::new(text.as_bytes()).peek() {
        Ok(Peek::Object) => "object",
        Ok(Peek::Array) => "array",
        Ok(Peek::String) => "string",
        Ok(Peek::True | Peek::False) => "boolean",
        Ok(Peek::Null) => "null",
        _ => "number",
    };
    let kinds = texts.as_string_view().iter().map(|text| text.map(kind));
    Ok(Arc::new(kinds.collect::<StringViewArray>()))
}

//! The functions of JSON.

use super::built::building_functions;
use super::{checked, normalized};
use crate::checked::ReadAs;
use crate::error::to_datafusion;
use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, create_udf,
};
use datafusion_functions_json::udfs;
use gadus_engine::ColumnType;
use gadus_functions::json::check_json;
use std::sync::Arc;

/// The function that a cast to JSON is.
pub(super) const JSON: &str = "json";

/// Function that a cast to JSONB is.
pub(super) const JSONB_NAME: &str = "jsonb";

/// The functions, for all sessions.
pub(crate) fn json_functions() -> Vec<Arc<ScalarUDF>> {
    let mut functions = vec![
        udfs::json_get_bool_udf(),
        udfs::json_get_float_udf(),
        udfs::json_get_int_udf(),
        udfs::json_get_str_udf(),
        gives_documents(udfs::json_get_json_udf()),
        udfs::json_as_text_udf(),
        udfs::json_contains_udf(),
        udfs::json_length_udf(),
        udfs::json_object_keys_udf(),
        documents(),
        gives_jsonb(own(JSONB_NAME, DataType::Utf8View, jsonb_documents)),
        own("json_valid", DataType::Boolean, valid),
    ];
    functions.extend(building_functions());
    functions
}

/// What makes of a text the document that it is.
pub(crate) fn document() -> ReadAs {
    Box::new(|text| Expr::ScalarFunction(ScalarFunction::new_udf(documents(), vec![text])))
}

fn documents() -> Arc<ScalarUDF> {
    gives_documents(own(JSON, DataType::Utf8View, checked_documents))
}

/// Returns a function whose texts are documents, as columns of tables are.
fn gives_documents(function: Arc<ScalarUDF>) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::from(Documents(function, ColumnType::Json)))
}

/// Returns a function whose texts are JSONB.
fn gives_jsonb(function: Arc<ScalarUDF>) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::from(Documents(function, ColumnType::Jsonb)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Documents(Arc<ScalarUDF>, ColumnType);

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
        let column = self.1.field(self.name(), true);
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

fn jsonb_documents(texts: &ArrayRef) -> Result<ArrayRef> {
    normalized(texts).map_err(to_datafusion)
}

/// Returns true for texts that are documents.
fn valid(texts: &ArrayRef) -> Result<ArrayRef> {
    let texts = texts.as_string_view().iter();
    let valid = texts.map(|text| text.map(|text| check_json(text).is_ok()));
    Ok(Arc::new(valid.collect::<BooleanArray>()))
}

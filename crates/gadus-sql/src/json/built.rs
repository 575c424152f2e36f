//! Documents that are made of values: `json_build_object`, `json_build_array` and `to_json`.
//!
//! - Values are written by Arrow's JSON writer; documents among them stand there as they are.

use super::is_document;
use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::error::ArrowError;
use arrow::json::writer::{EncoderOptions, NullableEncoder, make_encoder};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use gadus_engine::{ColumnType, with_texts};
use std::sync::Arc;

/// The functions, for all sessions.
pub(super) fn building_functions() -> [Arc<ScalarUDF>; 3] {
    let any = TypeSignature::OneOf(vec![TypeSignature::Nullary, TypeSignature::VariadicAny]);
    [
        building(Shape::Object, any.clone(), ["json_build_object", "jsonb_build_object"]),
        building(Shape::Array, any, ["json_build_array", "jsonb_build_array"]),
        to_json(),
    ]
}

/// A value as a document.
pub(crate) fn as_json(value: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(to_json(), vec![value]))
}

fn to_json() -> Arc<ScalarUDF> {
    building(Shape::Value, TypeSignature::Any(1), ["to_json", "to_jsonb"])
}

fn building(
    shape: Shape,
    takes: TypeSignature,
    [name, alias]: [&'static str; 2],
) -> Arc<ScalarUDF> {
    let signature = Signature::new(takes, Volatility::Immutable);
    let aliases = [alias.to_owned()];
    Arc::new(ScalarUDF::from(Built { shape, name, aliases, signature }))
}

/// Values as the JSON that they are.
///
/// # Errors
/// Arrow's, of types that JSON has nothing for.
pub fn json_texts(values: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let options = EncoderOptions::default().with_explicit_nulls(true);
    let values = with_texts(values)?;
    let field = Arc::new(Field::new("value", values.data_type().clone(), true));
    let mut encoder = make_encoder(&field, &values, &options)?;
    let mut texts = StringViewBuilder::with_capacity(values.len());
    let mut text = Vec::new();
    for row in 0..values.len() {
        if encoder.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        encoder.encode(row, &mut text);
        texts.append_value(String::from_utf8_lossy(&text));
    }
    Ok(Arc::new(texts.finish()))
}

/// What is made of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    /// Of keys and the values behind them.
    Object,
    Array,
    Value,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Built {
    shape: Shape,
    name: &'static str,
    aliases: [String; 1],
    signature: Signature,
}

impl ScalarUDFImpl for Built {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(ColumnType::Json.arrow())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        if self.shape == Shape::Object && args.arg_fields.len() % 2 == 1 {
            return plan_err!("argument list must have even number of elements");
        }
        Ok(Arc::new(ColumnType::Json.field(self.name, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let options = EncoderOptions::default().with_explicit_nulls(true);
        let mut columns = Vec::with_capacity(args.args.len());
        for (place, (value, field)) in args.args.iter().zip(&args.arg_fields).enumerate() {
            let is_key = self.shape == Shape::Object && place % 2 == 0;
            let values = value.to_array(args.number_rows)?;
            columns.push(Column::new(values, field, is_key)?);
        }
        let mut writers = Vec::with_capacity(columns.len());
        for column in &columns {
            writers.push(column.writer(&options)?);
        }
        let mut documents = StringViewBuilder::with_capacity(args.number_rows);
        let mut document = Vec::new();
        for row in 0..args.number_rows {
            document.clear();
            match self.shape {
                Shape::Object => put_object(&mut document, &mut writers, row)?,
                Shape::Array => put_array(&mut document, &mut writers, row),
                Shape::Value if writers.iter().any(|writer| writer.is_null(row)) => {
                    documents.append_null();
                    continue;
                }
                Shape::Value => writers.iter_mut().for_each(|one| one.put(&mut document, row)),
            }
            documents.append_value(String::from_utf8_lossy(&document));
        }
        Ok(ColumnarValue::Array(Arc::new(documents.finish())))
    }
}

fn put_object(document: &mut Vec<u8>, writers: &mut [Writer<'_>], row: usize) -> Result<()> {
    document.push(b'{');
    for (pair, writers) in writers.chunks_mut(2).enumerate() {
        let [key, value] = writers else { continue };
        if key.is_null(row) {
            return exec_err!("null value not allowed for object key");
        }
        document.extend_from_slice(if pair > 0 { b", " } else { b"" });
        key.put(document, row);
        document.extend_from_slice(b": ");
        value.put(document, row);
    }
    document.push(b'}');
    Ok(())
}

fn put_array(document: &mut Vec<u8>, writers: &mut [Writer<'_>], row: usize) {
    document.push(b'[');
    for (place, writer) in writers.iter_mut().enumerate() {
        document.extend_from_slice(if place > 0 { b", " } else { b"" });
        writer.put(document, row);
    }
    document.push(b']');
}

/// The values of an argument.
struct Column {
    values: ArrayRef,
    field: FieldRef,
    is_document: bool,
}

impl Column {
    fn new(values: ArrayRef, field: &FieldRef, is_key: bool) -> Result<Self> {
        let is_document = is_document(field) && !is_key;
        let values = with_texts(&values)?;
        let values = match is_document || is_key {
            true => cast(&values, &DataType::Utf8View)?,
            false => values,
        };
        let field = Arc::new(field.as_ref().clone().with_data_type(values.data_type().clone()));
        Ok(Self { values, field, is_document })
    }

    fn writer<'a>(&'a self, options: &'a EncoderOptions) -> Result<Writer<'a>> {
        Ok(match self.is_document {
            true => Writer::Document(self.values.as_string_view()),
            false => Writer::Value(make_encoder(&self.field, &self.values, options)?),
        })
    }
}

/// What writes the values of an argument.
enum Writer<'a> {
    Document(&'a StringViewArray),
    Value(NullableEncoder<'a>),
}

impl Writer<'_> {
    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Document(documents) => documents.is_null(row),
            Self::Value(encoder) => encoder.is_null(row),
        }
    }

    fn put(&mut self, document: &mut Vec<u8>, row: usize) {
        match self {
            _ if self.is_null(row) => document.extend_from_slice(b"null"),
            Self::Document(documents) => {
                document.extend_from_slice(documents.value(row).as_bytes());
            }
            Self::Value(encoder) => encoder.encode(row, document),
        }
    }
}

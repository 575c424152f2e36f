//! Sets of rows that documents give: `json_array_elements`, `json_each`, `json_object_keys`.
//!
//! - A kernel gives a list for each row, of texts or of pairs; the plan makes rows of its elements.

use super::JSONB;
use crate::executor::check_cancelled;
use crate::scalar_functions::of_function;
use arrow::array::{
    Array, ArrayRef, AsArray, Int64Builder, LargeStringArray, ListArray, ListBuilder,
    StringViewArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use gadus_functions::FunctionError;
use gadus_functions::json::{self, DocumentKind};
use std::sync::Arc;

/// Function that gives rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SetFunction {
    name: &'static str,
    kind: DocumentKind,
    rows: Rows,
}

/// Rows of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rows {
    Elements,
    ElementTexts,
    Members,
    MemberTexts,
    Keys,
}

impl SetFunction {
    /// Returns the function of a name.
    pub(crate) fn named(name: &'static str) -> Option<Self> {
        let (kind, rest) = match name.strip_prefix("jsonb_") {
            Some(rest) => (DocumentKind::Binary, rest),
            None => (DocumentKind::Text, name.strip_prefix("json_")?),
        };
        let rows = match rest {
            "array_elements" => Rows::Elements,
            "array_elements_text" => Rows::ElementTexts,
            "each" => Rows::Members,
            "each_text" => Rows::MemberTexts,
            "object_keys" => Rows::Keys,
            _ => return None,
        };
        Some(Self { name, kind, rows })
    }

    /// Returns the names and types of a row's fields; without names for a row that is one value.
    pub(crate) fn fields(self) -> Vec<(&'static str, DataType)> {
        let document = match self.kind {
            DocumentKind::Text => DataType::Utf8View,
            DocumentKind::Binary => JSONB,
        };
        match self.rows {
            Rows::Elements => vec![("", document)],
            Rows::ElementTexts | Rows::Keys => vec![("", DataType::Utf8View)],
            Rows::Members => vec![("key", DataType::Utf8View), ("value", document)],
            Rows::MemberTexts => vec![("key", DataType::Utf8View), ("value", DataType::Utf8View)],
        }
    }

    fn element(self) -> DataType {
        let fields = self.fields();
        match fields.as_slice() {
            [("", value)] => value.clone(),
            _ => {
                let field = |(name, of): &(&str, DataType)| Field::new(*name, of.clone(), true);
                DataType::Struct(fields.iter().map(field).collect())
            }
        }
    }

    fn list(self) -> DataType {
        DataType::List(Arc::new(Field::new_list_field(self.element(), true)))
    }
}

/// Values of a set, gathered row by row.
#[derive(Default)]
struct Gathered {
    keys: Vec<String>,
    values: Vec<Option<String>>,
}

impl Gathered {
    fn add(&mut self, function: SetFunction, document: &str) -> Result<(), FunctionError> {
        let SetFunction { name, kind, rows } = function;
        match rows {
            Rows::Elements => {
                let elements = json::array_elements(document, name, kind)?;
                self.values.extend(elements.into_iter().map(|value| Some(value.to_owned())));
            }
            Rows::ElementTexts => {
                let elements = json::array_elements(document, name, kind)?;
                let texts = json::element_texts(&elements)?.into_iter();
                self.values.extend(texts.map(|text| text.map(|text| text.into_owned())));
            }
            Rows::Keys => {
                let keys = json::object_keys(document, name)?.into_iter();
                self.values.extend(keys.map(|key| Some(key.into_owned())));
            }
            Rows::Members | Rows::MemberTexts => {
                for (key, value) in json::object_members(document, name, kind)? {
                    self.keys.push(key.into_owned());
                    self.values.push(match rows {
                        Rows::Members => Some(value.to_owned()),
                        _ => json::value_text(value)?.map(|text| text.into_owned()),
                    });
                }
            }
        }
        Ok(())
    }

    fn finish(self, element: &DataType) -> ArrayRef {
        let texts = |of: &DataType, values: Vec<Option<String>>| -> ArrayRef {
            match *of == JSONB {
                true => Arc::new(LargeStringArray::from(values)),
                false => Arc::new(StringViewArray::from_iter(values)),
            }
        };
        let DataType::Struct(fields) = element else { return texts(element, self.values) };
        let value = fields.last().map_or(DataType::Utf8View, |field| field.data_type().clone());
        let keys: ArrayRef = Arc::new(StringViewArray::from_iter_values(self.keys));
        let columns = vec![keys, texts(&value, self.values)];
        Arc::new(StructArray::new(Fields::clone(fields), columns, None))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Lists {
    function: SetFunction,
    /// True if a list without elements is NULL: a join that keeps rows without a partner.
    is_null_if_empty: bool,
    signature: Signature,
}

/// Returns the list of the rows that a function gives of a document.
pub(crate) fn set_of(function: SetFunction, document: Expr, is_null_if_empty: bool) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let lists = ScalarUDF::from(Lists { function, is_null_if_empty, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(lists), vec![document]))
}

impl ScalarUDFImpl for Lists {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.function.list())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [document] = args.args.as_slice() else { return exec_err!("a set of one document") };
        let documents = cast(&document.to_array(args.number_rows)?, &DataType::Utf8View)?;
        let (mut gathered, mut lengths) = (Gathered::default(), Vec::new());
        let mut nulls = Vec::with_capacity(documents.len());
        for document in documents.as_string_view() {
            check_cancelled()?;
            let before = gathered.values.len();
            if let Some(document) = document {
                gathered.add(self.function, document).map_err(of_function)?;
            }
            lengths.push(gathered.values.len() - before);
            let is_empty = gathered.values.len() == before && self.is_null_if_empty;
            nulls.push(document.is_some() && !is_empty);
        }
        let element = self.function.element();
        let lists = ListArray::try_new(
            Arc::new(Field::new_list_field(element.clone(), true)),
            OffsetBuffer::from_lengths(lengths),
            gathered.finish(&element),
            Some(NullBuffer::from(nulls)),
        )?;
        Ok(ColumnarValue::Array(Arc::new(lists)))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Ordinals {
    signature: Signature,
}

/// Returns the numbers of the elements of a list, from 1, as a list.
pub(crate) fn ordinals(list: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let ordinals = ScalarUDF::from(Ordinals { signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ordinals), vec![list]))
}

impl ScalarUDFImpl for Ordinals {
    fn name(&self) -> &'static str {
        "list_ordinals"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [list] = args.args.as_slice() else { return exec_err!("the numbers of one list") };
        let lists = list.to_array(args.number_rows)?;
        let lists = lists.as_list::<i32>();
        let mut numbers = ListBuilder::new(Int64Builder::new());
        for row in 0..lists.len() {
            if lists.is_null(row) {
                numbers.append_null();
                continue;
            }
            let mut number = 0;
            for _ in 0..lists.value_length(row) {
                number += 1;
                numbers.values().append_value(number);
            }
            numbers.append(true);
        }
        Ok(ColumnarValue::Array(Arc::new(numbers.finish())))
    }
}

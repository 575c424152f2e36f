//! Functions of enumerations, and those that casts become.

use super::labels;
use crate::error::{input, to_datafusion};
use crate::one_value::of_one_value;
use crate::value::is_text;
use arrow::array::{Array, ArrayRef, AsArray, ListBuilder, StringViewBuilder};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use gadus_engine::{ColumnType, Enum, Reason};
use std::sync::Arc;

/// A text as the label that it is.
pub(super) fn label(of: &'static Enum, or_null: bool, text: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    call(Arc::new(ScalarUDF::from(AsLabel { of, or_null, signature })), text)
}

/// A label as a text.
pub(super) fn text_of(label: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    call(Arc::new(ScalarUDF::from(AsText { signature })), label)
}

fn call(function: Arc<ScalarUDF>, value: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![value]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AsLabel {
    of: &'static Enum,
    /// Whether what is no label is NULL.
    or_null: bool,
    signature: Signature,
}

impl ScalarUDFImpl for AsLabel {
    fn name(&self) -> &'static str {
        if self.or_null { "try_as_label" } else { "as_label" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(ColumnType::Enum(self.of).arrow())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(ColumnType::Enum(self.of).field(self.name(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |texts| labels(texts, self.of, self.or_null).map_err(to_datafusion))
    }
}

/// The same text, of which nothing tells any more that it is a label.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AsText {
    signature: Signature,
}

impl ScalarUDFImpl for AsText {
    fn name(&self) -> &'static str {
        "text_of_label"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |labels| Ok(arrow::compute::cast(labels, &DataType::Utf8View)?))
    }
}

/// The functions of enumerations, for all sessions.
pub(crate) fn enum_functions() -> [Arc<ScalarUDF>; 3] {
    let of = |what, arguments: &[usize]| {
        let counts = arguments.iter().map(|count| TypeSignature::Any(*count)).collect();
        let signature = Signature::one_of(counts, Volatility::Immutable);
        Arc::new(ScalarUDF::from(OfType { what, signature }))
    };
    [of(What::First, &[1]), of(What::Last, &[1]), of(What::Range, &[1, 2])]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    First,
    Last,
    Range,
}

/// A function of a type, which it takes from its arguments; their values are of no concern but where they are bounds.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfType {
    what: What,
    signature: Signature,
}

impl OfType {
    /// The enumeration of the arguments: texts beside a value of one are labels of it.
    fn of(&self, fields: &[FieldRef]) -> Result<&'static Enum> {
        let found = fields.iter().filter_map(|field| Enum::of_field(field));
        let found = found.collect::<Vec<_>>();
        let may_be = |field: &FieldRef| is_text(field.data_type()) || field.data_type().is_null();
        match found.first() {
            Some(of) if found.iter().all(|other| other == of) && fields.iter().all(may_be) => {
                Ok(of)
            }
            _ => {
                let types = fields.iter().map(|field| {
                    let known = ColumnType::from_field(field);
                    known.map_or_else(|| field.data_type().to_string(), |of| of.to_string())
                });
                let types = types.collect::<Vec<_>>().join(", ").to_lowercase();
                let message = format!("function {}({types}) does not exist", self.name());
                Err(to_datafusion(input(message).because(Reason::UnknownFunction)))
            }
        }
    }

    fn ranges(of: &'static Enum, bounds: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
        let bounds = bounds
            .iter()
            .map(|bound| labels(&bound.to_array(rows)?, of, false).map_err(to_datafusion));
        let bounds = bounds.collect::<Result<Vec<_>>>()?;
        let place = |bound: Option<&ArrayRef>, row: usize, open: usize| match bound {
            Some(bound) if bound.is_valid(row) => {
                of.place(bound.as_string_view().value(row)).unwrap_or(open)
            }
            _ => open,
        };
        let mut ranges = ListBuilder::new(StringViewBuilder::new());
        for row in 0..rows {
            let last = of.labels().len().saturating_sub(1);
            let (from, to) = match bounds.len() {
                2 => (place(bounds.first(), row, 0), place(bounds.get(1), row, last)),
                _ => (0, last),
            };
            let labels = of.labels().get(from..=to).unwrap_or_default();
            ranges.append_value(labels.iter().map(Some));
        }
        Ok(Arc::new(ranges.finish()))
    }
}

impl ScalarUDFImpl for OfType {
    fn name(&self) -> &'static str {
        match self.what {
            What::First => "enum_first",
            What::Last => "enum_last",
            What::Range => "enum_range",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("what {} gives is told by the fields of its arguments", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let of = ColumnType::Enum(self.of(args.arg_fields)?);
        Ok(Arc::new(match self.what {
            // PostgreSQL gives a list of labels; here no list has them.
            What::Range => Field::new(self.name(), DataType::new_list(of.arrow(), true), true),
            _ => of.field(self.name(), true),
        }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let of = self.of(&args.arg_fields)?;
        let label = |label: Option<&String>| {
            Ok(ColumnarValue::Scalar(ScalarValue::Utf8View(label.cloned())))
        };
        match self.what {
            What::First => label(of.labels().first()),
            What::Last => label(of.labels().last()),
            What::Range => {
                Ok(ColumnarValue::Array(Self::ranges(of, &args.args, args.number_rows)?))
            }
        }
    }
}

//! The functions, as the planner calls them.

use super::{Does, Sequences};
use crate::error::to_datafusion;
use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// One of them, for one statement.
#[derive(Debug)]
struct SequenceFunction {
    does: Does,
    sequences: Arc<Sequences>,
    signature: Signature,
}

/// The functions, for one statement.
pub(crate) fn functions(sequences: Sequences) -> impl Iterator<Item = Arc<ScalarUDF>> {
    let sequences = Arc::new(sequences);
    let text = || vec![DataType::Utf8];
    let set = vec![DataType::Utf8, DataType::Int64];
    let set_so = vec![DataType::Utf8, DataType::Int64, DataType::Boolean];
    let signatures = [
        (Does::Next, TypeSignature::Exact(text())),
        (Does::Current, TypeSignature::Exact(text())),
        (Does::Last, TypeSignature::Nullary),
        (
            Does::Set,
            TypeSignature::OneOf(vec![TypeSignature::Exact(set), TypeSignature::Exact(set_so)]),
        ),
    ];
    signatures.into_iter().map(move |(does, signature)| {
        let signature = Signature::new(signature, Volatility::Volatile);
        Arc::new(ScalarUDF::from(SequenceFunction {
            does,
            sequences: sequences.clone(),
            signature,
        }))
    })
}

impl PartialEq for SequenceFunction {
    fn eq(&self, other: &Self) -> bool {
        self.does == other.does && Arc::ptr_eq(&self.sequences, &other.sequences)
    }
}

impl Eq for SequenceFunction {}

impl Hash for SequenceFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.does.hash(state);
    }
}

impl ScalarUDFImpl for SequenceFunction {
    fn name(&self) -> &str {
        match self.does {
            Does::Next => "nextval",
            Does::Current => "currval",
            Does::Last => "lastval",
            Does::Set => "setval",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let numbers = match args.args.first() {
            // All rows at once.
            Some(ColumnarValue::Scalar(name)) if self.does == Does::Next => match text(name) {
                Some(name) => {
                    let given = self.sequences.next(name, rows).map_err(to_datafusion)?;
                    Int64Array::from(given)
                }
                None => Int64Array::new_null(rows),
            },
            _ => {
                let each = (0..rows).map(|row| self.of_row(&args.args, row));
                Int64Array::from(each.collect::<Result<Vec<_>>>()?)
            }
        };
        Ok(ColumnarValue::Array(Arc::new(numbers) as ArrayRef))
    }
}

impl SequenceFunction {
    /// What it gives for one row; NULL where an argument is.
    fn of_row(&self, args: &[ColumnarValue], row: usize) -> Result<Option<i64>> {
        let value = |argument: &ColumnarValue| match argument {
            ColumnarValue::Scalar(value) => Ok(value.clone()),
            ColumnarValue::Array(array) => ScalarValue::try_from_array(array, row),
        };
        let values = args.iter().map(value).collect::<Result<Vec<_>>>()?;
        let sequences = &self.sequences;
        let number = match (self.does, values.first().and_then(text)) {
            (Does::Last, _) => sequences.last(),
            (_, None) => return Ok(None),
            (Does::Next, Some(name)) => {
                return sequences
                    .next(name, 1)
                    .map(|given| given.first().copied())
                    .map_err(to_datafusion);
            }
            (Does::Current, Some(name)) => sequences.current(name),
            (Does::Set, Some(name)) => match (values.get(1), values.get(2)) {
                (Some(ScalarValue::Int64(Some(last))), None) => sequences.set(name, *last, true),
                (Some(ScalarValue::Int64(Some(last))), Some(ScalarValue::Boolean(Some(given)))) => {
                    sequences.set(name, *last, *given)
                }
                _ => return Ok(None),
            },
        };
        number.map(Some).map_err(to_datafusion)
    }
}

fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_deref()
        }
        _ => None,
    }
}

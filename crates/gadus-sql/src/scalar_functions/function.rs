//! A function of DataFusion that applies a kernel row by row.

use super::arguments::{Arguments, Column};
use super::overloads::{Function, Kind, Overload};
use super::results::Results;
use crate::error::{input, to_datafusion};
use crate::executor::check_cancelled;
use crate::memory::Memory;
use crate::value_limits::{check_value, result_bytes_max};
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use gadus_engine::{ColumnType, Diagnosis, Error, ErrorKind, Reason};
use gadus_functions::FunctionError;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Rows between looks at cancellation.
const ROWS_BETWEEN_LOOKS: usize = 256;

#[derive(Debug)]
pub(super) struct OfKernel {
    function: &'static Function,
    memory: Memory,
    signature: Signature,
}

impl OfKernel {
    pub(super) fn new(function: &'static Function, memory: Memory) -> Self {
        Self { function, memory, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn overload(&self, types: &[DataType]) -> Result<&'static Overload> {
        self.function.overload(types).ok_or_else(|| to_datafusion(self.unknown(types)))
    }

    /// The error of a call that means no overload.
    fn unknown(&self, types: &[DataType]) -> Error {
        let title = |of: &DataType| {
            ColumnType::from_arrow(of).map_or_else(|| of.to_string(), |of| of.to_string())
        };
        let given = types.iter().map(title).collect::<Vec<_>>().join(", ");
        let takes = self.function.overloads.iter().map(|overload| {
            let takes = overload.takes.iter().map(|kind| kind.title()).collect::<Vec<_>>();
            format!("{}({})", self.function.name, takes.join(", "))
        });
        let name = self.function.name;
        let takes = takes.collect::<Vec<_>>().join(", ");
        let message = format!("function {name}({}) does not exist", given.to_lowercase());
        let hint = format!("There are {takes}.");
        input(message).because(Reason::UnknownFunction).diagnosed(Diagnosis {
            sql_state: None,
            detail: None,
            hint: Some(hint),
            position: None,
        })
    }

    fn computed(
        &self,
        overload: &Overload,
        gives: &DataType,
        columns: &[Column],
        rows: usize,
    ) -> Result<ArrayRef> {
        let bytes_max = result_bytes_max(&self.memory);
        let mut results = Results::of(overload.gives, gives, rows);
        let mut bytes = 0;
        for row in 0..rows {
            if row % ROWS_BETWEEN_LOOKS == 0 {
                check_cancelled()?;
            }
            if overload.is_strict && columns.iter().any(|column| column.is_null(row)) {
                results.append_null();
                continue;
            }
            let answer = (overload.compute)(&Arguments { columns, row, bytes_max });
            let answer = answer.map_err(of_function)?;
            bytes += answer.bytes() as u64;
            if bytes > bytes_max as u64 {
                check_value(self.function.name, bytes, &self.memory)?;
            }
            results.append(answer)?;
        }
        Ok(results.finish())
    }
}

impl PartialEq for OfKernel {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for OfKernel {}

impl Hash for OfKernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for OfKernel {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(self.overload(types)?.coerced(types))
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(self.overload(types)?.gives.data_type())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types = args.arg_fields.iter().map(|field| field.data_type().clone());
        let gives = self.overload(&types.collect::<Vec<_>>())?.gives;
        Ok(Arc::new(match gives {
            Kind::Json => {
                ColumnType::Json.field(self.name(), true).with_data_type(gives.data_type())
            }
            Kind::Jsonb => {
                ColumnType::Jsonb.field(self.name(), true).with_data_type(gives.data_type())
            }
            Kind::Scaled(digits) => {
                let template = args.scalar_arguments.get(1).copied().flatten();
                let template = template.and_then(|template| template.try_as_str()).flatten();
                let data_type = match template.map(|text| i8::try_from(digits(text))) {
                    Some(Ok(scale @ 0..=38)) => DataType::Decimal128(38, scale),
                    _ => gives.data_type(),
                };
                Field::new(self.name(), data_type, true)
            }
            _ => Field::new(self.name(), gives.data_type(), true),
        }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types = args.args.iter().map(ColumnarValue::data_type).collect::<Vec<_>>();
        let overload = self.overload(&types)?;
        let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_one { 1 } else { args.number_rows };
        let column = |value: &ColumnarValue| Column::of(&value.to_array(rows)?);
        let columns = args.args.iter().map(column).collect::<Result<Vec<_>>>()?;
        let results = self.computed(overload, args.return_field.data_type(), &columns, rows)?;
        Ok(match is_one {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&results, 0)?),
            false => ColumnarValue::Array(results),
        })
    }
}

/// The error of a kernel on its way to the user.
pub(crate) fn of_function(error: FunctionError) -> DataFusionError {
    if error.is_cancellation()
        && let Err(cancelled) = check_cancelled()
    {
        return cancelled;
    }
    to_datafusion(told(error))
}

/// Returns the error of a kernel as users are told it.
pub(crate) fn told(error: FunctionError) -> Error {
    let kind = match error.sqlstate {
        "22003" | "22012" | "22008" => ErrorKind::OutOfRange,
        "0A000" => ErrorKind::Unsupported,
        "54000" => ErrorKind::Limit,
        "57014" => ErrorKind::Cancelled,
        _ => ErrorKind::Input,
    };
    let told = Error::new(kind, error.message);
    let told = match error.sqlstate {
        "22P02" => told.because(Reason::InvalidText),
        _ => told,
    };
    told.diagnosed(Diagnosis {
        sql_state: Some(error.sqlstate),
        detail: error.detail,
        hint: error.hint,
        position: None,
    })
}

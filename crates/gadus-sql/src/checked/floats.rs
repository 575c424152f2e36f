//! The operators `+`, `-`, `*` and `/` on floating-point numbers, which fail rather than give what no number is.
//!
//! - A result is an error if it is infinite though no operand is, and if it is zero though no operand of a product or no
//!   dividend is, as in PostgreSQL.

use super::strict_field;
use crate::error::to_datafusion;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Datum, PrimitiveArray, Scalar};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{ArrowNativeTypeOp, DataType, FieldRef, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use gadus_engine::{Error, ErrorKind, Reason};
use std::sync::Arc;

/// Operator as a function of two numbers of one type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operator: Operator,
    signature: Signature,
}

/// Returns an operator between floating-point numbers of one type.
pub(crate) fn float_operator(left: Expr, operator: Operator, right: Expr) -> Expr {
    let signature = Signature::any(2, Volatility::Immutable);
    let function = ScalarUDF::from(Checked { operator, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![left, right]))
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.operator {
            Operator::Plus => "float_add",
            Operator::Minus => "float_subtract",
            Operator::Multiply => "float_multiply",
            _ => "float_divide",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Float64))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        strict_field(self, &args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let operands = args.args.iter().map(Operand::of).collect::<Result<Vec<_>>>()?;
        let [left, right] = operands.as_slice() else {
            return datafusion::common::internal_err!("an operator of {} values", operands.len());
        };
        let result = match args.return_field.data_type() {
            DataType::Float32 => self.computed::<Float32Type>(left, right)?,
            _ => self.computed::<Float64Type>(left, right)?,
        };
        Ok(match is_one {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            false => ColumnarValue::Array(result),
        })
    }
}

/// Operand: a value for each row, or one for all.
enum Operand {
    Rows(ArrayRef),
    One(ArrayRef),
}

impl Operand {
    fn of(value: &ColumnarValue) -> Result<Self> {
        Ok(match value {
            ColumnarValue::Array(array) => Self::Rows(array.clone()),
            ColumnarValue::Scalar(value) => Self::One(value.to_array()?),
        })
    }

    fn value<T: ArrowPrimitiveType>(&self, row: usize) -> T::Native {
        match self {
            Self::Rows(array) => array.as_primitive::<T>().value(row),
            Self::One(array) => array.as_primitive::<T>().value(0),
        }
    }

    fn datum(&self) -> Box<dyn Datum> {
        match self {
            Self::Rows(array) => Box::new(array.clone()),
            Self::One(array) => Box::new(Scalar::new(array.clone())),
        }
    }
}

impl Checked {
    fn computed<T: ArrowPrimitiveType>(&self, left: &Operand, right: &Operand) -> Result<ArrayRef>
    where
        T::Native: Float,
    {
        let kernel = match self.operator {
            Operator::Plus => numeric::add_wrapping,
            Operator::Minus => numeric::sub_wrapping,
            Operator::Multiply => numeric::mul_wrapping,
            _ => numeric::div,
        };
        let result = kernel(&*left.datum(), &*right.datum())?;
        let numbers = result.as_primitive::<T>();
        let is_plain = !self.check(numbers, left, right)?;
        if is_plain || !numbers.values().iter().any(|number| number.is_not_a_number()) {
            return Ok(result);
        }
        // Processors give NaN a sign, by which it would be another value.
        let plain = |number: T::Native| match number.is_not_a_number() {
            true => T::Native::NAN,
            false => number,
        };
        Ok(Arc::new(numbers.unary::<_, T>(plain)))
    }

    /// Refuses results that their operands do not explain; returns false if all are plain numbers.
    fn check<T: ArrowPrimitiveType>(
        &self,
        results: &PrimitiveArray<T>,
        left: &Operand,
        right: &Operand,
    ) -> Result<bool>
    where
        T::Native: Float,
    {
        let scales = matches!(self.operator, Operator::Multiply | Operator::Divide);
        let is_odd = |value: &T::Native| !value.is_plain(scales);
        if !results.values().iter().any(is_odd) {
            return Ok(false);
        }
        for (row, result) in results.values().iter().enumerate() {
            if result.is_plain(scales) || results.is_null(row) {
                continue;
            }
            let (left, right) = (left.value::<T>(row), right.value::<T>(row));
            self.check_value(*result, left, right)?;
        }
        Ok(true)
    }

    fn check_value<F: Float>(&self, result: F, left: F, right: F) -> Result<()> {
        let is_quotient = self.operator == Operator::Divide;
        if is_quotient && right.is_zero_value() && !left.is_not_a_number() {
            let error = Error::new(ErrorKind::OutOfRange, "division by zero");
            return Err(to_datafusion(error.because(Reason::DivisionByZero)));
        }
        let is_overflow =
            result.is_infinite_value() && !left.is_infinite_value() && !right.is_infinite_value();
        let is_underflow = result.is_zero_value()
            && !left.is_zero_value()
            && match is_quotient {
                true => !right.is_infinite_value(),
                false => !right.is_zero_value(),
            };
        let what = match (is_overflow, is_underflow && self.scales()) {
            (true, _) => "overflow",
            (_, true) => "underflow",
            _ => return Ok(()),
        };
        let message = format!("value out of range: {what}");
        Err(to_datafusion(Error::new(ErrorKind::OutOfRange, message)))
    }

    fn scales(&self) -> bool {
        matches!(self.operator, Operator::Multiply | Operator::Divide)
    }
}

/// Floating-point numbers of either width.
trait Float: ArrowNativeTypeOp {
    const NAN: Self;

    fn is_infinite_value(self) -> bool;
    fn is_not_a_number(self) -> bool;

    fn is_zero_value(self) -> bool {
        self.is_zero()
    }

    /// Returns true for results that need no look at their operands.
    fn is_plain(self, scales: bool) -> bool {
        !(self.is_infinite_value() || self.is_not_a_number() || scales && self.is_zero_value())
    }
}

impl Float for f32 {
    const NAN: Self = Self::NAN;

    fn is_infinite_value(self) -> bool {
        self.is_infinite()
    }

    fn is_not_a_number(self) -> bool {
        self.is_nan()
    }
}

impl Float for f64 {
    const NAN: Self = Self::NAN;

    fn is_infinite_value(self) -> bool {
        self.is_infinite()
    }

    fn is_not_a_number(self) -> bool {
        self.is_nan()
    }
}

//! Functions of floating-point numbers and integers, with PostgreSQL's results and errors.

use crate::error::to_datafusion;
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use gadus_engine::{Diagnosis, Error, ErrorKind};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Error of a function: SQLSTATE and message.
type Failure = (&'static str, &'static str);

/// Way in which a function computes a row.
#[derive(Debug)]
enum Compute {
    Float(fn(f64) -> std::result::Result<f64, Failure>),
    Floats(fn(f64, f64) -> std::result::Result<f64, Failure>),
    /// In 64 bits; results that the type does not hold are errors.
    Integer(fn(i64) -> Option<i64>),
    Integers(fn(i64, i64) -> std::result::Result<Option<i64>, Failure>),
}

/// Function of PostgreSQL's catalog.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    compute: Compute,
}

const fn float(name: &'static str, compute: fn(f64) -> std::result::Result<f64, Failure>) -> Entry {
    Entry { name, compute: Compute::Float(compute) }
}

const OUT_OF_RANGE: Failure = ("22003", "input is out of range");
const OVERFLOW: Failure = ("22003", "value out of range: overflow");
const UNDERFLOW: Failure = ("22003", "value out of range: underflow");
const DIVISION_BY_ZERO: Failure = ("22012", "division by zero");

static ENTRIES: &[Entry] = &[
    float("abs", |x| Ok(x.abs())),
    float("acos", |x| within(x, f64::acos)),
    float("acosh", |x| if x < 1.0 { Err(OUT_OF_RANGE) } else { Ok(x.acosh()) }),
    float("asin", |x| within(x, f64::asin)),
    float("asinh", |x| Ok(x.asinh())),
    float("atan", |x| Ok(x.atan())),
    float("atanh", |x| within(x, f64::atanh)),
    Entry { name: "atan2", compute: Compute::Floats(|y, x| Ok(y.atan2(x))) },
    float("cbrt", |x| Ok(x.cbrt())),
    float("ceil", |x| Ok(x.ceil())),
    float("ceiling", |x| Ok(x.ceil())),
    float("cot", |x| finite(x, |x| 1.0 / x.tan())),
    float("exp", exp),
    float("floor", |x| Ok(x.floor())),
    float("ln", |x| logarithm(x, f64::ln)),
    float("log", |x| logarithm(x, f64::log10)),
    float("log10", |x| logarithm(x, f64::log10)),
    Entry { name: "pow", compute: Compute::Floats(power) },
    Entry { name: "power", compute: Compute::Floats(power) },
    float("round", |x| Ok(x.round_ties_even())),
    float("sign", |x| {
        Ok(if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            0.0
        })
    }),
    float("sqrt", sqrt),
    float("trunc", |x| Ok(x.trunc())),
    Entry { name: "abs", compute: Compute::Integer(i64::checked_abs) },
    Entry { name: "mod", compute: Compute::Integers(remainder) },
    Entry { name: "gcd", compute: Compute::Integers(|a, b| Ok(i64::try_from(gcd(a, b)).ok())) },
    Entry { name: "lcm", compute: Compute::Integers(|a, b| Ok(lcm(a, b))) },
];

/// Returns the function of a name for arguments of one type.
pub(crate) fn number_function(
    name: &str,
    data_type: &DataType,
    arguments: usize,
) -> Option<Arc<ScalarUDF>> {
    let is_float = matches!(data_type, DataType::Float32 | DataType::Float64);
    let fits = |entry: &&Entry| {
        entry.name == name
            && match entry.compute {
                Compute::Float(_) => is_float && arguments == 1,
                Compute::Floats(_) => is_float && arguments == 2,
                Compute::Integer(_) => data_type.is_integer() && arguments == 1,
                Compute::Integers(_) => data_type.is_integer() && arguments == 2,
            }
    };
    let entry = ENTRIES.iter().find(fits)?;
    let signature = Signature::any(arguments, Volatility::Immutable);
    Some(Arc::new(Call { entry, data_type: data_type.clone(), signature }.into()))
}

fn within(x: f64, compute: fn(f64) -> f64) -> std::result::Result<f64, Failure> {
    if (-1.0..=1.0).contains(&x) || x.is_nan() { Ok(compute(x)) } else { Err(OUT_OF_RANGE) }
}

fn finite(x: f64, compute: fn(f64) -> f64) -> std::result::Result<f64, Failure> {
    if x.is_infinite() { Err(OUT_OF_RANGE) } else { Ok(compute(x)) }
}

fn exp(x: f64) -> std::result::Result<f64, Failure> {
    match x.exp() {
        result if result.is_infinite() && x.is_finite() => Err(OVERFLOW),
        result if result == 0.0 && x.is_finite() => Err(UNDERFLOW),
        result => Ok(result),
    }
}

fn logarithm(x: f64, compute: fn(f64) -> f64) -> std::result::Result<f64, Failure> {
    match x {
        0.0 => Err(("2201E", "cannot take logarithm of zero")),
        x if x < 0.0 => Err(("2201E", "cannot take logarithm of a negative number")),
        x => Ok(compute(x)),
    }
}

fn sqrt(x: f64) -> std::result::Result<f64, Failure> {
    match x < 0.0 {
        true => Err(("2201F", "cannot take square root of a negative number")),
        false => Ok(x.sqrt()),
    }
}

fn power(base: f64, exponent: f64) -> std::result::Result<f64, Failure> {
    if base == 0.0 && exponent < 0.0 {
        return Err(("2201F", "zero raised to a negative power is undefined"));
    }
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        let message = "a negative number raised to a non-integer power yields a complex result";
        return Err(("2201F", message));
    }
    let result = base.powf(exponent);
    let is_of_finite = base.is_finite() && exponent.is_finite();
    match result {
        result if is_of_finite && result.is_infinite() => Err(OVERFLOW),
        result if is_of_finite && result == 0.0 && base != 0.0 => Err(UNDERFLOW),
        result => Ok(result),
    }
}

fn remainder(value: i64, divisor: i64) -> std::result::Result<Option<i64>, Failure> {
    match divisor {
        0 => Err(DIVISION_BY_ZERO),
        // Of the least value there is no quotient.
        -1 => Ok(Some(0)),
        divisor => Ok(Some(value % divisor)),
    }
}

fn gcd(one: i64, other: i64) -> u64 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn lcm(one: i64, other: i64) -> Option<i64> {
    if one == 0 || other == 0 {
        return Some(0);
    }
    let part = one.unsigned_abs() / gcd(one, other);
    part.checked_mul(other.unsigned_abs()).and_then(|result| i64::try_from(result).ok())
}

/// Function as DataFusion calls it.
#[derive(Debug)]
struct Call {
    entry: &'static Entry,
    /// Type of the arguments and the result.
    data_type: DataType,
    signature: Signature,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.data_type == other.data_type
    }
}

impl Eq for Call {}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entry.name.hash(state);
    }
}

impl ScalarUDFImpl for Call {
    fn name(&self) -> &str {
        self.entry.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.data_type.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_one { 1 } else { args.number_rows };
        let arrays =
            args.args.iter().map(|value| value.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let result = self.computed(&arrays)?;
        Ok(match is_one {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            false => ColumnarValue::Array(result),
        })
    }
}

impl Call {
    fn computed(&self, arguments: &[ArrayRef]) -> Result<ArrayRef> {
        let result: ArrayRef = match (&self.entry.compute, arguments) {
            (Compute::Float(compute), [value]) => {
                let values = floats(value)?;
                let results = values.iter().map(|value| value.map(compute).transpose());
                Arc::new(results.collect::<std::result::Result<Float64Array, _>>().map_err(failed)?)
            }
            (Compute::Floats(compute), [left, right]) => {
                let (left, right) = (floats(left)?, floats(right)?);
                let both = left.iter().zip(right.iter());
                let results = both.map(|(left, right)| {
                    left.zip(right).map(|(left, right)| compute(left, right)).transpose()
                });
                Arc::new(results.collect::<std::result::Result<Float64Array, _>>().map_err(failed)?)
            }
            (Compute::Integer(compute), [value]) => {
                let values = integers(value)?;
                let results = values.iter().map(|value| {
                    value.map(|value| compute(value).ok_or_else(|| self.out_of_range())).transpose()
                });
                Arc::new(results.collect::<Result<Int64Array>>()?)
            }
            (Compute::Integers(compute), [left, right]) => {
                let (left, right) = (integers(left)?, integers(right)?);
                let both = left.iter().zip(right.iter());
                let results = both.map(|(left, right)| {
                    let Some((left, right)) = left.zip(right) else { return Ok(None) };
                    let result = compute(left, right).map_err(failed)?;
                    result.ok_or_else(|| self.out_of_range()).map(Some)
                });
                Arc::new(results.collect::<Result<Int64Array>>()?)
            }
            _ => return internal_err!("{} with {} arguments", self.entry.name, arguments.len()),
        };
        self.narrowed(result)
    }

    /// Returns a result in the type of the arguments.
    fn narrowed(&self, result: ArrayRef) -> Result<ArrayRef> {
        let narrow = cast(&result, &self.data_type)?;
        match narrow.null_count() == result.null_count() {
            true => Ok(narrow),
            false => Err(self.out_of_range()),
        }
    }

    fn out_of_range(&self) -> datafusion::error::DataFusionError {
        failed(match self.data_type {
            DataType::Int16 => ("22003", "smallint out of range"),
            DataType::Int32 => ("22003", "integer out of range"),
            _ => ("22003", "bigint out of range"),
        })
    }
}

fn floats(array: &ArrayRef) -> Result<Float64Array> {
    Ok(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
}

fn integers(array: &ArrayRef) -> Result<Int64Array> {
    Ok(cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
}

fn failed((sql_state, message): Failure) -> datafusion::error::DataFusionError {
    let kind = if sql_state == "22003" || sql_state == "22012" {
        ErrorKind::OutOfRange
    } else {
        ErrorKind::Input
    };
    to_datafusion(Error::new(kind, message).diagnosed(Diagnosis {
        sql_state: Some(sql_state),
        detail: None,
        hint: None,
        position: None,
    }))
}

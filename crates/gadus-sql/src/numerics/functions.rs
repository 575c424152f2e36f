//! Functions and operators of numerics.

use super::values::{Column, Written, arrays, given};
use super::{NUMERIC, of_numeric};
use crate::executor::check_cancelled;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int32Builder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use gadus_numeric::{Numeric, NumericError};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Rows between looks at cancellation.
const ROWS_BETWEEN_LOOKS: usize = 256;

type Given<T> = std::result::Result<T, NumericError>;

/// Way in which a function computes a row.
#[derive(Debug)]
enum Compute {
    One(fn(&Numeric) -> Given<Numeric>),
    Two(fn(&Numeric, &Numeric) -> Given<Numeric>),
    /// With a number of digits behind the point, which may be left out.
    Digits(fn(&Numeric, i32) -> Given<Numeric>),
    /// An integer; NULL for NaN and infinities.
    Integer(fn(&Numeric) -> Option<i32>),
    /// Bucket of a number between two others.
    Bucket,
    /// Of an integer of 64 bits.
    OfInteger(fn(i64) -> Given<Numeric>),
}

/// Function of PostgreSQL's catalog.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    compute: Compute,
}

const fn one(name: &'static str, compute: fn(&Numeric) -> Given<Numeric>) -> Entry {
    Entry { name, compute: Compute::One(compute) }
}

const fn two(name: &'static str, compute: fn(&Numeric, &Numeric) -> Given<Numeric>) -> Entry {
    Entry { name, compute: Compute::Two(compute) }
}

static ENTRIES: &[Entry] = &[
    two("+", Numeric::add),
    two("-", Numeric::subtract),
    two("*", Numeric::multiply),
    two("/", Numeric::divide),
    two("%", Numeric::remainder),
    two("^", Numeric::power),
    one("@", |value| Ok(value.abs())),
    one("negate", |value| Ok(value.negate())),
    one("abs", |value| Ok(value.abs())),
    one("ceil", Numeric::ceil),
    one("ceiling", Numeric::ceil),
    two("div", Numeric::quotient),
    one("exp", Numeric::exp),
    Entry { name: "factorial", compute: Compute::OfInteger(Numeric::factorial) },
    one("floor", Numeric::floor),
    two("gcd", Numeric::gcd),
    two("lcm", Numeric::lcm),
    one("ln", Numeric::ln),
    one("log10", Numeric::log10),
    two("log", Numeric::log),
    Entry {
        name: "min_scale",
        compute: Compute::Integer(|value| value.min_scale().map(Into::into)),
    },
    two("mod", Numeric::remainder),
    two("pow", Numeric::power),
    two("power", Numeric::power),
    Entry { name: "round", compute: Compute::Digits(Numeric::round) },
    Entry { name: "scale", compute: Compute::Integer(|value| value.scale().map(Into::into)) },
    one("sign", |value| Ok(value.sign())),
    one("sqrt", Numeric::sqrt),
    one("trim_scale", |value| Ok(value.trim_scale())),
    Entry { name: "trunc", compute: Compute::Digits(|value, digits| Ok(value.truncate(digits))) },
    Entry { name: "width_bucket", compute: Compute::Bucket },
];

/// Returns the function of a name and a number of arguments, and the type of its results.
pub(crate) fn function(name: &str, arguments: usize) -> Option<(Arc<ScalarUDF>, DataType)> {
    let name = if name == "log" && arguments == 1 { "log10" } else { name };
    let entry = ENTRIES.iter().find(|entry| entry.name == name)?;
    let fits = match entry.compute {
        Compute::One(_) | Compute::Integer(_) | Compute::OfInteger(_) => arguments == 1,
        Compute::Two(_) => arguments == 2,
        Compute::Digits(_) => arguments == 1 || arguments == 2,
        Compute::Bucket => arguments == 4,
    };
    let function = Call { entry, signature: Signature::any(arguments, Volatility::Immutable) };
    fits.then(|| (Arc::new(function.into()), entry.result()))
}

impl Entry {
    fn result(&self) -> DataType {
        match self.compute {
            Compute::Integer(_) | Compute::Bucket => DataType::Int32,
            _ => NUMERIC,
        }
    }

    /// Computes all rows.
    fn compute(&self, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        match (&self.compute, arguments) {
            (Compute::One(compute), [value]) => {
                let value = Column::of(value)?;
                numerics(rows, |row| {
                    value.get(row)?.map(|value| compute(&value)).transpose().map_err(of_numeric)
                })
            }
            (Compute::Two(compute), [left, right]) => {
                let (left, right) = (Column::of(left)?, Column::of(right)?);
                numerics(rows, |row| {
                    let both = left.get(row)?.zip(right.get(row)?);
                    both.map(|(left, right)| compute(&left, &right)).transpose().map_err(of_numeric)
                })
            }
            (Compute::Digits(compute), [value, digits @ ..]) => {
                let value = Column::of(value)?;
                let digits = digits.first().map(integers).transpose()?;
                numerics(rows, |row| {
                    let digits = match &digits {
                        Some(digits) if digits.is_null(row) => return Ok(None),
                        Some(digits) => digits.value(row),
                        None => 0,
                    };
                    let value = value.get(row)?;
                    value.map(|value| compute(&value, digits)).transpose().map_err(of_numeric)
                })
            }
            (Compute::Integer(compute), [value]) => {
                let value = Column::of(value)?;
                all_integers(rows, |row| Ok(value.get(row)?.and_then(|value| compute(&value))))
            }
            (Compute::Bucket, [value, low, high, count]) => {
                let [value, low, high] = [Column::of(value)?, Column::of(low)?, Column::of(high)?];
                let count = integers(count)?;
                all_integers(rows, |row| {
                    let all = value.get(row)?.zip(low.get(row)?).zip(high.get(row)?);
                    let Some(((value, low), high)) = all.filter(|_| count.is_valid(row)) else {
                        return Ok(None);
                    };
                    value.width_bucket(&low, &high, count.value(row)).map(Some).map_err(of_numeric)
                })
            }
            (Compute::OfInteger(compute), [number]) => {
                let number = cast(number, &DataType::Int64)?;
                let number = number.as_primitive::<arrow::datatypes::Int64Type>();
                numerics(rows, |row| {
                    let number = number.is_valid(row).then(|| number.value(row));
                    number.map(compute).transpose().map_err(of_numeric)
                })
            }
            _ => internal_err!("{} with {} arguments", self.name, arguments.len()),
        }
    }
}

fn integers(array: &ArrayRef) -> Result<Int32Array> {
    Ok(cast(array, &DataType::Int32)?.as_primitive::<Int32Type>().clone())
}

fn numerics(
    rows: usize,
    mut value: impl FnMut(usize) -> Result<Option<Numeric>>,
) -> Result<ArrayRef> {
    let mut written = Written::default();
    for row in 0..rows {
        if row % ROWS_BETWEEN_LOOKS == 0 {
            check_cancelled()?;
        }
        written.push(value(row)?.as_ref());
    }
    Ok(written.finish())
}

fn all_integers(
    rows: usize,
    mut value: impl FnMut(usize) -> Result<Option<i32>>,
) -> Result<ArrayRef> {
    let mut written = Int32Builder::with_capacity(rows);
    for row in 0..rows {
        written.append_option(value(row)?);
    }
    Ok(Arc::new(written.finish()))
}

/// Function as DataFusion calls it.
#[derive(Debug)]
struct Call {
    entry: &'static Entry,
    signature: Signature,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.signature == other.signature
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
        Ok(self.entry.result())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (arrays, is_one) = arrays(&args)?;
        let rows = if is_one { 1 } else { args.number_rows };
        given(self.entry.compute(&arrays, rows)?, is_one)
    }
}

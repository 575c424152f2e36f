//! Functions of numbers.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use arrow::array::{Array, AsArray};
use arrow::datatypes::Float64Type;
use gadus_functions::{FunctionError, numbers};

macro_rules! of_double {
    ($name:literal, $kernel:expr) => {
        Function {
            name: $name,
            overloads: &[Overload::strict(&[Kind::Double], Kind::Double, |of| {
                answer($kernel(of.double(0)))
            })],
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    of_double!("sind", numbers::sind),
    of_double!("cosd", numbers::cosd),
    of_double!("tand", numbers::tand),
    of_double!("cotd", numbers::cotd),
    of_double!("asind", numbers::asind),
    of_double!("acosd", numbers::acosd),
    of_double!("atand", |of| Ok(numbers::atand(of))),
    Function {
        name: "atan2d",
        overloads: &[Overload::strict(&[Kind::Double, Kind::Double], Kind::Double, |of| {
            answer(Ok(numbers::atan2d(of.double(0), of.double(1))))
        })],
    },
    Function {
        name: "to_hex",
        overloads: &[
            Overload::strict(&[Kind::Integer], Kind::Text, |of| {
                answer(Ok(format!("{:x}", of.integer(0)?)))
            }),
            Overload::strict(&[Kind::Bigint], Kind::Text, |of| {
                answer(Ok(format!("{:x}", of.bigint(0))))
            }),
        ],
    },
    Function {
        name: "factorial",
        overloads: &[Overload::strict(&[Kind::Bigint], Kind::Numeric, |of| {
            answer(numbers::factorial(of.bigint(0)))
        })],
    },
    Function {
        name: "gcd",
        overloads: &[Overload::strict(&[Kind::Bigint, Kind::Bigint], Kind::Bigint, |of| {
            answer(numbers::gcd(of.bigint(0), of.bigint(1)))
        })],
    },
    Function {
        name: "lcm",
        overloads: &[Overload::strict(&[Kind::Bigint, Kind::Bigint], Kind::Bigint, |of| {
            answer(numbers::lcm(of.bigint(0), of.bigint(1)))
        })],
    },
    Function {
        name: "div",
        overloads: &[Overload::strict(&[Kind::Numeric, Kind::Numeric], Kind::Numeric, |of| {
            answer(numbers::div(of.decimal(0), of.decimal(1)))
        })],
    },
    Function {
        name: "scale",
        overloads: &[Overload::strict(&[Kind::Numeric], Kind::Integer, |of| {
            answer(Ok(i32::from(of.decimal(0).scale)))
        })],
    },
    Function {
        name: "min_scale",
        overloads: &[Overload::strict(&[Kind::Numeric], Kind::Integer, |of| {
            answer(Ok(numbers::min_scale(of.decimal(0))))
        })],
    },
    Function {
        name: "width_bucket",
        overloads: &[
            Overload::strict(
                &[Kind::Double, Kind::Double, Kind::Double, Kind::Integer],
                Kind::Integer,
                |of| {
                    let (value, low, high) = (of.double(0), of.double(1), of.double(2));
                    answer(numbers::width_bucket_double(value, low, high, of.integer(3)?))
                },
            ),
            Overload::strict(
                &[Kind::Numeric, Kind::Numeric, Kind::Numeric, Kind::Integer],
                Kind::Integer,
                |of| {
                    let (value, low, high) = (of.decimal(0), of.decimal(1), of.decimal(2));
                    answer(numbers::width_bucket_numeric(value, low, high, of.integer(3)?))
                },
            ),
            Overload::strict(&[Kind::Double, Kind::Doubles], Kind::Integer, bucket_in_list),
        ],
    },
];

fn bucket_in_list(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let Some(thresholds) = of.list(1) else { return Ok(Answer::Null) };
    if thresholds.null_count() > 0 {
        return Err(FunctionError {
            sqlstate: "22004",
            message: "thresholds array must not contain NULLs".to_owned(),
            detail: None,
            hint: None,
        });
    }
    let (thresholds, value) = (thresholds.as_primitive::<Float64Type>(), of.double(0));
    // No number is above all numbers.
    let is_above = |index: usize| value >= thresholds.value(index) || value.is_nan();
    answer(Ok(numbers::width_bucket_list(thresholds.len(), is_above)))
}

//! Numerics of any number of digits in plans: bytes that `gadus-numeric` reads and writes.
//!
//! - Numerics of one scale that fit 38 digits are Arrow's decimals. Others are bytes whose order is that of their values;
//!   no other values of a plan are of that Arrow type.
//! - Functions take exact numbers of any type, and so need no conversions before them.
//! - Values that are equal may have different digits behind the point: they are compared by keys.
//! - They leave as texts with an extension type.

mod aggregates;
mod averages;
mod casts;
mod columns;
mod functions;
mod values;

pub(crate) use aggregates::aggregate;
pub(crate) use casts::{
    from_numeric, key_of, keys, numeric_field, numeric_texts, shown, to_numeric, with_modifier,
};
pub(crate) use columns::{assigned, nearest};
pub(crate) use functions::function;
pub(crate) use values::{Column as NumericColumn, Written as WrittenNumerics};

use crate::error::to_datafusion;
use crate::executor::check_cancelled;
use arrow::datatypes::DataType;
use datafusion::error::DataFusionError;
use gadus_engine::{Diagnosis, Error, ErrorKind};
use gadus_numeric::NumericError;

/// Type of numerics that are no decimals of Arrow's.
pub(crate) const NUMERIC: DataType = DataType::LargeBinary;

/// Returns the error of a numeric call on its way to the user.
pub(crate) fn of_numeric(error: NumericError) -> DataFusionError {
    if error.is_cancellation()
        && let Err(cancelled) = check_cancelled()
    {
        return cancelled;
    }
    let kind = match error.sqlstate() {
        "22003" | "22012" => ErrorKind::OutOfRange,
        "0A000" => ErrorKind::Unsupported,
        "57014" => ErrorKind::Cancelled,
        "XX001" => ErrorKind::Corrupt,
        _ => ErrorKind::Input,
    };
    to_datafusion(Error::new(kind, error.message().to_owned()).diagnosed(Diagnosis {
        sql_state: Some(error.sqlstate()),
        detail: error.detail().map(str::to_owned),
        hint: None,
        position: None,
    }))
}

//! PostgreSQL's type `numeric` as plain values: parsing, arithmetic, functions, order, aggregates and bytes.
//!
//! - Results, display scales, messages and SQLSTATEs are those of PostgreSQL 15.
//! - Knows neither columns nor plans: a call takes and gives single values. NULL is the caller's.
//! - Values of up to 128 bits do not allocate, nor do most calls on them. Longer ones are integers of `dashu-int`: it
//!   multiplies and divides 1, 2, 20 and 1000 words in 4, 22, 336 and 203,000 ns and in 17, 62, 881 and 482,000 ns,
//!   where `num-bigint` takes 38, 33, 443 and 223,000 ns and 28, 180, 736 and 531,000 ns and compiles 7 s faster.
//! - Time and memory are bounded by the limits of the type; long computations end when the statement of their thread is
//!   cancelled.
//!
//! ```
//! use gadus_numeric::{Numeric, SumState};
//!
//! let price: Numeric = "19.90".parse()?;
//! let total = price.multiply(&Numeric::from(3_i64))?;
//! assert_eq!(total.to_string(), "59.70");
//! assert_eq!(total.divide(&"7".parse()?)?.to_string(), "8.5285714285714286");
//!
//! let mut state = SumState::new();
//! state.add(&price);
//! state.add(&total);
//! assert_eq!(state.sum()?.map(|sum| sum.to_string()).as_deref(), Some("79.60"));
//! # Ok::<(), gadus_numeric::NumericError>(())
//! ```

mod aggregates;
mod arithmetic;
mod conversions;
mod encoding;
mod error;
mod limits;
mod powers;
mod transcendental;
mod value;
mod working;

pub use aggregates::{SumState, VarianceState};
pub use error::{NumericError, Result};
pub use limits::{INTEGER_DIGITS_MAX, MODIFIER_SCALES, PRECISION_MAX, SCALE_MAX};
pub use value::{Numeric, TypeModifier};

//! PostgreSQL's scalar functions as kernels over plain values.
//!
//! - Results, messages and SQLSTATEs are those of PostgreSQL 15.
//! - Knows neither columns nor plans: a kernel takes and gives single values. `gadus-sql` applies it to columns, and
//!   gives NULL for NULL, unless the kernel takes an `Option`.
//! - Long computations end when the statement of their thread is cancelled, and results stay within a limit of bytes.
//!
//! ```
//! use gadus_functions::texts::format;
//!
//! let written = format("%I = %L", &[Some("User"), Some("O'Hara")], 1 << 30);
//! assert_eq!(written.unwrap(), r#""User" = 'O''Hara'"#);
//! ```

pub mod bytes;
mod error;
pub mod identifiers;
pub mod json;
pub mod number_templates;
pub mod numbers;
pub mod patterns;
pub mod texts;
pub mod time_templates;
pub mod times;

pub use error::{FunctionError, Result};

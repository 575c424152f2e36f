//! Parameters of a statement, written as Rust values.

use gadus_sql::Value;

/// The values of a statement's parameters: `params![1, "Ada", None::<i64>]` is a `&[Value]`.
///
/// ```
/// use gadus::{Value, params};
/// assert_eq!(params![7, "Ada"], [Value::Integer(7), Value::Text("Ada".to_owned())]);
/// ```
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::to_value($value)),*] as &[$crate::Value]
    };
}

/// What `params!` calls for each value.
#[doc(hidden)]
pub fn to_value(value: impl Into<Value>) -> Value {
    value.into()
}

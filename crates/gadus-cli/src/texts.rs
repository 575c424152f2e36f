//! Results as text, to be compared with what others answer.

use crate::failure::Failure;
use gadus::{Rows, Value};

/// Rows of numbers and text, as text.
pub(crate) fn texts(rows: Rows) -> Result<Vec<Vec<String>>, Failure> {
    let mut all = Vec::new();
    for row in rows {
        let row = row?;
        let cell = |column: usize| -> Result<String, Failure> {
            Ok(match row.value(column)? {
                Value::Text(text) => text,
                Value::Integer(number) => number.to_string(),
                Value::Null => "NULL".to_owned(),
                other => format!("{other:?}"),
            })
        };
        all.push((0..row.columns()).map(cell).collect::<Result<_, _>>()?);
    }
    Ok(all)
}

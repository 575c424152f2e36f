//! Tables of the catalog from rows of named values.

use super::TYPE;
use arrow::array::{
    Array, ArrayRef, BooleanArray, Int64Array, ListArray, ListBuilder, RecordBatch, StringArray,
    StringBuilder, new_null_array,
};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use gadus_engine::Result;
use std::sync::Arc;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    Number(i64),
    Text(String),
    Boolean(bool),
    Numbers(Vec<i64>),
    Texts(Vec<&'static str>),
}

/// Rows whose values have the names of their columns; where a name is missing the value is NULL.
pub(super) type Rows = Vec<Vec<(&'static str, Cell)>>;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Numbers,
    Texts,
    Booleans,
    Lists,
    TextLists,
    NoTextLists,
    /// Lists of numbers that PostgreSQL has under this type.
    Vectors(&'static str),
}

macro_rules! cell_from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Cell {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

cell_from!(i64 => Number, i32 => Number, &str => Text, String => Text, bool => Boolean);

/// A table with these columns; a name begins with `#` for a number, `?` for a Boolean value, `[` for a
/// list of numbers, `<` for a list of texts, `{` for one of which there is none, all others are text;
/// `~` and `^` are for lists of numbers that PostgreSQL shows as `int2vector` and `oidvector`.
pub(super) fn table(columns: &[&'static str], rows: &Rows) -> Result<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in columns {
        let (name, holds) = match column.as_bytes().first() {
            Some(b'#') => (&column[1..], Holds::Numbers),
            Some(b'?') => (&column[1..], Holds::Booleans),
            Some(b'[') => (&column[1..], Holds::Lists),
            Some(b'~') => (&column[1..], Holds::Vectors("int2vector")),
            Some(b'^') => (&column[1..], Holds::Vectors("oidvector")),
            Some(b'<') => (&column[1..], Holds::TextLists),
            Some(b'{') => (&column[1..], Holds::NoTextLists),
            _ => (*column, Holds::Texts),
        };
        let cells = rows
            .iter()
            .map(|row| row.iter().find(|(known, _)| *known == name).map(|(_, cell)| cell));
        let array: ArrayRef = match holds {
            Holds::Numbers => Arc::new(cells.map(number).collect::<Int64Array>()),
            Holds::Texts => Arc::new(cells.map(text).collect::<StringArray>()),
            Holds::Booleans => Arc::new(cells.map(boolean).collect::<BooleanArray>()),
            Holds::Lists | Holds::Vectors(_) => {
                Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(cells.map(numbers)))
            }
            Holds::TextLists => Arc::new(text_lists(cells)),
            // Nothing has any.
            Holds::NoTextLists => {
                new_null_array(&DataType::new_list(DataType::Utf8, true), rows.len())
            }
        };
        let field = Field::new(name, array.data_type().clone(), true);
        fields.push(match holds {
            Holds::Vectors(of) => field.with_metadata([(TYPE.to_owned(), of.to_owned())].into()),
            _ => field,
        });
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

fn number(cell: Option<&Cell>) -> Option<i64> {
    match cell {
        Some(Cell::Number(value)) => Some(*value),
        _ => None,
    }
}

fn text(cell: Option<&Cell>) -> Option<&str> {
    match cell {
        Some(Cell::Text(value)) => Some(value),
        _ => None,
    }
}

fn boolean(cell: Option<&Cell>) -> Option<bool> {
    match cell {
        Some(Cell::Boolean(value)) => Some(*value),
        _ => None,
    }
}

fn numbers(cell: Option<&Cell>) -> Option<Vec<Option<i64>>> {
    match cell {
        Some(Cell::Numbers(values)) => Some(values.iter().copied().map(Some).collect()),
        _ => None,
    }
}

fn text_lists<'a>(cells: impl Iterator<Item = Option<&'a Cell>>) -> ListArray {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for cell in cells {
        match cell {
            Some(Cell::Texts(texts)) => lists.append_value(texts.iter().map(Some)),
            _ => lists.append_null(),
        }
    }
    lists.finish()
}

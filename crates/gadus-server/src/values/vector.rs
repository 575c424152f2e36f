//! PostgreSQL's vectors, which its catalog has in the place of lists of numbers: `1 2` as text, and in binary
//! lists whose first index is 0.

use super::{Type, Writer, known, put_behind_length};
use crate::error::Failure;
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Field, Int64Type};
use bytes::{BufMut, BytesMut};
use gadus::POSTGRES_TYPE;
use std::fmt::Write;

/// Each type: its number, its name, the type of its elements.
const VECTORS: &[(u32, &str, Type)] =
    &[(22, "int2vector", Type::Int2), (30, "oidvector", Type::Oid)];

/// The number of the type of a column that holds vectors.
pub(super) fn vector_oid(column: &Field) -> Option<u32> {
    let name = column.metadata().get(POSTGRES_TYPE)?;
    // A cast keeps the name, whatever it makes of the values.
    if !matches!(column.data_type(), DataType::List(of) if *of.data_type() == DataType::Int64) {
        return None;
    }
    VECTORS.iter().find(|(_, known, _)| known == name).map(|(oid, ..)| *oid)
}

/// What writes values of a column as those of a type; none where they are no vectors.
///
/// # Errors
/// `XX000` where the column holds something else.
pub(super) fn vector_writer(
    column: &dyn Array,
    oid: u32,
    format: i16,
) -> Result<Option<Writer<'_>>, Failure> {
    let Some((.., element)) = VECTORS.iter().find(|(known, ..)| *known == oid) else {
        return Ok(None);
    };
    let lists = known(column.as_list_opt::<i32>())?;
    let values = known(lists.values().as_primitive_opt::<Int64Type>())?.values();
    let numbers = move |row: usize| {
        let offsets = lists.value_offsets();
        let bound = |at: usize| usize::try_from(offsets[at]).unwrap_or(0);
        &values[bound(row)..bound(row + 1)]
    };
    Ok(Some(match format {
        0 => Box::new(move |row, body| {
            for (place, number) in numbers(row).iter().enumerate() {
                let blank = if place > 0 { " " } else { "" };
                // A buffer that grows takes everything.
                let _ = write!(body, "{blank}{number}");
            }
        }),
        _ => Box::new(move |row, body| put_binary(body, *element, numbers(row))),
    }))
}

/// One dimension without NULLs, the elements' type, their number, and the first one's index.
fn put_binary(body: &mut BytesMut, element: Type, numbers: &[i64]) {
    body.put_i32(1);
    body.put_i32(0);
    body.put_u32(element.oid());
    body.put_i32(i32::try_from(numbers.len()).unwrap_or(i32::MAX));
    body.put_i32(0);
    for number in numbers {
        put_behind_length(body, |body| match element {
            Type::Int2 => body.put_i16(i16::try_from(*number).unwrap_or(i16::MAX)),
            _ => body.put_u32(u32::try_from(*number).unwrap_or(u32::MAX)),
        });
    }
}

//! Values as texts, for people and for formats that have no such types: identifiers and intervals.

use super::intervals::{INTERVAL, interval_texts};
use super::uuids::{UUID, uuid_texts};
use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use std::sync::Arc;

/// The type of values in which identifiers and intervals, also deep within, are texts; none where there are none.
#[must_use]
pub fn type_with_texts(data_type: &DataType) -> Option<DataType> {
    let field = |field: &Arc<Field>| -> Option<Arc<Field>> {
        let texts = type_with_texts(field.data_type())?;
        Some(Arc::new(Field::new(field.name(), texts, field.is_nullable())))
    };
    Some(match data_type {
        plain if *plain == UUID || *plain == INTERVAL => DataType::Utf8View,
        DataType::List(element) => DataType::List(field(element)?),
        DataType::Map(entries, ordered) => DataType::Map(field(entries)?, *ordered),
        DataType::Struct(fields) => {
            let texts = fields.iter().map(field).collect::<Vec<_>>();
            if texts.iter().all(Option::is_none) {
                return None;
            }
            let both = texts.into_iter().zip(fields);
            DataType::Struct(
                both.map(|(text, field)| text.unwrap_or_else(|| field.clone())).collect(),
            )
        }
        _ => return None,
    })
}

/// Values in which identifiers and intervals, also deep within, are texts.
///
/// # Errors
/// Arrow's, of values that are not what their types say.
pub fn with_texts(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let Some(texts) = type_with_texts(array.data_type()) else { return Ok(array.clone()) };
    Ok(match texts {
        DataType::List(field) => {
            let list = array.as_list::<i32>();
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(field, offsets, with_texts(list.values())?, nulls)?)
        }
        DataType::Struct(fields) => {
            let parts = array.as_struct().columns().iter().map(with_texts);
            let nulls = array.nulls().cloned();
            Arc::new(StructArray::try_new(fields, parts.collect::<Result<_, _>>()?, nulls)?)
        }
        DataType::Map(field, ordered) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = with_texts(&entries)?.as_struct().clone();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(field, offsets, entries, nulls, ordered)?)
        }
        _ => match array.as_primitive_opt() {
            Some(intervals) => Arc::new(interval_texts(intervals)),
            None => Arc::new(uuid_texts(array.as_fixed_size_binary())),
        },
    })
}

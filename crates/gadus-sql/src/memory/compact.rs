//! Texts of rows that are to be held.
//!
//! - Scans give views of the texts of a whole segment. Who holds a few such rows would hold that segment's texts,
//!   and each batch would count all of them.
//! - Operators that gather rows to full batches take room for texts by the megabyte, whatever they need of it. Who
//!   holds thousands of small batches would hold gigabytes of nothing.

use crate::value_limits::visible;
use arrow::array::{
    Array, ArrayRef, AsArray, GenericByteViewArray, ListArray, MapArray, RecordBatch,
    RecordBatchOptions, StructArray,
};
use arrow::buffer::{Buffer, OffsetBuffer};
use arrow::datatypes::{BinaryViewType, ByteViewType, DataType, StringViewType};
use arrow::error::ArrowError;
use std::sync::Arc;

/// Where less than one of so many bytes is seen, those that are seen are copied.
const WASTE_MAX: usize = 2;

/// Bytes that need not be looked at: less than the rest of a batch.
const LITTLE: usize = 16 * 1024;

/// The same rows, which hold little beside what they show.
pub(super) fn compact(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    if !batch.columns().iter().any(is_wasteful) {
        return Ok(batch);
    }
    let (schema, columns, rows) = batch.into_parts();
    let columns = columns.into_iter().map(compact_column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
}

/// Returns a column with the same values, which holds little beside what it shows, also within lists, maps and structs.
pub(super) fn compact_column(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        _ if !is_wasteful(&column) => column,
        DataType::Utf8View => Arc::new(column.as_string_view().gc()),
        DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
        DataType::List(_) => {
            let (field, offsets, values, nulls) = column.as_list().clone().into_parts();
            let (first, count) = visible(&offsets);
            let values = compact_column(values.slice(first, count));
            Arc::new(ListArray::new(field, from_zero(&offsets), values, nulls))
        }
        DataType::Map(..) => {
            let (field, offsets, entries, nulls, is_ordered) = column.as_map().clone().into_parts();
            let (first, count) = visible(&offsets);
            let entries = compact_struct(&entries.slice(first, count));
            Arc::new(MapArray::new(field, from_zero(&offsets), entries, nulls, is_ordered))
        }
        DataType::Struct(_) => Arc::new(compact_struct(column.as_struct())),
        _ => column,
    }
}

fn compact_struct(column: &StructArray) -> StructArray {
    let (fields, columns, nulls) = column.clone().into_parts();
    StructArray::new(fields, columns.into_iter().map(compact_column).collect(), nulls)
}

fn is_wasteful(column: &ArrayRef) -> bool {
    match column.data_type() {
        DataType::Utf8View => wastes::<StringViewType>(column.as_byte_view()),
        DataType::BinaryView => wastes::<BinaryViewType>(column.as_byte_view()),
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            let (first, count) = visible(list.offsets());
            is_wasteful(&list.values().slice(first, count))
        }
        DataType::Map(..) => {
            let map = column.as_map();
            let (first, count) = visible(map.offsets());
            map.entries().slice(first, count).columns().iter().any(is_wasteful)
        }
        DataType::Struct(_) => column.as_struct().columns().iter().any(is_wasteful),
        _ => false,
    }
}

/// Returns offsets into the visible values alone.
fn from_zero(offsets: &OffsetBuffer<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths(offsets.lengths())
}

fn wastes<T: ByteViewType>(views: &GenericByteViewArray<T>) -> bool {
    let held = views.data_buffers().iter().map(Buffer::capacity).sum::<usize>();
    held > LITTLE && held / WASTE_MAX > views.total_buffer_bytes_used()
}

#[cfg(test)]
mod tests {
    use super::{compact, compact_column};
    use arrow::array::builder::{ListBuilder, MapBuilder, StringViewBuilder, StructBuilder};
    use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringViewArray, make_view};
    use arrow::buffer::ScalarBuffer;
    use arrow::datatypes::{DataType, Field};
    use std::sync::Arc;

    /// A part of a large batch holds what it shows; all of it, and repeated texts, stay where they are.
    #[test]
    fn what_is_not_seen_is_not_held() {
        let texts = (0..10_000).map(|row| format!("a text of more than twelve bytes: {row}"));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10_000));
        let all = RecordBatch::try_from_iter([("texts", texts), ("numbers", numbers)]).unwrap();
        let held = |batch: &RecordBatch| batch.column(0).get_buffer_memory_size();
        let part = all.slice(5_000, 100);
        let compacted = compact(part.clone()).unwrap();
        assert_eq!(compacted, part);
        assert!(held(&part) > 300_000 && held(&compacted) < 10_000);
        let whole = compact(all.clone()).unwrap();
        assert_eq!(held(&compact(whole.clone()).unwrap()), held(&whole), "nothing is gained");
        // Room for more than is there.
        let mut room = Vec::with_capacity(1 << 20);
        room.extend_from_slice(b"a text of more than twelve bytes");
        let views = ScalarBuffer::from(vec![make_view(&room, 0, 0); 3]);
        let texts: ArrayRef = Arc::new(StringViewArray::new(views, vec![room.into()], None));
        let roomy = RecordBatch::try_from_iter([("texts", texts)]).unwrap();
        let compacted = compact(roomy.clone()).unwrap();
        assert_eq!(compacted, roomy);
        assert!(held(&roomy) > 1 << 20 && held(&compacted) < 1000);
    }

    #[test]
    fn what_is_not_seen_within_lists_maps_and_structs_is_not_held() {
        let text = |row: usize| format!("a text of more than twelve bytes: {row}");
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        let mut maps = MapBuilder::new(None, StringViewBuilder::new(), StringViewBuilder::new());
        let field = Field::new("t", DataType::Utf8View, true);
        let mut structs = StructBuilder::from_fields(vec![field], 0);
        for row in 0..10_000 {
            for each in 0..row % 3 {
                lists.values().append_value(text(row + each));
                maps.keys().append_value(text(each));
                maps.values().append_value(text(row));
            }
            lists.append(row % 7 != 6);
            maps.append(row % 5 != 4).unwrap();
            structs.field_builder::<StringViewBuilder>(0).unwrap().append_value(text(row));
            structs.append(row % 3 != 2);
        }
        let columns: [ArrayRef; 3] =
            [Arc::new(lists.finish()), Arc::new(maps.finish()), Arc::new(structs.finish())];
        for column in columns {
            let part = column.slice(5_000, 100);
            let compacted = compact_column(part.clone());
            assert_eq!(&compacted, &part);
            assert!(part.get_buffer_memory_size() > 300_000);
            let held = compacted.get_buffer_memory_size();
            assert!(held < 40_000, "{held} bytes of {}", column.data_type());
        }
    }
}

//! Texts of rows that are to be held.
//!
//! - Scans give views of the texts of a whole segment. Who holds a few such rows would hold that segment's texts,
//!   and each batch would count all of them.
//! - Operators that gather rows to full batches take room for texts by the megabyte, whatever they need of it. Who
//!   holds thousands of small batches would hold gigabytes of nothing.

use arrow::array::{
    Array, ArrayRef, AsArray, GenericByteViewArray, RecordBatch, RecordBatchOptions,
};
use arrow::buffer::Buffer;
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

/// Returns a column with the same values, which holds little beside what it shows.
pub(super) fn compact_column(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        _ if !is_wasteful(&column) => column,
        DataType::Utf8View => Arc::new(column.as_string_view().gc()),
        _ => Arc::new(column.as_binary_view().gc()),
    }
}

fn is_wasteful(column: &ArrayRef) -> bool {
    match column.data_type() {
        DataType::Utf8View => wastes::<StringViewType>(column.as_byte_view()),
        DataType::BinaryView => wastes::<BinaryViewType>(column.as_byte_view()),
        _ => false,
    }
}

fn wastes<T: ByteViewType>(views: &GenericByteViewArray<T>) -> bool {
    let held = views.data_buffers().iter().map(Buffer::capacity).sum::<usize>();
    held > LITTLE && held / WASTE_MAX > views.total_buffer_bytes_used()
}

#[cfg(test)]
mod tests {
    use super::compact;
    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray, make_view};
    use arrow::buffer::ScalarBuffer;
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
}

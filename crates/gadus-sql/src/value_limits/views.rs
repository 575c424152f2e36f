//! Bytes that views point to, which Arrow's and DataFusion's sizes of arrays leave out.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType;

/// Returns the bytes that the values of a column take.
pub(crate) fn bytes_of_values(column: &ArrayRef) -> usize {
    let data = column.to_data();
    let bytes = data.get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size());
    bytes.saturating_add(bytes_of_views(column))
}

/// Returns the bytes of texts and byte strings that views point to, also within lists, maps and structs; a value that
/// repeats counts each time.
pub(crate) fn bytes_of_views(array: &dyn Array) -> usize {
    match array.data_type() {
        DataType::Utf8View => lengths(array.as_string_view().views()),
        DataType::BinaryView => lengths(array.as_binary_view().views()),
        DataType::List(_) => within(array.as_list::<i32>().values(), array.as_list().offsets()),
        DataType::Map(..) => {
            let map = array.as_map();
            within(map.keys(), map.offsets()) + within(map.values(), map.offsets())
        }
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(|column| bytes_of_views(column)).sum()
        }
        _ => 0,
    }
}

fn lengths(views: &[u128]) -> usize {
    // The length stands in the lower half of a view.
    #[expect(clippy::cast_possible_truncation)]
    let lengths = views.iter().map(|view| *view as u32 as usize);
    lengths.sum()
}

fn within(values: &ArrayRef, offsets: &OffsetBuffer<i32>) -> usize {
    let (first, count) = visible(offsets);
    bytes_of_views(&values.slice(first, count))
}

/// Returns the place of the first value within lists or maps, and the number of values.
pub(crate) fn visible(offsets: &OffsetBuffer<i32>) -> (usize, usize) {
    let place = |offset: Option<&i32>| offset.map_or(0, |place| place.unsigned_abs() as usize);
    let (first, end) = (place(offsets.first()), place(offsets.last()));
    (first, end - first)
}

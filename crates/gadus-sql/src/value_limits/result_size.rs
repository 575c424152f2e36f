//! Sizes of results, by function, from the sizes and values of its arguments.

use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ColumnarValue;

/// Bytes of a value that is neither text nor list.
const FIXED_BYTES: u64 = 16;

/// The longest form of a character in UTF-8.
const CHARACTER_BYTES: u64 = 4;

/// A number for each row of a batch, or one for all.
#[derive(Debug, Clone)]
pub(super) enum Sizes {
    All(u64),
    Rows(Vec<u64>),
}

/// What is known of an argument.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// Bytes of its values.
    pub(super) bytes: Sizes,
    /// Elements, if its values are lists.
    pub(super) elements: Sizes,
    /// Its values, if they are whole numbers; what is negative or NULL is 0.
    pub(super) number: Option<Sizes>,
    /// Its signed values, if they are whole numbers: bounds of series.
    pub(super) signed: Option<Vec<i64>>,
}

impl Sizes {
    pub(super) fn at(&self, row: usize) -> u64 {
        match self {
            Self::All(size) => *size,
            Self::Rows(sizes) => sizes.get(row).copied().unwrap_or(0),
        }
    }

    /// Combines the sizes of two arguments, row by row.
    pub(super) fn with(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::All(one), Self::All(other)) => Self::All(combine(*one, *other)),
            (Self::Rows(rows), other) => {
                let rows = rows.iter().enumerate();
                Self::Rows(rows.map(|(row, one)| combine(*one, other.at(row))).collect())
            }
            (one, Self::Rows(rows)) => {
                let rows = rows.iter().enumerate();
                Self::Rows(rows.map(|(row, other)| combine(one.at(row), *other)).collect())
            }
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn times(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_mul)
    }

    /// The largest, and the sum over so many rows.
    pub(super) fn largest_and_sum(&self, rows: usize) -> (u64, u64) {
        match self {
            Self::All(size) => (*size, size.saturating_mul(rows as u64)),
            Self::Rows(sizes) => {
                let sum = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
                (sizes.iter().copied().max().unwrap_or(0), sum)
            }
        }
    }
}

impl Argument {
    /// Of an argument about which only its size is known.
    pub(super) fn of_bytes(bytes: Sizes) -> Self {
        Self { bytes, elements: Sizes::All(1), number: None, signed: None }
    }

    /// Of an argument that was evaluated.
    pub(super) fn of(value: &ColumnarValue) -> Self {
        match value {
            ColumnarValue::Array(array) => Self::of_array(array),
            ColumnarValue::Scalar(scalar) => Self::of_scalar(scalar),
        }
    }

    pub(super) fn of_scalar(scalar: &ScalarValue) -> Self {
        let Ok(array) = scalar.to_array() else { return Self::of_bytes(Sizes::All(FIXED_BYTES)) };
        let Self { bytes, elements, number, signed } = Self::of_array(&array);
        let first = |sizes: Sizes| Sizes::All(sizes.at(0));
        Self { bytes: first(bytes), elements: first(elements), number: number.map(first), signed }
    }

    pub(super) fn of_array(array: &ArrayRef) -> Self {
        let (bytes, elements) = (bytes_of(array), elements_of(array));
        let signed = match array.data_type().is_integer() {
            true => cast(array, &DataType::Int64).ok().map(|numbers| {
                let numbers = numbers.as_primitive::<Int64Type>();
                numbers.iter().map(|number| number.unwrap_or(0)).collect::<Vec<_>>()
            }),
            false => None,
        };
        let positive = |number: &i64| u64::try_from(*number).unwrap_or(0);
        let number = signed.as_ref().map(|all| Sizes::Rows(all.iter().map(positive).collect()));
        Self { bytes, elements, number, signed }
    }

    fn number(&self) -> Sizes {
        self.number.clone().unwrap_or(Sizes::All(0))
    }

    fn signed_at(&self, row: usize) -> Option<i64> {
        let all = self.signed.as_ref()?;
        all.get(row).or_else(|| all.first()).copied()
    }
}

/// Returns the bytes of the largest value, and of all.
pub(crate) fn largest_and_all(array: &ArrayRef) -> (u64, u64) {
    let views = match array.data_type() {
        DataType::Utf8View => array.as_string_view().views(),
        DataType::BinaryView => array.as_binary_view().views(),
        _ => return bytes_of(array).largest_and_sum(array.len()),
    };
    let (mut largest, mut all) = (0, 0);
    for view in views {
        // The length stands in the lower half of a view.
        #[allow(clippy::cast_possible_truncation)]
        let length = *view as u32;
        largest = length.max(largest);
        all += u64::from(length);
    }
    (largest.into(), all)
}

/// Returns the bytes of each value.
pub(super) fn bytes_of(array: &ArrayRef) -> Sizes {
    let lengths = |length: &dyn Fn(usize) -> usize| {
        Sizes::Rows((0..array.len()).map(|row| length(row) as u64).collect())
    };
    match array.data_type() {
        DataType::Utf8 => {
            lengths(&|row| array.as_string::<i32>().value_length(row).unsigned_abs() as usize)
        }
        DataType::LargeUtf8 => {
            lengths(&|row| usize::try_from(array.as_string::<i64>().value_length(row)).unwrap_or(0))
        }
        DataType::Utf8View => {
            let views = array.as_string_view().views();
            // The length stands in the lower half of a view.
            #[allow(clippy::cast_possible_truncation)]
            lengths(&|row| views[row] as u32 as usize)
        }
        DataType::Binary => {
            lengths(&|row| array.as_binary::<i32>().value_length(row).unsigned_abs() as usize)
        }
        DataType::BinaryView => {
            let views = array.as_binary_view().views();
            #[allow(clippy::cast_possible_truncation)]
            lengths(&|row| views[row] as u32 as usize)
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            bytes_of_lists(list.values(), list.offsets())
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            bytes_of_lists(list.values(), list.offsets())
        }
        _ => Sizes::All(FIXED_BYTES),
    }
}

/// Returns the bytes of each list: those of its elements, whatever else the lists around it hold.
fn bytes_of_lists<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &OffsetBuffer<O>) -> Sizes {
    let place = |offset: &O| offset.as_usize();
    let (first, end) = (place(&offsets[0]), offsets.last().map_or(0, place));
    let elements = match values.data_type().primitive_width() {
        Some(width) => Sizes::All(width as u64),
        None => bytes_of(&values.slice(first, end - first)),
    };
    let of_list = |bounds: &[O]| {
        let places = place(&bounds[0]) - first..place(&bounds[1]) - first;
        match &elements {
            Sizes::All(each) => each.saturating_mul(places.len() as u64),
            Sizes::Rows(sizes) => sizes[places].iter().sum(),
        }
    };
    Sizes::Rows(offsets.windows(2).map(of_list).collect())
}

fn elements_of(array: &ArrayRef) -> Sizes {
    let lengths = |length: &dyn Fn(usize) -> usize| {
        Sizes::Rows((0..array.len()).map(|row| length(row) as u64).collect())
    };
    match array.data_type() {
        DataType::List(_) => {
            lengths(&|row| array.as_list::<i32>().value_length(row).unsigned_abs() as usize)
        }
        DataType::LargeList(_) => {
            lengths(&|row| usize::try_from(array.as_list::<i64>().value_length(row)).unwrap_or(0))
        }
        _ => Sizes::All(1),
    }
}

/// Functions whose result may be far larger than their arguments.
pub(super) fn is_amplifying(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "repeat",
        "lpad",
        "rpad",
        "replace",
        "regexp_replace",
        "array_repeat",
        "array_resize",
        "array_to_string",
        "range",
        "generate_series",
        "concat_ws",
        "concat",
    ];
    NAMES.contains(&name)
}

/// Returns bytes that a function's results have at most, row by row.
pub(super) fn result_bytes(name: &str, arguments: &[Argument]) -> Sizes {
    let none = Argument::of_bytes(Sizes::All(0));
    let argument = |at: usize| arguments.get(at).unwrap_or(&none);
    let (first, second) = (argument(0), argument(1));
    match name {
        "repeat" => first.bytes.times(&second.number()),
        "lpad" | "rpad" => second.number().times(&Sizes::All(CHARACTER_BYTES)),
        // Each occurrence of what is sought becomes the third argument.
        "replace" => {
            let occurrences = first
                .bytes
                .with(&second.bytes, |text, sought| text.checked_div(sought).unwrap_or(0));
            first.bytes.plus(&occurrences.times(&argument(2).bytes))
        }
        // A pattern may fit between any two characters; without a flag, only the first one is replaced.
        "regexp_replace" => {
            let places = match arguments.len() {
                ..4 => Sizes::All(1),
                _ => first.bytes.plus(&Sizes::All(1)),
            };
            first.bytes.plus(&places.times(&argument(2).bytes))
        }
        "array_repeat" => first.bytes.with(&Sizes::All(8), u64::max).times(&second.number()),
        "array_resize" => {
            let each = argument(2).bytes.with(&Sizes::All(8), u64::max);
            first.bytes.plus(&each.times(&second.number()))
        }
        "array_to_string" => {
            let separators = first.elements.times(&second.bytes);
            // Numbers have up to 24 digits.
            first.bytes.times(&Sizes::All(3)).plus(&separators)
        }
        "concat_ws" => {
            let all = sum(&arguments[1.min(arguments.len())..]);
            all.plus(&first.bytes.times(&Sizes::All(arguments.len() as u64)))
        }
        "range" | "generate_series" => series_bytes(arguments),
        _ => sum(arguments),
    }
}

pub(super) fn sum(arguments: &[Argument]) -> Sizes {
    let all = arguments.iter().map(|argument| &argument.bytes);
    all.fold(Sizes::All(0), |sum, bytes| sum.plus(bytes))
}

/// Returns the bytes of lists of whole numbers from a start to an end; dates and times have far fewer.
fn series_bytes(arguments: &[Argument]) -> Sizes {
    let rows = arguments.iter().filter_map(|argument| argument.signed.as_ref().map(Vec::len)).max();
    let bytes = |row| {
        let at = |place: usize| arguments.get(place)?.signed_at(row);
        let (start, end) = match arguments.len() {
            1 => (0, at(0)?),
            _ => (at(0)?, at(1)?),
        };
        let step = at(2).unwrap_or(1).unsigned_abs().max(1);
        Some((end.abs_diff(start) / step).saturating_add(1).saturating_mul(8))
    };
    Sizes::Rows((0..rows.unwrap_or(0)).map(|row| bytes(row).unwrap_or(0)).collect())
}

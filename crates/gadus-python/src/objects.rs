//! Columns as Python objects.

use crate::errors::no_value;
use gadus::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, RecordBatch, StructArray,
};
use gadus::arrow::compute::cast;
use gadus::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use gadus::arrow::error::ArrowError;
use gadus::is_numeric_text;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList, PyString, PyTuple};

/// The day 1970-01-01, as Python counts days.
pub(crate) const EPOCH_ORDINAL: i32 = 719_163;
pub(crate) const MICROSECONDS_A_DAY: i64 = 86_400_000_000;

/// Classes of the standard library that values are.
pub(crate) struct Classes {
    pub(crate) date: Py<PyAny>,
    pub(crate) time: Py<PyAny>,
    pub(crate) datetime: Py<PyAny>,
    pub(crate) timedelta: Py<PyAny>,
    pub(crate) decimal: Py<PyAny>,
    pub(crate) uuid: Py<PyAny>,
    /// 1970-01-01 00:00 without a zone, and in UTC.
    pub(crate) epoch: Py<PyAny>,
    pub(crate) epoch_utc: Py<PyAny>,
}

impl Classes {
    pub(crate) fn of(py: Python<'_>) -> PyResult<&Self> {
        static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
        CLASSES.get_or_try_init(py, || {
            let times = py.import("datetime")?;
            let utc = times.getattr("timezone")?.getattr("utc")?;
            let datetime = times.getattr("datetime")?;
            let midnight = (1970, 1, 1, 0, 0, 0, 0);
            let (year, month, day, ..) = midnight;
            Ok(Self {
                epoch: datetime.call1(midnight)?.unbind(),
                epoch_utc: datetime.call1((year, month, day, 0, 0, 0, 0, utc))?.unbind(),
                date: times.getattr("date")?.unbind(),
                time: times.getattr("time")?.unbind(),
                timedelta: times.getattr("timedelta")?.unbind(),
                datetime: datetime.unbind(),
                decimal: py.import("decimal")?.getattr("Decimal")?.unbind(),
                uuid: py.import("uuid")?.getattr("UUID")?.unbind(),
            })
        })
    }
}

/// Rows of a batch as tuples.
pub(crate) fn tuples<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        if is_numeric_text(field) { decimals(py, column) } else { objects(py, column) }
    });
    let mut columns =
        columns.map(|column| column.map(Vec::into_iter)).collect::<PyResult<Vec<_>>>()?;
    let row = |_| {
        let cells = columns.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>();
        PyTuple::new(py, cells)
    };
    (0..batch.num_rows()).map(row).collect()
}

/// Numerics, which a batch has as texts.
fn decimals<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Object<'py>>> {
    let (classes, texts) = (Classes::of(py)?, array.as_string_view());
    made(py, array, |row| classes.decimal.bind(py).call1((texts.value(row),)))
}

type Object<'py> = Bound<'py, PyAny>;

/// The values of an array.
pub(crate) fn objects<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Object<'py>>> {
    let classes = Classes::of(py)?;
    match array.data_type() {
        DataType::Null => Ok(vec![py.None().into_bound(py); array.len()]),
        DataType::Boolean => each(py, array, array.as_boolean(), BooleanArray::value),
        DataType::Int8 => numbers::<Int8Type>(py, array),
        DataType::Int16 => numbers::<Int16Type>(py, array),
        DataType::Int32 => numbers::<Int32Type>(py, array),
        DataType::Int64 => numbers::<Int64Type>(py, array),
        DataType::UInt8 => numbers::<UInt8Type>(py, array),
        DataType::UInt16 => numbers::<UInt16Type>(py, array),
        DataType::UInt32 => numbers::<UInt32Type>(py, array),
        DataType::UInt64 => numbers::<UInt64Type>(py, array),
        DataType::Float16 => made(py, array, |row| {
            array.as_primitive::<Float16Type>().value(row).to_f32().into_bound_py_any(py)
        }),
        DataType::Float32 => numbers::<Float32Type>(py, array),
        DataType::Float64 => numbers::<Float64Type>(py, array),
        DataType::Utf8 => made(py, array, |row| Ok(text(py, array.as_string::<i32>().value(row)))),
        DataType::LargeUtf8 => {
            made(py, array, |row| Ok(text(py, array.as_string::<i64>().value(row))))
        }
        DataType::Utf8View => {
            made(py, array, |row| Ok(text(py, array.as_string_view().value(row))))
        }
        DataType::Binary => {
            made(py, array, |row| Ok(bytes(py, array.as_binary::<i32>().value(row))))
        }
        DataType::LargeBinary => {
            made(py, array, |row| Ok(bytes(py, array.as_binary::<i64>().value(row))))
        }
        DataType::BinaryView => {
            made(py, array, |row| Ok(bytes(py, array.as_binary_view().value(row))))
        }
        uuid if *uuid == gadus::UUID => made(py, array, |row| {
            let bytes = array.as_fixed_size_binary().value(row);
            let named = [("bytes", bytes)].into_py_dict(py)?;
            classes.uuid.bind(py).call((), Some(&named))
        }),
        DataType::FixedSizeBinary(_) => {
            made(py, array, |row| Ok(bytes(py, array.as_fixed_size_binary().value(row))))
        }
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>();
            made(py, array, |row| classes.decimal.bind(py).call1((values.value_as_string(row),)))
        }
        DataType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>();
            made(py, array, |row| classes.decimal.bind(py).call1((values.value_as_string(row),)))
        }
        _ => nested_or_time(py, array, classes),
    }
}

fn nested_or_time<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    classes: &Classes,
) -> PyResult<Vec<Object<'py>>> {
    match array.data_type() {
        DataType::List(_) => made(py, array, |row| list(py, &array.as_list::<i32>().value(row))),
        DataType::LargeList(_) => {
            made(py, array, |row| list(py, &array.as_list::<i64>().value(row)))
        }
        DataType::FixedSizeList(..) => {
            made(py, array, |row| list(py, &array.as_fixed_size_list().value(row)))
        }
        DataType::Struct(_) => structures(py, array, array.as_struct()),
        DataType::Map(..) => made(py, array, |row| {
            let entries = array.as_map().value(row);
            let [keys, values] = [0, 1].map(|column| objects(py, entries.column(column)));
            let map = PyDict::new(py);
            for (key, value) in keys?.into_iter().zip(values?) {
                map.set_item(key, value)?;
            }
            Ok(map.into_any())
        }),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>();
            let date = classes.date.bind(py).getattr("fromordinal")?;
            made(py, array, |row| {
                let date = date.call1((days.value(row).saturating_add(EPOCH_ORDINAL),));
                date.map_err(|_| beyond_dates(days, row))
            })
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            let times = array.as_primitive::<Time64MicrosecondType>();
            made(py, array, |row| time_of_day(py, times.value(row), classes))
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let epoch = if zone.is_some() { &classes.epoch_utc } else { &classes.epoch };
            let times = array.as_primitive::<TimestampMicrosecondType>();
            made(py, array, |row| {
                let time = delta(py, times.value(row), classes);
                let time = time.and_then(|delta| epoch.bind(py).add(delta));
                time.map_err(|_| beyond_datetimes(times, row))
            })
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            let times = array.as_primitive::<DurationMicrosecondType>();
            made(py, array, |row| delta(py, times.value(row), classes))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let intervals = array.as_primitive::<IntervalMonthDayNanoType>();
            made(py, array, |row| {
                let interval = intervals.value(row);
                // A month has thirty days where days are counted.
                let days = i64::from(interval.months) * 30 + i64::from(interval.days);
                let arguments = (days, 0, interval.nanoseconds / 1_000);
                classes.timedelta.bind(py).call1(arguments)
            })
        }
        other => {
            let simpler = simpler(other);
            let array = cast(array, &simpler).map_err(|error| unreadable(other, &error))?;
            objects(py, &array)
        }
    }
}

/// A type with the same values that is read.
fn simpler(data_type: &DataType) -> DataType {
    use TimeUnit::Microsecond;
    match data_type {
        DataType::Dictionary(_, values) => (**values).clone(),
        DataType::RunEndEncoded(_, values) => values.data_type().clone(),
        DataType::Date64 => DataType::Timestamp(Microsecond, None),
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(Microsecond),
        DataType::Timestamp(_, zone) => DataType::Timestamp(Microsecond, zone.clone()),
        DataType::Duration(_) => DataType::Duration(Microsecond),
        DataType::Interval(_) => DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        _ => DataType::Utf8,
    }
}

fn unreadable(data_type: &DataType, error: &ArrowError) -> PyErr {
    no_value(format!("values of type {data_type} have no form in Python: {error}"))
}

/// None where a value is missing, else what is made of its row.
fn made<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    mut make: impl FnMut(usize) -> PyResult<Object<'py>>,
) -> PyResult<Vec<Object<'py>>> {
    let cell = |row| if array.is_null(row) { Ok(py.None().into_bound(py)) } else { make(row) };
    (0..array.len()).map(cell).collect()
}

fn each<'py, A, V: IntoPyObject<'py>>(
    py: Python<'py>,
    array: &ArrayRef,
    values: &A,
    value: impl Fn(&A, usize) -> V,
) -> PyResult<Vec<Object<'py>>> {
    made(py, array, |row| value(values, row).into_bound_py_any(py))
}

fn numbers<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    array: &ArrayRef,
) -> PyResult<Vec<Object<'py>>>
where
    T::Native: IntoPyObject<'py>,
{
    each(py, array, array.as_primitive::<T>(), PrimitiveArray::<T>::value)
}

fn text<'py>(py: Python<'py>, text: &str) -> Object<'py> {
    PyString::new(py, text).into_any()
}

fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> Object<'py> {
    PyBytes::new(py, bytes).into_any()
}

fn list<'py>(py: Python<'py>, values: &ArrayRef) -> PyResult<Object<'py>> {
    Ok(PyList::new(py, objects(py, values)?)?.into_any())
}

fn structures<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    structure: &StructArray,
) -> PyResult<Vec<Object<'py>>> {
    let columns = structure.columns().iter().map(|column| objects(py, column));
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    made(py, array, |row| {
        let object = PyDict::new(py);
        for (field, values) in structure.fields().iter().zip(&columns) {
            object.set_item(field.name(), values.get(row))?;
        }
        Ok(object.into_any())
    })
}

/// A timedelta of microseconds.
fn delta<'py>(py: Python<'py>, microseconds: i64, classes: &Classes) -> PyResult<Object<'py>> {
    classes.timedelta.bind(py).call1((0, 0, microseconds))
}

fn time_of_day<'py>(
    py: Python<'py>,
    microseconds: i64,
    classes: &Classes,
) -> PyResult<Object<'py>> {
    let (seconds, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let parts = (seconds / 3_600, seconds / 60 % 60, seconds % 60, rest);
    classes.time.bind(py).call1(parts)
}

fn beyond_dates(days: &PrimitiveArray<Date32Type>, row: usize) -> PyErr {
    match infinity(days.value(row).into(), i32::MIN.into(), i32::MAX.into()) {
        Some(infinity) => beyond("a date", Some(infinity)),
        None => beyond("a date", days.value_as_date(row)),
    }
}

fn beyond_datetimes(times: &PrimitiveArray<TimestampMicrosecondType>, row: usize) -> PyErr {
    match infinity(times.value(row), i64::MIN, i64::MAX) {
        Some(infinity) => beyond("a timestamp", Some(infinity)),
        None => beyond("a timestamp", times.value_as_datetime(row)),
    }
}

/// The name of an infinity, which the least and the greatest value are.
fn infinity(value: i64, least: i64, greatest: i64) -> Option<&'static str> {
    match value {
        value if value == least => Some("-infinity"),
        value if value == greatest => Some("infinity"),
        _ => None,
    }
}

/// A value for which Python has no object.
fn beyond(what: &str, value: Option<impl std::fmt::Display>) -> PyErr {
    let value = value.map_or_else(String::new, |value| format!(" {value}"));
    no_value(format!("{what}{value} lies outside of Python's years 1 to 9999"))
}

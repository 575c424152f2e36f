//! Python objects as the values of parameters.

use crate::errors::{misuse, no_value};
use crate::objects::{Classes, MICROSECONDS_A_DAY};
use gadus::{Interval, Value};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{
    IntoPyDict, PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView,
    PyString, PyTuple,
};

/// The value that an object is.
pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    // A boolean is an integer, too.
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Value::Boolean(value.is_true()));
    }
    if let Ok(value) = object.cast::<PyInt>() {
        return integer(value);
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if let Ok(value) = object.cast::<PyString>() {
        return Ok(Value::Text(value.extract()?));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(Value::Binary(value.as_bytes().to_vec()));
    }
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        let bytes = PyBytes::type_object(object.py()).call1((object,))?;
        return Ok(Value::Binary(bytes.extract()?));
    }
    let classes = Classes::of(object.py())?;
    if let Some(value) = time_or_number(object, classes)? {
        return Ok(value);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let values = object.try_iter()?.map(|element| value(&element?));
        return Value::list_of(values.collect::<PyResult<_>>()?)
            .map_err(|error| no_value(error.to_string()));
    }
    if object.is_instance_of::<PyDict>() {
        return document(object);
    }
    // Arrays of numpy are lists.
    if object.hasattr("dtype")? && object.hasattr("ndim")? && object.getattr("ndim")?.gt(0)? {
        return value(&object.call_method0("tolist")?);
    }
    // Scalars of numpy know the Python object that they are.
    if object.hasattr("dtype")? && object.hasattr("item")? {
        let item = of_numpy(object)?;
        if !item.get_type().is(object.get_type()) && !item.hasattr("dtype")? {
            return value(&item);
        }
    }
    match object.get_type().name()?.to_str()? {
        // What pandas has where a value is missing.
        "NAType" => Ok(Value::Null),
        name => Err(misuse(format!("a parameter cannot be a {name}"))),
    }
}

/// A dictionary as JSON, which structures, maps and documents are taken from; what JSON has nothing for is its text.
fn document(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    let named = [("default", PyString::type_object(py))].into_py_dict(py)?;
    let text = py.import("json")?.call_method("dumps", (object,), Some(&named))?;
    Ok(Value::Text(text.extract()?))
}

/// The Python object that a scalar of numpy is. Times of nanoseconds, which none is, are rounded down to
/// microseconds.
fn of_numpy<'py>(scalar: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let item = scalar.call_method0("item")?;
    let kind = scalar.getattr("dtype")?.getattr("kind")?;
    let is_time = kind.eq("M")? || kind.eq("m")?;
    if !is_time || !item.is_instance_of::<PyInt>() {
        return Ok(item);
    }
    if kind.eq("m")? {
        return Err(misuse("a parameter cannot be a timedelta64"));
    }
    let item = scalar.call_method1("astype", ("datetime64[us]",))?.call_method0("item")?;
    match item.is_instance_of::<PyInt>() {
        true => Err(no_value(format!("{} lies outside of Python's years", scalar.str()?))),
        false => Ok(item),
    }
}

fn integer(value: &Bound<'_, PyInt>) -> PyResult<Value> {
    if let Ok(value) = value.extract::<i64>() {
        return Ok(Value::Integer(value));
    }
    match value.extract::<i128>() {
        Ok(wide) if wide.unsigned_abs() < 10_u128.pow(38) => Ok(Value::Decimal(wide, 0)),
        _ => Err(no_value("an integer of more than 38 digits")),
    }
}

/// Dates, times, spans of them, decimals and UUIDs.
fn time_or_number(object: &Bound<'_, PyAny>, classes: &Classes) -> PyResult<Option<Value>> {
    let py = object.py();
    let is = |class: &Py<PyAny>| object.is_instance(class.bind(py));
    Ok(Some(if is(&classes.datetime)? {
        // A datetime as well, and none.
        if object.get_type().name()?.to_str()? == "NaTType" {
            return Ok(Some(Value::Null));
        }
        let aware = !object.getattr("tzinfo")?.is_none();
        let epoch = if aware { &classes.epoch_utc } else { &classes.epoch };
        let microseconds = microseconds(&object.sub(epoch.bind(py))?)?;
        if aware { Value::TimestampUtc(microseconds) } else { Value::Timestamp(microseconds) }
    } else if is(&classes.date)? {
        let ordinal: i32 = object.call_method0("toordinal")?.extract()?;
        Value::Date(ordinal - crate::objects::EPOCH_ORDINAL)
    } else if is(&classes.time)? {
        if !object.getattr("tzinfo")?.is_none() {
            return Err(misuse("a time of day with a zone is no value; give a datetime"));
        }
        let part = |name: &str| object.getattr(name)?.extract::<i64>();
        let minutes = part("hour")? * 60 + part("minute")?;
        Value::Time((minutes * 60 + part("second")?) * 1_000_000 + part("microsecond")?)
    } else if is(&classes.decimal)? {
        decimal(object)?
    } else if is(&classes.timedelta)? {
        // Days and the time stay apart, as drivers of PostgreSQL send them.
        let part = |name: &str| object.getattr(name)?.extract::<i64>();
        let days = object.getattr("days")?.extract()?;
        let microseconds = part("seconds")? * 1_000_000 + part("microseconds")?;
        Value::Interval(Interval { months: 0, days, microseconds })
    } else if is(&classes.uuid)? {
        Value::Text(object.str()?.extract()?)
    } else {
        return Ok(None);
    }))
}

/// A timedelta in microseconds.
fn microseconds(delta: &Bound<'_, PyAny>) -> PyResult<i64> {
    let part = |name: &str| delta.getattr(name)?.extract::<i64>();
    let seconds = part("seconds")? * 1_000_000 + part("microseconds")?;
    Ok(part("days")? * MICROSECONDS_A_DAY + seconds)
}

/// A `decimal.Decimal`, exactly.
fn decimal(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let text: String = object.call_method1("__format__", ("f",))?.extract()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}");
    let few = digits.trim_start_matches('-').trim_start_matches('0').len() <= 38;
    match (digits.parse(), i8::try_from(fraction.len())) {
        (Ok(unscaled), Ok(scale @ ..=38)) if few => Ok(Value::Decimal(unscaled, scale)),
        _ => Err(no_value(format!("{text} is no decimal of up to 38 digits"))),
    }
}

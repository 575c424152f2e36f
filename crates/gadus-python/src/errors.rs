//! The exceptions of DB-API 2.0.
//!
//! - Each has an attribute `kind`, the name of what the caller must do about it: `"Conflict"`,
//!   `"Locked"`, `"UniqueViolation"`.

use crate::connection::Connection;
use gadus::ErrorKind;
use pyo3::prelude::*;

/// The classes, under their own names.
mod classes {
    use pyo3::create_exception;
    use pyo3::exceptions::{PyException, PyWarning};

    create_exception!(gadus, Warning, PyWarning, "Something a program should know.");
    create_exception!(gadus, Error, PyException, "Any error of Gadus.");
    create_exception!(gadus, InterfaceError, Error, "The package was used in a wrong way.");
    create_exception!(gadus, DatabaseError, Error, "An error of the database.");
    create_exception!(gadus, DataError, DatabaseError, "A value that its type cannot hold.");
    create_exception!(gadus, OperationalError, DatabaseError, "Nothing the statement could help.");
    create_exception!(gadus, IntegrityError, DatabaseError, "A key twice, or a NULL too many.");
    create_exception!(gadus, InternalError, DatabaseError, "A defect of Gadus: report it.");
    create_exception!(gadus, ProgrammingError, DatabaseError, "A wrong statement.");
    create_exception!(gadus, NotSupportedError, DatabaseError, "Not part of Gadus.");
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, class) in [
        ("Warning", py.get_type::<classes::Warning>()),
        ("Error", py.get_type::<classes::Error>()),
        ("InterfaceError", py.get_type::<classes::InterfaceError>()),
        ("DatabaseError", py.get_type::<classes::DatabaseError>()),
        ("DataError", py.get_type::<classes::DataError>()),
        ("OperationalError", py.get_type::<classes::OperationalError>()),
        ("IntegrityError", py.get_type::<classes::IntegrityError>()),
        ("InternalError", py.get_type::<classes::InternalError>()),
        ("ProgrammingError", py.get_type::<classes::ProgrammingError>()),
        ("NotSupportedError", py.get_type::<classes::NotSupportedError>()),
    ] {
        // Whoever has a connection alone can catch its errors, too.
        py.get_type::<Connection>().setattr(name, &class)?;
        module.add(name, class)?;
    }
    // Of those that the database has not seen.
    py.get_type::<classes::Error>().setattr("kind", "Input")
}

/// The exception of a database that cannot be opened: a file that is not there is no mistake of a text.
pub(crate) fn unopened(py: Python<'_>, error: &gadus::Error) -> PyErr {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Input => {
            with_kind(py, error, classes::OperationalError::new_err(error.to_string()))
        }
        _ => exception(py, error),
    }
}

/// The exception of an error of the database.
pub(crate) fn exception(py: Python<'_>, error: &gadus::Error) -> PyErr {
    use ErrorKind as Kind;
    let text = error.to_string();
    let exception = match error.kind() {
        Kind::Input | Kind::NotFound | Kind::AlreadyExists => {
            classes::ProgrammingError::new_err(text)
        }
        Kind::UniqueViolation
        | Kind::NotNullViolation
        | Kind::CheckViolation
        | Kind::ForeignKeyViolation => classes::IntegrityError::new_err(text),
        Kind::OutOfRange => classes::DataError::new_err(text),
        Kind::Unsupported => classes::NotSupportedError::new_err(text),
        Kind::Corrupt => classes::DatabaseError::new_err(text),
        Kind::Internal => classes::InternalError::new_err(text),
        _ => classes::OperationalError::new_err(text),
    };
    with_kind(py, error, exception)
}

fn with_kind(py: Python<'_>, error: &gadus::Error, exception: PyErr) -> PyErr {
    // An exception without the attribute says what is wrong all the same.
    let _ = exception.value(py).setattr("kind", format!("{:?}", error.kind()));
    exception
}

/// The package was used in a wrong way.
pub(crate) fn misuse(text: impl Into<String>) -> PyErr {
    classes::InterfaceError::new_err(text.into())
}

/// A statement or its parameters are wrong.
pub(crate) fn wrong(text: impl Into<String>) -> PyErr {
    classes::ProgrammingError::new_err(text.into())
}

/// What was begun cannot go on.
pub(crate) fn no_more(text: impl Into<String>) -> PyErr {
    classes::OperationalError::new_err(text.into())
}

/// A value that no type holds.
pub(crate) fn no_value(text: impl Into<String>) -> PyErr {
    classes::DataError::new_err(text.into())
}

//! What went wrong, as C asks for it.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

thread_local! {
    /// Why this thread's last call has failed.
    static LAST: RefCell<CString> = RefCell::default();
}

/// The reason, until this thread calls again.
pub(crate) fn last() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// What a function makes, that its caller gives back; null where it fails.
pub(crate) fn made<T>(body: impl FnOnce() -> Result<T>) -> *mut T {
    caught(body).map_or(ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// A number; -1 where there is none.
pub(crate) fn number(body: impl FnOnce() -> Result<u64>) -> i64 {
    let number = caught(body);
    number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1)
}

fn caught<T>(body: impl FnOnce() -> Result<T>) -> Option<T> {
    let (result, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => (Some(value), String::new()),
        Ok(Err(error)) => (None, error.to_string()),
        Err(_) => (None, "internal error: please report it".to_owned()),
    };
    // A path may hold what C's strings cannot.
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = message);
    result
}

//! Bytes of a record, shared with the records that were read together with it.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes that were appended as a record.
#[derive(Clone)]
pub struct Payload {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Payload {
    /// A part of bytes, which they have.
    pub(super) fn within(bytes: &Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self { bytes: bytes.clone(), range }
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { bytes: Arc::new(bytes), range }
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Payload {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for Payload {}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

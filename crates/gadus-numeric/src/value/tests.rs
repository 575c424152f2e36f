//! Facts about value.

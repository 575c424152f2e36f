//! Facts about encoding.

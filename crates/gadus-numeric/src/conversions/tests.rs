//! Facts about conversions.

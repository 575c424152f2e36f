//! Facts about arithmetic.

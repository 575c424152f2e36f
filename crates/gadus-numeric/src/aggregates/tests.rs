//! Facts about aggregates.

//! Columns through encoding and back.

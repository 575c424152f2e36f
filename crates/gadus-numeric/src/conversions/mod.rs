//! Conversions from and to integers, floating-point numbers, and decimals of 128 bits.

mod decimal128;
mod floats;
mod integers;
#[cfg(test)]
mod tests;

pub(crate) use floats::nearest_f64;

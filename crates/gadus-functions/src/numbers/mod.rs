//! Functions of numbers: exact decimals, histograms, angles in degrees.

mod decimal;
mod degrees;
mod integers;
mod narrowing;
mod spelling;
#[cfg(test)]
mod tests;
mod width_bucket;

pub use decimal::{Decimal, div, min_scale, trim_scale};
pub use degrees::{acosd, asind, atan2d, atand, cosd, cotd, sind, tand};
pub use integers::{factorial, gcd, lcm};
pub use narrowing::{
    double_of_text, integer_of_double, integer_within, real_of_double, real_of_text,
};
pub use spelling::with_digits;
pub use width_bucket::{width_bucket_double, width_bucket_list, width_bucket_numeric};

pub(crate) use spelling::{general, integer_of_text};

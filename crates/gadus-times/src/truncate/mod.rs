//! The functions `date_trunc` and `date_bin`.

mod bin;
mod intervals;
#[cfg(test)]
mod tests;
mod timestamps;

//! `strict_assert!`: assertions for hot paths.
//!
//! - Checked in test and debug builds, compiled out of release builds; control paths use plain
//!   `assert!`, which stays.

/// Asserts like `assert!` where debug assertions are on, and costs nothing elsewhere.
#[macro_export]
macro_rules! strict_assert {
    ($($argument:tt)*) => {
        if cfg!(debug_assertions) {
            assert!($($argument)*);
        }
    };
}

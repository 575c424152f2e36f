//! Numbers of years, decades, centuries and millennia, before and after Christ.

/// Returns the year as texts and fields have it: there is no year 0.
pub(crate) fn bc_year(year: i32) -> i32 {
    if year > 0 { year } else { year - 1 }
}

/// Returns the decade: the years of the same digits before the last one; 1 BC is in decade 0.
pub(crate) fn decade(year: i32) -> i32 {
    if year > 0 { year / 10 } else { -((9 - year) / 10) }
}

/// Returns the century: the first one begins with the year 1.
pub(crate) fn century(year: i32) -> i32 {
    if year > 0 { (year + 99) / 100 } else { -((100 - year) / 100) }
}

/// Returns the millennium: the first one begins with the year 1.
pub(crate) fn millennium(year: i32) -> i32 {
    if year > 0 { (year + 999) / 1000 } else { -((1000 - year) / 1000) }
}

//! Figures for people: three digits that matter, and a unit near them.

use crate::harness::Ratio;

/// A figure in its unit.
pub(crate) fn shown(figure: f64, unit: &str) -> String {
    if !figure.is_finite() {
        return "unknown".to_owned();
    }
    match unit {
        "ns" if figure < 1e3 => format!("{} ns", digits(figure)),
        "ns" if figure < 1e6 => format!("{} µs", digits(figure / 1e3)),
        "ns" if figure < 1e9 => format!("{} ms", digits(figure / 1e6)),
        "ns" => format!("{} s", digits(figure / 1e9)),
        unit => format!("{} {unit}", digits(figure)),
    }
}

/// A ratio with its interval.
pub(crate) fn ratio_shown(ratio: Ratio) -> String {
    let Ratio { value, low, high } = ratio;
    match low == high {
        true => format!("{} ×", digits(value)),
        false => format!("{} × ({} – {})", digits(value), digits(low), digits(high)),
    }
}

/// Three digits that matter.
pub(crate) fn digits(figure: f64) -> String {
    match figure.abs() {
        size if !figure.is_finite() => format!("{size}"),
        size if size >= 99.95 => format!("{figure:.0}"),
        size if size >= 9.995 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

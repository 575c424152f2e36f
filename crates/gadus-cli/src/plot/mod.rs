//! Results as charts: in the characters of a terminal, or as an SVG.
//!
//! - The first column is x, the other columns of numbers are series. What is held of a result is bounded: more points
//!   than can be seen are thinned so that peaks stay, and that is told.

mod bars;
mod canvas;
mod data;
mod lines;
mod scale;
mod svg;

pub(crate) use data::{Data, Kind};
pub(crate) use svg::write as write_svg;

/// Room for a chart, and what may be in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Whether more than ASCII is shown.
    pub(crate) is_unicode: bool,
    /// Whether series have colours.
    pub(crate) has_colors: bool,
}

/// The lines of a chart.
pub(crate) fn drawn(data: &Data, page: Page) -> Vec<String> {
    let mut lines = match data.kind {
        Kind::Line | Kind::Scatter => lines::drawn(data, page),
        Kind::Bar | Kind::Histogram => bars::drawn(data, page),
    };
    lines.extend(data.thinned.clone());
    lines
}

#[cfg(test)]
mod tests;

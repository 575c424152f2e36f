//! How wide the columns of a table are, and which are shown when not all fit.
//!
//! - Widths count terminal cells, not characters: wide letters take two.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands for what is left out.
pub(super) const ELLIPSIS: &str = "…";
/// Columns are not narrowed below this; rather some are left out.
const WIDTH_MIN: usize = 8;
/// `│ ` before and ` ` after each cell.
const FRAME: usize = 3;

/// One column as shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// Its index in the result; none for the one that stands for those left out.
    pub(super) index: Option<usize>,
    pub(super) width: usize,
    pub(super) right: bool,
}

/// The columns to show, for the widths that they would like to have.
pub(super) fn columns(wanted: &[usize], numeric: &[bool], width_max: Option<usize>) -> Vec<Column> {
    let mut columns: Vec<Column> = wanted
        .iter()
        .zip(numeric)
        .enumerate()
        .map(|(index, (width, right))| Column { index: Some(index), width: *width, right: *right })
        .collect();
    let Some(width_max) = width_max else { return columns };
    narrow(&mut columns, width_max);
    if total(&columns) > width_max && columns.len() > 2 {
        leave_out_middle(&mut columns, width_max);
    }
    columns
}

/// Takes from the widest until all fit, or none is wide any more.
fn narrow(columns: &mut [Column], width_max: usize) {
    while total(columns) > width_max {
        let excess = total(columns) - width_max;
        let mut widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let widest = widths[0];
        if widest <= WIDTH_MIN {
            return;
        }
        // Down to the next narrower one at most, so that columns of equal width stay equal.
        let next = widths.iter().copied().find(|width| *width < widest).unwrap_or(0).max(WIDTH_MIN);
        let sharing = widths.iter().filter(|width| **width == widest).count();
        let cut = excess.div_ceil(sharing).min(widest - next);
        for column in columns.iter_mut().filter(|column| column.width == widest) {
            column.width -= cut;
        }
    }
}

/// Keeps columns from both ends, as many as fit, and one ellipsis between them.
fn leave_out_middle(columns: &mut Vec<Column>, width_max: usize) {
    let middle = columns.len() / 2;
    columns[middle] = Column { index: None, width: 1, right: false };
    let mut gap = middle;
    while total(columns) > width_max && columns.len() > 3 {
        let left_has_more = gap > columns.len() - gap - 1;
        let victim = if left_has_more { gap - 1 } else { gap + 1 };
        columns.remove(victim);
        gap -= usize::from(left_has_more);
    }
}

fn total(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width + FRAME).sum::<usize>() + 1
}

/// The width of a text in terminal cells.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text in exactly `width` cells, or more when it is longer and `cut` is false.
pub(super) fn fitted(text: &str, width: usize, right: bool, cut: bool) -> String {
    let own = text.width();
    if own > width && cut {
        return fitted(&shortened(text, width), width, right, false);
    }
    let padding = " ".repeat(width.saturating_sub(own));
    if right { padding + text } else { text.to_owned() + &padding }
}

/// The text in at most `width` cells.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() > width { shortened(text, width) } else { text.to_owned() }
}

fn shortened(text: &str, width: usize) -> String {
    let mut short = String::new();
    let mut used = 1; // the ellipsis
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        short.push(character);
    }
    short + ELLIPSIS
}

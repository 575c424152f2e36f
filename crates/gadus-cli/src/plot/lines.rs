//! Lines and points with their axes, in characters.

use super::Page;
use super::canvas::Canvas;
use super::data::{Data, Kind};
use super::scale::{Axis, Scale};
use unicode_width::UnicodeWidthStr;

/// Rows beneath the canvas and above it: the legend, the axis and its values.
const ROWS_AROUND: usize = 3;

pub(super) fn drawn(data: &Data, page: Page) -> Vec<String> {
    let points = || data.series.iter().flat_map(|series| &series.points);
    let (x, y) = (Scale::of(points().map(|at| at.0)), Scale::of(points().map(|at| at.1)));
    let rows = page.height.saturating_sub(ROWS_AROUND).max(3);
    let ticks = y.ticks(&Axis::Number, (rows / 3).max(2));
    let margin = ticks.iter().map(|(_, text)| text.len()).max().unwrap_or(0);
    let columns = page.width.saturating_sub(margin + 2).max(8);
    let mut canvas = Canvas::new(page, columns, rows, data.series.len());
    for (number, series) in data.series.iter().enumerate() {
        let mut before = None;
        for &(at_x, at_y) in &series.points {
            let place = (x.part(at_x), y.part(at_y));
            match before.filter(|_| data.kind == Kind::Line) {
                Some(before) => canvas.line(number, before, place),
                None => canvas.point(number, place),
            }
            before = Some(place);
        }
    }
    let (corner, axis, mark, below) = match page.is_unicode {
        true => ('└', '│', '┤', '─'),
        false => ('+', '|', '+', '-'),
    };
    let mut lines = vec![legend(data, &canvas)];
    for (row, text) in canvas.rows().enumerate() {
        let is_here = |(value, _): &&(f64, String)| row_of(y.part(*value), rows) == row;
        match ticks.iter().find(is_here) {
            Some((_, label)) => lines.push(format!("{label:>margin$} {mark}{text}")),
            None => lines.push(format!("{:>margin$} {axis}{text}", "")),
        }
    }
    let (marks, labels) = below_axis(data, x, columns, below);
    lines.push(format!("{:>margin$} {corner}{marks}", ""));
    lines.push(format!("{:>margin$}  {labels}", "").trim_end().to_owned());
    lines
}

fn legend(data: &Data, canvas: &Canvas) -> String {
    let named = |(number, series): (usize, &super::data::Series)| {
        format!("{} {}", canvas.mark(number), series.name)
    };
    let series = data.series.iter().enumerate().map(named).collect::<Vec<_>>();
    format!("{}   x: {}", series.join("   "), data.x_name)
}

/// The line of the axis with its marks, and the values beneath them, as many as have room.
fn below_axis(data: &Data, x: Scale, columns: usize, line: char) -> (String, String) {
    let mut marks = vec![line; columns];
    let (mut labels, mut ends) = (String::new(), 0);
    // Of about twelve characters each.
    for (value, text) in x.ticks(&data.x, (columns / 12).max(1)) {
        let column = column_of(x.part(value), columns);
        let wide = text.width();
        let begins = column.saturating_sub(wide / 2).min(columns.saturating_sub(wide));
        if ends > 0 && begins < ends + 1 {
            continue;
        }
        if let Some(mark) = marks.get_mut(column) {
            *mark = if line == '─' { '┬' } else { '+' };
        }
        labels.push_str(&" ".repeat(begins - labels.width().min(begins)));
        labels.push_str(&text);
        ends = begins + wide;
    }
    (marks.into_iter().collect(), labels)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a terminal has some hundreds of columns"
)]
fn column_of(part: f64, columns: usize) -> usize {
    (part * (columns.max(1) - 1) as f64).round() as usize
}

fn row_of(part: f64, rows: usize) -> usize {
    rows - 1 - column_of(part, rows)
}

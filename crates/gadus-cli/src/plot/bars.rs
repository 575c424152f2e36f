//! Bars, one a row, and histograms, which are bars of counts.

use super::Page;
use super::canvas::painted;
use super::data::{Data, Kind};
use super::scale::{Scale, nice_step, number, text};
use crate::output::cut;
use unicode_width::UnicodeWidthStr;

/// Eighths of a character, from the left.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// What a label takes of the width, at most.
const LABEL_PART: usize = 3;

/// A bar: what it is of, its series and its length.
struct Bar {
    label: String,
    series: usize,
    value: f64,
}

pub(super) fn drawn(data: &Data, page: Page) -> Vec<String> {
    let bars = match data.kind {
        Kind::Histogram => counts(data, page.height.saturating_sub(1).max(4))
            .into_iter()
            .map(|(low, high, count)| Bar {
                label: span(low, high),
                series: 0,
                #[allow(clippy::cast_precision_loss)] // shown with a few digits
                value: count as f64,
            })
            .collect(),
        _ => bars_of(data),
    };
    let names = data.series.iter().enumerate();
    let names = names.map(|(at, series)| match data.series.len() {
        1 => series.name.clone(),
        _ => painted(page, at, format!("{} {}", mark(page, at), series.name)),
    });
    let title = match data.kind {
        Kind::Histogram => format!("{}: how many", names.collect::<Vec<_>>().join("   ")),
        _ => format!("{}   by {}", names.collect::<Vec<_>>().join("   "), data.x_name),
    };
    let all = Scale::of(bars.iter().map(|bar| bar.value).chain([0.0]));
    let step = step_of(bars.iter().map(|bar| bar.value), all);
    let values = bars.iter().map(|bar| number(bar.value, step)).collect::<Vec<_>>();
    let label_max = page.width / LABEL_PART;
    let labels = bars.iter().map(|bar| cut(&bar.label, label_max)).collect::<Vec<_>>();
    let label_width = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let value_width = values.iter().map(String::len).max().unwrap_or(0);
    let tag_width = if data.series.len() > 1 { 2 } else { 0 };
    // A bar that begins within a character may end in one more.
    let around = label_width + value_width + tag_width + 4;
    let room = page.width.saturating_sub(around).max(4);
    let mut lines = vec![title];
    for ((bar, label), value) in bars.iter().zip(&labels).zip(&values) {
        let pad = " ".repeat(label_width - label.width());
        let (before, length) = placed(bar.value, all, room);
        let shown = painted(page, bar.series, length);
        let axis = if page.is_unicode { '│' } else { '|' };
        let tag = match data.series.len() {
            0 | 1 => String::new(),
            _ => format!(" {}", mark(page, bar.series)),
        };
        let shown = if page.is_unicode { shown } else { ascii(&shown) };
        lines
            .push(format!("{pad}{label} {axis}{before}{shown} {value}{tag}").trim_end().to_owned());
    }
    lines
}

/// The digits that values are written with: all that they have, where these are few.
fn step_of(values: impl Iterator<Item = f64> + Clone, all: Scale) -> f64 {
    let is_exact = |step: &f64| {
        values.clone().all(|value| ((value / step).round() * step - value).abs() < step * 1e-6)
    };
    let exact = [1.0, 0.1, 0.01, 0.001].into_iter().find(is_exact);
    exact.unwrap_or_else(|| nice_step((all.high - all.low) / 1000.0))
}

/// By what series are told apart where there are several.
fn mark(page: Page, series: usize) -> char {
    const MARKS: [char; 6] = ['●', '▲', '■', '◆', '○', '△'];
    const ASCII: [char; 6] = ['*', '+', 'o', 'x', '#', '@'];
    if page.is_unicode { MARKS[series % 6] } else { ASCII[series % 6] }
}

/// Blocks as ASCII has them: whole ones.
fn ascii(blocks: &str) -> String {
    let shown = |block: char| match block {
        '█' | '▉' | '▊' | '▋' | '▌' => Some('#'),
        '▍' | '▎' | '▏' => None,
        other => Some(other),
    };
    blocks.chars().filter_map(shown).collect()
}

/// Bars of a result, those of one value of x beside each other.
fn bars_of(data: &Data) -> Vec<Bar> {
    let mut places =
        data.series.iter().flat_map(|series| &series.points).map(|at| at.0).collect::<Vec<_>>();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let step = nice_step(Scale::of(places.iter().copied()).high.abs().max(1e-9) / 1000.0).min(1.0);
    let mut bars = Vec::new();
    for place in places {
        let mut label = text(place, &data.x, step);
        for (number, series) in data.series.iter().enumerate() {
            for (_, value) in series.points.iter().filter(|(at, _)| *at == place) {
                bars.push(Bar { label: std::mem::take(&mut label), series: number, value: *value });
            }
        }
    }
    bars
}

/// Blanks before a bar, and the bar: to the left of 0 where it is below.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a terminal has some hundreds of columns"
)]
fn placed(value: f64, all: Scale, room: usize) -> (String, String) {
    let eighths = |value: f64| (all.part(value) * (room * 8) as f64).round() as usize;
    let (zero, end) = (eighths(0.0), eighths(value));
    if value < 0.0 {
        // Whole characters: there are no blocks that fill one from the right.
        let begin = end / 8;
        return (" ".repeat(begin), "█".repeat((zero / 8).max(begin + 1) - begin));
    }
    let length = end.saturating_sub(zero);
    let mut bar = "█".repeat(length / 8);
    if !length.is_multiple_of(8) {
        bar.push(EIGHTHS[length % 8]);
    }
    (" ".repeat(zero / 8), bar)
}

/// How many values are in each of about so many ranges of one length.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "there are a few dozen ranges"
)]
pub(super) fn counts(data: &Data, ranges: usize) -> Vec<(f64, f64, u64)> {
    let values = || data.series.iter().take(1).flat_map(|series| &series.points).map(|at| at.1);
    let all = Scale::of(values());
    let step = nice_step((all.high - all.low) / ranges as f64);
    let first = (all.low / step).floor();
    let last = (all.high / step).floor();
    let mut counts = vec![0_u64; ((last - first) as usize + 1).min(ranges + 2)];
    let most = counts.len() - 1;
    for value in values() {
        counts[(((value / step).floor() - first) as usize).min(most)] += 1;
    }
    let range = |(at, count): (usize, u64)| {
        let low = (first + at as f64) * step;
        (low, low + step, count)
    };
    counts.into_iter().enumerate().map(range).collect()
}

fn span(low: f64, high: f64) -> String {
    let step = high - low;
    format!("{} to {}", number(low, step), number(high, step))
}

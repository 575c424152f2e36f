//! A chart as an SVG that needs nothing else.

use super::bars::counts;
use super::data::{Data, Kind};
use super::scale::{Axis, Scale};
use crate::failure::Failure;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 480;

/// Ranges of a histogram, and labels of an axis, for this size.
const RANGES: usize = 40;
const LABELS: usize = 8;

type Failed<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// Writes the chart to a file.
pub(crate) fn write(data: &Data, path: &Path) -> Result<(), Failure> {
    let mut image = String::new();
    drawn(data, &mut image).map_err(|error| Failure::message(format!("{error}")))?;
    std::fs::write(path, image)
        .map_err(|error| Failure::message(format!("{} cannot be written: {error}", path.display())))
}

fn drawn<'a>(data: &Data, image: &'a mut String) -> Result<(), Failed<'a>> {
    let area = SVGBackend::with_string(image, (WIDTH, HEIGHT)).into_drawing_area();
    area.fill(&WHITE)?;
    let ranges = if data.kind == Kind::Histogram { counts(data, RANGES) } else { Vec::new() };
    let is_bar = matches!(data.kind, Kind::Bar | Kind::Histogram);
    let (x, y) = scales(data, &ranges, is_bar);
    let half = width_of_bars(data, x) / 2.0;
    let room = (y.high - y.low) * 0.04;
    let side = if data.kind == Kind::Bar { half * 1.2 } else { 0.0 };
    let below = if is_bar { 0.0 } else { room };
    let x_axis = if ranges.is_empty() { &data.x } else { &Axis::Number };
    let along = Marked::new(x, (side, side), x_axis);
    let up = Marked::new(y, (below, room), &Axis::Number);
    let (along_texts, up_texts) = (along.texts.clone(), up.texts.clone());
    let mut axes = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d(along, up)?;
    let name = if ranges.is_empty() { data.x_name.as_str() } else { &data.series[0].name };
    axes.configure_mesh()
        .x_desc(name)
        .y_desc(if ranges.is_empty() { "" } else { "how many" })
        .x_label_formatter(&|value| text_of(&along_texts, *value))
        .y_label_formatter(&|value| text_of(&up_texts, *value))
        .light_line_style(WHITE)
        .draw()?;
    for (low, high, count) in ranges.iter().copied() {
        #[allow(clippy::cast_precision_loss)] // a length in a picture
        let bar = [(low, 0.0), (high, count as f64)];
        axes.draw_series([Rectangle::new(bar, Palette99::pick(0).filled())])?;
    }
    let many = data.series.len().max(1);
    for (number, series) in data.series.iter().enumerate().filter(|_| ranges.is_empty()) {
        let color = Palette99::pick(number).to_rgba();
        let points = series.points.iter().copied();
        let told = match data.kind {
            Kind::Line => axes.draw_series(LineSeries::new(points, color.stroke_width(2)))?,
            Kind::Scatter => {
                axes.draw_series(points.map(|at| Circle::new(at, 3, color.filled())))?
            }
            Kind::Bar | Kind::Histogram => {
                #[allow(clippy::cast_precision_loss)] // a dozen at most
                let (wide, at) = (half * 2.0 / many as f64, number as f64);
                axes.draw_series(points.map(|(x, y)| {
                    let left = x - half + wide * at;
                    Rectangle::new([(left, 0.0), (left + wide, y)], color.filled())
                }))?
            }
        };
        told.label(&series.name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 14, y + 4)], color.filled()));
    }
    if ranges.is_empty() {
        axes.configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    drop(axes);
    area.present()
}

/// The ranges of both axes; bars begin at 0.
fn scales(data: &Data, ranges: &[(f64, f64, u64)], is_bar: bool) -> (Scale, Scale) {
    let zero = is_bar.then_some(0.0).into_iter();
    if ranges.is_empty() {
        let points = || data.series.iter().flat_map(|series| &series.points);
        return (
            Scale::of(points().map(|at| at.0)),
            Scale::of(points().map(|at| at.1).chain(zero)),
        );
    }
    let ends = ranges.iter().flat_map(|(low, high, _)| [*low, *high]);
    #[allow(clippy::cast_precision_loss)] // a length in a picture
    let counts = ranges.iter().map(|range| range.2 as f64);
    (Scale::of(ends), Scale::of(counts.chain(zero)))
}

/// A range of values of which some are marked.
struct Marked {
    low: f64,
    high: f64,
    texts: Vec<(f64, String)>,
}

impl Marked {
    fn new(scale: Scale, (before, behind): (f64, f64), axis: &Axis) -> Self {
        let texts = scale.ticks(axis, LABELS);
        Self { low: scale.low - before, high: scale.high + behind, texts }
    }
}

fn text_of(texts: &[(f64, String)], value: f64) -> String {
    let known = texts.iter().find(|(at, _)| *at == value);
    known.map_or_else(String::new, |(_, text)| text.clone())
}

impl Ranged for Marked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    #[allow(clippy::cast_possible_truncation)] // a place in the picture
    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let part = Scale { low: self.low, high: self.high }.part(*value);
        from + (part * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.texts.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

/// What a bar has of x: most of the way to the nearest other one.
fn width_of_bars(data: &Data, x: Scale) -> f64 {
    let mut places =
        data.series.iter().flat_map(|series| &series.points).map(|at| at.0).collect::<Vec<_>>();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let between = places.windows(2).map(|pair| pair[1] - pair[0]);
    between.fold(x.high - x.low, f64::min) * 0.8
}

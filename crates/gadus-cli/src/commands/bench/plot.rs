//! Figures as a picture: an SVG of one or several charts, both axes logarithmic.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::failure::Failure;

/// A chart.
#[derive(Debug)]
pub(super) struct Chart {
    /// What is above it.
    pub(super) title: String,
    pub(super) x: &'static str,
    pub(super) y: &'static str,
    pub(super) curves: Vec<Curve>,
}

/// One line of a chart.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) name: String,
    /// Rising in x; both values above zero.
    pub(super) points: Vec<(f64, f64)>,
}

const WIDTH: u32 = 900;
const HEIGHT: u32 = 420;

/// Writes the charts below one another.
pub(super) fn write(path: &Path, charts: &[Chart]) -> Result<(), Failure> {
    let rows = u32::try_from(charts.len()).expect("a few charts");
    let image = SVGBackend::new(path, (WIDTH, HEIGHT * rows)).into_drawing_area();
    let failed =
        |error: &dyn std::fmt::Display| Failure::message(format!("{}: {error}", path.display()));
    image.fill(&WHITE).map_err(|error| failed(&error))?;
    for (chart, area) in charts.iter().zip(image.split_evenly((charts.len(), 1))) {
        draw(chart, &area).map_err(|error| failed(&error))?;
    }
    image.present().map_err(|error| failed(&error))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw<'a>(
    chart: &Chart,
    area: &Area<'a>,
) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let (x, y) = (range(points().map(|point| point.0)), range(points().map(|point| point.1)));
    let mut axes = ChartBuilder::on(area)
        .caption(&chart.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(72)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    let number = |value: &f64| shown(*value);
    axes.configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .light_line_style(WHITE)
        .draw()?;
    for (number, curve) in chart.curves.iter().enumerate() {
        let style = Palette99::pick(number).stroke_width(2);
        axes.draw_series(LineSeries::new(curve.points.iter().copied(), style).point_size(3))?
            .label(&curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    axes.configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()
}

/// What holds all values, with some room.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { 1.0..10.0 } else { low / 1.3..high * 1.5 }
}

/// A number of an axis, as short as it is exact.
fn shown(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_each_curve_with_its_name() {
        let file = std::env::temp_dir().join(format!("gadus-plot-{}.svg", std::process::id()));
        let curve = |name: &str, factor: f64| Curve {
            name: name.to_owned(),
            points: [1.0, 64.0, 2_048.0].map(|x| (x, factor * x)).to_vec(),
        };
        let chart = Chart {
            title: "a title".to_owned(),
            x: "outstanding",
            y: "statements/s",
            curves: vec![curve("one of them", 10.0), curve("the other", 0.1)],
        };
        let empty = Chart { title: "empty".to_owned(), x: "x", y: "y", curves: Vec::new() };
        write(&file, &[chart, empty]).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(text.trim_end().ends_with("</svg>"), "{text}");
        for part in ["a title", "one of them", "the other", "statements/s", "polyline", "empty"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

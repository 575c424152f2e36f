//! Pictures of the page: bars of a cell's contestants, and curves over what is varied. All scales are logarithmic.

use super::figures::shown;
use crate::report::{Benchmark, Cell, Report, Side};
use gadus_base::escaped;

/// Tells curves of one side apart, by dashes; its colour tells the side.
const DASHES: [&str; 8] = ["", "6 3", "2 3", "8 3 2 3", "12 4", "1 5", "8 3 2 3 2 3", "4 6"];

/// Of a picture with curves, in its own units.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 12.0;

/// A value's place between two others, from 0 to 1.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let known = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = known
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        (low <= high).then(|| Self { low: low / 1.5, high: high * 1.1 })
    }

    fn place(&self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

/// A bar for each contestant, with the interval of its median.
pub(super) fn bars(cell: &Cell) -> String {
    let all = cell.measured.iter().flat_map(|measured| {
        [measured.summary.median, measured.summary.low, measured.summary.high]
    });
    let Some(scale) = Scale::of(all) else { return String::new() };
    let bar = |measured: &crate::report::Measured| {
        let summary = &measured.summary;
        let percent = |value: f64| scale.place(value) * 100.0;
        let (low, high) = (percent(summary.low), percent(summary.high));
        format!(
            "<div class=\"bar {}\"><span>{}</span><span class=\"track\"><span class=\"fill\" \
             style=\"width:{:.1}%\"></span><span class=\"range\" style=\"left:{low:.1}%;width:{:.1}%\">\
             </span></span><span class=\"value\">{}</span></div>\n",
            measured.side.word(),
            escaped(&measured.who),
            percent(summary.median),
            (high - low).max(0.0),
            escaped(&shown(summary.median, &cell.unit)),
        )
    };
    let bars = cell.measured.iter().map(bar).collect::<String>();
    format!(
        "<div class=\"bars\">\n{bars}<div class=\"scale\">logarithmic; blue the kernel's, orange in user \
         mode</div></div>\n"
    )
}

/// A curve of somebody over a number.
struct Curve {
    who: String,
    side: Side,
    points: Vec<(f64, f64)>,
}

/// What is varied over a range, as curves.
pub(super) fn curves(report: &Report) -> String {
    let pictures = [
        (Benchmark::Message, "echo", "bytes", "An echo to another processor, by its bytes"),
        (Benchmark::Lock, "a lock beside held ones", "held", "A lock, by how many others are held"),
        (Benchmark::Bind, "rewrite a file", "bytes", "A file rewritten (warm), by its bytes"),
        (
            Benchmark::Replace,
            "policy on a trace",
            "pages_per_frame",
            "Misses of a Zipf trace, by pages to a frame",
        ),
    ];
    let pictures = pictures.into_iter().filter_map(|(benchmark, name, variable, title)| {
        let cells = report.of(benchmark).filter(|cell| cell.name == name && is_of_curve(cell));
        picture(&cells.collect::<Vec<_>>(), variable, title)
    });
    let pictures = pictures.collect::<String>();
    match pictures.is_empty() {
        true => String::new(),
        false => format!("<div class=\"curves\">\n{pictures}</div>\n"),
    }
}

/// Of cells that vary in several things, those of one curve.
fn is_of_curve(cell: &Cell) -> bool {
    let is = |variable: &str, value: &str| cell.variable(variable).is_none_or(|is| is == value);
    let echoes = cell.name != "echo" || cell.origin == crate::report::Origin::Modern;
    echoes && is("processor", "other") && is("cache", "warm") && is("pattern", "Zipf")
}

fn picture(cells: &[&Cell], variable: &str, title: &str) -> Option<String> {
    let curves = curves_of(cells, variable);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Scale::of(points().map(|point| point.0))?;
    let y = Scale::of(points().map(|point| point.1))?;
    if cells.len() < 2 {
        return None;
    }
    let across = |value: f64| LEFT + x.place(value) * (WIDTH - LEFT - RIGHT);
    let up = |value: f64| HEIGHT - BOTTOM - y.place(value) * (HEIGHT - BOTTOM - TOP);
    let unit = &cells[0].unit;
    let mut svg = axes(&x, &y, unit, &across, &up);
    for (number, curve) in curves.iter().enumerate() {
        let places = curve.points.iter().map(|(x, y)| format!("{:.1},{:.1}", across(*x), up(*y)));
        svg.push_str(&format!(
            "<polyline fill=\"none\" stroke=\"var(--{})\" stroke-width=\"2\" stroke-dasharray=\"{}\" \
             points=\"{}\"><title>{}</title></polyline>\n",
            curve.side.word(),
            dashes(&curves, number),
            places.collect::<Vec<_>>().join(" "),
            escaped(&curve.who),
        ));
    }
    let legend = curves.iter().enumerate().map(|(number, curve)| {
        format!(
            "<div><svg viewBox=\"0 0 40 8\" style=\"width:40px\" aria-hidden=\"true\"><line x1=\"0\" \
             x2=\"40\" y1=\"4\" y2=\"4\" stroke=\"var(--{})\" stroke-width=\"2\" \
             stroke-dasharray=\"{}\"/></svg> {}</div>",
            curve.side.word(),
            dashes(&curves, number),
            escaped(&curve.who),
        )
    });
    Some(format!(
        "<figure><figcaption><strong>{}</strong></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\" aria-label=\"{}\">\n{svg}</svg>\n<div class=\"scale\">{}</div></figure>\n",
        escaped(title),
        escaped(title),
        legend.collect::<String>(),
    ))
}

/// By the curve's place among those of its side.
fn dashes(curves: &[Curve], number: usize) -> &'static str {
    let before = curves[..number].iter().filter(|curve| curve.side == curves[number].side).count();
    DASHES[before % DASHES.len()]
}

fn axes(
    x: &Scale,
    y: &Scale,
    unit: &str,
    across: &impl Fn(f64) -> f64,
    up: &impl Fn(f64) -> f64,
) -> String {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let mut svg =
        format!("<path class=\"axis\" fill=\"none\" d=\"M{LEFT},{TOP} V{bottom} H{right}\"/>\n");
    for value in marks(y) {
        svg.push_str(&format!(
            "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            LEFT - 4.0,
            up(value) + 4.0,
            escaped(&shown(value, unit).replace(" misses in a thousand", " ‰")),
        ));
    }
    for value in marks(x) {
        svg.push_str(&format!(
            "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            across(value),
            HEIGHT - 10.0,
            short(value),
        ));
    }
    svg
}

/// Powers of ten within a scale, at most five of them; its ends where there are none.
fn marks(scale: &Scale) -> Vec<f64> {
    let (first, last) = (scale.low.log10().ceil(), scale.high.log10().floor());
    let count = last - first + 1.0;
    if count < 2.0 {
        return vec![scale.low * 1.5, scale.high / 1.1];
    }
    let step = (count / 5.0).ceil();
    let places = (0..5_u32).map(|turn| first + f64::from(turn) * step);
    places.filter(|power| *power <= last).map(|power| 10_f64.powf(power)).collect()
}

fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.0} M", value / 1e6),
        value if value >= 1e3 => format!("{:.0} k", value / 1e3),
        value if value >= 1.0 => format!("{value:.0}"),
        value => format!("{value:.2}"),
    }
}

fn curves_of(cells: &[&Cell], variable: &str) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for cell in cells {
        let number = cell.variable(variable).and_then(|value| value.parse::<f64>().ok());
        let Some(number) = number.filter(|number| *number > 0.0) else { continue };
        for measured in &cell.measured {
            let point = (number, measured.summary.median);
            match curves.iter_mut().find(|curve| curve.who == measured.who) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve {
                    who: measured.who.clone(),
                    side: measured.side,
                    points: vec![point],
                }),
            }
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    curves
}

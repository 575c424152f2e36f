//! What of a result is drawn: x, and series of points.
//!
//! - A series holds about [`POINTS_MAX`] points at most. Where a result has more, of each group of neighbours the lowest
//!   and the highest stay, so that what sticks out still does; groups are of one size from the first row to the last.
//! - A histogram counts all values: none of them is left out.

use super::scale::Axis;
use crate::failure::Failure;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, TimeUnit};
use gadus::{Rows, schema_with_doubles, with_doubles};

/// Many times what a terminal or a picture shows beside each other.
const POINTS_MAX: usize = 20_000;

/// Values that a histogram counts: 160 MB of them.
const COUNTED_MAX: usize = 10_000_000;

/// Bars that are drawn, of the first rows.
const BARS_MAX: usize = 60;

/// Series of one chart.
const SERIES_MAX: usize = 12;

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Line,
    Bar,
    Scatter,
    Histogram,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "line" => Self::Line,
            "bar" => Self::Bar,
            "scatter" => Self::Scatter,
            "histogram" => Self::Histogram,
            _ => return None,
        })
    }
}

/// What is drawn.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) kind: Kind,
    pub(super) x_name: String,
    pub(super) x: Axis,
    pub(super) series: Vec<Series>,
    /// That not all of the result is drawn.
    pub(crate) thinned: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// How many points of the result are two that are kept; each is, where this is none.
    group: Option<usize>,
    open: Vec<(f64, f64)>,
}

/// The columns that are drawn.
struct Columns {
    /// None is the number of the row.
    x: Option<usize>,
    y: Vec<usize>,
}

impl Data {
    /// Reads the rows of a result; where no kind is said, texts are bars and all else lines.
    ///
    /// # Errors
    /// Where there are no rows, or no numbers.
    pub(crate) fn read(mut rows: Rows, kind: Option<Kind>) -> Result<Self, Failure> {
        let schema = schema_with_doubles(rows.schema());
        let fields = schema.fields().iter().map(|field| &**field).collect::<Vec<_>>();
        let columns = columns(&fields, kind)?;
        let of_x = columns.x.map(|at| fields[at]);
        let axis = match of_x.map(Field::data_type) {
            None => Axis::Number,
            Some(data_type) if is_number(data_type) => Axis::Number,
            Some(data_type) if is_time(data_type) => Axis::Time,
            Some(_) => Axis::Texts(Vec::new()),
        };
        let usual = if matches!(axis, Axis::Texts(_)) { Kind::Bar } else { Kind::Line };
        let series = columns.y.iter().map(|at| {
            let name = fields[*at].name().clone();
            Series { name, ..Series::default() }
        });
        let mut data = Self {
            kind: kind.unwrap_or(usual),
            x_name: of_x.map_or_else(|| "row".to_owned(), |field| field.name().clone()),
            x: axis,
            series: series.collect(),
            thinned: None,
        };
        let (mut count, mut left_out) = (0_u64, 0_u64);
        while let Some(batch) = rows.next_batch()? {
            left_out += data.add(&with_doubles(&batch)?, &columns, count)?;
            count += batch.num_rows() as u64;
        }
        if count == 0 {
            return Err(Failure::message("there is nothing to draw: the result has no rows"));
        }
        data.end(count, left_out)
    }

    /// Adds rows; returns how many of them are not drawn because there are enough.
    fn add(&mut self, batch: &RecordBatch, columns: &Columns, before: u64) -> Result<u64, Failure> {
        let numbers = |at: &usize| numbers(batch.column(*at));
        let y = columns.y.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
        let texts = match (&self.x, columns.x) {
            (Axis::Texts(_), Some(at)) => Some(cast(batch.column(at), &DataType::Utf8)?),
            _ => None,
        };
        let x = match (&texts, columns.x) {
            (None, Some(at)) => Some(numbers(&at)?),
            _ => None,
        };
        let mut left_out = 0;
        for row in 0..batch.num_rows() {
            let is_full = match self.kind {
                Kind::Bar => before + row as u64 >= BARS_MAX as u64,
                _ => matches!(&self.x, Axis::Texts(known) if known.len() >= POINTS_MAX),
            };
            if is_full {
                left_out += 1;
                continue;
            }
            let place = match (&mut self.x, &texts, &x) {
                (Axis::Texts(known), Some(texts), _) => Some(place_of(known, texts, row)),
                (_, _, Some(x)) => x[row],
                #[allow(clippy::cast_precision_loss)] // a place on a screen
                _ => Some((before + row as u64 + 1) as f64),
            };
            let Some(place) = place else { continue };
            for (series, y) in self.series.iter_mut().zip(&y) {
                match (self.kind, y[row]) {
                    (_, None) => {}
                    (Kind::Histogram, Some(_)) if series.points.len() >= COUNTED_MAX => {
                        return Err(Failure::message(format!(
                            "a histogram counts at most {COUNTED_MAX} values: count in the query, with GROUP BY, and draw \
                             bars"
                        )));
                    }
                    (Kind::Histogram, Some(y)) => series.points.push((place, y)),
                    (_, Some(y)) => series.add((place, y)),
                }
            }
        }
        Ok(left_out)
    }

    fn end(mut self, count: u64, left_out: u64) -> Result<Self, Failure> {
        if self.kind != Kind::Histogram {
            self.series.iter_mut().for_each(Series::close);
        }
        let drawn = self.series.iter().map(|series| series.points.len()).max().unwrap_or(0);
        if drawn == 0 {
            return Err(Failure::message("there is nothing to draw: all values are NULL"));
        }
        if left_out > 0 {
            let first = count - left_out;
            self.thinned = Some(format!("(the first {first} of {count} rows)"));
        } else if self.kind != Kind::Bar && self.series.iter().any(|series| series.group.is_some())
        {
            self.thinned = Some(format!("({count} rows, thinned to {drawn} points)"));
        }
        if self.kind == Kind::Line {
            for series in &mut self.series {
                series.points.sort_by(|one, other| one.0.total_cmp(&other.0));
            }
        }
        Ok(self)
    }
}

impl Series {
    fn add(&mut self, point: (f64, f64)) {
        let Some(group) = self.group else {
            self.points.push(point);
            return self.thin();
        };
        self.open.push(point);
        if self.open.len() == group {
            self.close();
        }
    }

    /// Keeps what stands out of the points that have come since the last time.
    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        ends(&open, &mut self.points);
        self.thin();
    }

    /// Makes one group of each two, so that what came first stays as dense as what comes last.
    fn thin(&mut self) {
        if self.points.len() <= POINTS_MAX {
            return;
        }
        let points = std::mem::take(&mut self.points);
        points.chunks(4).for_each(|four| ends(four, &mut self.points));
        self.group = Some(self.group.map_or(4, |group| group * 2));
    }
}

/// Adds the lowest and the highest of points, in their order.
fn ends(points: &[(f64, f64)], kept: &mut Vec<(f64, f64)>) {
    let places = || 0..points.len();
    let by_y = |one: &usize, other: &usize| points[*one].1.total_cmp(&points[*other].1);
    let (Some(low), Some(high)) = (places().min_by(by_y), places().max_by(by_y)) else { return };
    kept.push(points[low.min(high)]);
    if low != high {
        kept.push(points[low.max(high)]);
    }
}

/// Which columns are drawn.
fn columns(fields: &[&Field], kind: Option<Kind>) -> Result<Columns, Failure> {
    let of_numbers = |from: usize| {
        let places = (from..fields.len()).filter(|at| is_number(fields[*at].data_type()));
        places.take(SERIES_MAX).collect::<Vec<_>>()
    };
    let (x, y) = match (kind, fields.len()) {
        (Some(Kind::Histogram), _) => (None, of_numbers(0).into_iter().take(1).collect()),
        (_, 1) => (None, of_numbers(0)),
        _ => (Some(0), of_numbers(1)),
    };
    if y.is_empty() {
        let names = fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
        let message =
            "the first column is x, and one behind it has to be of numbers; the columns are";
        return Err(Failure::message(format!("{message} {}", names.join(", "))));
    }
    Ok(Columns { x, y })
}

/// The number of a text among those that have come.
#[allow(clippy::cast_precision_loss)] // a few thousand at most
fn place_of(known: &mut Vec<String>, texts: &ArrayRef, row: usize) -> f64 {
    let text = if texts.is_null(row) { "NULL" } else { texts.as_string::<i32>().value(row) };
    // What comes is mostly new, or what came last.
    let found = known.iter().rposition(|known| known == text);
    let place = found.unwrap_or_else(|| {
        known.push(text.to_owned());
        known.len() - 1
    });
    place as f64
}

/// Numbers, or times as seconds; none where there is none.
fn numbers(array: &ArrayRef) -> Result<Vec<Option<f64>>, Failure> {
    if is_time(array.data_type()) {
        let times = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
        let times = cast(&times, &DataType::Int64)?;
        #[allow(clippy::cast_precision_loss)] // a place on a screen
        let seconds = |micros: i64| micros as f64 / 1e6;
        return Ok(times.as_primitive::<Int64Type>().iter().map(|at| at.map(seconds)).collect());
    }
    let numbers = cast(array, &DataType::Float64)?;
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    Ok(numbers.as_primitive::<Float64Type>().iter().map(finite).collect())
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

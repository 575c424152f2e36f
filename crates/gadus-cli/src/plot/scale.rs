//! Scales: from values to places, the values that are marked, and how these are written.

/// What the values of an axis are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Axis {
    Number,
    /// Seconds since 1970.
    Time,
    /// Numbers of these texts.
    Texts(Vec<String>),
}

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
}

const DAY: f64 = 86_400.0;

/// Steps between times up to days, in seconds; months and years are of different lengths.
const TIME_STEPS: [f64; 21] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1800.0,
    3600.0,
    7200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
    14.0 * DAY,
];
const MONTH_STEPS: [i64; 11] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

impl Scale {
    /// What holds all values; some room where they are one.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let all = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(all, |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        if low == high {
            let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            return Self { low: low - room, high: high + room };
        }
        Self { low, high }
    }

    /// Where a value is, from 0 to 1.
    pub(super) fn part(self, value: f64) -> f64 {
        // Halved, so that a range of all numbers has a length.
        ((value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)).clamp(0.0, 1.0)
    }

    /// Values to mark, at most about so many, with their texts.
    pub(super) fn ticks(self, axis: &Axis, count: usize) -> Vec<(f64, String)> {
        match axis {
            Axis::Number => self.number_ticks(count),
            Axis::Time => self.time_ticks(count),
            Axis::Texts(texts) => {
                let step = texts.len().div_ceil(count.max(1)).max(1);
                let every = texts.iter().enumerate().step_by(step);
                #[allow(clippy::cast_precision_loss)] // a few thousand at most
                every.map(|(at, text)| (at as f64, text.clone())).collect()
            }
        }
    }

    fn number_ticks(self, count: usize) -> Vec<(f64, String)> {
        let step = nice_step(self.length(count));
        let values = self.multiples(step);
        values.map(|value| (value, number(value, step))).collect()
    }

    #[allow(clippy::cast_precision_loss)] // a few dozen
    fn length(self, count: usize) -> f64 {
        let step = (self.high / 2.0 - self.low / 2.0) / count.max(1) as f64 * 2.0;
        step.max(f64::MIN_POSITIVE)
    }

    fn multiples(self, step: f64) -> impl Iterator<Item = f64> {
        let first = (self.low / step).ceil();
        let ends = self.high + step * 1e-9;
        // Bounded, where a step is lost beside the values themselves.
        (0..1000_u16)
            .map(move |at| (first + f64::from(at)) * step)
            .take_while(move |at| *at <= ends)
    }

    fn time_ticks(self, count: usize) -> Vec<(f64, String)> {
        let wanted = self.length(count);
        if wanted < 1.0 {
            let step = nice_step(wanted);
            return self.multiples(step).map(|at| (at, clock(at, step))).collect();
        }
        if let Some(step) = TIME_STEPS.into_iter().find(|step| *step >= wanted) {
            return self.multiples(step).map(|at| (at, self.time(at, step))).collect();
        }
        #[allow(clippy::cast_precision_loss)] // a few
        let months = |step: &i64| *step as f64 * 28.0 * DAY >= wanted;
        let step = MONTH_STEPS.into_iter().find(months).unwrap_or(12_000);
        let (year, month, _) = date(self.low);
        let first = (year * 12 + month - 1).div_euclid(step) * step;
        let ticks = (0..1000).map(|at| first + at * step).map(|months| {
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
            let text = if step >= 12 { format!("{year}") } else { format!("{year}-{month:02}") };
            (seconds_of(year, month, 1), text)
        });
        let ticks = ticks.skip_while(|(at, _)| *at < self.low);
        ticks.take_while(|(at, _)| *at <= self.high).collect()
    }

    fn time(self, at: f64, step: f64) -> String {
        let (year, month, day) = date(at);
        if step >= DAY {
            return format!("{year}-{month:02}-{day:02}");
        }
        let time = clock(at, step);
        match date(self.low) == date(self.high) {
            true => time,
            false => format!("{month:02}-{day:02} {time}"),
        }
    }
}

/// The text of a value of an axis, exact enough for a range.
pub(super) fn text(value: f64, axis: &Axis, step: f64) -> String {
    match axis {
        Axis::Number => number(value, step),
        Axis::Time => {
            let (year, month, day) = date(value);
            let day = format!("{year}-{month:02}-{day:02}");
            if value.rem_euclid(DAY) == 0.0 { day } else { format!("{day} {}", clock(value, 1.0)) }
        }
        Axis::Texts(texts) => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a place among them
            texts.get(value.max(0.0) as usize).cloned().unwrap_or_default()
        }
    }
}

/// 1, 2 or 5 times a power of ten, not below.
pub(super) fn nice_step(wanted: f64) -> f64 {
    let power = 10_f64.powf(wanted.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= wanted * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// A number with the digits that a step needs.
pub(super) fn number(value: f64, step: f64) -> String {
    let size = value.abs().max(step);
    let (divisor, unit) = match size {
        size if size >= 1e15 => return format!("{value:.1e}"),
        size if size >= 1e12 => (1e12, "T"),
        size if size >= 1e9 => (1e9, "G"),
        size if size >= 1e6 => (1e6, "M"),
        size if size < 1e-4 && size > 0.0 => return format!("{value:.1e}"),
        _ => (1.0, ""),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to 6
    let digits = (-(step / divisor).log10()).ceil().clamp(0.0, 6.0) as usize;
    let text = format!("{:.digits$}", value / divisor);
    let text = if text.trim_start_matches(['-', '0', '.']).is_empty() { "0" } else { &text };
    if text == "0" { text.to_owned() } else { format!("{text}{unit}") }
}

fn clock(at: f64, step: f64) -> String {
    let of_day = at.rem_euclid(DAY);
    let (hours, minutes) = ((of_day / 3600.0).floor(), (of_day / 60.0).floor() % 60.0);
    let seconds = of_day % 60.0;
    if step >= 60.0 {
        format!("{hours:02}:{minutes:02}")
    } else if step >= 1.0 {
        format!("{hours:02}:{minutes:02}:{seconds:02.0}")
    } else {
        format!("{minutes:02}:{seconds:06.3}")
    }
}

/// Year, month and day of a time (civil_from_days of Howard Hinnant).
#[allow(clippy::cast_possible_truncation)] // of what calendars have
fn date(at: f64) -> (i64, i64, i64) {
    let days = (at / DAY).floor() as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[allow(clippy::cast_precision_loss)] // of what calendars have
fn seconds_of(year: i64, month: i64, day: i64) -> f64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    days as f64 * DAY
}

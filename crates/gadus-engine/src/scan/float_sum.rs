//! Sums of doubles that do not depend on the order of what is added.
//!
//! - Kept as doubles that do not overlap and whose sum is exact; rounded once, at the end. So threads may
//!   add in any order, and a statement is answered alike alone and in a shared scan.
//! - Values of 2^960 and more are summed apart, scaled down: so many values as there are cannot leave the
//!   range of doubles on the way, unless their sum does.
//!
//! After J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
//! Predicates, 1997, section 2.4.

/// From here on values are summed apart.
const LARGE: f64 = f64::from_bits((1023 + 960) << 52);

/// What large values are scaled by: 2^64.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

/// A sum of doubles.
#[derive(Debug, Clone, Default)]
pub(super) struct FloatSum {
    /// Rising in size.
    parts: Vec<f64>,
    /// The same of large values, scaled down.
    large: Vec<f64>,
    /// The sum of infinities and NaNs.
    infinite: f64,
}

impl FloatSum {
    pub(super) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.infinite += value;
        } else if value.abs() < LARGE {
            add_to(&mut self.parts, value);
        } else {
            add_to(&mut self.large, value / SCALE);
        }
    }

    /// Adds what was added to another.
    pub(super) fn merge(&mut self, other: &Self) {
        self.infinite += other.infinite;
        other.parts.iter().for_each(|&part| add_to(&mut self.parts, part));
        other.large.iter().for_each(|&part| add_to(&mut self.large, part));
    }

    /// The double that is nearest to the sum.
    pub(super) fn finish(&self) -> f64 {
        if self.infinite != 0.0 {
            return self.infinite;
        }
        if self.large.is_empty() {
            return rounded(&self.parts);
        }
        let mut all = self.large.clone();
        self.parts.iter().for_each(|part| add_to(&mut all, part / SCALE));
        rounded(&all) * SCALE
    }
}

/// Adds a value to parts that do not overlap.
fn add_to(parts: &mut Vec<f64>, value: f64) {
    let (mut sum, mut kept) = (value, 0);
    for index in 0..parts.len() {
        let (greater, lesser) = match parts[index] {
            part if sum.abs() < part.abs() => (part, sum),
            part => (sum, part),
        };
        sum = greater + lesser;
        let rest = lesser - (sum - greater);
        if rest != 0.0 {
            parts[kept] = rest;
            kept += 1;
        }
    }
    parts.truncate(kept);
    if sum != 0.0 {
        parts.push(sum);
    }
}

/// The sum of parts that do not overlap, rounded to the nearest double, and to an even one half way.
fn rounded(parts: &[f64]) -> f64 {
    let mut rest = parts.iter().rev();
    let Some(&greatest) = rest.next() else { return 0.0 };
    let (mut sum, mut low) = (greatest, 0.0);
    for &part in rest.by_ref() {
        let before = sum;
        sum = before + part;
        low = part - (sum - before);
        if low != 0.0 {
            break;
        }
    }
    // Half way to the next double only as far as these parts know.
    if let Some(next) = rest.next()
        && low != 0.0
        && (low < 0.0) == (*next < 0.0)
    {
        let (doubled, further) = (low * 2.0, sum + low * 2.0);
        if further - sum == doubled {
            return further;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadus_base::Random;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = FloatSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum.finish()
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[1.0, 1e-16, 1e-16, 1e-16]), 1.000_000_000_000_000_2);
        // Half way, and a little more.
        let half = f64::EPSILON / 2.0;
        assert_eq!(sum(&[1.0, half]), 1.0);
        assert_eq!(sum(&[1.0, half, 1e-300]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[1.0 + f64::EPSILON, half, -1e-300]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn sums_leave_the_range_of_doubles_only_as_a_whole() {
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, -f64::MAX, 0.5]), 0.5);
        assert_eq!(sum(&[1.0, f64::NEG_INFINITY]), f64::NEG_INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[1.0, f64::NAN]).is_nan());
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut random = Random::seeded(1);
        for _ in 0..200 {
            let count = 1 + random.below(100);
            let value = |random: &mut Random| {
                let exponent = i32::try_from(random.below(600)).unwrap() - 300;
                (random.below(2_000_001) as f64 - 1e6) * 10_f64.powi(exponent)
            };
            let values = (0..count).map(|_| value(&mut random)).collect::<Vec<_>>();
            let expected = sum(&values);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sum(&sorted), expected);
            let middle = usize::try_from(random.below(count)).unwrap();
            let (mut one, mut other) = (FloatSum::default(), FloatSum::default());
            sorted[..middle].iter().for_each(|&value| one.add(value));
            sorted[middle..].iter().for_each(|&value| other.add(value));
            other.merge(&one);
            assert_eq!(other.finish(), expected);
        }
    }
}

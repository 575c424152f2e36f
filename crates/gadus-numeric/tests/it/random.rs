//! Random values, the same in each run: every length and scale, with runs of zeros and nines, and special values.

use gadus_base::Random;
use gadus_numeric::Numeric;

const EDGES: [&str; 24] = [
    "0",
    "0.00",
    "1",
    "-1",
    "1.000",
    "0.1",
    "-0.1",
    "10",
    "99.99",
    "-100",
    "9999",
    "10000",
    "0.0001",
    "1e100",
    "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
    "170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105729",
    "1701411834604692317316873037158841057.28",
    "18446744073709551616",
    "0.000000000000000000018446744073709551615",
    "NaN",
    "Infinity",
    "-Infinity",
];

/// Longest values: a call on them takes milliseconds, so that they are rare.
const LONGEST: [&str; 4] = ["1e-16383", "-1e-16383", "9e131071", "-9e131071"];

/// Returns a value; one of ten is an edge of the type or of its representation.
pub(crate) fn numeric(random: &mut Random) -> Numeric {
    if random.chance(0.1) {
        return EDGES[usize::try_from(random.below(24)).unwrap()].parse().unwrap();
    }
    if random.chance(0.002) {
        return LONGEST[usize::try_from(random.below(4)).unwrap()].parse().unwrap();
    }
    finite(random)
}

/// Returns a finite value of up to 60 digits, of which half have fewer than 13.
pub(crate) fn finite(random: &mut Random) -> Numeric {
    let (integer, fraction) = match random.below(4) {
        0 | 1 => (random.below(9), random.below(5)),
        2 => (random.below(30), random.below(20)),
        _ => (random.below(30), random.below(30)),
    };
    let sign = if random.chance(0.5) { "-" } else { "" };
    let text = format!("{sign}{}.{}", digits(random, integer), digits(random, fraction));
    let text = if text.ends_with('.') { format!("{text}0") } else { text };
    text.parse().unwrap()
}

fn digits(random: &mut Random, count: u64) -> String {
    let repeated = random.below(6);
    let digit = |random: &mut Random| match repeated {
        0 => 0,
        1 => 9,
        _ => random.below(10),
    };
    (0..count).map(|_| digit(random).to_string()).collect()
}

//! Traces: which page is used after which. Made here, or somebody's own.

use crate::error::KubError;
use crate::numbers::figure;
use gadus_base::Random;

/// Pages of a made trace.
const PAGES: u64 = 2_000;

/// Accesses of a made trace.
const ACCESSES: usize = 40_000;

/// The most that is read of somebody's trace: more would take minutes.
const ACCESSES_MAX: usize = 10_000_000;

/// The pool beside the pages that are used: two, one, a half, a quarter of them.
pub(super) const POOL_SHARES: [(u64, u64); 4] = [(2, 1), (1, 1), (1, 2), (1, 4)];

/// How pages are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    Sequential,
    Random,
    Loop,
    Zipf,
    ScanBesideHot,
}

impl Pattern {
    pub(super) const ALL: [Self; 5] =
        [Self::Sequential, Self::Random, Self::Loop, Self::Zipf, Self::ScanBesideHot];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Sequential => "sequential, once",
            Self::Random => "random",
            Self::Loop => "loop",
            Self::Zipf => "Zipf",
            Self::ScanBesideHot => "scan beside a hot set",
        }
    }

    /// The same every time.
    pub(super) fn trace(self) -> Vec<u64> {
        let mut random = Random::seeded(1);
        let accesses = 0..ACCESSES as u64;
        match self {
            Self::Sequential => (0..PAGES).collect(),
            Self::Random => accesses.map(|_| random.below(PAGES)).collect(),
            Self::Loop => accesses.map(|access| access % PAGES).collect(),
            Self::Zipf => zipf(&mut random),
            Self::ScanBesideHot => {
                // A tenth of the pages is hot and has half of the accesses.
                let hot = PAGES / 10;
                let page = |access: u64| match access % 2 {
                    0 => random.below(hot),
                    _ => hot + access / 2 % (PAGES - hot),
                };
                accesses.map(page).collect()
            }
        }
    }
}

/// Page n is used in proportion to 1 / (n + 1), and the pages are shuffled.
fn zipf(random: &mut Random) -> Vec<u64> {
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for page in 0..PAGES {
        sum += 1.0 / figure(page + 1);
        sums.push(sum);
    }
    let place = |drawn: f64| sums.partition_point(|upto| *upto < drawn) as u64;
    // A factor that has no divisor in common with the count moves every page to another place.
    let mixed = |page: u64| page * 1_237 % PAGES;
    (0..ACCESSES).map(|_| mixed(place(random.unit() * sum).min(PAGES - 1))).collect()
}

/// Somebody's trace: numbers of pages, one in each line or separated by blanks; what follows `#` is passed over.
///
/// # Errors
/// `Input` with the line that is wrong.
pub fn read_trace(text: &str, described: &str) -> Result<Vec<u64>, KubError> {
    let mut trace = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
            let page = word.parse().map_err(|_| {
                let place = number + 1;
                KubError::input(format!("{described}, line {place}: {word} is no page's number"))
            })?;
            trace.push(page);
            if trace.len() > ACCESSES_MAX {
                let message = format!("{described} has more than {ACCESSES_MAX} accesses");
                return Err(KubError::input(message));
            }
        }
    }
    Ok(trace)
}

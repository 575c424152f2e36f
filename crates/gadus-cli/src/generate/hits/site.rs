//! The sites that are visited: their pages' addresses, titles and hashes.
//!
//! - A page follows from its site and its number; number 0 is the first page of the site.
//! - Addresses of one site share its domain, those of one section a longer beginning.

use std::fmt::Write;

use gadus_base::Random;

use super::words::{CYRILLIC, ENDS, LATIN};
use crate::generate::weighted::{Weighted, zipf_weight};

/// How many sites are counted.
const SITES: usize = 6000;
/// The counter that the queries ask about, and its rank.
const ASKED_COUNTER: i32 = 62;
const ASKED_RANK: usize = 1;
/// Shares of the first two sites: each more than a tenth, which one query demands of a million rows.
const FIRST_SHARES: [f64; 2] = [0.13, 0.12];
const ZIPF_FLATNESS: f64 = 4.0;
/// Pages of the largest site; others have fewer by their rank, and at least so many.
const PAGES_MAX: u64 = 40_000;
const PAGES_MIN: u64 = 60;
/// Pages of a section.
const SECTION: u64 = 40;

/// Hashes by which queries ask for the first page of the asked counter, and for a page that leads
/// to others.
const FIRST_PAGE_HASH: i64 = 2_868_770_270_353_813_622;
const LEADING_PAGE_HASH: i64 = 3_594_120_000_172_545_465;
/// The page of a site that leads to many others.
pub(super) const LEADING_PAGE: u64 = 1;

/// All sites.
#[derive(Debug)]
pub(super) struct Sites {
    sites: Vec<Site>,
    by_visits: Weighted,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) counter: i32,
    pub(super) class: i16,
    pub(super) category: i16,
    pub(super) region: i32,
    domain: String,
    name: String,
    pages: u64,
}

impl Sites {
    pub(super) fn new(random: &Random) -> Self {
        let rest = 1.0 - FIRST_SHARES.iter().sum::<f64>();
        let weights = (0..SITES - 2).map(|rank| zipf_weight(rank, ZIPF_FLATNESS));
        let weights = weights.collect::<Vec<f64>>();
        let scale = rest / weights.iter().sum::<f64>();
        let weights = weights.iter().map(|weight| weight * scale);
        let weights = FIRST_SHARES.into_iter().chain(weights).collect::<Vec<_>>();
        Self {
            sites: (0..SITES).map(|rank| Site::draw(random.child(rank as u64), rank)).collect(),
            by_visits: Weighted::new(&weights),
        }
    }

    pub(super) fn pick(&self, random: &mut Random) -> &Site {
        &self.sites[self.by_visits.pick(random)]
    }
}

impl Site {
    fn draw(mut random: Random, rank: usize) -> Self {
        let mut word = || LATIN[random.below(LATIN.len() as u64) as usize];
        let (first, second) = (word(), word());
        // Low numbers of ends are frequent.
        let bound = random.below(ENDS.len() as u64) + 1;
        let end = ENDS[random.below(bound) as usize];
        let www = if random.chance(0.3) { "www." } else { "" };
        // Multiplying by a number without common factors leaves counters different.
        let counter = ((rank as i64 * 70_379 + 3_922) % 250_007) as i32 + 63;
        Self {
            counter: if rank == ASKED_RANK { ASKED_COUNTER } else { counter },
            class: random.below(4) as i16,
            category: if random.chance(0.3) { random.below(14_000) as i16 } else { 0 },
            region: random.below(300) as i32,
            domain: format!("http://{www}{first}-{second}{}.{end}", rank % 10),
            name: format!("{}{second}", first[..1].to_uppercase() + &first[1..]),
            pages: (PAGES_MAX / (rank as u64 + 1)).max(PAGES_MIN),
        }
    }

    /// The number of a page: the first one often, the next ones less and less.
    pub(super) fn page(&self, random: &mut Random) -> u64 {
        match random.unit() {
            roll if roll < 0.26 => 0,
            roll if roll < 0.34 => LEADING_PAGE,
            _ => {
                let bound = random.below(self.pages) + 1;
                let bound = random.below(bound) + 1;
                random.below(bound)
            }
        }
    }

    pub(super) fn url(&self, page: u64) -> String {
        let mut url = String::with_capacity(80);
        url.push_str(&self.domain);
        url.push('/');
        if page > 0 {
            let section = LATIN[(page / SECTION) as usize % LATIN.len()];
            let item = LATIN[(page * 31) as usize % LATIN.len()];
            let written = match page % 3 {
                0 => write!(url, "{section}/{item}-{page}.html"),
                1 => write!(url, "{section}/?id={page}&category={item}"),
                _ => write!(url, "{section}/{item}/{page}/"),
            };
            written.expect("a string can be written");
        }
        url
    }

    /// Some pages that follow each other are named alike.
    pub(super) fn title(&self, page: u64) -> String {
        let mut random = Random::seeded(page / 3);
        let mut word = || CYRILLIC[random.below(CYRILLIC.len() as u64) as usize];
        match page {
            0 => self.name.clone(),
            _ => format!("{} {} {} - {}", word(), word(), word(), self.name),
        }
    }

    /// The hash of a page's address, where it is one that queries ask for; else none.
    pub(super) fn asked_hash(&self, page: u64) -> Option<i64> {
        match (self.counter, page) {
            (ASKED_COUNTER, 0) => Some(FIRST_PAGE_HASH),
            (ASKED_COUNTER, LEADING_PAGE) => Some(LEADING_PAGE_HASH),
            _ => None,
        }
    }
}

/// Of an address that no query asks for (FNV-1a).
pub(super) fn hash(url: &str) -> i64 {
    let start = 0xCBF2_9CE4_8422_2325_u64;
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    url.as_bytes().iter().fold(start, step).cast_signed()
}

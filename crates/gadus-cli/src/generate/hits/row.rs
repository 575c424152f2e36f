//! One hit, drawn whole: the place where the columns depend on each other.
//!
//! - A row takes its random numbers from its own sequence, so neither batches nor threads change it.

use gadus_base::Random;

use super::site::{LEADING_PAGE, Site, Sites, hash};
use super::visitor::{Visitor, Visitors};
use super::words::CYRILLIC;
use crate::generate::weighted::Weighted;

/// 2013-07-01.
pub(super) const FIRST_DAY: i32 = 15_887;
pub(super) const DAYS: i32 = 31;
const DAY_SECONDS: f64 = 86_400.0;
/// A row may be written late by so many seconds.
const LATE_SECONDS: u64 = 4;
/// How busy the hours of a day are.
const HOURS: [f64; 24] = [
    2.4, 1.6, 1.1, 0.8, 0.8, 1.0, 1.7, 2.8, 4.0, 5.0, 5.6, 5.9, 5.9, 5.8, 5.8, 5.8, 5.7, 5.6, 5.5,
    5.6, 5.9, 6.0, 5.2, 3.8,
];

/// Where hits come from, with their shares: the numbers are those of the column.
const INTERNAL: i16 = -1;
const DIRECT: i16 = 0;
const LINK: i16 = 1;
const SEARCH: i16 = 2;
const ADVERTISEMENT: i16 = 3;
const SAVED: i16 = 6;
const SOURCES: [(i16, f64); 6] = [
    (INTERNAL, 46.0),
    (DIRECT, 14.0),
    (LINK, 16.0),
    (SEARCH, 20.0),
    (ADVERTISEMENT, 1.0),
    (SAVED, 3.0),
];
/// Search engines: their numbers, shares, and addresses before the phrase.
const ENGINES: [(i16, f64, &str); 4] = [
    (2, 66.0, "http://yandex.ru/yandsearch?text="),
    (3, 24.0, "http://www.google.ru/search?q="),
    (13, 7.0, "http://go.mail.ru/search?q="),
    (1, 3.0, "http://nova.rambler.ru/search?query="),
];
/// Of hits from search engines, those whose phrase is told.
const PHRASE_SHARE: f64 = 0.65;
/// Phrases that are asked again and again; a third is made of words by chance.
const KNOWN_PHRASES: u64 = 200_000;
const SYSTEMS_OF_ADVERTISEMENTS: [i16; 8] = [2, 13, 45, 44, 3, 62, 52, 50];
/// The share of addresses that end with what nobody else has.
const OWN_ADDRESS_SHARE: f64 = 0.12;
/// The share of addresses, and of titles, that name the search engine that queries look for.
const GOOGLE_SHARE: f64 = 0.001;
/// The share of windows that fill their screens.
const WHOLE_SCREEN_SHARE: f64 = 0.35;

/// Everything rows are drawn from.
#[derive(Debug)]
pub(super) struct Source {
    rows: Random,
    count: u64,
    sites: Sites,
    visitors: Visitors,
    sources: Weighted,
    engines: Weighted,
    /// At which part of a day's hits each hour begins, and where the last one ends.
    hours: [f64; 25],
}

/// What the columns are made of; what is not here is the same in all rows, or drawn from `noise`.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) watch_id: i64,
    /// Seconds since 1970.
    pub(super) second: i64,
    pub(super) visitor: Visitor,
    pub(super) counter: i32,
    pub(super) counter_class: i16,
    pub(super) url_category: i16,
    pub(super) url_region: i32,
    pub(super) title: String,
    pub(super) url: String,
    pub(super) url_hash: i64,
    pub(super) came: Came,
    pub(super) window: (i16, i16),
    pub(super) is_refresh: bool,
    pub(super) is_link: bool,
    pub(super) is_download: bool,
    pub(super) is_not_bounce: bool,
    pub(super) dont_count: bool,
    pub(super) is_artificial: bool,
    pub(super) good: bool,
    /// Milliseconds: sending, name server, connecting, first byte, last byte.
    pub(super) timings: [i32; 5],
    pub(super) social: bool,
    pub(super) order: Option<i64>,
    pub(super) tag: bool,
    /// For columns that nothing depends on.
    pub(super) noise: u64,
}

/// How a visitor came.
#[derive(Debug)]
pub(super) struct Came {
    pub(super) source: i16,
    pub(super) referer: String,
    pub(super) referer_hash: i64,
    pub(super) engine: i16,
    pub(super) phrase: String,
    pub(super) advertisement: i16,
}

impl Source {
    pub(super) fn new(rows: u64, seed: u64) -> Self {
        let random = Random::seeded(seed);
        let all = HOURS.iter().sum::<f64>();
        let mut hours = [0.0; 25];
        for (hour, weight) in HOURS.iter().enumerate() {
            hours[hour + 1] = hours[hour] + weight / all;
        }
        Self {
            rows: random.child(0),
            count: rows,
            sites: Sites::new(&random.child(1)),
            visitors: Visitors::new(rows, random.child(2)),
            sources: Weighted::new(&SOURCES.map(|(_, share)| share)),
            engines: Weighted::new(&ENGINES.map(|(_, share, _)| share)),
            hours,
        }
    }

    pub(super) fn hit(&self, index: u64) -> Hit {
        let random = &mut self.rows.child(index);
        let visitor = self.visitors.pick(random);
        let site = self.sites.pick(random);
        let page = site.page(random);
        let (mut url, mut url_hash) = (site.url(page), site.asked_hash(page));
        if page > 0 && random.chance(OWN_ADDRESS_SHARE) {
            let joint = if url.contains('?') { '&' } else { '?' };
            url = format!("{url}{joint}sid={:x}", random.next_u64() >> 24);
            url_hash = None;
        }
        if random.chance(GOOGLE_SHARE) {
            let ends = ["?utm_source=google&utm_medium=cpc", "?from=http://www.google.ru/"];
            url = format!("{url}{}", ends[random.below(2) as usize]);
            url_hash = None;
        }
        let mut title = if random.chance(0.97) { site.title(page) } else { String::new() };
        if random.chance(GOOGLE_SHARE) {
            title += " - Google";
        }
        let has_timings = random.chance(0.1);
        Hit {
            // Odd, so that no two are alike: the numbers of a permutation of 62 bits.
            watch_id: permuted(index),
            second: self.second(random, index),
            window: window(random, visitor.screen),
            came: self.came(random, site),
            visitor,
            counter: site.counter,
            counter_class: site.class,
            url_category: site.category,
            url_region: site.region,
            title,
            url_hash: url_hash.unwrap_or_else(|| hash(&url)),
            url,
            is_refresh: random.chance(0.11),
            is_link: random.chance(0.07),
            is_download: random.chance(0.01),
            is_not_bounce: random.chance(0.2),
            dont_count: random.chance(0.04),
            is_artificial: random.chance(0.1),
            good: random.chance(0.999),
            timings: match has_timings {
                true => [40, 30, 60, 400, 2500].map(|most| random.below(most) as i32),
                false => [0; 5],
            },
            social: random.chance(0.005),
            order: random.chance(0.002).then(|| random.below(1_000_000) as i64),
            tag: random.chance(0.01),
            noise: random.next_u64(),
        }
    }

    /// Rows are spread evenly over the days, and over the hours of a day as people are awake.
    fn second(&self, random: &mut Random, index: u64) -> i64 {
        let at = (index as f64 + 0.5) / self.count.max(1) as f64 * f64::from(DAYS);
        let (day, of_day) = (at.floor(), at.fract());
        let hour = self.hours.partition_point(|begin| *begin <= of_day).clamp(1, 24) - 1;
        let (begin, end) = (self.hours[hour], self.hours[hour + 1]);
        let of_hour = ((of_day - begin) / (end - begin)).clamp(0.0, 1.0);
        let hours = hour as f64 + of_hour;
        let second = ((day * 24.0 + hours) / 24.0 * DAY_SECONDS) as i64;
        let last = i64::from(DAYS) * DAY_SECONDS as i64 - 1;
        let second = (second + random.below(LATE_SECONDS) as i64).min(last);
        i64::from(FIRST_DAY) * DAY_SECONDS as i64 + second
    }

    fn came(&self, random: &mut Random, site: &Site) -> Came {
        let source = SOURCES[self.sources.pick(random)].0;
        let mut came = Came {
            source,
            referer: String::new(),
            referer_hash: 0,
            engine: 0,
            phrase: String::new(),
            advertisement: 0,
        };
        let mut asked_hash = None;
        match source {
            INTERNAL | SAVED => {
                let page = if random.chance(0.3) { LEADING_PAGE } else { site.page(random) };
                came.referer = site.url(page);
                asked_hash = site.asked_hash(page);
            }
            LINK => {
                let other = self.sites.pick(random);
                came.referer = other.url(other.page(random));
            }
            SEARCH => {
                let (engine, _, address) = ENGINES[self.engines.pick(random)];
                came.engine = engine;
                came.referer = address.to_owned();
                if random.chance(PHRASE_SHARE) {
                    came.phrase = phrase(random);
                    // Phrases are written in other letters there.
                    came.referer += &format!("{:x}", hash(&came.phrase));
                }
            }
            ADVERTISEMENT => {
                let bound = random.below(SYSTEMS_OF_ADVERTISEMENTS.len() as u64) + 1;
                came.advertisement = SYSTEMS_OF_ADVERTISEMENTS[random.below(bound) as usize];
                came.referer = "http://an.yandex.ru/count/".to_owned();
            }
            _ => {}
        }
        if !came.referer.is_empty() {
            came.referer_hash = asked_hash.unwrap_or_else(|| hash(&came.referer));
        }
        came
    }
}

/// Two to five words: mostly such as others look for, too.
fn phrase(random: &mut Random) -> String {
    let mut words = match random.chance(0.7) {
        true => {
            let bound = random.below(KNOWN_PHRASES) + 1;
            let bound = random.below(bound) + 1;
            Random::seeded(random.below(bound))
        }
        false => random.child(7),
    };
    let count = 2 + words.below(4);
    let word = |_| CYRILLIC[words.below(CYRILLIC.len() as u64) as usize];
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// The inner size of a window: the whole screen but for the browser's own parts, or any.
fn window(random: &mut Random, (width, height): (i16, i16)) -> (i16, i16) {
    if random.chance(WHOLE_SCREEN_SHARE) {
        return ((width - 17).max(0), (height - 130).max(0));
    }
    (600 + random.below(1300) as i16, 300 + random.below(700) as i16)
}

/// A number that no other row has.
fn permuted(index: u64) -> i64 {
    const BITS_62: u64 = (1 << 62) - 1;
    // An odd factor permutes, and so does adding the upper half to the lower one.
    let mixed = index.wrapping_mul(0x9E37_79B9_7F4A_7C15) & BITS_62;
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) & BITS_62;
    (mixed | 1 << 62).cast_signed()
}

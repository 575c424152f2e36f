//! What the queries of TPC-H are asked with: the values that validate answers, and values drawn from
//! the ranges of the specification, chapter 2.4.
//!
//! - Lists of words are those that the tables are generated from.

#[cfg(test)]
mod tests;

use gadus_base::Random;
use tpchgen::distribution::{Distribution, Distributions};

/// Names, as in the texts, and values.
pub(super) type Parameters = Vec<(&'static str, String)>;

/// Customers of a country have phone numbers that begin with its key and this.
const COUNTRY_CODE_FIRST: u64 = 10;
const COUNTRIES: u64 = 25;
const YEAR_FIRST: u64 = 1993;
const YEAR_LAST: u64 = 1997;

const SIZES: [&str; 8] = ["SIZE1", "SIZE2", "SIZE3", "SIZE4", "SIZE5", "SIZE6", "SIZE7", "SIZE8"];
const CODES: [&str; 7] = ["I1", "I2", "I3", "I4", "I5", "I6", "I7"];

/// The values by which answers are validated.
pub(super) fn validation(number: u8, scale_factor: f64) -> Parameters {
    let known: &[(&'static str, &str)] = match number {
        1 => &[("DELTA", "90")],
        2 => &[("SIZE", "15"), ("TYPE", "BRASS"), ("REGION", "EUROPE")],
        3 => &[("SEGMENT", "BUILDING"), ("DATE", "1995-03-15")],
        4 => &[("DATE", "1993-07-01")],
        5 => &[("REGION", "ASIA"), ("DATE", "1994-01-01")],
        6 => &[("DATE", "1994-01-01"), ("DISCOUNT", "0.06"), ("QUANTITY", "24")],
        7 => &[("NATION1", "FRANCE"), ("NATION2", "GERMANY")],
        8 => &[("NATION", "BRAZIL"), ("REGION", "AMERICA"), ("TYPE", "ECONOMY ANODIZED STEEL")],
        9 => &[("COLOR", "green")],
        10 => &[("DATE", "1993-10-01")],
        11 => return vec![("NATION", "GERMANY".to_owned()), ("FRACTION", fraction(scale_factor))],
        12 => &[("SHIPMODE1", "MAIL"), ("SHIPMODE2", "SHIP"), ("DATE", "1994-01-01")],
        13 => &[("WORD1", "special"), ("WORD2", "requests")],
        14 => &[("DATE", "1995-09-01")],
        15 => &[("DATE", "1996-01-01")],
        16 => {
            let sizes = named(SIZES, [49, 14, 23, 45, 19, 3, 36, 9]);
            let text = [("BRAND", "Brand#45"), ("TYPE", "MEDIUM POLISHED")];
            return text
                .map(|(name, value)| (name, value.to_owned()))
                .into_iter()
                .chain(sizes)
                .collect();
        }
        17 => &[("BRAND", "Brand#23"), ("CONTAINER", "MED BOX")],
        18 => &[("QUANTITY", "300")],
        19 => &[
            ("QUANTITY1", "1"),
            ("QUANTITY2", "10"),
            ("QUANTITY3", "20"),
            ("BRAND1", "Brand#12"),
            ("BRAND2", "Brand#23"),
            ("BRAND3", "Brand#34"),
        ],
        20 => &[("COLOR", "forest"), ("DATE", "1994-01-01"), ("NATION", "CANADA")],
        21 => &[("NATION", "SAUDI ARABIA")],
        _ => return named(CODES, [13, 31, 23, 29, 30, 18, 17]).collect(),
    };
    known.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// Values drawn from their ranges.
pub(super) fn drawn(number: u8, draw: &mut Draw, scale_factor: f64) -> Parameters {
    match number {
        1 => vec![("DELTA", draw.between(60, 120))],
        2 => {
            let kind = draw.kind();
            let metal = kind.rsplit(' ').next().unwrap_or_default().to_owned();
            vec![("SIZE", draw.between(1, 50)), ("TYPE", metal), ("REGION", draw.region())]
        }
        3 => {
            let segment = draw.one_of(lists().market_segments());
            vec![("SEGMENT", segment), ("DATE", format!("1995-03-{:02}", draw.number(1, 31)))]
        }
        4 | 15 => vec![("DATE", draw.month((YEAR_FIRST, 1), (YEAR_LAST, 10)))],
        5 => vec![("REGION", draw.region()), ("DATE", draw.january())],
        6 => vec![
            ("DATE", draw.january()),
            ("DISCOUNT", format!("0.0{}", draw.number(2, 9))),
            ("QUANTITY", draw.between(24, 25)),
        ],
        7 => named(["NATION1", "NATION2"], draw.two_of(lists().nations())).collect(),
        8 => {
            let (nation, region) = draw.nation_and_region();
            vec![("NATION", nation), ("REGION", region), ("TYPE", draw.kind())]
        }
        9 => vec![("COLOR", draw.color())],
        10 => vec![("DATE", draw.month((YEAR_FIRST, 2), (1995, 1)))],
        11 => vec![("NATION", draw.nation()), ("FRACTION", fraction(scale_factor))],
        12 => {
            let modes = named(["SHIPMODE1", "SHIPMODE2"], draw.two_of(lists().ship_modes()));
            modes.chain([("DATE", draw.january())]).collect()
        }
        13 => {
            let first = draw.word(&["special", "pending", "unusual", "express"]);
            let second = draw.word(&["packages", "requests", "accounts", "deposits"]);
            vec![("WORD1", first), ("WORD2", second)]
        }
        14 => vec![("DATE", draw.month((YEAR_FIRST, 1), (YEAR_LAST, 12)))],
        16 => {
            let kind = draw.kind();
            let begin = kind.rsplit_once(' ').map_or(kind.as_str(), |(begin, _)| begin).to_owned();
            let text = [("BRAND", draw.brand()), ("TYPE", begin)];
            text.into_iter().chain(named(SIZES, draw.distinct(1, 50, SIZES.len()))).collect()
        }
        17 => {
            let container = draw.one_of(lists().part_containers());
            vec![("BRAND", draw.brand()), ("CONTAINER", container)]
        }
        18 => vec![("QUANTITY", draw.between(312, 315))],
        19 => vec![
            ("QUANTITY1", draw.between(1, 10)),
            ("QUANTITY2", draw.between(10, 20)),
            ("QUANTITY3", draw.between(20, 30)),
            ("BRAND1", draw.brand()),
            ("BRAND2", draw.brand()),
            ("BRAND3", draw.brand()),
        ],
        20 => vec![("COLOR", draw.color()), ("DATE", draw.january()), ("NATION", draw.nation())],
        21 => vec![("NATION", draw.nation())],
        _ => {
            let last = COUNTRY_CODE_FIRST + COUNTRIES - 1;
            named(CODES, draw.distinct(COUNTRY_CODE_FIRST, last, CODES.len())).collect()
        }
    }
}

/// The share of a nation's stock that is important: less where there are more parts.
fn fraction(scale_factor: f64) -> String {
    let digits = format!("{:.10}", 0.0001 / scale_factor);
    digits.trim_end_matches('0').to_owned()
}

fn named<V: ToString>(
    names: impl IntoIterator<Item = &'static str>,
    values: impl IntoIterator<Item = V>,
) -> impl Iterator<Item = (&'static str, String)> {
    names.into_iter().zip(values).map(|(name, value)| (name, value.to_string()))
}

fn lists() -> &'static Distributions {
    Distributions::static_default()
}

/// Draws values, each of a range as likely as the others.
#[derive(Debug)]
pub(super) struct Draw {
    random: Random,
}

impl Draw {
    pub(super) fn new(random: Random) -> Self {
        Self { random }
    }

    /// Different numbers of a range, in any order.
    pub(super) fn distinct(&mut self, first: u64, last: u64, count: usize) -> Vec<u64> {
        let mut all = (first..=last).collect::<Vec<_>>();
        assert!(count <= all.len(), "no more numbers differ than there are");
        for at in 0..count {
            let pick = at + self.index(all.len() - at);
            all.swap(at, pick);
        }
        all.truncate(count);
        all
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.random.below(count as u64)).expect("a place in memory")
    }

    fn number(&mut self, first: u64, last: u64) -> u64 {
        first + self.random.below(last - first + 1)
    }

    fn between(&mut self, first: u64, last: u64) -> String {
        self.number(first, last).to_string()
    }

    /// The first day of a month of a range.
    fn month(&mut self, first: (u64, u64), last: (u64, u64)) -> String {
        let months = |(year, month): (u64, u64)| year * 12 + month - 1;
        let month = self.number(months(first), months(last));
        format!("{}-{:02}-01", month / 12, month % 12 + 1)
    }

    /// The first day of a year.
    fn january(&mut self) -> String {
        format!("{}-01-01", self.number(YEAR_FIRST, YEAR_LAST))
    }

    fn word(&mut self, words: &[&str]) -> String {
        words[self.index(words.len())].to_owned()
    }

    fn one_of(&mut self, list: &Distribution) -> String {
        self.word(list.get_values())
    }

    /// Two different words.
    fn two_of(&mut self, list: &Distribution) -> [String; 2] {
        let first = self.index(list.size());
        let second = (first + 1 + self.index(list.size() - 1)) % list.size();
        [first, second].map(|at| list.get_value(at).to_owned())
    }

    fn brand(&mut self) -> String {
        format!("Brand#{}{}", self.number(1, 5), self.number(1, 5))
    }

    fn color(&mut self) -> String {
        self.one_of(lists().part_colors())
    }

    /// A type of parts, in three words.
    fn kind(&mut self) -> String {
        self.one_of(lists().part_types())
    }

    fn region(&mut self) -> String {
        self.one_of(lists().regions())
    }

    fn nation(&mut self) -> String {
        self.nation_and_region().0
    }

    fn nation_and_region(&mut self) -> (String, String) {
        let (nations, regions) = (lists().nations(), lists().regions());
        let at = self.index(nations.size());
        // What this list has in the place of weights are the keys of the regions.
        let region = usize::try_from(nations.get_weight(at)).expect("a key is not negative");
        (nations.get_value(at).to_owned(), regions.get_value(region).to_owned())
    }
}

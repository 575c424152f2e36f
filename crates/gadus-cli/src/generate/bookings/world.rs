//! The world that bookings happen in: airports, carriers, countries and names, from committed lists.
//!
//! - Lists are in the order of frequency; rank gives weight.
//! - All text is borrowed from the program itself: choosing a name allocates nothing.

use gadus_base::Random;

use super::text::{PoolBuilder, Text};
use crate::generate::weighted::{Weighted, zipf_weight};

const AIRPORTS: &str = include_str!("data/airports.txt");
const CARRIERS: &str = include_str!("data/carriers.txt");
const COUNTRIES: &str = include_str!("data/countries.txt");
const NAMES: &str = include_str!("data/names.txt");

const EARTH_RADIUS_KM: f64 = 6371.0;
/// Keeps the largest airport at about 2 % of the traffic, as it is, instead of Zipf's 15 %.
const AIRPORT_FLATNESS: f64 = 12.0;
/// The same for carriers: the largest flies about 5 % of the world's passengers.
const CARRIER_FLATNESS: f64 = 6.0;
const NAME_FLATNESS: f64 = 1.5;

#[derive(Debug)]
pub(super) struct World {
    pub(super) airports: Vec<Airport>,
    pub(super) carriers: Vec<Carrier>,
    pub(super) countries: Vec<Country>,
    pub(super) customs: Vec<Custom>,
    pub(super) airport_by_traffic: Weighted,
    carrier_by_traffic: Weighted,
    /// Great-circle distances, airport by airport.
    km: Vec<u16>,
}

#[derive(Debug)]
pub(super) struct Airport {
    pub(super) code: Text,
    pub(super) country: usize,
    latitude: f64,
    longitude: f64,
}

#[derive(Debug)]
pub(super) struct Carrier {
    pub(super) code: &'static str,
    pub(super) text: Text,
}

#[derive(Debug)]
pub(super) struct Country {
    pub(super) key: &'static str,
    pub(super) code: Text,
    pub(super) currency: Text,
    /// Index in `World::customs`.
    pub(super) custom: usize,
    /// Its airports and its carriers, where it has some.
    pub(super) airports: Option<Members>,
    pub(super) carriers: Option<Members>,
}

/// Some members of a list, weighted by their rank in it.
#[derive(Debug)]
pub(super) struct Members {
    indexes: Vec<usize>,
    weighted: Weighted,
}

/// The names of one naming custom.
#[derive(Debug)]
pub(super) struct Custom {
    key: &'static str,
    pub(super) last: Names,
    pub(super) first: Names,
}

#[derive(Debug)]
pub(super) struct Names {
    names: Vec<Text>,
    weighted: Weighted,
}

impl World {
    pub(super) fn load(pool: &mut PoolBuilder) -> Self {
        let customs = load_customs(pool);
        let mut countries: Vec<Country> = records(COUNTRIES)
            .map(|[code, currency, custom]| {
                let custom = position(customs.iter().map(|known| known.key), custom);
                Country {
                    key: code,
                    code: pool.add(code),
                    currency: pool.add(currency),
                    custom,
                    airports: None,
                    carriers: None,
                }
            })
            .collect();
        let country = |code| position(countries.iter().map(|known| known.key), code);
        let airports: Vec<Airport> = records(AIRPORTS)
            .map(|[code, country_code, latitude, longitude]| Airport {
                code: pool.add(code),
                country: country(country_code),
                latitude: degrees(latitude),
                longitude: degrees(longitude),
            })
            .collect();
        let carriers: Vec<(&'static str, usize)> =
            records(CARRIERS).map(|[code, country_code]| (code, country(country_code))).collect();
        let airport_homes: Vec<usize> = airports.iter().map(|airport| airport.country).collect();
        let carrier_homes: Vec<usize> = carriers.iter().map(|(_, home)| *home).collect();
        for (index, country) in countries.iter_mut().enumerate() {
            country.airports = Members::of(&airport_homes, index, AIRPORT_FLATNESS);
            country.carriers = Members::of(&carrier_homes, index, CARRIER_FLATNESS);
        }
        Self {
            km: distances(&airports),
            airport_by_traffic: Weighted::zipf(airports.len(), AIRPORT_FLATNESS),
            carrier_by_traffic: Weighted::zipf(carriers.len(), CARRIER_FLATNESS),
            carriers: carriers
                .into_iter()
                .map(|(code, _)| Carrier { code, text: pool.add(code) })
                .collect(),
            airports,
            countries,
            customs,
        }
    }

    /// One of `carriers`, or of all when there are none.
    pub(super) fn carrier(&self, carriers: Option<&Members>, random: &mut Random) -> usize {
        match carriers {
            Some(carriers) => carriers.pick(random),
            None => self.carrier_by_traffic.pick(random),
        }
    }

    /// The distance between two airports.
    pub(super) fn km(&self, origin: usize, destination: usize) -> u16 {
        self.km[origin * self.airports.len() + destination]
    }

    /// The difference of two airports' clocks, as nautical time has it.
    pub(super) fn clock_shift_minutes(&self, origin: usize, destination: usize) -> i32 {
        let degrees = self.airports[destination].longitude - self.airports[origin].longitude;
        (degrees / 15.0).round() as i32 * 60
    }
}

impl Members {
    fn of(homes: &[usize], country: usize, flatness: f64) -> Option<Self> {
        let indexes: Vec<usize> = (0..homes.len()).filter(|i| homes[*i] == country).collect();
        let weights: Vec<f64> = indexes.iter().map(|rank| zipf_weight(*rank, flatness)).collect();
        (!indexes.is_empty()).then(|| Self { weighted: Weighted::new(&weights), indexes })
    }

    pub(super) fn count(&self) -> usize {
        self.indexes.len()
    }

    pub(super) fn pick(&self, random: &mut Random) -> usize {
        self.indexes[self.weighted.pick(random)]
    }
}

impl Names {
    fn new<'a>(words: impl Iterator<Item = &'a str>, pool: &mut PoolBuilder) -> Self {
        let names: Vec<Text> = words.map(|word| pool.add(word.replace('_', " "))).collect();
        Self { weighted: Weighted::zipf(names.len(), NAME_FLATNESS), names }
    }

    pub(super) fn pick(&self, random: &mut Random) -> Text {
        self.names[self.weighted.pick(random)]
    }
}

fn load_customs(pool: &mut PoolBuilder) -> Vec<Custom> {
    let lines: Vec<&'static str> = lines(NAMES).collect();
    lines
        .chunks(2)
        .map(|pair| {
            let [last, first] = pair else { unreachable!("names.txt has two lines per custom") };
            let mut last = last.split_whitespace();
            let key = last.next().expect("a line begins with its custom");
            Custom {
                key,
                last: Names::new(last.skip(1), pool),
                first: Names::new(first.split_whitespace().skip(2), pool),
            }
        })
        .collect()
}

fn distances(airports: &[Airport]) -> Vec<u16> {
    let mut km = Vec::with_capacity(airports.len() * airports.len());
    for from in airports {
        for to in airports {
            let (a, b) = (from.latitude.to_radians(), to.latitude.to_radians());
            let turn = (to.longitude - from.longitude).to_radians();
            let cosine = a.sin() * b.sin() + a.cos() * b.cos() * turn.cos();
            km.push((cosine.clamp(-1.0, 1.0).acos() * EARTH_RADIUS_KM).round() as u16);
        }
    }
    km
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

fn records<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    lines(text).map(|line| {
        let fields: Vec<&'static str> = line.split_whitespace().collect();
        fields.try_into().expect("a line has the fields that its file's first line names")
    })
}

fn degrees(text: &str) -> f64 {
    text.parse().expect("airports.txt holds whole degrees")
}

fn position<'a>(mut known: impl Iterator<Item = &'a str>, wanted: &str) -> usize {
    known
        .position(|key| key == wanted)
        .expect("the lists name only countries and customs they hold")
}

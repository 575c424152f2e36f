//! Cabins, booking classes, fare bases and prices.
//!
//! - Prices are whole numbers, computed from tables: no floating point per row.

use gadus_base::Random;

use super::text::{PoolBuilder, Text};
use super::world::World;
use crate::generate::weighted::Weighted;

/// Flights shorter than this sell hardly any premium seats.
const SHORT_KM_MAX: u16 = 1500;
const CABINS: [&str; 4] = ["Y", "W", "C", "F"];
const CABIN_WEIGHTS_SHORT: [f64; 4] = [91.0, 2.0, 7.0, 0.0];
const CABIN_WEIGHTS_LONG: [f64; 4] = [76.0, 9.0, 13.0, 2.0];
const SEAT_LETTERS: [&str; 4] = ["ABCDEFGHK", "ACDEHK", "ACDGHK", "ADGK"];
const SEAT_ROWS: [std::ops::Range<usize>; 4] = [27..61, 20..27, 3..13, 1..3];
const BAG_WEIGHTS: [[f64; 4]; 4] = [
    [52.0, 40.0, 7.0, 1.0],
    [20.0, 60.0, 17.0, 3.0],
    [25.0, 45.0, 25.0, 5.0],
    [15.0, 40.0, 35.0, 10.0],
];
/// Steps of the table of price factors; finer ones round to the same prices.
const FACTORS: usize = 1024;
/// The spread of the logarithm of prices for the same flight and class.
const FACTOR_SIGMA: f64 = 0.35;

/// A booking class: a price level of a cabin.
#[derive(Debug)]
struct Class {
    letter: &'static str,
    cabin: usize,
    weight: f64,
    /// The kind of its fares; `FLX` ones are refundable.
    kind: &'static str,
    /// Its price, in thousandths of a full economy fare.
    price_permille: u64,
}

const fn class(
    letter: &'static str,
    cabin: usize,
    weight: f64,
    kind: &'static str,
    price_permille: u64,
) -> Class {
    Class { letter, cabin, weight, kind, price_permille }
}

const CLASSES: [Class; 25] = [
    class("Y", 0, 3.0, "FLX", 1000),
    class("B", 0, 3.0, "FLX", 880),
    class("M", 0, 5.0, "FLX", 780),
    class("H", 0, 5.0, "STD", 700),
    class("Q", 0, 7.0, "STD", 620),
    class("K", 0, 8.0, "STD", 560),
    class("V", 0, 10.0, "STD", 500),
    class("L", 0, 12.0, "LOW", 440),
    class("S", 0, 11.0, "LOW", 400),
    class("T", 0, 9.0, "LOW", 360),
    class("N", 0, 7.0, "LOW", 320),
    class("O", 0, 6.0, "LOW", 280),
    class("G", 0, 3.0, "GRP", 300),
    class("U", 0, 4.0, "PRO", 240),
    class("E", 0, 4.0, "PRO", 210),
    class("X", 0, 3.0, "AWD", 60),
    class("W", 1, 6.0, "FLX", 1700),
    class("P", 1, 4.0, "LOW", 1250),
    class("C", 2, 2.0, "FLX", 4000),
    class("J", 2, 3.0, "FLX", 3600),
    class("D", 2, 4.0, "STD", 3000),
    class("Z", 2, 5.0, "LOW", 2400),
    class("I", 2, 2.0, "PRO", 1900),
    class("F", 3, 2.0, "FLX", 7000),
    class("A", 3, 3.0, "LOW", 5200),
];
const STAYS: [&str; 5] = ["3M", "1Y", "OW", "7D", "RT"];

/// The tables behind fares and seats.
#[derive(Debug)]
pub(super) struct Fares {
    cabins: [Text; 4],
    letters: [Text; CLASSES.len()],
    cabins_short: Weighted,
    cabins_long: Weighted,
    /// For each cabin, its classes' indexes and weights.
    classes: [(Vec<usize>, Weighted); 4],
    seats: [Vec<Text>; 4],
    bags: [Weighted; 4],
    /// By class, then by country.
    bases: Vec<Text>,
    countries: usize,
    factors_permille: Vec<u64>,
}

/// What was sold.
#[derive(Debug)]
pub(super) struct Fare {
    pub(super) cabin: Text,
    pub(super) cabin_index: usize,
    pub(super) class: Text,
    pub(super) basis: Text,
    pub(super) refundable: bool,
    pub(super) fare_cents: i64,
    pub(super) tax_cents: i64,
}

impl Fares {
    pub(super) fn new(world: &World, pool: &mut PoolBuilder) -> Self {
        let countries = world.countries.iter().map(|country| country.key);
        let bases = CLASSES.iter().enumerate().flat_map(|(index, class)| {
            countries.clone().enumerate().map(move |(market, country)| {
                let stay = STAYS[(index * 7 + market * 3) % STAYS.len()];
                format!("{}{}{country}{stay}", class.letter, class.kind)
            })
        });
        Self {
            cabins: CABINS.map(|cabin| pool.add(cabin)),
            letters: std::array::from_fn(|index| pool.add(CLASSES[index].letter)),
            cabins_short: Weighted::new(&CABIN_WEIGHTS_SHORT),
            cabins_long: Weighted::new(&CABIN_WEIGHTS_LONG),
            classes: std::array::from_fn(classes_of),
            seats: std::array::from_fn(|cabin| seats_of(cabin, pool)),
            bags: std::array::from_fn(|cabin| Weighted::new(&BAG_WEIGHTS[cabin])),
            bases: bases.map(|basis| pool.add(basis)).collect(),
            countries: world.countries.len(),
            factors_permille: (0..FACTORS).map(factor_permille).collect(),
        }
    }

    /// A fare for a flight of `km`, sold in the country with index `market`.
    pub(super) fn draw(&self, random: &mut Random, km: u16, market: usize) -> Fare {
        let cabins = if km <= SHORT_KM_MAX { &self.cabins_short } else { &self.cabins_long };
        let cabin = cabins.pick(random);
        let (indexes, weighted) = &self.classes[cabin];
        let index = indexes[weighted.pick(random)];
        let class = &CLASSES[index];
        let full_cents = 6_000 + 11 * u64::from(km);
        let factor = self.factors_permille[bell(random)];
        // Fares are whole units of money; taxes are what they are.
        let units = full_cents * class.price_permille / 1000 * factor / 1000 / 100;
        let fare_cents = (units.max(1) * 100).cast_signed();
        let tax_cents =
            1_800 + i64::from(km) / 2 + fare_cents / 12 + random.below(700).cast_signed();
        Fare {
            cabin: self.cabins[cabin],
            cabin_index: cabin,
            class: self.letters[index],
            basis: self.bases[index * self.countries + market],
            refundable: class.kind == "FLX",
            fare_cents,
            tax_cents,
        }
    }

    pub(super) fn seat(&self, random: &mut Random, cabin: usize) -> Text {
        let seats = &self.seats[cabin];
        seats[random.below(seats.len() as u64) as usize]
    }

    pub(super) fn bags(&self, random: &mut Random, cabin: usize) -> i16 {
        self.bags[cabin].pick(random) as i16
    }
}

fn classes_of(cabin: usize) -> (Vec<usize>, Weighted) {
    let indexes: Vec<usize> = (0..CLASSES.len()).filter(|i| CLASSES[*i].cabin == cabin).collect();
    let weights: Vec<f64> = indexes.iter().map(|index| CLASSES[*index].weight).collect();
    (indexes, Weighted::new(&weights))
}

fn seats_of(cabin: usize, pool: &mut PoolBuilder) -> Vec<Text> {
    let rows = SEAT_ROWS[cabin].clone();
    rows.flat_map(|row| SEAT_LETTERS[cabin].chars().map(move |letter| format!("{row}{letter}")))
        .map(|seat| pool.add(seat))
        .collect()
}

/// A number below [`FACTORS`], distributed like a bell: the sum of four even ones.
fn bell(random: &mut Random) -> usize {
    let bits = random.next_u64();
    let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xFFFF).sum();
    (sum >> 8) as usize
}

/// e^(sigma z) for the z of a step of [`bell`], whose deviation is a quarter of its range / √3.
fn factor_permille(step: usize) -> u64 {
    let deviation = FACTORS as f64 / 4.0 / 3.0_f64.sqrt();
    let z = (step as f64 - FACTORS as f64 / 2.0) / deviation;
    (1000.0 * (FACTOR_SIGMA * z).exp()).round() as u64
}

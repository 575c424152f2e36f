//! One booking, drawn whole: the place where the columns depend on each other.
//!
//! - A row takes its random numbers from its own sequence, so neither batches nor threads change it.

use gadus_base::Random;

use super::fare::{Fare, Fares};
use super::locator::Locators;
use super::passenger::Passenger;
use super::text::{Pool, PoolBuilder, Text};
use super::world::World;
use crate::generate::weighted::Weighted;

const AGENCIES: u64 = 20_000;
/// 2024-01-01, when the first booking is made.
const FIRST_BOOKING_US: i64 = 1_704_067_200_000_000;
/// All bookings are made within two years.
const PERIOD_US: i64 = 731 * DAY_US;
const DAY_US: i64 = 86_400_000_000;
/// A booking may be recorded late: by this many rows, and never by more than an hour.
const JITTER_ROWS: i64 = 8;
const JITTER_US_MAX: i64 = 3_600_000_000;
/// How many people share the bookings: on the average each flies three times.
const BOOKINGS_PER_PASSENGER: u64 = 3;
const FIRST_PASSENGER: u64 = 1_000_000;
/// Bookings ahead of departure: an exponential law with this mean, cut off at eleven months.
const LEAD_DAYS_MEAN: f64 = 36.0;
const LEAD_DAYS_MAX: f64 = 330.0;
const LEAD_STEPS: usize = 1024;

/// A status, its share, and whether it keeps a seat.
const STATUSES: [(&str, f64, bool); 8] = [
    ("HK", 72.0, true),
    ("TK", 8.0, true),
    ("XX", 7.0, false),
    ("KK", 4.0, true),
    ("HL", 3.0, true),
    ("RR", 3.0, true),
    ("UN", 2.0, true),
    ("NO", 1.0, true),
];
/// A channel, its share, and whether an agency sells there.
const CHANNELS: [(&str, f64, bool); 5] = [
    ("WEB", 34.0, false),
    ("GDS", 27.0, true),
    ("APP", 22.0, false),
    ("NDC", 12.0, true),
    ("CALL", 5.0, false),
];

/// Everything rows are drawn from.
#[derive(Debug)]
pub(super) struct Source {
    world: World,
    fares: Fares,
    locators: Locators,
    rows: Random,
    passengers: Random,
    passenger_count: u64,
    row_interval_us: i64,
    agencies: Vec<Text>,
    agency_by_sales: Weighted,
    statuses: Flagged,
    channels: Flagged,
    lead_days: Vec<i32>,
    pool: Pool,
}

/// Texts by weight, each with a property.
#[derive(Debug)]
struct Flagged {
    texts: Vec<(Text, bool)>,
    weighted: Weighted,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) record_locator: [u8; 6],
    pub(super) booked_at_us: i64,
    pub(super) carrier: Text,
    pub(super) flight: Flight,
    pub(super) origin: Text,
    pub(super) destination: Text,
    pub(super) departure_day: i32,
    pub(super) passenger_id: i64,
    pub(super) passenger: Passenger,
    pub(super) seat: Option<Text>,
    pub(super) status: Text,
    pub(super) fare: Fare,
    pub(super) currency: Text,
    pub(super) agency: Option<Text>,
    pub(super) frequent_flyer: Option<[u8; 11]>,
    pub(super) bags: i16,
    pub(super) channel: Text,
}

/// A flight of the timetable.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) number: i16,
    pub(super) departure_minute: i16,
    pub(super) arrival_minute: i16,
}

impl Source {
    pub(super) fn new(rows: u64, seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let mut pool = PoolBuilder::default();
        let world = World::load(&mut pool);
        Self {
            fares: Fares::new(&world, &mut pool),
            world,
            locators: Locators::new(&mut random),
            rows: random.child(0),
            passengers: random.child(1),
            passenger_count: rows / BOOKINGS_PER_PASSENGER + 1,
            row_interval_us: PERIOD_US / rows.max(1).cast_signed(),
            // Multiplying by a number without common factors shuffles the eight digits.
            agencies: (0..AGENCIES)
                .map(|rank| (rank * 70_368_743 + 12_345_678) % 100_000_000)
                .map(|number| pool.add(format!("{number:08}")))
                .collect(),
            agency_by_sales: Weighted::zipf(AGENCIES as usize, 10.0),
            statuses: Flagged::new(&STATUSES, &mut pool),
            channels: Flagged::new(&CHANNELS, &mut pool),
            lead_days: (0..LEAD_STEPS).map(lead_days).collect(),
            pool: pool.finish(),
        }
    }

    pub(super) fn row(&self, index: u64) -> Row {
        let random = &mut self.rows.child(index);
        let passenger_index = self.passenger(random);
        let passenger = Passenger::draw(&self.world, self.passengers.child(passenger_index));
        let (origin, destination) = self.route(random, passenger.home);
        let km = self.world.km(origin, destination);
        let carrier = self.carrier(random, origin, destination);
        let market = self.world.airports[origin].country;
        let fare = self.fares.draw(random, km, market);
        let (status, keeps_seat) = self.statuses.pick(random);
        let (channel, by_agency) = self.channels.pick(random);
        let seated = keeps_seat && random.chance(0.7);
        let booked_at_us = self.booked_at_us(random, index);
        let lead_days = self.lead_days[random.below(LEAD_STEPS as u64) as usize];
        Row {
            record_locator: self.locators.of(index),
            booked_at_us,
            carrier: self.world.carriers[carrier].text,
            flight: self.flight(random, carrier, origin, destination),
            origin: self.world.airports[origin].code,
            destination: self.world.airports[destination].code,
            departure_day: (booked_at_us / DAY_US) as i32 + lead_days,
            passenger_id: (FIRST_PASSENGER + passenger_index).cast_signed(),
            seat: seated.then(|| self.fares.seat(random, fare.cabin_index)),
            status,
            currency: self.world.countries[market].currency,
            agency: by_agency.then(|| self.agencies[self.agency_by_sales.pick(random)]),
            frequent_flyer: passenger
                .frequent_flyer
                .map(|(carrier, number)| card(self.world.carriers[carrier].code, number)),
            bags: self.fares.bags(random, fare.cabin_index),
            channel,
            fare,
            passenger,
        }
    }

    /// The bytes of long texts.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Some fly far more than others: a product of two even numbers.
    fn passenger(&self, random: &mut Random) -> u64 {
        let bound = random.below(self.passenger_count) + 1;
        random.below(bound)
    }

    /// From home, back home, or, for a third of all bookings, between other places.
    fn route(&self, random: &mut Random, home: usize) -> (usize, usize) {
        let roll = random.unit();
        let base = if roll < 0.66 { home } else { self.world.airport_by_traffic.pick(random) };
        let other = self.other_airport(random, base);
        if roll < 0.36 { (base, other) } else { (other, base) }
    }

    fn other_airport(&self, random: &mut Random, base: usize) -> usize {
        let country = &self.world.countries[self.world.airports[base].country];
        let domestic = country.airports.as_ref().filter(|airports| airports.count() > 1);
        let domestic = domestic.filter(|_| random.chance(0.4));
        loop {
            let other = match domestic {
                Some(airports) => airports.pick(random),
                None => self.world.airport_by_traffic.pick(random),
            };
            if other != base {
                return other;
            }
        }
    }

    /// Mostly a carrier of one end of the route.
    fn carrier(&self, random: &mut Random, origin: usize, destination: usize) -> usize {
        let roll = random.unit();
        let end = if roll < 0.5 { origin } else { destination };
        let country = &self.world.countries[self.world.airports[end].country];
        let local = country.carriers.as_ref().filter(|_| roll < 0.8);
        self.world.carrier(local, random)
    }

    /// One of the flights that a carrier has on a route: the same number always flies the same way
    /// at the same time.
    fn flight(
        &self,
        random: &mut Random,
        carrier: usize,
        origin: usize,
        destination: usize,
    ) -> Flight {
        let daily = random.below(daily_flights_max(carrier));
        let places = (carrier << 20) | (origin << 10) | destination;
        let route = ((places as u64) << 3) | daily;
        let timetable = Random::seeded(route).next_u64();
        // The square of an even number: low numbers are frequent.
        let share = timetable & 0xFFFF;
        let number = 1 + ((share * share * 2_999) >> 32);
        let departure = 300 + 5 * ((timetable >> 32) % 216) as i32;
        let minutes = 35 + i32::from(self.world.km(origin, destination)) * 60 / 820;
        let shift = self.world.clock_shift_minutes(origin, destination);
        Flight {
            number: number as i16,
            departure_minute: departure as i16,
            arrival_minute: (departure + minutes + shift).rem_euclid(1440) as i16,
        }
    }

    fn booked_at_us(&self, random: &mut Random, index: u64) -> i64 {
        let jitter_max = (self.row_interval_us * JITTER_ROWS).min(JITTER_US_MAX);
        let planned = FIRST_BOOKING_US + index.cast_signed() * self.row_interval_us;
        planned + random.below(jitter_max.cast_unsigned() + 1).cast_signed()
    }
}

impl Flagged {
    fn new(entries: &[(&str, f64, bool)], pool: &mut PoolBuilder) -> Self {
        let weights: Vec<f64> = entries.iter().map(|(_, weight, _)| *weight).collect();
        let texts = entries.iter().map(|(text, _, flag)| (pool.add(*text), *flag)).collect();
        Self { texts, weighted: Weighted::new(&weights) }
    }

    fn pick(&self, random: &mut Random) -> (Text, bool) {
        self.texts[self.weighted.pick(random)]
    }
}

/// Large carriers, which come first, fly a route up to six times a day.
fn daily_flights_max(carrier: usize) -> u64 {
    6 - (carrier as u64 / 12).min(4)
}

fn lead_days(step: usize) -> i32 {
    let share = (step as f64 + 0.5) / LEAD_STEPS as f64;
    (-LEAD_DAYS_MEAN * (1.0 - share).ln()).min(LEAD_DAYS_MAX) as i32
}

/// A card's number: the carrier and nine digits.
fn card(carrier: &str, number: u32) -> [u8; 11] {
    let mut text = [b'0'; 11];
    text[..2].copy_from_slice(carrier.as_bytes());
    let mut rest = number;
    for digit in text[2..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text
}

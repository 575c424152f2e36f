//! Visitors: what stays the same in all hits of one.
//!
//! - A visitor follows from its number alone.

use gadus_base::Random;

use super::words::PHONES;
use crate::generate::weighted::Weighted;

/// The visitor that a query asks for, who has some hits among a million.
const ASKED_USER: i64 = 435_090_932_899_640_449;
const ASKED_NUMBER: u64 = 1000;
/// Programs come to the same pages again and again, far more than people.
const PROGRAMS: usize = 500;
const PROGRAM_SHARE: f64 = 0.03;
/// Hits of a visitor on the average.
const HITS_PER_VISITOR: u64 = 4;
/// Those whose hits are of a telephone or tablet; of these, those whose model is known.
const MOBILE_SHARE: f64 = 0.07;
const MODEL_SHARE: f64 = 0.8;
const REGIONS: usize = 5000;
/// Widths and heights of screens, with their shares.
const SCREENS: [(i16, i16, f64); 10] = [
    (1366, 768, 26.0),
    (1920, 1080, 16.0),
    (1280, 1024, 14.0),
    (1024, 768, 10.0),
    (1280, 800, 9.0),
    (1600, 900, 7.0),
    (1680, 1050, 6.0),
    (1440, 900, 6.0),
    (320, 480, 3.0),
    (0, 0, 3.0),
];

/// All visitors.
#[derive(Debug)]
pub(super) struct Visitors {
    seeds: Random,
    count: u64,
    programs: Weighted,
    regions: Weighted,
    screens: Weighted,
    phones: Weighted,
    agents: Weighted,
}

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    pub(super) id: i64,
    pub(super) unique_id: i64,
    pub(super) ip: i32,
    pub(super) network: i32,
    pub(super) region: i32,
    pub(super) agent: i16,
    pub(super) agent_major: i16,
    pub(super) agent_minor: &'static str,
    pub(super) system: i16,
    pub(super) screen: (i16, i16),
    pub(super) depth: i16,
    pub(super) flash: (i16, i16, &'static str),
    pub(super) net: (i16, i16),
    pub(super) silverlight: (i16, i16, i32),
    pub(super) java: i16,
    pub(super) cookie: i16,
    pub(super) javascript: i16,
    pub(super) mobile: i16,
    pub(super) phone: i16,
    pub(super) phone_model: &'static str,
    pub(super) time_zone: i16,
    pub(super) age: i16,
    pub(super) sex: i16,
    pub(super) income: i16,
    pub(super) interests: i16,
    pub(super) language: &'static str,
    pub(super) country: &'static str,
    pub(super) robotness: i16,
}

impl Visitors {
    pub(super) fn new(rows: u64, seeds: Random) -> Self {
        Self {
            seeds,
            count: rows / HITS_PER_VISITOR + 1,
            programs: Weighted::zipf(PROGRAMS, 2.0),
            regions: Weighted::zipf(REGIONS, 3.0),
            screens: Weighted::new(&SCREENS.map(|(_, _, share)| share)),
            phones: Weighted::zipf(PHONES.len(), 0.3),
            agents: Weighted::zipf(40, 1.0),
        }
    }

    /// Who has a hit: some have far more than others.
    pub(super) fn pick(&self, random: &mut Random) -> Visitor {
        if random.chance(PROGRAM_SHARE) {
            return self.visitor(self.programs.pick(random) as u64);
        }
        let bound = random.below(self.count) + 1;
        self.visitor(random.below(bound))
    }

    fn visitor(&self, number: u64) -> Visitor {
        let random = &mut self.seeds.child(number);
        // In small tables, the one that is asked for is among the frequent ones.
        let is_asked = number == ASKED_NUMBER.min(self.count / 100);
        let drawn = random.next_u64();
        let mobile = random.chance(MOBILE_SHARE);
        let known = mobile && random.chance(MODEL_SHARE);
        let model = if known { self.phones.pick(random) } else { 0 };
        let (width, height, _) = SCREENS[self.screens.pick(random)];
        let agent = self.agents.pick(random) as i16 + 1;
        let has_flash = !mobile && random.chance(0.85);
        let has_net = random.chance(0.3);
        let has_silverlight = random.chance(0.25);
        let age = [0, 0, 0, 16, 22, 31, 39, 50][random.below(8) as usize];
        let region = self.regions.pick(random) as i32 * 13 % 131_071 + 1;
        let (language, country) = match random.below(20) {
            0..=15 => ("ru", "RU"),
            16 => ("uk", "UA"),
            17 => ("en", "US"),
            18 => ("en", "GB"),
            _ => ("be", "BY"),
        };
        Visitor {
            id: if is_asked { ASKED_USER } else { (drawn >> 1).cast_signed() },
            unique_id: if random.chance(0.8) { (drawn >> 2).cast_signed() } else { 0 },
            // Half of them all, so that a little less is no less than the least.
            ip: random.next_u64() as i32 / 2,
            network: random.below(4_000_000) as i32,
            region,
            agent,
            agent_major: random.below(30) as i16,
            agent_minor: ["0", "1", "5", "15", "D`", "0."][random.below(6) as usize],
            system: if mobile { 200 + random.below(20) as i16 } else { random.below(45) as i16 },
            screen: (width, height),
            depth: if random.chance(0.9) { 24 } else { 32 },
            flash: match has_flash {
                true => (11, random.below(8) as i16, ["700", "224", "202"][drawn as usize % 3]),
                false => (0, 0, ""),
            },
            net: if has_net { (4, random.below(2) as i16 * 5) } else { (0, 0) },
            silverlight: match has_silverlight {
                true => (5, 1, random.below(60_000) as i32),
                false => (0, 0, 0),
            },
            java: i16::from(!mobile && random.chance(0.7)),
            cookie: i16::from(random.chance(0.99)),
            javascript: i16::from(random.chance(0.98)),
            mobile: i16::from(mobile),
            phone: if known { (model as i16 * 7) % 12 + 1 } else { 0 },
            phone_model: if known { PHONES[model] } else { "" },
            time_zone: [135, 135, 135, 135, 157, 178, 199, -1][random.below(8) as usize],
            age,
            sex: if age > 0 { 1 + random.below(2) as i16 } else { 0 },
            income: if age > 0 { 1 + random.below(3) as i16 } else { 0 },
            interests: if age > 0 { random.below(15_000) as i16 } else { 0 },
            language,
            country,
            robotness: i16::from(random.chance(0.01)),
        }
    }
}

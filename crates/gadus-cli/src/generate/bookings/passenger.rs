//! People: who they are follows from their number, so that one who flies twice is the same twice.

use gadus_base::Random;

use super::text::Text;
use super::world::World;

/// 2025-01-01, from which ages are counted.
const AGES_COUNTED_FROM_DAY: i32 = 20_089;
const DAYS_PER_YEAR: u64 = 365;

#[derive(Debug)]
pub(super) struct Passenger {
    /// The airport next door.
    pub(super) home: usize,
    pub(super) nationality: Text,
    pub(super) last_name: Text,
    pub(super) first_name: Text,
    /// Days since 1970.
    pub(super) birth_day: i32,
    /// A carrier's index and the number on its card.
    pub(super) frequent_flyer: Option<(usize, u32)>,
}

impl Passenger {
    /// The person whom `random` draws.
    pub(super) fn draw(world: &World, mut random: Random) -> Self {
        let random = &mut random;
        let home = world.airport_by_traffic.pick(random);
        let residence = world.airports[home].country;
        let abroad = random.chance(0.12);
        let nation = if abroad {
            world.airports[world.airport_by_traffic.pick(random)].country
        } else {
            residence
        };
        let nation = &world.countries[nation];
        let migrated = random.chance(0.1);
        let custom = if migrated {
            random.below(world.customs.len() as u64) as usize
        } else {
            nation.custom
        };
        let custom = &world.customs[custom];
        // The sum of two even numbers: most are between 25 and 65, few very young or old.
        let age_days = random.below(45 * DAYS_PER_YEAR) + random.below(45 * DAYS_PER_YEAR);
        let member = random.chance(0.38);
        let frequent_flyer = member.then(|| {
            let carriers = world.countries[residence].carriers.as_ref();
            (world.carrier(carriers, random), random.below(1_000_000_000) as u32)
        });
        Self {
            home,
            nationality: nation.code,
            last_name: custom.last.pick(random),
            first_name: custom.first.pick(random),
            birth_day: AGES_COUNTED_FROM_DAY - age_days as i32,
            frequent_flyer,
        }
    }
}

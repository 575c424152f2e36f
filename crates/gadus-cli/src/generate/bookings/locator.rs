//! Record locators: six characters that look random, are unique, and follow from the row's number.
//!
//! - A Feistel network over pairs of numbers below 36³, so a bijection on 36⁶ rows: uniqueness needs
//!   no memory, and any row's locator is computed without its predecessors.

use gadus_base::Random;

/// Rows beyond which six characters would repeat.
pub(super) const ROWS_MAX: u64 = HALF * HALF;

const HALF: u64 = 36 * 36 * 36;
const ALPHABET: &[u8; 36] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// Four rounds make every output digit depend on every input digit.
const ROUNDS: usize = 4;

/// The locators of one seed.
#[derive(Debug)]
pub(super) struct Locators {
    keys: [u64; ROUNDS],
}

impl Locators {
    pub(super) fn new(random: &mut Random) -> Self {
        Self { keys: std::array::from_fn(|_| random.next_u64()) }
    }

    /// The locator of a row below [`ROWS_MAX`]; its bytes are ASCII.
    pub(super) fn of(&self, row: u64) -> [u8; 6] {
        let (mut left, mut right) = (row / HALF, row % HALF);
        for key in self.keys {
            let mixed = Random::seeded(right ^ key).next_u64();
            (left, right) = (right, (left + mixed % HALF) % HALF);
        }
        let digit = |number: u64| ALPHABET[(number % 36) as usize];
        [left / 1296, left / 36, left, right / 1296, right / 36, right].map(digit)
    }
}

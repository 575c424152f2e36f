//! Sets of processors, by the numbers that the system gives them.

use std::fmt;

/// A set of small numbers.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(Vec<u64>);

/// Numbers above this are no processor's: what a text says must not cost memory.
pub(super) const NUMBER_MAX: u32 = 1 << 16;

impl CpuSet {
    /// The set of a list such as `0-3,8`, as files of the kernel have it.
    #[must_use]
    pub fn from_list(list: &str) -> Option<Self> {
        let mut set = Self::default();
        for part in list.trim().split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
            if first > last || last > NUMBER_MAX {
                return None;
            }
            (first..=last).for_each(|number| set.insert(number));
        }
        Some(set)
    }

    /// The set of a mask such as `0x00000003,0xffffffff`, the highest word first, as hwloc has it.
    #[must_use]
    pub fn from_mask(mask: &str) -> Option<Self> {
        let mut set = Self::default();
        for (place, word) in (0_u32..).zip(mask.trim().rsplit(',')) {
            let digits = word.trim().strip_prefix("0x").unwrap_or_else(|| word.trim());
            if digits.is_empty() && place > 0 {
                continue;
            }
            let word = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
            let base = place.checked_mul(32).filter(|base| *base <= NUMBER_MAX)?;
            let bits = (0..32).filter(|bit| word >> bit & 1 == 1);
            bits.for_each(|bit| set.insert(base + bit));
        }
        Some(set)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: u32) {
        let (word, bit) = (number as usize / 64, number % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    /// Whether a number is in it.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Whether all of it is in another.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let others = other.0.iter().chain(std::iter::repeat(&0));
        self.0.iter().zip(others).all(|(one, other)| one & !other == 0)
    }

    /// Whether a number is in both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    /// How many numbers it has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The least number.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// Its numbers, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.0).flat_map(|(place, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * 64 + bit)
        })
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut set = Self::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.iter().collect::<Vec<_>>();
        let mut runs = numbers.chunk_by(|one, next| one + 1 == *next);
        let mut run = |first: bool| -> Option<fmt::Result> {
            let run = runs.next()?;
            let comma = if first { "" } else { "," };
            Some(match run {
                [one] => write!(f, "{comma}{one}"),
                [one, .., last] => write!(f, "{comma}{one}-{last}"),
                [] => Ok(()),
            })
        };
        let mut first = true;
        while let Some(written) = run(first) {
            written?;
            first = false;
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests;

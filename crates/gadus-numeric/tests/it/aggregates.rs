//! States of aggregates: merged and reduced states equal those of the remaining values.

use crate::random::{finite, numeric};
use gadus_base::Random;
use gadus_numeric::{Numeric, SumState, VarianceState};

#[test]
fn merged_states_equal_one_state() {
    let mut random = Random::seeded(21);
    for _ in 0..300 {
        let values: Vec<Numeric> = (0..random.below(20)).map(|_| finite(&mut random)).collect();
        let (mut whole, mut merged) = (State::default(), State::default());
        values.iter().for_each(|value| whole.add(value));
        for chunk in values.chunks(3) {
            let mut part = State::default();
            chunk.iter().for_each(|value| part.add(value));
            merged.merge(&part.sent());
        }
        assert_eq!(whole.results(), merged.results(), "{values:?}");
    }
}

#[test]
fn states_without_the_removed_values_equal_those_of_the_others() {
    let mut random = Random::seeded(22);
    for _ in 0..300 {
        let values: Vec<Numeric> = (0..8).map(|_| numeric(&mut random)).collect();
        let removed = usize::try_from(random.below(8)).unwrap();
        let (mut reduced, mut others) = (State::default(), State::default());
        values.iter().for_each(|value| reduced.add(value));
        values[removed..].iter().for_each(|value| others.add(value));
        // A state that cannot give a value up says so.
        if values[..removed].iter().all(|value| reduced.remove(value)) {
            assert_eq!(reduced.results(), others.results(), "{values:?}");
        }
    }
}

#[test]
fn sums_beyond_128_bits_are_exact() {
    let (mut state, mut expected) = (SumState::new(), Numeric::ZERO);
    let large: Numeric = i128::MAX.into();
    for _ in 0..100 {
        state.add(&large);
        expected = expected.add(&large).unwrap();
    }
    assert_eq!(state.sum().unwrap(), Some(expected));
    (0..99).for_each(|_| assert!(state.remove(&large)));
    assert_eq!(state.sum().unwrap(), Some(large));
}

#[test]
fn no_values_have_no_results() {
    assert_eq!(State::default().results(), [const { None::<String> }; 6]);
}

#[test]
fn changed_bytes_of_states_are_read_without_a_panic() {
    let mut random = Random::seeded(23);
    for _ in 0..300 {
        let mut state = VarianceState::new();
        (0..random.below(5)).for_each(|_| state.add(&finite(&mut random)));
        let mut bytes = state.to_bytes();
        let position = usize::try_from(random.below(bytes.len().try_into().unwrap())).unwrap();
        bytes[position] ^= 1 << random.below(8);
        if let Ok(mut read) = VarianceState::from_bytes(&bytes) {
            read.merge(&state);
            let _ = read.var_samp();
        }
        bytes.truncate(position);
        assert_eq!(VarianceState::from_bytes(&bytes).unwrap_err().sqlstate(), "XX001");
    }
}

#[derive(Default)]
struct State(SumState, VarianceState);

impl State {
    fn add(&mut self, value: &Numeric) {
        self.0.add(value);
        self.1.add(value);
    }

    fn remove(&mut self, value: &Numeric) -> bool {
        self.0.remove(value) && self.1.remove(value)
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
        self.1.merge(&other.1);
    }

    /// Returns the state that another process receives.
    fn sent(&self) -> Self {
        let sum = SumState::from_bytes(&self.0.to_bytes()).unwrap();
        Self(sum, VarianceState::from_bytes(&self.1.to_bytes()).unwrap())
    }

    fn results(&self) -> [Option<String>; 6] {
        [
            self.0.sum(),
            self.0.average(),
            self.1.var_pop(),
            self.1.var_samp(),
            self.1.stddev_pop(),
            self.1.stddev_samp(),
        ]
        .map(|result| match result {
            Ok(value) => value.map(|value| value.to_string()),
            Err(error) => Some(error.sqlstate().to_owned()),
        })
    }
}

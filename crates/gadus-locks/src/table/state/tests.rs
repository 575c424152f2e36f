//! The state word of a request.

use super::*;

#[test]
fn words_keep_states_and_owners() {
    let waiting = State { passed: 255, moved: true, ..State::waiting(Mode::Exclusive) };
    let held = State { noticed: Mode::Exclusive, ..State::granted(Mode::Shared) };
    let refused = State { refused: true, ..held };
    for state in [State::FREE, waiting, held, refused, held.converting(Mode::Exclusive)] {
        assert_eq!(State::from_word(state.to_word()), Some(state));
    }
    let instance = Owner { slot: INSTANCES_MAX - 1, generation: u32::MAX };
    let holder = Holder { instance, record: RECORDS_MAX - 1 };
    assert_eq!(Holder::from_word(holder.to_word()), holder);
}

#[test]
fn words_that_cannot_be_are_no_states() {
    for word in [4, 15, 1 << 4, 0xA1, 0xF01, 0xA001, 1 | 1 << 26, u64::MAX] {
        assert_eq!(State::from_word(word), None, "{word:x}");
    }
}

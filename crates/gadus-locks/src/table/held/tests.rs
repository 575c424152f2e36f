//! What an owner knows of its locks.

use super::*;

fn name(number: usize) -> Resource {
    Resource::named(&format!("resource {number}"))
}

fn held(slot: usize, mode: Mode) -> Held {
    Held { slot: u32::try_from(slot).unwrap(), mode }
}

#[test]
fn few_and_many_locks_are_found_changed_and_removed() {
    for count in [1, FEW, FEW + 1, 10 * FEW] {
        let mut locks = Locks::default();
        for number in 0..count {
            assert_eq!(locks.get(name(number)), None);
            locks.add(name(number), held(number, Mode::Shared));
        }
        for number in (0..count).step_by(2) {
            locks.set(name(number), held(number, Mode::Exclusive));
        }
        assert_eq!((locks.len(), locks.iter().count()), (count, count));
        for number in 0..count {
            let mode = if number % 2 == 0 { Mode::Exclusive } else { Mode::Shared };
            assert_eq!(locks.get(name(number)), Some(held(number, mode)));
            assert_eq!(locks.remove(name(number)), Some(held(number, mode)));
            assert_eq!((locks.get(name(number)), locks.remove(name(number))), (None, None));
        }
        assert_eq!((locks.len(), locks.iter().count()), (0, 0));
    }
}

#[test]
fn a_lock_that_is_changed_stays_one_when_there_is_room_among_the_few_again() {
    let mut locks = Locks::default();
    for number in 0..=FEW {
        locks.add(name(number), held(number, Mode::Shared));
    }
    locks.remove(name(0));
    locks.set(name(FEW), held(FEW, Mode::Exclusive));
    assert_eq!(locks.len(), FEW);
    assert_eq!(locks.remove(name(FEW)), Some(held(FEW, Mode::Exclusive)));
    assert_eq!(locks.get(name(FEW)), None);
}

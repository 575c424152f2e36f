//! Few resources and many.

use super::*;

fn name(number: usize) -> Resource {
    Resource::named(&format!("resource {number}"))
}

#[test]
fn few_and_many_are_found_changed_and_removed() {
    for count in [1, FEW, FEW + 1, 10 * FEW] {
        let mut values = ByResource::default();
        for number in 0..count {
            assert_eq!(values.get(name(number)), None);
            values.add(name(number), number);
        }
        for number in (0..count).step_by(2) {
            values.set(name(number), 2 * number);
            *values.get_mut(name(number)).unwrap() += 1;
        }
        assert_eq!((values.len(), values.iter().count()), (count, count));
        for number in 0..count {
            let value = if number % 2 == 0 { 2 * number + 1 } else { number };
            assert_eq!(values.get(name(number)), Some(value));
            assert_eq!(values.remove(name(number)), Some(value));
            assert_eq!((values.get(name(number)), values.remove(name(number))), (None, None));
            assert_eq!(values.get_mut(name(number)), None);
        }
        assert_eq!((values.len(), values.iter().count()), (0, 0));
    }
}

#[test]
fn one_of_many_that_is_changed_stays_one_when_there_is_room_among_the_few_again() {
    let mut values = ByResource::default();
    for number in 0..=FEW {
        values.add(name(number), number);
    }
    values.remove(name(0));
    values.set(name(FEW), 7);
    assert_eq!(values.len(), FEW);
    assert_eq!(values.remove(name(FEW)), Some(7));
    assert_eq!(values.get(name(FEW)), None);
}

#[test]
fn what_is_not_kept_is_gone_among_few_and_many() {
    let mut values = ByResource::default();
    for number in 0..3 * FEW {
        values.add(name(number), number);
    }
    let kept = [name(1), name(2 * FEW)];
    values.retain(|one| kept.contains(&one));
    assert_eq!(kept.map(|one| values.get(one)), [Some(1), Some(2 * FEW)]);
    assert_eq!(values.len(), 2);
    values.clear();
    assert_eq!((values.len(), values.get(kept[0]), values.get(kept[1])), (0, None, None));
}

//! What is found for a packed value is exactly what hits cover it, in every way of finding it.

use super::super::flags::FLAG_BITS;
use super::{Groups, Hit};
use crate::shared::index::QuestionIndex;
use gadus_base::Random;

fn sorted(questions: &[QuestionIndex]) -> Vec<QuestionIndex> {
    let mut questions = questions.to_vec();
    questions.sort_unstable();
    questions
}

#[test]
fn groups_are_what_the_hits_cover() {
    let mut random = Random::seeded(3);
    for round in 0..200 {
        let width = u8::try_from(1 + random.below(20)).unwrap();
        let max = (1_u64 << width) - 1;
        let questions = (0..1 + random.below(60)).map(|one| vec![u32::try_from(one).unwrap()]);
        let questions = questions.collect::<Vec<_>>();
        let hits = questions.iter().map(|questions| {
            let low = random.below(max + 2);
            let longest = if round % 2 == 0 { 2 } else { max };
            // Some begin or end behind the last value.
            Hit { low, high: low + random.below(longest), questions }
        });
        let hits = hits.collect::<Vec<_>>();
        let groups = Groups::of(&hits, max);
        let heads = (width <= 16).then(|| groups.heads(1 << width).unwrap());
        let flags = groups.flags(width);
        let ends = hits.iter().flat_map(|hit| [hit.low, hit.high, hit.high + 1]);
        let drawn = (0..50).map(|_| random.below(max + 1)).collect::<Vec<_>>();
        for value in ends.chain(drawn).chain([0, max]).filter(|value| *value <= max) {
            let covering = hits.iter().filter(|hit| hit.low <= value && value <= hit.high);
            let wanted =
                sorted(&covering.flat_map(|hit| hit.questions).copied().collect::<Vec<_>>());
            assert_eq!(sorted(groups.find(value)), wanted, "round {round}, value {value}");
            assert!(wanted.is_empty() || flags.may_hold(value), "round {round}, value {value}");
            if let Some(heads) = &heads {
                let head = heads[usize::try_from(value).unwrap()];
                assert_eq!(sorted(groups.of_head(head)), wanted, "round {round}, value {value}");
            }
        }
    }
}

#[test]
fn values_of_one_bit_and_of_all_bits_have_a_flag() {
    let questions = [7];
    for width in [0, 1, FLAG_BITS, FLAG_BITS + 1, 63, 64] {
        let max = u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
        let hits = [Hit { low: max, high: u64::MAX, questions: &questions }];
        let groups = Groups::of(&hits, max);
        assert_eq!(groups.find(max), [7], "{width} bits");
        assert!(groups.flags(width).may_hold(max), "{width} bits");
    }
}

#[test]
fn nothing_asked_is_nothing_found() {
    let groups = Groups::of(&[], 100);
    assert!(groups.find(5).is_empty() && !groups.flags(7).may_hold(5));
    let behind = Groups::of(&[Hit { low: 101, high: 200, questions: &[1] }], 100);
    assert!((0..=100).all(|value| behind.find(value).is_empty()));
}

//! What was added comes back, by segments.

use super::Places;
use crate::vector::Rows;

fn all(places: Places) -> Vec<(usize, Vec<u32>)> {
    let (ranges, positions) = places.in_order();
    ranges.into_iter().map(|(segment, range)| (segment, positions[range].to_vec())).collect()
}

#[test]
fn rows_come_back_in_the_order_of_segments() {
    let mut places = Places::default();
    places.add(7, Rows::Positions(&[1, 5]));
    places.add(7, Rows::Range { first: 8, count: 3 });
    places.add(2, Rows::Positions(&[0]));
    assert_eq!(places.count(), 6);
    assert_eq!(all(places), [(2, vec![0]), (7, vec![1, 5, 8, 9, 10])]);
}

#[test]
fn rows_that_two_have_found_are_put_together() {
    let (mut one, mut other) = (Places::default(), Places::default());
    one.add(3, Rows::Positions(&[4]));
    other.add(1, Rows::Positions(&[9, 10]));
    other.add(5, Rows::Range { first: 0, count: 1 });
    one.append(other);
    assert_eq!(one.count(), 4);
    assert_eq!(all(one), [(1, vec![9, 10]), (3, vec![4]), (5, vec![0])]);
    assert_eq!(all(Places::default()), []);
}

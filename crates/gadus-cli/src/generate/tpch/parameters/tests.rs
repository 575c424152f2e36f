//! Drawn values stay in the ranges of the specification.

use std::collections::{BTreeMap, BTreeSet};

use gadus_base::Random;

use super::{Draw, drawn, fraction, lists, validation};

const DRAWS: usize = 500;

/// All values that were drawn for each parameter of a query.
fn seen(number: u8) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut draw = Draw::new(Random::seeded(u64::from(number)));
    let mut seen = BTreeMap::<_, BTreeSet<_>>::new();
    for _ in 0..DRAWS {
        for (name, value) in drawn(number, &mut draw, 1.0) {
            seen.entry(name).or_default().insert(value);
        }
    }
    seen
}

fn numbers(texts: &BTreeSet<String>) -> Vec<u64> {
    let mut numbers = texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
    numbers.sort_unstable();
    numbers
}

#[test]
fn numbers_take_all_values_of_their_ranges_and_no_others() {
    for (number, name, first, last) in [
        (1, "DELTA", 60, 120),
        (2, "SIZE", 1, 50),
        (6, "QUANTITY", 24, 25),
        (16, "SIZE8", 1, 50),
        (18, "QUANTITY", 312, 315),
        (19, "QUANTITY1", 1, 10),
        (19, "QUANTITY2", 10, 20),
        (19, "QUANTITY3", 20, 30),
        (22, "I7", 10, 34),
    ] {
        let numbers = numbers(&seen(number)[name]);
        assert_eq!(numbers, (first..=last).collect::<Vec<_>>(), "query {number}, {name}");
    }
}

#[test]
fn dates_and_other_texts_have_their_bounds_and_counts() {
    for (number, name, count, first, last) in [
        (2, "TYPE", 5, "BRASS", "TIN"),
        (3, "DATE", 31, "1995-03-01", "1995-03-31"),
        (3, "SEGMENT", 5, "AUTOMOBILE", "MACHINERY"),
        (4, "DATE", 58, "1993-01-01", "1997-10-01"),
        (5, "DATE", 5, "1993-01-01", "1997-01-01"),
        (5, "REGION", 5, "AFRICA", "MIDDLE EAST"),
        (6, "DISCOUNT", 8, "0.02", "0.09"),
        (10, "DATE", 24, "1993-02-01", "1995-01-01"),
        (11, "NATION", 25, "ALGERIA", "VIETNAM"),
        (12, "SHIPMODE2", 7, "AIR", "TRUCK"),
        (13, "WORD1", 4, "express", "unusual"),
        (13, "WORD2", 4, "accounts", "requests"),
        (14, "DATE", 60, "1993-01-01", "1997-12-01"),
        (15, "DATE", 58, "1993-01-01", "1997-10-01"),
        (16, "TYPE", 30, "ECONOMY ANODIZED", "STANDARD POLISHED"),
        (17, "BRAND", 25, "Brand#11", "Brand#55"),
        (17, "CONTAINER", 40, "JUMBO BAG", "WRAP PKG"),
    ] {
        let values = &seen(number)[name];
        assert_eq!(values.len(), count, "query {number}, {name}: {values:?}");
        assert_eq!(values.first().unwrap(), first, "query {number}, {name}");
        assert_eq!(values.last().unwrap(), last, "query {number}, {name}");
    }
    assert!(
        seen(9)["COLOR"].iter().all(|color| lists().part_colors().get_values().contains(&&**color))
    );
}

#[test]
fn values_that_must_differ_do() {
    let mut draw = Draw::new(Random::seeded(1));
    for (number, names) in [(7, "NATION"), (12, "SHIPMODE"), (16, "SIZE"), (22, "I")] {
        for _ in 0..DRAWS {
            let drawn = drawn(number, &mut draw, 1.0);
            let fitting = drawn.iter().filter(|(name, _)| name.starts_with(names));
            let values = fitting.map(|(_, value)| value).collect::<Vec<_>>();
            assert!(values.len() > 1);
            assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), values.len(), "{drawn:?}");
        }
    }
}

#[test]
fn a_nation_comes_with_its_region() {
    let mut draw = Draw::new(Random::seeded(1));
    let pairs = (0..DRAWS).map(|_| draw.nation_and_region()).collect::<BTreeSet<_>>();
    assert_eq!(pairs.len(), 25);
    for (nation, region) in [("BRAZIL", "AMERICA"), ("ETHIOPIA", "AFRICA"), ("CHINA", "ASIA")] {
        assert!(pairs.contains(&(nation.to_owned(), region.to_owned())), "{pairs:?}");
    }
}

#[test]
fn drawn_values_have_the_names_of_those_that_validate() {
    for number in 1..=22 {
        let names = validation(number, 1.0).into_iter().map(|(name, _)| name);
        assert!(names.eq(seen_names(number)), "query {number}");
    }
}

fn seen_names(number: u8) -> impl Iterator<Item = &'static str> {
    let drawn = drawn(number, &mut Draw::new(Random::seeded(1)), 1.0);
    drawn.into_iter().map(|(name, _)| name)
}

#[test]
fn the_fraction_of_stock_shrinks_with_the_scale() {
    assert_eq!([0.01, 0.1, 1.0, 10.0].map(fraction), ["0.01", "0.001", "0.0001", "0.00001"]);
}

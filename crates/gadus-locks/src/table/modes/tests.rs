//! The matrix and the join of modes agree with each other.

use super::*;

/// The cells of the `number`-th table in the documentation above, by row and column.
fn documented(number: usize) -> Vec<Vec<String>> {
    let text = include_str!("../modes.rs");
    let lines = text.lines().filter_map(|line| line.strip_prefix("//! |"));
    let rows = lines
        .map(|line| line.trim_end_matches('|').split('|').map(|cell| cell.trim().to_owned()))
        .map(Iterator::collect::<Vec<_>>)
        .filter(|row| !row[0].starts_with("---"))
        .collect::<Vec<_>>();
    rows[number * (MODES + 1)..][..=MODES].to_vec()
}

#[test]
fn the_documented_tables_are_the_ones_in_force() {
    let (compatible, suprema) = (documented(0), documented(1));
    for table in [&compatible, &suprema] {
        let names = Mode::ALL.map(|mode| mode.to_string());
        assert_eq!(table[0][1..], names);
        assert!(table[1..].iter().map(|row| &row[0]).eq(&names));
    }
    for (row, one) in Mode::ALL.into_iter().enumerate() {
        for (column, other) in Mode::ALL.into_iter().enumerate() {
            let cell = &compatible[row + 1][column + 1];
            assert_eq!(one.is_compatible_with(other), cell == "y", "{one} with {other}");
            let cell = &suprema[row + 1][column + 1];
            assert_eq!(&one.supremum(other).to_string(), cell, "{one} and {other}");
        }
    }
}

#[test]
fn compatibility_is_mutual() {
    for one in Mode::ALL {
        for other in Mode::ALL {
            assert_eq!(one.is_compatible_with(other), other.is_compatible_with(one));
        }
    }
}

#[test]
fn a_supremum_is_the_least_mode_that_excludes_all_that_either_excludes() {
    for one in Mode::ALL {
        assert_eq!(one.supremum(one), one);
        for other in Mode::ALL {
            let both = one.supremum(other);
            assert_eq!(both, other.supremum(one));
            for third in Mode::ALL {
                let apart = one.is_compatible_with(third) && other.is_compatible_with(third);
                assert!(apart || !both.is_compatible_with(third), "{one} {other} {third}");
                assert_eq!(both.supremum(third), one.supremum(other.supremum(third)));
                if third.covers(one) && third.covers(other) {
                    assert!(third.covers(both), "{third} covers {one} and {other}");
                }
            }
        }
    }
}

#[test]
fn numbers_name_modes() {
    for (number, mode) in Mode::ALL.into_iter().enumerate() {
        assert_eq!(Mode::from_number(number as u64), Some(mode));
        assert_eq!(mode as usize, number);
    }
    assert_eq!(Mode::from_number(MODES as u64), None);
}

//! Many questions in one pass, compared with what a table should hold.

use crate::reference::{
    Expected, Row, TYPES, TableState, fold, integer, random_question, values_of,
};
use gadus_base::Random;
use gadus_engine::{Answer, Datum, ErrorKind, OrderBy, Question, Table, Wanted};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Asks many questions in one pass, of which some are the same.
pub(crate) fn compare_shared(
    table: &Table,
    expected: &TableState,
    random: &mut Random,
    place: &str,
) {
    let count = 1 + random.below(24);
    let mut asked = (0..count).map(|_| random_question(expected, random)).collect::<Vec<_>>();
    asked.extend((0..count / 8).map(|_| random_question(expected, &mut Random::seeded(count))));
    let wanted = asked.iter().map(|one| random_wanted(one, random)).collect::<Vec<_>>();
    let questions = asked.iter().zip(&wanted).map(|(one, wanted)| Question {
        predicates: one.predicates.clone(),
        wanted: wanted.clone(),
    });
    let cancelled = random.below(4 * count) as usize;
    let is_cancelled = |place| place == cancelled;
    let answers = table.answer(questions.collect(), 2, &is_cancelled).unwrap();
    assert_eq!(answers.len(), asked.len(), "{place}");
    for (index, ((one, wanted), answer)) in asked.iter().zip(&wanted).zip(answers).enumerate() {
        let what = format!(
            "{place}: question {index} of {}: {:?} {wanted:?}",
            asked.len(),
            one.predicates
        );
        match answer {
            Err(error) if index == cancelled => assert_eq!(error.kind(), ErrorKind::Cancelled),
            Err(error) => panic!("{what}: {error}"),
            Ok(_) if index == cancelled => panic!("{what}: it was cancelled"),
            Ok(answer) => compare_answer(one, wanted, &answer, &what),
        }
    }
}

fn random_wanted(one: &Expected<'_>, random: &mut Random) -> Wanted {
    let column = |random: &mut Random| random.below(TYPES.len() as u64) as usize;
    match random.below(5) {
        0 => Wanted::Rows { rows_max: usize::MAX },
        1 => Wanted::Rows { rows_max: random.below(20) as usize },
        2 => {
            let by = |random: &mut Random| OrderBy {
                column: column(random),
                descending: random.chance(0.5),
                nulls_first: random.chance(0.5),
            };
            let order = (0..random.below(3)).map(|_| by(random)).collect();
            // No value is long.
            Wanted::First { order, count: random.below(20) as usize, long_bytes_max: 0 }
        }
        3 => {
            let by = (0..random.below(3)).map(|_| column(random)).collect();
            let groups_max = if random.chance(0.2) { 3 } else { usize::MAX };
            let aggregates = one.aggregates.clone();
            Wanted::Groups { by, aggregates, groups_max, long_bytes_max: 0 }
        }
        _ => Wanted::Fold(one.aggregates.clone()),
    }
}

fn compare_answer(one: &Expected<'_>, wanted: &Wanted, answer: &Answer, what: &str) {
    match (wanted, answer) {
        (Wanted::Fold(_), Answer::Folded(values)) => assert_eq!(values, &one.folded, "{what}"),
        (Wanted::Rows { rows_max }, Answer::TooMany) => {
            assert!(one.rows.len() > *rows_max, "{what}");
        }
        (Wanted::Rows { rows_max }, Answer::Rows(_)) => {
            assert!(one.rows.len() <= *rows_max, "{what}");
            let found = found_rows(answer);
            assert_eq!(found.values().collect::<Vec<_>>(), one.rows, "{what}");
        }
        (Wanted::First { order, count, .. }, Answer::Rows(_)) => {
            compare_first(one, (order, *count), &found_rows(answer), what);
        }
        (Wanted::Groups { by, groups_max, .. }, answer) => {
            let mut groups: BTreeMap<Vec<Datum>, Vec<&Row>> = BTreeMap::new();
            for &row in &one.rows {
                let key = by.iter().map(|&column| row[column].clone()).collect();
                groups.entry(key).or_default().push(row);
            }
            let Answer::Groups(found) = answer else {
                assert!(matches!(answer, Answer::TooMany), "{what}");
                assert!(groups.len() > *groups_max, "{what}");
                return;
            };
            assert!(groups.len() <= *groups_max, "{what}");
            let groups = groups.into_iter().map(|(key, rows)| (key, fold(&rows, one.column)));
            let found = found.iter().map(|(key, values)| (key.to_vec(), values.clone()));
            let (found, groups): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (found.collect(), groups.collect());
            assert_eq!(found, groups, "{what}");
        }
        _ => panic!("{what}: another answer than was asked for"),
    }
}

/// Rows are right where none is left out that comes before one of them.
fn compare_first(
    one: &Expected<'_>,
    (order, count): (&[OrderBy], usize),
    found: &BTreeMap<i64, Row>,
    what: &str,
) {
    assert_eq!(found.len(), count.min(one.rows.len()), "{what}");
    let passing = one.rows.iter().map(|row| (integer(&row[0]), *row)).collect::<BTreeMap<_, _>>();
    for (id, row) in found {
        assert_eq!(passing.get(id), Some(&row), "{what}");
    }
    let left = passing.iter().filter(|(id, _)| !found.contains_key(id));
    for (_, left) in left {
        for row in found.values() {
            assert!(compare_rows(order, row, left).is_le(), "{what}: {left:?} before {row:?}");
        }
    }
}

fn compare_rows(order: &[OrderBy], one: &Row, other: &Row) -> Ordering {
    let rank = |row: &Row, by: &OrderBy| {
        if row[by.column].is_null() == by.nulls_first { 0 } else { 1 }
    };
    let mut all = order.iter().map(|by| {
        let (left, right) = (&one[by.column], &other[by.column]);
        let values = if by.descending { right.cmp(left) } else { left.cmp(right) };
        let rank = rank(one, by).cmp(&rank(other, by));
        if left.is_null() || right.is_null() { rank } else { values }
    });
    all.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

fn found_rows(answer: &Answer) -> BTreeMap<i64, Row> {
    let Answer::Rows(rows) = answer else { panic!("rows were asked for") };
    let mut found = BTreeMap::new();
    for batch in rows.read(&(0..TYPES.len()).collect::<Vec<_>>()) {
        let batch = batch.unwrap();
        found.extend(values_of(&batch).map(|row| (integer(&row[0]), row)));
    }
    assert_eq!(found.len(), rows.count());
    found
}

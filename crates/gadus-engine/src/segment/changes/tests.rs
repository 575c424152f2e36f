//! Versions that share a log beside maps that each version has to itself.

use super::*;
use gadus_base::Random;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A version as it should be: by row, when it was changed last and the values of its columns.
type Reference = BTreeMap<u32, (CommitNumber, BTreeMap<u32, i64>)>;

#[derive(Clone)]
struct Version {
    changes: Changes,
    reference: Reference,
    lineage: Lineage,
}

impl Version {
    fn new() -> Self {
        let (changes, reference) = (Changes::default(), Reference::new());
        Self { changes, reference, lineage: Lineage::Head }
    }

    fn push(&mut self, position: u32, at: CommitNumber, patch: Option<(u32, i64)>) {
        let row = self.reference.entry(position).or_default();
        row.0 = at;
        if let Some((column, value)) = patch {
            row.1.insert(column, value);
        }
        let patch = patch.map(|(column, value)| (column, Datum::Integer(value)));
        self.changes.push(Entry { position, at, patch }, self.lineage);
    }

    /// The same for many rows at once.
    fn push_all(&mut self, column: u32, at: CommitNumber, rows: &[(u32, i64)]) {
        for (position, value) in rows {
            let row = self.reference.entry(*position).or_default();
            row.0 = at;
            row.1.insert(column, *value);
        }
        let rows = rows.iter().map(|(position, value)| (*position, Datum::Integer(*value)));
        let patches = Patches::new(rows.collect());
        self.changes.push_all(column, &patches, (at, self.lineage));
    }

    fn check(&self) {
        let found = self.changes.rows_within(0..SEGMENT_ROWS_MAX).filter_map(|position| {
            let at = self.changes.of_row(position).next()?.at;
            let value = |column| match self.changes.patched(position, column) {
                Some(Datum::Integer(value)) => Some((column, *value)),
                _ => None,
            };
            Some((position, (at, (0..COLUMNS).filter_map(value).collect())))
        });
        let found: Vec<_> = found.collect();
        let expected: Vec<_> = self.reference.clone().into_iter().collect();
        assert_eq!(found, expected);
        let patches: usize = self.reference.values().map(|(_, columns)| columns.len()).sum();
        assert_eq!(self.changes.patch_count() as usize, patches);
        let mut columns = self.changes.columns().to_vec();
        columns.sort_unstable();
        let has = |column: &u32| self.reference.values().any(|row| row.1.contains_key(column));
        assert_eq!(columns, Vec::from_iter((0..COLUMNS).filter(has)));
    }
}

const COLUMNS: u32 = 3;

fn random_change(random: &mut Random, version: &mut Version, at: CommitNumber) {
    // Few rows, of several blocks: most changes meet others of the same row.
    let position = u32::try_from(random.below(40)).unwrap() * 1_637;
    let column = u32::try_from(random.below(u64::from(COLUMNS))).unwrap();
    let value = i64::try_from(random.below(1_000)).unwrap();
    let patch = (random.below(8) > 0).then_some((column, value));
    version.push(position, at, patch);
}

/// Few or many rows, in order or not, some twice, among them those of [`random_change`].
fn random_changes(random: &mut Random, version: &mut Version, at: CommitNumber) {
    let column = u32::try_from(random.below(u64::from(COLUMNS))).unwrap();
    // Often the same: then all rows of the layer below may be among them.
    let step = [1, 2, 44, 90][usize::try_from(random.below(4)).unwrap()];
    let mut rows: Vec<u32> = (0..SEGMENT_ROWS_MAX).step_by(step as usize).collect();
    rows.extend((0..40).map(|row| row * 1_637));
    if random.below(2) == 0 {
        rows.sort_unstable();
    }
    rows.truncate(usize::try_from(1 + random.below(1_500)).unwrap());
    let value = |position| (position, i64::try_from(random.below(1_000)).unwrap());
    version.push_all(column, at, &rows.into_iter().map(value).collect::<Vec<_>>());
}

#[test]
fn versions_of_both_lineages_agree_with_the_reference_whoever_comes_first() {
    for seed in 0..20 {
        let mut random = Random::seeded(seed);
        let mut versions = vec![Version::new()];
        for at in 1..400 {
            let from = usize::try_from(random.below(versions.len() as u64)).unwrap();
            let mut next = versions[from].clone();
            if random.below(4) == 0 {
                next.lineage = Lineage::Private;
            }
            for _ in 0..random.below(3) * u64::from(at % 16 == 0) {
                random_changes(&mut random, &mut next, CommitNumber(at));
            }
            for _ in 0..=random.below(30) {
                random_change(&mut random, &mut next, CommitNumber(at));
            }
            let to = usize::try_from(random.below(8)).unwrap();
            if to < versions.len() {
                versions[to] = next;
            } else {
                versions.push(next);
            }
        }
        versions.iter().for_each(Version::check);
    }
}

#[test]
fn many_values_at_once_are_shared_by_those_who_show_them() {
    let rows = (0..1_000).map(|row| (row * 61, Datum::Integer(i64::from(row))));
    let patches = Patches::new(rows.collect());
    let (mut head, mut private) = (Changes::default(), Changes::default());
    private.push_all(1, &patches, (CommitNumber(7), Lineage::Private));
    head.push_all(1, &patches, (CommitNumber(9), Lineage::Head));
    assert_eq!(Arc::strong_count(&patches), 3);
    assert_eq!(private.of_row(122).next().map(|shown| shown.at), Some(CommitNumber(7)));
    assert_eq!(head.of_row(122).next().map(|shown| shown.at), Some(CommitNumber(9)));
    assert!(matches!(head.patched(122, 1), Some(Datum::Integer(2))));
    assert!(head.patched(121, 1).is_none() && head.patched(122, 0).is_none());
    assert_eq!(head.rows_within(60..200).collect::<Vec<_>>(), [61, 122, 183]);
    // Over and over: what nobody sees any more is let go, and nothing is copied.
    for at in 10..100 {
        head.push_all(1, &patches, (CommitNumber(at), Lineage::Head));
        assert_eq!((head.total, head.current, head.layers().count()), (1_000, 1_000, 1));
    }
    assert_eq!(
        (head.patch_count(), head.of_row(61).next().map(|shown| shown.at.0)),
        (1_000, Some(99))
    );
}

#[test]
fn a_copy_keeps_what_it_is_told() {
    let mut random = Random::seeded(7);
    let mut version = Version::new();
    for at in 1..3_000 {
        random_change(&mut random, &mut version, CommitNumber(at));
    }
    version.check();
    let (current, marked) = (CommitNumber(2_980), CommitNumber(2_900));
    let copy = version.changes.copied(Lineage::Head, |newest| match newest.at {
        at if at > current => Kept::Current,
        at if at > marked => Kept::Mark,
        _ => Kept::Nothing,
    });
    let mut reference = version.reference.clone();
    reference.retain(|_, (at, _)| *at > marked);
    reference.values_mut().filter(|(at, _)| *at <= current).for_each(|row| row.1.clear());
    assert!(reference.values().any(|row| row.1.is_empty()));
    Version { changes: copy, reference, lineage: Lineage::Head }.check();
}

#[test]
fn a_row_that_is_changed_for_ever_takes_bounded_room() {
    let mut version = Version::new();
    for at in 0..100_000 {
        version.push(5, CommitNumber(at), Some((0, 1)));
    }
    version.check();
    assert!(version.changes.total <= STALE_MIN + 4, "{}", version.changes.total);
    // Beside many others that are current, and with values that take memory.
    for position in 0..20_000 {
        version.push(position, CommitNumber(100_001), Some((1, 1)));
    }
    let long = Datum::Bytes(Arc::from(vec![0; 100_000]));
    for at in 0..3_000 {
        let patch = Some((0, if at < 50 { long.clone() } else { Datum::Null }));
        version.changes.push(Entry { position: 5, at: CommitNumber(at), patch }, Lineage::Head);
        assert!(version.changes.stale_bytes <= STALE_BYTES_MAX + 200_000);
        assert!(version.changes.chain(5) <= CHAIN_MAX + 1);
    }
}

#[test]
fn savepoints_without_end_make_few_layers() {
    let mut version = Version::new();
    for at in 0..100 {
        let savepoint = version.clone();
        version.push(at, CommitNumber(1), Some((0, 1)));
        version = savepoint;
        version.push(at, CommitNumber(2), Some((0, 2)));
    }
    version.check();
    assert!(version.changes.layers().count() <= LAYERS_MAX as usize);
}

#[test]
fn readers_of_older_versions_see_nothing_of_what_is_added_meanwhile() {
    let mut version = Version::new();
    let mut random = Random::seeded(1);
    (0..500).for_each(|_| random_change(&mut random, &mut version, CommitNumber(1)));
    let older = version.clone();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Acquire) {
                    older.check();
                }
            });
        }
        for at in 2..20_000 {
            random_change(&mut random, &mut version, CommitNumber(at));
        }
        is_done.store(true, Ordering::Release);
    });
    older.check();
    version.check();
}

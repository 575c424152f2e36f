//! Rows that an index finds for some conditions.
//!
//! - An index is asked where it names far fewer rows than a scan would look at; which of a table's indexes, its
//!   number of entries decides. What it names is looked at row by row, for all conditions.
//! - The rows come in the order in which a scan has them.

use super::predicate::Predicate;
use super::{OpenedColumns, may_hold, open_columns};
use crate::error::Result;
use crate::interrupt_check::check_interrupt;
use crate::keys::{KeyCode, KeyCursor, TableKey, row_of};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use gadus_base::{RowId, SegmentId};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A row that an index names is taken to cost as much as so many that are scanned. Of ten million in memory, two cores
/// took 0.11 us for each that was named and 0.28 ns for each that was scanned, by one INTEGER: 400 times. Conditions on
/// longer and on more columns make scans dearer and this ratio smaller.
const ROW_COST: u64 = 100;

/// What an index says of some conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexUse {
    /// The index's name; none is the primary key's.
    pub name: Option<String>,
    /// About how many rows it names.
    pub rows: u64,
}

/// An index, and which of its entries are those that are wanted.
#[derive(Debug)]
struct Chosen<'a> {
    key: &'a TableKey,
    codes: Vec<RangeInclusive<KeyCode>>,
    rows: u64,
}

/// Rows by their segments, as an index names them: a row that meets the conditions is among them.
#[derive(Debug)]
pub(crate) struct NamedRows {
    /// Positions rise.
    pub(crate) segments: Vec<(Arc<SegmentVersion>, Vec<u32>)>,
}

impl Table {
    /// The index by which rows that meet all conditions are better found than by a scan.
    pub fn index_for(&self, predicates: &[Predicate]) -> Result<Option<IndexUse>> {
        let chosen = self.checked(choose(self, predicates))?;
        Ok(chosen.map(|chosen| {
            let indexes = &self.schema().indexes;
            let index = indexes.iter().find(|index| index.id == chosen.key.shape.id);
            IndexUse { name: index.map(|index| index.name.clone()), rows: chosen.rows }
        }))
    }
}

/// The rows that an index names for some conditions, where that is better than a scan.
pub(crate) fn look_up(table: &Table, predicates: &[Predicate]) -> Result<Option<NamedRows>> {
    let Some(chosen) = choose(table, predicates)? else { return Ok(None) };
    let (version, blobs) = (table.version(), table.blobs());
    let mut rows: BTreeMap<SegmentId, Vec<u32>> = BTreeMap::new();
    for codes in &chosen.codes {
        chosen.key.entries.candidates(blobs, codes, |row: RowId| {
            if version.live(row).is_some() {
                rows.entry(row.segment).or_default().push(row.position);
            }
            Ok(true)
        })?;
    }
    Ok(Some(NamedRows::of(table, rows)))
}

impl NamedRows {
    fn of(table: &Table, rows: BTreeMap<SegmentId, Vec<u32>>) -> Self {
        let of_segment = |(id, mut positions): (SegmentId, Vec<u32>)| {
            positions.sort_unstable();
            // Ranges of a list may meet in one code.
            positions.dedup();
            let segment = table.version().segment(id).expect("it has live rows").clone();
            (segment, positions)
        };
        Self { segments: rows.into_iter().map(of_segment).collect() }
    }
}

fn choose<'a>(table: &'a Table, predicates: &[Predicate]) -> Result<Option<Chosen<'a>>> {
    let version = table.version();
    if predicates.is_empty() || version.keys.is_empty() {
        return Ok(None);
    }
    let codes = |key: &'a TableKey| Some((key, key.shape.codes(predicates)?));
    let possible = version.keys.iter().filter_map(codes).collect::<Vec<_>>();
    if possible.is_empty() {
        return Ok(None);
    }
    let mut scanned = 0;
    for segment in version.segments.values().filter(|segment| segment.live_rows() > 0) {
        if may_hold(table, segment, predicates)? {
            scanned += u64::from(segment.rows);
        }
    }
    let most = scanned / ROW_COST;
    let mut best: Option<Chosen<'a>> = None;
    for (key, codes) in possible {
        let enough = best.as_ref().map_or(most, |best| best.rows) + 1;
        let mut rows = 0;
        for codes in &codes {
            rows += key.entries.estimate(table.blobs(), codes, enough)?;
            if rows >= enough {
                break;
            }
        }
        if rows < enough {
            best = Some(Chosen { key, codes, rows });
        }
    }
    Ok(best)
}

/// Rows among which the first so many in the order of a column are that meet all conditions, by an index that has that
/// order, equals of the last among them; none where a scan looks at fewer.
pub(crate) fn look_up_first(
    table: &Table,
    predicates: &[Predicate],
    (column, descending, nulls_first): (usize, bool, bool),
    count: usize,
) -> Result<Option<NamedRows>> {
    // Entries of NULLs stand behind all others.
    let nulls_fit = nulls_first == descending || !table.schema().columns[column].nullable;
    let version = table.version();
    let key = version.keys.iter().find(|key| key.shape.orders_by(column) && nulls_fit);
    let Some(key) = key.filter(|_| count > 0) else { return Ok(None) };
    let scanned = version.segments.values().map(|segment| u64::from(segment.rows)).sum::<u64>();
    let mut rest = scanned / ROW_COST;
    if u64::try_from(count).map_or(true, |count| count > rest) {
        return Ok(None);
    }
    let mut rows: BTreeMap<SegmentId, Vec<u32>> = BTreeMap::new();
    let mut cursor = KeyCursor::new(&key.entries, table.blobs(), descending)?;
    let (mut found, mut last) = (0, None);
    while let Some(entry) = cursor.next()? {
        if found >= count && last != Some(entry.code.order) {
            break;
        }
        let Some(fewer) = rest.checked_sub(1) else { return Ok(None) };
        rest = fewer;
        let row = row_of(entry.row);
        let Some(segment) = version.live(row) else { continue };
        if passes(table, segment, row.position, predicates)? {
            rows.entry(row.segment).or_default().push(row.position);
            found += 1;
            last = Some(entry.code.order);
        }
    }
    Ok(Some(NamedRows::of(table, rows)))
}

fn passes(
    table: &Table,
    segment: &SegmentVersion,
    position: u32,
    predicates: &[Predicate],
) -> Result<bool> {
    // A large column is read anew for each row, as it is in no cache.
    check_interrupt()?;
    for predicate in predicates {
        let value = segment.datum(table.schema(), table.blobs(), predicate.column, position)?;
        if !predicate.test.passes(&value) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Of the rows that an index names in a segment, those that meet all conditions.
pub(crate) fn passing(
    table: &Table,
    (segment, positions): (&SegmentVersion, &[u32]),
    predicates: &[Predicate],
) -> Result<Vec<u32>> {
    let columns: OpenedColumns = open_columns(table, segment, predicates)?;
    let passes = |position: &u32| {
        predicates.iter().zip(&columns).all(|(predicate, column)| {
            let value = segment.datum_with(column.as_deref(), predicate.column, *position);
            predicate.test.passes(&value)
        })
    };
    Ok(positions.iter().copied().filter(passes).collect())
}

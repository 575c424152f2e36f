//! The rows in which two versions of a table differ.
//!
//! - Of a segment that both have, those that were changed or added since the older one. Of one that only one of them
//!   has, all: its rows were moved, loaded, or dropped with all others. Where rows were moved, both sides have them.

use crate::segment::SegmentVersion;
use crate::version::TableVersion;
use gadus_base::CommitNumber;
use std::sync::Arc;

/// In which of the two versions rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// Hands the rows of both sides that may differ to `visit`, some of one segment at a time; positions rise, and are not
/// empty.
pub(super) fn each_difference<E>(
    (before, since): (&TableVersion, CommitNumber),
    after: &TableVersion,
    mut visit: impl FnMut(Side, &Arc<SegmentVersion>, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    let mut live =
        |side, segment: &Arc<SegmentVersion>, positions: &mut dyn Iterator<Item = u32>| {
            let live = positions.filter(|&position| segment.is_live(position)).collect::<Vec<_>>();
            if live.is_empty() { Ok(()) } else { visit(side, segment, &live) }
        };
    for (id, old) in &before.segments {
        match after.segment(*id) {
            Some(new) if Arc::ptr_eq(old, new) => {}
            Some(new) => {
                let changed = new.changed_since(since, old.rows).collect::<Vec<_>>();
                live(Side::Before, old, &mut changed.iter().copied())?;
                live(Side::After, new, &mut changed.iter().copied())?;
            }
            None => live(Side::Before, old, &mut (0..old.rows))?,
        }
    }
    for (id, new) in &after.segments {
        if before.segment(*id).is_none() {
            live(Side::After, new, &mut (0..new.rows))?;
        }
    }
    Ok(())
}

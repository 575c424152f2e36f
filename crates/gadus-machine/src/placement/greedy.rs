//! The answer without a solver, and what a solver begins with: the largest partition first, each where it
//! ends first, of equals where it costs least.
//!
//! - A partition costs a look at each core and at each different row of distances: cores with the same row would
//!   all choose the same node, and a row's nodes are in order of their distance. Where memory bounds the work,
//!   at each node as well.

use super::model::{Counts, Model, as_f64};
use super::{Bound, CacheSharing};
use crate::topology::LOCAL_DISTANCE;
use gadus_base::{Instant, clock};
use std::collections::BTreeMap;
use std::time::Duration;

/// An answer is worth this time, where less is given. A thousand cores and four thousand partitions take a tenth.
pub(super) const TIME_MIN: Duration = Duration::from_secs(5);

/// Where every partition goes; none where one is left over that fits nowhere, or time is over.
pub(super) fn counts(model: &Model, until: Instant) -> Option<Counts> {
    let mut counts = Counts::new();
    let mut taken = Taken::of(model);
    for (number, kind) in model.kinds.iter().enumerate() {
        // Smaller ones fit where larger ones did not.
        taken.rows.iter_mut().for_each(|row| row.full = 0);
        for _ in &kind.partitions {
            if until.since(clock().now()).is_zero() {
                return None;
            }
            let (core, node) = taken.best(kind.bytes)?;
            taken.take(core, node, kind.bytes);
            *counts.entry((number, core, node)).or_default() += 1;
        }
    }
    Some(counts)
}

/// What partitions that have a place have taken.
struct Taken<'a> {
    model: &'a Model,
    /// What is left of each node.
    free: Vec<u64>,
    core_ends: Vec<f64>,
    node_ends: Vec<f64>,
    /// Of each group of cores, whether one of them has a partition.
    groups: Vec<bool>,
    /// The different rows of distances, and which one each core has.
    rows: Vec<Row<'a>>,
    row_of: Vec<usize>,
}

/// Nodes as some cores see them.
struct Row<'a> {
    remote: &'a [u32],
    /// Those beside cores first, of these the nearest.
    order: Vec<usize>,
    /// So many of these are known to have no room.
    full: usize,
}

impl<'a> Taken<'a> {
    fn of(model: &'a Model) -> Self {
        let (mut rows, mut known) = (Vec::new(), BTreeMap::new());
        let row = |core: &'a super::model::CoreRoom| {
            *known.entry(core.remote.as_slice()).or_insert_with_key(|row| {
                let mut order = (0..row.len()).collect::<Vec<_>>();
                order.sort_by_key(|node| (!model.nodes[*node].has_cores, row[*node]));
                rows.push(Row { remote: row, order, full: 0 });
                rows.len() - 1
            })
        };
        let row_of = model.cores.iter().map(row).collect();
        Self {
            model,
            free: model.nodes.iter().map(|node| node.free).collect(),
            core_ends: vec![0.0; model.cores.len()],
            node_ends: vec![0.0; model.nodes.len()],
            groups: vec![false; model.groups.len()],
            rows,
            row_of,
        }
    }

    /// The core and the node for one more partition of some bytes.
    fn best(&mut self, bytes: u64) -> Option<(usize, usize)> {
        let nearest = self.nearest(bytes)?;
        let end = |core: usize| self.core_ends[core] + self.time(core, bytes);
        let cost = |core: usize| {
            let row = self.row_of[core];
            self.rows[row].remote[nearest[row]] + self.sharing_cost(core)
        };
        let first = (0..self.core_ends.len()).map(end).fold(f64::INFINITY, f64::min);
        let cores = (0..self.core_ends.len()).filter(|core| end(*core) <= first);
        let core = cores.min_by_key(|core| cost(*core))?;
        Some((core, nearest[self.row_of[core]]))
    }

    /// For each row the node of one more partition: one beside cores where there is such, and where memory bounds the
    /// work one that ends first.
    fn nearest(&mut self, bytes: u64) -> Option<Vec<usize>> {
        let Self { model, free, node_ends, rows, .. } = self;
        let is_last = |node: &usize| !model.nodes[*node].has_cores;
        let fits = |node: &usize| free[*node] >= bytes;
        if model.bound == Bound::Compute {
            let nearest = rows.iter_mut().map(|row| {
                let full = row.order[row.full..].iter().take_while(|node| !fits(node)).count();
                row.full += full;
                row.order.get(row.full).copied()
            });
            return nearest.collect();
        }
        let mut nodes = (0..free.len()).filter(fits).collect::<Vec<_>>();
        let are_last = nodes.iter().all(is_last);
        nodes.retain(|node| is_last(node) == are_last);
        let first = nodes.iter().map(|node| node_ends[*node]).fold(f64::INFINITY, f64::min);
        nodes.retain(|node| node_ends[*node] <= first);
        // Of equal ones the first.
        let nearest = |row: &Row<'_>| nodes.iter().copied().min_by_key(|node| row.remote[*node]);
        rows.iter().map(nearest).collect()
    }

    fn take(&mut self, core: usize, node: usize, bytes: u64) {
        self.free[node] -= bytes;
        self.core_ends[core] += self.time(core, bytes);
        self.node_ends[node] += as_f64(bytes);
        for group in &self.model.cores[core].groups {
            self.groups[*group] = true;
        }
    }

    fn time(&self, core: usize, bytes: u64) -> f64 {
        as_f64(bytes) / self.model.cores[core].speed
    }

    /// What one more partition on a core costs for its caches.
    fn sharing_cost(&self, core: usize) -> u32 {
        let groups = &self.model.cores[core].groups;
        let with = |used: bool| groups.iter().filter(move |group| self.groups[**group] == used);
        let count = match self.model.sharing {
            CacheSharing::Any => 0,
            CacheSharing::Avoid => with(true).count(),
            CacheSharing::Want => with(false).count(),
        };
        LOCAL_DISTANCE * u32::try_from(count).unwrap_or(u32::MAX / LOCAL_DISTANCE)
    }
}

//! The answer without a solver, and what a solver begins with: the largest partition first, each where it
//! ends first, of equals where it costs least.
//!
//! - Of many equal partitions cores wait in a heap for when they would end with one more; of those that end first each
//!   is looked at once for a partition. Cores with the same row of distances would all choose the same node, and a row's
//!   nodes are in the order of their distance: what was found full stays behind.
//! - Once time is over no cost is looked at any more. So there is an answer soon after that, however large the
//!   machine is.

use super::model::{CoreRoom, Counts, Model, as_f64};
use super::{Bound, CacheSharing};
use crate::topology::LOCAL_DISTANCE;
use gadus_base::{Instant, clock};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// To make a heap, and to take out all that end first, takes as long as to look at all cores for so many partitions.
const HEAP_MIN: usize = 32;

/// Where every partition goes, by what it costs there `until` then; none where one is left over that fits nowhere.
pub(super) fn counts(model: &Model, until: Instant) -> Option<Counts> {
    let mut counts = Counts::new();
    let mut taken = Taken::of(model);
    let (mut looks_at_cost, mut first) = (true, Vec::new());
    for (number, kind) in model.kinds.iter().enumerate() {
        // Smaller ones fit where larger ones did not.
        taken.open_nodes(kind.bytes).then_some(())?;
        let mut ends =
            if kind.partitions.len() < HEAP_MIN { None } else { Some(taken.ends(kind.bytes)) };
        first.clear();
        for _ in &kind.partitions {
            looks_at_cost = looks_at_cost && !until.since(clock().now()).is_zero();
            match &mut ends {
                None => taken.find_first(kind.bytes, &mut first),
                Some(ends) if first.is_empty() => first_of(ends, &mut first),
                Some(_) => {}
            }
            let (place, node) = taken.best(kind.bytes, &first, looks_at_cost)?;
            let core = first.remove(place);
            taken.take(core, node, kind.bytes);
            if let Some(ends) = &mut ends {
                ends.push(Reverse((taken.end(core, kind.bytes), core)));
            }
            *counts.entry((number, core, node)).or_default() += 1;
        }
    }
    Some(counts)
}

/// When cores would end with one partition more.
type Ends = BinaryHeap<Reverse<(End, usize)>>;

/// A time, of which the earlier is less.
#[derive(Debug, Clone, Copy)]
struct End(f64);

/// Takes out those that would end first, in their order.
fn first_of(ends: &mut Ends, first: &mut Vec<usize>) {
    let at = ends.peek().map(|Reverse((at, _))| *at);
    let is_first = |end: End| Some(end) == at;
    while let Some(&Reverse((_, core))) = ends.peek().filter(|Reverse((end, _))| is_first(*end)) {
        ends.pop();
        first.push(core);
    }
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
    open: Open,
}

/// Nodes as some cores see them.
struct Row<'a> {
    remote: &'a [u32],
    /// The nearest first.
    order: Vec<usize>,
    /// So many of these are known not to be open,
    behind: usize,
    /// at this opening.
    opening: u32,
}

/// Which nodes partitions go to now, of those with room: others follow when none of them is left.
struct Open {
    /// Counts up.
    opening: u32,
    /// Memory beside no core comes last.
    are_last: bool,
    /// Where memory bounds the work, those that end no later.
    end: f64,
}

impl<'a> Taken<'a> {
    fn of(model: &'a Model) -> Self {
        let (mut rows, mut known) = (Vec::new(), BTreeMap::new());
        let row = |core: &'a CoreRoom| {
            *known.entry(core.remote.as_slice()).or_insert_with_key(|row| {
                let mut order = (0..row.len()).collect::<Vec<_>>();
                order.sort_by_key(|node| row[*node]);
                rows.push(Row { remote: row, order, behind: 0, opening: 0 });
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
            open: Open { opening: 0, are_last: false, end: f64::INFINITY },
        }
    }

    /// Of some cores the place of the one for one more partition of some bytes, and its node; of equals the first.
    fn best(&mut self, bytes: u64, cores: &[usize], looks_at_cost: bool) -> Option<(usize, usize)> {
        let mut best: Option<(u32, usize, usize)> = None;
        for (place, &core) in cores.iter().enumerate() {
            let row = self.row_of[core];
            let node = match self.nearest(row, bytes) {
                Some(node) => node,
                // All rows have the same nodes: nobody has found one before.
                None if self.open_nodes(bytes) => self.nearest(row, bytes)?,
                None => return None,
            };
            let cost = self.rows[row].remote[node].saturating_add(self.sharing_cost(core));
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, place, node));
            }
            if cost == 0 || !looks_at_cost {
                break;
            }
        }
        best.map(|(_, place, node)| (place, node))
    }

    /// The nearest open node of a row.
    fn nearest(&mut self, row: usize, bytes: u64) -> Option<usize> {
        let Self { model, free, node_ends, rows, open, .. } = self;
        let row = &mut rows[row];
        if row.opening != open.opening {
            (row.behind, row.opening) = (0, open.opening);
        }
        let is_open = |node: &usize| {
            free[*node] >= bytes
                && node_ends[*node] <= open.end
                && model.nodes[*node].has_cores != open.are_last
        };
        row.behind += row.order[row.behind..].iter().take_while(|node| !is_open(node)).count();
        row.order.get(row.behind).copied()
    }

    /// Opens nodes for partitions of some bytes: those beside cores where there are such with room, and where memory
    /// bounds the work those that end first. Returns whether there are any.
    fn open_nodes(&mut self, bytes: u64) -> bool {
        let Self { model, free, node_ends, .. } = self;
        let fitting = || (0..free.len()).filter(|node| free[*node] >= bytes);
        let are_last = !fitting().any(|node| model.nodes[node].has_cores);
        let ends = fitting().filter(|node| model.nodes[*node].has_cores != are_last);
        let first = ends.map(|node| node_ends[node]).reduce(f64::min);
        let opening = self.open.opening + 1;
        let end = if model.bound == Bound::Memory { first } else { Some(f64::INFINITY) };
        self.open = Open { opening, are_last, end: end.unwrap_or(f64::INFINITY) };
        first.is_some()
    }

    /// The cores that would end first with one partition more.
    fn find_first(&self, bytes: u64, first: &mut Vec<usize>) {
        let cores = 0..self.core_ends.len();
        first.clear();
        let Some(least) = cores.clone().map(|core| self.end(core, bytes)).min() else { return };
        first.extend(cores.filter(|core| self.end(*core, bytes) == least));
    }

    fn ends(&self, bytes: u64) -> Ends {
        let cores = 0..self.core_ends.len();
        Ends::from(cores.map(|core| Reverse((self.end(core, bytes), core))).collect::<Vec<_>>())
    }

    /// When a core ends with one more partition of some bytes.
    fn end(&self, core: usize, bytes: u64) -> End {
        End(self.core_ends[core] + self.time(core, bytes))
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

impl Ord for End {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for End {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for End {}

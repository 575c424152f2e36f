//! The answer without a solver, and what a solver begins with: the largest partition first, each where it
//! ends first, of equals where it costs least.

use super::model::{Counts, Model};
use super::{Bound, CacheSharing};
use crate::topology::LOCAL_DISTANCE;

/// Where every partition goes; none where one is left over that fits nowhere.
pub(super) fn counts(model: &Model) -> Option<Counts> {
    let (mut counts, mut free) = (Counts::new(), Vec::new());
    free.extend(model.nodes.iter().map(|node| node.free));
    let (mut core_ends, mut node_ends) = (vec![0.0; model.cores.len()], vec![0.0; free.len()]);
    let mut taken = vec![false; model.cores.len()];
    for (number, kind) in model.kinds.iter().enumerate() {
        let bytes = super::model::as_f64(kind.bytes);
        for _ in &kind.partitions {
            let ends = |core: usize, node: usize| {
                let core_end = core_ends[core] + bytes / model.cores[core].speed;
                let node_end: f64 = node_ends[node] + bytes;
                let is_last = !model.nodes[node].has_cores;
                match model.bound {
                    Bound::Compute => {
                        (is_last, core_end, 0.0, extra_cost(model, &taken, core, node))
                    }
                    Bound::Memory => {
                        (is_last, node_end, core_end, extra_cost(model, &taken, core, node))
                    }
                }
            };
            let cells = (0..model.cores.len()).flat_map(|core| {
                let fits = |node: &usize| free[*node] >= kind.bytes;
                (0..free.len()).filter(fits).map(move |node| (core, node))
            });
            let best = cells.min_by(|&(core, node), &(other_core, other_node)| {
                let (one, other) = (ends(core, node), ends(other_core, other_node));
                one.0
                    .cmp(&other.0)
                    .then(one.1.total_cmp(&other.1))
                    .then(one.2.total_cmp(&other.2))
                    .then(one.3.cmp(&other.3))
            });
            let (core, node) = best?;
            free[node] -= kind.bytes;
            core_ends[core] += bytes / model.cores[core].speed;
            node_ends[node] += bytes;
            taken[core] = true;
            *counts.entry((number, core, node)).or_default() += 1;
        }
    }
    Some(counts)
}

/// What one more partition costs there; `taken` are the cores that have one.
fn extra_cost(model: &Model, taken: &[bool], core: usize, node: usize) -> u32 {
    let remote = model.cores[core].remote[node];
    if model.sharing == CacheSharing::Any {
        return remote;
    }
    let (mut used, mut unused) = (0, 0);
    for group in model.groups.iter().filter(|group| group.contains(&core)) {
        if group.iter().any(|core| taken[*core]) { used += 1 } else { unused += 1 }
    }
    remote
        + LOCAL_DISTANCE
            * match model.sharing {
                CacheSharing::Any => 0,
                CacheSharing::Avoid => used,
                CacheSharing::Want => unused,
            }
}

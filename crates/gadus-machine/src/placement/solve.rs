//! Placement by a solver of integer programs: first the least time, then the least cost in that time.
//!
//! - How many partitions of each size go to each core and node are the unknowns. Of partitions of one size
//!   the least time needs no search: it is the last of as many ends as there are partitions, of all ends that
//!   cores could have with one, two, three … of them.

use super::model::{Counts, Model, as_f64, fitting};
use super::{Bound, CacheSharing, Mapping, Proof, Request, greedy};
use crate::error::{ErrorKind, MachineError};
use crate::topology::LOCAL_DISTANCE;
use gadus_base::{Instant, clock};
use microlp::{
    ComparisonOp, Error, OptimizationDirection, Problem, Solution, SolutionStatus, SolveOptions,
    SolveOutcome, Variable,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// Times are compared with this much to spare: sums of parts are not exact.
const SPARE: f64 = 1e-9;

/// What a solver takes for an unknown, at most, before it looks at the time: from 9 to 26 µs were measured, with 16,000
/// to 65,000 of them. One that would come back later than it may is not asked, since it has no answer then.
const UNKNOWN_TIME: Duration = Duration::from_micros(20);

/// What is found without the solver may take so small a part of the time until it leaves costs out. A thousand cores
/// and four thousand partitions need less of half a second.
const GREEDY_PART: u32 = 4;

/// What a core and a node may take, in bytes that the fastest core does alone, and in bytes.
#[derive(Debug, Clone)]
struct Times {
    cores: f64,
    nodes: f64,
    proof: Proof,
}

/// Mappings, the best first.
pub(super) fn mappings(model: &Model, request: &Request) -> Result<Vec<Mapping>, MachineError> {
    let now = clock().now();
    let until = now.plus(request.time);
    // First: the solver may need all the time that is left.
    let greedy = greedy::counts(model, now.plus(request.time / GREEDY_PART));
    let times = least_times(model, until)?;
    let mut found = Vec::<Counts>::new();
    let mut mappings = Vec::new();
    while mappings.len() < request.mappings.max(1) {
        match cheapest(model, &times, greedy.as_ref(), &found, until) {
            Ok((counts, proof)) => {
                mappings.push(model.mapping(&counts, worse(times.proof, proof)));
                found.push(counts);
            }
            // There is one more at most that takes longer: not asked for.
            Err(_) if !mappings.is_empty() => break,
            Err(Unsolved::Impossible) => {
                let message = "no memory node holds what is left over of the others, none divided";
                return Err(MachineError::new(ErrorKind::Request, message));
            }
            Err(Unsolved::Late) => {
                let counts = greedy.ok_or_else(|| {
                    let message =
                        "no way was found in time to divide the partitions among the memory nodes";
                    MachineError::new(ErrorKind::Request, message)
                })?;
                let proof = proved(model, &counts, &times);
                mappings.push(model.mapping(&counts, proof));
                break;
            }
        }
    }
    Ok(mappings)
}

/// Why there is no answer.
#[derive(Debug)]
enum Unsolved {
    Impossible,
    Late,
}

/// What is known of a mapping that no solver has found: nothing, unless its memory and caches cost nothing. Then it is
/// as far from the best at most as its slowest is from what nobody can be faster than: all together, if they could be
/// divided; the largest alone; or as many of the smallest.
fn proved(model: &Model, counts: &Counts, times: &Times) -> Proof {
    let Mapping { slowest, cost, .. } = model.mapping(counts, Proof::Greedy);
    let kinds = model.kinds.iter();
    let all = kinds.map(|kind| as_f64(kind.bytes) * as_f64(kind.partitions.len() as u64));
    let largest = as_f64(model.kinds[0].bytes);
    let (known, speeds) = match model.bound {
        Bound::Compute => (times.cores, model.cores.iter().map(|core| core.speed).collect()),
        Bound::Memory => (times.nodes, vec![1.0; model.nodes.len()]),
    };
    // Nor are they done before as many of the smallest would be.
    let as_small = || {
        let smallest = model.kinds.last().map_or(0.0, |kind| as_f64(kind.bytes));
        let ends = Ends::of(speeds.iter().map(|speed| (smallest / speed, u64::MAX)));
        ends.nth(model.count() - 1).unwrap_or(0.0)
    };
    let least = match times.proof {
        Proof::Exact => known,
        _ => {
            let together = all.sum::<f64>() / speeds.iter().sum::<f64>();
            let fastest = speeds.iter().copied().fold(0.0, f64::max);
            together.max(largest / fastest).max(as_small())
        }
    };
    let part = slowest / least - 1.0;
    match cost > 0.0 || !part.is_finite() {
        true => Proof::Greedy,
        false if part <= SPARE => Proof::Exact,
        false => Proof::Within(part),
    }
}

/// Whether a solver would come back too late.
fn is_too_large(unknowns: usize, until: Instant) -> bool {
    let unknowns = u32::try_from(unknowns).unwrap_or(u32::MAX);
    UNKNOWN_TIME.saturating_mul(unknowns) > until.since(clock().now())
}

fn worse(one: Proof, other: Proof) -> Proof {
    match (one, other) {
        (Proof::Greedy, _) | (_, Proof::Greedy) => Proof::Greedy,
        (Proof::Within(one), Proof::Within(other)) => Proof::Within(one.max(other)),
        (Proof::Within(part), Proof::Exact) | (Proof::Exact, Proof::Within(part)) => {
            Proof::Within(part)
        }
        (Proof::Exact, Proof::Exact) => Proof::Exact,
    }
}

/// The least time of the slowest core, and of the slowest node where memory bounds the work.
fn least_times(model: &Model, until: Instant) -> Result<Times, MachineError> {
    let speeds = model.cores.iter().map(|core| (core.speed, u64::MAX)).collect::<Vec<_>>();
    let rooms = |all: bool| {
        let nodes = model.nodes.iter().filter(|node| all || node.has_cores);
        nodes.map(|node| (1.0, node.free)).collect::<Vec<_>>()
    };
    let (cores, core_proof) = least_time(model, &speeds, until)?;
    let mut times = Times { cores, nodes: f64::INFINITY, proof: core_proof };
    if model.bound == Bound::Memory {
        // Memory beside no core is for what fits nowhere else.
        let beside = least_time(model, &rooms(false), until);
        let (nodes, proof) = beside.or_else(|_| least_time(model, &rooms(true), until))?;
        (times.nodes, times.proof) = (nodes, worse(times.proof, proof));
    }
    Ok(times)
}

/// The least time of the slowest of some workers, each with a speed and room for some bytes.
fn least_time(
    model: &Model,
    workers: &[(f64, u64)],
    until: Instant,
) -> Result<(f64, Proof), MachineError> {
    match &model.kinds[..] {
        [kind] => {
            let count = kind.partitions.len();
            let ends = Ends::of(
                workers
                    .iter()
                    .map(|&(speed, room)| (as_f64(kind.bytes) / speed, fitting(room, kind.bytes))),
            );
            ends.nth(count.saturating_sub(1)).map(|time| (time, Proof::Exact)).ok_or_else(|| {
                let message = "there is not enough room";
                MachineError::new(ErrorKind::Request, message)
            })
        }
        _ => least_time_of_many(model, workers, until),
    }
}

/// The ends of first, second, third … pieces of equal work of some workers, in their order.
struct Ends(BinaryHeap<End>);

struct End {
    at: f64,
    each: f64,
    left: u64,
}

impl Ends {
    fn of(workers: impl Iterator<Item = (f64, u64)>) -> Self {
        let able = workers.filter(|(_, pieces)| *pieces > 0);
        Self(able.map(|(each, pieces)| End { at: each, each, left: pieces - 1 }).collect())
    }
}

impl Iterator for Ends {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let End { at, each, left } = self.0.pop()?;
        if left > 0 {
            self.0.push(End { at: at + each, each, left: left - 1 });
        }
        Some(at)
    }
}

impl Ends {
    fn nth(mut self, number: usize) -> Option<f64> {
        Iterator::nth(&mut self, number)
    }
}

impl Ord for End {
    /// The earliest is the greatest: it comes first of a heap.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at)
    }
}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for End {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for End {}

/// The same for partitions of many sizes, by the solver.
fn least_time_of_many(
    model: &Model,
    workers: &[(f64, u64)],
    until: Instant,
) -> Result<(f64, Proof), MachineError> {
    if is_too_large(model.kinds.len() * workers.len(), until) {
        return Ok((f64::INFINITY, Proof::Greedy));
    }
    // In units of the largest partition, for the solver's arithmetic.
    let unit = as_f64(model.kinds[0].bytes.max(1));
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let time = problem.add_var(1.0, (0.0, f64::INFINITY));
    let mut counts = Vec::new();
    for kind in &model.kinds {
        let most = i32::try_from(kind.partitions.len()).unwrap_or(i32::MAX);
        let of_kind = workers.iter().map(|_| problem.add_integer_var(0.0, (0, most)));
        let of_kind = of_kind.collect::<Vec<_>>();
        let all = of_kind.iter().map(|&count| (count, 1.0));
        problem.add_constraint(all, ComparisonOp::Eq, f64::from(most));
        counts.push(of_kind);
    }
    for (worker, &(speed, room)) in workers.iter().enumerate() {
        let sizes = || model.kinds.iter().zip(&counts);
        let bytes = |(kind, counts): (&super::model::Kind, &Vec<Variable>)| {
            (counts[worker], as_f64(kind.bytes) / unit)
        };
        let work = sizes().map(|both| (bytes(both).0, bytes(both).1 / speed));
        problem.add_constraint(work.chain([(time, -1.0)]), ComparisonOp::Le, 0.0);
        problem.add_constraint(sizes().map(bytes), ComparisonOp::Le, as_f64(room) / unit);
    }
    let unsolved = |message: &str| MachineError::new(ErrorKind::Request, message);
    match solved(&problem, None, until) {
        Ok((solution, proof)) => {
            // From the counts: the solver's own time may be a little less than they take.
            let end = |(worker, &(speed, _)): (usize, &(f64, u64))| {
                let kinds = model.kinds.iter().zip(&counts);
                let bytes = kinds
                    .map(|(kind, counts)| as_f64(kind.bytes) * solution.var_value(counts[worker]));
                bytes.sum::<f64>() / speed
            };
            Ok((workers.iter().enumerate().map(end).fold(0.0, f64::max), proof))
        }
        Err(Unsolved::Impossible) => {
            Err(unsolved("the free memory of no node holds a partition that is left over"))
        }
        Err(Unsolved::Late) => Ok((f64::INFINITY, Proof::Greedy)),
    }
}

/// The least cost in a time, with some partition where none of others' is. Of the first of them `start` is one
/// that is known.
fn cheapest(
    model: &Model,
    times: &Times,
    start: Option<&Counts>,
    others: &[Counts],
    until: Instant,
) -> Result<(Counts, Proof), Unsolved> {
    let unknowns = model.kinds.len() * model.cores.len() * model.nodes.len();
    if times.proof == Proof::Greedy || is_too_large(unknowns, until) {
        return Err(Unsolved::Late);
    }
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let cells = cells(model, times, &mut problem);
    let count = model.count();
    let unit = as_f64(model.kinds[0].bytes.max(1));
    let bytes = |kind: usize| as_f64(model.kinds[kind].bytes) / unit;
    let unknowns = Unknowns::of(model, &cells);
    for (kind, all) in model.kinds.iter().zip(&unknowns.kinds) {
        let all = all.iter().map(|(_, variable)| (*variable, 1.0));
        problem.add_constraint(all, ComparisonOp::Eq, as_f64(kind.partitions.len() as u64));
    }
    for (core, there) in model.cores.iter().zip(&unknowns.cores) {
        let work = there.iter().map(|(kind, variable)| (*variable, bytes(*kind)));
        let limit = times.cores * core.speed / unit * (1.0 + SPARE);
        problem.add_constraint(work, ComparisonOp::Le, whole(model, limit));
    }
    for (node, there) in model.nodes.iter().zip(&unknowns.nodes) {
        let work = there.iter().map(|(kind, variable)| (*variable, bytes(*kind)));
        let limit = (times.nodes / unit * (1.0 + SPARE)).min(as_f64(node.free) / unit);
        problem.add_constraint(work, ComparisonOp::Le, whole(model, limit));
    }
    for group in &model.groups {
        let inside = group.iter().flat_map(|core| &unknowns.cores[*core]);
        let inside = inside.map(|(_, variable)| (*variable, 1.0));
        let penalty = f64::from(LOCAL_DISTANCE);
        match model.sharing {
            CacheSharing::Any => {}
            CacheSharing::Avoid => {
                let more = problem.add_var(penalty, (0.0, f64::INFINITY));
                problem.add_constraint(inside.chain([(more, -1.0)]), ComparisonOp::Le, 1.0);
            }
            CacheSharing::Want => {
                let used = problem.add_binary_var(penalty);
                let all = as_f64(count as u64);
                problem.add_constraint(inside.chain([(used, -all)]), ComparisonOp::Le, 0.0);
            }
        }
    }
    for other in others {
        let same = other.keys().filter_map(|cell| cells.get(cell));
        let same = same.map(|variable| (*variable, 1.0));
        problem.add_constraint(same, ComparisonOp::Le, as_f64(count as u64) - 1.0);
    }
    let start = start.filter(|_| others.is_empty()).map(|counts| {
        let value = |cell| f64::from(counts.get(cell).copied().unwrap_or(0));
        cells.iter().map(|(cell, variable)| (*variable, value(cell))).collect()
    });
    let (solution, proof) = solved(&problem, start, until)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // whole, not negative, not many
    let value = |variable: Variable| solution.var_value(variable) as u32;
    let counts = cells.iter().map(|(cell, variable)| (*cell, value(*variable)));
    Ok((counts.filter(|(_, count)| *count > 0).collect(), proof))
}

/// What is unknown of each kind, core and node: the kinds, with how many there are.
struct Unknowns {
    kinds: Vec<Vec<(usize, Variable)>>,
    cores: Vec<Vec<(usize, Variable)>>,
    nodes: Vec<Vec<(usize, Variable)>>,
}

impl Unknowns {
    fn of(model: &Model, cells: &BTreeMap<(usize, usize, usize), Variable>) -> Self {
        let mut unknowns = Self {
            kinds: vec![Vec::new(); model.kinds.len()],
            cores: vec![Vec::new(); model.cores.len()],
            nodes: vec![Vec::new(); model.nodes.len()],
        };
        for (&(kind, core, node), &variable) in cells {
            unknowns.kinds[kind].push((kind, variable));
            unknowns.cores[core].push((kind, variable));
            unknowns.nodes[node].push((kind, variable));
        }
        unknowns
    }
}

/// Equal partitions fill what there is in whole ones: the solver has less to look for.
fn whole(model: &Model, limit: f64) -> f64 {
    if model.kinds.len() == 1 { (limit + SPARE).floor() } else { limit }
}

/// An unknown for each kind, core and node that hold at least one.
fn cells(
    model: &Model,
    times: &Times,
    problem: &mut Problem,
) -> BTreeMap<(usize, usize, usize), Variable> {
    let (cores, nodes) = (model.cores.len(), model.nodes.len());
    // All of it together costs less than the least difference of what counts.
    let order = 0.5 / as_f64((model.count() * (cores * nodes).max(1)) as u64);
    // Memory beside no core costs more than the furthest that is beside one.
    let furthest = model.cores.iter().flat_map(|core| &core.remote).max().copied().unwrap_or(0);
    let mut cells = BTreeMap::new();
    for (number, kind) in model.kinds.iter().enumerate() {
        let most = i32::try_from(kind.partitions.len()).unwrap_or(i32::MAX);
        for (core, room) in model.cores.iter().enumerate() {
            if as_f64(kind.bytes) / room.speed > times.cores * (1.0 + SPARE) {
                continue;
            }
            for (node, free) in model.nodes.iter().enumerate() {
                if kind.bytes > free.free {
                    continue;
                }
                let place = as_f64((core * nodes + node) as u64);
                let last = if free.has_cores { 0.0 } else { f64::from(furthest) + 1.0 };
                let cost = f64::from(room.remote[node]) + last + place * order;
                cells.insert((number, core, node), problem.add_integer_var(cost, (0, most)));
            }
        }
    }
    cells
}

fn solved(
    problem: &Problem,
    start: Option<Vec<(Variable, f64)>>,
    until: Instant,
) -> Result<(Solution, Proof), Unsolved> {
    let left = until.since(clock().now());
    if left == Duration::ZERO {
        return Err(Unsolved::Late);
    }
    let mut options = SolveOptions::default();
    options.time_limit = Some(left);
    options.warm_start = start;
    match problem.solve_with(options) {
        Ok(SolveOutcome::Solution(solution)) => {
            let proof = match solution.status() {
                SolutionStatus::Optimal => Proof::Exact,
                SolutionStatus::Feasible => Proof::Within(solution.gap().unwrap_or(f64::INFINITY)),
            };
            Ok((solution, proof))
        }
        Ok(SolveOutcome::Interrupted(_)) => Err(Unsolved::Late),
        Err(Error::Infeasible) => Err(Unsolved::Impossible),
        Err(_) => Err(Unsolved::Late),
    }
}

//! Policies against simulators that share nothing with them, lists that are searched from end to end; and what the
//! paper's tests leave of their file.

use super::advice::{Access, Told, parts};
use super::policies::{Policy, misses};
use super::traces::{Pattern, read_trace};
use crate::ErrorKind;
use crate::harness::{Stopwatch, SystemInstruments};
use crate::system::unwritten_pages;
use gadus_base::Random;
use std::os::fd::AsFd;

/// Which page leaves, of those there and their order, by what is to come.
type Victim = fn(&[u64], &[u64]) -> usize;

/// A pool as a list, the least recently used first.
fn simple(trace: &[u64], frames: usize, victim: Victim) -> u64 {
    let (mut pool, mut misses): (Vec<u64>, u64) = (Vec::new(), 0);
    for (at, page) in trace.iter().enumerate() {
        match pool.iter().position(|known| known == page) {
            Some(place) => {
                pool.remove(place);
            }
            None => {
                misses += 1;
                if pool.len() == frames {
                    let leaves = victim(&pool, &trace[at + 1..]);
                    pool.remove(leaves);
                }
            }
        }
        pool.push(*page);
    }
    misses
}

fn farthest(pool: &[u64], future: &[u64]) -> usize {
    let next = |page: &u64| future.iter().position(|used| used == page).unwrap_or(usize::MAX);
    (0..pool.len()).max_by_key(|place| next(&pool[*place])).unwrap()
}

/// The second last use of all, by looking through the whole past.
fn simple_lru_two(trace: &[u64], frames: usize) -> u64 {
    let (mut pool, mut misses): (Vec<u64>, u64) = (Vec::new(), 0);
    for (at, page) in trace.iter().enumerate() {
        if pool.contains(page) {
            continue;
        }
        misses += 1;
        if pool.len() == frames {
            let uses = |page: u64| {
                let mut past = (0..at).rev().filter(move |use_at| trace[*use_at] == page);
                let last = past.next().map_or(0, |use_at| use_at + 1);
                (past.next().map_or(0, |use_at| use_at + 1), last)
            };
            let place = (0..pool.len()).min_by_key(|place| (uses(pool[*place]), pool[*place]));
            pool.remove(place.unwrap());
        }
        pool.push(*page);
    }
    misses
}

/// The clock as its first description has it: a ring that is walked.
fn simple_clock(trace: &[u64], frames: usize) -> u64 {
    let mut ring: std::collections::VecDeque<(u64, bool)> = std::collections::VecDeque::new();
    let mut misses = 0;
    for page in trace {
        if let Some(known) = ring.iter_mut().find(|known| known.0 == *page) {
            known.1 = true;
            continue;
        }
        misses += 1;
        while ring.len() == frames {
            let (first, used) = ring.pop_front().unwrap();
            if used {
                ring.push_back((first, false));
            }
        }
        ring.push_back((*page, true));
    }
    misses
}

/// 2Q by its paper's pseudo-code, with lists.
fn simple_two_queues(trace: &[u64], frames: usize) -> u64 {
    let (kin, kout) = ((frames / 4).max(1), (frames / 2).max(1));
    let (mut am, mut a1in, mut a1out): (Vec<u64>, Vec<u64>, Vec<u64>) = Default::default();
    let mut misses = 0;
    for page in trace {
        if let Some(place) = am.iter().position(|known| known == page) {
            am.remove(place);
            am.insert(0, *page);
        } else if !a1in.contains(page) {
            misses += 1;
            if am.len() + a1in.len() >= frames {
                if a1in.len() > kin || am.is_empty() {
                    a1out.insert(0, a1in.pop().unwrap());
                    a1out.truncate(kout);
                } else {
                    am.pop();
                }
            }
            match a1out.iter().position(|known| known == page) {
                Some(place) => {
                    a1out.remove(place);
                    am.insert(0, *page);
                }
                None => a1in.insert(0, *page),
            }
        }
    }
    misses
}

/// The pool and its ring as two lists, each with its newest at the end: what comes goes through the ring, and into the
/// pool when it is used there again.
fn simple_scan_ring(trace: &[u64], frames: usize) -> u64 {
    let ring_frames = (frames / 16).max(1);
    let pool_frames = frames - ring_frames;
    let (mut pool, mut ring): (Vec<u64>, Vec<u64>) = Default::default();
    let mut misses = 0;
    for page in trace {
        let was_pooled = pool.contains(page);
        let was_in_ring = ring.contains(page);
        pool.retain(|known| known != page);
        ring.retain(|known| known != page);
        misses += u64::from(!was_pooled && !was_in_ring);
        if was_pooled || (was_in_ring && pool_frames > 0) {
            pool.push(*page);
            let surplus = pool.len().saturating_sub(pool_frames);
            pool.drain(..surplus);
        } else {
            ring.push(*page);
            let surplus = ring.len().saturating_sub(ring_frames);
            ring.drain(..surplus);
        }
    }
    misses
}

/// Twenty traces that differ in length, pages and how often pages come again.
fn traces() -> Vec<(Vec<u64>, usize)> {
    let make = |seed: u64| {
        let mut random = Random::seeded(seed);
        let (pages, length) = (5 + random.below(60), 200 + random.below(600));
        let mut at = 0;
        let page = |_| {
            at = if random.chance(0.4) { (at + 1) % pages } else { random.below(pages) };
            if random.chance(0.3) { at % 5 } else { at }
        };
        let trace = (0..length).map(page).collect::<Vec<_>>();
        let frames = 1 + usize::try_from(random.below(pages)).unwrap();
        (trace, frames)
    };
    (0..20).map(make).collect()
}

#[test]
fn policies_miss_as_often_as_independent_simulators_do() {
    for (number, (trace, frames)) in traces().into_iter().enumerate() {
        let counted = |policy| misses(policy, &trace, frames as u64);
        let place = format!("trace {number}, {frames} frames");
        assert_eq!(counted(Policy::Lru), simple(&trace, frames, |_, _| 0), "LRU, {place}");
        let newest: Victim = |pool, _| pool.len() - 1;
        assert_eq!(counted(Policy::Mru), simple(&trace, frames, newest), "MRU, {place}");
        assert_eq!(counted(Policy::Optimum), simple(&trace, frames, farthest), "optimum, {place}");
        assert_eq!(counted(Policy::Clock), simple_clock(&trace, frames), "CLOCK, {place}");
        assert_eq!(counted(Policy::LruTwo), simple_lru_two(&trace, frames), "LRU-2, {place}");
        assert_eq!(counted(Policy::TwoQueues), simple_two_queues(&trace, frames), "2Q, {place}");
        assert_eq!(counted(Policy::ScanRing), simple_scan_ring(&trace, frames), "ring, {place}");
    }
}

#[test]
fn nobody_beats_who_knows_the_future() {
    for pattern in Pattern::ALL {
        let trace = pattern.trace();
        let pages = trace.iter().collect::<std::collections::HashSet<_>>().len() as u64;
        for frames in [1, 7, pages / 4, pages / 2, pages, pages * 2] {
            let best = misses(Policy::Optimum, &trace, frames);
            for policy in Policy::ALL {
                let missed = misses(policy, &trace, frames);
                assert!(
                    missed >= best,
                    "{policy:?} on {pattern:?} with {frames}: {missed} < {best}"
                );
                assert!(missed >= pages && missed <= trace.len() as u64);
            }
        }
    }
}

#[test]
fn a_loop_is_lost_to_who_keeps_the_newest_and_a_scan_does_not_empty_a_ringed_pool() {
    let trace = Pattern::Loop.trace();
    assert_eq!(misses(Policy::Lru, &trace, 1_000), trace.len() as u64);
    assert!(misses(Policy::Mru, &trace, 1_000) < trace.len() as u64 * 6 / 10);
    let trace = Pattern::ScanBesideHot.trace();
    let (lru, ring) = (misses(Policy::Lru, &trace, 500), misses(Policy::ScanRing, &trace, 500));
    assert!(ring <= lru, "{ring} {lru}");
}

#[test]
fn a_trace_is_read_and_what_is_none_is_refused_with_its_line() {
    assert_eq!(read_trace("1 2,3\n# all\n4 # last\n", "t").unwrap(), [1, 2, 3, 4]);
    let refused = read_trace("1\n2 x\n", "t").unwrap_err();
    assert_eq!(refused.to_string(), "t, line 2: x is no page's number");
}

#[test]
fn parts_that_were_changed_are_on_the_device_and_those_that_were_read_are_as_they_were() {
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let instruments = SystemInstruments::new();
    let path = folder.path().join("advised");
    let content_after = |access| {
        parts(path.clone(), access, Told::Sequential)(1, &mut Stopwatch::new(&instruments))?;
        let file = std::fs::File::open(&path).unwrap();
        if let Ok(unwritten) = unwritten_pages(file.as_fd()) {
            assert_eq!(unwritten, 0, "{access:?}");
        }
        Ok::<_, crate::KubError>(std::fs::read(&path).unwrap())
    };
    let access =
        |is_mapped, is_random, writes| Access { is_mapped, is_random, writes, flushes: true };
    let read = match content_after(access(false, false, false)) {
        Ok(read) => read,
        // Where files have no device, nothing is flushed.
        Err(error) => return assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
    };
    let changed = read.iter().map(|byte| byte.wrapping_add(1)).collect::<Vec<_>>();
    for (is_mapped, is_random) in [(false, false), (false, true), (true, false), (true, true)] {
        assert!(content_after(access(is_mapped, is_random, true)).unwrap() == changed);
        assert!(content_after(access(is_mapped, is_random, false)).unwrap() == read);
    }
}

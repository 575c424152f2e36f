//! Policies: which page leaves a full pool.
//!
//! - Each is the textbook's, with the parameters that its authors give; none is tuned to a trace.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Which page leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// That whose next use is farthest: it knows the future, and bounds all others.
    Optimum,
    /// The least recently used.
    Lru,
    /// The first that was not used since the clock's hand passed it.
    Clock,
    /// A queue for what was used once, and the least recently used of the rest (Johnson and Shasha 1994, full form).
    TwoQueues,
    /// That whose second last use is longest ago (O'Neil and others 1993, K = 2).
    LruTwo,
    /// The most recently used.
    Mru,
    /// The pool, but for a ring of a sixteenth of it that pages go through until they are used again.
    ScanRing,
}

impl Policy {
    /// All, the bound first.
    pub const ALL: [Self; 7] = [
        Self::Optimum,
        Self::Lru,
        Self::Clock,
        Self::TwoQueues,
        Self::LruTwo,
        Self::Mru,
        Self::ScanRing,
    ];

    /// As reports have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Optimum => "offline optimum",
            Self::Lru => "LRU",
            Self::Clock => "CLOCK",
            Self::TwoQueues => "2Q",
            Self::LruTwo => "LRU-2",
            Self::Mru => "MRU",
            Self::ScanRing => "scan ring",
        }
    }
}

/// How many accesses of a trace find their page not in a pool of some frames, which is empty at first.
#[must_use]
pub fn misses(policy: Policy, trace: &[u64], frames: u64) -> u64 {
    let frames = crate::numbers::size(frames.max(1));
    match policy {
        Policy::Optimum => optimum(trace, frames),
        Policy::Lru => by_order(trace, frames, false),
        Policy::Mru => by_order(trace, frames, true),
        Policy::Clock => clock(trace, frames),
        Policy::TwoQueues => two_queues(trace, frames),
        Policy::LruTwo => lru_two(trace, frames),
        Policy::ScanRing => scan_ring(trace, frames),
    }
}

/// Keeps pages by a key, of which the highest leaves.
fn optimum(trace: &[u64], frames: usize) -> u64 {
    let mut next = vec![usize::MAX; trace.len()];
    let mut last = HashMap::new();
    for (at, page) in trace.iter().enumerate().rev() {
        if let Some(later) = last.insert(page, at) {
            next[at] = later;
        }
    }
    let (mut uses, mut by_use) = (HashMap::new(), BTreeSet::new());
    let mut misses = 0;
    for (at, page) in trace.iter().enumerate() {
        match uses.insert(*page, next[at]) {
            Some(known) => {
                by_use.remove(&(known, *page));
            }
            None => {
                misses += 1;
                if uses.len() > frames
                    && let Some((_, leaving)) = by_use.pop_last()
                {
                    uses.remove(&leaving);
                }
            }
        }
        by_use.insert((next[at], *page));
    }
    misses
}

/// Pages by when they were used last.
#[derive(Debug, Default)]
struct Recency {
    used: HashMap<u64, u64>,
    order: BTreeMap<u64, u64>,
    now: u64,
}

impl Recency {
    /// Makes a page the newest; says whether it was there.
    fn touch(&mut self, page: u64) -> bool {
        self.now += 1;
        let before = self.used.insert(page, self.now);
        if let Some(before) = before {
            self.order.remove(&before);
        }
        self.order.insert(self.now, page);
        before.is_some()
    }

    fn remove(&mut self, page: u64) -> bool {
        let used = self.used.remove(&page);
        used.is_some_and(|used| self.order.remove(&used).is_some())
    }

    fn take_oldest(&mut self) -> Option<u64> {
        let (_, page) = self.order.pop_first()?;
        self.used.remove(&page);
        Some(page)
    }

    fn take_newest(&mut self) -> Option<u64> {
        let (_, page) = self.order.pop_last()?;
        self.used.remove(&page);
        Some(page)
    }

    fn has(&self, page: u64) -> bool {
        self.used.contains_key(&page)
    }

    fn len(&self) -> usize {
        self.used.len()
    }
}

fn by_order(trace: &[u64], frames: usize, newest: bool) -> u64 {
    let (mut pool, mut misses) = (Recency::default(), 0);
    for page in trace {
        if !pool.has(*page) {
            misses += 1;
            if pool.len() == frames {
                let _ = if newest { pool.take_newest() } else { pool.take_oldest() };
            }
        }
        pool.touch(*page);
    }
    misses
}

fn clock(trace: &[u64], frames: usize) -> u64 {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut pages: Vec<(u64, bool)> = Vec::new();
    let (mut hand, mut misses) = (0, 0);
    for page in trace {
        if let Some(place) = places.get(page) {
            pages[*place].1 = true;
            continue;
        }
        misses += 1;
        if pages.len() < frames {
            places.insert(*page, pages.len());
            pages.push((*page, true));
            continue;
        }
        while pages[hand].1 {
            pages[hand].1 = false;
            hand = (hand + 1) % frames;
        }
        places.remove(&pages[hand].0);
        places.insert(*page, hand);
        pages[hand] = (*page, true);
        hand = (hand + 1) % frames;
    }
    misses
}

/// A quarter of the pool is for pages used once, and of half as many as the pool has it is known that they left.
fn two_queues(trace: &[u64], frames: usize) -> u64 {
    let (once_max, left_max) = ((frames / 4).max(1), (frames / 2).max(1));
    let (mut often, mut misses) = (Recency::default(), 0);
    let (mut once, mut once_pages) = (VecDeque::new(), HashSet::new());
    let (mut left, mut left_pages) = (VecDeque::new(), HashSet::new());
    for page in trace.iter().copied() {
        if often.has(page) {
            often.touch(page);
            continue;
        }
        if once_pages.contains(&page) {
            continue;
        }
        misses += 1;
        if often.len() + once.len() >= frames {
            if once.len() > once_max || often.len() == 0 {
                if let Some(leaving) = once.pop_back() {
                    once_pages.remove(&leaving);
                    left.push_front(leaving);
                    left_pages.insert(leaving);
                    if left.len() > left_max
                        && let Some(forgotten) = left.pop_back()
                    {
                        left_pages.remove(&forgotten);
                    }
                }
            } else {
                often.take_oldest();
            }
        }
        if left_pages.remove(&page) {
            left.retain(|known| *known != page);
            often.touch(page);
        } else {
            once.push_front(page);
            once_pages.insert(page);
        }
    }
    misses
}

/// What is known of pages that have left is kept for ever: the policy's bound, not a pool's thrift.
fn lru_two(trace: &[u64], frames: usize) -> u64 {
    let mut uses: HashMap<u64, (usize, usize)> = HashMap::new();
    let mut pool: BTreeSet<(usize, usize, u64)> = BTreeSet::new();
    let mut misses = 0;
    for (at, page) in trace.iter().copied().enumerate() {
        let now = at + 1;
        let (second, last) = uses.get(&page).copied().unwrap_or((0, 0));
        if !pool.remove(&(second, last, page)) {
            misses += 1;
            if pool.len() == frames {
                pool.pop_first();
            }
        }
        uses.insert(page, (last, now));
        pool.insert((last, now, page));
    }
    misses
}

fn scan_ring(trace: &[u64], frames: usize) -> u64 {
    let ring_max = (frames / 16).max(1).min(frames);
    let pool_max = frames - ring_max;
    let (mut pool, mut ring, mut misses) = (Recency::default(), Recency::default(), 0);
    for page in trace.iter().copied() {
        if pool.has(page) {
            pool.touch(page);
        } else if ring.remove(page) {
            // Used again while it was in the ring: no scan would.
            if pool_max == 0 {
                ring.touch(page);
                continue;
            }
            if pool.len() == pool_max {
                pool.take_oldest();
            }
            pool.touch(page);
        } else {
            misses += 1;
            if ring.len() == ring_max {
                ring.take_oldest();
            }
            ring.touch(page);
        }
    }
    misses
}

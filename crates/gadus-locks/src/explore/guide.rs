//! Guides: who goes on, where several could.
//!
//! - [`Guide::Orderly`] goes through all schedules that cost no more than its budget, depth first:
//!   it repeats the way to the last choice that has another branch, and takes that.
//! - [`Guide::Random`] gives every thread a priority and lets the greatest go on; at some steps it
//!   lowers that of whoever runs. The same seed gives the same schedule.

use gadus_base::Random;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// A thread takes its next step.
    Run(usize),
    /// A thread's sleep reaches its end.
    Late(usize),
    /// A thread dies.
    Die(usize),
}

/// A choice, and how many there were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Branch {
    taken: usize,
    count: usize,
}

#[derive(Debug)]
pub(super) enum Guide {
    Orderly { path: Vec<Branch>, at: usize },
    Random(Priorities),
}

/// Who goes first in a random schedule.
#[derive(Debug)]
pub(super) struct Priorities {
    random: Random,
    of: Vec<u64>,
    /// At which choices whoever runs becomes the last.
    changes: Vec<u64>,
    choices: u64,
    /// About how many choices a run has.
    length: u64,
}

/// Interruptions of whoever runs, in a random schedule: what one more than two preemptions find.
const CHANGES: u64 = 3;

impl Guide {
    pub(super) fn random(seed: u64, threads: usize, length: u64) -> Self {
        let mut random = Random::seeded(seed);
        let of = (0..threads).map(|_| (1 << 32) + random.below(1 << 32)).collect();
        let changes = (0..CHANGES).map(|_| random.below(length.max(1))).collect();
        Self::Random(Priorities { random, of, changes, choices: 0, length: length.max(1) })
    }

    /// The number of one of several moves.
    pub(super) fn choose(&mut self, moves: &[Move]) -> usize {
        match self {
            Self::Orderly { path, at } => {
                if *at == path.len() {
                    path.push(Branch { taken: 0, count: moves.len() });
                }
                let branch = path[*at];
                assert_eq!(branch.count, moves.len(), "the same way leads to the same choice");
                *at += 1;
                branch.taken
            }
            Self::Random(priorities) => priorities.choose(moves),
        }
    }

    /// Turns to the next schedule; false when there is none.
    pub(super) fn advance(&mut self) -> bool {
        let Self::Orderly { path, at } = self else { return false };
        *at = 0;
        while let Some(branch) = path.pop() {
            if branch.taken + 1 < branch.count {
                path.push(Branch { taken: branch.taken + 1, ..branch });
                return true;
            }
        }
        false
    }
}

impl Priorities {
    fn choose(&mut self, moves: &[Move]) -> usize {
        let number = self.choices;
        self.choices += 1;
        // The first is whoever runs, if it can.
        if let (true, Move::Run(one)) = (self.changes.contains(&number), moves[0]) {
            self.of[one] = CHANGES - self.changes.iter().filter(|at| **at > number).count() as u64;
        }
        let runs = |one: &&(usize, &Move)| matches!(one.1, Move::Run(_));
        let all = moves.iter().enumerate().collect::<Vec<_>>();
        let others = all.iter().filter(|one| !runs(one)).collect::<Vec<_>>();
        let stuck = others.len() == moves.len();
        // On average once in a run.
        if !others.is_empty() && (stuck || self.random.below(self.length) == 0) {
            let index = self.random.below(others.len() as u64);
            return others[usize::try_from(index).expect("it is below a length")].0;
        }
        let priority = |one: &&(usize, &Move)| match one.1 {
            Move::Run(thread) => self.of[*thread],
            _ => 0,
        };
        all.iter().filter(runs).max_by_key(priority).map_or(0, |one| one.0)
    }
}

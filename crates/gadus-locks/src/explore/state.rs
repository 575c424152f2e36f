//! The state of a run: who stands how, and what may come next.
//!
//! - Its moves are what the guide chooses from; what each of them costs is counted here.

use super::Lateness;
use super::guide::{Guide, Move};
use super::run::Death;
use super::search::Rules;
use std::fmt::Write;
use std::ops::Range;
use std::panic::Location;
use std::time::Duration;

/// Steps after which a run is taken to have no end.
const STEPS_MAX: usize = 50_000;

pub(super) struct State {
    pub(super) guide: Guide,
    pub(super) threads: Vec<Actor>,
    pub(super) turn: Option<usize>,
    pub(super) time: Duration,
    pub(super) preemptions: u32,
    pub(super) deaths: u32,
    pub(super) taken: Vec<Taken>,
    pub(super) steps: usize,
    pub(super) asleep: u64,
    pub(super) wrong: Option<String>,
    pub(super) is_over: bool,
    pub(super) mappings: Vec<Range<usize>>,
    pub(super) ignored: Vec<Range<usize>>,
    pub(super) always: Box<dyn FnMut(bool) -> Result<(), String> + Send>,
}

pub(super) struct Actor {
    pub(super) name: &'static str,
    pub(super) stands: Stands,
    pub(super) death: Option<Death>,
    /// What makes its drops possible, when it is dead.
    pub(super) after: Option<Box<dyn FnOnce() + Send>>,
    /// The line of its last steps, and how many of them.
    pub(super) row: (Option<&'static Location<'static>>, u32),
    pub(super) may_unwind: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    Ready,
    /// Until another has taken a step.
    Aside,
    /// On a word, `since` so many others fell asleep.
    Asleep {
        word: usize,
        since: u64,
        until: Option<Duration>,
    },
    Ended,
    Dead,
}

/// A step, for those who read how it came.
pub(super) struct Taken {
    pub(super) what: Move,
    pub(super) at: Option<&'static Location<'static>>,
}

impl State {
    pub(super) fn new(guide: Guide) -> Self {
        Self {
            guide,
            threads: Vec::new(),
            turn: None,
            time: Duration::ZERO,
            preemptions: 0,
            deaths: 0,
            taken: Vec::new(),
            steps: 0,
            asleep: 0,
            wrong: None,
            is_over: false,
            mappings: Vec::new(),
            ignored: Vec::new(),
            always: Box::new(|_| Ok(())),
        }
    }

    /// Where a word is, in whatever mapping.
    pub(super) fn key(&self, word: usize) -> usize {
        let mapping = self.mappings.iter().find(|range| range.contains(&word));
        mapping.map_or(word, |range| word - range.start)
    }

    /// Notes a step; says whether it is one at which others may come in between.
    pub(super) fn note(&mut self, me: usize, at: &'static Location<'static>) -> bool {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            self.fail("it has no end");
            return true;
        }
        let actor = &mut self.threads[me];
        let in_row = if actor.row.0 == Some(at) { actor.row.1 + 1 } else { 1 };
        actor.row = (Some(at), in_row);
        if in_row > 2 {
            return false;
        }
        self.taken.push(Taken { what: Move::Run(me), at: Some(at) });
        for other in self.threads.iter_mut().filter(|one| one.stands == Stands::Aside) {
            other.stands = Stands::Ready;
        }
        if let Err(wrong) = (self.always)(false) {
            self.fail(&wrong);
        }
        true
    }

    /// Whether a thread takes no steps any more, and may unwind.
    pub(super) fn is_stopped(&self, me: usize) -> bool {
        let one = &self.threads[me];
        one.may_unwind || self.wrong.is_some() && one.stands != Stands::Dead
    }

    /// The steps in their order: who took them, and where.
    pub(super) fn steps(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for Taken { what, at } in &self.taken {
            let number = match *what {
                Move::Run(number) | Move::Late(number) | Move::Die(number) => number,
            };
            if last != Some(number) {
                let _ = write!(text, "\n{}:", self.threads[number].name);
                last = Some(number);
            }
            let at = at.map_or(String::new(), |at| {
                let file = at.file().rsplit("src/").next().unwrap_or_default();
                format!(" {file}:{}", at.line())
            });
            let _ = match what {
                Move::Run(_) => write!(text, "{at}"),
                Move::Late(_) => write!(text, " wakes late"),
                Move::Die(_) => write!(text, " dies"),
            };
        }
        text
    }

    pub(super) fn fail(&mut self, wrong: &str) {
        self.wrong.get_or_insert_with(|| wrong.to_owned());
    }

    /// Who goes on; nobody, when all is over.
    pub(super) fn next(&mut self, me: Option<usize>, rules: &Rules) -> Option<usize> {
        loop {
            if self.wrong.is_some() {
                return None;
            }
            let mut moves = self.moves(me, rules);
            if moves.is_empty() {
                if self.threads.iter().all(|one| matches!(one.stands, Stands::Ended | Stands::Dead))
                {
                    return None;
                }
                if let Err(wrong) = (self.always)(true) {
                    self.fail(&wrong);
                    return None;
                }
                moves = self.ways_out(rules);
            }
            let Some(first) = moves.first() else {
                self.fail("nobody can go on");
                return None;
            };
            let is_ready = me.is_some_and(|me| self.threads[me].stands == Stands::Ready);
            let next = if moves.len() == 1 { *first } else { moves[self.guide.choose(&moves)] };
            let interrupts = is_ready && next != *first && Some(next) != me.map(Move::Die);
            let hurries = matches!((first, next), (Move::Run(_), Move::Late(_)));
            self.preemptions += u32::from(interrupts || hurries);
            match next {
                Move::Run(next) => return Some(next),
                Move::Late(next) => {
                    self.taken.push(Taken { what: Move::Late(next), at: None });
                    if let Stands::Asleep { until: Some(until), .. } = self.threads[next].stands {
                        self.time = self.time.max(until);
                    }
                    self.threads[next].stands = Stands::Ready;
                    return Some(next);
                }
                Move::Die(one) => self.die(one),
            }
        }
    }

    fn die(&mut self, one: usize) {
        self.taken.push(Taken { what: Move::Die(one), at: None });
        self.deaths += 1;
        let actor = &mut self.threads[one];
        actor.stands = Stands::Dead;
        actor.after = actor.death.take().map(|death| death());
    }

    /// What may come next; the first is what costs nothing.
    fn moves(&self, me: Option<usize>, rules: &Rules) -> Vec<Move> {
        let numbers = || 0..self.threads.len();
        let is_ready = |number: &usize| self.threads[*number].stands == Stands::Ready;
        let mine = me.filter(is_ready);
        let may_interrupt = mine.is_none() || self.may_interrupt(rules);
        let mut moves = mine.map(Move::Run).into_iter().collect::<Vec<_>>();
        if may_interrupt {
            moves
                .extend(numbers().filter(is_ready).filter(|one| Some(*one) != mine).map(Move::Run));
        }
        if moves.is_empty() {
            return moves;
        }
        let may_die = self.deaths < rules.deaths;
        moves.extend(mine.filter(|me| may_die && self.is_mortal(*me)).map(Move::Die));
        if may_interrupt && may_die {
            let others = numbers().filter(|one| Some(*one) != mine && self.is_mortal(*one));
            moves.extend(others.map(Move::Die));
        }
        // Time that passes while others could go on counts as an interruption of theirs.
        if self.may_interrupt(rules) && rules.lateness == Lateness::Always {
            moves.extend(numbers().filter(|one| self.end_of(*one).is_some()).map(Move::Late));
        }
        moves
    }

    /// What helps when nobody can go on.
    fn ways_out(&self, rules: &Rules) -> Vec<Move> {
        let numbers = || 0..self.threads.len();
        let ends = || numbers().filter_map(|one| Some((self.end_of(one)?, one)));
        let earliest = ends().min().filter(|_| rules.lateness != Lateness::Never);
        let late = ends().filter(|one| earliest.is_some_and(|least| one.0 == least.0));
        let mut moves = late.map(|(_, one)| Move::Late(one)).collect::<Vec<_>>();
        if self.deaths < rules.deaths {
            moves.extend(numbers().filter(|one| self.is_mortal(*one)).map(Move::Die));
        }
        moves
    }

    fn may_interrupt(&self, rules: &Rules) -> bool {
        matches!(self.guide, Guide::Random(_)) || self.preemptions < rules.preemptions
    }

    fn is_mortal(&self, number: usize) -> bool {
        let one = &self.threads[number];
        one.death.is_some() && !matches!(one.stands, Stands::Ended | Stands::Dead)
    }

    fn end_of(&self, number: usize) -> Option<Duration> {
        match self.threads[number].stands {
            Stands::Asleep { until, .. } => until,
            _ => None,
        }
    }
}

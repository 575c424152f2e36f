//! Equals on one file: processes that write to one ledger, of which any may be killed and replaced.
//!
//! - How long survivors pause around a kill is measured at their acknowledged commits, from outside.

use std::time::Duration;

use gadus_base::{Instant, Random, clock};

use super::process::{Pause, Spare, WritingProcess};
use super::{Numbers, Writing};
use crate::failure::Failure;

/// A pause that begins this long after a kill may still come from it: a latch is looked at every
/// ten milliseconds while somebody waits for it.
pub(crate) const AFTERMATH: Duration = Duration::from_millis(30);

/// Acknowledged commits of a run, and pauses around its kills.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) acknowledged: Numbers,
    /// Pauses of survivors that overlap each kill.
    pub(crate) stalls: Vec<Vec<Pause>>,
    /// Pauses of all that overlap each moment without a kill.
    pub(crate) calm: Vec<Vec<Pause>>,
}

/// The writers of one ledger, each in a process of its own.
pub(crate) struct Writers {
    writing: Writing,
    processes: Vec<WritingProcess>,
    /// What the killed ones have acknowledged.
    acknowledged: Numbers,
    /// When somebody was killed, and the pauses of all that they did not end with.
    kills: Vec<Instant>,
    /// Instants without a kill, as a control.
    calm: Vec<Instant>,
    pauses: Vec<Vec<Pause>>,
    /// The next to be started, where that takes long.
    spare: Option<Spare>,
}

impl Writers {
    /// Starts a process for each writer; returns when all have committed.
    pub(crate) fn start(all: &Writing) -> Result<Self, Failure> {
        let mut writers = Self {
            writing: Writing { writers: 1, ..all.clone() },
            processes: Vec::new(),
            acknowledged: Numbers::default(),
            kills: Vec::new(),
            calm: Vec::new(),
            pauses: Vec::new(),
            spare: None,
        };
        for id in 0..all.writers {
            writers.processes.push(writers.process(id)?);
        }
        for process in &mut writers.processes {
            process.wait_once()?;
        }
        Ok(writers)
    }

    /// Has the next process have its memory before it is needed, so that what others wait for is the
    /// death of one, and not the start of another.
    pub(crate) fn prepare_spare(&mut self) -> Result<(), Failure> {
        if self.writing.resident.is_some() && self.spare.is_none() {
            self.spare = Some(Spare::start(&self.writing)?);
        }
        Ok(())
    }

    fn process(&self, id: u32) -> Result<WritingProcess, Failure> {
        WritingProcess::start(&Writing { first_writer: id, ..self.writing.clone() }, 1)
    }

    /// One of them.
    pub(crate) fn any(&self, random: &mut Random) -> usize {
        usize::try_from(random.below(self.processes.len() as u64)).expect("below their number")
    }

    /// The process id of one.
    pub(crate) fn pid(&self, process: usize) -> u32 {
        self.processes[process].pid()
    }

    /// The one with this process id.
    pub(crate) fn with_pid(&self, pid: u32) -> Option<usize> {
        self.processes.iter().position(|process| process.pid() == pid)
    }

    /// Waits until a process has committed.
    pub(crate) fn wait_for(&mut self, process: usize) -> Result<(), Failure> {
        self.processes[process].wait_once()
    }

    /// Kills a process and starts another in its place.
    pub(crate) fn replace(&mut self, victim: usize) -> Result<(), Failure> {
        let killed = self.processes.swap_remove(victim);
        // The place of the last is now the victim's: writers are told apart by their ids.
        let id = killed.first_writer();
        self.pauses.push(killed.pauses(false));
        self.kills.push(clock().now());
        self.acknowledged.note_all(&killed.kill()?);
        let next = match self.spare.take() {
            Some(spare) => spare.carry_on(id, 1)?,
            None => self.process(id)?,
        };
        self.processes.push(next);
        Ok(())
    }

    /// Notes an instant without a kill, later than the aftermath of the last one, as a control.
    pub(crate) fn note_calm(&mut self) {
        self.calm.push(clock().now());
    }

    /// Kills all.
    pub(crate) fn end(mut self) -> Result<Written, Failure> {
        // All first: who is killed later waits for those that are killed before, and no kill is counted any more.
        self.pauses.extend(self.processes.iter().map(|process| process.pauses(true)));
        for process in self.processes.drain(..) {
            self.acknowledged.note_all(&process.kill()?);
        }
        let around = |moment: &Instant| {
            let end = moment.plus(AFTERMATH);
            let overlaps = |pause: &&Pause| pause.from <= end && pause.to >= *moment;
            self.pauses.iter().flatten().filter(overlaps).copied().collect()
        };
        let stalls = self.kills.iter().map(around).collect();
        let calm = self.calm.iter().map(around).collect();
        Ok(Written { acknowledged: self.acknowledged, stalls, calm })
    }
}

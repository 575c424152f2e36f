//! What shared scans have done.

use gadus_base::IoBytes;
use std::ops::AddAssign;
use std::time::Duration;

/// What a clock has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockStatistics {
    /// Passes that are over.
    pub passes: u64,
    /// Questions that they answered.
    pub questions: u64,
    /// Of these, those that were asked twice in a pass, and shared an answer.
    pub shared_answers: u64,
    /// Questions and modifications that were evaluated by themselves, for want of a selective
    /// conjunct.
    pub lone_questions: u64,
    /// Modifications whose rows passes found.
    pub modifications: u64,
    /// Rows that these have changed.
    pub modified_rows: u64,
    /// Commits that they made together.
    pub modifying_commits: u64,
    /// Time from the end of a pass until its modifications were durable.
    pub modify_time: Duration,
    /// Time of all passes, from beginning to answers.
    pub pass_time: Duration,
    /// Questions and modifications of the last pass.
    pub last_questions: u64,
    /// Time of the last pass.
    pub last_pass_time: Duration,
    /// Threads that passes have now: fewer than the options allow while other processes scan the file.
    pub threads: usize,
    /// What the passes' threads did.
    pub work: PassWork,
    /// Scans of plans that go round their table together with others.
    pub plan_scans: u64,
    /// Of these, those that began where others were.
    pub joined_plan_scans: u64,
    /// Processor time that scans of plans took of their threads.
    pub plan_scan_time: Duration,
}

/// What threads did for passes: rows that they read, and their time by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassWork {
    /// Rows of the segments that were dealt to them.
    pub rows: u64,
    /// Rows of those among them that might have answered any question.
    pub read_rows: u64,
    /// What they read for it.
    pub bytes: IoBytes,
    /// Looking up values among the questions.
    pub probe_time: Duration,
    /// Holding what was found against the rest of its questions' conjuncts.
    pub check_time: Duration,
    /// Noting and folding the rows that answer questions.
    pub fold_time: Duration,
    /// Evaluating questions by themselves.
    pub lone_time: Duration,
    /// Merging what they have found, and handing the answers out.
    pub answer_time: Duration,
}

/// How many questions and modifications were looked up by a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedUp {
    /// The table's name.
    pub table: String,
    /// The column's name; none for those that were evaluated by themselves.
    pub column: Option<String>,
    /// How many.
    pub statements: u64,
}

impl PassWork {
    /// Time of all stages.
    #[must_use]
    pub fn time(&self) -> Duration {
        let finding = self.probe_time + self.check_time + self.fold_time;
        finding + self.lone_time + self.answer_time
    }

    /// Rows that a thread reads in a second, whatever is asked of them.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a rate
    pub fn rows_per_second(&self) -> f64 {
        let seconds = self.time().as_secs_f64();
        if seconds > 0.0 { self.rows as f64 / seconds } else { 0.0 }
    }
}

impl AddAssign for PassWork {
    fn add_assign(&mut self, more: Self) {
        self.rows += more.rows;
        self.read_rows += more.read_rows;
        self.bytes += more.bytes;
        self.probe_time += more.probe_time;
        self.check_time += more.check_time;
        self.fold_time += more.fold_time;
        self.lone_time += more.lone_time;
        self.answer_time += more.answer_time;
    }
}

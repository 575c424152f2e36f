//! What shared scans have done.

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
    /// Scans of plans that go round their table together with others.
    pub plan_scans: u64,
    /// Of these, those that began where others were.
    pub joined_plan_scans: u64,
    /// Time that scans of plans took of their threads.
    pub plan_scan_time: Duration,
}

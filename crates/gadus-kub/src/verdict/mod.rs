//! The verdict: for each service that a database needs, whether the kernel's suffices on this machine.
//!
//! - Six rows, as the paper's Table 10.1 has them. Each grades some measured ratios by limits that it states; its
//!   suitability is the middle of the grades, the worse one of two, and no better than what a finding allows.
//! - A row without a measured ratio has no suitability: nothing is judged by what was not measured.

mod criteria;
mod crossovers;
mod json;
mod rows;
mod settings;

pub use settings::Advice;

use crate::report::Report;

/// How well the kernel's service suits a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suitability {
    /// A database brings its own.
    Poor,
    /// It may be used where its cost does not matter.
    Good,
    /// It may be used.
    VeryGood,
    /// It should be used.
    Excellent,
}

/// What a database needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Pages in memory.
    BufferPool,
    /// Space on disks.
    Files,
    /// Threads, processes, and who runs next.
    Scheduling,
    /// Messages.
    Communication,
    /// Locks, and what reaches the disk when.
    Consistency,
    /// Security, monitoring, administration.
    NewDomains,
}

/// A ratio, and its grade.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    /// What is compared to what.
    pub what: String,
    /// How many times dearer the kernel's service is.
    pub ratio: f64,
    /// The bounds of its 95 % interval, where it has one.
    pub interval: Option<(f64, f64)>,
    /// Up to which ratio it is excellent, very good, good.
    pub limits: [f64; 3],
    /// By them.
    pub grade: Suitability,
    /// Whether the grade is the same at both ends of the interval, and the machine was quiet.
    pub is_certain: bool,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Of what.
    pub domain: Domain,
    /// What follows; none where nothing was measured.
    pub suitability: Option<Suitability>,
    /// What the paper found, of Windows 2000.
    pub paper: Suitability,
    /// By what.
    pub criteria: Vec<Criterion>,
    /// A finding that allows no better, and how good it allows.
    pub bound: Option<(String, Suitability)>,
    /// Why, in a sentence.
    pub why: String,
    /// What a database should do.
    pub database: String,
    /// What the kernel should improve.
    pub kernel: Vec<String>,
    /// What would be judged by, had it been measured.
    pub missing: Vec<String>,
}

/// What follows from a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// One for each domain.
    pub rows: Vec<Row>,
    /// From where another service is cheaper.
    pub crossovers: Vec<String>,
    /// What follows for databases of others.
    pub settings: Vec<Advice>,
}

/// Judges by rules on what was measured, and by nothing else.
#[must_use]
pub fn judge(report: &Report) -> Verdict {
    Verdict {
        rows: rows::rows(report),
        crossovers: crossovers::crossovers(report),
        settings: settings::settings(report),
    }
}

impl Suitability {
    /// As the table has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Poor => "poor",
            Self::Good => "good",
            Self::VeryGood => "very good",
            Self::Excellent => "excellent",
        }
    }

    /// By limits up to which it is excellent, very good, good.
    #[must_use]
    pub fn by(ratio: f64, limits: [f64; 3]) -> Self {
        let [excellent, very_good, good] = limits;
        match ratio {
            ratio if ratio <= excellent => Self::Excellent,
            ratio if ratio <= very_good => Self::VeryGood,
            ratio if ratio <= good => Self::Good,
            _ => Self::Poor,
        }
    }

    /// The middle one; of two, the worse.
    fn middle(mut grades: Vec<Self>) -> Option<Self> {
        grades.sort();
        grades.get(grades.len().saturating_sub(1) / 2).copied()
    }
}

impl Domain {
    /// As the table has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::BufferPool => "buffer pool",
            Self::Files => "files",
            Self::Scheduling => "scheduling and processes",
            Self::Communication => "interprocess communication",
            Self::Consistency => "consistency control",
            Self::NewDomains => "new domains",
        }
    }
}

#[cfg(test)]
mod tests;

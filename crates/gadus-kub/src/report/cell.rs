//! A cell: one piece of work, and what each contestant took for it.

use crate::harness::{Ratio, Summary};
use gadus_base::ByteCount;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Benchmark {
    /// Nothing: what measuring itself costs.
    Null,
    /// Files in memory, against reading and writing.
    Bind,
    /// Who replaces pages.
    Replace,
    /// Where a file lies on its disk.
    Locality,
    /// Who runs next.
    Schedule,
    /// What processes tell each other.
    Message,
    /// Who may use what.
    Lock,
    /// When what is written is on the disk, and what is not.
    Sync,
    /// What else a database needs.
    Domains,
}

impl Benchmark {
    /// All that can be asked for.
    pub const ALL: [Self; 9] = [
        Self::Null,
        Self::Bind,
        Self::Replace,
        Self::Locality,
        Self::Schedule,
        Self::Message,
        Self::Lock,
        Self::Sync,
        Self::Domains,
    ];

    /// As commands have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bind => "bind",
            Self::Replace => "replace",
            Self::Locality => "locality",
            Self::Schedule => "schedule",
            Self::Message => "message",
            Self::Lock => "lock",
            Self::Sync => "sync",
            Self::Domains => "domains",
        }
    }

    /// By that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|benchmark| benchmark.word() == word)
    }
}

/// Where the question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The paper asks it, with these parameters.
    Vasil2003,
    /// Today's kernels ask it.
    Modern,
}

impl Origin {
    /// As reports have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Vasil2003 => "Vasil 2003",
            Self::Modern => "modern",
        }
    }
}

/// Whose service a contestant uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The kernel's.
    Kernel,
    /// One of its own, in user mode.
    User,
}

impl Side {
    /// As reports have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::User => "user",
        }
    }
}

/// Why a contest ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its intervals were narrow enough.
    Narrow,
    /// Its time was used up.
    Time,
    /// Its rounds were.
    Rounds,
}

impl Stopped {
    /// As reports have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Narrow => "interval narrow enough",
            Self::Time => "time used up",
            Self::Rounds => "rounds used up",
        }
    }
}

/// One piece of work, and what each took for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Of what.
    pub benchmark: Benchmark,
    /// Who asks.
    pub origin: Origin,
    /// What the work is.
    pub name: String,
    /// What is varied in it.
    pub variables: Vec<(String, String)>,
    /// Of the figures; each is of the work done once.
    pub unit: String,
    /// The first is whom the others are compared to.
    pub measured: Vec<Measured>,
    /// Why no more was measured.
    pub stopped: Stopped,
    /// Whether the machine was quiet before, meanwhile and after.
    pub quiet: bool,
    /// How else to check it, such as the command of another tool.
    pub equivalent: Option<String>,
    /// What the paper found of the same work, in a sentence.
    pub paper_found: Option<String>,
}

/// What one contestant took.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Who it is.
    pub who: String,
    /// Whose service it uses.
    pub side: Side,
    /// A figure for each round.
    pub rounds: Vec<f64>,
    /// How many of them each sitting has.
    pub sittings: Vec<usize>,
    /// What is said of them.
    pub summary: Summary,
    /// How many times dearer than the first; none for that itself.
    pub ratio: Option<Ratio>,
    /// What its steps took, of those that are told apart.
    pub steps: Vec<(String, Summary)>,
    /// What else happened in a turn, such as what others got done meanwhile.
    pub counts: Vec<(String, Summary)>,
    /// Processor time of this process for each time the work was done, in its own code.
    pub user_ns: f64,
    /// The same in the kernel.
    pub system_ns: f64,
    /// How often this process waited for each time the work was done.
    pub voluntary_switches: f64,
    /// How often somebody else got its processor, in all.
    pub involuntary_switches: u64,
    /// Pages found in memory for each time the work was done.
    pub minor_faults: f64,
    /// Pages that had to be read, in all.
    pub major_faults: u64,
    /// How often the work was done in a turn.
    pub repetitions: u64,
    /// The share of turns in which somebody else got its processor.
    pub disturbed: f64,
    /// What the paper measured, in the same unit.
    pub paper: Option<f64>,
    /// What `steps` and `counts` are of, as long as more sittings may follow.
    pub(crate) parts: Parts,
}

/// The figures of steps, for each round, and of counts, for each turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Parts {
    pub(crate) steps: Vec<(&'static str, Vec<f64>)>,
    pub(crate) counts: Vec<(&'static str, Vec<f64>)>,
}

/// Something that is so here, which is no figure of a contest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Of what.
    pub benchmark: Benchmark,
    /// What was looked for.
    pub what: String,
    /// What was found.
    pub found: String,
}

/// What was not measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Of what.
    pub benchmark: Benchmark,
    /// What was to be done.
    pub what: String,
    /// Why it was not.
    pub why: String,
}

impl Measured {
    /// How many times dearer it is than another one of its cell.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> Ratio {
        Ratio::of_sittings(&self.rounds, &other.rounds, &self.sittings)
    }
}

impl Cell {
    /// What a variable is here.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        let variable = self.variables.iter().find(|(variable, _)| variable == name);
        variable.map(|(_, value)| value.as_str())
    }

    /// What one contestant took.
    #[must_use]
    pub fn by(&self, who: &str) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.who == who)
    }

    /// The figure of a contestant.
    #[must_use]
    pub fn median_of(&self, who: &str) -> Option<f64> {
        self.by(who).map(|measured| measured.summary.median)
    }

    /// The cheapest of a side.
    #[must_use]
    pub fn best(&self, side: Side) -> Option<&Measured> {
        let of_side = self.measured.iter().filter(|measured| measured.side == side);
        of_side.min_by(|one, other| one.summary.median.total_cmp(&other.summary.median))
    }

    /// The name with what is varied.
    #[must_use]
    pub fn title(&self) -> String {
        title_of(&self.name, &self.variables)
    }
}

/// A name with what is varied.
pub(crate) fn title_of(name: &str, variables: &[(String, String)]) -> String {
    let variables = variables.iter().map(|(name, value)| match value.parse() {
        Ok(bytes) if name.ends_with("bytes") => format!("{name} {}", ByteCount(bytes)),
        _ => format!("{name} {value}"),
    });
    let variables = variables.collect::<Vec<_>>().join(", ");
    match variables.is_empty() {
        true => name.to_owned(),
        false => format!("{name}, {variables}"),
    }
}

//! Cells that other tools measure as well, beside those tools: what one of them finds, Kub must find, too.
//!
//! - The tools run before and after the cell, so that what drifts meets both.
//! - They print means, so means are compared: of what takes one time or another, as a sync does that now and then has
//!   to wait for a tick, the median is another figure.
//! - A tool that is not installed is named; nothing is downloaded, and no figure of it is remembered.

mod tools;

use crate::bind::files::on_a_device;
use crate::error::{ErrorKind, KubError, Refused};
use crate::harness::{Budget, Harness, SystemInstruments};
use crate::numbers::figure_of;
use crate::own_folder::OwnFolder;
use crate::report::{Benchmark, Cell};
use crate::run::{Place, rise_above_others};
use crate::{bind, schedule, sync};
use gadus_base::Random;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// How often a tool runs before the cell is measured, and again afterwards.
const RUNS: usize = 3;

/// What two tools must agree in: a call and a switch are done in more than one way, a transfer is not.
const CALLS: f64 = 0.25;
const TRANSFERS: f64 = 0.10;

/// A cell's figure and another tool's, of the same work.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// The cell and the contestant.
    pub what: String,
    /// The other tool's command.
    pub command: String,
    /// What the cell says, in nanoseconds: the mean of its rounds.
    pub measured_ns: f64,
    /// What the tool says.
    pub tool_ns: f64,
    /// How far apart they may be, as a share of the tool's.
    pub tolerance: f64,
}

/// Cells beside tools, and those that could not be compared, with the reasons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreements {
    /// What was compared.
    pub compared: Vec<Agreement>,
    /// What was not, and why.
    pub skipped: Vec<(String, String)>,
}

impl Agreement {
    /// How far apart they are, as a share of what the tool says.
    #[must_use]
    pub fn difference(&self) -> f64 {
        (self.measured_ns - self.tool_ns) / self.tool_ns
    }

    /// Whether they agree.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.difference().abs() <= self.tolerance
    }
}

/// A cell of which a tool measures one contestant's work.
struct Twin {
    benchmark: Benchmark,
    what: &'static str,
    who: &'static str,
    tolerance: f64,
    measure: fn(&mut Harness<'_>, &Place) -> Result<(), KubError>,
    tool: tools::Tool,
}

fn twins() -> [Twin; 4] {
    [
        Twin {
            benchmark: Benchmark::Schedule,
            what: "a switch of threads by a pipe, on one processor",
            who: "threads, pipe",
            tolerance: CALLS,
            measure: schedule::switches_on_one_processor,
            tool: tools::perf_pipe(),
        },
        Twin {
            benchmark: Benchmark::Schedule,
            what: "a system call by the C library",
            who: "system call by the C library",
            tolerance: CALLS,
            measure: schedule::calls,
            tool: tools::perf_call(),
        },
        Twin {
            benchmark: Benchmark::Sync,
            what: "a record of 4 KiB, overwritten, with fdatasync",
            who: "write, fdatasync",
            tolerance: TRANSFERS,
            measure: sync::overwritten_records,
            tool: tools::fio_records(sync::RECORDS_BYTES),
        },
        Twin {
            benchmark: Benchmark::Bind,
            what: "a scan of 64 MiB past the cache, 8 transfers of 64 KiB at a time",
            who: "O_DIRECT, io_uring, 8 at a time",
            tolerance: TRANSFERS,
            measure: bind::scan_past_the_cache,
            tool: tools::fio_scan(bind::SCANNED_BYTES),
        },
    ]
}

/// Measures cells beside perf and fio, with files in a new folder in this one.
///
/// # Errors
/// When there is no processor to run on, or a contestant did not do its work.
pub fn check_beside_tools(folder: &Path) -> Result<Agreements, KubError> {
    let own = OwnFolder::make(folder);
    let mut place = Place::find(own.path())?;
    let mut found = Agreements::default();
    for (number, twin) in twins().into_iter().enumerate() {
        place.folder = own.folder_for(number);
        match twin.compare(&place) {
            Ok(agreement) => found.compared.push(agreement),
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                found.skipped.push((twin.what.to_owned(), error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

impl Twin {
    /// On a thread of its own, whose processor and priority are those of the tool, too.
    fn compare(&self, place: &Place) -> Result<Agreement, KubError> {
        let compared = std::thread::scope(|scope| {
            let compare = || {
                place.stay_here()?;
                rise_above_others();
                let mut theirs = Vec::new();
                self.run_tool(place, &mut theirs)?;
                let measured_ns = self.measure(place)?;
                self.run_tool(place, &mut theirs)?;
                Ok((measured_ns, mean(&theirs)))
            };
            scope.spawn(compare).join().map_err(|_| KubError::broken("a comparison broke off"))
        });
        let (measured_ns, tool_ns) = compared??;
        let (what, command) = (self.what.to_owned(), self.tool.command());
        Ok(Agreement { what, command, measured_ns, tool_ns, tolerance: self.tolerance })
    }

    fn run_tool(&self, place: &Place, found: &mut Vec<f64>) -> Result<(), KubError> {
        if self.tool.needs_files() {
            std::fs::metadata(&place.folder).or_refused("a folder for files")?;
            on_a_device(&place.folder)?;
        }
        for _ in 0..RUNS {
            found.push(self.tool.run(&place.folder)?);
        }
        Ok(())
    }

    fn measure(&self, place: &Place) -> Result<f64, KubError> {
        let (instruments, cancelled) = (SystemInstruments::new(), AtomicBool::new(false));
        let random = Random::from_system();
        let mut harness = Harness::new(&instruments, Budget::Usual, random, &cancelled);
        (self.measure)(&mut harness, place)?;
        let of = |cell: &Cell| cell.benchmark == self.benchmark;
        let cell = harness.cells.iter().find(|cell| of(cell));
        let measured = cell.and_then(|cell| cell.by(self.who));
        measured.map(|measured| mean(&measured.rounds)).ok_or_else(|| {
            let why = harness.skipped.iter().find(|skipped| skipped.what.ends_with(self.who));
            let why = why.map_or("it was not measured", |skipped| skipped.why.as_str());
            KubError::unavailable(why)
        })
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figure_of(figures.len())
}

//! Contestants that other tools are, too, beside those tools: what one of them finds, Kub must find.
//!
//! - They take turns in rounds, as contestants of a cell do: what a shared device or processor gives drifts, and meets
//!   both. Turns are short and many, and a round's figures are held against each other alone: a device that does the same
//!   for everybody gave one tool, beside itself, times that were 1.4 % apart (the standard deviation) in 20 rounds of four
//!   quarters of a second, and 5.5 % in 5 of seconds.
//! - Transfers past the cache are of one file into one memory, by both: what one takes depends on how many pieces of
//!   physical memory its buffer lies in, on virtual disks by a multiple, and that is chance.
//! - Tools print means, so a turn's figure is the mean of what was done in it, on both sides.
//! - A tool that is not installed is named; nothing is downloaded, and no figure of it is remembered.

mod memory;
mod tools;

use crate::bind::files::on_a_device;
use crate::error::{ErrorKind, KubError, Refused};
use crate::harness::{Instruments, Ratio, Stopwatch, SystemInstruments, Work, median};
use crate::numbers::{figure, nanoseconds};
use crate::own_folder::OwnFolder;
use crate::run::Place;
use crate::{bind, schedule, sync};
use gadus_machine::rise_above_others;
use memory::CommonMemory;
use std::path::Path;
use std::time::Duration;
use tools::Tool;

/// Rounds, each of two turns of both.
const ROUNDS: usize = 20;

/// How long a turn takes: of what stays on a processor, and of what waits for a device.
const TURN_OF_CALLS: Duration = Duration::from_millis(100);
const TURN_OF_TRANSFERS: Duration = Duration::from_millis(tools::TRANSFERS_MILLISECONDS);
const LEAD_OF_TRANSFERS: Duration = Duration::from_millis(tools::LEAD_MILLISECONDS);

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
    /// What one time takes by Kub, in nanoseconds: the median of the rounds.
    pub measured_ns: f64,
    /// The same by the tool.
    pub tool_ns: f64,
    /// How many times the tool's is Kub's: the median of the rounds'.
    pub ratio: Ratio,
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
        self.ratio.value - 1.0
    }

    /// Whether they agree.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.difference().abs() <= self.tolerance
    }
}

/// A contestant that a tool is, too.
struct Twin<'a> {
    what: &'static str,
    tolerance: f64,
    /// What both leave out at the beginning of a turn.
    lead: Duration,
    turn: Duration,
    work: Box<Begin<'a>>,
    tool: Tool,
}

/// How a contestant begins.
type Begin<'a> = dyn Fn(&Place) -> Result<Work<'static>, KubError> + Sync + 'a;

fn twins(memory: &CommonMemory) -> [Twin<'_>; 4] {
    [
        Twin {
            what: "a switch of threads by a pipe, on one processor",
            tolerance: CALLS,
            lead: Duration::ZERO,
            turn: TURN_OF_CALLS,
            work: Box::new(|place| Ok(schedule::by_pipe(place.here))),
            tool: tools::perf_pipe(),
        },
        Twin {
            what: "a system call by the C library",
            tolerance: CALLS,
            lead: Duration::ZERO,
            turn: TURN_OF_CALLS,
            work: Box::new(|_| Ok(Box::new(schedule::library_call))),
            tool: tools::perf_call(),
        },
        Twin {
            what: "a record of 4 KiB, overwritten, with fdatasync",
            tolerance: TRANSFERS,
            lead: LEAD_OF_TRANSFERS,
            turn: TURN_OF_TRANSFERS,
            work: Box::new(|place| Ok(sync::records_with_data_sync(&place.folder))),
            tool: tools::fio_records(sync::RECORDS_BYTES),
        },
        Twin {
            what: "64 MiB brought past the cache, 8 transfers of 64 KiB at a time",
            tolerance: TRANSFERS,
            lead: LEAD_OF_TRANSFERS,
            turn: TURN_OF_TRANSFERS,
            work: Box::new(|place| bind::transfers_by_ring(&place.folder, memory.map()?)),
            tool: tools::fio_scan(bind::TRANSFERRED_FILE, bind::TRANSFERRED_BYTES, &memory.name()),
        },
    ]
}

/// Measures contestants beside perf and fio, with files in a new folder in this one.
///
/// # Errors
/// When there is no processor to run on, or a contestant did not do its work.
pub fn check_beside_tools(folder: &Path) -> Result<Agreements, KubError> {
    let own = OwnFolder::make(folder);
    let mut place = Place::find(own.path())?;
    let mut found = Agreements::default();
    let memory = CommonMemory::create(bind::TRANSFERS_BYTES)?;
    for (number, twin) in twins(&memory).into_iter().enumerate() {
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

impl Twin<'_> {
    /// On a thread of its own, whose processor and priority are those of the tool, too.
    fn compare(&self, place: &Place) -> Result<Agreement, KubError> {
        let compared = std::thread::scope(|scope| {
            let compare = || {
                place.stay_here()?;
                rise_above_others();
                self.take_turns(place)
            };
            scope.spawn(compare).join().map_err(|_| KubError::broken("a comparison broke off"))
        });
        let (measured, tool) = compared??;
        Ok(Agreement {
            what: self.what.to_owned(),
            command: self.tool.command(),
            measured_ns: median(&measured),
            tool_ns: median(&tool),
            ratio: Ratio::of_pairs(&measured, &tool),
            tolerance: self.tolerance,
        })
    }

    /// The figures of all rounds, of both.
    fn take_turns(&self, place: &Place) -> Result<(Vec<f64>, Vec<f64>), KubError> {
        if self.tool.needs_files() {
            std::fs::metadata(&place.folder).or_refused("a folder for files")?;
            on_a_device(&place.folder)?;
        }
        let mut work = (self.work)(place)?;
        let mut ours = || {
            mean_of(&mut work, self.lead)?;
            mean_of(&mut work, self.turn)
        };
        let tools = || self.tool.run(&place.folder);
        // Once each before: files are made, and what is needed comes into memory.
        tools()?;
        ours()?;
        let (mut measured, mut said) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let [one, other] = if round % 2 == 0 {
                let first = tools()?;
                let both = [ours()?, ours()?];
                said.push(f64::midpoint(first, tools()?));
                both
            } else {
                let first = ours()?;
                said.push(f64::midpoint(tools()?, tools()?));
                [first, ours()?]
            };
            measured.push(f64::midpoint(one, other));
        }
        Ok((measured, said))
    }
}

/// What one time takes, in nanoseconds, of as many as are done in this time.
fn mean_of(work: &mut Work<'_>, turn: Duration) -> Result<f64, KubError> {
    /// Parts of a turn between two looks at the clock, at least.
    const LOOKS: u32 = 32;
    let instruments = SystemInstruments::new();
    let (mut times, mut took, mut at_once) = (0, Duration::ZERO, 1);
    while took < turn {
        let mut watch = Stopwatch::new(&instruments);
        let began = instruments.now();
        work(at_once, &mut watch)?;
        let now = instruments.now().saturating_sub(began).saturating_sub(watch.paused());
        (times, took) = (times + at_once, took + now);
        if now < turn / LOOKS {
            at_once *= 2;
        }
    }
    Ok(nanoseconds(took) / figure(times))
}

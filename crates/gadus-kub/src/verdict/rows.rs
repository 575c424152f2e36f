//! The six rows, and the rules of each.

use super::criteria::{USUAL, best_of_both, by_number, named};
use super::settings::{WORTH, certain};
use super::{Criterion, Domain, Row, Suitability};
use crate::domains::AVAILABLE;
use crate::numbers::figure_of;
use crate::report::{Benchmark, Origin, Report};

/// A fiber's switch is what the paper calls enough at a tenth of a thread's; so three times is excellent, and a
/// hundred times is what only who switches for every row would notice.
const SWITCH: [f64; 3] = [3.0, 10.0, 100.0];

/// With two thousand others there, a switch should cost what it costs without.
const CROWD: [f64; 3] = [1.25, 2.0, 5.0];

/// A share of services that is there, upside down so that less is better.
const SERVICES: [f64; 3] = [1.0, 4.0 / 3.0, 2.0];

/// What a row is made of before it is judged.
struct Draft {
    domain: Domain,
    paper: Suitability,
    criteria: Vec<(&'static str, Option<Criterion>)>,
    bound: Option<(String, Suitability)>,
}

pub(super) fn rows(report: &Report) -> Vec<Row> {
    let drafts = [
        buffer_pool(report),
        files(report),
        scheduling(report),
        communication(report),
        consistency(report),
        new_domains(report),
    ];
    drafts.into_iter().map(|draft| draft.judge(report)).collect()
}

fn buffer_pool(report: &Report) -> Draft {
    let pages = by_number(report, Benchmark::Bind, "read a row of a random page", "bytes", &[]);
    let largest = pages.last().map(|(_, cell)| *cell);
    let scan =
        |cached| by_number(report, Benchmark::Bind, "scan a file", "bytes", &[("cache", cached)]);
    let last = |cached| scan(cached).last().and_then(|(_, cell)| best_of_both(cell, USUAL));
    let rewrite =
        by_number(report, Benchmark::Bind, "rewrite a file", "bytes", &[("cache", "warm")]);
    let rewrite = rewrite.last().map(|(_, cell)| *cell);
    let pool = "own pool, hash table and clock";
    Draft {
        domain: Domain::BufferPool,
        paper: Suitability::Poor,
        criteria: vec![
            (
                "a mapped page beside one of a pool",
                largest.and_then(|c| named(c, "mapped", pool, USUAL)),
            ),
            (
                "a page read beside one of a pool",
                largest.and_then(|c| named(c, "read of the page", pool, USUAL)),
            ),
            ("a cold scan", last("cold")),
            ("a scan beside a hot set", replacement(report)),
            ("a file rewritten", rewrite.and_then(|cell| best_of_both(cell, USUAL))),
        ],
        bound: None,
    }
}

/// A device, above all a virtual one, may take more for a buffer that lies in many pieces of physical memory.
fn buffers_in_one_piece(report: &Report) -> Option<String> {
    let cells = by_number(report, Benchmark::Bind, "transfer a file", "bytes", &[]);
    let (_, cell) = cells.last()?;
    let (huge, usual) = ("O_DIRECT, io_uring, in huge pages", "O_DIRECT, io_uring, 8 at a time");
    let ratio = certain(cell, huge, usual)?;
    let value = ratio.value;
    (ratio.high <= 1.0 / WORTH).then(|| {
        format!("keep buffers of transfers past the cache in huge pages: {value:.2} times as long")
    })
}

/// What the kernel misses of a scan beside a hot set, and the best policy that does not know the future.
fn replacement(report: &Report) -> Option<Criterion> {
    let variables = [("pattern", "scan beside a hot set"), ("pages_per_frame", "2.00")];
    let kernel = report.cell(Benchmark::Replace, "the kernel's cache on a trace", &variables)?;
    let kernel = kernel.median_of("the kernel's cache")?;
    let own = report.cell(Benchmark::Replace, "policy on a trace", &variables)?;
    let own = own.measured.iter().filter(|measured| measured.who != "offline optimum");
    let own = own.min_by(|one, other| one.summary.median.total_cmp(&other.summary.median))?;
    let what = format!("misses of a scan beside a hot set: the kernel's cache beside {}", own.who);
    Some(Criterion::of(what, kernel / own.summary.median, None, USUAL, true))
}

fn files(report: &Report) -> Draft {
    let growth = report.cell(Benchmark::Locality, "grow by 1 MiB, then write there", &[]);
    let pieces = by_number(report, Benchmark::Locality, "scan 640 KiB, cold", "gap_bytes", &[]);
    let pieces = pieces
        .iter()
        .map(|(_, cell)| *cell)
        .max_by_key(|cell| cell.variable("pieces").and_then(|pieces| pieces.parse::<u64>().ok()));
    let by_turns = report.finding(
        Benchmark::Locality,
        "640 KiB written by turns with one interfering file, gaps of 4 KiB",
    );
    let found = by_turns.and_then(|found| found.split(' ').next()?.parse::<f64>().ok());
    let of_pieces = found.map(|pieces| {
        Criterion::of(
            "pieces of a file that was written by turns with another",
            pieces,
            None,
            USUAL,
            true,
        )
    });
    Draft {
        domain: Domain::Files,
        paper: Suitability::Good,
        criteria: vec![
            ("growth", growth.and_then(|cell| named(cell, "fallocate", "zeros written", USUAL))),
            ("a file in pieces", pieces.and_then(|c| named(c, "in pieces", "in one piece", USUAL))),
            ("pieces of files written by turns", of_pieces),
        ],
        bound: None,
    }
}

fn scheduling(report: &Report) -> Draft {
    let same = report.cell(Benchmark::Schedule, "switch", &[("processor", "same")]);
    let beside = |others: &str| {
        let variables = [("others", others), ("they_are", "asleep")];
        let cell = report.cell(Benchmark::Schedule, "switch beside others", &variables)?;
        Some((cell.median_of("threads, futex")?, cell.quiet))
    };
    let crowd = beside("0").zip(beside("2000")).map(|((alone, quiet), (crowd, also_quiet))| {
        let what = "a switch of threads beside 2,000 others asleep, and without them";
        Criterion::of(what, crowd / alone, None, CROWD, quiet && also_quiet)
    });
    let made = report.cell(Benchmark::Schedule, "make, run once, end", &[]);
    Draft {
        domain: Domain::Scheduling,
        paper: Suitability::VeryGood,
        criteria: vec![
            ("a switch", same.and_then(|cell| named(cell, "threads, futex", "fiber", SWITCH))),
            ("a switch in a crowd", crowd),
            ("making somebody who runs", made.and_then(|c| named(c, "thread", "fiber", SWITCH))),
        ],
        bound: None,
    }
}

fn communication(report: &Report) -> Draft {
    let echoes = by_number(report, Benchmark::Message, "echo", "bytes", &[("processor", "other")]);
    let modern = echoes.into_iter().filter(|(_, cell)| cell.origin == Origin::Modern);
    let criteria = modern.filter_map(|(_, cell)| {
        // A call leaves no process, and who spins keeps a processor: both sides give it away here while they wait.
        let user = cell.by("shared memory, futex")?;
        let kernel = cell.best(crate::report::Side::Kernel)?;
        let what = format!("{}: {} beside {}", cell.title(), kernel.who, user.who);
        Some(("an echo", Some(Criterion::between(what, kernel, user, cell, USUAL))))
    });
    let mut criteria = criteria.collect::<Vec<_>>();
    if criteria.is_empty() {
        criteria.push(("an echo between processes", None));
    }
    let paper = Suitability::Excellent;
    Draft { domain: Domain::Communication, paper, criteria, bound: None }
}

fn consistency(report: &Report) -> Draft {
    let lock = |mode: &str| {
        let cells = report.of(Benchmark::Lock);
        let mut cells = cells.filter(|cell| {
            cell.name == "acquire and release"
                && cell.variable("mode") == Some(mode)
                && cell.origin == Origin::Modern
        });
        named(cells.next()?, "file range, description", "own lock", USUAL)
    };
    let held = by_number(report, Benchmark::Lock, "a lock beside held ones", "held", &[]);
    let held = held
        .iter()
        .rev()
        .find_map(|(_, cell)| named(cell, "file range, description", "Gadus's lock table", USUAL));
    let beside = report.cell(Benchmark::Lock, "write lock beside a reader", &[]);
    // Once is enough: a log record that had to be there first was too late.
    let uninvited = ["idle", "under memory pressure"].into_iter().find_map(|when| {
        let found =
            report.finding(Benchmark::Sync, &format!("a changed page, never synced, {when}"));
        found.filter(|found| found.starts_with("on the device")).map(|found| (when, found))
    });
    let bound = uninvited.map(|(when, found)| {
        let what = format!("a changed page of a mapped file, never synced, was {found}, {when}");
        (what, Suitability::Poor)
    });
    Draft {
        domain: Domain::Consistency,
        paper: Suitability::Poor,
        criteria: vec![
            ("a read lock", lock("read")),
            ("a write lock", lock("write")),
            ("a lock beside many", held),
            ("a write lock beside a reader", beside.and_then(|cell| best_of_both(cell, USUAL))),
        ],
        bound,
    }
}

fn new_domains(report: &Report) -> Draft {
    let areas = ["security", "monitoring", "administration"];
    let criteria = areas.map(|area| {
        let prefix = format!("{area}: ");
        let tried = report.findings.iter().filter(|finding| {
            finding.benchmark == Benchmark::Domains && finding.what.starts_with(&prefix)
        });
        let tried = tried.collect::<Vec<_>>();
        let there = tried.iter().filter(|finding| finding.found == AVAILABLE).count();
        let criterion = (!tried.is_empty()).then(|| {
            let what = format!("{area}: {there} of {} services that were tried", tried.len());
            let ratio = figure_of(tried.len()) / figure_of(there);
            Criterion::of(what, ratio, None, SERVICES, true)
        });
        (area, criterion)
    });
    let paper = Suitability::VeryGood;
    Draft { domain: Domain::NewDomains, paper, criteria: criteria.to_vec(), bound: None }
}

impl Draft {
    fn judge(self, report: &Report) -> Row {
        let Self { domain, paper, criteria, bound } = self;
        let missing = criteria.iter().filter(|(_, criterion)| criterion.is_none());
        let missing = missing.map(|(name, _)| (*name).to_owned()).collect();
        let criteria = criteria.into_iter().filter_map(|(_, criterion)| criterion);
        let criteria = criteria.collect::<Vec<_>>();
        let middle = Suitability::middle(criteria.iter().map(|c| c.grade).collect());
        let suitability = match (middle, &bound) {
            (Some(middle), Some((_, allowed))) => Some(middle.min(*allowed)),
            (middle, _) => middle,
        };
        let why = why(suitability, &criteria, bound.as_ref());
        let besides = (domain == Domain::BufferPool).then(|| buffers_in_one_piece(report));
        let advice = std::iter::once(domain.advice(suitability).to_owned());
        let database = advice.chain(besides.flatten()).collect::<Vec<_>>().join("; ");
        let kernel = domain.improvements(&criteria, bound.is_some(), report);
        Row { domain, suitability, paper, criteria, bound, why, database, kernel, missing }
    }
}

/// What decided: the bound, or the criterion in the middle.
fn why(
    suitability: Option<Suitability>,
    criteria: &[Criterion],
    bound: Option<&(String, Suitability)>,
) -> String {
    let Some(suitability) = suitability else {
        return "nothing that it is judged by was measured".to_owned();
    };
    if let Some((what, allowed)) = bound
        && suitability == *allowed
    {
        return format!("{what}.");
    }
    let decided = criteria.iter().find(|criterion| criterion.grade == suitability);
    decided.map_or_else(String::new, |criterion| {
        let Criterion { what, ratio, is_certain, .. } = criterion;
        let certain = if *is_certain { "" } else { ", which is not certain" };
        match criterion.limits == SERVICES {
            true => format!("{what}."),
            false => format!("{what} costs {ratio:.2} times as much{certain}."),
        }
    })
}

impl Domain {
    /// What a database should do, by the suitability.
    fn advice(self, suitability: Option<Suitability>) -> &'static str {
        let leaves = suitability >= Some(Suitability::VeryGood);
        match (self, suitability, leaves) {
            (_, None, _) => "measure it",
            (Self::BufferPool, _, true) => {
                "map its files, where it need not say when they are written"
            }
            (Self::BufferPool, ..) => {
                "keep pages in a pool of its own, and read past the kernel's cache or into it"
            }
            (Self::Files, _, true) => {
                "use the file system's files, and allocate what it will need ahead"
            }
            (Self::Files, ..) => "allocate large extents inside few files itself",
            (Self::Scheduling, _, true) => "run statements on the kernel's threads",
            (Self::Scheduling, ..) => {
                "keep a few threads for statements, and switch between tasks itself"
            }
            (Self::Communication, _, true) => {
                "use the kernel's sockets, also between processes of one machine"
            }
            (Self::Communication, ..) => "use shared memory between processes of one machine",
            (Self::Consistency, _, true) => "use the kernel's locks",
            (Self::Consistency, ..) => {
                "bring its own lock table, and decide itself what is written when"
            }
            (Self::NewDomains, _, true) => "use the kernel's services",
            (Self::NewDomains, ..) => "bring what is missing, or say that it is",
        }
    }

    /// What the kernel should improve, by what was graded below very good.
    fn improvements(self, criteria: &[Criterion], is_bound: bool, report: &Report) -> Vec<String> {
        let low = criteria.iter().filter(|criterion| criterion.grade < Suitability::VeryGood);
        let mut wishes =
            low.map(|criterion| format!("make cheaper: {}", criterion.what)).collect::<Vec<_>>();
        if self == Self::NewDomains {
            let lacking = report.findings.iter().filter(|finding| {
                finding.benchmark == Benchmark::Domains && finding.found != AVAILABLE
            });
            wishes = lacking.map(|finding| format!("offer {}", finding.what)).collect();
        }
        if is_bound {
            wishes.push(
                "let a process keep a changed page from the disk until it says so".to_owned(),
            );
        }
        wishes
    }
}

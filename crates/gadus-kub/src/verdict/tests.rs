//! What follows from made reports is what the rules say.

use super::*;
use crate::report::{Benchmark, Cell, Finding, Origin, Side, sample};

fn cell(
    benchmark: Benchmark,
    name: &str,
    variables: &[(&str, &str)],
    kernel: (&str, f64),
    user: (&str, f64),
) -> Cell {
    let around = |figure: f64| [figure * 0.99, figure, figure * 1.01, figure];
    let (kernel_rounds, user_rounds) = (around(kernel.1), around(user.1));
    let contestants =
        [(user.0, Side::User, &user_rounds[..]), (kernel.0, Side::Kernel, &kernel_rounds[..])];
    Cell { origin: Origin::Modern, ..sample::cell(benchmark, name, variables, &contestants) }
}

fn lock(mode: &str, ratio: f64) -> Cell {
    let kernel = ("file range, description", 4.0 * ratio);
    cell(Benchmark::Lock, "acquire and release", &[("mode", mode)], kernel, ("own lock", 4.0))
}

fn row(cells: Vec<Cell>, domain: Domain, findings: &[(&str, &str)]) -> Row {
    let mut report = sample::report(cells);
    report.findings = findings
        .iter()
        .map(|(what, found)| Finding {
            benchmark: if domain == Domain::NewDomains {
                Benchmark::Domains
            } else {
                Benchmark::Sync
            },
            what: (*what).to_owned(),
            found: (*found).to_owned(),
        })
        .collect();
    judge(&report).rows.into_iter().find(|row| row.domain == domain).unwrap()
}

#[test]
fn a_ratio_is_graded_by_the_limits_that_are_stated() {
    let by = |ratio| Suitability::by(ratio, [1.25, 2.0, 10.0]);
    assert_eq!([by(0.5), by(1.25)], [Suitability::Excellent; 2]);
    assert_eq!([by(1.26), by(2.0)], [Suitability::VeryGood; 2]);
    assert_eq!([by(2.1), by(10.0)], [Suitability::Good; 2]);
    assert_eq!([by(10.1), by(f64::INFINITY), by(f64::NAN)], [Suitability::Poor; 3]);
}

#[test]
fn a_row_is_the_middle_of_its_grades_and_of_two_the_worse() {
    use Suitability::{Excellent, Good, Poor, VeryGood};
    assert_eq!(Suitability::middle(vec![Excellent, Poor, VeryGood]), Some(VeryGood));
    assert_eq!(Suitability::middle(vec![Excellent, Poor]), Some(Poor));
    assert_eq!(Suitability::middle(vec![Good, VeryGood, Excellent, Excellent]), Some(VeryGood));
    assert_eq!(Suitability::middle(Vec::new()), None);
}

#[test]
fn dear_locks_are_poor_and_cheap_ones_are_not() {
    let dear = row(vec![lock("read", 270.0), lock("write", 270.0)], Domain::Consistency, &[]);
    assert_eq!(dear.suitability, Some(Suitability::Poor));
    assert!(dear.why.contains("270.00 times"), "{}", dear.why);
    assert_eq!(dear.kernel.len(), 2);
    assert_eq!(dear.missing, ["a lock beside many", "a write lock beside a reader"]);
    let cheap = row(vec![lock("read", 1.1), lock("write", 1.2)], Domain::Consistency, &[]);
    assert_eq!(cheap.suitability, Some(Suitability::Excellent));
    assert!(cheap.criteria.iter().all(|criterion| criterion.is_certain));
}

#[test]
fn buffers_belong_in_huge_pages_where_transfers_into_them_are_certainly_shorter() {
    let advice = |huge: f64| {
        let contestants = [
            ("O_DIRECT, io_uring, 8 at a time", Side::User, &[40e6, 41e6, 40e6, 42e6][..]),
            ("O_DIRECT, io_uring, in huge pages", Side::User, &[huge, huge, huge, huge * 1.01][..]),
        ];
        let cell =
            sample::cell(Benchmark::Bind, "transfer a file", &[("bytes", "1024")], &contestants);
        row(vec![Cell { origin: Origin::Modern, ..cell }], Domain::BufferPool, &[]).database
    };
    assert!(advice(14e6).contains("in huge pages: 0.35 times as long"), "{}", advice(14e6));
    assert_eq!(advice(39e6), "measure it");
}

#[test]
fn pages_that_are_written_uninvited_make_consistency_poor_however_cheap_locks_are() {
    let findings = [("a changed page, never synced, idle", "on the device after 34 s")];
    let bound = row(vec![lock("read", 1.1)], Domain::Consistency, &findings);
    assert_eq!(bound.suitability, Some(Suitability::Poor));
    assert!(bound.why.contains("34 s, idle"), "{}", bound.why);
    let pressed =
        [("a changed page, never synced, under memory pressure", "on the device after 0.15 s")];
    let bound = row(vec![lock("read", 1.1)], Domain::Consistency, &pressed);
    assert_eq!(bound.suitability, Some(Suitability::Poor));
    let kept = [("a changed page, never synced, idle", "not on the device within 75 s")];
    let free = row(vec![lock("read", 1.1)], Domain::Consistency, &kept);
    assert_eq!(free.suitability, Some(Suitability::Excellent));
}

#[test]
fn nothing_is_judged_by_what_was_not_measured() {
    for row in judge(&sample::report(Vec::new())).rows {
        assert_eq!(row.suitability, None, "{:?}", row.domain);
        assert!(!row.missing.is_empty());
        assert_eq!(row.database, "measure it");
    }
}

#[test]
fn what_is_near_a_limit_or_was_not_quiet_is_not_certain() {
    let mut near = lock("read", 2.0);
    near.measured[1].rounds = vec![7.0, 9.0, 7.5, 8.0];
    let criterion = |cell: Cell| row(vec![cell], Domain::Consistency, &[]).criteria[0].clone();
    assert!(!criterion(near.clone()).is_certain);
    near = lock("read", 1.5);
    assert!(criterion(near.clone()).is_certain);
    near.quiet = false;
    assert!(!criterion(near).is_certain);
}

#[test]
fn services_are_judged_by_what_was_tried() {
    let findings = [
        ("security: one", "available"),
        ("security: two", "available"),
        ("monitoring: one", "available"),
        ("monitoring: two", "not available: refused"),
    ];
    let judged = row(Vec::new(), Domain::NewDomains, &findings);
    assert_eq!(judged.criteria[0].grade, Suitability::Excellent);
    assert_eq!(judged.criteria[1].grade, Suitability::Good);
    assert_eq!(judged.suitability, Some(Suitability::Good));
    assert_eq!(judged.kernel, ["offer monitoring: two"]);
}

#[test]
fn a_setting_follows_only_from_a_difference_that_is_certain() {
    let variables = [("bytes", "4096"), ("room", "overwritten")];
    let durable = |open: f64| {
        let usual = ("write, fdatasync", 100.0);
        cell(Benchmark::Sync, "a record made durable", &variables, ("write, O_DSYNC", open), usual)
    };
    let setting = |cell: Cell| {
        let settings = judge(&sample::report(vec![cell])).settings;
        let of = settings.into_iter().find(|advice| advice.why.contains("fdatasync"));
        of.unwrap().answer().to_owned()
    };
    assert_eq!(setting(durable(50.0)), "wal_sync_method = open_datasync");
    assert_eq!(setting(durable(99.0)), "no setting needed");
    let mut loud = durable(50.0);
    loud.quiet = false;
    assert_eq!(setting(loud), "not known");
}

#[test]
fn crossovers_name_the_cheapest_way_by_size() {
    let echo = |bytes: &str, kernel: &str| {
        let variables = [("bytes", bytes), ("processor", "other")];
        let user = ("shared memory, futex", 10.0);
        cell(Benchmark::Message, "echo", &variables, (kernel, 20.0), user)
    };
    let cells = vec![echo("65536", "pipe"), echo("64", "Unix stream"), echo("4096", "Unix stream")];
    let found = judge(&sample::report(cells)).crossovers;
    assert_eq!(found[0], "from 64 B to 4.0 KiB the kernel's cheapest: Unix stream");
    assert_eq!(found[1], "at 64.0 KiB the kernel's cheapest: pipe");
}

#[test]
fn the_kernels_replacement_is_compared_with_the_best_policy_that_does_not_know_the_future() {
    let variables = [("pattern", "scan beside a hot set"), ("pages_per_frame", "2.00")];
    let count = |name: &str, contestants: &[(&str, Side, &[f64])]| {
        sample::cell(Benchmark::Replace, name, &variables, contestants)
    };
    let own = [
        ("offline optimum", Side::User, &[300.0][..]),
        ("LRU", Side::User, &[540.0][..]),
        ("2Q", Side::User, &[400.0][..]),
    ];
    let kernel = [("the kernel's cache", Side::Kernel, &[600.0][..])];
    let cells =
        vec![count("policy on a trace", &own), count("the kernel's cache on a trace", &kernel)];
    let judged = row(cells, Domain::BufferPool, &[]);
    assert_eq!(judged.criteria.len(), 1);
    assert_eq!(judged.criteria[0].ratio, 1.5);
    assert!(judged.criteria[0].what.ends_with("beside 2Q"), "{}", judged.criteria[0].what);
}

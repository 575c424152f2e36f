//! A kernel that denies what containers are often denied, and lacks what it may be built without: rings, huge pages,
//! memory of other processes, semaphores of System V.

#![allow(unsafe_code)] // there is no safe call that sets a filter

use gadus_kub::{Benchmark, Budget, Report, Settings, run};
use std::fs;
use std::path::Path;

/// What of it a filter looks at: the call's number and the low half of the third argument, on little-endian machines.
const NUMBER: u32 = 0;
const THIRD_ARGUMENT: u32 = 32;

/// Instructions of a filter.
const LOAD: u16 = 0x20;
const SKIP_IF_OTHER: u16 = 0x15;
const RETURN: u16 = 0x06;

fn step(code: u16, skip_if_other: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: skip_if_other, k }
}

/// Denies these calls to the calling thread and those that it starts, with an error each; and advice of huge pages, as
/// kernels without them do. Says whether it could.
fn deny(calls: &[(libc::c_long, i32)]) -> bool {
    let refuse = |error: i32| step(RETURN, 0, libc::SECCOMP_RET_ERRNO | error.unsigned_abs());
    let number = |call: libc::c_long| u32::try_from(call).unwrap();
    let mut filter = vec![step(LOAD, 0, NUMBER)];
    for (call, error) in calls {
        filter.extend([step(SKIP_IF_OTHER, 1, number(*call)), refuse(*error)]);
    }
    filter.extend([
        step(SKIP_IF_OTHER, 3, number(libc::SYS_madvise)),
        step(LOAD, 0, THIRD_ARGUMENT),
        step(SKIP_IF_OTHER, 1, libc::MADV_HUGEPAGE.unsigned_abs()),
        refuse(libc::EINVAL),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ]);
    let length = u16::try_from(filter.len()).unwrap();
    let program = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    // SAFETY: passes numbers only.
    let may = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    // SAFETY: the kernel copies the program, which is there for the call.
    may && unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    } == 0
}

/// Measures under a filter, each benchmark in a run of its own, so that a slow machine has time for all; none where
/// filters are not permitted.
fn reports_under(
    calls: &[(libc::c_long, i32)],
    only: &[Benchmark],
    folder: &Path,
) -> Option<Vec<Report>> {
    let measured = std::thread::scope(|scope| {
        let denied = scope.spawn(|| {
            let settings = Settings::new(folder).budget(Budget::Quick);
            let measure = |benchmark| run(&settings.clone().only([benchmark]), |_| {}).unwrap();
            deny(calls).then(|| only.iter().copied().map(measure).collect())
        });
        denied.join().unwrap()
    });
    if measured.is_none() {
        println!("skipped: this kernel sets no filters");
    }
    measured
}

/// Contestants and contests that did not take part for a reason that says this.
fn skipped<'a>(reports: &'a [Report], why: &str) -> Vec<&'a str> {
    let all = reports.iter().flat_map(|report| &report.skipped);
    let of = all.filter(|skipped| skipped.why.contains(why));
    of.map(|skipped| skipped.what.as_str()).collect()
}

#[test]
fn what_is_denied_is_named_and_the_rest_is_measured() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let calls = [
        (libc::SYS_io_uring_setup, libc::EPERM),
        (libc::SYS_io_uring_enter, libc::EPERM),
        (libc::SYS_io_uring_register, libc::EPERM),
        (libc::SYS_process_vm_readv, libc::EPERM),
        (libc::SYS_semget, libc::ENOSYS),
    ];
    let only = [Benchmark::Bind, Benchmark::Message, Benchmark::Lock];
    let Some(reports) = reports_under(&calls, &only, folder.path()) else { return };
    let rings = skipped(&reports, "io_uring: Operation not permitted");
    assert!(rings.iter().any(|what| what.ends_with("warm: io_uring, registered buffers")));
    assert!(rings.iter().any(|what| what.ends_with("TCP, io_uring without a copy")), "{rings:?}");
    let huge = skipped(&reports, "madvise: Invalid argument");
    for what in ["mapped, huge pages", "O_DIRECT, io_uring, in huge pages"] {
        assert!(huge.iter().any(|skipped| skipped.ends_with(what)), "{what}: {huge:?}");
    }
    let memory = skipped(&reports, "process_vm_readv: Operation not permitted");
    assert!(memory.len() >= 3, "{memory:?}");
    let semaphores = skipped(&reports, "a semaphore of System V");
    assert_eq!(semaphores.len(), 2, "{semaphores:?}");
    for (name, who) in [
        ("use a part of a file and give it up", "mapped and unmapped"),
        ("use a part of a file and give it up", "read into a buffer"),
        ("echo", "Unix stream"),
        ("echo", "shared memory, futex"),
        ("a lock whose holder is killed", "flock"),
    ] {
        let mut cells = reports.iter().flat_map(|report| &report.cells);
        assert!(cells.any(|cell| cell.name == name && cell.by(who).is_some()), "{name}: {who}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

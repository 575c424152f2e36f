//! The services, and a trial of each.

use super::{Area, Probe};
use crate::error::{KubError, Refused};
use crate::system::{count_own_time, landlock_version, unwritten_pages};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::net::sockopt;
use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, pidfd_open, setrlimit};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

pub(super) const ALL: &[Probe] = &[
    Probe { area: Area::Security, name: "who is at the other end of a socket", attempt: peer },
    Probe { area: Area::Security, name: "memory that is sealed against writers", attempt: sealed },
    Probe { area: Area::Security, name: "giving up access to files (Landlock)", attempt: landlock },
    Probe { area: Area::Security, name: "randomness", attempt: randomness },
    Probe { area: Area::Monitoring, name: "who waits for what (pressure)", attempt: pressure },
    Probe { area: Area::Monitoring, name: "what the page cache has of a file", attempt: cached },
    Probe { area: Area::Monitoring, name: "transfers of a process", attempt: transfers },
    Probe { area: Area::Monitoring, name: "memory of a process, shared in parts", attempt: memory },
    Probe { area: Area::Monitoring, name: "counters of a process (perf)", attempt: counters },
    Probe { area: Area::Administration, name: "limits of a process", attempt: limits },
    Probe { area: Area::Administration, name: "processors of a thread", attempt: processors },
    Probe { area: Area::Administration, name: "the death of a process, as a file", attempt: pidfd },
    Probe { area: Area::Administration, name: "a control group's memory", attempt: group },
    Probe { area: Area::Administration, name: "a control group of its own", attempt: own_group },
];

fn peer() -> Result<(), KubError> {
    let (one, _other) = UnixStream::pair().or_refused("a Unix socket")?;
    sockopt::socket_peercred(&one).map(drop).or_refused("SO_PEERCRED")
}

fn sealed() -> Result<(), KubError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = memfd_create("kub", flags).or_refused("memfd_create")?;
    fcntl_add_seals(&memory, SealFlags::WRITE | SealFlags::GROW).or_refused("F_ADD_SEALS")?;
    match rustix::io::write(&memory, &[1]) {
        Err(_) => Ok(()),
        Ok(_) => Err(KubError::unavailable("a sealed memory was written to")),
    }
}

fn landlock() -> Result<(), KubError> {
    landlock_version().map(drop)
}

fn randomness() -> Result<(), KubError> {
    let mut file = fs::File::open("/dev/urandom").or_refused("/dev/urandom")?;
    std::io::Read::read_exact(&mut file, &mut [0; 16]).or_refused("/dev/urandom")
}

fn pressure() -> Result<(), KubError> {
    for resource in ["cpu", "memory", "io"] {
        let path = format!("/proc/pressure/{resource}");
        fs::read_to_string(&path).or_refused(&path)?;
    }
    Ok(())
}

fn cached() -> Result<(), KubError> {
    let memory = memfd_create("kub", MemfdFlags::CLOEXEC).or_refused("memfd_create")?;
    unwritten_pages(memory.as_fd()).map(drop)
}

fn transfers() -> Result<(), KubError> {
    has("/proc/self/io", "read_bytes")
}

fn memory() -> Result<(), KubError> {
    has("/proc/self/smaps_rollup", "Pss:")
}

fn has(path: &str, what: &str) -> Result<(), KubError> {
    let text = fs::read_to_string(path).or_refused(path)?;
    match text.contains(what) {
        true => Ok(()),
        false => Err(KubError::unavailable(format!("{path} has no {what}"))),
    }
}

fn counters() -> Result<(), KubError> {
    count_own_time()
}

fn limits() -> Result<(), KubError> {
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, now).or_refused("setrlimit")
}

fn processors() -> Result<(), KubError> {
    let now = rustix::thread::sched_getaffinity(None).or_refused("sched_getaffinity")?;
    rustix::thread::sched_setaffinity(None, &now).or_refused("sched_setaffinity")
}

fn pidfd() -> Result<(), KubError> {
    pidfd_open(getpid(), PidfdFlags::empty()).map(drop).or_refused("pidfd_open")
}

fn group() -> Result<(), KubError> {
    let limits = gadus_machine::Limits::of_this_process();
    match limits.memory_given() {
        Some(_) => Ok(()),
        None => Err(KubError::unavailable("no limit and no total is told")),
    }
}

/// Made in the process's own group, where that is mounted, and removed.
fn own_group() -> Result<(), KubError> {
    let groups = fs::read_to_string("/proc/self/cgroup").or_refused("/proc/self/cgroup")?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let path =
        path.ok_or_else(|| KubError::unavailable("there is no version 2 of control groups"))?;
    let mounts = fs::read_to_string("/proc/self/mounts").or_refused("/proc/self/mounts")?;
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (place, kind) = (words.nth(1)?, words.next()?);
        (kind == "cgroup2").then(|| place.to_owned())
    });
    let mount = mount.ok_or_else(|| KubError::unavailable("no control groups are mounted"))?;
    let own = format!("{mount}{path}/gadus-kub-{}", std::process::id());
    fs::create_dir(&own).or_refused("a control group cannot be made")?;
    fs::remove_dir(&own).or_refused("a control group cannot be removed")
}

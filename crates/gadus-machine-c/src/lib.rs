//! The machine's knowledge for C: `include/gadus_machine.h` says what each function does.
//!
//! - Nothing here but conversions; a panic becomes an error, and never reaches the caller's frames.

#![allow(unsafe_code)] // C's pointers; each function says what it takes for granted

mod error;

use error::{Result, last, made, number};
use gadus_base::ByteCount;
use gadus_machine::{
    Bandwidth, Bound, CacheSharing, PARTITIONS_MAX, Request, State, Topology, cache_size,
    measure_bandwidth, partitions, place,
};
use std::error::Error;
use std::ffi::{CStr, c_char, c_int};
use std::time::Duration;

/// A machine, and what is left of it for one more program.
#[derive(Debug)]
pub struct Machine {
    topology: Topology,
    state: State,
    /// What memory gives, where somebody has said or measured it.
    bandwidth: Option<Bandwidth>,
    is_here: bool,
}

/// Where a partition goes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Place {
    core: u32,
    processor: u32,
    node: i32,
}

/// See `include/gadus_machine.h`.
#[unsafe(no_mangle)]
pub extern "C" fn gadus_machine_discover() -> *mut Machine {
    made(|| Ok(Machine::of(Topology::discover()?, true)))
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `path` is a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_from_file(path: *const c_char) -> *mut Machine {
    made(|| {
        if path.is_null() {
            return Err("there is no path".into());
        }
        // SAFETY: the caller gives a string.
        let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
        let xml = std::fs::read_to_string(&*path).map_err(|error| format!("{path}: {error}"))?;
        Ok(Machine::of(Topology::from_xml(&xml, &path)?, false))
    })
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` comes from one of the two above, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_free(machine: *mut Machine) {
    if !machine.is_null() {
        // SAFETY: it was made by a box, and the caller gives it back.
        drop(unsafe { Box::from_raw(machine) });
    }
}

/// See `include/gadus_machine.h`.
#[unsafe(no_mangle)]
pub extern "C" fn gadus_machine_error() -> *const c_char {
    last()
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one, used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_observe(machine: *mut Machine, milliseconds: u32) -> c_int {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_mut() };
    done(|| {
        let machine = machine.ok_or_else(no_machine)?;
        if !machine.is_here {
            return Err("only this machine can be observed".into());
        }
        let time = Duration::from_millis(u64::from(milliseconds));
        machine.state = State::observe(&machine.topology, time)?;
        Ok(())
    })
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one, used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_load(machine: *mut Machine, core: u32, load: f64) -> c_int {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_mut() };
    done(|| Ok(machine.ok_or_else(no_machine)?.state.load(core as usize, load)?))
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one, used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_take(machine: *mut Machine, node: u32, bytes: u64) -> c_int {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_mut() };
    done(|| {
        let machine = machine.ok_or_else(no_machine)?;
        Ok(machine.state.take(&machine.topology, node, ByteCount(bytes))?)
    })
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one, used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_bandwidth(
    machine: *mut Machine,
    thread: f64,
    node: f64,
) -> c_int {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_mut() };
    done(|| {
        let machine = machine.ok_or_else(no_machine)?;
        if ![thread, node].iter().all(|rate| rate.is_finite() && *rate > 0.0) {
            return Err("a thread and a node give more than nothing of memory".into());
        }
        machine.bandwidth = Some(Bandwidth { thread, node });
        Ok(())
    })
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one, used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_measure_bandwidth(
    machine: *mut Machine,
    milliseconds: u32,
) -> c_int {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_mut() };
    done(|| {
        let machine = machine.ok_or_else(no_machine)?;
        if !machine.is_here {
            return Err("only this machine's memory can be measured".into());
        }
        let time = Duration::from_millis(u64::from(milliseconds));
        machine.bandwidth = Some(measure_bandwidth(&machine.topology, time)?);
        Ok(())
    })
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_cores(machine: *const Machine) -> i64 {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_ref() };
    number(|| Ok(machine.ok_or_else(no_machine)?.topology.cores.len() as u64))
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_cache_size(machine: *const Machine, level: u32) -> i64 {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_ref() };
    number(|| Ok(cache_size(&machine.ok_or_else(no_machine)?.topology, level)?.0))
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_partitions(
    machine: *const Machine,
    bytes: u64,
    bound: c_int,
) -> i64 {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_ref() };
    number(|| {
        let Machine { topology, state, bandwidth, .. } = machine.ok_or_else(no_machine)?;
        let best = partitions(topology, state, ByteCount(bytes), bound_of(bound)?, *bandwidth)?;
        Ok(best.count as u64)
    })
}

/// See `include/gadus_machine.h`.
///
/// # Safety
/// `machine` is one, and `places` has room for `mappings` times `partitions`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gadus_machine_allocate(
    machine: *const Machine,
    partitions: u32,
    bytes_each: u64,
    bound: c_int,
    sharing: c_int,
    places: *mut Place,
    mappings: u32,
) -> i64 {
    // SAFETY: as the caller says.
    let machine = unsafe { machine.as_ref() };
    number(|| {
        let Machine { topology, state, .. } = machine.ok_or_else(no_machine)?;
        if places.is_null() || mappings == 0 {
            return Err("there is no room for a mapping".into());
        }
        // A request lists them all.
        if partitions as usize > PARTITIONS_MAX {
            return Err(format!("at most {PARTITIONS_MAX} partitions are placed").into());
        }
        let request = Request {
            bound: bound_of(bound)?,
            cache_sharing: sharing_of(sharing)?,
            mappings: mappings as usize,
            ..Request::of_equal(partitions as usize, ByteCount(bytes_each))
        };
        let found = place(topology, state, &request)?;
        let all = found.iter().take(mappings as usize).flat_map(|mapping| &mapping.places);
        for (at, one) in all.enumerate() {
            let node = one.node.and_then(|node| topology.nodes.get(node));
            let core = &topology.cores[one.core];
            let place = Place {
                core: u32::try_from(one.core).unwrap_or(u32::MAX),
                processor: core.cpus.first().unwrap_or(u32::MAX),
                node: node.and_then(|node| i32::try_from(node.number).ok()).unwrap_or(-1),
            };
            // SAFETY: no more than `mappings` times `partitions` are written, for which there is room.
            unsafe { places.add(at).write(place) };
        }
        Ok(found.len().min(mappings as usize) as u64)
    })
}

impl Machine {
    fn of(topology: Topology, is_here: bool) -> Self {
        Self { state: State::idle(&topology), topology, bandwidth: None, is_here }
    }
}

/// What C wants of a function that only does something.
fn done(body: impl FnOnce() -> Result<()>) -> c_int {
    if number(|| body().map(|()| 0)) == 0 { 0 } else { -1 }
}

fn no_machine() -> Box<dyn Error> {
    "there is no machine".into()
}

fn bound_of(bound: c_int) -> Result<Bound> {
    match bound {
        0 => Ok(Bound::Compute),
        1 => Ok(Bound::Memory),
        _ => Err(format!("there is no bound {bound}").into()),
    }
}

fn sharing_of(sharing: c_int) -> Result<CacheSharing> {
    match sharing {
        0 => Ok(CacheSharing::Any),
        1 => Ok(CacheSharing::Avoid),
        2 => Ok(CacheSharing::Want),
        _ => Err(format!("there is no way {sharing} to share caches").into()),
    }
}

//! Images of the trace are exactly the disks that a crash can leave.

use gadus_block::{CrashPolicy, Device, Folder, MemoryFolder, OpenMode, Trace, TracedFolder};
use std::collections::BTreeSet;
use std::io::IoSlice;
use std::sync::Arc;

fn traced() -> (TracedFolder, Trace, Arc<dyn Device>) {
    let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
    let device = folder.open("x", OpenMode::Create).unwrap();
    folder.sync().unwrap();
    (folder, trace, device)
}

fn write(device: &Arc<dyn Device>, offset: u64, bytes: &[u8]) {
    device.write_at(offset, &[IoSlice::new(bytes)]).unwrap();
}

fn image(trace: &Trace, policy: CrashPolicy) -> Option<Vec<u8>> {
    trace.image(trace.len(), policy).snapshot().remove("x")
}

#[test]
fn a_sync_covers_what_came_before_it() {
    let (_folder, trace, device) = traced();
    write(&device, 0, b"synced");
    device.sync().unwrap();
    write(&device, 0, b"cached");
    assert_eq!(image(&trace, CrashPolicy::DropUnsynced).unwrap(), b"synced");
    assert_eq!(image(&trace, CrashPolicy::KeepAll).unwrap(), b"cached");
    let before = trace.image(trace.len() - 2, CrashPolicy::DropUnsynced).snapshot();
    assert_eq!(before["x"], b"", "an earlier point can be asked for after a later one");
}

#[test]
fn an_unsynced_name_may_be_missing() {
    let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
    let device = folder.open("x", OpenMode::Create).unwrap();
    write(&device, 0, b"synced");
    device.sync().unwrap();
    assert_eq!(image(&trace, CrashPolicy::DropUnsynced), None);
    folder.sync().unwrap();
    assert_eq!(image(&trace, CrashPolicy::DropUnsynced).unwrap(), b"synced");
    folder.remove("x").unwrap();
    assert_eq!(image(&trace, CrashPolicy::DropUnsynced).unwrap(), b"synced");
    assert_eq!(image(&trace, CrashPolicy::KeepAll), None);
}

#[test]
fn unsynced_writes_survive_in_any_combination() {
    let (_folder, trace, device) = traced();
    write(&device, 0, b"....");
    device.sync().unwrap();
    write(&device, 0, b"A");
    write(&device, 1, b"B");
    write(&device, 0, b"C");
    device.set_length(8).unwrap();
    let seen: BTreeSet<Vec<u8>> =
        (0..400).map(|seed| image(&trace, CrashPolicy::Random { seed }).unwrap()).collect();
    let mut possible = BTreeSet::new();
    for first in [b'.', b'A', b'C'] {
        for second in [b'.', b'B'] {
            for tail in [&b""[..], &[0; 4]] {
                possible.insert([&[first, second, b'.', b'.'], tail].concat());
            }
        }
    }
    assert_eq!(seen, possible);
}

#[test]
fn torn_writes_tear_at_sectors() {
    let (_folder, trace, device) = traced();
    device.set_length(2048).unwrap();
    device.sync().unwrap();
    write(&device, 100, &[1; 1500]);
    let patterns: BTreeSet<Vec<u8>> = (0..600)
        .map(|seed| {
            let bytes = image(&trace, CrashPolicy::Random { seed }).unwrap();
            for sector in bytes[512..1536].chunks(512) {
                assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is never torn");
            }
            vec![bytes[100], bytes[512], bytes[1024], bytes[1536]]
        })
        .collect();
    assert_eq!(patterns.len(), 16, "each sector is kept or lost by itself");
}

#[test]
fn what_was_there_before_the_trace_is_durable() {
    let inner = MemoryFolder::new();
    write(&inner.open("x", OpenMode::Create).unwrap(), 0, b"before");
    let (folder, trace) = TracedFolder::new(Arc::new(inner));
    let device = folder.open("x", OpenMode::ReadWrite).unwrap();
    write(&device, 0, b"after!");
    assert_eq!(image(&trace, CrashPolicy::DropUnsynced).unwrap(), b"before");
}

#[test]
fn the_same_seed_gives_the_same_image() {
    let (_folder, trace, device) = traced();
    (0..20).for_each(|index| write(&device, index * 300, &[1; 600]));
    let policy = CrashPolicy::Random { seed: 3 };
    let end = trace.len();
    let first = trace.image(end, policy).snapshot();
    let _other = trace.image(2, CrashPolicy::KeepAll);
    assert_eq!(trace.image(end, policy).snapshot(), first);
}

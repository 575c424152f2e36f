//! One contract, kept by every back-end, by every filter over every back-end, and by stacks.

use gadus_base::Random;
use gadus_block::{
    AlignedBuffer, Delays, Device, ErrorKind, FaultPlan, FaultyFolder, Fence, FileFolder, Folder,
    Hint, HookedFolder, MemoryFolder, OWNER_SLOTS_MAX, OpenMode, Request, SmallFolder,
    ThrottledFolder, TracedFolder, Transfer,
};
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

/// What a folder promises; each is run on every stack.
const CONTRACT: &[(&str, Fact)] = &[
    ("names_are_created_found_and_removed", names_are_created_found_and_removed),
    (
        "a_device_is_told_from_others_whatever_its_name",
        a_device_is_told_from_others_whatever_its_name,
    ),
    ("pieces_are_written_in_order", pieces_are_written_in_order),
    ("lengths_grow_with_zeros_and_shrink", lengths_grow_with_zeros_and_shrink),
    ("a_read_past_the_end_fails", a_read_past_the_end_fails),
    ("reading_devices_refuse_writes", reading_devices_refuse_writes),
    ("an_owner_excludes_all_others", an_owner_excludes_all_others),
    ("sharers_exclude_owners_only", sharers_exclude_owners_only),
    ("slots_are_fenced_until_dropped", slots_are_fenced_until_dropped),
    ("an_owner_of_all_slots_can_keep_one", an_owner_of_all_slots_can_keep_one),
    (
        "who_waits_for_the_turn_gets_it_with_the_slots_when_its_holder_goes",
        who_waits_for_the_turn_gets_it_with_the_slots_when_its_holder_goes,
    ),
    ("a_turn_ends_and_its_slots_are_kept", a_turn_ends_and_its_slots_are_kept),
    ("a_queue_gives_every_buffer_back", a_queue_gives_every_buffer_back),
    ("pooled_buffers_are_aligned_and_return", pooled_buffers_are_aligned_and_return),
    ("hints_and_discards_keep_other_bytes", hints_and_discards_keep_other_bytes),
    ("random_operations_equal_a_plain_vector", random_operations_equal_a_plain_vector),
    ("bad_names_are_refused", bad_names_are_refused),
];

type Fact = fn(&dyn Folder);
type Wrap = fn(Arc<dyn Folder>) -> Arc<dyn Folder>;

const FILTERS: &[(&str, Wrap)] = &[
    ("plain", |inner| inner),
    ("hooked", |inner| Arc::new(HookedFolder::before_each(inner, |_| ()))),
    ("faulty", |inner| Arc::new(FaultyFolder::new(inner, FaultPlan::new()))),
    ("small", |inner| Arc::new(SmallFolder::new(inner, 1 << 30))),
    ("throttled", |inner| {
        let sync = Duration::from_micros(200);
        Arc::new(ThrottledFolder::new(inner, Delays { sync, ..Delays::default() }))
    }),
    ("traced", |inner| Arc::new(TracedFolder::new(inner).0)),
];

fn run_contract(make: impl Fn() -> Arc<dyn Folder>) {
    for (outer_name, outer) in FILTERS {
        for (inner_name, inner) in FILTERS {
            for (fact, check) in CONTRACT {
                println!("{outer_name} over {inner_name}: {fact}");
                check(&*outer(inner(make())));
            }
        }
    }
}

#[test]
fn memory_keeps_the_contract_under_all_filters() {
    run_contract(|| Arc::new(MemoryFolder::new()));
}

#[test]
fn files_keep_the_contract_under_all_filters() {
    let root = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    run_contract(|| {
        count.set(count.get() + 1);
        let path = root.path().join(count.get().to_string());
        std::fs::create_dir(&path).unwrap();
        Arc::new(FileFolder::new(path))
    });
}

fn create(folder: &dyn Folder) -> Arc<dyn Device> {
    folder.open("device", OpenMode::Create).unwrap()
}

fn read(device: &dyn Device, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0xEE; length];
    device.read_at(offset, &mut bytes).unwrap();
    bytes
}

fn write(device: &dyn Device, offset: u64, bytes: &[u8]) {
    device.write_at(offset, &[IoSlice::new(bytes)]).unwrap();
}

fn names_are_created_found_and_removed(folder: &dyn Folder) {
    let kind = |name, mode| folder.open(name, mode).unwrap_err().kind;
    assert_eq!(kind("device", OpenMode::Read), ErrorKind::NotFound);
    assert_eq!(kind("device", OpenMode::ReadWrite), ErrorKind::NotFound);
    assert_eq!(folder.remove("device").unwrap_err().kind, ErrorKind::NotFound);
    assert!(!folder.exists("device").unwrap());
    let device = create(folder);
    assert_eq!(device.name(), "device");
    assert!(folder.exists("device").unwrap());
    assert_eq!(kind("device", OpenMode::Create), ErrorKind::AlreadyExists);
    write(&*device, 0, b"kept");
    folder.remove("device").unwrap();
    folder.sync().unwrap();
    assert!(!folder.exists("device").unwrap());
    assert_eq!(read(&*device, 0, 4), b"kept", "who has it open keeps it");
    assert_eq!(create(folder).length().unwrap(), 0, "a new device has nothing of the old");
}

fn a_device_is_told_from_others_whatever_its_name(folder: &dyn Folder) {
    let device = create(folder);
    let again = folder.open("device", OpenMode::Read).unwrap();
    assert_eq!(device.identity(), again.identity());
    let other = folder.open("other", OpenMode::Create).unwrap();
    assert_ne!(device.identity(), other.identity());
    folder.remove("device").unwrap();
    assert_ne!(device.identity(), create(folder).identity());
    assert_eq!(device.identity(), again.identity());
}

fn pieces_are_written_in_order(folder: &dyn Folder) {
    let device = create(folder);
    let pieces = [&b"one"[..], b"", b"two", b"three"].map(IoSlice::new);
    device.write_at(5, &pieces).unwrap();
    device.write_at(100, &[]).unwrap();
    device.sync().unwrap();
    assert_eq!(device.length().unwrap(), 16);
    assert_eq!(read(&*device, 0, 16), b"\0\0\0\0\0onetwothree");
    let again = folder.open("device", OpenMode::Read).unwrap();
    assert_eq!(read(&*again, 8, 3), b"two", "every open device sees the same bytes");
}

fn lengths_grow_with_zeros_and_shrink(folder: &dyn Folder) {
    let device = create(folder);
    write(&*device, 0, &[7; 5000]);
    device.set_length(3).unwrap();
    device.set_length(9000).unwrap();
    device.sync().unwrap();
    let mut expected = vec![0; 9000];
    expected[..3].fill(7);
    assert_eq!(read(&*device, 0, 9000), expected);
    device.set_length(0).unwrap();
    assert_eq!(device.length().unwrap(), 0);
}

fn a_read_past_the_end_fails(folder: &dyn Folder) {
    let device = create(folder);
    write(&*device, 0, b"four");
    for (offset, length) in [(0, 5), (4, 1), (3, 2), (1 << 40, 1)] {
        let error = device.read_at(offset, &mut vec![0; length]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::PastEnd);
        assert_eq!(error.offset, Some(offset));
    }
    device.read_at(4, &mut []).unwrap();
}

fn reading_devices_refuse_writes(folder: &dyn Folder) {
    write(&*create(folder), 0, b"four");
    let device = folder.open("device", OpenMode::Read).unwrap();
    let errors = [
        device.write_at(0, &[IoSlice::new(b"x")]).unwrap_err(),
        device.set_length(1).unwrap_err(),
        device.try_own().unwrap_err(),
        device.try_own_slot(0).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| error.kind == ErrorKind::ReadOnly), "{errors:?}");
    assert_eq!(read(&*device, 0, 4), b"four");
}

fn an_owner_excludes_all_others(folder: &dyn Folder) {
    let first = create(folder);
    let second = folder.open("device", OpenMode::ReadWrite).unwrap();
    assert!(first.try_own().unwrap());
    assert!(first.try_own().unwrap(), "taking it again is no conflict with oneself");
    assert!(!second.try_own().unwrap());
    assert!(!second.try_share().unwrap());
    assert!(!second.try_own_slot(7).unwrap());
    drop(folder.open("device", OpenMode::ReadWrite).unwrap());
    assert!(!second.try_own().unwrap(), "closing an unrelated open device frees nothing");
    drop(first);
    assert!(second.try_own().unwrap());
}

fn sharers_exclude_owners_only(folder: &dyn Folder) {
    let owner = create(folder);
    let sharers = [0; 2].map(|_| folder.open("device", OpenMode::Read).unwrap());
    assert!(sharers.iter().all(|sharer| sharer.try_share().unwrap()));
    assert!(!owner.try_own().unwrap());
    drop(sharers);
    assert!(owner.try_own().unwrap());
}

fn an_owner_of_all_slots_can_keep_one(folder: &dyn Folder) {
    let first = folder.open("slots", OpenMode::Create).unwrap();
    let second = folder.open("slots", OpenMode::ReadWrite).unwrap();
    assert!(first.try_own().unwrap());
    assert!(!second.try_own_slot(6).unwrap());
    first.keep_slot(7).unwrap();
    assert!(second.try_own_slot(6).unwrap() && second.try_own_slot(8).unwrap());
    assert!(!second.try_own_slot(7).unwrap());
    assert!(!second.try_own().unwrap());
    assert_eq!(second.fence(7).unwrap(), Fence::Busy);
    first.give_up_slots().unwrap();
    assert!(second.try_own().unwrap());
    drop(first);
}

fn who_waits_for_the_turn_gets_it_with_the_slots_when_its_holder_goes(folder: &dyn Folder) {
    let first = folder.open("slots", OpenMode::Create).unwrap();
    let second = folder.open("slots", OpenMode::ReadWrite).unwrap();
    first.take_turn().unwrap();
    assert!(first.try_own_slot(3).unwrap());
    let waiter = gadus_base::spawn("waiter", move || {
        second.take_turn().unwrap();
        assert!(second.try_own().unwrap(), "the slots are free with the turn");
        second
    });
    drop(first);
    let second = waiter.unwrap().join().unwrap();
    let third = folder.open("slots", OpenMode::ReadWrite).unwrap();
    assert_eq!(third.fence(3).unwrap(), Fence::Busy);
    drop(second);
    assert_eq!(third.fence(3).unwrap(), Fence::Quiet);
}

fn a_turn_ends_and_its_slots_are_kept(folder: &dyn Folder) {
    let first = folder.open("slots", OpenMode::Create).unwrap();
    let second = folder.open("slots", OpenMode::ReadWrite).unwrap();
    first.take_turn().unwrap();
    assert!(second.try_own().unwrap(), "the turn is no slot");
    second.give_up_slots().unwrap();
    assert!(first.try_own().unwrap());
    first.keep_slot(3).unwrap();
    first.give_up_slots().unwrap();
    assert!(first.try_own_slot(3).unwrap());
    second.end_turn().unwrap();
    let waiter = gadus_base::spawn("waiter", move || {
        second.take_turn().unwrap();
        second
    });
    first.end_turn().unwrap();
    let second = waiter.unwrap().join().unwrap();
    assert_eq!(second.fence(3).unwrap(), Fence::Busy);
    drop(first);
    assert!(second.try_own().unwrap());
}

fn slots_are_fenced_until_dropped(folder: &dyn Folder) {
    let user = create(folder);
    let other = folder.open("device", OpenMode::ReadWrite).unwrap();
    let last = OWNER_SLOTS_MAX - 1;
    assert!(user.try_own_slot(3).unwrap() && user.try_own_slot(last).unwrap());
    assert!(other.try_own_slot(4).unwrap());
    assert_eq!(other.fence(3).unwrap(), Fence::Busy);
    assert_eq!(other.fence(last).unwrap(), Fence::Busy);
    assert_eq!(other.fence(4).unwrap(), Fence::Quiet, "one's own slot is not waited for");
    assert_eq!(user.fence(4).unwrap(), Fence::Busy);
    drop(user);
    assert_eq!(other.fence(3).unwrap(), Fence::Quiet);
    assert_eq!(other.fence(OWNER_SLOTS_MAX).unwrap_err().kind, ErrorKind::Invalid);
    assert_eq!(other.try_own_slot(u32::MAX).unwrap_err().kind, ErrorKind::Invalid);
}

fn a_queue_gives_every_buffer_back(folder: &dyn Folder) {
    let device = create(folder);
    let mut queue = Arc::clone(&device).queue(3).unwrap();
    let buffer = |byte| {
        let mut buffer = AlignedBuffer::zeroed(100, 64);
        buffer.fill(byte);
        buffer.into()
    };
    let write = |tag: u8| {
        let transfer = Transfer::Write { offset: u64::from(tag) * 100, buffer: buffer(tag) };
        Request { tag: tag.into(), transfer }
    };
    queue.submit((0..20).map(write).collect());
    let mut done = queue.wait(20, None);
    done.sort_by_key(|completion| completion.tag);
    assert!(done.iter().all(|done| done.result.is_ok() && done.buffer.is_some()));
    assert_eq!(done.iter().map(|done| done.tag).collect::<Vec<_>>(), Vec::from_iter(0..20));
    let read = |tag: u64| Transfer::Read { offset: tag * 100, buffer: buffer(0xEE) };
    let past_end = Request { tag: 20, transfer: read(20) };
    let sync = Request { tag: 30, transfer: Transfer::Sync };
    queue.submit(vec![Request { tag: 5, transfer: read(5) }, past_end, sync]);
    for done in queue.wait(3, None) {
        match done.tag {
            5 => assert_eq!(done.buffer.unwrap()[..], [5; 100]),
            20 => assert_eq!(done.result.unwrap_err().kind, ErrorKind::PastEnd),
            _ => assert!(done.result.is_ok() && done.buffer.is_none()),
        }
    }
    assert_eq!(queue.in_flight(), 0);
    assert!(queue.poll().is_empty());
}

fn pooled_buffers_are_aligned_and_return(folder: &dyn Folder) {
    let device = create(folder);
    let pool = device.register(512, 2).unwrap();
    let alignment = device.geometry().memory_alignment_bytes;
    let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
    assert!(first.as_ptr().addr().is_multiple_of(alignment));
    assert_eq!(second.len(), pool.bytes_each());
    assert!(pool.take().is_none());
    drop(first);
    assert!(pool.take().is_some());
    assert_eq!(device.register(0, 1).unwrap_err().kind, ErrorKind::Invalid);
}

fn hints_and_discards_keep_other_bytes(folder: &dyn Folder) {
    let device = create(folder);
    write(&*device, 0, &[9; 5 * 4096]);
    device.sync().unwrap();
    for hint in [Hint::WillNeed, Hint::Sequential, Hint::DontNeed, Hint::Keep] {
        device.hint(0..5 * 4096, hint);
        device.hint(7..7, hint);
    }
    device.discard(4096..8192).unwrap();
    device.discard(3..3).unwrap();
    assert_eq!(device.length().unwrap(), 5 * 4096);
    assert_eq!(read(&*device, 0, 4096), [9; 4096]);
    assert_eq!(read(&*device, 8192, 3 * 4096), [9; 3 * 4096]);
}

fn random_operations_equal_a_plain_vector(folder: &dyn Folder) {
    let device = create(folder);
    let mut model: Vec<u8> = Vec::new();
    let mut random = Random::seeded(7);
    let mut below = |bound: usize| usize::try_from(random.below(bound as u64)).unwrap();
    let mut operations: BTreeMap<usize, u32> = BTreeMap::new();
    for step in 0..200 {
        let (offset, length, choice) = (below(20_000), below(6000), below(10));
        *operations.entry(choice).or_default() += 1;
        match choice {
            0 => {
                device.set_length(offset as u64).unwrap();
                model.resize(offset, 0);
            }
            1..6 if length > 0 => {
                let bytes = vec![step; length];
                let (front, back) = bytes.split_at(length / 3);
                let pieces = [IoSlice::new(front), IoSlice::new(back)];
                device.write_at(offset as u64, &pieces).unwrap();
                model.resize(model.len().max(offset + length), 0);
                model[offset..offset + length].fill(step);
            }
            _ if offset + length <= model.len() => {
                let expected = &model[offset..offset + length];
                assert_eq!(read(&*device, offset as u64, length), expected);
            }
            _ => {}
        }
    }
    assert_eq!(read(&*device, 0, model.len()), model);
    assert_eq!(operations.len(), 10);
}

fn bad_names_are_refused(folder: &dyn Folder) {
    for name in ["", "a/b", "/etc/hostname", "nul\0"] {
        let error = folder.open(name, OpenMode::Create).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{name:?}");
    }
}

//! The faulty filter does what its plan says, and nothing else.

use gadus_block::{
    Device, ErrorKind, Fault, FaultPlan, FaultyFolder, Folder, MemoryFolder, OpenMode, Operation,
    Repeat,
};
use std::io::IoSlice;
use std::sync::Arc;

fn setup() -> (FaultPlan, FaultyFolder, Arc<dyn Device>) {
    let plan = FaultPlan::new();
    let folder = FaultyFolder::new(Arc::new(MemoryFolder::new()), plan.clone());
    let device = folder.open("x", OpenMode::Create).unwrap();
    device.write_at(0, &[IoSlice::new(b"old old old ")]).unwrap();
    (plan, folder, device)
}

fn bytes(device: &Arc<dyn Device>) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    device.read_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn the_nth_sync_fails_once() {
    let (plan, _folder, device) = setup();
    plan.fail(Operation::Sync, 2, Repeat::Once, Fault::Error(ErrorKind::Io));
    let kinds = [0; 3].map(|_| device.sync().map_err(|error| error.kind));
    assert_eq!(kinds, [Ok(()), Err(ErrorKind::Io), Ok(())]);
    assert_eq!(plan.count(Operation::Sync), 3);
}

#[test]
fn a_lasting_fault_ends_when_healed() {
    let (plan, folder, device) = setup();
    plan.fail_on("x", Operation::Write, 2, Repeat::Forever, Fault::Error(ErrorKind::NoSpace));
    let other = folder.open("y", OpenMode::Create).unwrap();
    let write = |device: &Arc<dyn Device>| device.write_at(0, &[IoSlice::new(b"new")]);
    other.write_at(0, &[IoSlice::new(b"new")]).unwrap();
    assert_eq!(write(&device).unwrap_err().kind, ErrorKind::NoSpace);
    assert_eq!(write(&device).unwrap_err().kind, ErrorKind::NoSpace);
    plan.heal();
    write(&device).unwrap();
}

#[test]
fn writes_are_torn_lost_and_misdirected() {
    let (plan, _folder, device) = setup();
    let pieces = [IoSlice::new(b"ne"), IoSlice::new(b"w!")];
    plan.fail_next("x", Operation::Write, Fault::Partial(3, ErrorKind::Io));
    assert_eq!(device.write_at(0, &pieces).unwrap_err().kind, ErrorKind::Io);
    assert_eq!(bytes(&device), b"new old old ");
    plan.fail_next("x", Operation::Write, Fault::Lost);
    device.write_at(4, &pieces).unwrap();
    assert_eq!(bytes(&device), b"new old old ");
    plan.fail_next("x", Operation::Write, Fault::Misdirected(4));
    device.write_at(4, &pieces).unwrap();
    assert_eq!(bytes(&device), b"new old new!");
}

#[test]
fn a_flipped_bit_is_one_bit() {
    let (plan, _folder, device) = setup();
    plan.fail_next("x", Operation::Read, Fault::FlipBit(8));
    assert_eq!(bytes(&device), b"omd old old ");
    assert_eq!(bytes(&device), b"old old old ");
}

#[test]
fn after_power_off_everything_fails() {
    let (plan, folder, device) = setup();
    plan.fail_next("x", Operation::Sync, Fault::PowerOff);
    device.sync().unwrap_err();
    device.read_at(0, &mut [0]).unwrap_err();
    device.write_at(0, &[IoSlice::new(b"x")]).unwrap_err();
    device.set_length(0).unwrap_err();
    folder.open("y", OpenMode::Create).unwrap_err();
    folder.remove("x").unwrap_err();
    folder.sync().unwrap_err();
    plan.heal();
    assert_eq!(bytes(&device), b"old old old ");
}

//! Facts about header slots.

use super::*;

fn header() -> Header {
    Header {
        database: DatabaseId([7; 16]),
        log_zone_bytes: 1 << 20,
        sequence: 3,
        commit: CommitNumber(99),
        replay_from: LogPosition(64),
        chain: 5,
        log_durable: LogPosition(128),
        next_id: 12,
        extent: ExtentRef { offset: DATA_START, bytes: 4096, id: 1 },
        root: BlobRef { id: 2, offset: DATA_START, bytes: 7, checksum: 1 },
        pending: BlobRef { id: 3, offset: DATA_START + 64, bytes: 0, checksum: 2 },
    }
}

fn slot(slot: usize, bytes: &[u8]) -> Slot {
    Slot::decode(slot, bytes.try_into().unwrap())
}

#[test]
fn a_slot_gives_back_its_header_and_belongs_to_its_place() {
    let bytes = header().encode(1);
    assert_eq!(slot(1, &bytes), Slot::Valid(header()));
    assert_eq!(slot(0, &bytes), Slot::Damaged, "a misdirected slot is found");
}

#[test]
fn every_flipped_bit_is_found() {
    let bytes = header().encode(0);
    for bit in 0..SLOT_BYTES * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(slot(0, &bytes).header().is_none(), "bit {bit}");
    }
}

#[test]
fn blank_strange_and_newer_slots_are_told_apart() {
    assert_eq!(slot(0, &[0; SLOT_BYTES]), Slot::Blank);
    assert_eq!(slot(0, &[1; SLOT_BYTES]), Slot::Strange);
    let mut bytes = header().encode(0);
    bytes[8] = 2;
    let sum = checksum(0, &bytes[..CHECKSUM_OFFSET]).to_le_bytes();
    bytes[CHECKSUM_OFFSET..].copy_from_slice(&sum);
    assert_eq!(slot(0, &bytes), Slot::Version(2));
}

#[test]
fn an_intact_header_with_impossible_numbers_is_damaged() {
    let zone_sizes = [0, 3, 1 << 31, u32::MAX];
    for log_zone_bytes in zone_sizes {
        let bytes = Header { log_zone_bytes, ..header() }.encode(0);
        assert_eq!(slot(0, &bytes), Slot::Damaged);
    }
}

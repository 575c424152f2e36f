//! Facts about zone headers and fragments.

use super::*;

const SHAPE: LogShape = LogShape { database: DatabaseId([3; 16]), zone_bytes: 4096 };

fn fragment() -> Fragment {
    Fragment {
        position: 4096 + 64,
        commit: CommitNumber(8),
        before: 77,
        durable: 64,
        kind: Kind::First,
    }
}

#[test]
fn a_fragment_is_found_at_its_position_only() {
    let mut bytes = Vec::new();
    let sum = SHAPE.encode(&fragment(), [&b"pay"[..], b"load"].into_iter(), &mut bytes);
    assert_eq!(bytes.len() as u64, Fragment::bytes(7));
    let found = SHAPE.decode(4096 + 64, &bytes).unwrap();
    assert_eq!((found.fragment, found.checksum), (fragment(), sum));
    assert_eq!(found.payload, b"payload");
    assert!(SHAPE.decode(64, &bytes).is_none());
    let other = LogShape { database: DatabaseId([4; 16]), ..SHAPE };
    assert!(other.decode(4096 + 64, &bytes).is_none());
}

#[test]
fn every_flipped_bit_and_every_cut_of_a_fragment_is_found() {
    let mut bytes = Vec::new();
    SHAPE.encode(&fragment(), [&b"payload!"[..]].into_iter(), &mut bytes);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(SHAPE.decode(4096 + 64, &flipped).is_none(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(SHAPE.decode(4096 + 64, &bytes[..length]).is_none());
    }
}

#[test]
fn zone_headers_tell_their_number_and_owner() {
    let bytes = SHAPE.zone_header(9);
    assert_eq!(SHAPE.decode_zone_header(&bytes), ZoneHeader::Valid(9));
    let other = LogShape { database: DatabaseId([4; 16]), ..SHAPE };
    assert_eq!(other.decode_zone_header(&bytes), ZoneHeader::Foreign(SHAPE.database));
    let larger = LogShape { zone_bytes: 8192, ..SHAPE };
    assert_eq!(larger.decode_zone_header(&bytes), ZoneHeader::Unknown);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(SHAPE.decode_zone_header(&flipped), ZoneHeader::Unknown, "bit {bit}");
    }
}

#[test]
fn fragments_never_reach_over_the_end_of_a_zone() {
    assert_eq!(SHAPE.fragment_start(0), 64);
    assert_eq!(SHAPE.fragment_start(4096), 4096 + 64);
    assert_eq!(SHAPE.fragment_start(4096 - 56), 4096 - 56);
    assert_eq!(SHAPE.fragment_start(4096 - 48), 4096 + 64);
    assert_eq!(SHAPE.room_at(4096 - 56), 8);
    assert_eq!(SHAPE.room_at(64), 4096 - 64 - 48);
}

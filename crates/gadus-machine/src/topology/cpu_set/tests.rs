//! Lists, masks, and sets of them.

use super::*;

#[test]
fn lists_and_masks_are_read_and_written() {
    for (list, mask) in [
        ("0-3", "0x0000000f"),
        ("0,2,33", "0x00000002,0x00000005"),
        ("", "0x0"),
        ("64", "0x1,,0x0"),
    ] {
        let set = CpuSet::from_list(list).unwrap();
        assert_eq!(CpuSet::from_mask(mask).unwrap().to_string(), list);
        assert_eq!(set.to_string(), list);
    }
    for wrong in ["3-1", "x", "1-", "0-99999999"] {
        assert_eq!(CpuSet::from_list(wrong), None, "{wrong}");
    }
    assert_eq!(CpuSet::from_mask("0xfffffffff"), None);
}

#[test]
fn sets_are_compared() {
    let (small, large) = (CpuSet::from_list("1,3").unwrap(), CpuSet::from_list("0-7").unwrap());
    assert!(small.is_within(&large) && !large.is_within(&small) && small.meets(&large));
    assert!(!small.meets(&CpuSet::from_list("0,2").unwrap()));
    assert_eq!((small.count(), small.first(), CpuSet::default().is_empty()), (2, Some(1), true));
}

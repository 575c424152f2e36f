//! Parts of some bytes, and what is said on the command line.

use super::*;

#[test]
fn parts_are_all_of_it() {
    assert_eq!(sizes(10, 4, 3), [4, 4, 2]);
    assert_eq!(sizes(2, 1, 3), [1, 1, 0]);
    let pair = "3=2GiB".parse::<Pair<ByteCount>>().unwrap();
    assert_eq!((pair.number, pair.value), (3, ByteCount::gib(2)));
    for wrong in ["x=1", "3", "3=", "=1"] {
        assert!(wrong.parse::<Pair<f64>>().is_err(), "{wrong}");
    }
}

//! Files are what everybody is to find in them.

use super::files::{CHUNK_BYTES, Cached, make, open_with, prepare, read_whole};
use super::unmapping::{BYTES, by_buffer, by_giving_up, by_mapping, questions, warm};
use crate::harness::{Budget, Stopwatch, SystemInstruments};
use crate::numbers::sum_of;
use crate::system::{MapHow, Mapping};
use rustix::fs::OFlags;
use std::os::fd::AsFd;

#[test]
fn a_file_has_the_same_bytes_however_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let bytes = 3 * CHUNK_BYTES as u64;
    make(&path, bytes).unwrap();
    for cached in [Cached::Cold, Cached::Warm] {
        prepare(&path, cached, bytes).unwrap();
        let file = open_with(&path, OFlags::empty()).unwrap();
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut sum = 0_u64;
        for at in (0..bytes).step_by(CHUNK_BYTES) {
            read_whole(&file, &mut chunk, at).unwrap();
            sum = sum.wrapping_add(sum_of(&chunk));
        }
        let mapping = Mapping::of_file(file.as_fd(), 3 * CHUNK_BYTES, MapHow::Plain).unwrap();
        assert_eq!(mapping.sum(0, 3 * CHUNK_BYTES), sum);
        assert_ne!(sum, 0);
    }
}

#[test]
fn what_is_given_up_leaves_the_same_bytes_however_it_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let instruments = SystemInstruments::new();
    for changed in [0, 1, 50, 100] {
        let file = |name: &str| warm(&folder.path().join(name)).unwrap();
        let (read, mapped, kept) = (file("read"), file("mapped"), file("kept"));
        let before = std::fs::read(folder.path().join("read")).unwrap();
        let mut watch = Stopwatch::new(&instruments);
        by_buffer(&read, changed)(3, &mut watch).unwrap();
        by_mapping(&mapped, changed)(3, &mut watch).unwrap();
        by_giving_up(&kept, changed)(3, &mut watch).unwrap();
        let content =
            ["read", "mapped", "kept"].map(|name| std::fs::read(folder.path().join(name)));
        let [read, mapped, kept] = content.map(Result::unwrap);
        assert!(read == mapped && read == kept, "{changed} %");
        let differs = |(one, other): &(&[u8], &[u8])| one != other;
        let pages = before.chunks(4096).zip(read.chunks(4096)).filter(differs).count();
        let all = usize::try_from(BYTES).unwrap() / 4096;
        assert_eq!(pages, (all * changed / 100).max(usize::from(changed > 0)));
    }
}

#[test]
fn threads_are_asked_for_by_powers_of_two_up_to_the_processors() {
    let threads = |budget, processors| {
        let all = questions(budget, processors);
        let unchanged = all.into_iter().filter(|(_, changed)| *changed == 0);
        unchanged.map(|(threads, _)| threads).collect::<Vec<_>>()
    };
    assert_eq!(threads(Budget::Usual, 1), [1, 2], "the second is named as not measured");
    assert_eq!(threads(Budget::Usual, 2), [1, 2]);
    assert_eq!(threads(Budget::Thorough, 6), [1, 2, 4, 6]);
    assert_eq!(threads(Budget::Quick, 64), [1, 2]);
    let usual = questions(Budget::Usual, 8);
    assert_eq!(usual, [(1, 0), (1, 100), (2, 0), (4, 0), (8, 0), (8, 100)]);
}

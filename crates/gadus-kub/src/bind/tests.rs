//! Files are what everybody is to find in them.

use super::files::{CHUNK_BYTES, Cached, make, open_with, prepare, read_whole};
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

//! What a connection's cache keeps, and what it gives back.

use super::*;
use crate::keys::{KeyCode, KeyEntry, KeyPage};
use arrow::buffer::Buffer;
use std::sync::Arc;

fn entry(id: u64) -> KeyEntry {
    KeyEntry { code: KeyCode { order: 0, hash: id }, row: id }
}

/// Takes memory for a blob of so many bytes, and caches it.
fn read(cache: &mut PrivateCache, id: u64, bytes: usize) -> usize {
    let piece = cache.take(bytes);
    assert_eq!(piece.memory.len(), bytes);
    assert!(piece.memory.iter().all(|byte| *byte == 0));
    let address = piece.memory.as_ptr().addr();
    assert!(bytes == 0 || address.is_multiple_of(ALIGNMENT_BYTES), "{address:x}");
    let page = KeyPage::open(&Buffer::from_vec(KeyPage::encode(&[entry(id)]))).unwrap();
    cache.insert(id, piece.chunk(), Opened::Keys(Arc::new(page)));
    address
}

#[test]
fn a_cache_keeps_the_last_blobs_within_its_limit() {
    let mut cache = PrivateCache::new(64 << 10);
    for id in 1..=1_000 {
        read(&mut cache, id, 1_000);
        assert!(cache.get(id).is_some());
        cache.trim();
        assert!(cache.bytes() <= 64 << 10, "{}", cache.bytes());
    }
    // Seven eighths of the limit, at least.
    assert!((950..=1_000).all(|id| cache.get(id).is_some()));
    assert!((1..=900).all(|id| cache.get(id).is_none()));
    let listed = cache.chunks.iter().map(|chunk| chunk.blobs.len()).sum::<usize>();
    assert_eq!(cache.opened.len(), listed);
}

#[test]
fn a_statement_may_hold_more_than_the_limit_and_an_idle_connection_not() {
    let mut cache = PrivateCache::new(75 << 10);
    for id in 1..=8 {
        read(&mut cache, id, 200 << 10);
    }
    assert!((1..=8).all(|id| cache.get(id).is_some()));
    // More than a statement may hold, and more than it may hold at once.
    for id in 9..=100 {
        read(&mut cache, id, 200 << 10);
    }
    assert!(cache.bytes() <= STATEMENT_BYTES + (201 << 10), "{}", cache.bytes());
    read(&mut cache, 101, 2 * STATEMENT_BYTES);
    assert!(cache.get(101).is_some());
    cache.trim();
    assert_eq!((cache.bytes(), cache.opened.len()), (0, 0));
    read(&mut cache, 102, 0);
    read(&mut cache, 103, 1);
    assert!(cache.get(102).is_some() && cache.get(103).is_some());
}

#[test]
fn blobs_of_one_chunk_lie_side_by_side() {
    let mut cache = PrivateCache::new(1 << 20);
    let first = read(&mut cache, 1, 100);
    assert_eq!(read(&mut cache, 2, 64), first + 128);
    assert_eq!(read(&mut cache, 3, 1), first + 192);
}

#[test]
fn a_blob_whose_memory_was_given_back_meanwhile_is_not_cached() {
    let mut cache = PrivateCache::new(1 << 10);
    let piece = cache.take(100);
    cache.trim_to(0);
    let page = KeyPage::open(&Buffer::from_vec(KeyPage::encode(&[entry(1)]))).unwrap();
    cache.insert(1, piece.chunk(), Opened::Keys(Arc::new(page)));
    assert!(cache.get(1).is_none());
}

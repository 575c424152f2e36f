//! Where everything of the lock table lies in shared memory.
//!
//! | from | bytes | what |
//! |---|---|---|
//! | `start` | [`HEADER_BYTES`] | [`Header`] |
//! | then | [`CHUNK_BYTES`] each | chunks, by number |
//!
//! A chunk holds records of one kind; which one says its word in the header's directory:
//!
//! | bits | content |
//! |---|---|
//! | 0..8 | 0 unclaimed, 1 requests, 2 value blocks, 3 connections |
//! | 8..16 | partition, for requests and value blocks |
//!
//! - A directory's word is stored once, and the claimed chunks are the first ones.
//! - Links are numbers of records plus one; zero is none, so that fresh memory is an empty table.
//! - Truth is marked so; all else is derived from it, and made anew after a death.

use crate::latch::Latch;
use crate::memory::EXTENT_BYTES;
use crate::shared_struct;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// "GadLock" and the version of all that this file lays out.
pub(super) const FORMAT: u64 = 0x056B_636F_4C64_6147;

/// Parts of the table that are used side by side. 64 latches let 64 processes work with little
/// chance to meet, and are few enough to be visited one after another.
pub(super) const PARTITIONS: usize = 64;

/// Chains per partition: with a million locks they have eight links on average.
pub(super) const BUCKETS: usize = 2048;

/// Value blocks are few.
pub(super) const VALUE_BUCKETS: usize = 32;

/// Classes of tables for the counters of strong locks: 16 in each partition.
pub(super) const STRONG_CLASSES: usize = 1024;

pub(super) const CHUNK_BYTES: usize = 16 << 10;
pub(super) const CHUNKS_MAX: usize = 1 << 16;
pub(super) const HEADER_BYTES: usize = EXTENT_BYTES;

pub(super) const REQUESTS_PER_CHUNK: u32 = count_per_chunk(size_of::<Request>());
pub(super) const VALUES_PER_CHUNK: u32 = count_per_chunk(size_of::<ValueRecord>());
pub(super) const CONNECTIONS_PER_CHUNK: u32 = count_per_chunk(size_of::<Connection>());

/// Intention locks that a connection may hold in its own record.
pub(super) const FAST_LOCKS: usize = 32;

/// Requests that a connection's watcher can be told of at a time; more are told later.
pub(super) const NOTICES: usize = 8;

pub(super) const VALUE_WORDS: usize = 8;

shared_struct! {
    pub(super) struct Header {
        pub(super) format: AtomicU64,
        /// The last ticket drawn.
        pub(super) tickets: AtomicU64,
        /// Derived: no chunk before this one is unclaimed.
        pub(super) chunks: AtomicU64,
        pub(super) reserved: [AtomicU64; 5],
        pub(super) counters: [AtomicU64; 16],
        /// Derived: strong requests for the tables of a class.
        pub(super) strong: [AtomicU32; STRONG_CLASSES],
        pub(super) partitions: [Partition; PARTITIONS],
        /// Truth: what each chunk holds.
        pub(super) directory: [AtomicU32; CHUNKS_MAX],
    }
}

shared_struct! {
    /// Derived, but for its latch and its mark.
    pub(super) struct Partition {
        pub(super) latch: Latch,
        /// Not zero while somebody changes the partition, or has died doing so.
        pub(super) dirty: AtomicU32,
        pub(super) free: AtomicU32,
        /// The list of requests that wait.
        pub(super) waiting_first: AtomicU32,
        pub(super) waiting: AtomicU32,
        pub(super) used: AtomicU32,
        pub(super) slots: AtomicU32,
        pub(super) values_free: AtomicU32,
        pub(super) values_used: AtomicU32,
        pub(super) reserved: [AtomicU32; 6],
        pub(super) buckets: [AtomicU32; BUCKETS],
        pub(super) value_buckets: [AtomicU32; VALUE_BUCKETS],
    }
}

shared_struct! {
    /// What a connection holds or waits for. Truth, but for the links.
    pub(super) struct Request {
        pub(super) high: AtomicU64,
        pub(super) low: AtomicU64,
        pub(super) state: AtomicU64,
        pub(super) owner: AtomicU64,
        /// Its place among those that wait.
        pub(super) ticket: AtomicU64,
        /// When its state began, in milliseconds since 1970, to within a tick; for messages.
        pub(super) since: AtomicU64,
        /// The next in its bucket, or in the list of free ones.
        pub(super) next: AtomicU32,
        pub(super) waiting_next: AtomicU32,
        pub(super) waiting_before: AtomicU32,
        pub(super) reserved: AtomicU32,
    }
}

shared_struct! {
    /// The value block of a resource. Truth, but for the link.
    pub(super) struct ValueRecord {
        pub(super) high: AtomicU64,
        pub(super) low: AtomicU64,
        pub(super) state: AtomicU64,
        pub(super) next: AtomicU32,
        pub(super) reserved: AtomicU32,
        pub(super) words: [AtomicU64; VALUE_WORDS],
        pub(super) reserved_words: [AtomicU64; 4],
    }
}

shared_struct! {
    /// A connection of an instance.
    pub(super) struct Connection {
        /// Truth: the owner word of its user, which names this record too; zero when it is free.
        pub(super) owner: AtomicU64,
        /// Ticket of the start of its transaction: the greatest is the youngest.
        pub(super) begun: AtomicU64,
        /// The request that it waits with, plus one.
        pub(super) waits_with: AtomicU32,
        /// What it sleeps on.
        pub(super) wake: AtomicU32,
        /// Deadlocks that were undone by refusing another's wish.
        pub(super) survived: AtomicU32,
        /// Who was the other side of the last deadlock that it was the victim of.
        pub(super) survivor: AtomicU32,
        /// The number that its instance knows it by.
        pub(super) number: AtomicU32,
        /// What others ask it to end.
        pub(super) ending: AtomicU32,
        pub(super) reserved: [AtomicU32; 6],
        pub(super) notices: [AtomicU32; NOTICES],
        pub(super) reserved_words: [AtomicU64; 20],
        pub(super) fast: [AtomicU64; FAST_LOCKS],
    }
}

const fn count_per_chunk(bytes: usize) -> u32 {
    let count = CHUNK_BYTES / bytes;
    assert!(count * bytes == CHUNK_BYTES && count <= 256);
    #[allow(clippy::cast_possible_truncation)] // at most 256
    let count = count as u32;
    count
}

const _: () = assert!(size_of::<Header>() <= HEADER_BYTES);
const _: () = assert!(size_of::<Partition>().is_multiple_of(64));
const _: () = assert!(std::mem::offset_of!(Header, partitions).is_multiple_of(64));
const _: () = assert!(size_of::<Request>() == 64);
const _: () = assert!(size_of::<ValueRecord>() == 128);
const _: () = assert!(size_of::<Connection>() == 512);
const _: () = assert!(STRONG_CLASSES.is_multiple_of(PARTITIONS));
const _: () = assert!(CHUNKS_MAX * (CONNECTIONS_PER_CHUNK as usize) <= 1 << 22);

//! The cache of one connection: its blobs lie in an arena of its own.
//!
//! - The arena gives out memory in the order of asking, piece after piece of a chunk, and takes it
//!   back a chunk at a time, the oldest first: nothing is searched for, and nothing of others is
//!   touched.
//! - While a statement runs, it may hold more than the limit; when it ends, what is over the limit
//!   goes. So a thousand connections that do nothing cost a thousand limits at most.
//! - Memory that has left the engine, in a result, is freed when the last of it is dropped.

use super::Opened;
use bytes::BytesMut;
use std::collections::{HashMap, VecDeque};

/// Blobs begin at multiples of this, as in the file.
const ALIGNMENT_BYTES: usize = 64;

/// Chunks that a cache has when it is full: what one blob more drives out is an eighth.
const CHUNKS: usize = 8;

/// What a running statement may hold although the limit is smaller: a row's blobs of a wide table,
/// which would otherwise be read twice, the second time while others wait to commit.
const STATEMENT_BYTES: usize = 4 << 20;

/// Blobs that one connection has read last.
#[derive(Debug)]
pub(super) struct PrivateCache {
    limit: usize,
    opened: HashMap<u64, Opened>,
    chunks: VecDeque<Chunk>,
    begun: u64,
    /// What the newest chunk has left.
    rest: BytesMut,
}

/// Memory that is freed whole, and whose blobs lie in it.
#[derive(Debug)]
struct Chunk {
    number: u64,
    bytes: usize,
    blobs: Vec<u64>,
}

/// Memory for a blob, and where it came from.
#[derive(Debug)]
pub(super) struct Piece {
    chunk: u64,
    pub(super) memory: BytesMut,
}

impl PrivateCache {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            opened: HashMap::new(),
            chunks: VecDeque::new(),
            begun: 0,
            rest: BytesMut::new(),
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<&Opened> {
        self.opened.get(&id)
    }

    /// Memory for a blob of `bytes`, all zeros.
    pub(super) fn take(&mut self, bytes: usize) -> Piece {
        let room = bytes.next_multiple_of(ALIGNMENT_BYTES);
        if self.chunks.is_empty() || self.rest.capacity() < room {
            self.begin_chunk(room);
        }
        self.rest.resize(room, 0);
        let mut memory = self.rest.split_to(room);
        memory.truncate(bytes);
        let chunk = self.chunks.back().expect("one has just begun");
        Piece { chunk: chunk.number, memory }
    }

    fn begin_chunk(&mut self, room: usize) {
        let bytes = room.max(self.limit / CHUNKS) + ALIGNMENT_BYTES;
        self.trim_to(self.limit.max(STATEMENT_BYTES).saturating_sub(bytes));
        self.begun += 1;
        self.chunks.push_back(Chunk { number: self.begun, bytes, blobs: Vec::new() });
        self.rest = BytesMut::with_capacity(bytes);
        let address = self.rest.as_ptr().addr();
        let padding = address.next_multiple_of(ALIGNMENT_BYTES) - address;
        self.rest.resize(padding, 0);
        let _ = self.rest.split_to(padding);
    }

    /// Keeps a blob whose memory was taken from here, unless its chunk has gone meanwhile.
    pub(super) fn insert(&mut self, id: u64, chunk: u64, opened: Opened) {
        if let Some(chunk) = self.chunks.iter_mut().rev().find(|other| other.number == chunk) {
            chunk.blobs.push(id);
            self.opened.insert(id, opened);
        }
    }

    /// A statement has ended.
    pub(super) fn trim(&mut self) {
        self.trim_to(self.limit);
    }

    fn trim_to(&mut self, limit: usize) {
        while self.bytes() > limit
            && let Some(oldest) = self.chunks.pop_front()
        {
            for id in oldest.blobs {
                self.opened.remove(&id);
            }
        }
        if self.chunks.is_empty() {
            self.rest = BytesMut::new();
        }
    }

    /// What its chunks take.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.bytes).sum()
    }
}

impl Piece {
    pub(super) fn chunk(&self) -> u64 {
        self.chunk
    }
}

#[cfg(test)]
mod tests;

//! Memory for transfers: aligned, zeroed once, pooled.
//!
//! - Alignment comes from allocating a little more and starting later, so that no unsafe code is
//!   needed; the memory never moves, because it never grows.
//! - A pooled buffer returns to its pool when dropped, and keeps the pool's memory alive.

use parking_lot::Mutex;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Bytes that start at a multiple of their alignment.
pub struct AlignedBuffer {
    memory: Box<[u8]>,
    start: usize,
    length: usize,
}

/// A fixed number of equal buffers.
#[derive(Clone, Debug)]
pub struct BufferPool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    free: Mutex<Vec<AlignedBuffer>>,
    bytes_each: usize,
}

/// A buffer on loan from a [`BufferPool`], or one of its own.
#[derive(Debug)]
pub struct PooledBuffer {
    buffer: AlignedBuffer,
    home: Option<Arc<Shared>>,
}

impl AlignedBuffer {
    /// `length` zeros, aligned to `alignment`, a power of two.
    #[must_use]
    pub fn zeroed(length: usize, alignment: usize) -> Self {
        assert!(alignment.is_power_of_two(), "alignments are powers of two");
        let memory = vec![0; length + alignment - 1].into_boxed_slice();
        let address = memory.as_ptr().addr();
        let start = address.next_multiple_of(alignment) - address;
        Self { memory, start, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuffer").field("length", &self.length).finish_non_exhaustive()
    }
}

impl BufferPool {
    pub(crate) fn new(bytes_each: usize, count: usize, alignment: usize) -> Option<Self> {
        if bytes_each == 0 {
            return None;
        }
        let free = (0..count).map(|_| AlignedBuffer::zeroed(bytes_each, alignment)).collect();
        Some(Self { shared: Arc::new(Shared { free: Mutex::new(free), bytes_each }) })
    }

    /// A buffer, unless all are on loan.
    #[must_use]
    pub fn take(&self) -> Option<PooledBuffer> {
        let buffer = self.shared.free.lock().pop()?;
        Some(PooledBuffer { buffer, home: Some(Arc::clone(&self.shared)) })
    }

    /// Size of each buffer.
    #[must_use]
    pub fn bytes_each(&self) -> usize {
        self.shared.bytes_each
    }
}

impl From<AlignedBuffer> for PooledBuffer {
    fn from(buffer: AlignedBuffer) -> Self {
        Self { buffer, home: None }
    }
}

impl Deref for PooledBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.buffer
    }
}

impl DerefMut for PooledBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            let buffer = std::mem::replace(&mut self.buffer, AlignedBuffer::zeroed(0, 1));
            home.free.lock().push(buffer);
        }
    }
}

//! Bytes in pages that copies share until one of them writes.
//!
//! - An absent page reads as zeros; bytes past the length are always zero in their page.
//! - The length is bounded, so that a wild offset is "no space" and not an allocation.

use std::ops::Range;
use std::sync::Arc;

const PAGE_BYTES: usize = 4096;

/// 64 GiB of address space in memory is far beyond any test; absent pages cost 8 bytes each.
const LENGTH_MAX: u64 = 64 << 30;

/// The bytes of one device.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    pages: Vec<Option<Arc<[u8; PAGE_BYTES]>>>,
    length: u64,
}

/// A part of a transfer that lies within one page.
struct Part {
    page: usize,
    in_page: Range<usize>,
    in_buffer: Range<usize>,
}

impl Pages {
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// All bytes, in one piece.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.length).expect("bounded by LENGTH_MAX")];
        assert!(self.read(0, &mut bytes), "the whole length can be read");
        bytes
    }

    /// `false` when the length is past the bound.
    #[must_use]
    pub(crate) fn set_length(&mut self, bytes: u64) -> bool {
        if bytes > LENGTH_MAX {
            return false;
        }
        if bytes < self.length {
            let kept = usize::try_from(bytes).expect("bounded by LENGTH_MAX");
            self.pages.truncate(kept.div_ceil(PAGE_BYTES));
            if !kept.is_multiple_of(PAGE_BYTES)
                && let Some(Some(last)) = self.pages.last_mut()
            {
                Arc::make_mut(last)[kept % PAGE_BYTES..].fill(0);
            }
        }
        self.length = bytes;
        true
    }

    /// `false` when the bytes end before `into` is full.
    #[must_use]
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let end = offset.checked_add(into.len() as u64);
        if into.is_empty() {
            return true;
        }
        if end.is_none_or(|end| end > self.length) {
            return false;
        }
        for part in parts(offset, into.len()) {
            let target = &mut into[part.in_buffer];
            match self.pages.get(part.page) {
                Some(Some(page)) => target.copy_from_slice(&page[part.in_page]),
                _ => target.fill(0),
            }
        }
        true
    }

    /// `false` when the bytes would pass the bound.
    #[must_use]
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let end = match offset.checked_add(bytes.len() as u64) {
            Some(end) if end <= LENGTH_MAX => end,
            _ => return false,
        };
        for part in parts(offset, bytes.len()) {
            if self.pages.len() <= part.page {
                self.pages.resize(part.page + 1, None);
            }
            let page = self.pages[part.page].get_or_insert_with(|| Arc::new([0; PAGE_BYTES]));
            Arc::make_mut(page)[part.in_page].copy_from_slice(&bytes[part.in_buffer]);
        }
        self.length = self.length.max(end);
        true
    }

    /// Drops the whole pages within a range.
    pub(crate) fn discard(&mut self, range: Range<u64>) {
        let page_bytes = PAGE_BYTES as u64;
        let first = range.start.div_ceil(page_bytes);
        let last = (range.end / page_bytes).min(self.pages.len() as u64);
        for page in first..last {
            self.pages[usize::try_from(page).expect("below the page count")] = None;
        }
    }
}

fn parts(offset: u64, length: usize) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = usize::try_from(offset).expect("bounded by LENGTH_MAX") + done;
        let start = at % PAGE_BYTES;
        let count = (PAGE_BYTES - start).min(length - done);
        let in_buffer = done..done + count;
        done += count;
        Some(Part { page: at / PAGE_BYTES, in_page: start..start + count, in_buffer })
    })
}

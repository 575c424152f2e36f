//! Single pages, at random, of a file that is in memory: where it is kept decides what one costs.
//!
//! - The pool of its own has a hash table and the clock's mark for each page, as a database must; the mapping needs
//!   neither, and the kernel's cache is reached by a call and copied from.

use super::files::{Cached, make, open_with, prepare, read_whole};
use crate::error::KubError;
use crate::harness::{Budget, Contest, Harness, Noise, Stopwatch};
use crate::hashing::NumberMap;
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{MapHow, Mapping};
use gadus_base::Random;
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

const PAGE_BYTES: usize = 8 << 10;

/// What is read of a page: a row, about.
const ROW_BYTES: usize = 128;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let sizes: &[u64] = match budget {
        Budget::Quick => &[16 << 20],
        Budget::Usual => &[1 << 20, 64 << 20],
        Budget::Thorough => &[1 << 20, 16 << 20, 64 << 20, 512 << 20],
    };
    let task = |bytes: u64| {
        let name = format!("pages of {}", gadus_base::ByteCount(bytes));
        Task::new(Benchmark::Bind, name, move |harness, place| measure(harness, place, bytes))
    };
    sizes.iter().copied().map(task).collect()
}

fn measure(harness: &mut Harness<'_>, place: &Place, bytes: u64) -> Result<(), KubError> {
    place.stay_here()?;
    let path = place.folder.join("pages");
    make(&path, bytes)?;
    prepare(&path, Cached::Warm, bytes)?;
    let pages = bytes / PAGE_BYTES as u64;
    let contest = Contest::new(Benchmark::Bind, Origin::Modern, "read a row of a random page")
        .with("bytes", bytes)
        .noise(Noise::Processor)
        .user("own pool, hash table and clock", rows(pages, Pool::fill(&path, pages)?))
        .kernel("mapped", rows(pages, Mapped::new(&path, bytes)?))
        .kernel("read of the page", rows(pages, Read::new(&path)?));
    let done = harness.measure(contest);
    let _ = std::fs::remove_file(&path);
    done
}

/// Somebody who has pages.
trait Pages {
    /// Adds the words of a row of a page.
    fn row(&mut self, page: u64, row: usize) -> Result<u64, KubError>;
}

/// Rows at random, the same for all.
fn rows(
    pages: u64,
    mut from: impl Pages,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut random = Random::seeded(1);
    move |times, _| {
        let mut sum = 0_u64;
        for _ in 0..times {
            let page = random.below(pages);
            let row = size(random.below((PAGE_BYTES / ROW_BYTES) as u64));
            sum = sum.wrapping_add(from.row(page, row)?);
        }
        std::hint::black_box(sum);
        Ok(())
    }
}

struct Pool {
    frames: Vec<u8>,
    places: NumberMap<usize>,
    used: Vec<bool>,
}

impl Pool {
    fn fill(path: &Path, pages: u64) -> Result<Self, KubError> {
        let file = open_with(path, OFlags::empty())?;
        let mut frames = vec![0; size(pages) * PAGE_BYTES];
        for (page, frame) in frames.chunks_exact_mut(PAGE_BYTES).enumerate() {
            read_whole(&file, frame, (page * PAGE_BYTES) as u64)?;
        }
        let places = (0..pages).map(|page| (page, size(page))).collect();
        Ok(Self { frames, places, used: vec![false; size(pages)] })
    }
}

impl Pages for Pool {
    fn row(&mut self, page: u64, row: usize) -> Result<u64, KubError> {
        let place = self.places.get(&page).ok_or_else(|| KubError::broken("a page is gone"))?;
        self.used[*place] = true;
        let first = place * PAGE_BYTES + row * ROW_BYTES;
        Ok(sum_of(&self.frames[first..first + ROW_BYTES]))
    }
}

struct Mapped(Mapping);

impl Mapped {
    fn new(path: &Path, bytes: u64) -> Result<Self, KubError> {
        let file = open_with(path, OFlags::empty())?;
        // What the pool has read before, this has touched before.
        let mapping = Mapping::of_file(file.as_fd(), size(bytes), MapHow::Populate)?;
        Ok(Self(mapping))
    }
}

impl Pages for Mapped {
    fn row(&mut self, page: u64, row: usize) -> Result<u64, KubError> {
        let first = size(page) * PAGE_BYTES + row * ROW_BYTES;
        Ok(self.0.sum(first, first + ROW_BYTES))
    }
}

struct Read {
    file: OwnedFd,
    page: Vec<u8>,
}

impl Read {
    fn new(path: &Path) -> Result<Self, KubError> {
        Ok(Self { file: open_with(path, OFlags::empty())?, page: vec![0; PAGE_BYTES] })
    }
}

impl Pages for Read {
    fn row(&mut self, page: u64, row: usize) -> Result<u64, KubError> {
        read_whole(&self.file, &mut self.page, page * PAGE_BYTES as u64)?;
        Ok(sum_of(&self.page[row * ROW_BYTES..(row + 1) * ROW_BYTES]))
    }
}

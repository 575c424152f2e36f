//! A sorted run of key entries in the data file, and the merging of runs.
//!
//! - A run is one extent: its pages and a directory that names each page's first code.
//! - The directory is read on first use, a page when a lookup falls in it.
//!
//! Byte table of the directory (version 2): version u8 | page count u32 | for each page: first order u64, first
//! hash u64, entries u32, blob reference.
//! Version ladder: version 1 has no orders, which are 0 then; it is written where they all are.
//!
//! Byte table of a run image: entries u64 | directory's blob reference | extent reference × 2
//! (pages, directory).

use super::page::PAGE_ENTRIES;
use super::{KeyCode, KeyEntry, KeyPage, row_of};
use crate::blobs::Blobs;
use crate::error::Result;
use gadus_base::{ByteReader, ByteWriter, DecodeError, RowId};
use gadus_storage::{BlobRef, Extent, ExtentRef};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

const DIRECTORY_VERSION: u8 = 2;
const DIRECTORY_WITHOUT_ORDER: u8 = 1;

/// Pages written with one extent: bounds the memory of writing a long run.
const PAGES_PER_EXTENT_MAX: usize = 1 << 20;

/// An immutable run.
#[derive(Debug)]
pub(crate) struct KeyRun {
    entries: u64,
    directory_blob: BlobRef,
    extents: [Arc<Extent>; 2],
    directory: OnceLock<Vec<PageEntry>>,
}

#[derive(Debug, Clone, Copy)]
struct PageEntry {
    first: KeyCode,
    entries: u32,
    blob: BlobRef,
}

/// A run as durable formats name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyRunImage {
    entries: u64,
    directory: BlobRef,
    extents: [ExtentRef; 2],
}

impl KeyRun {
    pub(crate) fn adopt(image: &KeyRunImage, blobs: &Blobs) -> Result<Self> {
        let [pages, directory] = image.extents;
        Ok(Self {
            entries: image.entries,
            directory_blob: image.directory,
            extents: [blobs.store().adopt_extent(pages)?, blobs.store().adopt_extent(directory)?],
            directory: OnceLock::new(),
        })
    }

    /// What it takes in the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.extents.iter().map(|extent| extent.reference().bytes).sum()
    }

    pub(crate) fn image(&self) -> KeyRunImage {
        let [pages, directory] = &self.extents;
        KeyRunImage {
            entries: self.entries,
            directory: self.directory_blob,
            extents: [pages.reference(), directory.reference()],
        }
    }

    pub(crate) fn extents(&self) -> [ExtentRef; 2] {
        self.image().extents
    }

    /// Where its directory lies, for messages.
    pub(crate) fn offset(&self) -> u64 {
        self.directory_blob.offset
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    fn directory(&self, blobs: &Blobs) -> Result<&[PageEntry]> {
        if let Some(directory) = self.directory.get() {
            return Ok(directory);
        }
        let blob = blobs.store().read_blob(&self.directory_blob)?;
        let directory =
            decode_directory(&blob).map_err(|error| blobs.damaged(&self.directory_blob, error))?;
        Ok(self.directory.get_or_init(|| directory))
    }

    /// A page by its place among all, counted from the end where it is gone through backwards.
    pub(crate) fn page(
        &self,
        blobs: &Blobs,
        place: usize,
        backwards: bool,
    ) -> Result<Option<Arc<KeyPage>>> {
        let directory = self.directory(blobs)?;
        let entry = match backwards {
            true => directory.len().checked_sub(place + 1).and_then(|place| directory.get(place)),
            false => directory.get(place),
        };
        entry.map(|entry| blobs.key_page(&entry.blob)).transpose()
    }

    /// The pages that may have entries of these codes.
    fn pages_of(&self, blobs: &Blobs, codes: &RangeInclusive<KeyCode>) -> Result<&[PageEntry]> {
        let directory = self.directory(blobs)?;
        // Entries of one code may begin in the page before the first that starts with it.
        let first = directory.partition_point(|page| page.first < *codes.start());
        let end = directory.partition_point(|page| page.first <= *codes.end());
        let first = first.saturating_sub(1).min(end);
        Ok(&directory[first..end])
    }

    /// Hands rows with one of these codes to `visit`; false when it wants no more.
    pub(crate) fn candidates(
        &self,
        blobs: &Blobs,
        codes: &RangeInclusive<KeyCode>,
        visit: &mut impl FnMut(RowId) -> Result<bool>,
    ) -> Result<bool> {
        for page in self.pages_of(blobs, codes)? {
            let page = blobs.key_page(&page.blob)?;
            for index in page.lower_bound(*codes.start())..page.len() {
                let entry = page.entry(index);
                if entry.code > *codes.end() {
                    break;
                }
                if !visit(row_of(entry.row))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// How many entries have one of these codes, rows that are gone among them; of the pages, two are read at most.
    pub(crate) fn estimate(&self, blobs: &Blobs, codes: &RangeInclusive<KeyCode>) -> Result<u64> {
        let pages = self.pages_of(blobs, codes)?;
        let last = pages.len().saturating_sub(1);
        let mut count = 0;
        for (place, entry) in pages.iter().enumerate() {
            if place > 0 && place < last {
                count += u64::from(entry.entries);
                continue;
            }
            let page = blobs.key_page(&entry.blob)?;
            let within = page.upper_bound(*codes.end()) - page.lower_bound(*codes.start());
            count += within as u64;
        }
        Ok(count)
    }

    /// All entries in order; pages are read around the cache.
    pub(crate) fn read_all(&self, blobs: &Blobs) -> Result<Vec<KeyEntry>> {
        let mut entries = Vec::new();
        for (_, page) in self.pages(blobs)? {
            entries.extend(page?.entries());
        }
        Ok(entries)
    }

    /// The pages in order, read around the cache, each with its offset in the file.
    pub(crate) fn pages(
        &self,
        blobs: &Blobs,
    ) -> Result<impl Iterator<Item = (u64, Result<KeyPage>)>> {
        let pages = self.directory(blobs)?.iter();
        Ok(pages.map(|entry| (entry.blob.offset, entry.read(blobs))))
    }
}

impl PageEntry {
    /// Reads the page and checks that it is as the directory says.
    fn read(&self, blobs: &Blobs) -> Result<KeyPage> {
        let page = blobs.read_key_page(&self.blob)?;
        let wrong = |expected| Err(blobs.damaged(&self.blob, DecodeError { offset: 8, expected }));
        if page.len() != self.entries as usize {
            return wrong("as many entries as the directory says");
        }
        if page.entries().next().is_none_or(|entry| entry.code != self.first) {
            return wrong("the first code that the directory says");
        }
        Ok(page)
    }
}

impl KeyRunImage {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u64(self.entries);
        self.directory.encode(to);
        self.extents.iter().for_each(|extent| extent.encode(to));
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            entries: from.u64()?,
            directory: BlobRef::decode(from)?,
            extents: [ExtentRef::decode(from)?, ExtentRef::decode(from)?],
        })
    }
}

/// Writes entries in order as a run; not synced.
pub(crate) fn write_run(entries: &[KeyEntry], blobs: &Blobs) -> Result<KeyRun> {
    gadus_base::strict_assert!(entries.is_sorted(), "a run is sorted");
    let pages = entries.chunks(PAGE_ENTRIES).map(KeyPage::encode).collect::<Vec<_>>();
    assert!(pages.len() <= PAGES_PER_EXTENT_MAX, "a run has at most 2^31 entries");
    let slices = pages.iter().map(Vec::as_slice).collect::<Vec<_>>();
    let (pages_extent, references) = blobs.store().write_extent(&slices)?;
    let directory = entries
        .chunks(PAGE_ENTRIES)
        .zip(references)
        .map(|(chunk, blob)| PageEntry {
            first: chunk[0].code,
            entries: u32::try_from(chunk.len()).expect("at most PAGE_ENTRIES"),
            blob,
        })
        .collect::<Vec<_>>();
    let bytes = encode_directory(&directory);
    let (directory_extent, references) = blobs.store().write_extent(&[&bytes])?;
    Ok(KeyRun {
        entries: entries.len() as u64,
        directory_blob: references[0],
        extents: [pages_extent, directory_extent],
        directory: OnceLock::from(directory),
    })
}

/// Writes one run with the entries of several, less those whose row `keep` refuses; none when no
/// entry is left.
pub(crate) fn merge_runs(
    runs: &[Arc<KeyRun>],
    recent: Vec<KeyEntry>,
    blobs: &Blobs,
    keep: impl Fn(RowId) -> bool,
) -> Result<Option<KeyRun>> {
    let mut entries = recent;
    for run in runs {
        entries.append(&mut run.read_all(blobs)?);
    }
    entries.retain(|entry| keep(row_of(entry.row)));
    // Already sorted stretches make this nearly a merge.
    entries.sort();
    entries.dedup();
    if entries.is_empty() { Ok(None) } else { write_run(&entries, blobs).map(Some) }
}

fn encode_directory(pages: &[PageEntry]) -> Vec<u8> {
    let has_order = pages.iter().any(|page| page.first.order != 0);
    let mut to = ByteWriter::new();
    to.u8(if has_order { DIRECTORY_VERSION } else { DIRECTORY_WITHOUT_ORDER });
    to.u32(u32::try_from(pages.len()).expect("at most PAGES_PER_EXTENT_MAX"));
    for page in pages {
        if has_order {
            to.u64(page.first.order);
        }
        to.u64(page.first.hash);
        to.u32(page.entries);
        page.blob.encode(&mut to);
    }
    to.finish()
}

fn decode_directory(bytes: &[u8]) -> Result<Vec<PageEntry>, DecodeError> {
    let mut from = ByteReader::new(bytes);
    let has_order = match from.u8()? {
        DIRECTORY_VERSION => true,
        DIRECTORY_WITHOUT_ORDER => false,
        _ => {
            return Err(DecodeError { offset: 0, expected: "a key directory of version 1 or 2" });
        }
    };
    let count = from.count(12)?;
    let mut pages = Vec::with_capacity(count);
    for _ in 0..count {
        let order = if has_order { from.u64()? } else { 0 };
        let (hash, entries) = (from.u64()?, from.u32()?);
        let first = KeyCode { order, hash };
        pages.push(PageEntry { first, entries, blob: BlobRef::decode(&mut from)? });
    }
    from.end()?;
    Ok(pages)
}

//! A sorted run of key entries in the data file, and the merging of runs.
//!
//! - A run is one extent: its pages and a directory that names each page's first hash.
//! - The directory is read on first use, a page when a lookup falls in it.
//!
//! Byte table of the directory (version 1): version u8 | page count u32 | for each page: first hash
//! u64, entries u32, blob reference.
//! Byte table of a run image: entries u64 | directory's blob reference | extent reference × 2
//! (pages, directory).

use super::page::PAGE_ENTRIES;
use super::{KeyHash, KeyPage, row_of};
use crate::blobs::Blobs;
use crate::error::Result;
use gadus_base::{ByteReader, ByteWriter, DecodeError, RowId};
use gadus_storage::{BlobRef, Extent, ExtentRef};
use std::sync::{Arc, OnceLock};

const DIRECTORY_VERSION: u8 = 1;

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
    first_hash: u64,
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

    /// Hands rows with the hash to `visit`; false when it wants no more.
    pub(crate) fn candidates(
        &self,
        blobs: &Blobs,
        hash: KeyHash,
        visit: &mut impl FnMut(RowId) -> Result<bool>,
    ) -> Result<bool> {
        let directory = self.directory(blobs)?;
        // Entries of one hash may begin in the page before the first that starts with it.
        let first = directory.partition_point(|page| page.first_hash < hash.0).saturating_sub(1);
        for page in directory[first..].iter().take_while(|page| page.first_hash <= hash.0) {
            let page = blobs.key_page(&page.blob)?;
            for index in page.lower_bound(hash.0)..page.len() {
                let (entry_hash, code) = page.entry(index);
                if entry_hash != hash.0 {
                    break;
                }
                if !visit(row_of(code))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// All entries (hash, row code) in order; pages are read around the cache.
    pub(crate) fn read_all(&self, blobs: &Blobs) -> Result<Vec<(u64, u64)>> {
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
        if page.entries().next().is_none_or(|(hash, _)| hash != self.first_hash) {
            return wrong("the first hash that the directory says");
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

/// Writes entries (hash, row code), sorted by hash, as a run; not synced.
pub(crate) fn write_run(entries: &[(u64, u64)], blobs: &Blobs) -> Result<KeyRun> {
    gadus_base::strict_assert!(entries.is_sorted(), "a run is sorted");
    let pages = entries.chunks(PAGE_ENTRIES).map(KeyPage::encode).collect::<Vec<_>>();
    assert!(pages.len() <= PAGES_PER_EXTENT_MAX, "a run has at most 2^31 entries");
    let slices = pages.iter().map(Vec::as_slice).collect::<Vec<_>>();
    let (pages_extent, references) = blobs.store().write_extent(&slices)?;
    let directory = entries
        .chunks(PAGE_ENTRIES)
        .zip(references)
        .map(|(chunk, blob)| PageEntry {
            first_hash: chunk[0].0,
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
    recent: Vec<(u64, u64)>,
    blobs: &Blobs,
    keep: impl Fn(RowId) -> bool,
) -> Result<Option<KeyRun>> {
    let mut entries = recent;
    for run in runs {
        entries.append(&mut run.read_all(blobs)?);
    }
    entries.retain(|&(_, code)| keep(row_of(code)));
    // Already sorted stretches make this nearly a merge.
    entries.sort();
    entries.dedup();
    if entries.is_empty() { Ok(None) } else { write_run(&entries, blobs).map(Some) }
}

fn encode_directory(pages: &[PageEntry]) -> Vec<u8> {
    let mut to = ByteWriter::new();
    to.u8(DIRECTORY_VERSION);
    to.u32(u32::try_from(pages.len()).expect("at most PAGES_PER_EXTENT_MAX"));
    for page in pages {
        to.u64(page.first_hash);
        to.u32(page.entries);
        page.blob.encode(&mut to);
    }
    to.finish()
}

fn decode_directory(bytes: &[u8]) -> Result<Vec<PageEntry>, DecodeError> {
    let mut from = ByteReader::new(bytes);
    if from.u8()? != DIRECTORY_VERSION {
        return Err(DecodeError { offset: 0, expected: "a key directory of version 1" });
    }
    let count = from.count(12)?;
    let mut pages = Vec::with_capacity(count);
    for _ in 0..count {
        let (first_hash, entries) = (from.u64()?, from.u32()?);
        pages.push(PageEntry { first_hash, entries, blob: BlobRef::decode(&mut from)? });
    }
    from.end()?;
    Ok(pages)
}

//! The immutable base of a segment: a footer blob that names one blob a column.
//!
//! - The footer is read when it is first asked for; a column's blob when it is first scanned.
//! - Blobs lie in one extent when a segment is built; a fold writes only the columns it changes and
//!   goes on naming the older extents of the others.
//!
//! Byte table of the footer (version 1): version u8 | column count u32 | for each column: blob
//! reference, sketch.
//!
//! Byte table of a segment image, as log records and manifests hold it: segment id u32 | rows u32 |
//! footer's blob reference | extent count u32 | extent references.

use super::{Sample, Sketch};
use crate::blobs::Blobs;
use crate::encoding::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::types::TableSchema;
use gadus_base::{ByteReader, ByteWriter, DecodeError, SegmentId};
use gadus_storage::{BlobRef, Extent, ExtentRef};
use std::sync::{Arc, OnceLock};

const FOOTER_VERSION: u8 = 1;

/// A segment's base.
#[derive(Debug)]
pub(crate) struct EncodedSegment {
    rows: u32,
    footer_blob: BlobRef,
    extents: Vec<Arc<Extent>>,
    footer: OnceLock<Footer>,
    /// By column, drawn when they are first asked for.
    samples: OnceLock<Box<[OnceLock<Sample>]>>,
}

/// Names the blobs of a segment's columns.
#[derive(Debug, Clone)]
pub(crate) struct Footer {
    pub(crate) columns: Vec<ColumnEntry>,
}

/// One column of a footer.
#[derive(Debug, Clone)]
pub(crate) struct ColumnEntry {
    pub(crate) blob: BlobRef,
    pub(crate) sketch: Sketch,
}

/// A base as durable formats name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentImage {
    pub(crate) id: SegmentId,
    pub(crate) rows: u32,
    pub(crate) footer: BlobRef,
    pub(crate) extents: Vec<ExtentRef>,
}

impl EncodedSegment {
    /// A base that has just been written.
    pub(crate) fn written(
        rows: u32,
        footer_blob: BlobRef,
        extents: Vec<Arc<Extent>>,
        footer: Footer,
    ) -> Self {
        let (footer, samples) = (OnceLock::from(footer), OnceLock::new());
        Self { rows, footer_blob, extents, footer, samples }
    }

    /// A base named by a durable format; its extents are taken into use.
    pub(crate) fn adopt(image: &SegmentImage, blobs: &Blobs) -> Result<Self> {
        let extents = image
            .extents
            .iter()
            .map(|extent| blobs.store().adopt_extent(*extent))
            .collect::<Result<Vec<_>, _>>()?;
        let (footer, samples) = (OnceLock::new(), OnceLock::new());
        Ok(Self { rows: image.rows, footer_blob: image.footer, extents, footer, samples })
    }

    pub(crate) fn image(&self, id: SegmentId) -> SegmentImage {
        SegmentImage {
            id,
            rows: self.rows,
            footer: self.footer_blob,
            extents: self.extents.iter().map(|extent| extent.reference()).collect(),
        }
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    pub(crate) fn extents(&self) -> &[Arc<Extent>] {
        &self.extents
    }

    /// The footer, read on first use.
    pub(crate) fn footer(&self, schema: &TableSchema, blobs: &Blobs) -> Result<&Footer> {
        if let Some(footer) = self.footer.get() {
            return Ok(footer);
        }
        let blob = blobs.store().read_blob(&self.footer_blob)?;
        let footer =
            Footer::decode(&blob).map_err(|error| blobs.damaged(&self.footer_blob, error))?;
        if footer.columns.len() != schema.columns.len() {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!(
                    "a segment of table \"{}\" has {} columns instead of {}, at offset {}",
                    schema.name,
                    footer.columns.len(),
                    schema.columns.len(),
                    self.footer_blob.offset
                ),
            ));
        }
        Ok(self.footer.get_or_init(|| footer))
    }

    /// A column, from the cache or read and opened.
    pub(crate) fn column(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
    ) -> Result<Arc<Column>> {
        let entry = &self.footer(schema, blobs)?.columns[column];
        let opened = blobs.column(&entry.blob, schema.columns[column].column_type)?;
        self.check_rows(schema, column, entry, opened.rows)?;
        Ok(opened)
    }

    /// Some of a column's values.
    pub(crate) fn sample(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
    ) -> Result<&Sample> {
        let samples =
            self.samples.get_or_init(|| schema.columns.iter().map(|_| OnceLock::new()).collect());
        if let Some(sample) = samples[column].get() {
            return Ok(sample);
        }
        let drawn = Sample::of(&*self.column(schema, blobs, column)?);
        Ok(samples[column].get_or_init(|| drawn))
    }

    /// A column, read around the cache.
    pub(crate) fn read_column(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
    ) -> Result<Column> {
        let entry = &self.footer(schema, blobs)?.columns[column];
        let opened = blobs.read_column(&entry.blob, schema.columns[column].column_type)?;
        self.check_rows(schema, column, entry, opened.rows)?;
        Ok(opened)
    }

    fn check_rows(
        &self,
        schema: &TableSchema,
        column: usize,
        entry: &ColumnEntry,
        rows: usize,
    ) -> Result<()> {
        if rows == self.rows as usize {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "column \"{}\" of table \"{}\" has {rows} rows instead of {} in the blob at \
                 offset {}",
                schema.columns[column].name, schema.name, self.rows, entry.blob.offset
            ),
        ))
    }
}

impl Footer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = ByteWriter::new();
        to.u8(FOOTER_VERSION);
        to.u32(u32::try_from(self.columns.len()).expect("at most COLUMNS_MAX"));
        for column in &self.columns {
            column.blob.encode(&mut to);
            column.sketch.encode(&mut to);
        }
        to.finish()
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut from = ByteReader::new(bytes);
        if from.u8()? != FOOTER_VERSION {
            return Err(DecodeError { offset: 0, expected: "a segment footer of version 1" });
        }
        let count = from.count(9)?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            let blob = BlobRef::decode(&mut from)?;
            let sketch = Sketch::decode(&mut from)?;
            columns.push(ColumnEntry { blob, sketch });
        }
        from.end()?;
        Ok(Self { columns })
    }
}

impl SegmentImage {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.id.0);
        to.u32(self.rows);
        self.footer.encode(to);
        to.u32(u32::try_from(self.extents.len()).expect("a segment has few extents"));
        for extent in &self.extents {
            extent.encode(to);
        }
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let id = SegmentId(from.u32()?);
        let offset = from.offset();
        let rows = from.u32()?;
        if rows > super::SEGMENT_ROWS_MAX {
            return Err(DecodeError { offset, expected: "at most 65,536 rows" });
        }
        let footer = BlobRef::decode(from)?;
        let count = from.count(8)?;
        let extents = (0..count).map(|_| ExtentRef::decode(from)).collect::<Result<_, _>>()?;
        Ok(Self { id, rows, footer, extents })
    }
}

//! The immutable base of a segment: a footer blob that names one blob a column.
//!
//! - The footer is read when it is first asked for; a column's blob when it is first scanned.
//! - Where columns of the table were added or dropped since it was written, a layout says where each of
//!   today's columns is: at a place of the footer, or nowhere, and then all its rows have one value. The
//!   next base that is written has none.
//! - Blobs lie in one extent when a segment is built; a fold writes only the columns it changes and
//!   goes on naming the older extents of the others.
//!
//! Byte table of the footer (version 1): version u8 | column count u32 | for each column: blob
//! reference, sketch.
//!
//! Byte table of a segment image, as log records and manifests hold it: segment id u32 | rows u32 |
//! footer's blob reference | extent count u32 | extent references. Where there is a layout, the highest
//! bit of the extent count is set, and it follows: column count u32 | for each column: 0 and its place
//! in the footer u32, or 1 and its value.

use super::layout::{Constant, Layout, Source};
use super::{Sample, Sketch};
use crate::blobs::Blobs;
use crate::encoding::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::types::{StorageClass, TableSchema};
use crate::vector::{Rows, Vector};
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
    /// None where the columns are those of the footer.
    layout: Option<Layout>,
    footer: OnceLock<Footer>,
    /// By column, drawn when they are first asked for.
    samples: OnceLock<Box<[OnceLock<Sample>]>>,
    /// Bytes of all values of variable width, once they have been read for that.
    value_bytes: OnceLock<u64>,
}

/// Names the blobs of a segment's columns.
#[derive(Debug, Clone)]
pub(crate) struct Footer {
    pub(crate) columns: Vec<ColumnEntry>,
}

/// One column of a footer.
#[derive(Debug, Clone)]
pub(crate) struct ColumnEntry {
    pub(crate) place: ColumnPlace,
    pub(crate) sketch: Sketch,
}

/// Where the values of a column are.
#[derive(Debug, Clone)]
pub(crate) enum ColumnPlace {
    Blob(BlobRef),
    /// Nowhere: all rows have one.
    Constant(Arc<Constant>),
}

/// A base as durable formats name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentImage {
    pub(crate) id: SegmentId,
    pub(crate) rows: u32,
    pub(crate) footer: BlobRef,
    pub(crate) extents: Vec<ExtentRef>,
    pub(crate) layout: Option<Layout>,
}

/// Says in an image's count of extents that a layout follows.
const HAS_LAYOUT: u32 = 1 << 31;

impl EncodedSegment {
    /// A base that has just been written.
    pub(crate) fn written(
        rows: u32,
        footer_blob: BlobRef,
        extents: Vec<Arc<Extent>>,
        footer: Footer,
    ) -> Self {
        let (footer, samples) = (OnceLock::from(footer), OnceLock::new());
        let value_bytes = OnceLock::new();
        Self { rows, footer_blob, extents, layout: None, footer, samples, value_bytes }
    }

    /// The same rows under another schema: each column is one that was here, or has one value.
    pub(crate) fn relaid(&self, sources: &[Source]) -> Self {
        let layout = match &self.layout {
            Some(layout) => layout.followed_by(sources),
            None => Layout::new(sources.to_vec()),
        };
        Self {
            rows: self.rows,
            footer_blob: self.footer_blob,
            extents: self.extents.clone(),
            layout: Some(layout),
            footer: OnceLock::new(),
            samples: OnceLock::new(),
            value_bytes: OnceLock::new(),
        }
    }

    /// A base named by a durable format; its extents are taken into use.
    pub(crate) fn adopt(image: &SegmentImage, blobs: &Blobs) -> Result<Self> {
        let extents = image
            .extents
            .iter()
            .map(|extent| blobs.store().adopt_extent(*extent))
            .collect::<Result<Vec<_>, _>>()?;
        let (footer, samples) = (OnceLock::new(), OnceLock::new());
        let (rows, footer_blob, layout) = (image.rows, image.footer, image.layout.clone());
        let value_bytes = OnceLock::new();
        Ok(Self { rows, footer_blob, extents, layout, footer, samples, value_bytes })
    }

    pub(crate) fn image(&self, id: SegmentId) -> SegmentImage {
        SegmentImage {
            id,
            rows: self.rows,
            footer: self.footer_blob,
            extents: self.extents.iter().map(|extent| extent.reference()).collect(),
            layout: self.layout.clone(),
        }
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    pub(crate) fn extents(&self) -> &[Arc<Extent>] {
        &self.extents
    }

    /// Bytes of all values of variable width, where they are known; what repeats counts each time.
    pub(crate) fn value_bytes(&self) -> Option<u64> {
        self.value_bytes.get().copied()
    }

    /// Learns the bytes of all values of variable width.
    pub(crate) fn learn_value_bytes(&self, schema: &TableSchema, blobs: &Blobs) -> Result<()> {
        if self.value_bytes.get().is_some() {
            return Ok(());
        }
        let mut bytes = 0;
        for (index, column) in schema.columns.iter().enumerate() {
            let class = column.column_type.storage();
            if class == StorageClass::Bytes {
                let mut values = Vector::empty(class);
                let rows = Rows::Range { first: 0, count: self.rows as usize };
                values.append_column(&*self.column(schema, blobs, index)?, rows);
                bytes += values.value_bytes();
            }
        }
        let _ = self.value_bytes.set(bytes);
        Ok(())
    }

    /// The footer, read on first use.
    pub(crate) fn footer(&self, schema: &TableSchema, blobs: &Blobs) -> Result<&Footer> {
        if let Some(footer) = self.footer.get() {
            return Ok(footer);
        }
        let blob = blobs.store().read_blob(&self.footer_blob)?;
        let mut footer =
            Footer::decode(&blob).map_err(|error| blobs.damaged(&self.footer_blob, error))?;
        if let Some(layout) = &self.layout {
            footer = layout.applied(&footer, self.rows, schema).ok_or_else(|| {
                let expected = "the columns of the segment's layout";
                blobs.damaged(&self.footer_blob, DecodeError { offset: 0, expected })
            })?;
        }
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
        let blob = match &entry.place {
            ColumnPlace::Blob(blob) => blob,
            ColumnPlace::Constant(constant) => return constant.column(),
        };
        let opened = blobs.column(blob, schema.columns[column].column_type)?;
        self.check_rows(schema, column, blob, opened.rows)?;
        Ok(opened)
    }

    /// How many bytes a column takes, encoded.
    pub(crate) fn column_bytes(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
    ) -> Result<u64> {
        Ok(match &self.footer(schema, blobs)?.columns[column].place {
            ColumnPlace::Blob(blob) => blob.bytes,
            ColumnPlace::Constant(_) => 0,
        })
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
        let blob = match &entry.place {
            ColumnPlace::Blob(blob) => blob,
            ColumnPlace::Constant(constant) => return Ok(Column::clone(&*constant.column()?)),
        };
        let opened = blobs.read_column(blob, schema.columns[column].column_type)?;
        self.check_rows(schema, column, blob, opened.rows)?;
        Ok(opened)
    }

    fn check_rows(
        &self,
        schema: &TableSchema,
        column: usize,
        blob: &BlobRef,
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
                schema.columns[column].name, schema.name, self.rows, blob.offset
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
            let ColumnPlace::Blob(blob) = &column.place else {
                unreachable!("a base is written with all its columns");
            };
            blob.encode(&mut to);
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
            columns.push(ColumnEntry { place: ColumnPlace::Blob(blob), sketch });
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
        let count = u32::try_from(self.extents.len()).expect("a segment has few extents");
        to.u32(count | if self.layout.is_some() { HAS_LAYOUT } else { 0 });
        for extent in &self.extents {
            extent.encode(to);
        }
        if let Some(layout) = &self.layout {
            layout.encode(to);
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
        let offset = from.offset();
        let count = from.u32()?;
        let (has_layout, count) = (count & HAS_LAYOUT != 0, (count & !HAS_LAYOUT) as usize);
        // An extent takes more than this.
        if count.saturating_mul(8) > from.remaining() {
            return Err(DecodeError { offset, expected: "a count that fits the bytes" });
        }
        let extents = (0..count).map(|_| ExtentRef::decode(from)).collect::<Result<_, _>>()?;
        let layout = has_layout.then(|| Layout::decode(from)).transpose()?;
        Ok(Self { id, rows, footer, extents, layout })
    }
}

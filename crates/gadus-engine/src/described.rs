//! How a table is kept, for people: its segments, what each column takes there, and what is known of its values.

use crate::encoding::Body;
use crate::error::Result;
use crate::segment::{ColumnEntry, ColumnPlace, EncodedSegment, SegmentVersion};
use crate::snapshot::Table;
use crate::types::Datum;
use gadus_base::SegmentId;

/// A segment of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentDescription {
    /// Its number in the table, for ever.
    pub id: SegmentId,
    /// Positions in use, those of deleted rows among them.
    pub rows: u32,
    /// Rows that are there.
    pub live_rows: u32,
    /// Rows that are encoded; those behind them wait in memory, and in the log, until they are.
    pub encoded_rows: u32,
    /// Its columns, as far as rows are encoded; empty where none are.
    pub columns: Vec<ColumnDescription>,
}

/// A column of a segment: what is known of its encoded values, which later changes do not alter.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDescription {
    /// How values are encoded; none where that was not asked for.
    pub encoding: Option<&'static str>,
    /// What they take in the file.
    pub bytes: u64,
    /// How many are NULL.
    pub nulls: u32,
    /// Distinct ones, at most.
    pub distinct: u32,
    /// No value lies outside of these two; none where no short bounds exist.
    pub range: Option<(Datum, Datum)>,
}

impl Table {
    /// Its segments. To tell how columns are encoded, they are read.
    pub fn describe_segments(&self, encodings: bool) -> Result<Vec<SegmentDescription>> {
        // Bounds of values, and how many are NULL, are answers, too.
        self.note_all()?;
        let segments = self.version().segments.values();
        self.checked(segments.map(|segment| self.describe_segment(segment, encodings)).collect())
    }

    fn describe_segment(
        &self,
        segment: &SegmentVersion,
        encodings: bool,
    ) -> Result<SegmentDescription> {
        let columns = match &segment.encoded {
            None => Vec::new(),
            Some(base) => {
                let footer = base.footer(self.schema(), self.blobs())?;
                let described = footer.columns.iter().enumerate().map(|(column, entry)| {
                    let encoding = || self.encoding(base, column, &entry.place);
                    Ok(ColumnDescription::of(entry, encodings.then(encoding).transpose()?))
                });
                described.collect::<Result<_>>()?
            }
        };
        Ok(SegmentDescription {
            id: segment.id,
            rows: segment.rows,
            live_rows: segment.live_rows(),
            encoded_rows: segment.encoded_rows(),
            columns,
        })
    }

    fn encoding(
        &self,
        base: &EncodedSegment,
        column: usize,
        place: &ColumnPlace,
    ) -> Result<&'static str> {
        if let ColumnPlace::Constant(_) = place {
            return Ok("constant");
        }
        Ok(match base.read_column(self.schema(), self.blobs(), column)?.body {
            Body::Plain(_) => "plain",
            Body::Dictionary { .. } => "dictionary",
            Body::Runs { .. } => "runs",
        })
    }

    /// What the primary key and all indexes take in the file.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        self.version().keys.runs().map(|run| run.bytes()).sum()
    }
}

impl ColumnDescription {
    fn of(entry: &ColumnEntry, encoding: Option<&'static str>) -> Self {
        let bytes = match &entry.place {
            ColumnPlace::Blob(blob) => blob.bytes,
            ColumnPlace::Constant(_) => 0,
        };
        let sketch = &entry.sketch;
        let (nulls, distinct, range) = (sketch.nulls, sketch.distinct, sketch.range.clone());
        Self { encoding, bytes, nulls, distinct, range }
    }
}

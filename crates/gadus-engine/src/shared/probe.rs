//! One column of one segment against all questions that are looked up by it.
//!
//! - A dictionary is held against the questions once, and its rows by code; packed integers by their
//!   distance from the base, byte strings by a hash. Rows that match nobody cost about a nanosecond.
//! - What is found are candidates: a deleted row may be among them. NULLs and values that were patched
//!   since are not.

use super::hits::{Filter, Groups, Hit, Points, dictionary_hits, hash_bytes, integer_hits};
use super::index::{ColumnIndex, QuestionIndex};
use crate::encoding::{Body, ByteValues, Column, Packed, Values, code_index};
use crate::error::Result;
use crate::scan::{CHUNK_ROWS, Prepared, Test};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::types::Datum;
use std::sync::Arc;

/// Ranges that are tested one by one, 64 rows at a time: four of these cost as much as a table.
const MASKS_MAX: usize = 4;

/// Bits of packed values that index a table: it then fits the second-level cache.
const TABLE_BITS_MAX: u8 = 16;

/// Rows that may answer questions, by question.
#[derive(Debug)]
pub(super) struct Candidates {
    rows: Vec<Vec<u32>>,
    /// Questions that have some.
    touched: Vec<QuestionIndex>,
}

/// A segment whose columns are opened once.
#[derive(Debug)]
pub(super) struct OpenSegment<'a> {
    pub(super) table: &'a Table,
    pub(super) segment: &'a SegmentVersion,
    columns: Vec<Option<Arc<Column>>>,
}

impl Candidates {
    pub(super) fn of(questions: usize) -> Self {
        Self { rows: vec![Vec::new(); questions], touched: Vec::new() }
    }

    fn push(&mut self, question: QuestionIndex, position: u32) {
        let rows = &mut self.rows[question as usize];
        if rows.is_empty() {
            self.touched.push(question);
        }
        rows.push(position);
    }

    /// Hands the rising candidates of each question to `each`, which keeps what it likes; then there
    /// are none.
    pub(super) fn drain(&mut self, mut each: impl FnMut(QuestionIndex, &mut Vec<u32>)) {
        for question in self.touched.drain(..) {
            let rows = &mut self.rows[question as usize];
            if !rows.is_sorted_by(|one, next| one < next) {
                rows.sort_unstable();
                rows.dedup();
            }
            each(question, rows);
            rows.clear();
        }
    }
}

impl<'a> OpenSegment<'a> {
    pub(super) fn new(table: &'a Table, segment: &'a SegmentVersion) -> Self {
        Self { table, segment, columns: vec![None; table.schema().columns.len()] }
    }

    /// A column of the base, where there is a base.
    pub(super) fn column(&mut self, column: usize) -> Result<Option<Arc<Column>>> {
        let Some(base) = &self.segment.encoded else { return Ok(None) };
        if self.columns[column].is_none() {
            let opened = base.column(self.table.schema(), self.table.blobs(), column)?;
            self.columns[column] = Some(opened);
        }
        Ok(self.columns[column].clone())
    }
}

/// Finds the candidates of all questions that are looked up by one column.
pub(super) fn probe(
    index: &ColumnIndex,
    open: &mut OpenSegment<'_>,
    candidates: &mut Candidates,
) -> Result<()> {
    let segment = open.segment;
    if let Some(base) = &segment.encoded {
        let footer = base.footer(open.table.schema(), open.table.blobs())?;
        if let Some((min, max)) = &footer.columns[index.column].sketch.range {
            let points = index.points_within(min, max);
            let spans = index.spans.iter().filter(|(test, _)| test.may_pass(min, max));
            let spans = spans.collect::<Vec<_>>();
            if (!points.is_empty() || !spans.is_empty())
                && let Some(column) = open.column(index.column)?
            {
                BaseProbe::new(index, segment, &column, candidates).run(points, &spans);
            }
        } else if footer.columns[index.column].sketch.nulls < base.rows()
            && let Some(column) = open.column(index.column)?
        {
            // Values so long that no short bound lies above them.
            let spans = index.spans.iter().collect::<Vec<_>>();
            BaseProbe::new(index, segment, &column, candidates).run(&index.points, &spans);
        }
    }
    let column = column_number(index.column);
    for (position, value) in segment.overlay.patches_within(column, 0..segment.encoded_rows()) {
        index.each_match(value, |question| candidates.push(question, position));
    }
    for position in segment.encoded_rows()..segment.rows {
        let value = segment.datum_with(None, index.column, position);
        index.each_match(&value, |question| candidates.push(question, position));
    }
    Ok(())
}

fn column_number(column: usize) -> u32 {
    u32::try_from(column).expect("at most COLUMNS_MAX columns")
}

/// The base's part of a probe.
struct BaseProbe<'a> {
    index: &'a ColumnIndex,
    segment: &'a SegmentVersion,
    column: &'a Column,
    is_patched: bool,
    candidates: &'a mut Candidates,
}

impl<'a> BaseProbe<'a> {
    fn new(
        index: &'a ColumnIndex,
        segment: &'a SegmentVersion,
        column: &'a Column,
        candidates: &'a mut Candidates,
    ) -> Self {
        let is_patched = segment.overlay.has_patches(column_number(index.column));
        Self { index, segment, column, is_patched, candidates }
    }

    fn run(&mut self, points: Points<'_>, spans: &[&(Test, QuestionIndex)]) {
        let column = self.column;
        match &column.body {
            Body::Dictionary { values, codes } => {
                let mut hits = dictionary_hits(values, codes, points);
                self.add_spans(spans, &mut hits);
                self.packed(codes, &hits);
            }
            Body::Plain(Values::Integer(packed)) => {
                let mut hits = integer_hits(packed, points);
                self.add_spans(spans, &mut hits);
                self.packed(packed, &hits);
            }
            Body::Plain(Values::Bytes(values)) => {
                self.bytes(values, points);
                self.spans_alone(spans);
            }
            Body::Runs { ends, values } => self.runs(ends, values),
            Body::Plain(values) => {
                for row in 0..values.count() {
                    self.value(&values.datum(row), row..row + 1);
                }
            }
        }
    }

    /// Ranges as packed values, where they are that; others are evaluated here.
    fn add_spans<'h>(&mut self, spans: &[&'h (Test, QuestionIndex)], hits: &mut Vec<Hit<'h>>) {
        for (test, question) in spans {
            match Prepared::new(self.column, test) {
                Prepared::Span { low, span, negated: false, .. } => {
                    let questions = std::slice::from_ref(question);
                    hits.push(Hit { low, high: low.saturating_add(span), questions });
                }
                Prepared::Constant(false) => {}
                prepared => self.evaluated(&prepared, *question),
            }
        }
    }

    fn spans_alone(&mut self, spans: &[&(Test, QuestionIndex)]) {
        for (test, question) in spans {
            self.evaluated(&Prepared::new(self.column, test), *question);
        }
    }

    fn evaluated(&mut self, prepared: &Prepared<'_>, question: QuestionIndex) {
        let mut first = 0;
        while first < self.column.rows {
            let count = CHUNK_ROWS.min(self.column.rows - first);
            let mask = prepared.evaluate(first, count);
            for position in mask.positions(position_of(first)) {
                self.found(std::slice::from_ref(&question), position);
            }
            first += count;
        }
    }

    /// Rows of packed values or codes.
    fn packed(&mut self, packed: &Packed, hits: &[Hit<'_>]) {
        if hits.len() <= MASKS_MAX {
            hits.iter().for_each(|hit| self.packed_range(packed, hit));
            return;
        }
        let groups = Groups::of(hits, packed.distance_max());
        if packed.width() <= TABLE_BITS_MAX
            && let Some(heads) = groups.heads(1 << packed.width())
        {
            let asked = |distance: u64| heads[code_index(distance.cast_signed())] != 0;
            self.packed_by(packed, asked, |distance| {
                groups.of_head(heads[code_index(distance.cast_signed())])
            });
        } else {
            let buckets = groups.buckets(packed.width());
            self.packed_by(
                packed,
                |distance| buckets.may_hold(distance),
                |distance| groups.find(distance),
            );
        }
    }

    fn packed_range(&mut self, packed: &Packed, hit: &Hit<'_>) {
        let mut words = [0_u64; CHUNK_ROWS / 64];
        let mut first = 0;
        while first < packed.count() {
            let count = CHUNK_ROWS.min(packed.count() - first);
            let words = &mut words[..count.div_ceil(64)];
            packed.within_distances(first, count, (hit.low, hit.high - hit.low), words);
            for (word, base) in words.iter().zip((first..).step_by(64)) {
                let mut rest = *word;
                while rest != 0 {
                    let position = position_of(base) + rest.trailing_zeros();
                    self.found(hit.questions, position);
                    rest &= rest - 1;
                }
            }
            first += count;
        }
    }

    /// Rows whose packed value `may` be asked for, and who asks for it.
    fn packed_by<'g>(
        &mut self,
        packed: &Packed,
        may: impl Fn(u64) -> bool,
        who: impl Fn(u64) -> &'g [QuestionIndex],
    ) {
        let mut found = [0_u32; CHUNK_ROWS];
        for first in (0..packed.count()).step_by(CHUNK_ROWS) {
            let count = CHUNK_ROWS.min(packed.count() - first);
            let (mut matches, mut position) = (0, position_of(first));
            packed.for_each_distance(first, count, |distance| {
                // Without a branch: most rows match nobody, and some of every few do.
                found[matches] = position;
                matches += usize::from(may(distance));
                position += 1;
            });
            for &position in &found[..matches] {
                self.found(who(packed.distance(position as usize)), position);
            }
        }
    }

    fn bytes(&mut self, values: &ByteValues, points: Points<'_>) {
        if points.is_empty() {
            return;
        }
        let mut filter = Filter::new();
        for (value, _) in points {
            if let Datum::Bytes(bytes) = value {
                filter.add(hash_bytes(bytes));
            }
        }
        let data = values.data().as_slice();
        let mut position = 0;
        values.for_each_span(0, values.count(), |start, length| {
            let bytes = &data[start..start + length];
            if filter.may_hold(hash_bytes(bytes)) {
                let place = points.binary_search_by(|(point, _)| match point {
                    Datum::Bytes(point) => (**point).cmp(bytes),
                    other => other.cmp(&Datum::Null),
                });
                if let Ok(place) = place {
                    self.found(&points[place].1, position);
                }
            }
            position += 1;
        });
    }

    fn runs(&mut self, ends: &Packed, values: &Values) {
        let mut first = 0;
        for run in 0..values.count() {
            let end = code_index(ends.get(run));
            self.value(&values.datum(run), first..end);
            first = end;
        }
    }

    /// Looks one value up, which all these rows have.
    fn value(&mut self, value: &Datum, rows: std::ops::Range<usize>) {
        let index = self.index;
        index.each_match(value, |question| {
            for row in rows.clone() {
                self.found(std::slice::from_ref(&question), position_of(row));
            }
        });
    }

    /// Notes a row that has what these questions look up, where it is not NULL nor patched since.
    fn found(&mut self, questions: &[QuestionIndex], position: u32) {
        let validity = &self.column.validity;
        if validity.as_ref().is_some_and(|valid| !valid.value(position as usize)) {
            return;
        }
        if self.is_patched {
            let column = column_number(self.index.column);
            if self.segment.overlay.patched(column, position).is_some() {
                return;
            }
        }
        questions.iter().for_each(|question| self.candidates.push(*question, position));
    }
}

/// A row of a segment as its position.
pub(super) fn position_of(row: usize) -> u32 {
    u32::try_from(row).expect("within a segment")
}

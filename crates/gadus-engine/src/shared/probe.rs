//! One column of one segment against all questions that are looked up by it.
//!
//! - A dictionary is held against the questions once, and its rows by code; packed integers by their
//!   distance from the base, byte strings by a hash. Rows that match nobody cost about a nanosecond.
//! - What is found are candidates: a deleted row may be among them. NULLs and values that were patched
//!   since are not.

use super::byte_keys::{key_of_bytes, keys_of};
use super::candidates::{Candidates, OpenSegment};
use super::first_check::FirstChecks;
use super::flags::{Flags, Matches};
use super::hits::{Groups, Hit, Points, dictionary_hits, integer_hits};
use super::index::{ColumnIndex, QuestionIndex};
use super::pair_hits::PairHits;
use crate::encoding::{Body, ByteValues, Column, Packed, Values, code_index};
use crate::error::Result;
use crate::scan::{CHUNK_ROWS, Prepared, Test, chunk_rows};
use crate::segment::column_number;
use crate::types::Datum;

/// Ranges that are tested one by one, 64 rows at a time: eight of these cost as much as a table.
const MASKS_MAX: usize = 8;

/// Places before any were found.
const NO_MATCHES: Matches = [0; CHUNK_ROWS + 8];

/// Bits of packed values that index a table: it then fits the second-level cache.
const TABLE_BITS_MAX: u8 = 16;

/// Finds the candidates of all questions that are looked up by one column.
pub(super) fn probe<'t>(
    index: &ColumnIndex,
    open: &mut OpenSegment<'t>,
    first: &mut FirstChecks<'t>,
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
                BaseProbe::new(index, &column, open, first, candidates).run(points, &spans)?;
            }
        } else if footer.columns[index.column].sketch.nulls < base.rows()
            && let Some(column) = open.column(index.column)?
        {
            // Values so long that no short bound lies above them.
            let spans = index.spans.iter().collect::<Vec<_>>();
            BaseProbe::new(index, &column, open, first, candidates).run(&index.points, &spans)?;
        }
    }
    let column = column_number(index.column);
    for (position, value) in segment.overlay.patches_within(column, 0..segment.encoded_rows()) {
        index.each_match(value, |question| candidates.push(question, position));
    }
    if let Some(pairs) = &index.pairs {
        // Where the second value is another than the base's, the first one finds the row.
        let second = column_number(pairs.column);
        let base = open.column(index.column)?;
        for (position, _) in segment.overlay.patches_within(second, 0..segment.encoded_rows()) {
            let value = segment.datum_with(base.as_deref(), index.column, position);
            index.each_match(&value, |question| candidates.push(question, position));
        }
    }
    for position in segment.encoded_rows()..segment.rows {
        let value = segment.datum_with(None, index.column, position);
        index.each_match(&value, |question| candidates.push(question, position));
    }
    Ok(())
}

/// The base's part of a probe.
struct BaseProbe<'a, 't> {
    index: &'a ColumnIndex,
    column: &'a Column,
    is_patched: bool,
    /// Rows at a time, [`CHUNK_ROWS`] at most.
    chunk_rows: usize,
    open: &'a mut OpenSegment<'t>,
    first: &'a mut FirstChecks<'t>,
    candidates: &'a mut Candidates,
}

impl<'a, 't> BaseProbe<'a, 't> {
    fn new(
        index: &'a ColumnIndex,
        column: &'a Column,
        open: &'a mut OpenSegment<'t>,
        first: &'a mut FirstChecks<'t>,
        candidates: &'a mut Candidates,
    ) -> Self {
        let is_patched = open.segment.overlay.has_patches(column_number(index.column));
        let chunk_rows = chunk_rows();
        Self { index, column, is_patched, chunk_rows, open, first, candidates }
    }

    fn run(&mut self, points: Points<'_>, spans: &[&(Test, QuestionIndex)]) -> Result<()> {
        if let Some(pairs) = &self.index.pairs
            && let Some(second) = self.open.column(pairs.column)?
            && let Some((hits, bits)) = PairHits::of(&pairs.asked, self.column, &second)
        {
            self.pairs(&hits, bits, &second);
            return Ok(());
        }
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
        Ok(())
    }

    /// Rows that have two values together.
    fn pairs(&mut self, hits: &PairHits, bits: u8, second: &Column) {
        let (Some(one), Some(other)) = (self.column.packed(), second.packed()) else { return };
        let (mut ones, mut others) = ([0; CHUNK_ROWS], [0; CHUNK_ROWS]);
        let mut found = NO_MATCHES;
        for first in (0..one.count()).step_by(self.chunk_rows) {
            let count = self.chunk_rows.min(one.count() - first);
            one.distances(first, &mut ones[..count]);
            other.distances(first, &mut others[..count]);
            for (one, other) in ones[..count].iter_mut().zip(&others[..count]) {
                *one |= other << bits;
            }
            let matches = hits.flags().matches(&ones[..count], &mut found);
            for &row in &found[..matches] {
                let row = usize::from(row);
                self.found(hits.of_key(ones[row]), position_of(first + row));
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
            let count = self.chunk_rows.min(self.column.rows - first);
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
        let flags = groups.flags(packed.width());
        if packed.width() <= TABLE_BITS_MAX
            && let Some(heads) = groups.heads(1 << packed.width())
        {
            self.packed_by(packed, &flags, |distance| {
                groups.of_head(heads[code_index(distance.cast_signed())])
            });
        } else {
            self.packed_by(packed, &flags, |distance| groups.find(distance));
        }
    }

    fn packed_range(&mut self, packed: &Packed, hit: &Hit<'_>) {
        let mut words = [0_u64; CHUNK_ROWS / 64];
        let mut first = 0;
        while first < packed.count() {
            let count = self.chunk_rows.min(packed.count() - first);
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

    /// Rows whose packed value may be asked for, and who asks for it.
    fn packed_by<'g>(
        &mut self,
        packed: &Packed,
        flags: &Flags,
        who: impl Fn(u64) -> &'g [QuestionIndex],
    ) {
        let (mut distances, mut found) = ([0; CHUNK_ROWS], NO_MATCHES);
        for first in (0..packed.count()).step_by(self.chunk_rows) {
            let distances = &mut distances[..self.chunk_rows.min(packed.count() - first)];
            packed.distances(first, distances);
            let matches = flags.matches(distances, &mut found);
            for &row in &found[..matches] {
                let row = usize::from(row);
                self.found(who(distances[row]), position_of(first + row));
            }
        }
    }

    fn bytes(&mut self, values: &ByteValues, points: Points<'_>) {
        if points.is_empty() {
            return;
        }
        let mut flags = Flags::of_hashes();
        for (value, _) in points {
            if let Datum::Bytes(bytes) = value {
                flags.add(key_of_bytes(bytes));
            }
        }
        let data = values.data().as_slice();
        let (mut offsets, mut keys) = ([0; CHUNK_ROWS + 1], [0; CHUNK_ROWS]);
        let mut found = NO_MATCHES;
        for first in (0..values.count()).step_by(self.chunk_rows) {
            let count = self.chunk_rows.min(values.count() - first);
            let offsets = &mut offsets[..=count];
            values.offsets(first, offsets);
            keys_of(data, offsets, &mut keys[..count]);
            let matches = flags.matches(&keys[..count], &mut found);
            for &row in &found[..matches] {
                let row = first + usize::from(row);
                let bytes = values.get(row);
                let place = points.binary_search_by(|(point, _)| match point {
                    Datum::Bytes(point) => (**point).cmp(bytes),
                    other => other.cmp(&Datum::Null),
                });
                if let Ok(place) = place {
                    self.found(&points[place].1, position_of(row));
                }
            }
        }
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
            if self.open.segment.overlay.patched(column, position).is_some() {
                return;
            }
        }
        for &question in questions {
            if self.first.may_pass(question, position as usize, self.candidates, self.open) {
                self.candidates.push(question, position);
            }
        }
    }
}

/// A row of a segment as its position.
pub(super) fn position_of(row: usize) -> u32 {
    u32::try_from(row).expect("within a segment")
}

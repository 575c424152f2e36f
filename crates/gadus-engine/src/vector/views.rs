//! Byte strings as Arrow views: sixteen bytes each, the longer ones pointing into shared buffers.
//!
//! - Every view lies within its buffer, and the bytes of a text column's views are UTF-8: blobs are
//!   checked when they are opened, arrays when they are made, single values where they enter.

#![allow(unsafe_code)] // arrays are made without checking each view again; see `into_array`

use super::Rows;
use crate::encoding::{Body, ByteValues, Column, OwnedValues, Values, code_index, run_of};
use crate::error::Result;
use crate::types::{ColumnType, length_of, nested_array};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, ByteView, StringViewArray, make_view,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use std::sync::Arc;

/// Longest byte string that a view holds itself.
const INLINE_BYTES_MAX: usize = 12;

/// Of fewer rows than this part of a blob's, long byte strings are copied: a few rows should not keep all
/// the blobs in memory that they come from.
const COPIED_PART: usize = 16;

/// Views and the buffers they point into.
#[derive(Debug, Default)]
pub(super) struct Views {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
    /// What was copied, until it becomes a buffer; its views point to [`COPIED`].
    copied: Vec<u8>,
}

/// The buffer of what was copied, which has no place yet.
const COPIED: u32 = u32::MAX;

/// Bytes that are copied into one buffer.
const COPIED_BYTES_MAX: usize = 1 << 30;

impl Views {
    pub(super) fn len(&self) -> usize {
        self.views.len()
    }

    /// Bytes of all values: what repeats counts each time.
    pub(super) fn value_bytes(&self) -> u64 {
        self.views.iter().map(|view| length_of(*view) as u64).sum()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let view = self.view_of(bytes);
        self.views.push(view);
    }

    pub(super) fn set(&mut self, index: usize, bytes: &[u8]) {
        let view = self.view_of(bytes);
        self.views[index] = view;
    }

    fn view_of(&mut self, bytes: &[u8]) -> u128 {
        if bytes.len() <= INLINE_BYTES_MAX {
            return make_view(bytes, 0, 0);
        }
        if self.copied.len() + bytes.len() > COPIED_BYTES_MAX {
            self.place_copied();
        }
        let offset = u32::try_from(self.copied.len()).expect("bounded above");
        self.copied.extend_from_slice(bytes);
        make_view(bytes, COPIED, offset)
    }

    /// Gives what was copied a buffer with a place.
    fn place_copied(&mut self) {
        if self.copied.is_empty() {
            return;
        }
        let place = buffer_index(self.buffers.len());
        self.buffers.push(Buffer::from_vec(std::mem::take(&mut self.copied)));
        for raw in &mut self.views {
            let mut view = ByteView::from(*raw);
            if view.length as usize > INLINE_BYTES_MAX && view.buffer_index == COPIED {
                view.buffer_index = place;
                *raw = view.as_u128();
            }
        }
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        let raw = &self.views[index];
        let view = ByteView::from(*raw);
        let length = view.length as usize;
        if length > INLINE_BYTES_MAX && view.buffer_index == COPIED {
            let start = view.offset as usize;
            return &self.copied[start..start + length];
        }
        view_bytes(raw, &self.buffers)
    }

    pub(super) fn append_column(&mut self, column: &Column, rows: Rows<'_>) {
        let values = match &column.body {
            Body::Plain(Values::Bytes(values)) => values,
            Body::Dictionary { values: Values::Bytes(values), .. }
            | Body::Runs { values: Values::Bytes(values), .. } => values,
            _ => unreachable!("asked of a byte column only"),
        };
        if let Rows::Positions(positions) = rows
            && positions.len() * COPIED_PART < column.rows
        {
            for &position in positions {
                let index = match &column.body {
                    Body::Dictionary { codes, .. } => code_index(codes.get(position as usize)),
                    Body::Runs { ends, .. } => run_of(ends, position as usize),
                    Body::Plain(_) => position as usize,
                };
                self.push(values.get(index));
            }
            return;
        }
        let buffer = buffer_index(self.buffers.len());
        self.buffers.push(values.data().clone());
        let to = &mut self.views;
        to.reserve(rows.count());
        match (&column.body, rows) {
            (Body::Plain(_), Rows::Range { first, count }) => {
                let data = values.data().as_slice();
                values.for_each_span(first, count, |start, length| {
                    to.push(view_at(data, start, length, buffer));
                });
            }
            (Body::Plain(_), Rows::Positions(positions)) => {
                to.extend(positions.iter().map(|&row| view_of(values, row as usize, buffer)));
            }
            (Body::Dictionary { codes, .. }, rows) if rows.count() > values.count() => {
                // Each entry's view is made once, and copied from then on.
                let entries = (0..values.count())
                    .map(|entry| view_of(values, entry, buffer))
                    .collect::<Vec<_>>();
                super::each_packed(codes, rows, |code| to.push(entries[code_index(code)]));
            }
            (Body::Dictionary { codes, .. }, rows) => {
                super::each_packed(codes, rows, |code| {
                    to.push(view_of(values, code_index(code), buffer))
                });
            }
            (Body::Runs { ends, .. }, rows) => {
                super::each_run_index(ends, rows, |run| to.push(view_of(values, run, buffer)));
            }
        }
    }

    pub(super) fn append(&mut self, mut other: Self) {
        other.place_copied();
        let shift = buffer_index(self.buffers.len());
        self.buffers.extend(other.buffers);
        self.views.extend(other.views.into_iter().map(|raw| {
            let mut view = ByteView::from(raw);
            if view.length as usize <= INLINE_BYTES_MAX {
                return raw;
            }
            view.buffer_index += shift;
            view.as_u128()
        }));
    }

    pub(super) fn from_array(array: &dyn Array) -> Self {
        match array.as_string_view_opt() {
            Some(text) => {
                let (views, buffers) = (text.views().to_vec(), text.data_buffers().to_vec());
                Self { views, buffers, copied: Vec::new() }
            }
            None => {
                let binary = array.as_binary_view();
                let (views, buffers) = (binary.views().to_vec(), binary.data_buffers().to_vec());
                Self { views, buffers, copied: Vec::new() }
            }
        }
    }

    pub(super) fn into_owned(self, validity: Option<&BooleanBuffer>) -> OwnedValues {
        let is_valid = |row: usize| validity.is_none_or(|valid| valid.value(row));
        let lengths = self.views.iter().map(|view| length_of(*view)).enumerate();
        let bytes = lengths.filter(|(row, _)| is_valid(*row)).map(|(_, length)| length).sum();
        let mut data = Vec::with_capacity(bytes);
        let mut ends = Vec::with_capacity(self.views.len());
        for row in 0..self.views.len() {
            if is_valid(row) {
                data.extend_from_slice(self.get(row));
            }
            ends.push(u32::try_from(data.len()).expect("a segment's column stays below 4 GiB"));
        }
        OwnedValues::Bytes { data, ends }
    }

    pub(super) fn into_array(
        mut self,
        column_type: ColumnType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        self.place_copied();
        let views = ScalarBuffer::from(self.views);
        if column_type.is_text() {
            // SAFETY: every view was made here over a span of its buffer, or came from a valid
            // array; the bytes are UTF-8 because blobs of text are checked when they are opened
            // (`encoding::check_text`) and single values enter as text only.
            let texts = unsafe { StringViewArray::new_unchecked(views, self.buffers, nulls) };
            return Ok(Arc::new(texts));
        }
        // SAFETY: as above, without the need for UTF-8.
        let bytes = unsafe { BinaryViewArray::new_unchecked(views, self.buffers, nulls) };
        match column_type {
            ColumnType::Nested(nested) => nested_array(nested, &bytes),
            _ => Ok(Arc::new(bytes)),
        }
    }
}

fn buffer_index(count: usize) -> u32 {
    u32::try_from(count).expect("a vector has fewer than 2^32 buffers")
}

fn view_of(values: &ByteValues, index: usize, buffer: u32) -> u128 {
    let (start, length) = values.span(index);
    view_at(values.data().as_slice(), start, length, buffer)
}

fn view_at(data: &[u8], start: usize, length: usize, buffer: u32) -> u128 {
    let offset = u32::try_from(start).expect("a blob stays below 4 GiB");
    make_view(&data[start..start + length], buffer, offset)
}

fn view_bytes<'a>(raw: &'a u128, buffers: &'a [Buffer]) -> &'a [u8] {
    let view = ByteView::from(*raw);
    let length = view.length as usize;
    if length <= INLINE_BYTES_MAX {
        let bytes: &[u8; 16] = bytemuck::cast_ref(raw);
        return &bytes[4..4 + length];
    }
    let start = view.offset as usize;
    &buffers[view.buffer_index as usize].as_slice()[start..start + length]
}

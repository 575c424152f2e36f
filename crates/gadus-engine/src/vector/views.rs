//! Byte strings as Arrow views: sixteen bytes each, the longer ones pointing into shared buffers.
//!
//! - Every view lies within its buffer, and the bytes of a text column's views are UTF-8: blobs are
//!   checked when they are opened, arrays when they are made, single values where they enter.

#![allow(unsafe_code)] // arrays are made without checking each view again; see `into_array`

use super::Rows;
use crate::encoding::{Body, ByteValues, Column, OwnedValues, Values, code_index};
use crate::types::ColumnType;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, ByteView, StringViewArray, make_view,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use std::sync::Arc;

/// Longest byte string that a view holds itself.
const INLINE_BYTES_MAX: usize = 12;

/// Views and the buffers they point into.
#[derive(Debug, Default)]
pub(super) struct Views {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
}

impl Views {
    pub(super) fn len(&self) -> usize {
        self.views.len()
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
        self.buffers.push(Buffer::from(bytes));
        make_view(bytes, buffer_index(self.buffers.len() - 1), 0)
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        view_bytes(&self.views[index], &self.buffers)
    }

    pub(super) fn append_column(&mut self, column: &Column, rows: Rows<'_>) {
        let values = match &column.body {
            Body::Plain(Values::Bytes(values)) => values,
            Body::Dictionary { values: Values::Bytes(values), .. }
            | Body::Runs { values: Values::Bytes(values), .. } => values,
            _ => unreachable!("asked of a byte column only"),
        };
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

    pub(super) fn append(&mut self, other: Self) {
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
                Self { views: text.views().to_vec(), buffers: text.data_buffers().to_vec() }
            }
            None => {
                let binary = array.as_binary_view();
                Self { views: binary.views().to_vec(), buffers: binary.data_buffers().to_vec() }
            }
        }
    }

    pub(super) fn into_owned(self, validity: Option<&BooleanBuffer>) -> OwnedValues {
        let mut data = Vec::new();
        let mut ends = Vec::with_capacity(self.views.len());
        for (row, view) in self.views.iter().enumerate() {
            if validity.is_none_or(|valid| valid.value(row)) {
                data.extend_from_slice(view_bytes(view, &self.buffers));
            }
            ends.push(u32::try_from(data.len()).expect("a segment's column stays below 4 GiB"));
        }
        OwnedValues::Bytes { data, ends }
    }

    pub(super) fn into_array(self, column_type: ColumnType, nulls: Option<NullBuffer>) -> ArrayRef {
        let views = ScalarBuffer::from(self.views);
        if column_type == ColumnType::Text {
            // SAFETY: every view was made here over a span of its buffer, or came from a valid
            // array; the bytes are UTF-8 because blobs of text are checked when they are opened
            // (`encoding::check_text`) and single values enter as text only.
            return Arc::new(unsafe { StringViewArray::new_unchecked(views, self.buffers, nulls) });
        }
        // SAFETY: as above, without the need for UTF-8.
        Arc::new(unsafe { BinaryViewArray::new_unchecked(views, self.buffers, nulls) })
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

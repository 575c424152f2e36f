//! Values that are made of others, as columns take them: part by part, as a column of the part's type would.
//!
//! - Lists come as lists of any kind, as PostgreSQL writes arrays (`{1,2}`), or as JSON; structures and maps as such, or
//!   as JSON.
//! - Fields of structures are found by their names, and by their places where names are others.

use crate::arrays::{self, depth_of};
use crate::error::{from_datafusion, input};
use crate::value::assign_array;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, StringViewArray, StructArray,
    new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::compute::kernels::zip::zip;
use arrow::datatypes::{DataType, Field, Fields};
use arrow::json::ReaderBuilder;
use gadus_engine::{ColumnType, Nested, Reason, Result, type_with_texts};
use std::sync::Arc;

/// Lists and structures of a document within each other; types are less deep.
const DEPTH_MAX: usize = 32;

/// Values as a column of such a type takes them.
///
/// # Errors
/// `Input` for values that are made otherwise; those of the parts.
pub(crate) fn assign_nested(array: &ArrayRef, nested: &'static Nested) -> Result<ArrayRef> {
    let wanted = ColumnType::Nested(nested);
    match (array.data_type(), nested, wanted.arrow()) {
        (DataType::Null, _, target) => Ok(new_null_array(&target, array.len())),
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, ..) => {
            from_texts(cast(array, &DataType::Utf8View)?.as_string_view(), nested)
        }
        (DataType::List(_), Nested::List(element), DataType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = assign_array(&within(list.values(), list.offsets()), *element)?;
            let offsets = OffsetBuffer::from_lengths(list.offsets().lengths());
            Ok(Arc::new(ListArray::try_new(field, offsets, values, list.nulls().cloned())?))
        }
        (
            DataType::LargeList(of)
            | DataType::ListView(of)
            | DataType::LargeListView(of)
            | DataType::FixedSizeList(of, _),
            Nested::List(_),
            _,
        ) => assign_nested(&cast(array, &DataType::List(of.clone()))?, nested),
        (DataType::Struct(given), Nested::Struct(fields), DataType::Struct(target)) => {
            structures(array, given, fields, target)
        }
        (DataType::Map(..), Nested::Map(key, value), DataType::Map(field, ordered)) => {
            let map = array.as_map();
            let part = |part, of| assign_array(&within(part, map.offsets()), of);
            let parts = vec![part(map.keys(), *key)?, part(map.values(), *value)?];
            let DataType::Struct(fields) = field.data_type() else {
                return Err(no_such(array, wanted));
            };
            let entries = StructArray::try_new(fields.clone(), parts, None)?;
            let offsets = OffsetBuffer::from_lengths(map.offsets().lengths());
            let nulls = map.nulls().cloned();
            Ok(Arc::new(MapArray::try_new(field, offsets, entries, nulls, ordered)?))
        }
        _ => Err(no_such(array, wanted)),
    }
}

/// The values that lists have, without those that a part of a list leaves out.
fn within(values: &ArrayRef, offsets: &OffsetBuffer<i32>) -> ArrayRef {
    let place = |offset: Option<&i32>| offset.map_or(0, |offset| offset.unsigned_abs() as usize);
    let (first, end) = (place(offsets.first()), place(offsets.last()));
    values.slice(first, end - first)
}

fn no_such(array: &ArrayRef, wanted: ColumnType) -> gadus_engine::Error {
    input(format!("a value of the type {} is no {wanted}", array.data_type()))
}

fn structures(
    array: &ArrayRef,
    given: &Fields,
    fields: &[(String, ColumnType)],
    target: Fields,
) -> Result<ArrayRef> {
    let structures = array.as_struct();
    if given.len() != fields.len() {
        return Err(input(format!(
            "a structure of {} fields does not fit one of {}",
            given.len(),
            fields.len()
        )));
    }
    let named = |(name, _): &(String, ColumnType)| structures.column_by_name(name);
    let by_name = fields.iter().all(|field| named(field).is_some());
    let parts = fields.iter().zip(structures.columns()).map(|(field, in_place)| {
        let column = if by_name { named(field).unwrap_or(in_place) } else { in_place };
        assign_array(column, field.1)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let nulls = structures.nulls().cloned();
    Ok(match parts.is_empty() {
        true => Arc::new(StructArray::new_empty_fields(structures.len(), nulls)),
        false => Arc::new(StructArray::try_new(target, parts, nulls)?),
    })
}

/// Texts that are lists as PostgreSQL writes them, or JSON.
fn from_texts(texts: &StringViewArray, nested: &'static Nested) -> Result<ArrayRef> {
    let Nested::List(_) = nested else { return from_json(texts, nested) };
    let is_postgres = |text: Option<&str>| text.is_some_and(is_array_text);
    let of_postgres = texts.iter().map(|text| Some(is_postgres(text))).collect::<BooleanArray>();
    match of_postgres.true_count() {
        0 => from_json(texts, nested),
        count if count == texts.len() - texts.null_count() => lists(texts, nested),
        _ => {
            let only = |wanted: bool| {
                let texts = texts.iter().map(|text| text.filter(|_| is_postgres(text) == wanted));
                texts.collect::<StringViewArray>()
            };
            let ours = lists(&only(true), nested)?;
            Ok(zip(&of_postgres, &ours, &from_json(&only(false), nested)?)?)
        }
    }
}

/// Returns true for a text that is an array as PostgreSQL writes it, with bounds before it or without.
fn is_array_text(text: &str) -> bool {
    let text = text.trim_start();
    let is_bound = |c: char| c.is_ascii_digit() || c.is_whitespace() || "[]:+-=".contains(c);
    let after_bounds = || text.trim_start_matches(is_bound);
    let has_bounds = || text[..text.len() - after_bounds().len()].contains('=');
    text.starts_with('{') || (text.starts_with('[') && has_bounds())
}

/// Reads texts as arrays of as many dimensions as the type has.
fn lists(texts: &StringViewArray, nested: &'static Nested) -> Result<ArrayRef> {
    let depth = depth_of(&ColumnType::Nested(nested).arrow());
    assign_nested(&arrays::read_texts(texts, depth).map_err(from_datafusion)?, nested)
}

fn malformed(text: &str, nested: &Nested) -> gadus_engine::Error {
    let shown = text.chars().take(60).collect::<String>();
    input(format!("\"{shown}\" is no value of the type {nested}: lists are written {{1,2}} or [1,2], others as JSON"))
        .because(Reason::InvalidText)
}

fn from_json(texts: &StringViewArray, nested: &'static Nested) -> Result<ArrayRef> {
    let target = ColumnType::Nested(nested).arrow();
    // Identifiers are texts in JSON.
    let read = type_with_texts(&target).unwrap_or(target);
    let field = Arc::new(Field::new("value", read, true));
    let builder = ReaderBuilder::new_with_field(field).with_strict_mode(true);
    let mut decoder = builder.with_batch_size(texts.len().max(1)).build_decoder()?;
    for (before, text) in texts.iter().enumerate() {
        let text = text.unwrap_or("null").trim();
        if is_deep(text) {
            return Err(malformed(text, nested));
        }
        let taken = decoder.decode(text.as_bytes());
        let taken = taken.map_err(|error| malformed(text, nested).caused_by(error))?;
        if taken < text.len() || decoder.has_partial_record() || decoder.len() != before + 1 {
            return Err(malformed(text, nested));
        }
    }
    let first = || texts.iter().flatten().next().unwrap_or_default();
    let rows = decoder.flush().map_err(|error| malformed(first(), nested).caused_by(error))?;
    match rows {
        Some(rows) => assign_nested(rows.column(0), nested),
        None => Ok(new_null_array(&ColumnType::Nested(nested).arrow(), texts.len())),
    }
}

/// Whether a document is deeper than a value of any type; the decoder goes into it by recursion.
fn is_deep(document: &str) -> bool {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in document.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => depth += 1,
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return true;
        }
    }
    false
}

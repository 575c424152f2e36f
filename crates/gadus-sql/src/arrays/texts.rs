//! Arrays of texts from texts, and texts from them.
//!
//! - Other elements are texts before they are written and after they are read: as their types write and read them.

use super::column::{ArrayColumn, Dimensions, depth_of};
use super::writer::ArrayWriter;
use super::{other_depth, other_lower_bound};
use crate::analysis::from_bind;
use crate::error::to_datafusion;
use crate::lists::write_element;
use arrow::array::{Array, ArrayRef, AsArray, ListBuilder, StringViewArray, StringViewBuilder};
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue, internal_err};
use gadus_binder::{ArrayText, read_array};
use std::sync::Arc;

/// Reads a text as an array of texts.
///
/// # Errors
/// PostgreSQL's for texts that are no arrays; 0A000 for lower bounds other than 1.
fn read_text(text: &str) -> Result<(Dimensions, Vec<Option<String>>)> {
    let ArrayText { lengths, lower_bounds, elements } =
        read_array(text).map_err(|error| to_datafusion(from_bind(error)))?;
    if lower_bounds.iter().any(|bound| *bound != 1) {
        return Err(other_lower_bound());
    }
    Ok((Dimensions::of(&lengths), elements))
}

/// Reads texts as arrays of texts, each of so many dimensions as the type has.
pub(super) fn read(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [texts] = arrays else { return internal_err!("a text") };
    read_texts(texts.as_string_view(), depth_of(result))
}

/// Reads texts as arrays of texts of so many dimensions.
pub(crate) fn read_texts(texts: &StringViewArray, depth: usize) -> Result<ArrayRef> {
    let (mut all, mut rows) = (StringViewBuilder::new(), Vec::with_capacity(texts.len()));
    let mut count = 0;
    for text in texts {
        let Some(text) = text else {
            rows.push(None);
            continue;
        };
        let (dimensions, elements) = read_text(text)?;
        if !dimensions.is_empty() && dimensions.count() != depth {
            return Err(other_depth(dimensions.count(), depth));
        }
        let first = count;
        count += elements.len();
        elements.into_iter().for_each(|element| all.append_option(element));
        rows.push(Some((dimensions, first..count)));
    }
    let all: ArrayRef = Arc::new(all.finish());
    let mut writer = ArrayWriter::new(&DataType::Utf8View, depth, &[&all]);
    for row in rows {
        match row {
            None => writer.push_null(),
            Some((dimensions, range)) => writer.push(&dimensions, range.map(|at| (1, at)))?,
        }
    }
    writer.finish()
}

/// Reads a literal as an array of texts, of as many dimensions as it has.
pub(crate) fn literal(text: &str) -> Result<ScalarValue> {
    let (dimensions, elements) = read_text(text)?;
    let depth = dimensions.count().max(1);
    let elements: ArrayRef = Arc::new(elements.into_iter().collect::<StringViewArray>());
    let mut writer = ArrayWriter::new(&DataType::Utf8View, depth, &[&elements]);
    writer.push(&dimensions, (0..dimensions.elements()).map(|at| (1, at)))?;
    ScalarValue::try_from_array(&writer.finish()?, 0)
}

/// Writes arrays of texts as PostgreSQL does: `{a,"b c",NULL}`.
pub(super) fn written(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let elements = texts_of(&column)?;
    let (mut texts, mut text) = (StringViewBuilder::with_capacity(column.len()), String::new());
    for row in 0..column.len() {
        if column.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        let dimensions = column.dimensions(row)?;
        let start = column.range(row).start;
        write_part(&mut text, dimensions.lengths(), start, &mut |text, at| {
            write_element(text, elements.is_valid(at).then(|| elements.value(at)));
        });
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

fn texts_of(column: &ArrayColumn) -> Result<&StringViewArray> {
    match column.leaves().as_string_view_opt() {
        Some(texts) => Ok(texts),
        None => internal_err!("texts of type {}", column.leaves().data_type()),
    }
}

/// Writes a part of an array, in braces.
fn write_part(
    text: &mut String,
    lengths: &[usize],
    start: usize,
    write: &mut dyn FnMut(&mut String, usize),
) {
    text.push('{');
    if let [length, inner @ ..] = lengths {
        let step = inner.iter().product::<usize>();
        for place in 0..*length {
            if place > 0 {
                text.push(',');
            }
            match inner.is_empty() {
                true => write(text, start + place),
                false => write_part(text, inner, start + place * step, write),
            }
        }
    }
    text.push('}');
}

/// Writes the elements of arrays of texts with a separator between them, without those that are NULL unless a third
/// argument stands for them.
pub(super) fn joined(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array, separators, nulls @ ..] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let (elements, separators) = (texts_of(&column)?, separators.as_string_view());
    let nulls = nulls.first().map(|nulls| nulls.as_string_view());
    let (mut texts, mut text) = (StringViewBuilder::with_capacity(column.len()), String::new());
    for row in 0..column.len() {
        if column.is_null(row) || separators.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        let null = nulls.filter(|nulls| nulls.is_valid(row)).map(|nulls| nulls.value(row));
        let shown = column.range(row).filter_map(|at| match elements.is_valid(at) {
            true => Some(elements.value(at)),
            false => null,
        });
        for (place, element) in shown.enumerate() {
            if place > 0 {
                text.push_str(separators.value(row));
            }
            text.push_str(element);
        }
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

/// Splits texts at a separator, at each character if it is NULL; a third argument stands for NULL.
pub(super) fn split(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [texts, separators, nulls @ ..] = arrays else { return internal_err!("a text") };
    let (texts, separators) = (texts.as_string_view(), separators.as_string_view());
    let nulls = nulls.first().map(|nulls| nulls.as_string_view());
    let field = Field::new_list_field(DataType::Utf8View, true);
    let mut lists = ListBuilder::new(StringViewBuilder::new()).with_field(field);
    for row in 0..texts.len() {
        if texts.is_null(row) {
            lists.append_null();
            continue;
        }
        let text = texts.value(row);
        let null = nulls.filter(|nulls| nulls.is_valid(row)).map(|nulls| nulls.value(row));
        let element = |part: &str| (null != Some(part)).then(|| part.to_owned());
        let separator = separators.is_valid(row).then(|| separators.value(row));
        let parts = match separator {
            _ if text.is_empty() => Vec::new(),
            None => text.chars().map(|character| element(&character.to_string())).collect(),
            Some("") => vec![element(text)],
            Some(separator) => text.split(separator).map(element).collect(),
        };
        lists.append_value(parts);
    }
    Ok(Arc::new(lists.finish()))
}

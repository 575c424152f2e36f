//! Casts of arrays, element by element and by way of text, and literals.

use super::super::casts::{cast_value, converted, modified};
use super::super::times::refused;
use super::super::{Result, Typed, missing};
use super::elements_of;
use crate::arrays::{
    ArrayFunction, ELEMENT, call, depth_of, each_element, leaf_of, literal, of_leaf,
};
use crate::characters::{Change, changed};
use crate::error::from_datafusion;
use crate::lowering::casts::characters_type;
use crate::numerics::{NUMERIC, numeric_field};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, lit, when};
use gadus_binder::catalog::{CastMethod, CastPath};
use gadus_binder::types::{BaseType, SqlType, constants};
use gadus_engine::Characters;
use gadus_syntax::Span;

/// Returns the column that is an element, in expressions of each element.
pub(super) fn element(data_type: &DataType) -> Typed {
    let column = Expr::Column(Column::new_unqualified(ELEMENT));
    Typed::new(column, leaf_of(data_type).clone())
}

/// Converts each element of an array.
pub(in super::super) fn each(
    array: Typed,
    convert: impl FnOnce(Typed) -> Result<Typed>,
) -> Result<Typed> {
    let Typed { expr, data_type } = array;
    let body = convert(element(&data_type))?;
    if body.expr == element(&data_type).expr {
        return Ok(Typed::new(expr, data_type));
    }
    let (expr, data_type) = each_element((expr, &data_type), Vec::new(), body.expr)?;
    Ok(Typed::new(expr, data_type))
}

/// Converts an array to a type of arrays.
pub(in super::super) fn convert_array(
    array: Typed,
    wanted: &DataType,
    is_try: bool,
) -> Result<Typed> {
    let depth = depth_of(wanted);
    let leaf = leaf_of(wanted).clone();
    let array = match *leaf_of(&array.data_type) == leaf {
        true => array,
        false => each(array, |element| converted(element, leaf, is_try))?,
    };
    if array.data_type == *wanted {
        return Ok(array);
    }
    match depth_of(&array.data_type) == depth {
        true => missing(format!("{} as {wanted}", array.data_type)),
        false => Ok(Typed::new(
            call(ArrayFunction::Adapt, vec![array.expr], wanted.clone()),
            wanted.clone(),
        )),
    }
}

/// Reads a literal.
pub(in super::super) fn array_literal(text: &str, data_type: SqlType, span: Span) -> Result<Typed> {
    let array = literal(text).map_err(|error| refused(&from_datafusion(error), span))?;
    let of_texts = array.data_type();
    of_texts_read(Typed::new(lit(array), of_texts), data_type)
}

/// Reads a text as an array of one dimension.
pub(in super::super) fn read_array(text: Typed, target: SqlType) -> Result<Typed> {
    let text = converted(text, DataType::Utf8View, false)?;
    let of_texts = of_leaf(&DataType::Utf8View, 1);
    let array = call(ArrayFunction::Read, vec![text.expr], of_texts.clone());
    of_texts_read(Typed::new(array, of_texts), target)
}

/// Reads each element of an array of texts.
fn of_texts_read(array: Typed, target: SqlType) -> Result<Typed> {
    let element_type = elements_of(target);
    let by_text = CastPath::Value(CastMethod::Text);
    each(array, |element| {
        if element_type.id == constants::NUMERIC {
            return converted(element, NUMERIC, false);
        }
        cast_value(element, (constants::TEXT.plain(), element_type.id.plain()), by_text, false)
    })
}

/// Writes an array as a text.
pub(in super::super) fn text_of_array(array: Typed, source: SqlType) -> Result<Typed> {
    let texts = element_texts(array, source)?;
    let text = call(ArrayFunction::Write, vec![texts.expr], DataType::Utf8View);
    Ok(Typed::new(text, DataType::Utf8View))
}

/// Returns an array with the texts of its elements, as their types write them.
pub(in super::super) fn element_texts(array: Typed, source: SqlType) -> Result<Typed> {
    each(array, |element| output_text(element, elements_of(source)))
}

/// Returns the text of a value as its type's output function writes it.
pub(in super::super) fn output_text(value: Typed, of: SqlType) -> Result<Typed> {
    if of.id.is_array && value.data_type != DataType::Null {
        return text_of_array(value, of);
    }
    let (element, element_type) = (value, of);
    match element_type.id.base {
        _ if element.data_type == DataType::Null => {
            let null = lit(datafusion::common::ScalarValue::Utf8View(None));
            Ok(Typed::new(null, DataType::Utf8View))
        }
        // As text it is `true`.
        BaseType::Bool => {
            let text =
                |text: &str| lit(datafusion::common::ScalarValue::Utf8View(Some(text.into())));
            let is_false = Expr::Not(Box::new(element.expr.clone()));
            let shown = when(element.expr, text("t")).when(is_false, text("f")).end()?;
            Ok(Typed::new(shown, DataType::Utf8View))
        }
        BaseType::Bpchar => match characters_type(element_type) {
            Some(of) => Ok(Typed::new(changed(element.expr, Change::Shown(of)), element.data_type)),
            None => Ok(element),
        },
        BaseType::Char => {
            let shown = changed(element.expr, Change::Shown(Characters::Byte));
            Ok(Typed::new(shown, element.data_type))
        }
        _ if element.data_type == DataType::Utf8View => Ok(element),
        _ => {
            let types = (element_type, constants::TEXT.plain());
            cast_value(element, types, CastPath::Value(CastMethod::Text), false)
        }
    }
}

/// Applies a modifier to each element.
pub(in super::super) fn modified_array(
    array: Typed,
    is_explicit: bool,
    target: SqlType,
) -> Result<Typed> {
    each(array, |element| modified(element, is_explicit, elements_of(target)))
}

/// Returns an array as it leaves: numerics are texts that say so, CHAR(n) has its blanks.
pub(in super::super) fn shown_array(value: Expr, data_type: &DataType) -> Result<Option<Expr>> {
    if *leaf_of(data_type) != NUMERIC {
        return Ok(None);
    }
    let texts = each(Typed::new(value, data_type.clone()), |element| {
        converted(element, DataType::Utf8View, false)
    })?;
    let depth = depth_of(data_type);
    let innermost = DataType::List(std::sync::Arc::new(numeric_field("item")));
    let wanted = of_leaf(&innermost, depth - 1);
    Ok(Some(call(ArrayFunction::Relabel, vec![texts.expr], wanted)))
}

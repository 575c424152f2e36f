//! Functions and operators of arrays.

use super::super::casts::converted;
use super::super::operators::wider;
use super::super::types::{common_type, lowered_type};
use super::super::{Lowering, Result, Typed, missing};
use super::casts::element_texts;
use super::common_array;
use crate::arrays::{ArrayFunction, call, depth_of, is_array, leaf_of, list_of, of_leaf};
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::Expr;
use gadus_binder::bound::{Scalar, ScalarKind};
use gadus_binder::catalog::{Function, Operator};
use gadus_binder::types::{SqlType, constants};

impl Lowering<'_> {
    /// Lowers a function of arrays; `None` for other functions.
    pub(in super::super) fn array_function(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        let is_of_arrays = function.name == "string_to_array"
            || function
                .arguments
                .iter()
                .any(|id| *id == constants::ANYARRAY || *id == constants::ANYCOMPATIBLEARRAY)
            || function.name == "array_fill";
        if !is_of_arrays || function.returns_set {
            return Ok(None);
        }
        let values = arguments.iter().map(|argument| self.scalar(argument, schema));
        let values = values.collect::<Result<Vec<_>>>()?;
        if let "array_fill" = function.name {
            return filled(values, arguments).map(Some);
        }
        if let "array_to_string" = function.name {
            let Some(source) = arguments.first().map(|first| first.data_type) else {
                return Ok(None);
            };
            let mut values = values.into_iter();
            let Some(array) = values.next() else { return Ok(None) };
            let texts = element_texts(array, source)?;
            let arguments = std::iter::once(texts).chain(values).map(|value| value.expr).collect();
            let text = call(ArrayFunction::Join, arguments, DataType::Utf8View);
            return Ok(Some(Typed::new(text, DataType::Utf8View)));
        }
        let function = match function.name {
            "array_append" => ArrayFunction::Append,
            "array_prepend" => ArrayFunction::Prepend,
            "array_cat" => ArrayFunction::Concatenate,
            "array_length" | "array_upper" => ArrayFunction::Length,
            "array_lower" => ArrayFunction::Lower,
            "array_ndims" => ArrayFunction::Dimensions,
            "array_dims" => ArrayFunction::DimensionsText,
            "cardinality" => ArrayFunction::Cardinality,
            "array_position" => ArrayFunction::Position,
            "array_positions" => ArrayFunction::Positions,
            "array_remove" => ArrayFunction::Remove,
            "array_replace" => ArrayFunction::Replace,
            "trim_array" => ArrayFunction::Trim,
            "width_bucket" => ArrayFunction::Bucket,
            "string_to_array" => ArrayFunction::Split,
            _ => return Ok(None),
        };
        array_call(function, values, result).map(Some)
    }

    /// Lowers an operator of arrays; `None` for other operators.
    pub(in super::super) fn array_operator(
        &self,
        operator: &Operator,
        left: &Typed,
        right: &Typed,
    ) -> Result<Option<Typed>> {
        let is_array = |id| id == constants::ANYARRAY || id == constants::ANYCOMPATIBLEARRAY;
        let Some(left_type) = operator.left else { return Ok(None) };
        if !is_array(left_type) && !is_array(operator.right) {
            return Ok(None);
        }
        let (function, swaps) = match operator.name {
            "@>" => (ArrayFunction::Contains, false),
            "<@" => (ArrayFunction::Contains, true),
            "&&" => (ArrayFunction::Overlaps, false),
            "||" => match (is_array(left_type), is_array(operator.right)) {
                (true, true) => (ArrayFunction::Concatenate, false),
                (true, false) => (ArrayFunction::Append, false),
                _ => (ArrayFunction::Prepend, false),
            },
            _ => return Ok(None),
        };
        let (left, right) = (left.clone(), right.clone());
        let values = if swaps { vec![right, left] } else { vec![left, right] };
        array_call(function, values, constants::BOOL.plain()).map(Some)
    }
}

/// Returns a call with elements of one type in all arguments that are arrays or elements.
fn array_call(function: ArrayFunction, mut values: Vec<Typed>, result: SqlType) -> Result<Typed> {
    let elements = match function {
        ArrayFunction::Append | ArrayFunction::Prepend | ArrayFunction::Concatenate => 2,
        ArrayFunction::Position | ArrayFunction::Positions | ArrayFunction::Remove => 2,
        ArrayFunction::Contains | ArrayFunction::Overlaps | ArrayFunction::Bucket => 2,
        ArrayFunction::Replace => 3,
        _ => 0,
    };
    let of_elements = values.len().min(elements);
    let leaf = with_one_leaf(&mut values[..of_elements])?;
    let depth = values.iter().map(|value| depth_of(&value.data_type)).max().unwrap_or(0);
    let whole = of_leaf(&leaf, depth.max(1));
    let given = match function {
        ArrayFunction::Append
        | ArrayFunction::Prepend
        | ArrayFunction::Concatenate
        | ArrayFunction::Remove
        | ArrayFunction::Replace => whole,
        ArrayFunction::Trim => match values.first() {
            Some(array) => array.data_type.clone(),
            None => return missing("trim_array"),
        },
        ArrayFunction::Position
        | ArrayFunction::Bucket
        | ArrayFunction::Length
        | ArrayFunction::Lower
        | ArrayFunction::Cardinality
        | ArrayFunction::Dimensions => DataType::Int32,
        ArrayFunction::Positions => list_of(DataType::Int32),
        ArrayFunction::DimensionsText => DataType::Utf8View,
        ArrayFunction::Split => list_of(DataType::Utf8View),
        ArrayFunction::Contains | ArrayFunction::Overlaps => DataType::Boolean,
        _ => lowered_type(result)?,
    };
    let arguments = values.into_iter().map(|value| value.expr).collect();
    Ok(Typed::new(call(function, arguments, given.clone()), given))
}

/// Gives arrays, and values that are elements, elements of one type; returns it.
fn with_one_leaf(values: &mut [Typed]) -> Result<DataType> {
    let mut common: Option<DataType> = None;
    for value in values.iter() {
        let leaf = leaf_of(&value.data_type);
        common = match common {
            _ if *leaf == DataType::Null => common,
            None => Some(leaf.clone()),
            Some(known) if known == *leaf => Some(known),
            // Each keeps its digits.
            Some(known) => match common_type(&known, leaf).or_else(|| wider(&known, leaf)) {
                Some(wider) => Some(wider),
                None => return missing(format!("{known} and {leaf} as elements")),
            },
        };
    }
    let leaf = common.unwrap_or(NUMERIC);
    for value in values {
        let depth = depth_of(&value.data_type);
        *value = converted(value.clone(), of_leaf(&leaf, depth), false)?;
    }
    Ok(leaf)
}

/// Lowers `array_fill`, whose lengths say the dimensions of its type.
fn filled(values: Vec<Typed>, arguments: &[Scalar]) -> Result<Typed> {
    let mut values = values;
    let (Some(value), Some(lengths)) = (values.first_mut(), arguments.get(1)) else {
        return missing("array_fill");
    };
    if value.data_type == DataType::Null {
        *value = converted(value.clone(), NUMERIC, false)?;
    }
    let leaf = value.data_type.clone();
    if is_array(&leaf) {
        return missing("array_fill of an array");
    }
    let written = values.get(1).and_then(|lengths| written_length(&lengths.expr));
    let depth = match &lengths.kind {
        ScalarKind::Array(elements) => elements.len(),
        _ => written.unwrap_or(1),
    };
    let whole = of_leaf(&leaf, depth.clamp(1, crate::arrays::DIMENSIONS_MAX));
    let arguments = values.into_iter().map(|value| value.expr).collect();
    Ok(Typed::new(call(ArrayFunction::Fill, arguments, whole.clone()), whole))
}

/// Returns the number of elements of an array that is written out as a literal.
fn written_length(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Literal(ScalarValue::List(list), _) => Some(list.values().len()),
        Expr::ScalarFunction(call) => call.args.first().and_then(written_length),
        _ => None,
    }
}

/// Returns a type of arrays in which those of two types are compared.
pub(in super::super) fn wider_array(one: &DataType, other: &DataType) -> Option<DataType> {
    common_array(one, other, wider)
}

/// Gives the elements of two arrays one type, whatever their dimensions.
pub(in super::super) fn with_comparable_elements(
    left: Typed,
    right: Typed,
) -> Result<(Typed, Typed)> {
    let (one, other) = (leaf_of(&left.data_type), leaf_of(&right.data_type));
    if one == other {
        return Ok((left, right));
    }
    let Some(leaf) = wider(one, other) else {
        return missing(format!("a comparison of {one} and {other}"));
    };
    let depths = (depth_of(&left.data_type), depth_of(&right.data_type));
    let left = converted(left, of_leaf(&leaf, depths.0), false)?;
    Ok((left, converted(right, of_leaf(&leaf, depths.1), false)?))
}

//! Conversions.

use super::arrays::{convert_array, each, elements_of, modified_array, read_array, text_of_array};
use super::json::{document_cast, document_kind};
use super::types::{decimal, element_type, is_numeric, lowered_type};
use super::{Lowering, Result, Typed, missing};
use crate::arrays::is_array;
use crate::byte_strings;
use crate::characters::{Change, changed};
use crate::checked::{float_text, narrowed};
use crate::json::{self, JSONB, to_jsonb};
use crate::numerics::{NUMERIC, from_numeric, to_numeric, with_modifier};
use crate::times;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, cast, lit, try_cast};
use gadus_binder::bound::Scalar;
use gadus_binder::catalog::{CastMethod, CastPath};
use gadus_binder::types::{BaseType, Modifier, SqlType, constants};
use gadus_engine::{Characters, ColumnType};
use gadus_functions::json::DocumentKind;
use gadus_numeric::TypeModifier;

impl Lowering<'_> {
    /// Lowers a cast.
    pub(super) fn cast(
        &mut self,
        operand: &Scalar,
        path: CastPath,
        is_try: bool,
        target: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let source = operand.data_type;
        let operand = self.scalar(operand, schema)?;
        cast_value(operand, (source, target), path, is_try)
    }

    /// Lowers the application of a modifier.
    pub(super) fn apply_modifier(
        &mut self,
        (operand, is_explicit): (&Scalar, bool),
        target: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if !target.id.is_array
            && let Some(value) = self.time_modifier(operand, target, schema)?
        {
            return Ok(value);
        }
        let operand = self.scalar(operand, schema)?;
        modified(operand, is_explicit, target)
    }
}

/// Casts a value.
pub(super) fn cast_value(
    operand: Typed,
    (source, target): (SqlType, SqlType),
    path: CastPath,
    is_try: bool,
) -> Result<Typed> {
    let method = match path {
        CastPath::Value(method) => method,
        CastPath::Elements(method) => {
            let types = (elements_of(source), elements_of(target));
            let path = CastPath::Value(method);
            return each(operand, |element| cast_value(element, types, path, is_try));
        }
    };
    if method == CastMethod::Relabel && source.id == target.id {
        return Ok(operand);
    }
    match (source.id.is_array, target.id.is_array) {
        (false, false) => {}
        _ if method != CastMethod::Text || is_try => {
            return missing(format!("a cast from {source} to {target}"));
        }
        (true, _) => {
            let text = text_of_array(operand, source)?;
            let types = (constants::TEXT.plain(), target);
            return cast_value(text, types, CastPath::Value(method), is_try);
        }
        (false, true) => return read_array(operand, target),
    }
    if !is_try && let Some(cast) = document_cast(&operand, source, target)? {
        return Ok(cast);
    }
    if let Some(cast) = between_characters(&operand, source, target) {
        return Ok(cast);
    }
    // The name of a type is its text.
    if source.id == constants::REGTYPE && target.id == constants::TEXT {
        return converted(operand, DataType::Utf8View, is_try);
    }
    let wanted = match is_numeric(target) {
        true => numeric_of(&operand.data_type)?,
        false => lowered_type(target)?,
    };
    let has_fields = matches!(target.modifier, Modifier::Interval(_));
    let is_of_times = times::is_cast(&operand.data_type, &wanted);
    if !(is_of_times || is_cast(source, target)) || has_fields {
        return missing(format!("a cast from {source} to {target}"));
    }
    converted(operand, wanted, is_try)
}

/// Applies a modifier to a value.
pub(super) fn modified(operand: Typed, is_explicit: bool, target: SqlType) -> Result<Typed> {
    if target.id.is_array {
        return modified_array(operand, is_explicit, target);
    }
    if let Some(of) = characters_type(target) {
        let change = if is_explicit { Change::Cut(of) } else { Change::Assigned(of) };
        return Ok(Typed::new(changed(operand.expr, change), DataType::Utf8View));
    }
    if let Modifier::Precision(digits) = target.modifier {
        let Typed { expr, data_type } = operand;
        return match times::with_precision(expr, &data_type, digits) {
            Some(expr) => Ok(Typed::new(expr, data_type)),
            None => missing(format!("the modifier of {target}")),
        };
    }
    apply_digits(operand, target)
}

/// Applies the digits of a numeric.
fn apply_digits(operand: Typed, target: SqlType) -> Result<Typed> {
    let Modifier::Numeric { precision, scale } = target.modifier else {
        return missing(format!("the modifier of {target}"));
    };
    let wanted = u8::try_from(precision).ok().zip(i8::try_from(scale).ok());
    let wanted = wanted.and_then(|(precision, scale)| decimal(precision, scale));
    match (&operand.data_type, wanted) {
        // No digit is lost.
        (DataType::Decimal128(digits, from), Some(DataType::Decimal128(precision, to)))
            if to >= *from
                && i16::from(precision) - i16::from(to)
                    >= i16::from(*digits) - i16::from(*from) =>
        {
            converted(operand, DataType::Decimal128(precision, to), false)
        }
        (DataType::Null, _) => Ok(operand),
        (DataType::Decimal128(..), Some(wanted)) => {
            Ok(Typed::new(from_numeric(operand.expr, wanted.clone()), wanted))
        }
        _ => {
            let Ok(modifier) = TypeModifier::new(precision.into(), Some(scale.into())) else {
                return missing(format!("type {target}"));
            };
            let numeric = converted(operand, NUMERIC, false)?;
            Ok(Typed::new(with_modifier(numeric.expr, modifier), NUMERIC))
        }
    }
}

/// Returns a cast between texts and character types; `None` for other casts.
pub(super) fn between_characters(
    operand: &Typed,
    source: SqlType,
    target: SqlType,
) -> Option<Typed> {
    use BaseType::{Bpchar, Char, Name, Text, Unknown, Varchar};
    let is_text = |of: SqlType| {
        !of.id.is_array && matches!(of.id.base, Bpchar | Char | Name | Text | Unknown | Varchar)
    };
    if !is_text(source) || !is_text(target) || operand.data_type != DataType::Utf8View {
        return None;
    }
    let expr = operand.expr.clone();
    let expr = match source.id.base {
        Char => changed(expr, Change::Shown(Characters::Byte)),
        _ => expr,
    };
    let expr = match target.id.base {
        Name => changed(expr, Change::Cut(Characters::Name)),
        Char => changed(expr, Change::Cut(Characters::Byte)),
        Bpchar => changed(expr, Change::Trimmed),
        // Next to other values of its column it would have its blanks again.
        _ if source.id.base == Bpchar && characters_type(source).is_some() => {
            changed(expr, Change::Typed(None))
        }
        _ => expr,
    };
    Some(Typed::new(expr, DataType::Utf8View))
}

/// Returns the character type of a SQL type, if its length is known.
pub(super) fn characters_type(data_type: SqlType) -> Option<Characters> {
    match (data_type.id.is_array, data_type.id.base, data_type.modifier) {
        (false, BaseType::Varchar, Modifier::Length(length)) => Some(Characters::Varchar(length)),
        (false, BaseType::Bpchar, Modifier::Length(length)) => Some(Characters::Char(length)),
        (false, BaseType::Name, _) => Some(Characters::Name),
        (false, BaseType::Char, _) => Some(Characters::Byte),
        _ => None,
    }
}

/// Returns a value as it looks, for functions to which blanks at the end of a CHAR(n) are characters.
pub(super) fn with_blanks(value: Typed, data_type: SqlType) -> Result<Typed> {
    if data_type.id != constants::BPCHAR {
        return Ok(value);
    }
    match characters_type(data_type) {
        Some(of) => Ok(Typed::new(changed(value.expr, Change::Shown(of)), value.data_type)),
        None => missing("CHAR without a length as a text with its blanks"),
    }
}

/// Returns a query's column as the type that it has for those that get it.
pub(super) fn typed_output(value: Expr, field: &Field, data_type: SqlType) -> Result<Option<Expr>> {
    let (known, wanted) = (Characters::of_field(field), characters_type(data_type));
    if wanted.is_none() && data_type.id == constants::BPCHAR {
        return missing("a column of type CHAR without a length");
    }
    if let (true, Some(of)) = (is_array(field.data_type()), wanted_element(data_type)) {
        let array = Typed::new(value, field.data_type().clone());
        let shown = each(array, |element| {
            Ok(Typed::new(changed(element.expr, Change::Shown(of)), element.data_type))
        })?;
        return Ok(Some(shown.expr.alias(field.name())));
    }
    if *field.data_type() != DataType::Utf8View {
        return Ok(None);
    }
    let kind = match ColumnType::from_field(field) {
        Some(ColumnType::Json) => Some(DocumentKind::Text),
        Some(ColumnType::Jsonb) => Some(DocumentKind::Binary),
        _ => None,
    };
    let wanted_kind = document_kind(data_type.id);
    if kind != wanted_kind {
        return Ok(Some(json::shown(value, wanted_kind).alias(field.name())));
    }
    let is_same = known == wanted;
    Ok((!is_same).then(|| changed(value, Change::Typed(wanted)).alias(field.name())))
}

/// Returns the character type of an array's elements if they leave otherwise than they are stored.
fn wanted_element(data_type: SqlType) -> Option<Characters> {
    let element = element_type(data_type)?;
    characters_type(element).filter(|_| element.id.base == BaseType::Bpchar)
}

/// Converts a value, if it has another type.
pub(super) fn converted(operand: Typed, wanted: DataType, is_try: bool) -> Result<Typed> {
    let Typed { expr, data_type } = operand;
    if data_type == wanted {
        return Ok(Typed::new(expr, data_type));
    }
    if is_array(&data_type) && is_array(&wanted) {
        return convert_array(Typed::new(expr, data_type), &wanted, is_try);
    }
    if is_array(&data_type) || (is_array(&wanted) && data_type != DataType::Null) {
        return missing(format!("a conversion from {data_type} to {wanted}"));
    }
    if times::is_cast(&data_type, &wanted) {
        return match times::cast(expr, &data_type, &wanted, is_try) {
            Some(expr) => Ok(Typed::new(expr, wanted)),
            None => missing(format!("a cast from {data_type} to {wanted}")),
        };
    }
    let is_numeric = data_type == NUMERIC || wanted == NUMERIC;
    if is_numeric && is_try {
        return missing("TRY_CAST of a numeric");
    }
    let expr = match (&data_type, &wanted) {
        // Arrow takes the bytes of a text as they are, not as PostgreSQL writes bytes.
        (DataType::Utf8View, DataType::BinaryView) => byte_strings::read(expr, is_try),
        (DataType::BinaryView, DataType::Utf8View) => byte_strings::written(expr),
        (DataType::Null, wanted) if *wanted == NUMERIC => lit(ScalarValue::LargeBinary(None)),
        (_, wanted) if *wanted == NUMERIC => to_numeric(expr),
        (from, wanted) if *from == NUMERIC => from_numeric(expr, wanted.clone()),
        (DataType::Utf8View, wanted) if *wanted == JSONB => to_jsonb(expr),
        (DataType::Float32 | DataType::Float64, DataType::Utf8View) if !is_try => float_text(expr),
        // DataFusion divides by a power of ten, which is not the nearest number; its errors of range are none of PostgreSQL's.
        (
            DataType::Decimal128(..),
            DataType::Float32
            | DataType::Float64
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64,
        ) if !is_try => from_numeric(expr, wanted.clone()),
        (from, wanted) if !is_try => {
            narrowed(&expr, from, wanted).unwrap_or_else(|| cast(expr, wanted.clone()))
        }
        (_, wanted) if is_try => try_cast(expr, wanted.clone()),
        (_, wanted) => cast(expr, wanted.clone()),
    };
    Ok(Typed::new(expr, wanted))
}

/// Returns the numeric that holds all values of a type of numbers.
pub(super) fn numeric_of(data_type: &DataType) -> Result<DataType> {
    Ok(match data_type {
        DataType::Int16 => DataType::Decimal128(5, 0),
        DataType::Int32 => DataType::Decimal128(10, 0),
        DataType::Int64 => DataType::Decimal128(19, 0),
        DataType::Decimal128(..) | DataType::Null => data_type.clone(),
        _ => NUMERIC,
    })
}

/// Returns true if DataFusion's cast, and the rules that mend it, do what PostgreSQL's does.
fn is_cast(source: SqlType, target: SqlType) -> bool {
    use BaseType::{
        Bool, Bytea, Float4, Float8, Int2, Int4, Int8, Numeric, Text, Unknown, Uuid, Varchar,
    };
    let is_number = |base| matches!(base, Int2 | Int4 | Int8 | Float4 | Float8 | Numeric);
    match (source.id.base, target.id.base) {
        (from, to) if is_number(from) && is_number(to) => true,
        (Bool, Int4) | (Int4, Bool) => true,
        (Text | Varchar | Unknown, Text | Varchar) => true,
        (Bool | Int2 | Int4 | Int8 | Float4 | Float8 | Numeric | Bytea | Uuid, Text | Varchar) => {
            true
        }
        (
            Text | Varchar | Unknown,
            Bool | Int2 | Int4 | Int8 | Float4 | Float8 | Numeric | Bytea | Uuid,
        ) => true,
        _ => false,
    }
}

//! Conversions.

use super::types::{decimal, is_numeric, lowered_type};
use super::{Lowering, Result, Typed, missing};
use crate::checked::float_text;
use crate::numerics::{NUMERIC, from_numeric, to_numeric, with_modifier};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, cast, lit, try_cast};
use gadus_binder::bound::Scalar;
use gadus_binder::catalog::{CastMethod, CastPath};
use gadus_binder::types::{BaseType, Modifier, SqlType};
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
        let method = match path {
            CastPath::Value(method) => method,
            CastPath::Elements(_) => return missing("a cast of arrays"),
        };
        if method == CastMethod::Relabel && source.id == target.id {
            return Ok(operand);
        }
        let wanted = match is_numeric(target) {
            true => numeric_of(&operand.data_type)?,
            false => lowered_type(target)?,
        };
        let has_fields = matches!(target.modifier, Modifier::Interval(_));
        if !is_cast(source, target) || has_fields {
            return missing(format!("a cast from {source} to {target}"));
        }
        converted(operand, wanted, is_try)
    }

    /// Lowers the application of a modifier.
    pub(super) fn apply_modifier(
        &mut self,
        (operand, is_explicit): (&Scalar, bool),
        target: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let operand = self.scalar(operand, schema)?;
        if let (Modifier::Length(length), BaseType::Varchar) = (target.modifier, target.id.base) {
            return self.cut(operand, length, is_explicit);
        }
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
}

impl Lowering<'_> {
    /// Cuts a text that is too long, as an explicit cast does.
    fn cut(&self, text: Typed, length: u32, is_explicit: bool) -> Result<Typed> {
        let Some(left) = self.planner.scalar_functions().get("left").filter(|_| is_explicit) else {
            return missing("a text that is stored in VARCHAR(n)");
        };
        let arguments = vec![text.expr, lit(i64::from(length))];
        let call = Expr::ScalarFunction(ScalarFunction::new_udf(left.clone(), arguments));
        Ok(Typed::new(cast(call, DataType::Utf8View), DataType::Utf8View))
    }
}

/// Converts a value, if it has another type.
pub(super) fn converted(operand: Typed, wanted: DataType, is_try: bool) -> Result<Typed> {
    let Typed { expr, data_type } = operand;
    if data_type == wanted {
        return Ok(Typed::new(expr, data_type));
    }
    let is_numeric = data_type == NUMERIC || wanted == NUMERIC;
    if is_numeric && is_try {
        return missing("TRY_CAST of a numeric");
    }
    let expr = match (&data_type, &wanted) {
        (DataType::Null, wanted) if *wanted == NUMERIC => lit(ScalarValue::LargeBinary(None)),
        (_, wanted) if *wanted == NUMERIC => to_numeric(expr),
        (from, wanted) if *from == NUMERIC => from_numeric(expr, wanted.clone()),
        (DataType::Float32 | DataType::Float64, DataType::Utf8View) if !is_try => float_text(expr),
        // DataFusion divides by a power of ten, which is not the nearest number.
        (DataType::Decimal128(..), DataType::Float32 | DataType::Float64) if !is_try => {
            from_numeric(expr, wanted.clone())
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
        Bool, Bytea, Date, Float4, Float8, Int2, Int4, Int8, Interval, Numeric, Text, Time,
        Timestamp, Timestamptz, Unknown, Uuid, Varchar,
    };
    let is_number = |base| matches!(base, Int2 | Int4 | Int8 | Float4 | Float8 | Numeric);
    match (source.id.base, target.id.base) {
        (from, to) if is_number(from) && is_number(to) => true,
        (Bool, Int4) | (Int4, Bool) => true,
        (Text | Varchar | Unknown, Text | Varchar) => true,
        (Date | Timestamp | Timestamptz, Date | Timestamp | Timestamptz) => true,
        (Timestamp, Time) => true,
        (
            Bool | Int2 | Int4 | Int8 | Float4 | Float8 | Numeric | Bytea | Date | Time | Timestamp
            | Timestamptz | Interval | Uuid,
            Text | Varchar,
        ) => true,
        (
            Text | Varchar | Unknown,
            Bool | Int2 | Int4 | Int8 | Float4 | Float8 | Numeric | Bytea | Date | Time | Timestamp
            | Timestamptz | Interval | Uuid,
        ) => true,
        _ => false,
    }
}

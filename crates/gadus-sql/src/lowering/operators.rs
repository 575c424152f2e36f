//! Operators of the catalog.

use super::arrays::{wider_array, with_comparable_elements};
use super::casts::{converted, numeric_of, with_blanks};
use super::keys::{self, key};
use super::times::{dates_compared, time_call};
use super::types::{arrow_type, decimal, is_exact, is_numeric, lowered_type};
use super::{Lowering, Result, Typed, missing};
use crate::arrays::is_array;
use crate::checked::{float_operator, number_function};
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    Expr, ExprSchemable, Like, Operator as PlanOperator, binary_expr, lit,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use gadus_binder::bound::{Constant, Scalar, ScalarKind};
use gadus_binder::catalog::{CastContext, Operator, find_cast};
use gadus_binder::types::{BaseType, SqlType, constants};
use gadus_engine::INTERVAL;

impl Lowering<'_> {
    /// Lowers an operator with its operands.
    pub(super) fn operator(
        &mut self,
        operator: &Operator,
        operands: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if let Some(call) = self.document_operator(operator, operands, result, schema)? {
            return Ok(call);
        }
        match operands {
            [operand] => {
                let operand = self.scalar(operand, schema)?;
                self.prefix(operator, operand)
            }
            [left, right] if operator.name == "||" && operator.result == constants::TEXT => {
                concatenated(self.text(left, schema)?, self.text(right, schema)?)
            }
            [left, right] => {
                let is_matched = operator.name.contains('~');
                let of = left.data_type;
                let left = self.scalar(left, schema)?;
                let left = if is_matched { with_blanks(left, of)? } else { left };
                if let Some(pattern) = escaped(right) {
                    let pattern = lit(ScalarValue::Utf8View(Some(pattern)));
                    let pattern = Typed::new(pattern, DataType::Utf8View);
                    return like(operator.name, left, pattern);
                }
                let right = self.scalar(right, schema)?;
                self.infix(operator, left, right, (result, schema))
            }
            _ => missing("an operator of more than two operands"),
        }
    }

    /// Lowers a value as the text that an explicit cast makes of it.
    fn text(&mut self, value: &Scalar, schema: &DFSchema) -> Result<Typed> {
        let path = find_cast(value.data_type.id, constants::TEXT, CastContext::Explicit);
        match path {
            Some(path) if value.data_type.id != constants::TEXT => {
                let lowered = self.cast(value, path, false, constants::TEXT.plain(), schema)?;
                converted(lowered, DataType::Utf8View, false)
            }
            _ => converted(self.scalar(value, schema)?, DataType::Utf8View, false),
        }
    }

    fn prefix(&self, operator: &Operator, operand: Typed) -> Result<Typed> {
        let Typed { expr, data_type } = operand;
        if data_type == DataType::Null {
            return null_of(operator.result.plain());
        }
        let is_number = data_type.is_numeric();
        if operator.name == "-" && data_type == INTERVAL {
            let operand = Typed::new(expr, data_type);
            let call = time_call("negate", vec![operand], &INTERVAL);
            return call.map_or_else(|| missing("operator - of interval"), Ok);
        }
        match operator.name {
            "+" if is_number => Ok(Typed::new(expr, data_type)),
            "-" | "@" if data_type == NUMERIC => {
                let name = if operator.name == "-" { "negate" } else { "abs" };
                numeric_call(name, vec![Typed::new(expr, data_type)])
            }
            "-" if is_number => match expr {
                Expr::Literal(value, None) => match value.arithmetic_negate() {
                    Ok(negated) => Ok(Typed::new(lit(negated), data_type)),
                    Err(_) => missing("the opposite of the least integer"),
                },
                // Of the least integer there is no opposite.
                expr if data_type.is_integer() => {
                    let zero = lit(ScalarValue::new_zero(&data_type)?);
                    Ok(Typed::new(binary_expr(zero, PlanOperator::Minus, expr), data_type))
                }
                expr => Ok(Typed::new(Expr::Negative(Box::new(expr)), data_type)),
            },
            "@" if is_number => number_call("abs", data_type.clone(), Typed::new(expr, data_type)),
            "|/" => number_call("sqrt", DataType::Float64, Typed::new(expr, data_type)),
            "||/" => number_call("cbrt", DataType::Float64, Typed::new(expr, data_type)),
            "~" if data_type.is_integer() => {
                let ones = ScalarValue::new_negative_one(&data_type)?;
                let flipped = binary_expr(expr, PlanOperator::BitwiseXor, lit(ones));
                Ok(Typed::new(flipped, data_type))
            }
            name => missing(format!("operator {name} of {}", operator.right)),
        }
    }

    /// Lowers an operator between values that are lowered.
    pub(super) fn infix(
        &self,
        operator: &Operator,
        left: Typed,
        right: Typed,
        (result, schema): (SqlType, &DFSchema),
    ) -> Result<Typed> {
        if let Some(comparison) = comparison(operator.name) {
            return compared(comparison, left, right);
        }
        if let Some(call) = self.array_operator(operator, &left, &right)? {
            return Ok(call);
        }
        if is_null(&left) || is_null(&right) {
            return null_of(result);
        }
        if let Some(wanted) = arrow_type(result)
            && let Some(call) = time_call(operator.name, vec![left.clone(), right.clone()], &wanted)
        {
            return Ok(call);
        }
        match operator.name {
            "^" if operator.result == constants::FLOAT8 => self.power(left, right),
            "^" if operator.result == constants::NUMERIC => {
                numeric_call(operator.name, vec![left, right])
            }
            "+" | "-" | "*" | "/" | "%" if is_number(operator.result.base) => {
                arithmetic(operator, left, right, schema)
            }
            "+" | "-" | "*" | "/" => {
                missing(format!("operator {} of {:?}", operator.name, operator.left))
            }
            "&" | "|" | "#" | "<<" | ">>" => bits(operator, left, right),
            "||" if operator.result == constants::TEXT => concatenated(left, right),
            "^@" => self.starts_with(left, right),
            "~~" | "!~~" | "~~*" | "!~~*" if operator.right == constants::TEXT => {
                like(operator.name, left, right)
            }
            "~~" | "!~~" if operator.right == constants::BYTEA => {
                self.like_of_bytes(left, right, operator.name == "!~~")
            }
            "~" | "~*" | "!~" | "!~*" if operator.right == constants::TEXT => {
                self.planned(operator, left, right, (result, schema))
            }
            name => missing(format!("operator {name} of {:?}", operator.left)),
        }
    }

    /// Lowers `^@`.
    fn starts_with(&self, text: Typed, prefix: Typed) -> Result<Typed> {
        let Some(function) = self.planner.scalar_functions().get("starts_with") else {
            return missing("operator ^@");
        };
        let arguments = vec![text.expr, prefix.expr];
        let call = Expr::ScalarFunction(ScalarFunction::new_udf(function.clone(), arguments));
        Ok(Typed::new(call, DataType::Boolean))
    }

    /// Lowers `^` between floating-point numbers.
    fn power(&self, base: Typed, exponent: Typed) -> Result<Typed> {
        let wanted = DataType::Float64;
        let Some(power) = number_function("power", &wanted, 2) else {
            return missing("operator ^");
        };
        let (base, exponent) =
            (converted(base, wanted.clone(), false)?, converted(exponent, wanted.clone(), false)?);
        let call = ScalarFunction::new_udf(power, vec![base.expr, exponent.expr]);
        Ok(Typed::new(Expr::ScalarFunction(call), wanted))
    }

    /// Lowers an operator as the planner's extensions do.
    fn planned(
        &self,
        operator: &Operator,
        left: Typed,
        right: Typed,
        (result, schema): (SqlType, &DFSchema),
    ) -> Result<Typed> {
        let (plain, written) = match operator.name {
            "~" => (PlanOperator::RegexMatch, BinaryOperator::PGRegexMatch),
            "~*" => (PlanOperator::RegexIMatch, BinaryOperator::PGRegexIMatch),
            "!~" => (PlanOperator::RegexNotMatch, BinaryOperator::PGRegexNotMatch),
            "!~*" => (PlanOperator::RegexNotIMatch, BinaryOperator::PGRegexNotIMatch),
            name => return missing(format!("operator {name}")),
        };
        let wanted = lowered_type(result)?;
        let mut raw = RawBinaryExpr { op: written, left: left.expr, right: right.expr };
        let mut expr = None;
        for planner in self.planner.expr_planners() {
            match planner.plan_binary_op(raw, schema)? {
                PlannerResult::Planned(planned) => {
                    expr = Some(planned);
                    raw = RawBinaryExpr { op: BinaryOperator::Plus, left: lit(0), right: lit(0) };
                    break;
                }
                PlannerResult::Original(same) => raw = same,
            }
        }
        let expr = expr.unwrap_or_else(|| binary_expr(raw.left, plain, raw.right));
        let given = expr.get_type(schema)?;
        converted(Typed::new(expr, given), wanted, false)
    }
}

fn is_number(base: BaseType) -> bool {
    use BaseType::{Float4, Float8, Int2, Int4, Int8, Numeric};
    matches!(base, Int2 | Int4 | Int8 | Float4 | Float8 | Numeric)
}

fn is_null(value: &Typed) -> bool {
    value.data_type == DataType::Null
}

/// Returns NULL of a type.
pub(super) fn null_of(data_type: SqlType) -> Result<Typed> {
    if is_numeric(data_type) {
        return Ok(Typed::new(lit(ScalarValue::Null), DataType::Null));
    }
    let wanted = lowered_type(data_type)?;
    Ok(Typed::new(lit(ScalarValue::try_from(&wanted)?), wanted))
}

/// Returns the comparison of a name.
pub(super) fn comparison(name: &str) -> Option<PlanOperator> {
    Some(match name {
        "=" => PlanOperator::Eq,
        "<>" => PlanOperator::NotEq,
        "<" => PlanOperator::Lt,
        "<=" => PlanOperator::LtEq,
        ">" => PlanOperator::Gt,
        ">=" => PlanOperator::GtEq,
        _ => return None,
    })
}

/// Compares two values, of one type once they are converted.
pub(super) fn compared(comparison: PlanOperator, left: Typed, right: Typed) -> Result<Typed> {
    if let Some(compared) = dates_compared(comparison, &left, &right) {
        return compared;
    }
    let (left, right) = comparable(left, right)?;
    // A join of rows by columns hashes them, and filters one side by the bits of the other one's values.
    let as_bits = left.expr.any_column_refs() && right.expr.any_column_refs();
    let (left, right) = match as_bits {
        true => (keys::bits(left), keys::bits(right)),
        false => (key(left), key(right)),
    };
    Ok(Typed::new(binary_expr(left, comparison, right), DataType::Boolean))
}

/// Gives two values one type in which they can be compared.
pub(super) fn comparable(left: Typed, right: Typed) -> Result<(Typed, Typed)> {
    if is_array(&left.data_type) && is_array(&right.data_type) {
        return with_comparable_elements(left, right);
    }
    let common = match (&left.data_type, &right.data_type) {
        (one, other) if one == other => one.clone(),
        (DataType::Null, other) | (other, DataType::Null) => other.clone(),
        (one, other) => match wider(one, other) {
            Some(common) => common,
            None => return missing(format!("a comparison of {one} and {other}")),
        },
    };
    Ok((converted(left, common.clone(), false)?, converted(right, common, false)?))
}

/// Returns a type in which values of two types keep their values.
pub(super) fn wider(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::{Date32, Decimal128, Float32, Float64, Int16, Int32, Int64, Timestamp};
    Some(match (one, other) {
        (Int16, Int32) | (Int32, Int16) => Int32,
        (Int16 | Int32, Int64) | (Int64, Int16 | Int32) => Int64,
        (Float32, Float64) | (Float64, Float32) => Float64,
        (Decimal128(digits, scale), Decimal128(others, theirs)) => {
            let whole = |digits: u8, scale: i8| digits.saturating_sub(scale.unsigned_abs());
            let scale_of_both = (*scale).max(*theirs);
            let whole = whole(*digits, *scale).max(whole(*others, *theirs));
            let digits = whole.checked_add(scale_of_both.unsigned_abs());
            digits.and_then(|digits| decimal(digits, scale_of_both)).unwrap_or(NUMERIC)
        }
        (one, other) if is_exact(one) && is_exact(other) => NUMERIC,
        (Date32, time @ Timestamp(..)) | (time @ Timestamp(..), Date32) => time.clone(),
        (Timestamp(..), Timestamp(..)) => Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        (one, other) => return wider_array(one, other),
    })
}

/// Lowers `+`, `-`, `*`, `/` and `%` between numbers.
fn arithmetic(operator: &Operator, left: Typed, right: Typed, schema: &DFSchema) -> Result<Typed> {
    let plain = match operator.name {
        "+" => PlanOperator::Plus,
        "-" => PlanOperator::Minus,
        "*" => PlanOperator::Multiply,
        "/" => PlanOperator::Divide,
        _ => PlanOperator::Modulo,
    };
    let is_of_numbers = operator.left.is_some_and(|left| is_number(left.base));
    if !is_of_numbers || !is_number(operator.right.base) {
        return missing(format!("operator {} of times", operator.name));
    }
    if operator.result == constants::NUMERIC {
        return exact(operator, plain, [left, right], schema);
    }
    let wanted = lowered_type(operator.result.plain())?;
    let (left, right) =
        (converted(left, wanted.clone(), false)?, converted(right, wanted.clone(), false)?);
    let is_float = matches!(wanted, DataType::Float32 | DataType::Float64);
    let expr = match is_float && plain != PlanOperator::Modulo {
        true => float_operator(left.expr, plain, right.expr),
        false => binary_expr(left.expr, plain, right.expr),
    };
    Ok(Typed::new(expr, wanted))
}

/// Lowers arithmetic of exact numbers: as decimals if their digits behind the point are known.
fn exact(
    operator: &Operator,
    plain: PlanOperator,
    [left, right]: [Typed; 2],
    schema: &DFSchema,
) -> Result<Typed> {
    let types = [numeric_of(&left.data_type)?, numeric_of(&right.data_type)?];
    let is_plain =
        matches!(plain, PlanOperator::Plus | PlanOperator::Minus | PlanOperator::Multiply);
    if is_plain && !types.contains(&NUMERIC) {
        let [left_type, right_type] = types;
        let left = converted(left.clone(), left_type, false)?;
        let right = converted(right.clone(), right_type, false)?;
        let expr = binary_expr(left.expr, plain, right.expr);
        if let Ok(data_type @ DataType::Decimal128(..)) = expr.get_type(schema) {
            return Ok(Typed::new(expr, data_type));
        }
    }
    numeric_call(operator.name, vec![left, right])
}

/// Calls a function of numbers of a type, with values of this type.
fn number_call(name: &str, wanted: DataType, value: Typed) -> Result<Typed> {
    let Some(function) = number_function(name, &wanted, 1) else {
        return missing(format!("function {name} of {wanted}"));
    };
    let value = converted(value, wanted.clone(), false)?;
    let call = ScalarFunction::new_udf(function, vec![value.expr]);
    Ok(Typed::new(Expr::ScalarFunction(call), wanted))
}

/// Calls a function of numerics.
pub(super) fn numeric_call(name: &str, arguments: Vec<Typed>) -> Result<Typed> {
    let Some((function, given)) = numerics::function(name, arguments.len()) else {
        return missing(format!("function {name} of numerics"));
    };
    let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
    let call = Expr::ScalarFunction(ScalarFunction::new_udf(function, arguments));
    Ok(Typed::new(call, given))
}

/// Lowers operators of the bits of whole numbers.
fn bits(operator: &Operator, left: Typed, right: Typed) -> Result<Typed> {
    let plain = match operator.name {
        "&" => PlanOperator::BitwiseAnd,
        "|" => PlanOperator::BitwiseOr,
        "#" => PlanOperator::BitwiseXor,
        // Shifts by a negative or a large number of bits mean something else in DataFusion.
        name => return missing(format!("operator {name}")),
    };
    if !left.data_type.is_integer() || left.data_type != right.data_type {
        return missing(format!("operator {} of {}", operator.name, left.data_type));
    }
    let data_type = left.data_type.clone();
    Ok(Typed::new(binary_expr(left.expr, plain, right.expr), data_type))
}

fn concatenated(left: Typed, right: Typed) -> Result<Typed> {
    if left.data_type != DataType::Utf8View || right.data_type != DataType::Utf8View {
        return missing("|| of a value that is no text");
    }
    let expr = binary_expr(left.expr, PlanOperator::StringConcat, right.expr);
    Ok(Typed::new(expr, DataType::Utf8View))
}

/// Returns the pattern of LIKE … ESCAPE with backslashes in the place of the character, if both are written out.
fn escaped(pattern: &Scalar) -> Option<String> {
    let ScalarKind::Function { function, arguments } = &pattern.kind else { return None };
    let [pattern, escape] = arguments.as_slice() else { return None };
    let (
        ScalarKind::Constant(Constant::Text(pattern)),
        ScalarKind::Constant(Constant::Text(escape)),
    ) = (&pattern.kind, &escape.kind)
    else {
        return None;
    };
    let mut characters = escape.chars();
    let escape = characters.next()?;
    if characters.next().is_some() || function.name != "like_escape" {
        return None;
    }
    let mut plain = String::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            // At the end it is an error, which PostgreSQL's function gives.
            character if character == escape => plain.extend(['\\', rest.next()?]),
            '\\' => plain.push_str("\\\\"),
            other => plain.push(other),
        }
    }
    Some(plain)
}

fn like(name: &str, left: Typed, right: Typed) -> Result<Typed> {
    let are_texts = left.data_type == DataType::Utf8View && right.data_type == DataType::Utf8View;
    if !are_texts || !name.contains("~~") {
        return missing("a pattern of bytes");
    }
    let like = Like {
        negated: name.starts_with('!'),
        expr: Box::new(left.expr),
        pattern: Box::new(right.expr),
        escape_char: None,
        case_insensitive: name.ends_with('*'),
    };
    Ok(Typed::new(Expr::Like(like), DataType::Boolean))
}

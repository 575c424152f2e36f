//! A value compared with the elements of a list.

use super::list_elements;
use crate::error::{input, to_datafusion};
use crate::value::is_text;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, ListBuilder, StringBuilder, UInt32Array,
};
use arrow::compute::kernels::cmp;
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use gadus_engine::UUID;
use std::sync::Arc;

/// How many of a list's elements a comparison is to hold for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Quantifier {
    Any,
    All,
}

/// A way of comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const COMPARISONS: [(Comparison, &str); 6] = [
    (Comparison::Equal, "equal"),
    (Comparison::NotEqual, "not_equal"),
    (Comparison::Less, "less"),
    (Comparison::LessOrEqual, "less_or_equal"),
    (Comparison::Greater, "greater"),
    (Comparison::GreaterOrEqual, "greater_or_equal"),
];

/// The function `gadus_any_equal(value, list)` and its kin, for all sessions.
pub(crate) fn quantified_functions() -> Vec<Arc<ScalarUDF>> {
    let both = [Quantifier::Any, Quantifier::All].into_iter();
    let all =
        both.flat_map(|quantifier| COMPARISONS.map(|(comparison, _)| (quantifier, comparison)));
    all.map(|(quantifier, comparison)| Arc::new(Quantified::new(quantifier, comparison).into()))
        .collect()
}

/// The name of the function that compares so.
pub(super) fn function_name(quantifier: Quantifier, operator: &BinaryOperator) -> Option<String> {
    let comparison = match operator {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    };
    Some(name(quantifier, comparison))
}

fn name(quantifier: Quantifier, comparison: Comparison) -> String {
    let quantifier = match quantifier {
        Quantifier::Any => "any",
        Quantifier::All => "all",
    };
    let known = COMPARISONS.iter().find(|(known, _)| *known == comparison);
    format!("gadus_{quantifier}_{}", known.map_or("", |(_, name)| name))
}

/// A value compared with the elements of a list, with NULLs as SQL has them: what is not known of an
/// element that would decide is not known of the list.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Quantified {
    quantifier: Quantifier,
    comparison: Comparison,
    name: String,
    signature: Signature,
}

impl Quantified {
    fn new(quantifier: Quantifier, comparison: Comparison) -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        Self { quantifier, comparison, name: name(quantifier, comparison), signature }
    }

    /// Whether a function is one of these.
    pub(crate) fn is(function: &ScalarUDF) -> bool {
        function.inner().downcast_ref::<Self>().is_some()
    }

    fn compare(&self, left: &ArrayRef, right: &ArrayRef) -> Result<BooleanArray> {
        let compare = match self.comparison {
            Comparison::Equal => cmp::eq,
            Comparison::NotEqual => cmp::neq,
            Comparison::Less => cmp::lt,
            Comparison::LessOrEqual => cmp::lt_eq,
            Comparison::Greater => cmp::gt,
            Comparison::GreaterOrEqual => cmp::gt_eq,
        };
        Ok(compare(left, right)?)
    }

    /// The answer for each row: the elements' answers joined by OR, or by AND.
    fn answer(&self, value: &ArrayRef, lists: &ListArray) -> Result<BooleanArray> {
        let offsets = lists.value_offsets();
        let bounds = |row: usize| {
            let bound = |at: usize| usize::try_from(offsets[at]).unwrap_or(0);
            bound(row)..bound(row + 1)
        };
        let elements =
            bounds(0).start..offsets.last().map_or(0, |end| usize::try_from(*end).unwrap_or(0));
        let rows = (0..lists.len()).flat_map(|row| bounds(row).map(move |_| row));
        let rows = rows.map(u32::try_from).collect::<std::result::Result<Vec<_>, _>>();
        let Ok(rows) = rows else { return exec_err!("a batch has more than 2^32 rows") };
        let beside = take(value, &UInt32Array::from(rows), None)?;
        let start = elements.start;
        let answers = self.compare(&beside, &lists.values().slice(start, elements.len()))?;
        let decides = self.quantifier == Quantifier::Any;
        let of_row = |row: usize| {
            if lists.is_null(row) {
                return None;
            }
            let mut answer = Some(!decides);
            for at in bounds(row) {
                match answers.is_valid(at - start).then(|| answers.value(at - start)) {
                    Some(found) if found == decides => return Some(decides),
                    Some(_) => {}
                    None => answer = None,
                }
            }
            answer
        };
        Ok((0..lists.len()).map(of_row).collect())
    }
}

impl ScalarUDFImpl for Quantified {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [value, list] = types else {
            return plan_err!("ANY and ALL compare a value with a list");
        };
        let element = match list {
            DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _) => {
                of.data_type()
            }
            // Of parameters that have no value yet, and of texts that are lists.
            DataType::Null | DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => value,
            other => return plan_err!("ANY and ALL take a list or a query, not a {other}"),
        };
        let are = |one: &DataType, other: &DataType| *one == UUID && is_text(other);
        if are(value, element) || are(element, value) {
            // The text is meant as an identifier, and will be one before this is asked again.
            return Ok(types.to_vec());
        }
        let Some(common) = common_type(value, element) else {
            return plan_err!("a {value} does not compare with elements that are {element}");
        };
        let list = match is_text(list) {
            true => DataType::Utf8,
            false => DataType::List(Arc::new(Field::new_list_field(common.clone(), true))),
        };
        Ok(vec![common, list])
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [value, list] = arrays.as_slice() else {
            return exec_err!("ANY and ALL compare a value with a list");
        };
        let read;
        let list = match list.as_string_opt::<i32>() {
            Some(_) => {
                read = lists_of(list, value.data_type())?;
                &read
            }
            None => list,
        };
        let Some(lists) = list.as_list_opt::<i32>() else {
            return exec_err!("ANY and ALL take a list, not a {}", list.data_type());
        };
        let answer = self.answer(value, lists)?;
        if is_scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&answer, 0)?));
        }
        Ok(ColumnarValue::Array(Arc::new(answer)))
    }

    /// A known list is one for IN, which tables look for by key and by what they know of their columns.
    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let negated = match (self.quantifier, self.comparison) {
            (Quantifier::Any, Comparison::Equal) => false,
            (Quantifier::All, Comparison::NotEqual) => true,
            _ => return Ok(ExprSimplifyResult::Original(args)),
        };
        let elements = match args.as_slice() {
            [value, Expr::Literal(ScalarValue::List(list), _)] if list.is_valid(0) => {
                (value, list.value(0))
            }
            _ => return Ok(ExprSimplifyResult::Original(args)),
        };
        let (value, elements) = elements;
        if elements.is_empty() {
            return Ok(ExprSimplifyResult::Simplified(lit(negated)));
        }
        let scalar = |at| ScalarValue::try_from_array(&elements, at).map(lit);
        let list = (0..elements.len()).map(scalar).collect::<Result<Vec<_>>>()?;
        let expr = Box::new(value.clone());
        Ok(ExprSimplifyResult::Simplified(Expr::InList(InList { expr, list, negated })))
    }
}

/// The type that a value and elements are compared in.
fn common_type(value: &DataType, element: &DataType) -> Option<DataType> {
    let is_double = |one: &DataType| matches!(one, DataType::Float32 | DataType::Float64);
    let is_decimal =
        |one: &DataType| matches!(one, DataType::Decimal128(..) | DataType::Decimal256(..));
    // Decimals beside doubles are doubles, as elsewhere.
    if (is_double(value) && is_decimal(element)) || (is_decimal(value) && is_double(element)) {
        return Some(DataType::Float64);
    }
    comparison_coercion(value, element)
}

/// Lists of elements of a type, as texts have them.
fn lists_of(texts: &ArrayRef, element: &DataType) -> Result<ArrayRef> {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for text in texts.as_string::<i32>() {
        let Some(text) = text else {
            lists.append_null();
            continue;
        };
        let Some(elements) = list_elements(text) else {
            let text = format!("'{text}' is no list: one is written {{1,2}}");
            return Err(to_datafusion(input(text)));
        };
        lists.append_value(elements);
    }
    let lists = lists.finish();
    let field = Field::new_list_field(element.clone(), true);
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(&lists, &DataType::List(Arc::new(field)), &options)?)
}

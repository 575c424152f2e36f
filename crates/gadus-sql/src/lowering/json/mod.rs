//! JSON and JSONB: casts, operators, functions, subscripts.
//!
//! - JSON is a text in plans, JSONB of an Arrow type of its own; which of them a value is, its SQL type says.

mod aggregates;
mod sets;
mod values;

use super::casts::converted;
use super::{Lowering, NotLowered, Result, Typed, missing};
use crate::arrays::{ArrayFunction, call, depth_of, of_leaf};
use crate::json::{self, JSONB, is_jsonb_text, scalar_text, to_json, to_jsonb};
use crate::numerics::{self, NUMERIC, to_numeric};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, cast, lit, when};
use gadus_binder::BindError;
use gadus_binder::bound::{Constant, Scalar, ScalarKind, SubscriptItem};
use gadus_binder::catalog::{Function, Operator};
use gadus_binder::types::{BaseType, SqlType, TypeId, constants};
use gadus_engine::is_numeric_text;
use gadus_functions::json::DocumentKind;
use gadus_syntax::Span;
use std::sync::Arc;

/// Functions whose kernel of the same name does what PostgreSQL's function does.
const KERNELS: [&str; 31] = [
    "json_array_length",
    "json_extract_path",
    "json_extract_path_text",
    "json_object",
    "json_strip_nulls",
    "json_typeof",
    "jsonb_array_length",
    "jsonb_concat",
    "jsonb_contained",
    "jsonb_contains",
    "jsonb_delete",
    "jsonb_delete_path",
    "jsonb_exists",
    "jsonb_exists_all",
    "jsonb_exists_any",
    "jsonb_extract_path",
    "jsonb_extract_path_text",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_path_exists",
    "jsonb_path_match",
    "jsonb_path_query_array",
    "jsonb_path_query_first",
    "jsonb_pretty",
    "jsonb_set",
    "jsonb_set_lax",
    "jsonb_strip_nulls",
    "jsonb_typeof",
    "json_array_element",
    "json_object_field",
    "jsonb_object_field",
];

/// Returns the kind of documents that a type is; `None` for other types.
pub(super) fn document_kind(data_type: TypeId) -> Option<DocumentKind> {
    match (data_type.is_array, data_type.base) {
        (false, BaseType::Json) => Some(DocumentKind::Text),
        (false, BaseType::Jsonb) => Some(DocumentKind::Binary),
        _ => None,
    }
}

/// Refuses values of JSON where they are compared, which the binder does not.
pub(super) fn refuse_compared(types: impl IntoIterator<Item = (SqlType, Span)>) -> Result<()> {
    let is_json = |(of, _): &(SqlType, Span)| document_kind(of.id) == Some(DocumentKind::Text);
    match types.into_iter().find(is_json) {
        Some((_, span)) => {
            let message = "could not identify an equality operator for type json";
            Err(NotLowered::Refused(BindError::new("42883", message, span)))
        }
        None => Ok(()),
    }
}

/// Returns a column of a table as plans have its values; `None` for columns whose values are the same in both.
pub(super) fn read_stored(field: &Field, from: Expr) -> Option<Typed> {
    if is_numeric_text(field) {
        return Some(Typed::new(to_numeric(from), NUMERIC));
    }
    is_jsonb_text(field).then(|| Typed::new(cast(from, JSONB), JSONB))
}

/// Returns a value as it leaves a plan; `None` for values that leave as they are.
pub(super) fn shown_value(value: Expr, data_type: &DataType) -> Option<Expr> {
    match data_type {
        of if *of == NUMERIC => Some(numerics::shown(value)),
        of if *of == JSONB => Some(json::shown(value, Some(DocumentKind::Binary))),
        _ => None,
    }
}

/// Returns a cast to a document or from one; `None` for other casts.
pub(super) fn document_cast(
    operand: &Typed,
    source: SqlType,
    target: SqlType,
) -> Result<Option<Typed>> {
    use BaseType::{Bpchar, Char, Name, Text, Unknown, Varchar};
    let is_text = |of: SqlType| {
        !of.id.is_array && matches!(of.id.base, Bpchar | Char | Name | Text | Unknown | Varchar)
    };
    let expr = operand.expr.clone();
    Ok(Some(match (document_kind(source.id), document_kind(target.id)) {
        (None, None) => return Ok(None),
        (Some(_), _) | (_, Some(_)) if operand.data_type == DataType::Null => {
            return Ok(None);
        }
        (None, Some(DocumentKind::Text)) if is_text(source) => {
            Typed::new(to_json(expr), DataType::Utf8View)
        }
        (None | Some(DocumentKind::Text), Some(DocumentKind::Binary))
            if operand.data_type == DataType::Utf8View =>
        {
            Typed::new(to_jsonb(expr), JSONB)
        }
        (Some(DocumentKind::Binary), Some(DocumentKind::Text)) => {
            Typed::new(cast(expr, DataType::Utf8View), DataType::Utf8View)
        }
        (Some(kind), None) if is_text(target) => {
            let text = match kind {
                DocumentKind::Text => expr,
                DocumentKind::Binary => cast(expr, DataType::Utf8View),
            };
            let text = Typed::new(text, DataType::Utf8View);
            match super::casts::between_characters(&text, constants::TEXT.plain(), target) {
                Some(text) => text,
                None => text,
            }
        }
        (Some(DocumentKind::Binary), None) => return scalar_cast(expr, target).map(Some),
        _ => return missing(format!("a cast from {source} to {target}")),
    }))
}

/// Returns true for types of values that can be subscripts of JSONB.
fn is_subscript(data_type: SqlType) -> bool {
    use BaseType::{Bpchar, Char, Int2, Int4, Name, Text, Unknown, Varchar};
    let is_base =
        matches!(data_type.id.base, Bpchar | Char | Int2 | Int4 | Name | Text | Unknown | Varchar);
    is_base && !data_type.id.is_array
}

/// Returns the value of an argument that a call leaves out before one that it gives by name.
fn default_argument(name: &str, place: usize) -> Result<Expr> {
    match (name, place) {
        ("jsonb_set" | "jsonb_set_lax", 3) => Ok(lit(true)),
        ("jsonb_insert", 3) => Ok(lit(false)),
        (name, 2) if name.starts_with("jsonb_path_") => {
            Ok(lit(ScalarValue::LargeUtf8(Some("{}".to_owned()))))
        }
        (name, 3) if name.starts_with("jsonb_path_") => Ok(lit(false)),
        _ => missing(format!("{name} without an argument in between")),
    }
}

/// Casts JSONB to a boolean or a number.
fn scalar_cast(document: Expr, target: SqlType) -> Result<Typed> {
    use BaseType::{Bool, Float4, Float8, Int2, Int4, Int8, Numeric};
    let (name, wanted) = match target.id.base {
        Bool => ("boolean", DataType::Boolean),
        Int2 => ("smallint", DataType::Int16),
        Int4 => ("integer", DataType::Int32),
        Int8 => ("bigint", DataType::Int64),
        Float4 => ("real", DataType::Float32),
        Float8 => ("double precision", DataType::Float64),
        Numeric => ("numeric", NUMERIC),
        _ => return missing(format!("a cast from jsonb to {target}")),
    };
    let text = Typed::new(scalar_text(document, name), DataType::Utf8View);
    if wanted == DataType::Boolean {
        return converted(text, wanted, false);
    }
    converted(converted(text, NUMERIC, false)?, wanted, false)
}

impl Lowering<'_> {
    /// Lowers an operator of documents; `None` for other operators.
    pub(super) fn document_operator(
        &mut self,
        operator: &Operator,
        operands: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        let [left, right] = operands else { return Ok(None) };
        let Some(kind) = operator.left.and_then(document_kind) else { return Ok(None) };
        let prefix = match kind {
            DocumentKind::Text => "json",
            DocumentKind::Binary => "jsonb",
        };
        let is_of_place = operator.right == constants::INT4;
        let name = match operator.name {
            "->" if is_of_place => "array_element",
            "->" => "object_field",
            "->>" if is_of_place => "array_element_text",
            "->>" => "object_field_text",
            "#>" => "extract_path",
            "#>>" => "extract_path_text",
            "#-" => "delete_path",
            "-" => "delete",
            "||" => "concat",
            "@>" => "contains",
            "<@" => "contained",
            "?" => "exists",
            "?|" => "exists_any",
            "?&" => "exists_all",
            "@?" => "path_exists_opr",
            "@@" => "path_match_opr",
            _ => return Ok(None),
        };
        self.document_call(&format!("{prefix}_{name}"), &[left, right], result, schema).map(Some)
    }

    /// Lowers a function of documents; `None` for other functions.
    pub(super) fn document_function(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        if function.returns_set {
            return Ok(None);
        }
        if let Some(built) = self.built_document(function, arguments, schema)? {
            return Ok(Some(built));
        }
        if let ("json_object" | "jsonb_object", [array]) = (function.name, arguments) {
            return self.object_of_array(array, function.name == "jsonb_object", schema).map(Some);
        }
        if !KERNELS.contains(&function.name) {
            return Ok(None);
        }
        let arguments = arguments.iter().collect::<Vec<_>>();
        self.document_call(function.name, &arguments, result, schema).map(Some)
    }

    /// Lowers the object of an array of texts, whose dimensions may be two.
    fn object_of_array(
        &mut self,
        array: &Scalar,
        is_binary: bool,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let value = self.scalar(array, schema)?;
        let depth = depth_of(&value.data_type);
        if depth == 0 {
            return missing("an object of NULL");
        }
        let flat = match depth {
            1 => value.expr.clone(),
            _ => {
                let flat = of_leaf(&DataType::Utf8View, 1);
                call(ArrayFunction::Flatten, vec![value.expr.clone()], flat)
            }
        };
        let dimensions = lit(i32::try_from(depth).unwrap_or(i32::MAX));
        let last =
            call(ArrayFunction::Length, vec![value.expr, dimensions.clone()], DataType::Int32);
        // An array without elements has no dimension.
        let columns = when(last.clone().is_not_null(), last).otherwise(lit(0))?;
        let columns = when(flat.clone().is_not_null(), columns).end()?;
        let object =
            self.kernel_call("gadus_json_object_of_array", vec![flat, dimensions, columns])?;
        let object = Typed::new(cast(object, DataType::Utf8View), DataType::Utf8View);
        Ok(match is_binary {
            true => Typed::new(to_jsonb(object.expr), JSONB),
            false => object,
        })
    }

    fn document_call(
        &mut self,
        name: &str,
        arguments: &[&Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let mut values = Vec::with_capacity(arguments.len());
        for (place, argument) in arguments.iter().enumerate() {
            values.push(match argument.data_type.id {
                _ if matches!(argument.kind, ScalarKind::Default) => default_argument(name, place)?,
                of if of == constants::TEXT_ARRAY => self.text_list(argument, schema)?,
                _ => self.scalar(argument, schema)?.expr,
            });
        }
        let wanted = super::types::lowered_type(result)?;
        Ok(Typed::new(self.kernel_call(name, values)?, wanted))
    }

    /// Calls a kernel.
    pub(super) fn kernel_call(&self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        match self.planner.scalar_functions().get(name) {
            Some(kernel) => {
                let call = ScalarFunction::new_udf(kernel.clone(), arguments);
                Ok(Expr::ScalarFunction(call))
            }
            None => missing(format!("kernel {name}")),
        }
    }

    /// Lowers an array of texts.
    fn text_list(&mut self, scalar: &Scalar, schema: &DFSchema) -> Result<Expr> {
        let written = match &scalar.kind {
            ScalarKind::Constant(Constant::Text(text)) => crate::lists::list_elements(text),
            ScalarKind::Array(elements) if elements.is_empty() => Some(Vec::new()),
            ScalarKind::Array(elements) => {
                let elements = elements.iter().map(|element| self.scalar(element, schema));
                let elements = elements.collect::<Result<Vec<_>>>()?;
                if elements.iter().any(|element| element.data_type != DataType::Utf8View) {
                    return missing("an array of texts");
                }
                let elements = elements.into_iter().map(|element| element.expr).collect();
                return self.kernel_call("make_array", elements);
            }
            ScalarKind::Constant(Constant::Null) => {
                let item = Field::new_list_field(DataType::Utf8View, true);
                return Ok(lit(ScalarValue::try_from(&DataType::List(Arc::new(item)))?));
            }
            _ => None,
        };
        let Some(elements) = written else { return Ok(self.scalar(scalar, schema)?.expr) };
        let elements = elements.into_iter().map(ScalarValue::Utf8View).collect::<Vec<_>>();
        let list = ScalarValue::new_list_nullable(&elements, &DataType::Utf8View);
        Ok(lit(ScalarValue::List(list)))
    }

    /// Lowers subscripts of JSONB, which are a path.
    pub(super) fn document_subscript(
        &mut self,
        operand: &Scalar,
        items: &[SubscriptItem],
        schema: &DFSchema,
    ) -> Result<Typed> {
        if document_kind(operand.data_type.id) != Some(DocumentKind::Binary) {
            return missing("an element of an array");
        }
        let mut arguments = vec![self.scalar(operand, schema)?.expr];
        arguments.extend(self.document_path(items, schema)?);
        Ok(Typed::new(self.kernel_call("jsonb_extract_path", arguments)?, JSONB))
    }

    /// Puts a value in a part of a document, which may be NULL.
    pub(super) fn assigned_member(
        &mut self,
        document: Typed,
        (items, value): (&[SubscriptItem], Typed),
        schema: &DFSchema,
    ) -> Result<Typed> {
        let document = match document.data_type {
            of if of == JSONB => document.expr,
            _ => cast(document.expr, JSONB),
        };
        let starts_with_array = items.first().is_some_and(|item| match item {
            SubscriptItem::Index(index) => {
                [constants::INT2, constants::INT4].contains(&index.data_type.id)
            }
            _ => false,
        });
        let mut arguments = vec![document, value.expr, lit(starts_with_array)];
        arguments.extend(self.document_path(items, schema)?);
        Ok(Typed::new(self.kernel_call("gadus_jsonb_assign", arguments)?, JSONB))
    }

    /// Lowers subscripts of JSONB as texts.
    fn document_path(&mut self, items: &[SubscriptItem], schema: &DFSchema) -> Result<Vec<Expr>> {
        let mut path = Vec::with_capacity(items.len());
        for item in items {
            let index = match item {
                SubscriptItem::Index(index) => index,
                SubscriptItem::Slice(lower, upper) => {
                    let Some(bound) = lower.as_ref().or(upper.as_ref()) else {
                        return missing("a slice of a document");
                    };
                    let message = "jsonb subscript does not support slices";
                    let error = BindError::new("42804", message, bound.span);
                    return Err(NotLowered::Refused(error));
                }
            };
            if !is_subscript(index.data_type) {
                let message = format!("subscript type {} is not supported", index.data_type);
                let error = BindError::new("42804", message, index.span);
                let hint = "jsonb subscript must be coercible to either integer or text.";
                return Err(NotLowered::Refused(error.with_hint(hint)));
            }
            let step = self.scalar(index, schema)?;
            path.push(converted(step, DataType::Utf8View, false)?.expr);
        }
        Ok(path)
    }
}

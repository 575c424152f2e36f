//! Documents that are made of values of SQL.

use super::{Lowering, Typed, document_kind};
use crate::arrays::{ArrayFunction, call, depth_of, leaf_of, of_leaf};
use crate::json::{Form, JSONB, JsonType, build};
use crate::lowering::casts::with_blanks;
use crate::lowering::{Result, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::lit;
use gadus_binder::bound::{Scalar, ScalarKind};
use gadus_binder::catalog::Function;
use gadus_binder::types::{BaseType, TypeId, constants};

impl Lowering<'_> {
    /// Lowers a function that makes a document of values; `None` for other functions.
    pub(super) fn built_document(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        let (form, is_binary) = match function.name {
            "to_json" | "array_to_json" | "row_to_json" => (Form::Value, false),
            "to_jsonb" => (Form::Value, true),
            "json_build_object" => (Form::Object, false),
            "jsonb_build_object" => (Form::Object, true),
            "json_build_array" => (Form::Array, false),
            "jsonb_build_array" => (Form::Array, true),
            _ => return Ok(None),
        };
        if form != Form::Value
            && function.arguments == [constants::ANYARRAY]
            && let [array] = arguments
        {
            return self.built_of_array(form, is_binary, array, schema).map(Some);
        }
        let count = if form == Form::Value { 1 } else { arguments.len() };
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for (place, argument) in arguments.iter().enumerate() {
            let (value, of) = self.json_value(argument, schema)?;
            values.push(value.expr);
            if place < count {
                types.push(of);
            }
        }
        let wanted = if is_binary { JSONB } else { DataType::Utf8View };
        Ok(Some(Typed::new(build(form, is_binary, types, values), wanted)))
    }

    /// Lowers a document of the elements of an array, in one dimension.
    fn built_of_array(
        &mut self,
        form: Form,
        is_binary: bool,
        array: &Scalar,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let (value, of) = self.json_value(array, schema)?;
        let flat = of_leaf(leaf_of(&value.data_type), 1);
        let value = match depth_of(&value.data_type) {
            0 | 1 => value.expr,
            _ => call(ArrayFunction::Flatten, vec![value.expr], flat),
        };
        let form = match form {
            Form::Object => Form::ObjectOfList,
            _ => Form::Joined { open: "[", separator: ", ", close: "]" },
        };
        let wanted = if is_binary { JSONB } else { DataType::Utf8View };
        Ok(Typed::new(build(form, is_binary, vec![of], vec![value]), wanted))
    }

    /// Lowers a value that becomes a part of a document.
    pub(super) fn json_value(
        &mut self,
        scalar: &Scalar,
        schema: &DFSchema,
    ) -> Result<(Typed, JsonType)> {
        if let ScalarKind::Row(fields) = &scalar.kind {
            return self.json_row(scalar, fields, schema);
        }
        let of = json_type(scalar.data_type.id)?;
        let value = with_blanks(self.scalar(scalar, schema)?, scalar.data_type)?;
        let value = match value.data_type {
            DataType::Null => Typed::new(lit(ScalarValue::Utf8View(None)), DataType::Utf8View),
            _ => value,
        };
        Ok((value, of))
    }

    fn json_row(
        &mut self,
        row: &Scalar,
        fields: &[Scalar],
        schema: &DFSchema,
    ) -> Result<(Typed, JsonType)> {
        let (mut arguments, mut types) = (Vec::new(), Vec::new());
        for (place, field) in fields.iter().enumerate() {
            let (value, of) = self.json_value(field, schema)?;
            let names = row.field_names.as_deref().and_then(|names| names.get(place));
            let name = names.cloned().unwrap_or_else(|| format!("f{}", place + 1));
            // Names may come twice in a row, but not in Arrow's.
            arguments.push(lit(format!("f{place}")));
            arguments.push(value.expr);
            types.push((name, of));
        }
        if arguments.is_empty() {
            return missing("a row without fields");
        }
        let value = self.kernel_call("named_struct", arguments)?;
        Ok((Typed::new(value, DataType::Null), JsonType::Row(types)))
    }
}

/// Returns the type of values of a SQL type in documents.
fn json_type(of: TypeId) -> Result<JsonType> {
    use BaseType::{Bool, Float4, Float8, Int2, Int4, Int8, Numeric, Record};
    if let Some(element) = of.element() {
        return Ok(JsonType::List(Box::new(json_type(element)?)));
    }
    if document_kind(of).is_some() {
        return Ok(JsonType::Document);
    }
    Ok(match of.base {
        Bool => JsonType::Boolean,
        Int2 | Int4 | Int8 | Float4 | Float8 | Numeric => JsonType::Number,
        Record => return missing("a row that is a column"),
        _ => JsonType::Text,
    })
}

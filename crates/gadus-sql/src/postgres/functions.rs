//! Functions of the catalog, for the statements of one snapshot.

use super::activity::{blockers, is_blocked_among};
use super::keys::Key;
use super::known::{Asking, Known};
use super::{oids, routines, types};
use crate::error::to_datafusion;
use crate::provider::{CATALOG, MAIN_SCHEMA};
use crate::value::is_text;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use gadus_engine::{Ending, Snapshot};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Gives {
    Text,
    Number,
    Boolean,
    Texts,
    Numbers,
    /// Each element of a list with its place, `x` and `n`.
    Placed,
    /// The number of a name, and the name of a number.
    Either,
}

type Evaluate = fn(&Known, &[ScalarValue]) -> ScalarValue;

/// The same where it may fail, or does something.
type Attempt = fn(&Known, &[ScalarValue]) -> gadus_engine::Result<ScalarValue>;

#[derive(Debug, Clone, Copy)]
enum Does {
    Evaluate(Evaluate),
    Attempt(Attempt),
}

#[derive(Debug)]
struct CatalogFunction {
    name: &'static str,
    gives: Gives,
    does: Does,
    known: Arc<Known>,
    signature: Signature,
}

#[rustfmt::skip]
const FUNCTIONS: &[(&str, Gives, Evaluate)] = &[
    ("format_type", Gives::Text, |known, values| text(Some(types::title(&known.snapshot, number(values, 0).unwrap_or(0), number(values, 1))))),
    ("pg_get_expr", Gives::Text, |_, values| text(string(values, 0))),
    ("pg_get_userbyid", Gives::Text, |_, _| text(Some(CATALOG.to_owned()))),
    ("pg_get_indexdef", Gives::Text, index_definition_of),
    ("pg_get_constraintdef", Gives::Text, constraint_definition_of),
    ("pg_encoding_to_char", Gives::Text, |_, _| text(Some("UTF8".to_owned()))),
    ("getdatabaseencoding", Gives::Text, |_, _| text(Some("UTF8".to_owned()))),
    ("obj_description", Gives::Text, |known, values| text(routines::description(&known.snapshot, number(values, 0), Some(0)))),
    ("col_description", Gives::Text, |known, values| text(routines::description(&known.snapshot, number(values, 0), number(values, 1)))),
    ("shobj_description", Gives::Text, |known, values| text(routines::description(&known.snapshot, number(values, 0), Some(0)))),
    ("pg_get_functiondef", Gives::Text, |known, values| text(routine(known, values).map(|routine| routine.to_string()))),
    // A body that is a text, as each is here.
    ("pg_get_function_sqlbody", Gives::Text, |_, _| text(None)),
    ("pg_get_function_result", Gives::Text, |known, values| text(routine(known, values).and_then(|routine| routine.result()))),
    ("pg_get_function_arguments", Gives::Text, |known, values| text(routine(known, values).map(|routine| routine.arguments()))),
    ("pg_get_function_identity_arguments", Gives::Text, |known, values| text(routine(known, values).map(|routine| routine.arguments()))),
    ("pg_get_viewdef", Gives::Text, |known, values| text(known.view_definition(view_number(known, values)))),
    ("pg_get_serial_sequence", Gives::Text, |known, values| text(serial_sequence(known, values))),
    // Sizes are those of the file: what a table takes of it is not known.
    ("pg_table_size", Gives::Number, |_, _| numbered(None)),
    ("pg_relation_size", Gives::Number, |_, _| numbered(None)),
    ("pg_total_relation_size", Gives::Number, |_, _| numbered(None)),
    ("pg_indexes_size", Gives::Number, |_, _| numbered(None)),
    ("pg_database_size", Gives::Number, |_, _| numbered(None)),
    ("pg_tablespace_size", Gives::Number, |_, _| numbered(None)),
    ("pg_size_pretty", Gives::Text, |_, values| text(number(values, 0).map(|bytes| format!("{bytes} bytes")))),
    // Of rows where there are none: no table is a part of another.
    ("pg_partition_ancestors", Gives::Number, |_, _| numbered(None)),
    ("pg_char_to_encoding", Gives::Number, |_, _| numbered(Some(6))),
    ("pg_table_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_type_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_function_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_collation_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_conversion_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_operator_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_opclass_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_opfamily_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_statistics_obj_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_ts_config_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_ts_dict_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_ts_parser_is_visible", Gives::Boolean, |_, _| yes()),
    ("pg_ts_template_is_visible", Gives::Boolean, |_, _| yes()),
    ("has_schema_privilege", Gives::Boolean, |_, _| yes()),
    ("has_table_privilege", Gives::Boolean, |_, _| yes()),
    ("has_database_privilege", Gives::Boolean, |_, _| yes()),
    ("has_column_privilege", Gives::Boolean, |_, _| yes()),
    ("pg_is_in_recovery", Gives::Boolean, |_, _| ScalarValue::Boolean(Some(false))),
    ("pg_backend_pid", Gives::Number, |known, _| numbered(known.asking.session.map(i64::from))),
    ("pg_blocking_pids", Gives::Numbers, |known, values| blocking(known, values)),
    // There are none.
    ("pg_advisory_unlock_all", Gives::Text, |_, _| text(None)),
    ("pg_isolation_test_session_is_blocked", Gives::Boolean, |known, values| is_blocked(known, values)),
    ("to_regclass", Gives::Number, |known, values| numbered(string(values, 0).and_then(|name| known.find(&name)))),
    ("to_regtype", Gives::Number, |known, values| numbered(string(values, 0).and_then(|name| types::number_of(&known.snapshot, &name).ok()))),
    ("current_schemas", Gives::Texts, |_, values| schemas(values)),
    ("array_upper", Gives::Number, |_, values| numbered(length(values))),
    ("array_lower", Gives::Number, |_, values| numbered(length(values).map(|_| 1))),
    ("gadus_placed", Gives::Placed, |_, values| placed(values)),
    ("gadus_regnamespace", Gives::Either, |_, values| either(values, schema_number, schema_name)),
    ("gadus_regrole", Gives::Either, |_, values| either(values, |_| Some(oids::OWNER), |_| Some(CATALOG.to_owned()))),
    ("gadus_regproc", Gives::Either, |known, values| either(values, |name| routines::number_of(&known.snapshot, name), |oid| Some(routines::name_of(&known.snapshot, oid)))),
];

#[rustfmt::skip]
const ATTEMPTS: &[(&str, Gives, Volatility, Attempt)] = &[
    ("pg_cancel_backend", Gives::Boolean, Volatility::Volatile, |known, values| end(known, values, Ending::Statement)),
    ("pg_terminate_backend", Gives::Boolean, Volatility::Volatile, |known, values| end(known, values, Ending::Connection)),
    ("gadus_regclass", Gives::Either, Volatility::Stable, |known, values| either_or_error(values, |name| known.number_of(name), |oid| known.name_of(oid))),
    ("gadus_regtype", Gives::Either, Volatility::Stable, |known, values| either_or_error(values, |name| types::number_of(&known.snapshot, name), |oid| types::title(&known.snapshot, oid, None))),
];

/// Whether there is such a function.
pub(super) fn is_function(name: &str) -> bool {
    let attempts = ATTEMPTS.iter().map(|known| known.0);
    let mut names = FUNCTIONS.iter().map(|known| known.0).chain(attempts);
    names.any(|known| known.eq_ignore_ascii_case(name))
}

/// The functions, over the tables of a snapshot.
pub(crate) fn functions(
    snapshot: &Snapshot,
    asking: Asking,
) -> impl Iterator<Item = Arc<ScalarUDF>> {
    let known = Arc::new(Known::new(snapshot, asking));
    let plain = FUNCTIONS.iter().map(|(name, gives, evaluate)| {
        (*name, *gives, Volatility::Stable, Does::Evaluate(*evaluate))
    });
    let attempts = ATTEMPTS.iter().map(|(name, gives, volatility, attempt)| {
        (*name, *gives, *volatility, Does::Attempt(*attempt))
    });
    plain.chain(attempts).map(move |(name, gives, volatility, does)| {
        let signatures = vec![TypeSignature::VariadicAny, TypeSignature::Nullary];
        let signature = Signature::one_of(signatures, volatility);
        let known = known.clone();
        Arc::new(ScalarUDF::from(CatalogFunction { name, gives, does, known, signature }))
    })
}

fn routine(known: &Known, values: &[ScalarValue]) -> Option<crate::functions::Function> {
    routines::by_number(&known.snapshot, number(values, 0))
}

fn serial_sequence(known: &Known, values: &[ScalarValue]) -> Option<String> {
    super::sequences::of_column(&known.snapshot, &string(values, 0)?, &string(values, 1)?)
}

/// Ends a session, or what it runs.
fn end(known: &Known, values: &[ScalarValue], what: Ending) -> gadus_engine::Result<ScalarValue> {
    let session = number(values, 0);
    let ended = session.map(|session| known.asking.end(session, what)).transpose()?;
    Ok(ScalarValue::Boolean(ended))
}

fn index_definition_of(known: &Known, values: &[ScalarValue]) -> ScalarValue {
    let key = known.by_key(number(values, 0));
    // A column by its number, or the whole.
    let column = number(values, 1).and_then(|column| usize::try_from(column - 1).ok());
    text(key.and_then(|key| match column {
        Some(column) => key.names.get(column).cloned(),
        None => Some(key.definition.clone()),
    }))
}

/// A view by its number, or by its name.
fn view_number(known: &Known, values: &[ScalarValue]) -> Option<i64> {
    number(values, 0).or_else(|| string(values, 0).and_then(|name| known.find(&name)))
}

fn constraint_definition_of(known: &Known, values: &[ScalarValue]) -> ScalarValue {
    let oid = number(values, 0);
    let of_check = known.condition(oid).map(|condition| format!("CHECK ({condition})"));
    let of_key = known.by_key(oid).map(Key::constraint);
    text(of_check.or(of_key).or_else(|| known.foreign_key(oid)))
}

fn schemas(values: &[ScalarValue]) -> ScalarValue {
    let with_catalog = matches!(values.first(), Some(ScalarValue::Boolean(Some(true))));
    let names = [super::SCHEMA, MAIN_SCHEMA];
    let names = names.iter().skip(usize::from(!with_catalog));
    let names = names.map(|name| ScalarValue::from(*name)).collect::<Vec<_>>();
    ScalarValue::List(ScalarValue::new_list_nullable(&names, &DataType::Utf8))
}

fn session(values: &[ScalarValue]) -> Option<u32> {
    number(values, 0).and_then(|session| u32::try_from(session).ok())
}

fn blocking(known: &Known, values: &[ScalarValue]) -> ScalarValue {
    let blockers = blockers(&known.asking.engine, session(values)).into_iter();
    let blockers = blockers.map(|session| numbered(Some(i64::from(session)))).collect::<Vec<_>>();
    ScalarValue::List(ScalarValue::new_list_nullable(&blockers, &DataType::Int64))
}

fn is_blocked(known: &Known, values: &[ScalarValue]) -> ScalarValue {
    let among = string(values, 1).unwrap_or_default();
    ScalarValue::Boolean(Some(is_blocked_among(&known.asking.engine, session(values), &among)))
}

/// Elements of a list that has any.
fn length(values: &[ScalarValue]) -> Option<i64> {
    match values.first() {
        Some(ScalarValue::List(list)) if !list.is_null(0) => {
            Some(i64::from(list.value_length(0))).filter(|length| *length > 0)
        }
        _ => None,
    }
}

fn placed_fields() -> Fields {
    ["x", "n"].map(|name| Field::new(name, DataType::Int64, true)).to_vec().into()
}

fn placed(values: &[ScalarValue]) -> ScalarValue {
    let list = match values.first() {
        Some(ScalarValue::List(list)) if !list.is_null(0) => Some(list.value(0)),
        _ => None,
    };
    let elements = list.as_ref().and_then(|list| list.as_primitive_opt::<Int64Type>());
    let elements = elements.map(|elements| elements.iter().collect::<Vec<_>>()).unwrap_or_default();
    let places = (1_i64..).zip(&elements).map(|(place, _)| place).collect::<Int64Array>();
    let length = elements.len();
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(elements)), Arc::new(places)];
    let pairs = StructArray::new(placed_fields(), columns, None);
    let field = Arc::new(Field::new_list_field(pairs.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([length]);
    ScalarValue::List(Arc::new(ListArray::new(field, offsets, Arc::new(pairs), None)))
}

fn schema_number(name: &str) -> Option<i64> {
    match name {
        "pg_catalog" => Some(oids::CATALOG_SCHEMA),
        "main" | "public" => Some(oids::MAIN_SCHEMA),
        "information_schema" => Some(oids::INFORMATION_SCHEMA),
        _ => None,
    }
}

fn schema_name(oid: i64) -> Option<String> {
    let names = [super::SCHEMA, MAIN_SCHEMA, "information_schema"];
    names.into_iter().find(|name| schema_number(name) == Some(oid)).map(str::to_owned)
}

/// The number of a name, or the name of a number.
fn either(
    values: &[ScalarValue],
    number_of: impl Fn(&str) -> Option<i64>,
    name_of: impl Fn(i64) -> Option<String>,
) -> ScalarValue {
    match values.first().filter(|value| is_text(&value.data_type())) {
        Some(_) => numbered(string(values, 0).and_then(|name| number_of(&name))),
        None => text(number(values, 0).and_then(name_of)),
    }
}

/// The same where a name that is none's is an error.
fn either_or_error(
    values: &[ScalarValue],
    number_of: impl Fn(&str) -> gadus_engine::Result<i64>,
    name_of: impl Fn(i64) -> String,
) -> gadus_engine::Result<ScalarValue> {
    match values.first().filter(|value| is_text(&value.data_type())) {
        Some(_) => {
            let name = string(values, 0);
            Ok(numbered(name.map(|name| number_of(&name)).transpose()?))
        }
        None => Ok(text(number(values, 0).map(name_of))),
    }
}

fn number(values: &[ScalarValue], index: usize) -> Option<i64> {
    match values.get(index)?.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(value)) => value,
        _ => None,
    }
}

fn string(values: &[ScalarValue], index: usize) -> Option<String> {
    match values.get(index)?.cast_to(&DataType::Utf8) {
        Ok(ScalarValue::Utf8(value)) => value,
        _ => None,
    }
}

fn text(value: Option<String>) -> ScalarValue {
    ScalarValue::Utf8(value)
}

fn numbered(value: Option<i64>) -> ScalarValue {
    ScalarValue::Int64(value)
}

fn yes() -> ScalarValue {
    ScalarValue::Boolean(Some(true))
}

impl PartialEq for CatalogFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.known, &other.known)
    }
}

impl Eq for CatalogFunction {}

impl Hash for CatalogFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for CatalogFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.gives {
            Gives::Text => DataType::Utf8,
            Gives::Number => DataType::Int64,
            Gives::Boolean => DataType::Boolean,
            Gives::Texts => DataType::new_list(DataType::Utf8, true),
            Gives::Numbers => DataType::new_list(DataType::Int64, true),
            Gives::Placed => DataType::new_list(DataType::Struct(placed_fields()), true),
            Gives::Either if arguments.first().is_some_and(is_text) => DataType::Int64,
            Gives::Either => DataType::Utf8,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = |value: &ColumnarValue, row| match value {
            ColumnarValue::Scalar(value) => Ok(value.clone()),
            ColumnarValue::Array(array) => ScalarValue::try_from_array(array, row),
        };
        let are_scalars = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = match args.number_rows {
            // What a function does is not done for no row.
            0 => 0,
            _ if are_scalars => 1,
            rows => rows,
        };
        let mut results = Vec::with_capacity(rows);
        for row in 0..rows {
            let values = args.args.iter().map(|value| scalar(value, row));
            let values = values.collect::<Result<Vec<_>>>()?;
            results.push(match self.does {
                Does::Evaluate(evaluate) => evaluate(&self.known, &values),
                Does::Attempt(attempt) => attempt(&self.known, &values).map_err(to_datafusion)?,
            });
        }
        match results.pop() {
            Some(result) if are_scalars => Ok(ColumnarValue::Scalar(result)),
            Some(last) => {
                let results = results.into_iter().chain([last]);
                Ok(ColumnarValue::Array(ScalarValue::iter_to_array(results)?))
            }
            None => {
                let empty = arrow::array::new_empty_array(args.return_field.data_type());
                Ok(ColumnarValue::Array(empty))
            }
        }
    }
}

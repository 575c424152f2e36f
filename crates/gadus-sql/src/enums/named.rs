//! Names of enumerations in statements.
//!
//! - DataFusion asks what a type is without a look at the catalog. A name that the catalog knows is therefore replaced by
//!   one in which the whole type is written, in digits that need no quotes; it is in no text that is kept.

use crate::characters::characters_of;
use crate::error::{or_break, to_datafusion};
use crate::session::table_name;
use crate::uuids::UuidNamed;
use arrow::datatypes::FieldRef;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ArrayElemTypeDef, DataType, Expr, Ident, ObjectName,
    Statement, TypedString, VisitMut, VisitorMut,
};
use gadus_engine::{ColumnType, Enum, Error, ErrorKind, Reason, Result, Snapshot};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What names begin with in which a whole type is written.
const WHOLE: &str = "gadus.enum.";

/// Shows a visitor each type that an expression names.
pub(crate) fn each_type(
    part: &mut impl VisitMut,
    look: impl FnMut(&mut DataType) -> Result<()>,
) -> Result<()> {
    struct Types<F>(F);
    impl<F: FnMut(&mut DataType) -> Result<()>> VisitorMut for Types<F> {
        type Break = Error;
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            match expr {
                Expr::Cast { data_type, .. }
                | Expr::TypedString(TypedString { data_type, .. })
                | Expr::Convert { data_type: Some(data_type), .. } => {
                    or_break((self.0)(element(data_type)))
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    match part.visit(&mut Types(look)) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The type of which a type is a list, or itself.
fn element(data_type: &mut DataType) -> &mut DataType {
    match data_type {
        DataType::Array(
            ArrayElemTypeDef::AngleBracket(of)
            | ArrayElemTypeDef::SquareBracket(of, _)
            | ArrayElemTypeDef::Parenthesis(of),
        ) => element(of),
        other => other,
    }
}

/// The name of a type that is not built in.
fn name_of(data_type: &DataType) -> Option<&ObjectName> {
    match data_type {
        DataType::Custom(name, modifiers) if modifiers.is_empty() => Some(name),
        _ => None,
    }
}

/// Whether a type is the enumeration of this name, as it is kept.
pub(crate) fn is_named(data_type: &DataType, kept: &str) -> bool {
    let name = name_of(data_type).and_then(|name| table_name(name).ok());
    name.is_some_and(|name| name == kept)
}

/// Puts whole types in the place of the names of enumerations, where expressions name them.
pub(crate) fn resolve(snapshot: &Snapshot, part: &mut impl VisitMut) -> Result<()> {
    each_type(part, |data_type| whole(data_type, |name| snapshot.find_enum(name)))
}

/// The same of an expression over rows of a table, whose own types are those of its columns.
pub(crate) fn with_types_of(
    schema: &[ColumnType],
    snapshot: &Snapshot,
    part: &mut impl VisitMut,
) -> Result<()> {
    let own = |name: &str| {
        schema.iter().find_map(|of| match of {
            ColumnType::Enum(of) if of.name() == name => Some(*of),
            _ => None,
        })
    };
    each_type(part, |data_type| {
        whole(data_type, |name| own(name).or_else(|| snapshot.find_enum(name)))
    })
}

/// The same of the columns that a statement defines.
pub(crate) fn resolve_columns(snapshot: &Snapshot, statement: &mut Statement) -> Result<()> {
    of_columns(statement, |data_type| whole(data_type, |name| snapshot.find_enum(name)))
}

/// Shows a visitor the types of the columns that a statement defines.
pub(crate) fn of_columns(
    statement: &mut Statement,
    mut look: impl FnMut(&mut DataType) -> Result<()>,
) -> Result<()> {
    match statement {
        Statement::CreateTable(create) => {
            let mut columns = create.columns.iter_mut();
            columns.try_for_each(|column| look(element(&mut column.data_type)))
        }
        Statement::AlterTable(alter) => {
            alter.operations.iter_mut().try_for_each(|operation| match operation {
                AlterTableOperation::AddColumn { column_def, .. } => {
                    look(element(&mut column_def.data_type))
                }
                AlterTableOperation::AlterColumn {
                    op: AlterColumnOperation::SetDataType { data_type, .. },
                    ..
                } => look(element(data_type)),
                _ => Ok(()),
            })
        }
        _ => Ok(()),
    }
}

fn whole(data_type: &mut DataType, find: impl Fn(&str) -> Option<&'static Enum>) -> Result<()> {
    let Some(name) = name_of(data_type) else { return Ok(()) };
    if let Some(of) = written(name) {
        // Who writes such a name by hand means a type that is there, or none.
        return match find(of.name()) == Some(of) {
            true => Ok(()),
            false => Err(unknown_type(of.name())),
        };
    }
    if let Some(of) = table_name(name).ok().and_then(|name| find(&name)) {
        let text = format!("{}\0{}", of.name(), of.definition());
        let digits = text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let name = ObjectName::from(vec![Ident::with_quote('"', format!("{WHOLE}{digits}"))]);
        *data_type = DataType::Custom(name, Vec::new());
    }
    Ok(())
}

/// The type that is written in a name.
fn written(name: &ObjectName) -> Option<&'static Enum> {
    let [part] = name.0.as_slice() else { return None };
    let digits = part.as_ident()?.value.strip_prefix(WHOLE)?.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = digits.chunks(2).map(byte).collect::<Option<Vec<_>>>()?;
    let text = String::from_utf8(bytes).ok()?;
    let (name, definition) = text.split_once('\0')?;
    Enum::of_definition(name, definition)
}

/// The enumeration that a type is, once names are resolved.
pub(crate) fn of_type(data_type: &DataType) -> Option<&'static Enum> {
    written(name_of(data_type)?)
}

/// The type of a column that is made of a field: data that came from elsewhere may tell of an enumeration that is not
/// here, or has other labels here.
pub(crate) fn known_or_text(snapshot: &Snapshot, column_type: ColumnType) -> ColumnType {
    match column_type {
        ColumnType::Enum(of) if snapshot.find_enum(of.name()) != Some(of) => ColumnType::Text,
        other => other,
    }
}

pub(crate) fn unknown_type(name: &str) -> Error {
    let message = format!("type \"{name}\" does not exist");
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownObject)
}

/// Tells DataFusion what types are that it does not know.
#[derive(Debug)]
pub(crate) struct Named(pub(crate) UuidNamed);

impl TypePlanner for Named {
    fn plan_type_field(&self, named: &DataType) -> datafusion::common::Result<Option<FieldRef>> {
        if let Some(of) = characters_of(named).map_err(to_datafusion)? {
            return Ok(Some(Arc::new(ColumnType::Characters(of).field("", true))));
        }
        match name_of(named) {
            None => self.0.plan_type_field(named),
            Some(name) => match written(name) {
                Some(of) => Ok(Some(Arc::new(ColumnType::Enum(of).field("", true)))),
                None if crate::types::column_type(named).is_ok() => Ok(None),
                None => {
                    let name = table_name(name).unwrap_or_else(|_| name.to_string());
                    Err(to_datafusion(unknown_type(&name)))
                }
            },
        }
    }
}

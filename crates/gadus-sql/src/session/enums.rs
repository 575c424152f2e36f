//! CREATE TYPE … AS ENUM, ALTER TYPE and DROP TYPE.
//!
//! - A column has the whole type in its schema. Whatever changes the type changes all its columns in the same transaction,
//!   without a look at their rows: labels are added, and no row has them yet.
//! - A label that columns may hold keeps its name: rows have it as a text, and so have CHECKs, defaults and views, of which
//!   nobody knows which texts are meant.

use super::enum_users::{User, change_users, rename_in_texts, shown, texts, users};
use super::modify::{folded, table_name};
use super::{Outcome, Session};
use crate::enums::{each_type, unknown_type};
use crate::error::{input, unsupported};
use crate::names::beside;
use crate::types::column_type;
use datafusion::sql::sqlparser::ast::{
    AlterType, AlterTypeAddValue, AlterTypeAddValuePosition, AlterTypeOperation, DataType, Ident,
    ObjectName, Statement, UserDefinedTypeRepresentation,
};
use gadus_engine::{
    DefinitionKey, Enum, Error, ErrorKind, LABEL_BYTES_MAX, LABELS_MAX, Reason, Result, Snapshot,
    Transaction, is_temporary, schema_and_name,
};

pub(super) fn create_type(
    transaction: &mut Transaction,
    name: &ObjectName,
    representation: Option<&UserDefinedTypeRepresentation>,
) -> Result<Outcome> {
    let Some(UserDefinedTypeRepresentation::Enum { labels }) = representation else {
        return Err(unsupported("a type that is no enumeration: CREATE TYPE … AS ENUM; any other"));
    };
    let kept = table_name(name)?;
    refuse_taken(&transaction.snapshot(), &kept)?;
    if is_temporary(&kept) {
        return Err(unsupported("a type that goes with the session"));
    }
    let labels = labels.iter().map(label).collect::<Result<Vec<_>>>()?;
    keep(transaction, enumeration(&kept, labels)?)?;
    Ok(Outcome::Done("CREATE TYPE"))
}

pub(super) fn alter_type(transaction: &mut Transaction, alter: &AlterType) -> Result<Outcome> {
    let of = find(&transaction.snapshot(), &alter.name)?;
    match &alter.operation {
        AlterTypeOperation::Rename(rename) => {
            let name = beside(of.name(), &folded(&rename.new_name));
            refuse_taken(&transaction.snapshot(), &name)?;
            rename_type(transaction, of, &name)?;
        }
        AlterTypeOperation::AddValue(add) => add_value(transaction, of, add)?,
        AlterTypeOperation::RenameValue(rename) => {
            rename_value(transaction, of, (&label(&rename.from)?, label(&rename.to)?))?;
        }
    }
    Ok(Outcome::Done("ALTER TYPE"))
}

pub(super) fn drop_types(
    transaction: &mut Transaction,
    names: &[ObjectName],
    (if_exists, cascade): (bool, bool),
) -> Result<Outcome> {
    for name in names {
        let snapshot = transaction.snapshot();
        match find(&snapshot, name) {
            Err(error) if if_exists && error.kind() == ErrorKind::NotFound => {}
            found => {
                drop(snapshot);
                drop_type(transaction, found?.name(), cascade)?;
            }
        }
    }
    Ok(Outcome::Done("DROP TYPE"))
}

/// Drops a type, and columns and views that have it where that is asked for; else they refuse it.
pub(super) fn drop_type(transaction: &mut Transaction, name: &str, cascade: bool) -> Result<()> {
    let snapshot = transaction.snapshot();
    let mut users = users(&snapshot, name);
    users.extend(texts(&snapshot, name)?);
    drop(snapshot);
    // What is a part of something else does not go alone.
    let stays = |user: &&User| !cascade || matches!(user, User::Text { .. });
    if users.iter().any(|user| stays(&user)) {
        let hint = match cascade {
            true => "drop what names it first",
            false => "DROP … CASCADE drops columns and views, too",
        };
        let message = format!(
            "cannot drop type {} because other objects depend on it: {}; {hint}",
            schema_and_name(name).1,
            shown(&users)
        );
        return Err(input(message).because(Reason::Depended));
    }
    users.iter().try_for_each(|user| user.drop(transaction))?;
    transaction.define(DefinitionKey::Type(name.to_owned()), None)
}

/// The type that a statement names.
pub(super) fn find(snapshot: &Snapshot, name: &ObjectName) -> Result<&'static Enum> {
    let kept = table_name(name)?;
    snapshot.find_enum(&kept).ok_or_else(|| unknown_type(&kept))
}

/// The statements that make all enumerations again, without semicolons.
#[must_use]
pub fn type_statements(snapshot: &Snapshot) -> Vec<String> {
    let statement = |of: &'static Enum| {
        let quoted = |label: &String| format!("'{}'", label.replace('\'', "''"));
        let labels = of.labels().iter().map(quoted).collect::<Vec<_>>().join(", ");
        format!("CREATE TYPE {of} AS ENUM ({labels})")
    };
    snapshot.enums().map(statement).collect()
}

/// A label, which is written as a text.
fn label(written: &Ident) -> Result<String> {
    match written.quote_style {
        Some('\'') => Ok(written.value.clone()),
        _ => Err(input(format!("syntax error at or near \"{written}\": a label is a text"))
            .because(Reason::Syntax)),
    }
}

fn enumeration(name: &str, labels: Vec<String>) -> Result<&'static Enum> {
    let invalid = |message: String| Err(input(message).because(Reason::InvalidParameter));
    if let Some(long) = labels.iter().find(|label| label.len() > LABEL_BYTES_MAX) {
        return Err(input(format!(
            "invalid enum label \"{long}\": labels have at most {LABEL_BYTES_MAX} bytes"
        ))
        .because(Reason::InvalidName));
    }
    if labels.len() > LABELS_MAX {
        let message =
            format!("an enumeration of {} labels; {LABELS_MAX} are possible", labels.len());
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let mut sorted = labels.iter().collect::<Vec<_>>();
    sorted.sort_unstable();
    if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
        return Err(input(format!("enum label \"{}\" used more than once", two[0]))
            .because(Reason::DuplicateObject));
    }
    match Enum::new(name, labels) {
        Some(of) => Ok(of),
        None => invalid(format!("\"{name}\" cannot be a type with these labels")),
    }
}

/// Refuses a name that is one of a type already, whoever made that.
fn refuse_taken(snapshot: &Snapshot, kept: &str) -> Result<()> {
    let (schema, name) = schema_and_name(kept);
    let named = DataType::Custom(ObjectName::from(vec![Ident::with_quote('"', name)]), Vec::new());
    let is_built_in = || match super::parse(&format!("SELECT CAST(NULL AS {name})")) {
        Ok(prepared) => is_built_in(prepared.statement()),
        Err(_) => false,
    };
    let taken = snapshot.find_enum(kept).is_some()
        || crate::postgres::is_type(name)
        || column_type(&named).is_ok()
        || is_built_in();
    if taken {
        let message = format!("type \"{name}\" already exists");
        return Err(Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateObject));
    }
    match schema.is_none_or(|schema| snapshot.has_schema(schema)) {
        true => Ok(()),
        false => Err(super::schemas::unknown_schema(schema.unwrap_or_default())),
    }
}

/// Whether a statement casts to a type that the parser knows.
fn is_built_in(statement: &Statement) -> bool {
    let (mut statement, mut known) = (statement.clone(), false);
    let look = |data_type: &mut DataType| {
        known |= !matches!(data_type, DataType::Custom(..));
        Ok(())
    };
    each_type(&mut statement, look).is_ok() && known
}

/// Keeps a type; numbers of types are made of their names, and two names must not have the same.
fn keep(transaction: &mut Transaction, of: &'static Enum) -> Result<()> {
    let number = crate::postgres::enum_number(of);
    let snapshot = transaction.snapshot();
    let mut others = snapshot.enums().filter(|other| other.name() != of.name());
    if let Some(other) = others.find(|other| crate::postgres::enum_number(other) == number) {
        let message =
            format!("types {of} and {other} would have the same number: choose another name");
        return Err(input(message).because(Reason::DuplicateObject));
    }
    drop(others);
    drop(snapshot);
    transaction.define(DefinitionKey::Type(of.name().to_owned()), Some(&of.definition()))
}

fn add_value(
    transaction: &mut Transaction,
    of: &'static Enum,
    add: &AlterTypeAddValue,
) -> Result<()> {
    let new = label(&add.value)?;
    if of.place(&new).is_some() {
        if add.if_not_exists {
            return Ok(());
        }
        return Err(label_exists(&new));
    }
    let place = match &add.position {
        None => of.labels().len(),
        Some(AlterTypeAddValuePosition::Before(other)) => place_of(of, &label(other)?)?,
        Some(AlterTypeAddValuePosition::After(other)) => place_of(of, &label(other)?)? + 1,
    };
    let mut labels = of.labels().to_vec();
    labels.insert(place, new);
    let new = enumeration(of.name(), labels)?;
    keep(transaction, new)?;
    change_users(transaction, of.name(), new)
}

fn label_exists(label: &str) -> Error {
    let message = format!("enum label \"{label}\" already exists");
    Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateObject)
}

fn place_of(of: &Enum, label: &str) -> Result<usize> {
    of.place(label).ok_or_else(|| {
        let message = format!("\"{label}\" is not an existing enum label");
        input(message).because(Reason::InvalidParameter)
    })
}

fn rename_value(
    transaction: &mut Transaction,
    of: &'static Enum,
    (old, new): (&str, String),
) -> Result<()> {
    let place = place_of(of, old)?;
    if of.place(&new).is_some() {
        return Err(label_exists(&new));
    }
    let snapshot = transaction.snapshot();
    let mut users = users(&snapshot, of.name());
    users.extend(texts(&snapshot, of.name())?);
    if !users.is_empty() {
        let message = format!(
            "cannot rename a value of type {of} because other objects depend on it: {}. Rows and conditions have the \
             value as a text: give the columns the type TEXT, rename it, UPDATE the rows, and give them the type again",
            shown(&users)
        );
        return Err(input(message).because(Reason::Depended));
    }
    drop(snapshot);
    let mut labels = of.labels().to_vec();
    labels[place] = new;
    keep(transaction, enumeration(of.name(), labels)?)
}

fn rename_type(transaction: &mut Transaction, of: &'static Enum, name: &str) -> Result<()> {
    let new = enumeration(name, of.labels().to_vec())?;
    keep(transaction, new)?;
    let snapshot = transaction.snapshot();
    let comment = snapshot.definition(&DefinitionKey::CommentOnType(of.name().to_owned())).cloned();
    drop(snapshot);
    rename_in_texts(transaction, of, new)?;
    change_users(transaction, of.name(), new)?;
    transaction.define(DefinitionKey::Type(of.name().to_owned()), None)?;
    transaction.define(DefinitionKey::CommentOnType(name.to_owned()), comment.as_deref())
}

impl Session {
    /// A statement whose columns have whole types in the place of names of enumerations.
    pub(super) fn with_column_types(
        snapshot: &Snapshot,
        statement: &Statement,
    ) -> Result<Option<Statement>> {
        let defines = matches!(statement, Statement::CreateTable(_) | Statement::AlterTable(_));
        if !defines {
            return Ok(None);
        }
        let mut resolved = statement.clone();
        crate::enums::resolve_columns(snapshot, &mut resolved)?;
        Ok(Some(resolved))
    }
}

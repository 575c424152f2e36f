//! INSERT … ON CONFLICT: rows whose key is in the table already are left out, or change the row that has it.
//!
//! - Keys are looked up in what the statement sees, and locked where they are new. One that somebody else has
//!   inserted meanwhile is a conflict: the statement is run again, and sees it then.
//! - Rows are locked before it is asked what they become, so that this is asked of their last state.
//! - Keys of more rows than an INSERT locks are looked at again when the transaction commits.

use super::Session;
use super::assigned::Assigned;
use super::bound_changes::{RowsInHand, SetDefaults};
use super::modify::{column_index, folded, is_default, rows_of};
use super::relations::{Asks, Relation};
use crate::error::{coded, from_parser, input, unsupported};
use crate::names::beside;
use crate::value::Value;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, new_empty_array};
use arrow::compute::{concat, sort_to_indices, take};
use arrow::datatypes::UInt64Type;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, DoUpdate, Expr, Ident, Insert, ObjectName,
    OnConflict, OnConflictAction, OnInsert, SelectItem, SetExpr, Statement, visit_expressions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_base::RowId;
use gadus_engine::{
    Datum, Error, ErrorKind, InterruptCheck, Mode, ROW_ID_COLUMN, Reason, Result, Snapshot,
    TableSchema, Transaction, array_from_datums,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The name of the rows that were to be inserted.
const EXCLUDED: &str = "excluded";

/// What is to become of rows whose key is there already.
pub(super) struct OnKey<'a> {
    /// None leaves them out.
    pub(super) update: Option<RowUpdate<'a>>,
    /// The keys that it is about.
    pub(super) keys: Vec<UniqueKey>,
}

/// Update of the rows that have the keys of others.
pub(super) enum RowUpdate<'a> {
    /// As it is written, with values of parameters.
    Written(&'a DoUpdate, &'a [Value]),
    /// As it is bound: the columns that are set, the plan of their values over both rows, and the columns that are set to
    /// their defaults.
    Planned { columns: Vec<usize>, defaults: SetDefaults, rows: Box<RowsInHand> },
}

/// The number of an index of which no two rows have the same values, and the places of its columns.
pub(super) type UniqueKey = (u32, Vec<usize>);

/// The table of an INSERT as its statement begins, and the name by which it may call it.
pub(super) struct Into<'a> {
    pub(super) schema: &'a Arc<TableSchema>,
    pub(super) alias: Ident,
    pub(super) snapshot: Snapshot,
}

/// Rows that are to be inserted, by whether their key is there.
#[derive(Default)]
struct Sorted {
    /// Their places.
    new: Vec<u32>,
    /// Theirs, and the rows that have their keys.
    there: Vec<(u32, RowId)>,
}

/// Rows with all columns of their table, each from some place of the INSERT.
struct Placed {
    places: Vec<u32>,
    columns: Vec<ArrayRef>,
}

impl<'a> OnKey<'a> {
    /// What an INSERT says; none where a key that is there is an error.
    pub(super) fn of(
        (insert, parameters): (&'a Insert, &'a [Value]),
        schema: &TableSchema,
    ) -> Result<Option<Self>> {
        if insert.or.is_some() || insert.ignore || insert.replace_into {
            return Err(unsupported("INSERT OR, IGNORE and REPLACE: write ON CONFLICT; that"));
        }
        let conflict = match &insert.on {
            None => return Ok(None),
            Some(OnInsert::OnConflict(conflict)) => conflict,
            Some(_) => return Err(unsupported("ON DUPLICATE KEY: write ON CONFLICT; that")),
        };
        let OnConflict { conflict_target, action } = conflict;
        let keys = match conflict_target {
            Some(ConflictTarget::Columns(columns)) => vec![key_of_columns(schema, columns)?],
            Some(ConflictTarget::OnConstraint(name)) => vec![key_of_constraint(schema, name)?],
            None => schema.unique_keys(),
        };
        let update = match action {
            OnConflictAction::DoNothing => None,
            OnConflictAction::DoUpdate(_) if conflict_target.is_none() => {
                let key = schema.unique_keys().into_iter().next();
                let key = key.map_or("…".to_owned(), |(_, places)| names_of(schema, &places));
                return Err(input(format!(
                    "ON CONFLICT DO UPDATE names the columns of a key: ON CONFLICT ({key}) DO UPDATE"
                )));
            }
            OnConflictAction::DoUpdate(update) => Some(RowUpdate::Written(update, parameters)),
        };
        Ok(Some(Self { update, keys }))
    }
}

impl Session {
    /// Inserts the rows whose keys are new, and does with the others what is said; returns how many rows were written,
    /// and what they are now.
    pub(super) async fn insert_on_key(
        &self,
        transaction: &mut Transaction,
        into: Into<'_>,
        on: &OnKey<'_>,
        pieces: &[Vec<ArrayRef>],
    ) -> Result<(u64, Vec<ArrayRef>)> {
        let schema = into.schema;
        let columns = whole(schema, pieces)?;
        let sorted = sorted(transaction, schema, &columns, on)?;
        let new = Placed::of(sorted.new, &columns)?;
        let all = (0..schema.columns.len()).collect::<Vec<_>>();
        let rows = rows_of(schema, &all, &new.columns, new.places.len())?;
        refuse_others(transaction, schema, &rows, on)?;
        let rows = rows.into_iter().map(Arc::from).collect();
        let mut count =
            transaction.insert(schema, rows).map_err(|error| as_conflict(&schema.name, error))?;
        let mut written = vec![new];
        // What names something that may not be there is an error, also where no key is there.
        if let Some(update) = &on.update
            && (!sorted.there.is_empty() || update.may_fail((schema, &into.alias)))
        {
            let ids = sorted.there.iter().map(|(_, id)| *id).collect::<Vec<_>>();
            transaction.lock_rows(schema, &ids, Mode::Exclusive)?;
            let places = sorted.there.iter().map(|(place, _)| *place).collect();
            let excluded = Placed::of(places, &columns)?;
            let (rows, changed) =
                self.update_rows(transaction, into, update, (&ids, excluded)).await?;
            count += rows;
            written.push(changed);
        }
        Ok((count, in_order(&written)?))
    }

    /// Changes the rows that have the keys of others; returns how many, and what they are now.
    async fn update_rows(
        &self,
        transaction: &mut Transaction,
        into: Into<'_>,
        update: &RowUpdate<'_>,
        (ids, excluded): (&[RowId], Placed),
    ) -> Result<(u64, Placed)> {
        let schema = into.schema;
        let old = old_rows(transaction, schema, ids)?;
        let NewValues { columns, places, values: new } =
            self.new_values(into, update, (&old, &excluded)).await?;
        let columns = columns.as_slice();
        let changed = places.iter().map(|&place| ids[place as usize]).collect::<Vec<_>>();
        let mut now = Placed::of(places, &old)?;
        for (&column, pieces) in columns.iter().zip(&new).filter(|(_, pieces)| !pieces.is_empty()) {
            let pieces = pieces.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>();
            now.columns[column] = concat(&pieces)?;
        }
        let rules = self.rules(schema)?;
        rules.complete(&mut now.columns)?;
        let columns = rules.changed(schema, columns);
        let arrays = columns.iter().map(|&column| now.columns[column].clone()).collect::<Vec<_>>();
        let values = rows_of(schema, &columns, &arrays, changed.len())?;
        let rows = transaction.update(schema, &columns, &changed, &values)?;
        now.places = now.places.iter().map(|&place| excluded.places[place as usize]).collect();
        Ok((rows, now))
    }

    /// Computes what becomes of rows that are there, from them and the rows that have their keys.
    async fn new_values(
        &self,
        Into { schema, alias, snapshot }: Into<'_>,
        update: &RowUpdate<'_>,
        (old, excluded): (&[ArrayRef], &Placed),
    ) -> Result<NewValues> {
        match update {
            RowUpdate::Written(update, parameters) => {
                let assigned = Assigned::of(schema, &update.assignments)?;
                let mut items = assigned.items();
                items.push(format!("{alias}.{ROW_ID_COLUMN}"));
                let items = list(&items.join(", "))?;
                let relations = [
                    Relation::of_table(alias, schema, vec![old.to_vec()]),
                    Relation::of_table(
                        Ident::new(EXCLUDED),
                        schema,
                        vec![excluded.columns.clone()],
                    ),
                ];
                let asks = Asks { items: &items, selection: update.selection.as_ref(), parameters };
                let found = self.evaluate_over(snapshot, &relations, asks).await?.collect().await?;
                let arrays = |found: &[ArrayRef]| assigned.arrays(schema, found);
                NewValues::of(assigned.columns(), &found, arrays)
            }
            RowUpdate::Planned { columns, defaults, rows } => {
                rows.put(old.iter().chain(&excluded.columns).cloned().collect())?;
                let found = self.run_over(rows).await?.collect().await?;
                let mut new = NewValues::of(columns, &found, |found| Ok(found.to_vec()))?;
                let from = (&**schema, &snapshot);
                let filled = self.default_values(from, &defaults.filled, new.places.len()).await?;
                new.columns.extend(defaults.filled.iter().chain(&defaults.generated));
                new.values.extend(filled.into_iter().map(|array| vec![array]));
                new.values.resize(new.columns.len(), Vec::new());
                Ok(new)
            }
        }
    }
}

/// Values of columns of rows that are changed.
struct NewValues {
    columns: Vec<usize>,
    /// Places of the rows.
    places: Vec<u32>,
    /// Values of each column, in pieces.
    values: Vec<Vec<ArrayRef>>,
}

impl NewValues {
    /// Takes values from rows that were computed: those of the columns, then the places.
    fn of(
        columns: &[usize],
        found: &[RecordBatch],
        arrays: impl Fn(&[ArrayRef]) -> Result<Vec<ArrayRef>>,
    ) -> Result<Self> {
        let mut places = Vec::new();
        let mut values = vec![Vec::new(); columns.len()];
        for batch in found {
            let of_rows =
                batch.columns().last().and_then(|last| last.as_primitive_opt::<UInt64Type>());
            let of_rows =
                of_rows.ok_or_else(|| Error::internal("the places of rows are missing"))?;
            // Rows were counted in 32 bits.
            let place =
                |place: &u64| u32::try_from(*place).map_err(|_| Error::internal("no such place"));
            places.extend(of_rows.values().iter().map(place).collect::<Result<Vec<_>>>()?);
            for (pieces, array) in values.iter_mut().zip(arrays(batch.columns())?) {
                pieces.push(array);
            }
        }
        Ok(Self { columns: columns.to_vec(), places, values })
    }
}

impl RowUpdate<'_> {
    /// Returns true if it may name something that is not there, which is an error also where no key is there.
    fn may_fail(&self, of: (&TableSchema, &Ident)) -> bool {
        match self {
            Self::Written(update, _) => !names_only_columns(of, update),
            Self::Planned { .. } => false,
        }
    }
}

/// Whether an update names columns of the table alone, or of what was to be inserted, as far as its words tell.
fn names_only_columns((schema, alias): (&TableSchema, &Ident), update: &DoUpdate) -> bool {
    let is_column = |name: &Ident| {
        let name = folded(name);
        schema.columns.iter().any(|column| column.name == name)
    };
    let names_others = visit_expressions(update, |expr| {
        let is_known = match expr {
            Expr::Identifier(name) => is_column(name) || is_default(name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [of, name] => {
                    is_column(name) && [folded(alias).as_str(), EXCLUDED].contains(&&*folded(of))
                }
                _ => false,
            },
            _ => true,
        };
        if is_known { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let is_target = |assignment: &Assignment| match &assignment.target {
        AssignmentTarget::ColumnName(name) => column_index(schema, name).is_ok(),
        AssignmentTarget::Tuple(_) => false,
    };
    names_others.is_continue() && update.assignments.iter().all(is_target)
}

/// Looks up the keys of rows.
fn sorted(
    transaction: &Transaction,
    schema: &Arc<TableSchema>,
    columns: &[ArrayRef],
    on: &OnKey<'_>,
) -> Result<Sorted> {
    let rows = columns.first().map_or(0, |column| column.len());
    let count = u32::try_from(rows).map_err(|_| {
        let message =
            "an INSERT … ON CONFLICT has more than 4,294,967,295 rows: insert them in parts";
        Error::new(ErrorKind::Limit, message)
    })?;
    let table = transaction.table(schema)?;
    let mut of_keys = Vec::with_capacity(on.keys.len());
    for (index, places) in &on.keys {
        let of_key = places.iter().map(|&column| columns[column].clone()).collect::<Vec<_>>();
        let values = rows_of(schema, places, &of_key, rows)?.into_iter();
        of_keys.push((*index, places, values, BTreeSet::new()));
    }
    let mut sorted = Sorted::default();
    let mut check = InterruptCheck::default();
    for place in 0..count {
        check.row()?;
        let (mut there, mut is_again, mut own) = (None, false, Vec::new());
        for (slot, (index, places, values, seen)) in of_keys.iter_mut().enumerate() {
            let key = values.next().ok_or_else(|| Error::internal("a row has no key"))?;
            // NULL is like nothing.
            if key.iter().any(Datum::is_null) {
                continue;
            }
            if there.is_none() {
                there = table.find_in(*index, &key)?;
            }
            is_again |= seen.contains(&key);
            if is_again && on.update.is_some() {
                return Err(input(format!(
                    "ON CONFLICT DO UPDATE cannot change a row twice: two rows of the statement have \
                     the same key ({}); leave one of them out",
                    names_of(schema, places)
                ))
                .because(Reason::SeveralRows));
            }
            own.push((slot, key));
        }
        match there {
            _ if is_again => continue,
            Some(row) => sorted.there.push((place, row)),
            None => sorted.new.push(place),
        }
        // What is left out keeps nobody out.
        if there.is_none() || on.update.is_some() {
            own.into_iter().for_each(|(slot, key)| _ = of_keys[slot].3.insert(key));
        }
    }
    Ok(sorted)
}

/// Refuses rows of which another key than those that the statement is about is there already: what is then refused
/// when they are inserted, somebody else has inserted meanwhile.
fn refuse_others(
    transaction: &Transaction,
    schema: &Arc<TableSchema>,
    rows: &[Vec<Datum>],
    on: &OnKey<'_>,
) -> Result<()> {
    let mut others = schema.unique_keys();
    others.retain(|(index, _)| on.keys.iter().all(|(own, _)| own != index));
    let table = transaction.table(schema)?;
    for (index, places) in others {
        let mut seen = BTreeSet::new();
        for row in rows {
            let key = places.iter().map(|&place| row[place].clone()).collect::<Vec<_>>();
            if key.iter().any(Datum::is_null) {
                continue;
            }
            if table.find_in(index, &key)?.is_some() || seen.contains(&key) {
                let values = key.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let message = format!(
                    "a row with ({}) = ({values}) is in table \"{}\" already",
                    names_of(schema, &places),
                    schema.name
                );
                return Err(Error::new(ErrorKind::UniqueViolation, message));
            }
            seen.insert(key);
        }
    }
    Ok(())
}

/// Rows as the transaction sees them, which has locked them.
fn old_rows(
    transaction: &Transaction,
    schema: &Arc<TableSchema>,
    ids: &[RowId],
) -> Result<Vec<ArrayRef>> {
    let table = transaction.table(schema)?;
    let there = |id: &RowId| {
        let row = table.row(*id)?;
        row.ok_or_else(|| Error::internal("a row whose key was found is not there"))
    };
    let rows = ids.iter().map(there).collect::<Result<Vec<Vec<Datum>>>>()?;
    let array = |(column, definition): (usize, &gadus_engine::ColumnDefinition)| {
        array_from_datums(definition.column_type, rows.iter().map(|row| &row[column]))
    };
    schema.columns.iter().enumerate().map(array).collect()
}

impl Placed {
    /// The rows of these places.
    fn of(places: Vec<u32>, columns: &[ArrayRef]) -> Result<Self> {
        let indices = UInt32Array::from(places.clone());
        let columns = columns.iter().map(|column| Ok(take(column, &indices, None)?));
        Ok(Self { places, columns: columns.collect::<Result<_>>()? })
    }
}

/// Rows in the order of their places.
fn in_order(parts: &[Placed]) -> Result<Vec<ArrayRef>> {
    let places = parts.iter().flat_map(|part| part.places.iter().copied());
    let places: ArrayRef = Arc::new(places.collect::<UInt32Array>());
    let order = sort_to_indices(&places, None, None)?;
    let columns = parts.first().map_or(0, |part| part.columns.len());
    let column = |column: usize| {
        let pieces = parts.iter().map(|part| part.columns[column].as_ref()).collect::<Vec<_>>();
        Ok(take(&concat(&pieces)?, &order, None)?)
    };
    (0..columns).map(column).collect()
}

/// The columns of rows that come in pieces.
fn whole(schema: &TableSchema, pieces: &[Vec<ArrayRef>]) -> Result<Vec<ArrayRef>> {
    let column = |(column, definition): (usize, &gadus_engine::ColumnDefinition)| {
        let pieces = pieces.iter().map(|piece| piece[column].as_ref()).collect::<Vec<_>>();
        match pieces.as_slice() {
            [] => Ok(new_empty_array(&definition.column_type.arrow())),
            pieces => Ok(concat(pieces)?),
        }
    };
    schema.columns.iter().enumerate().map(column).collect()
}

/// The items of a list.
fn list(text: &str) -> Result<Vec<SelectItem>> {
    let parsed = Parser::parse_sql(&GenericDialect {}, &format!("SELECT {text}"));
    let parsed = parsed.map_err(|error| from_parser(&error))?.pop();
    if let Some(Statement::Query(query)) = parsed
        && let SetExpr::Select(select) = *query.body
    {
        return Ok(select.projection);
    }
    Err(Error::internal("a list was expected"))
}

/// The error of a key that somebody else has inserted since the statement looked it up: run again, it finds it.
pub(super) fn as_conflict(table: &str, error: Error) -> Error {
    if error.kind() != ErrorKind::UniqueViolation {
        return error;
    }
    let message = format!(
        "another transaction has inserted a key into table {table} that this one inserts, too; run the \
         transaction again"
    );
    Error::new(ErrorKind::Conflict, message)
}

fn names_of(schema: &TableSchema, places: &[usize]) -> String {
    let names = places.iter().map(|&column| schema.columns[column].name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// The key over these columns, in whatever order.
fn key_of_columns(schema: &TableSchema, columns: &[Ident]) -> Result<UniqueKey> {
    let index = |name: &Ident| column_index(schema, &ObjectName::from(vec![name.clone()]));
    let given = columns.iter().map(index).collect::<Result<BTreeSet<_>>>()?;
    let mut keys = schema.unique_keys().into_iter();
    let of_columns =
        keys.find(|(_, places)| places.iter().copied().collect::<BTreeSet<_>>() == given);
    of_columns.ok_or_else(|| {
        let names = columns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let keys = schema.unique_keys();
        let keys = keys.iter().map(|(_, places)| format!("({})", names_of(schema, places)));
        let keys = keys.collect::<Vec<_>>().join(", ");
        let table = &schema.name;
        coded("42P10", match keys.is_empty() {
            true => format!(
                "table \"{table}\" has no primary key and nothing that is UNIQUE, so nothing conflicts on \
                 ({names}): leave ON CONFLICT out, or ALTER TABLE … ADD UNIQUE ({names})"
            ),
            false => format!(
                "there is no unique constraint on ({names}): keys of table \"{table}\" are {keys}"
            ),
        })
    })
}

fn key_of_constraint(schema: &TableSchema, name: &ObjectName) -> Result<UniqueKey> {
    let last = name.0.last().and_then(|part| part.as_ident()).map(super::folded);
    last.and_then(|last| key_named(schema, &last)).ok_or_else(|| {
        let message = format!("table \"{}\" has no unique constraint {name}", schema.name);
        Error::new(ErrorKind::NotFound, message)
    })
}

/// Returns the key of a constraint.
pub(super) fn key_named(schema: &TableSchema, name: &str) -> Option<UniqueKey> {
    let mut keys = schema.unique_keys().into_iter();
    match schema.index_named(&beside(&schema.name, name)) {
        Some(index) => keys.find(|(id, _)| *id == index.id),
        None if name == super::checks::key_name(schema) => {
            keys.find(|(_, places)| *places == schema.key)
        }
        None => None,
    }
}

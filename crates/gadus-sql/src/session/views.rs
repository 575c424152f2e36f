//! CREATE VIEW, DROP VIEW, and what views cost the statements that name them.

mod bound;

use super::bound_changes::ChangeText;
use super::columns::postgres_names;
use super::files::take_files;
use super::frames::names_frame;
use super::modify::{folded, table_name};
use super::planners_words;
use super::query::{plan, rewrite_for_catalog};
use super::reads::reads;
use super::{Outcome, Session};
use crate::error::{from_datafusion, from_parser, input, limit, unsupported};
use crate::names::kept;
use crate::provider::{BoundView, SCANS_MAX, scans};
use datafusion::common::TableReference;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion::sql::sqlparser::ast::{
    CreateView, ObjectName, Query, SelectItem, SetExpr, Statement, Visit, Visitor,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use gadus_base::TableId;
use gadus_engine::{
    ColumnType, ErrorKind, Reason, Result, Snapshot, Transaction, UsedColumn, UsedRelation,
    ViewColumn, ViewSchema, is_temporary,
};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

/// Tables of a statement that any stack has room for.
const SHALLOW: usize = 16;

/// The query of a view as the planner takes it.
pub(crate) fn view_statement(query: &str) -> Result<Statement> {
    let prepared = super::parse(query)?;
    let mut statement = Statement::clone(&prepared.statement);
    planners_words::respell(&mut statement, |_| true, &|_| None)?;
    Ok(statement)
}

/// Whether the views that a statement names make it deep; refuses what reads too much by them.
pub(super) fn is_deep_by_views(snapshot: &Snapshot, statement: &Statement) -> Result<bool> {
    if snapshot.views().next().is_none() {
        return Ok(false);
    }
    let read = reads(statement, |name| {
        let named = name.0.last().and_then(|part| part.as_ident());
        let view = named.and_then(|name| snapshot.find_view(&folded(name)));
        view.map_or(1, |view| view.scans as usize)
    });
    let read = read.by_names.max(read.as_written);
    match read > SCANS_MAX {
        true => Err(limit(format!(
            "a statement that reads more than {SCANS_MAX} tables, with those of its views"
        ))),
        false => Ok(read > SHALLOW),
    }
}

impl Session {
    pub(super) async fn create_view(
        &self,
        transaction: &mut Transaction,
        (change, create): (&ChangeText<'_>, &CreateView),
    ) -> Result<Outcome> {
        refuse_kinds(create)?;
        let name = table_name(&create.name)?;
        let snapshot = transaction.snapshot();
        if create.if_not_exists && snapshot.has_relation(&name) {
            return Ok(Outcome::Done("CREATE VIEW"));
        }
        let (query, uses, bound) = self.viewed(&snapshot, (change, create)).await?;
        if !is_temporary(&name) && uses.iter().any(|used| is_temporary(&used.name)) {
            let message = "cannot create temporary relation in non-temporary schema";
            return Err(input(message).because(Reason::InvalidDefinition));
        }
        let (planned, names) = match bound {
            Some(BoundView { plan, names }) => (plan, names),
            None => {
                let mut statement = view_statement(&query)?;
                let names = postgres_names(super::parse(&query)?.statement());
                let context = self.planner(snapshot.clone(), &mut statement).await?;
                (plan(&context, statement, &[]).await?, names)
            }
        };
        let scans = scans(&planned).map_err(from_datafusion)?;
        // What its types do not allow is said now, not when somebody reads it.
        let context = self.planner_of_tables(snapshot.clone(), self.reading())?;
        context.state().optimize(&planned).map_err(from_datafusion)?;
        let columns = columns(names, &planned, create)?;
        let mut view = ViewSchema::new(&name, query, columns, uses)?;
        view.scans = u32::try_from(scans.max(1)).unwrap_or(u32::MAX);
        if create.or_replace
            && let Some(before) = snapshot.find_view(&name)
        {
            refuse_changed(&before, &view)?;
        }
        transaction.create_view(&view, create.or_replace)?;
        Ok(Outcome::Done("CREATE VIEW"))
    }

    /// Refuses what is there for one statement, or for one session.
    async fn refuse_passing(&self, snapshot: &Snapshot, statement: &Statement) -> Result<()> {
        let frames = self.frames();
        let mut rest = statement.clone();
        if names_frame(&frames, statement) {
            return Err(unsupported("a view of data of the program"));
        }
        if rewrite_for_catalog(&frames, snapshot, &mut rest) {
            return Err(unsupported("a view of the catalog"));
        }
        if !take_files(&mut rest, &self.shared.planner, &self.files).await?.is_empty() {
            return Err(unsupported("a view of files"));
        }
        Ok(())
    }

    /// The tables and views that a query reads.
    fn uses(
        &self,
        snapshot: &Snapshot,
        query: &str,
        statement: &Statement,
    ) -> Result<Vec<UsedRelation>> {
        let said = Said::of(query, Some(statement))?;
        let statement = PlannerStatement::Statement(Box::new(statement.clone()));
        let references = self.shared.planner.resolve_table_references(&statement);
        let mut uses = Vec::new();
        let mut seen = HashSet::new();
        for reference in references.map_err(from_datafusion)? {
            let name = relation_name(&reference)?;
            if !seen.insert(name.clone()) {
                continue;
            }
            uses.push(said.used(snapshot, name)?);
        }
        Ok(uses)
    }
}

/// Drops views; with what reads them where that is asked for.
pub(super) fn drop_views(
    transaction: &mut Transaction,
    names: &[ObjectName],
    (if_exists, cascade): (bool, bool),
) -> Result<Outcome> {
    for name in names {
        let name = table_name(name)?;
        if let Some(view) = transaction.snapshot().find_view(&name).filter(|_| cascade) {
            drop_readers(transaction, view.id)?;
        }
        match transaction.drop_view(&name) {
            Err(error) if if_exists && error.kind() == ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(Outcome::Done("DROP VIEW"))
}

/// Drops all views that read a table or a view, also through others.
pub(super) fn drop_readers(transaction: &mut Transaction, id: TableId) -> Result<()> {
    loop {
        let snapshot = transaction.snapshot();
        let mut outermost = snapshot.readers(id).next().cloned();
        while let Some(view) = &outermost
            && let Some(reader) = snapshot.readers(view.id).next()
        {
            outermost = Some(reader.clone());
        }
        match outermost {
            Some(view) => transaction.drop_view(&view.name)?,
            None => return Ok(()),
        }
    }
}

/// Drops all views that read a column, also through others.
pub(super) fn drop_column_readers(
    transaction: &mut Transaction,
    table: TableId,
    column: u32,
) -> Result<()> {
    loop {
        let snapshot = transaction.snapshot();
        let reads = |view: &&std::sync::Arc<ViewSchema>| {
            let used = view.reads(table).map(|used| used.columns.as_slice()).unwrap_or_default();
            used.iter().any(|used| used.is_used && used.id == column)
        };
        let Some(view) = snapshot.readers(table).find(reads).cloned() else { return Ok(()) };
        drop_readers(transaction, view.id)?;
        transaction.drop_view(&view.name)?;
    }
}

fn refuse_kinds(create: &CreateView) -> Result<()> {
    super::modify::refuse_extras(&[
        (create.materialized, "a materialized view"),
        (create.or_alter || create.secure || create.to.is_some(), "a view of this kind"),
    ])
}

/// What a view's query reads, by its name.
fn relation_name(reference: &TableReference) -> Result<String> {
    match reference.schema() {
        None => Ok(reference.table().to_owned()),
        Some(schema @ ("information_schema" | "pg_catalog" | "gadus")) => {
            Err(unsupported(&format!("a view of what is in schema {schema}")))
        }
        Some(schema) => Ok(kept(schema, reference.table())),
    }
}

/// The columns of a view: the names that the statement gives, then those of its query.
fn columns(
    mut names: Vec<String>,
    planned: &LogicalPlan,
    create: &CreateView,
) -> Result<Vec<ViewColumn>> {
    let fields = planned.schema().fields();
    if names.len() != fields.len() {
        names = fields.iter().map(|field| field.name().clone()).collect();
    }
    if create.columns.len() > names.len() {
        let message = "CREATE VIEW specifies more column names than columns";
        return Err(input(message).because(Reason::Syntax));
    }
    for (name, given) in names.iter_mut().zip(&create.columns) {
        *name = folded(&given.name);
    }
    let column = |(name, field): (String, &arrow::datatypes::FieldRef)| ViewColumn {
        name,
        column_type: ColumnType::from_field(field),
    };
    Ok(names.into_iter().zip(fields).map(column).collect())
}

/// Refuses another query for a view that would take from those who read it.
fn refuse_changed(before: &ViewSchema, after: &ViewSchema) -> Result<()> {
    let refuse = |message: String| Err(input(message).because(Reason::InvalidDefinition));
    if after.columns.len() < before.columns.len() {
        return refuse("cannot drop columns from view".to_owned());
    }
    for (old, new) in before.columns.iter().zip(&after.columns) {
        if old.name != new.name {
            let (old, new) = (&old.name, &new.name);
            return refuse(format!("cannot change name of view column \"{old}\" to \"{new}\""));
        }
        if old.column_type != new.column_type {
            let name = |column: &ViewColumn| {
                let known = column.column_type.map(crate::postgres::type_name);
                known.unwrap_or("another type").to_owned()
            };
            return refuse(format!(
                "cannot change data type of view column \"{}\" from {} to {}",
                old.name,
                name(old),
                name(new)
            ));
        }
    }
    Ok(())
}

/// All words that a query says: more than the columns that it reads, but never less.
#[derive(Default)]
struct Said {
    words: BTreeSet<String>,
    /// `*`, or a join by all columns of the same name.
    everything: bool,
}

impl Said {
    /// Looks at a query; without a statement each `*` is taken for all columns.
    fn of(query: &str, statement: Option<&Statement>) -> Result<Self> {
        let mut said = Self::default();
        let tokens = Tokenizer::new(&GenericDialect {}, query).tokenize();
        for token in tokens.map_err(|error| from_parser(&error.into()))? {
            said.everything |= statement.is_none() && token == Token::Mul;
            let Token::Word(word) = token else { continue };
            said.everything |= word.keyword == Keyword::NATURAL;
            said.everything |= statement.is_none() && word.keyword == Keyword::TABLE;
            said.words.insert(match word.quote_style {
                Some(_) => word.value,
                None => word.value.to_lowercase(),
            });
        }
        if let Some(statement) = statement {
            let _ = statement.visit(&mut said);
        }
        Ok(said)
    }

    /// Returns what a query that says this reads of a relation.
    fn used(&self, snapshot: &Snapshot, name: String) -> Result<UsedRelation> {
        let column = |(id, name): (u32, &str)| {
            let is_used = self.everything || self.words.contains(name);
            UsedColumn { id, name: name.to_owned(), is_used }
        };
        let (id, columns) = if let Some(view) = snapshot.find_view(&name) {
            let names = view.columns.iter().map(|column| column.name.as_str());
            (view.id, (0..).zip(names).map(column).collect())
        } else {
            let table = snapshot.table(&name)?;
            let columns = table.schema().columns.iter();
            let columns = columns.map(|column| (column.id, column.name.as_str()));
            (table.id(), columns.map(column).collect())
        };
        Ok(UsedRelation { id, name, columns })
    }

    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => {
                self.everything |= select.projection.iter().any(|item| {
                    matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
                });
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            SetExpr::Table(_) => self.everything = true,
            _ => {}
        }
    }
}

impl Visitor for Said {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.body(&query.body);
        ControlFlow::Continue(())
    }
}

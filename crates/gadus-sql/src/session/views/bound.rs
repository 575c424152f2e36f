//! The query of CREATE VIEW, from its bound tree.

use super::super::Session;
use super::super::bound_changes::ChangeText;
use super::super::bound_queries::{is_certain, told};
use super::{Said, is_deep_by_views, view_statement};
use crate::analysis::{BinderCatalog, MAIN, bound_query, from_bind};
use crate::error::{coded, from_datafusion, input, unsupported};
use crate::lowering::NotLowered;
use crate::names::kept;
use crate::postgres::quoted;
use crate::provider::{BoundView, bound_view};
use crate::room::with_room;
use datafusion::sql::sqlparser::ast::CreateView;
use gadus_binder::Relation;
use gadus_engine::{Error, Result, Snapshot, UsedRelation};
use gadus_syntax::ast::{OptionValue, Statement as SyntaxStatement, StorageParameter};
use gadus_syntax::parse_statement;
use std::sync::Arc;

impl Session {
    /// Returns the text of a view's query, the relations that it reads, and the plan of its bound tree if it has one.
    pub(super) async fn viewed(
        &self,
        snapshot: &Snapshot,
        (change, create): (&ChangeText<'_>, &CreateView),
    ) -> Result<(String, Vec<UsedRelation>, Option<BoundView>)> {
        let unread = change.prepared.unread.as_deref();
        check_options(&change.prepared.text)?;
        let (query, statement, names) = match unread {
            Some(unread) => (unread_query(&change.prepared.text, unread)?, None, &change.names),
            None => {
                let query = create.query.to_string();
                let prepared = super::super::parse(&query)?;
                if prepared.parameters() > 0 {
                    return Err(input("there is no parameter $1"));
                }
                if prepared.calls_sequences {
                    return Err(unsupported("a view that takes numbers of sequences"));
                }
                let statement = view_statement(&query)?;
                self.refuse_passing(snapshot, &statement).await?;
                is_deep_by_views(snapshot, &statement)?;
                // Its names are resolved.
                (query, Some(statement), &None)
            }
        };
        let catalog = BinderCatalog::new(snapshot.clone(), names.clone());
        let bound = with_room(true, || bound_query(&catalog, &query).map(|bound| bound.parameters));
        let uses = match (bound, &statement) {
            (Ok(parameters), _) if !parameters.is_empty() => {
                return Err(coded("42P02", "there is no parameter $1"));
            }
            (Ok(_), _) => {
                let said = Said::of(&query, statement.as_ref())?;
                let found = catalog.into_found();
                let used = |relation: &Arc<Relation>| said.used(snapshot, stored_name(relation));
                found.iter().map(used).collect::<Result<Vec<_>>>()?
            }
            (Err(Some(error)), _) if is_certain(&error) || unread.is_some() => {
                return Err(from_bind(error));
            }
            (Err(_), Some(statement)) => {
                let uses = self.uses(snapshot, &query, statement)?;
                return Ok((query, uses, None));
            }
            (Err(_), None) => return Err(unsupported("this view")),
        };
        let context = self.planner_of_tables(snapshot.clone(), self.reading())?;
        let bound = bound_view(snapshot, &context.state(), (&query, &uses)).await;
        let bound = bound.map_err(from_datafusion)?;
        match (bound, unread) {
            (None, Some(unread)) => {
                let reason = NotLowered::Missing("the query of this view".to_owned());
                Err(told(reason, Some(unread)))
            }
            (bound, _) => Ok((query, uses, bound)),
        }
    }
}

/// Refuses options of a CREATE VIEW that there are not, and values that they do not have.
fn check_options(text: &str) -> Result<()> {
    let parsed = with_room(true, || parse_statement(text).map(|parsed| parsed.statement));
    let Ok(SyntaxStatement::CreateView(view)) = parsed else { return Ok(()) };
    for StorageParameter { name, value } in &view.options {
        let word = match value {
            None => "true",
            Some(OptionValue::Word(word) | OptionValue::Text(word) | OptionValue::Number(word)) => {
                word.as_str()
            }
            Some(_) => "",
        };
        match name.as_str() {
            "security_barrier" | "security_invoker" => {
                let words = ["true", "false", "on", "off", "yes", "no", "1", "0"];
                if !words.iter().any(|known| word.eq_ignore_ascii_case(known)) {
                    let message = format!("invalid value for boolean option \"{name}\": {word}");
                    return Err(coded("22023", message));
                }
            }
            "check_option" => return Err(unsupported("WITH CHECK OPTION")),
            _ => return Err(coded("22023", format!("unrecognized parameter \"{name}\""))),
        }
    }
    Ok(())
}

/// Returns the query of a CREATE VIEW that the parser of texts cannot read.
fn unread_query(text: &str, unread: &Error) -> Result<String> {
    let parsed = with_room(true, || parse_statement(text).map(|parsed| parsed.statement));
    let Ok(SyntaxStatement::CreateView(view)) = parsed else { return Err(unread.clone()) };
    if view.check.is_some() {
        return Err(unsupported("WITH CHECK OPTION"));
    }
    let span = view.query.span;
    let query = text.get(span.start as usize..span.end as usize).ok_or_else(|| unread.clone())?;
    if !view.recursive {
        return Ok(query.to_owned());
    }
    let name = view.name.parts.last().map(|name| quoted(&name.text)).unwrap_or_default();
    let columns = view.columns.iter().map(|column| quoted(&column.text)).collect::<Vec<_>>();
    let columns = columns.join(", ");
    Ok(format!("WITH RECURSIVE {name} ({columns}) AS ({query}) SELECT {columns} FROM {name}"))
}

/// Returns the name by which a relation is stored.
fn stored_name(relation: &Relation) -> String {
    match relation.schema.as_str() {
        MAIN => relation.name.clone(),
        schema => kept(schema, &relation.name),
    }
}

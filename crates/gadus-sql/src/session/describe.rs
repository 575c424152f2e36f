//! What a statement will take and give, before it runs: types of its parameters, names and types of its
//! columns.
//!
//! - Found by planning it without values, and remembered by text for one shape of the schema: drivers
//!   ask for every statement.
//! - A parameter whose type nothing around it decides has none; a statement that cannot be planned has
//!   none at all, and says why when it runs.

use super::as_queries::describe;
use super::bound_changes::ChangeText;
use super::bound_queries::{BoundPlan, QueryText, told};
use super::cancel::{Cancel, Flag};
use super::columns::Headings;
use super::frames::{Frames, names_frame};
use super::probes::probes;
use super::query::names_schema;
use super::{Boxed, Prepared, Session};
use crate::error::from_datafusion;
use crate::executor::{HandOff, WorkFor, logical_plan};
use crate::explained::{self, Request};
use crate::kept::KEPT_TEXT_BYTES_MAX;
use crate::lists::Quantified;
use crate::names::Names;
use crate::provider::FILES_SCHEMA;
use crate::room::{Roomy, with_room};
use crate::types::column_type;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr as PlannedExpr, ExprSchemable, LogicalPlan};
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, DataType as SqlType, Expr, Statement, Value as SqlValue, ValueWithSpan,
    visit_expressions,
};
use gadus_engine::{ColumnType, Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Texts that are remembered; all are forgotten when there are more.
const TEXTS_MAX: usize = 1_024;

/// What a statement takes and gives.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The type of each parameter, where something decides it.
    pub parameters: Vec<Option<DataType>>,
    /// The columns of its rows; none where it gives no rows.
    pub columns: Option<SchemaRef>,
}

/// The descriptions of a database's statements.
#[derive(Debug, Default)]
pub(crate) struct Descriptions {
    texts: Mutex<HashMap<Arc<str>, Entry>>,
}

#[derive(Debug)]
struct Entry {
    schema_version: u64,
    description: Arc<Description>,
}

impl Descriptions {
    fn get(&self, text: &str, version: u64) -> Option<Arc<Description>> {
        let texts = self.texts.lock();
        let entry = texts.get(text).filter(|entry| entry.schema_version == version)?;
        Some(entry.description.clone())
    }

    fn keep(&self, text: Arc<str>, schema_version: u64, description: Arc<Description>) {
        if text.len() > KEPT_TEXT_BYTES_MAX {
            return;
        }
        let mut texts = self.texts.lock();
        if texts.len() >= TEXTS_MAX {
            texts.clear();
        }
        texts.insert(text, Entry { schema_version, description });
    }
}

impl Session {
    /// What a statement takes and gives, for the tables as they are now.
    ///
    /// Like a statement, it ends when the session is cancelled or after `statement_timeout`.
    ///
    /// # Errors
    /// `Cancelled`, and those that its planning gives, where it is a query; what it reads need not exist for others.
    pub fn describe<'a>(&'a self, prepared: &'a Prepared) -> Boxed<'a, Arc<Description>> {
        Box::pin(async move {
            let before = self.begin_preparing().await;
            let flag = &before.flag;
            let described = match self.shared.deadlines.watch(flag) {
                Ok(()) => flag.run(self.describe_until(prepared, flag)).await,
                Err(error) => Err(error),
            };
            self.end_preparing(before, described)
        })
    }

    /// The same, of which the planning ends when a flag is set.
    fn describe_until<'a>(
        &'a self,
        prepared: &'a Prepared,
        flag: &'a Arc<Flag>,
    ) -> Boxed<'a, Arc<Description>> {
        Box::pin(async move {
            let (snapshot, with_settings, names) = {
                let state = &mut *self.state.lock().await;
                if let Statement::Fetch { name, .. } = prepared.statement() {
                    let columns = state.cursors.columns(name).filter(|_| prepared.gives_rows());
                    return Ok(Arc::new(Description::undecided(prepared, columns)));
                }
                let with_settings = self.with_settings(state, prepared, None)?;
                (state.snapshot(&self.engine)?, with_settings, self.names(state))
            };
            let prepared = with_settings.as_ref().unwrap_or(prepared);
            let with_catalog = self.with_catalog(&snapshot, names.as_ref(), prepared)?;
            let prepared = with_catalog.as_ref().unwrap_or(prepared);
            let version = snapshot.schema_version();
            let statement = prepared.statement();
            let frames = self.frames_of(prepared);
            let remembers =
                !names_frame(&frames, statement) && !prepared.calls_settings && names.is_none();
            let known = remembers.then(|| self.shared.descriptions.get(prepared.text(), version));
            if let Some(known) = known.flatten() {
                return Ok(known);
            }
            let explains = Request::of(statement)?;
            let statement = explains.map_or(statement, |request| request.statement);
            if let Statement::ShowVariable { variable } = statement {
                return Ok(Arc::new(shown(variable)));
            }
            if explains.is_none() {
                let work = Box::pin(self.describe_tree(prepared, snapshot.clone(), names));
                let bound = HandOff(WorkFor { cancel: Cancel::of(flag.clone()), work }).await?;
                if let Some(description) = bound {
                    return Ok(self.described(prepared, (version, remembers), description));
                }
            }
            let Some(planned) =
                self.plan_described((frames, snapshot), prepared, statement, flag).await
            else {
                let columns = explains.map(|_| explained::schema());
                return Ok(Arc::new(Description::undecided(prepared, columns)));
            };
            let (description, remembers) = match planned {
                Ok((plans, reads_files)) => {
                    // The plans are dropped with room, too.
                    let describe = move || Description::of_plans(prepared, &plans);
                    let mut description = with_room(prepared.is_deep, describe);
                    if explains.is_some() {
                        description.columns = Some(explained::schema());
                    }
                    (description, remembers && !reads_files)
                }
                Err(error) if prepared.gives_rows() || flag.is_set() => return Err(error),
                Err(_) => (Description::undecided(prepared, None), false),
            };
            Ok(self.described(prepared, (version, remembers), description))
        })
    }

    /// Returns a description, which is kept if it holds for others.
    fn described(
        &self,
        prepared: &Prepared,
        (version, remembers): (u64, bool),
        description: Description,
    ) -> Arc<Description> {
        let description = Arc::new(description);
        if remembers {
            let text = Arc::from(prepared.text());
            self.shared.descriptions.keep(text, version, description.clone());
        }
        description
    }

    /// Describes a query or a change by its bound tree; `None` if that has no plan.
    async fn describe_tree(
        &self,
        prepared: &Prepared,
        snapshot: gadus_engine::Snapshot,
        names: Option<Names>,
    ) -> Result<Option<Description>> {
        let statement = prepared.statement();
        if prepared.changes_within {
            let change = ChangeText { prepared, names };
            return self.describe_within(&change, snapshot).await.map(Some);
        }
        if is_change(statement) {
            return self.describe_change(&ChangeText { prepared, names }, snapshot).await;
        }
        let (text, is_deep) = (prepared.text(), prepared.is_deep);
        let query = QueryText { text, statement, is_deep, snapshot, names };
        self.describe_bound(query, prepared.unread.as_deref()).await
    }

    /// Describes a query by its bound tree; `None` if that has no plan, but the text may have one.
    async fn describe_bound(
        &self,
        query: QueryText<'_>,
        unread: Option<&Error>,
    ) -> Result<Option<Description>> {
        let context = self.planner_of_tables(query.snapshot.clone(), self.reading())?;
        let BoundPlan { plan, types, headings } = match query.plan(&context.state()).await? {
            Ok(bound) => bound,
            Err(reason) => match unread {
                Some(unread) => return Err(told(reason, Some(unread))),
                None => return Ok(None),
            },
        };
        let schema = Arc::new(plan.schema().as_arrow().clone());
        let columns = headings.iter().fold(schema, |schema, headings| headings.over(&schema));
        let parameters = types.into_iter().map(Some).collect();
        Ok(Some(Description { parameters, columns: Some(columns) }))
    }

    /// The plans that describe a statement, made until a flag is set, and whether it reads files; none if no plan
    /// describes it.
    async fn plan_described(
        &self,
        (frames, snapshot): (Arc<Frames>, gadus_engine::Snapshot),
        prepared: &Prepared,
        statement: &Statement,
        flag: &Arc<Flag>,
    ) -> Option<Result<(Vec<LogicalPlan>, bool)>> {
        let is_planned = matches!(
            statement,
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Merge(_)
                | Statement::Declare { .. }
                | Statement::Explain { .. }
                | Statement::ShowTables { .. }
                | Statement::ShowColumns { .. }
                | Statement::ExplainTable { .. }
        );
        if !is_planned {
            return None;
        }
        let work = Box::pin(self.plan_probes(frames, snapshot, statement));
        let planning = HandOff(WorkFor { cancel: Cancel::of(flag.clone()), work });
        Some(match prepared.is_deep {
            true => Roomy(planning).await,
            false => planning.await,
        })
    }

    /// The plans that describe a statement, and whether it reads files.
    async fn plan_probes(
        &self,
        frames: Arc<Frames>,
        snapshot: gadus_engine::Snapshot,
        statement: &Statement,
    ) -> Result<(Vec<LogicalPlan>, bool)> {
        let (mut plans, mut reads_files) = (Vec::new(), false);
        for probe in probes(statement)? {
            match self.plan_undecided(frames.clone(), snapshot.clone(), &probe).await {
                Ok((plan, reads)) => {
                    plans.push(plan);
                    reads_files |= reads;
                }
                Err(error) if plans.is_empty() => return Err(error),
                // Then its parameters have no types.
                Err(_) => {}
            }
        }
        Ok((plans, reads_files))
    }

    /// The plan of a statement whose parameters have no values, and whether it reads files.
    async fn plan_undecided(
        &self,
        frames: Arc<Frames>,
        snapshot: gadus_engine::Snapshot,
        statement: &Statement,
    ) -> Result<(LogicalPlan, bool)> {
        let mut statement = describe(statement)?.unwrap_or_else(|| statement.clone());
        if let Statement::Query(query) = &mut statement {
            query.locks.clear();
        }
        let context = self.planner_with(frames, snapshot, &mut statement).await?;
        let reads_files = names_schema(&statement, FILES_SCHEMA);
        let plan = logical_plan(context.state(), statement).await.map_err(from_datafusion)?;
        Ok((plan, reads_files))
    }
}

impl Description {
    /// Of a statement about which nothing is known but how many parameters it has.
    fn undecided(prepared: &Prepared, columns: Option<SchemaRef>) -> Self {
        Self { parameters: vec![None; prepared.parameters()], columns }
    }

    fn of_plans(prepared: &Prepared, plans: &[LogicalPlan]) -> Self {
        let first = plans.first().filter(|_| prepared.gives_rows());
        let columns = first.map(|plan| columns_of(prepared.statement(), plan));
        let mut described = Self::undecided(prepared, columns);
        for plan in plans {
            for (name, data_type) in plan.get_parameter_types().unwrap_or_default() {
                described.decide(&name, data_type);
            }
            described.decide_lists(plan);
        }
        // What a client casts is of that type, whatever stands around it.
        let _ = visit_expressions(prepared.statement(), |expr| {
            if let Expr::Cast { expr, data_type, .. } = expr
                && let Expr::Value(ValueWithSpan { value: SqlValue::Placeholder(name), .. }) =
                    &**expr
            {
                described.decide(name, type_named(data_type));
            }
            ControlFlow::<()>::Continue(())
        });
        described
    }

    /// Gives types to lists that values are compared with, and to values beside lists.
    fn decide_lists(&mut self, plan: &LogicalPlan) {
        let visited = plan.apply_with_subqueries(|node| {
            let schema = merge_schema(&node.inputs());
            node.apply_expressions(|expr| {
                expr.apply(|expr| {
                    if let PlannedExpr::ScalarFunction(call) = expr
                        && Quantified::is(&call.func)
                    {
                        self.decide_list(&call.args, &schema);
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        });
        // What has no type here fails where the statement runs.
        let _ = visited;
    }

    fn decide_list(&mut self, compared: &[PlannedExpr], schema: &DFSchema) {
        let type_of = |expr: &PlannedExpr| expr.get_type(schema).ok();
        match compared {
            [value, PlannedExpr::Placeholder(list)] => {
                let element = type_of(value).filter(|known| !known.is_null());
                let list_of = |of| DataType::List(Arc::new(Field::new_list_field(of, true)));
                self.decide(&list.id, element.map(list_of));
            }
            [PlannedExpr::Placeholder(value), list] => {
                if let Some(DataType::List(of)) = type_of(list) {
                    self.decide(&value.id, Some(of.data_type().clone()));
                }
            }
            _ => {}
        }
    }

    /// Gives a parameter a type, where there is one to give.
    fn decide(&mut self, name: &str, data_type: Option<DataType>) {
        let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
        let index = number.and_then(|number| number.checked_sub(1));
        if let Some(place) = index.and_then(|index| self.parameters.get_mut(index)) {
            *place = data_type.or_else(|| place.take());
        }
    }
}

/// The type that a cast names; none where there is no such type.
fn type_named(data_type: &SqlType) -> Option<DataType> {
    match data_type {
        SqlType::Array(
            ArrayElemTypeDef::SquareBracket(of, None) | ArrayElemTypeDef::AngleBracket(of),
        ) => {
            let element = Field::new_list_field(type_named(of)?, true);
            Some(DataType::List(Arc::new(element)))
        }
        // Of PostgreSQL's catalog: numbers of 32 bits without a sign.
        SqlType::Custom(name, _) if name.to_string().eq_ignore_ascii_case("oid") => {
            Some(DataType::UInt32)
        }
        // A name that is no type's is an enumeration's, or an error where the statement runs.
        SqlType::Custom(..) => {
            Some(column_type(data_type).map_or(DataType::Utf8View, ColumnType::arrow))
        }
        other => column_type(other).ok().map(|column| column.arrow()),
    }
}

/// The columns of a plan under their headings.
fn columns_of(statement: &Statement, plan: &LogicalPlan) -> SchemaRef {
    Headings::of(statement).over(plan.schema().as_arrow())
}

fn is_change(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_)
    )
}

/// What SHOW gives: one text under the setting's name.
fn shown(variable: &[datafusion::sql::sqlparser::ast::Ident]) -> Description {
    let name = super::variables::name_of(variable);
    let columns = if name == "all" { vec!["name", "setting", "description"] } else { vec![&*name] };
    let column = |name| Field::new(name, DataType::Utf8, false);
    let columns = Schema::new(columns.into_iter().map(column).collect::<Vec<_>>());
    Description { parameters: Vec::new(), columns: Some(Arc::new(columns)) }
}

//! EXPLAIN, with what a statement took where it is to run.

use super::as_queries::describe;
use super::asked::{Asked, Source};
use super::bound_changes::ChangeText;
use super::bound_queries::{left_to_text, with_values};
use super::cancel::Flag;
use super::probes::query_below;
use super::query::{plan, refuse_locks};
use super::{Outcome, Prepared, Session, State};
use crate::analysis::not_planned;
use crate::compiled::Compiled;
use crate::error::{from_datafusion, input};
use crate::executor::{self, physical_plan};
use crate::explained::{Explained, Figures, Operator, Request, Run};
use crate::memory::{LastPlan, Replan, run_observed, task_of};
use crate::provider::Reading;
use crate::rows::RowStream;
use crate::value::Value;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::ast::Statement;
use gadus_base::{Account, clock};
use gadus_engine::Result;
use std::sync::Arc;

impl Session {
    /// Explains a statement that the planner need not see; none where it has to.
    pub(super) async fn explain_unplanned(
        &self,
        state: &mut State,
        (prepared, request): (&Prepared, Request<'_>),
        parameters: &[Value],
        flag: &Flag,
    ) -> Result<Option<Outcome>> {
        if request.shows_bound {
            return self.explain_bound(state, prepared, request).await.map(Some);
        }
        let is_query =
            matches!(request.statement, Statement::Query(query) if query.locks.is_empty());
        if prepared.changes_within {
            // What cannot be carried out cannot be explained.
            let change =
                ChangeText { prepared: &inner(prepared, &request), names: self.names(state) };
            self.describe_within(&change, state.snapshot(&self.engine)?).await?;
            let operator = Operator::alone(verb_within(request.statement), "", Figures::default());
            return self
                .explain_written(state, (prepared, request), parameters, (operator, flag))
                .await;
        }
        let compiled = Compiled::compile(request.statement, &state.snapshot(&self.engine)?);
        let lines = match &compiled {
            Some(compiled) if compiled.scans() => {
                if is_query && self.is_planned(state, compiled, parameters)? {
                    return Ok(None);
                }
                self.explained_scan(state, compiled, parameters)?
            }
            Some(compiled) => compiled.explained().lines().map(str::to_owned).collect(),
            None if is_query => return Ok(None),
            None => vec![verb(request.statement)?.to_owned()],
        };
        let line = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
        let (name, details) = line.split_once(": ").unwrap_or((&line, ""));
        let mut operator = Operator::alone(name, details, Figures::default());
        if !request.runs {
            if compiled.is_some() {
                // As lines they are easier to read.
                let explained = Explained { operator, run: None };
                return explained.shown_as(&lines, request.format).map(Some);
            }
            if let Some(query) = query_below(request.statement)? {
                let planned = self.plan_of(state, &query, parameters, false).await?;
                operator.inputs.push(Operator::of_plan(&*planned.physical));
            }
            return Explained { operator, run: None }.shown(request.format).map(Some);
        }
        self.explain_written(state, (prepared, request), parameters, (operator, flag)).await
    }

    /// Explains a statement that is one operator, with what it took if it is to run.
    async fn explain_written(
        &self,
        state: &mut State,
        (prepared, request): (&Prepared, Request<'_>),
        parameters: &[Value],
        (mut operator, flag): (Operator, &Flag),
    ) -> Result<Option<Outcome>> {
        if !request.runs {
            return Explained { operator, run: None }.shown(request.format).map(Some);
        }
        let run = self.run_as_always(state, &inner(prepared, &request), parameters, flag).await?;
        operator.figures = Figures { rows: Some(run.rows), time: run.ran, ..Figures::default() };
        Explained { operator, run: Some(run) }.shown(request.format).map(Some)
    }

    /// Runs a statement to its end, and tells what that took.
    async fn run_as_always(
        &self,
        state: &mut State,
        statement: &Prepared,
        parameters: &[Value],
        flag: &Flag,
    ) -> Result<Run> {
        let (account, began) = (Account::current().unwrap_or_default(), clock().now());
        let asked = Asked::new(Source::Prepared(statement), parameters);
        let rows = match Box::pin(self.attempt(state, &asked, flag)).await? {
            Outcome::Rows(rows) => drained(rows).await?,
            Outcome::Changed { rows, .. } => rows,
            Outcome::Done(_) => 0,
        };
        Ok(Run { ran: began.elapsed(), rows, ..Run::default() }.on(&account))
    }

    /// Explains a query by its plan.
    pub(super) async fn explain_planned(
        &self,
        state: &State,
        (prepared, request): (&Prepared, Request<'_>),
        parameters: &[Value],
    ) -> Result<Outcome> {
        let asking = self.asking(state);
        let (account, began) = (Account::current().unwrap_or_default(), clock().now());
        let Planned { context, logical, physical } =
            match self.bound_plan_of(state, (prepared, &request), parameters).await? {
                Some(planned) => planned,
                None => self.plan_of(state, request.statement, parameters, request.runs).await?,
            };
        let planned = began.elapsed();
        if !request.runs {
            let operator = Operator::of_plan(&*physical);
            return Explained { operator, run: None }.shown(request.format);
        }
        if let Some(asking) = asking {
            asking.begin(&*physical)?;
        }
        let began = clock().now();
        let (last, replan) =
            (LastPlan::new(physical.clone()), || Some(Replan::new(&context, logical)));
        let stream = run_observed(physical, task_of(&context), replan, Some(last.clone()));
        let stream = stream.map_err(from_datafusion)?;
        let rows = drained(RowStream::from_datafusion(stream, &self.cancel)).await?;
        let ran = began.elapsed();
        let (plan, planned_again) = last.take();
        let run = Run { planned, planned_again, ran, rows, ..Run::default() }.on(&account);
        Explained { operator: Operator::of_plan(&*plan), run: Some(run) }.shown(request.format)
    }

    /// Plans an explained query from its bound tree, if it has a plan.
    async fn bound_plan_of(
        &self,
        state: &State,
        (prepared, request): (&Prepared, &Request<'_>),
        parameters: &[Value],
    ) -> Result<Option<Planned>> {
        let query = self.query_text(state, prepared, request.statement)?;
        let reading = Reading { measured: request.runs, ..self.reading() };
        let context = self.planner_of_tables(query.snapshot.clone(), reading)?;
        let bound = match query.plan(&context.state()).await? {
            Ok(bound) => bound,
            Err(reason) => return left_to_text(reason, prepared),
        };
        let Some(logical) = with_values(bound.plan, &bound.types, parameters) else {
            return Ok(None);
        };
        let physical = physical_plan(context.state(), &logical).await;
        executor::check_cancelled().map_err(from_datafusion)?;
        let physical = physical.map_err(not_planned)?;
        Ok(Some(Planned { context, logical, physical }))
    }

    /// A query's plan, whose scans tell what they took where that is asked for.
    async fn plan_of(
        &self,
        state: &State,
        query: &Statement,
        parameters: &[Value],
        measured: bool,
    ) -> Result<Planned> {
        let mut statement = describe(query)?.unwrap_or_else(|| query.clone());
        refuse_locks(&statement)?;
        let reading = Reading { measured, ..self.reading() };
        let (frames, snapshot) = (self.frames(), state.snapshot(&self.engine)?);
        let context = self.planner_reading(reading, frames, snapshot, &mut statement).await?;
        let logical = plan(&context, statement, parameters).await?;
        let physical = physical_plan(context.state(), &logical).await;
        Ok(Planned { context, logical, physical: physical.map_err(from_datafusion)? })
    }
}

/// A query as it is planned.
struct Planned {
    context: SessionContext,
    logical: LogicalPlan,
    physical: Arc<dyn ExecutionPlan>,
}

/// The statement that is explained, as it was parsed: what else is known of the whole holds for it.
fn inner(explaining: &Prepared, request: &Request<'_>) -> Prepared {
    Prepared {
        text: Arc::from(request.statement.to_string()),
        statement: Arc::new(request.statement.clone()),
        ..explaining.clone()
    }
}

/// Rows, counted and dropped.
async fn drained(mut rows: RowStream) -> Result<u64> {
    let mut count = 0;
    while let Some(batch) = rows.next_batch().await? {
        count += batch.num_rows() as u64;
    }
    Ok(count)
}

/// Returns the name of a statement whose WITH changes rows.
fn verb_within(statement: &Statement) -> &'static str {
    match statement {
        Statement::Query(_) => "SELECT with changes in WITH",
        Statement::Insert(_) => "INSERT with changes in WITH",
        Statement::Update(_) => "UPDATE with changes in WITH",
        _ => "DELETE with changes in WITH",
    }
}

/// What a statement that is not planned as a whole is called.
fn verb(statement: &Statement) -> Result<&'static str> {
    match statement {
        Statement::Query(_) => Ok("SELECT FOR UPDATE"),
        Statement::Insert(_) => Ok("INSERT"),
        Statement::Update(_) => Ok("UPDATE"),
        Statement::Delete(_) => Ok("DELETE"),
        Statement::Merge(_) => Ok("MERGE"),
        Statement::CreateTable(create) if create.query.is_some() => Ok("CREATE TABLE AS"),
        _ => Err(input("EXPLAIN takes a query, INSERT, UPDATE, DELETE, MERGE or CREATE TABLE AS")),
    }
}

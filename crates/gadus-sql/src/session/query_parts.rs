//! Queries that are parts of other statements, CREATE TABLE AS and COPY, planned from their bound trees.

use super::Session;
use super::bound_queries::{BoundPlan, QueryText, told, with_values};
use crate::error::from_datafusion;
use crate::lowering::NotLowered;
use crate::room::with_room;
use crate::value::Value;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::prelude::SessionContext;
use gadus_engine::Result;
use gadus_syntax::ast::{CopySource, Statement};
use gadus_syntax::parse_statement;
use std::sync::Arc;

/// Plan of a query whose columns are called by their headings.
pub(super) struct PlannedPart {
    pub(super) context: SessionContext,
    pub(super) plan: LogicalPlan,
}

impl Session {
    /// Plans a query from its bound tree; `None` if it has to be planned from its text.
    pub(super) async fn plan_part(
        &self,
        query: &QueryText<'_>,
        parameters: &[Value],
        is_stored: bool,
    ) -> Result<Option<PlannedPart>> {
        let context = self.planner_of_tables(query.snapshot.clone(), self.reading())?;
        let BoundPlan { plan, types, headings } = match query.plan(&context.state()).await? {
            Ok(bound) => bound,
            Err(reason @ NotLowered::Refused(_)) => return Err(told(reason, None)),
            Err(_) => return Ok(None),
        };
        let Some(plan) = with_values(plan, &types, parameters) else { return Ok(None) };
        let schema = Arc::new(plan.schema().as_arrow().clone());
        // Columns of tables are called as PostgreSQL calls them, those of files as a query's are shown.
        let shown = headings.iter().take(if is_stored { 1 } else { headings.len() });
        let named = shown.fold(schema, |schema, headings| headings.over(&schema));
        let columns = plan.schema().columns().into_iter().zip(named.fields());
        let items = columns.map(|(column, field)| Expr::Column(column).alias(field.name()));
        let named = LogicalPlanBuilder::from(plan).project(items.collect::<Vec<_>>());
        // The planner of texts refuses columns of one name.
        let Ok(plan) = named.and_then(LogicalPlanBuilder::build) else { return Ok(None) };
        let checked = context.state().optimize(&plan);
        match checked {
            Ok(_) => Ok(Some(PlannedPart { context, plan })),
            Err(error) if crate::executor::check_cancelled().is_err() => {
                Err(from_datafusion(error))
            }
            Err(_) => Ok(None),
        }
    }
}

impl Session {
    /// Begins to run a query whose rows are stored: by its bound tree, or as its text is planned.
    pub(super) async fn rows_to_store(
        &self,
        query: QueryText<'_>,
        parameters: &[Value],
    ) -> Result<SendableRecordBatchStream> {
        if let Some(part) = self.plan_part(&query, parameters, true).await? {
            return self.stream_plan_to_write(&part.context, &part.plan).await;
        }
        let mut statement = query.statement.clone();
        let context = self.planner(query.snapshot, &mut statement).await?;
        self.stream_to_write(&context, statement, parameters).await
    }
}

/// Returns the text of the query of a CREATE TABLE AS or COPY.
pub(super) fn query_within(text: &str) -> Option<String> {
    with_room(true, || {
        let query = match parse_statement(text).ok()?.statement {
            Statement::CreateTableAs(create) => create.source,
            Statement::Copy(copy) => match copy.source {
                CopySource::Query(query) => *query,
                CopySource::Table { .. } => return None,
            },
            _ => return None,
        };
        let Statement::Query(query) = query else { return None };
        text.get(query.span.start as usize..query.span.end as usize).map(str::to_owned)
    })
}

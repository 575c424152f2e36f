//! Node of logical plans, and operator, that has the plans of common tables beside that of their query.

use super::CommonTable;
use super::buffer::Buffer;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use futures::StreamExt;
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// Query with the common tables that it reads: the root of a plan.
#[derive(Debug, Clone)]
pub(crate) struct CommonTables {
    tables: Vec<Arc<CommonTable>>,
    plans: Vec<LogicalPlan>,
    query: LogicalPlan,
}

impl CommonTables {
    /// Returns the plan of a query with those of its tables, each of which may read those before it.
    pub(crate) fn around(
        query: LogicalPlan,
        tables: Vec<(Arc<CommonTable>, LogicalPlan)>,
    ) -> LogicalPlan {
        if tables.is_empty() {
            return query;
        }
        let (tables, plans) = tables.into_iter().unzip();
        LogicalPlan::Extension(Extension { node: Arc::new(Self { tables, plans, query }) })
    }

    /// Returns the common tables of a plan.
    pub(super) fn of(plan: &LogicalPlan) -> Option<&Self> {
        match plan {
            LogicalPlan::Extension(Extension { node }) => node.as_any().downcast_ref(),
            _ => None,
        }
    }

    pub(super) fn plans(&self) -> &[LogicalPlan] {
        &self.plans
    }

    pub(super) fn query(&self) -> &LogicalPlan {
        &self.query
    }

    /// Returns the operator of the node.
    pub(super) fn operator(
        &self,
        plans: Vec<Arc<dyn ExecutionPlan>>,
        query: Arc<dyn ExecutionPlan>,
    ) -> Arc<dyn ExecutionPlan> {
        Arc::new(CommonTablesExec::new(self.tables.iter().cloned().zip(plans).collect(), query))
    }
}

impl PartialEq for CommonTables {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<CommonTable>, &Arc<CommonTable>)| Arc::ptr_eq(one, other);
        self.plans == other.plans
            && self.query == other.query
            && self.tables.iter().zip(&other.tables).all(same)
    }
}

impl Eq for CommonTables {}

impl PartialOrd for CommonTables {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.query.partial_cmp(&other.query)
    }
}

impl Hash for CommonTables {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.query.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for CommonTables {
    fn name(&self) -> &'static str {
        "CommonTables"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.plans.iter().chain([&self.query]).collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        self.query.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_names(f, self.tables.iter())
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, plans: Vec<LogicalPlan>) -> Result<Self> {
        let (query, plans) = split(plans)?;
        Ok(Self { tables: self.tables.clone(), plans, query })
    }

    fn necessary_children_exprs(&self, columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let all = |table: &LogicalPlan| (0..table.schema().fields().len()).collect();
        let mut necessary = self.plans.iter().map(all).collect::<Vec<_>>();
        necessary.push(columns.to_vec());
        Some(necessary)
    }
}

/// Takes the plan of the query from behind those of its tables.
fn split<T>(mut plans: Vec<T>) -> Result<(T, Vec<T>)> {
    let query = plans.pop();
    let query = query.ok_or_else(|| internal_datafusion_err!("common tables without a query"))?;
    Ok((query, plans))
}

fn write_names<'a>(
    f: &mut fmt::Formatter<'_>,
    tables: impl Iterator<Item = &'a Arc<CommonTable>>,
) -> fmt::Result {
    let names = tables.map(|table| table.name()).collect::<Vec<_>>();
    write!(f, "CommonTables: {}", names.join(", "))
}

/// Operator of [`CommonTables`].
#[derive(Debug)]
struct CommonTablesExec {
    tables: Vec<(Arc<CommonTable>, Arc<dyn ExecutionPlan>)>,
    query: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    /// Run that was begun by the first partition.
    run: Mutex<Weak<Run>>,
    metrics: ExecutionPlanMetricsSet,
}

/// Tables of one run.
struct Run(Vec<(Arc<CommonTable>, Arc<Buffer>)>);

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Run").finish_non_exhaustive()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // What reads a table may be what a buffer reads: without this they would keep each other.
        for (table, buffer) in &self.0 {
            table.rows().end(buffer);
        }
    }
}

impl CommonTablesExec {
    fn new(
        tables: Vec<(Arc<CommonTable>, Arc<dyn ExecutionPlan>)>,
        query: Arc<dyn ExecutionPlan>,
    ) -> Self {
        Self {
            tables,
            properties: query.properties().clone(),
            query,
            run: Mutex::default(),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// Begins a run: each table may read those before it.
    fn begin(&self, task: &Arc<TaskContext>) -> Result<Run> {
        let mut run = Run(Vec::with_capacity(self.tables.len()));
        for (place, (table, plan)) in self.tables.iter().enumerate() {
            let metrics = SpillMetrics::new(&self.metrics, place);
            let buffer = Buffer::new(plan.execute(0, task.clone())?, metrics, task);
            let buffer = Arc::new(buffer);
            table.rows().begin(buffer.clone());
            run.0.push((table.clone(), buffer));
        }
        Ok(run)
    }
}

impl DisplayAs for CommonTablesExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_names(f, self.tables.iter().map(|(table, _)| table))
    }
}

impl ExecutionPlan for CommonTablesExec {
    fn name(&self) -> &'static str {
        "CommonTables"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        let tables = self.tables.iter().map(|(_, plan)| plan);
        tables.chain([&self.query]).collect()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        let mut maintained = vec![false; self.tables.len()];
        maintained.push(true);
        maintained
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.tables.len() + 1]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (query, plans) = split(children)?;
        let tables = self.tables.iter().map(|(table, _)| table.clone());
        Ok(Arc::new(Self::new(tables.zip(plans).collect(), query)))
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(self.tables.clone(), self.query.clone())))
    }

    fn execute(
        &self,
        partition: usize,
        task: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let run = {
            let mut run = self.run.lock();
            match run.upgrade() {
                Some(run) => run,
                None => {
                    let begun = Arc::new(self.begin(&task)?);
                    *run = Arc::downgrade(&begun);
                    begun
                }
            }
        };
        let rows = self.query.execute(partition, task)?;
        let schema = rows.schema();
        let rows = rows.inspect(move |_| {
            let _held = &run;
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

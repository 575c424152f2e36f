//! WITH.

use super::{Lowering, Result, column_name, missing};
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use gadus_binder::bound::{ColumnId, CommonTable, CommonTableId, Relational};
use std::sync::Arc;

/// Plan of a common table.
#[derive(Debug, Clone)]
pub(super) struct LoweredTable {
    plan: Arc<LogicalPlan>,
}

impl Lowering<'_> {
    /// Lowers a query with its common tables, each of which becomes a part of the plan wherever it is read.
    pub(super) fn with(
        &mut self,
        tables: &[CommonTable],
        input: &Relational,
    ) -> Result<LogicalPlan> {
        for table in tables.iter().filter(|table| table.readers > 0) {
            if table.recursive.is_some() {
                return missing("WITH RECURSIVE");
            }
            let plan = Arc::new(self.query(&table.query)?);
            self.common_tables.insert(table.id, LoweredTable { plan });
        }
        self.relational(input)
    }

    /// Reads a common table, with numbers of its own.
    pub(super) fn common_table_scan(
        &mut self,
        table: CommonTableId,
        columns: &[ColumnId],
    ) -> Result<LogicalPlan> {
        let Some(LoweredTable { plan }) = self.common_tables.get(&table).cloned() else {
            return missing("a common table of another query");
        };
        if !plan.all_out_ref_exprs().is_empty() {
            return missing("a common table that depends on the row around");
        }
        let mut items = Vec::with_capacity(columns.len());
        for ((from, id), field) in plan.schema().columns().into_iter().zip(columns).zip(plan.schema().fields()) {
            items.push(Expr::Column(Column::new_unqualified(from.name)).alias(column_name(*id)));
            self.make(*id, field.data_type().clone());
        }
        Ok(LogicalPlanBuilder::new_from_arc(plan).project(items)?.build()?)
    }
}

//! Functions in FROM.

use super::casts::converted;
use super::relations::written_integer;
use super::types::lowered_type;
use super::windows::row_number;
use super::{Lowering, Result, Typed, column_name, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableFunctionArgs;
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use gadus_binder::bound::{ColumnId, ScalarKind, TableCall};
use gadus_binder::types::constants;

impl Lowering<'_> {
    /// Lowers `generate_series` of integers that are written out.
    pub(super) fn table_functions(
        &mut self,
        calls: &[TableCall],
        ordinality: Option<ColumnId>,
    ) -> Result<LogicalPlan> {
        let [TableCall { call, columns }] = calls else {
            return missing("several functions in FROM");
        };
        let (ScalarKind::Function { function, arguments }, [(id, data_type)]) =
            (&call.kind, columns.as_slice())
        else {
            return missing("a function in FROM with several columns");
        };
        let is_of_integers = [constants::INT4, constants::INT8].contains(&function.result);
        let bounds = arguments.iter().map(written_integer).collect::<Option<Vec<_>>>();
        let Some(bounds) = bounds.filter(|_| function.name == "generate_series" && is_of_integers)
        else {
            return missing(format!("the function {} in FROM", function.name));
        };
        let Some(series) = self.planner.table_functions().get(function.name) else {
            return missing(format!("the function {} in FROM", function.name));
        };
        let bounds = bounds.into_iter().map(lit).collect::<Vec<_>>();
        let given = TableFunctionArgs::new(&bounds, self.planner);
        let rows = series.create_table_provider_with_args(given)?;
        let name = format!("f{}", id.0);
        let plan = LogicalPlanBuilder::scan(name, provider_as_source(rows), None)?;
        let Some(from) = plan.schema().columns().into_iter().next() else {
            return missing("a function in FROM without columns");
        };
        let wanted = lowered_type(*data_type)?;
        let value =
            converted(Typed::new(Expr::Column(from), DataType::Int64), wanted.clone(), false)?;
        let plan = plan.project([value.expr.alias(column_name(*id))])?;
        self.make(*id, wanted);
        match ordinality {
            Some(ordinality) => self.numbered(plan.build()?, *id, ordinality),
            None => Ok(plan.build()?),
        }
    }

    /// Adds the number of each row.
    fn numbered(
        &mut self,
        plan: LogicalPlan,
        value: ColumnId,
        ordinality: ColumnId,
    ) -> Result<LogicalPlan> {
        let number = row_number(Vec::new(), Vec::new())?;
        let name = Column::new_unqualified(number.schema_name().to_string());
        let number_column = Typed::new(Expr::Column(name), DataType::UInt64);
        let number_column = converted(number_column, DataType::Int64, false)?;
        self.make(ordinality, DataType::Int64);
        let items = [super::column(value), number_column.expr.alias(column_name(ordinality))];
        Ok(LogicalPlanBuilder::from(plan).window([number])?.project(items)?.build()?)
    }
}

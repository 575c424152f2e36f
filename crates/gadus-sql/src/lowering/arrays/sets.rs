//! Sets of rows that are elements of arrays: `unnest`, `generate_subscripts`, `string_to_table`, in FROM and in select
//! lists.

use super::super::casts::converted;
use super::super::table_functions::is_series;
use super::super::types::lowered_type;
use super::super::{Lowering, Result, Typed, column_name, missing};
use crate::arrays::{ArrayFunction, call, depth_of, is_array, leaf_of, list_of, of_leaf};
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, NullHandling, UnnestOptions};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use gadus_binder::bound::{ColumnId, Scalar, ScalarKind, SetCall, TableCall};
use gadus_binder::types::constants;

/// Returns true for functions whose rows are elements of arrays. A series whose bounds name no column is a table.
pub(in super::super) fn is_set_of_arrays(call: &Scalar) -> bool {
    is_listed_set(call) && (!is_series(call) || call.depends_on_rows())
}

/// Returns true for functions whose rows a list can hold.
pub(in super::super) fn is_listed_set(call: &Scalar) -> bool {
    let ScalarKind::Function { function, .. } = &call.kind else { return false };
    is_series(call) || matches!(function.name, "unnest" | "generate_subscripts" | "string_to_table")
}

impl Lowering<'_> {
    /// Lowers functions in FROM, next to each other, over the rows of an input.
    pub(in super::super) fn unnested_tables(
        &mut self,
        input: LogicalPlan,
        (calls, ordinality): (&[TableCall], Option<ColumnId>),
        empty: NullHandling,
    ) -> Result<LogicalPlan> {
        let mut sets = Vec::with_capacity(calls.len());
        for TableCall { call, columns, .. } in calls {
            let [(id, _)] = columns.as_slice() else {
                return missing("a function in FROM with several columns");
            };
            sets.push((*id, self.set(call, input.schema())?));
        }
        if let Some(id) = ordinality {
            let lists = sets.iter().map(|(_, set)| set.expr.clone()).collect();
            let numbers = list_of(DataType::Int64);
            let ordinals = call(ArrayFunction::Ordinals, lists, numbers.clone());
            sets.push((id, Typed::new(ordinals, numbers)));
        }
        self.unnested(input, sets, empty)
    }

    /// Lowers sets in a select list.
    pub(in super::super) fn project_arrays(
        &mut self,
        input: LogicalPlan,
        calls: &[SetCall],
    ) -> Result<LogicalPlan> {
        let mut sets = Vec::with_capacity(calls.len());
        for SetCall { id, call } in calls {
            sets.push((*id, self.set(call, input.schema())?));
        }
        self.unnested(input, sets, NullHandling::Drop)
    }

    /// Returns the rows of a set as a list.
    fn set(&mut self, set: &Scalar, schema: &DFSchema) -> Result<Typed> {
        let ScalarKind::Function { function, arguments } = &set.kind else {
            return missing("a set that is no function");
        };
        let values = arguments.iter().map(|argument| self.scalar(argument, schema));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        match function.name {
            "unnest" => {
                let Some(Typed { expr, data_type }) = values.pop() else {
                    return missing("unnest without an array");
                };
                if !is_array(&data_type) {
                    return missing(format!("unnest of {data_type}"));
                }
                let flat = of_leaf(leaf_of(&data_type), 1);
                Ok(match depth_of(&data_type) {
                    1 => Typed::new(expr, flat),
                    _ => Typed::new(call(ArrayFunction::Flatten, vec![expr], flat.clone()), flat),
                })
            }
            "generate_subscripts" => {
                let arguments = values.into_iter().map(|value| value.expr).collect();
                let numbers = list_of(DataType::Int32);
                let subscripts = call(ArrayFunction::Subscripts, arguments, numbers.clone());
                Ok(Typed::new(subscripts, numbers))
            }
            "string_to_table" => {
                let arguments = values.into_iter().map(|value| value.expr).collect();
                let texts = list_of(DataType::Utf8View);
                Ok(Typed::new(call(ArrayFunction::Split, arguments, texts.clone()), texts))
            }
            "generate_series" => {
                let leaf = match function.result {
                    constants::NUMERIC => NUMERIC,
                    other => lowered_type(other.plain())?,
                };
                let bounds = match leaf == NUMERIC {
                    true => values
                        .into_iter()
                        .map(|value| converted(value, NUMERIC, false))
                        .collect::<Result<_>>()?,
                    false => values,
                };
                let bounds = bounds.into_iter().map(|value| value.expr).collect();
                let series = list_of(leaf);
                Ok(Typed::new(call(ArrayFunction::Series, bounds, series.clone()), series))
            }
            name => missing(format!("the set {name}")),
        }
    }

    /// Returns a row for each element of the longest of several lists, next to the columns of the input.
    fn unnested(
        &mut self,
        input: LogicalPlan,
        sets: Vec<(ColumnId, Typed)>,
        empty: NullHandling,
    ) -> Result<LogicalPlan> {
        let columns = input.schema().columns();
        let mut items = columns.iter().cloned().map(Expr::Column).collect::<Vec<_>>();
        let mut lists = Vec::with_capacity(sets.len());
        for (id, set) in sets {
            let name = column_name(id);
            items.push(set.expr.alias(&name));
            lists.push(Column::new_unqualified(name));
            self.make(id, leaf_of(&set.data_type).clone());
        }
        let options = UnnestOptions::new().with_null_handling(empty);
        let rows = LogicalPlanBuilder::from(input).project(items)?;
        Ok(rows.unnest_columns_with_options(lists, options)?.build()?)
    }
}

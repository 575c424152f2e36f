//! Functions that give rows of a document, in FROM and in select lists: lists that become rows.

use super::{Lowering, document_kind};
use crate::json::{SetFunction, ordinals, set_of};
use crate::lowering::arrays::{is_listed_set, read_array};
use crate::lowering::casts::converted;
use crate::lowering::relations::filtered;
use crate::lowering::types::lowered_type;
use crate::lowering::{Result, Typed, column_name, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, UnnestOptions};
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use gadus_binder::bound::{
    ColumnId, Constant, Join, JoinKind, Relational, Scalar, ScalarKind, SetCall, TableCall,
};
use gadus_binder::types::{BaseType, Modifier, SqlType, constants};

/// Rows of one call.
enum Rows {
    /// Rows that a function of one document gives.
    Set(SetFunction, Scalar),
    /// Values that a path leads to, by the arguments of the call.
    Path(Vec<Scalar>),
    /// Records of an array of objects, or of one object.
    Records { document: Scalar, is_set: bool },
}

impl Rows {
    /// Returns the rows of a call; `None` if it is of another function.
    fn of(call: &Scalar) -> Option<Self> {
        let ScalarKind::Function { function, arguments } = &call.kind else { return None };
        if let (Some(set), [document]) = (SetFunction::named(function.name), arguments.as_slice()) {
            return Some(Self::Set(set, document.clone()));
        }
        if function.name == "jsonb_path_query" {
            return Some(Self::Path(arguments.clone()));
        }
        let is_null = |value: &Scalar| match &value.kind {
            ScalarKind::Cast { operand, .. } => {
                matches!(operand.kind, ScalarKind::Constant(Constant::Null))
            }
            kind => matches!(kind, ScalarKind::Constant(Constant::Null)),
        };
        let document = match (function.name, arguments.as_slice()) {
            ("json_to_record" | "jsonb_to_record", [document]) => (document, false),
            ("json_to_recordset" | "jsonb_to_recordset", [document]) => (document, true),
            ("json_populate_record" | "jsonb_populate_record", [base, document])
                if is_null(base) =>
            {
                (document, false)
            }
            ("json_populate_recordset" | "jsonb_populate_recordset", [base, document])
                if is_null(base) =>
            {
                (document, true)
            }
            _ => return None,
        };
        Some(Self::Records { document: document.0.clone(), is_set: document.1 })
    }

    /// Returns the function that gives the rows of an array or an object; `None` for one object.
    fn set(&self) -> Option<SetFunction> {
        match self {
            Self::Set(set, _) => Some(*set),
            Self::Path(_) => SetFunction::named("jsonb_array_elements"),
            Self::Records { document, is_set: true } => elements_of(document),
            Self::Records { .. } => None,
        }
    }
}

impl Lowering<'_> {
    /// Lowers functions in FROM, for each row of a plan; `None` if one of them is another function.
    pub(in crate::lowering) fn document_rows(
        &mut self,
        input: LogicalPlan,
        (calls, ordinality): (&[TableCall], Option<ColumnId>),
        keeps_rows: bool,
    ) -> Result<Option<LogicalPlan>> {
        let Some(rows) = calls.iter().map(|call| Rows::of(&call.call)).collect::<Option<Vec<_>>>()
        else {
            return Ok(None);
        };
        let [first, ..] = rows.as_slice() else { return Ok(None) };
        if let Rows::Records { document, is_set: false } = first {
            if calls.len() > 1 || ordinality.is_some() || keeps_rows {
                return missing("a record next to other rows");
            }
            let document = self.scalar(document, input.schema())?;
            return self.records(input, document, &calls[0]).map(Some);
        }
        let mut lists = Vec::with_capacity(calls.len());
        for (place, rows) in rows.iter().enumerate() {
            let Some(set) = rows.set() else { return missing("a record next to other rows") };
            let document = self.set_document(rows, &input)?;
            lists.push((format!("set{place}"), set_of(set, document.expr, keeps_rows), set));
        }
        if ordinality.is_some() && calls.len() > 1 {
            return missing("ORDINALITY of several functions");
        }
        let before = input.schema().columns();
        let mut plan = unnested(input, &lists, (ordinality.is_some(), keeps_rows))?;
        let mut items = before.iter().cloned().map(Expr::Column).collect::<Vec<_>>();
        for ((name, _, set), (call, rows)) in lists.iter().zip(calls.iter().zip(&rows)) {
            let value = Expr::Column(Column::new_unqualified(name));
            if matches!(rows, Rows::Records { .. }) {
                let document = Typed::new(value, set.fields().swap_remove(0).1);
                items.extend(self.record_columns(document, call)?);
                continue;
            }
            for ((field, of), (id, _)) in set.fields().into_iter().zip(&call.columns) {
                let value = match field {
                    "" => value.clone(),
                    field => get_field(value.clone(), field),
                };
                items.push(value.alias(column_name(*id)));
                self.make(*id, of);
            }
        }
        if let Some(id) = ordinality {
            let number = Expr::Column(Column::new_unqualified(ORDINALS));
            items.push(number.alias(column_name(id)));
            self.make(id, DataType::Int64);
        }
        plan = LogicalPlanBuilder::from(plan).project(items)?.build()?;
        Ok(Some(plan))
    }

    /// Lowers a join with functions of the rows before them; `None` for other joins.
    pub(in crate::lowering) fn lateral_rows(&mut self, join: &Join) -> Result<Option<LogicalPlan>> {
        let Relational::TableFunctions { calls, ordinality } = &join.right else {
            return Ok(None);
        };
        let is_always = |condition: &Scalar| {
            matches!(condition.kind, ScalarKind::Constant(Constant::Boolean(true)))
        };
        let is_known = calls.iter().all(|call| Rows::of(&call.call).is_some());
        let keeps_rows = join.kind == JoinKind::Left;
        if !is_known || !matches!(join.kind, JoinKind::Inner | JoinKind::Left) {
            return Ok(None);
        }
        if keeps_rows && !join.condition.as_ref().is_none_or(is_always) {
            return missing("a condition of a left join with rows of a document");
        }
        let left = self.relational(&join.left)?;
        let Some(rows) = self.document_rows(left, (calls, *ordinality), keeps_rows)? else {
            return Ok(None);
        };
        match &join.condition {
            Some(condition) if !keeps_rows => {
                let condition = self.condition(condition, rows.schema())?;
                filtered(rows, condition).map(Some)
            }
            _ => Ok(Some(rows)),
        }
    }

    /// Lowers functions that return sets in a select list.
    pub(in crate::lowering) fn project_documents(
        &mut self,
        input: LogicalPlan,
        calls: &[SetCall],
    ) -> Result<LogicalPlan> {
        if calls.iter().all(|call| is_listed_set(&call.call)) {
            return self.project_arrays(input, calls);
        }
        let mut lists = Vec::with_capacity(calls.len());
        for (place, call) in calls.iter().enumerate() {
            let rows = Rows::of(&call.call).filter(|rows| !matches!(rows, Rows::Records { .. }));
            let Some(rows) = rows else { return missing("a set in a select list") };
            let Some(set) = rows.set() else { return missing("a set in a select list") };
            if set.fields().len() > 1 {
                return missing("a set of rows in a select list");
            }
            let document = self.set_document(&rows, &input)?;
            lists.push((format!("set{place}"), set_of(set, document.expr, false), set));
        }
        let mut items = input.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
        let plan = unnested(input, &lists, (false, false))?;
        for ((name, _, set), call) in lists.iter().zip(calls) {
            let value = Expr::Column(Column::new_unqualified(name));
            items.push(value.alias(column_name(call.id)));
            self.make(call.id, set.fields().swap_remove(0).1);
        }
        Ok(LogicalPlanBuilder::from(plan).project(items)?.build()?)
    }

    /// Lowers the document whose rows a call gives.
    fn set_document(&mut self, rows: &Rows, input: &LogicalPlan) -> Result<Typed> {
        match rows {
            Rows::Set(_, document) | Rows::Records { document, .. } => {
                self.scalar(document, input.schema())
            }
            Rows::Path(arguments) => {
                let arguments = arguments.iter().collect::<Vec<_>>();
                let (name, result) = ("jsonb_path_query_array", constants::JSONB.plain());
                self.document_call(name, &arguments, result, input.schema())
            }
        }
    }

    /// Adds the fields of one object to each row.
    fn records(
        &mut self,
        input: LogicalPlan,
        document: Typed,
        call: &TableCall,
    ) -> Result<LogicalPlan> {
        let mut items = input.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
        items.extend(self.record_columns(document, call)?);
        Ok(LogicalPlanBuilder::from(input).project(items)?.build()?)
    }

    /// Returns the fields of an object as columns.
    fn record_columns(&mut self, document: Typed, call: &TableCall) -> Result<Vec<Expr>> {
        let mut columns = Vec::with_capacity(call.columns.len());
        for ((id, data_type), name) in call.columns.iter().zip(&call.names) {
            let is_array = data_type.id.is_array;
            let kernel = match document_kind(data_type.id) {
                Some(_) => "json_member",
                None if is_array => "json_object_field",
                None => "json_object_field_text",
            };
            let name = lit(name.as_str());
            let mut value = self.kernel_call(kernel, vec![document.expr.clone(), name.clone()])?;
            if is_array {
                value = self.kernel_call("gadus_json_array_text", vec![value, name])?;
            }
            let value = record_field(Typed::new(value, DataType::Utf8View), *data_type)?;
            columns.push(value.expr.alias(column_name(*id)));
            self.make(*id, value.data_type);
        }
        Ok(columns)
    }
}

/// Name of the column of numbers of rows.
const ORDINALS: &str = "ordinals";

/// Returns the function that gives the elements of an array of this type.
fn elements_of(document: &Scalar) -> Option<SetFunction> {
    SetFunction::named(match document.data_type.id {
        constants::JSON => "json_array_elements",
        constants::JSONB => "jsonb_array_elements",
        _ => return None,
    })
}

/// Adds lists to rows, and makes rows of their elements.
fn unnested(
    input: LogicalPlan,
    lists: &[(String, Expr, SetFunction)],
    (is_numbered, keeps_rows): (bool, bool),
) -> Result<LogicalPlan> {
    let mut items = input.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
    let mut names = Vec::with_capacity(lists.len() + 1);
    for (name, list, _) in lists {
        items.push(list.clone().alias(name));
        names.push(Column::new_unqualified(name));
    }
    if let (true, Some((_, list, _))) = (is_numbered, lists.first()) {
        items.push(ordinals(list.clone()).alias(ORDINALS));
        names.push(Column::new_unqualified(ORDINALS));
    }
    let options = UnnestOptions::new().with_preserve_nulls(keeps_rows);
    let plan = LogicalPlanBuilder::from(input).project(items)?;
    Ok(plan.unnest_columns_with_options(names, options)?.build()?)
}

/// Reads a field of an object, which is a text, as a value of a type.
fn record_field(text: Typed, data_type: SqlType) -> Result<Typed> {
    if data_type.modifier != Modifier::None {
        return missing(format!("a field of type {data_type} of a document"));
    }
    if data_type.id.is_array {
        return read_array(text, data_type);
    }
    if document_kind(data_type.id).is_some() {
        let cast = super::document_cast(&text, constants::TEXT.plain(), data_type)?;
        return cast.map_or_else(|| missing("a document"), Ok);
    }
    match data_type.id.base {
        BaseType::Text | BaseType::Varchar => Ok(text),
        BaseType::Numeric => converted(text, crate::numerics::NUMERIC, false),
        _ => converted(text, lowered_type(data_type)?, false),
    }
}

//! Casts of texts to lists, structures and maps, and keys of maps.

use super::assign_nested;
use crate::error::to_datafusion;
use crate::json::as_json;
use crate::one_value::of_one_value;
use crate::value::is_text;
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use gadus_engine::{ColumnType, Nested};
use std::sync::Arc;

/// A cast of texts to what is made of others, where DataFusion would make a list of the one text, or of structures and
/// maps to texts, which it does not know, as a function. It is for behind type coercion, which says what is cast.
pub(crate) fn called(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::Cast(Cast { expr: inner, field }) = &mut expr else {
        return Ok(Transformed::no(expr));
    };
    let (from, to) = (inner.get_type(schema)?, field.data_type());
    if is_text(to) && matches!(from, DataType::Struct(_) | DataType::Map(..)) {
        // The cast stays, from one kind of texts to another.
        **inner = as_json(std::mem::take(&mut **inner));
        return Ok(Transformed::yes(expr));
    }
    let Some(ColumnType::Nested(to)) = ColumnType::from_arrow(to).filter(|_| is_text(&from)) else {
        return Ok(Transformed::no(expr));
    };
    let signature = Signature::any(1, Volatility::Immutable);
    let function = Arc::new(ScalarUDF::from(AsNested { to, signature }));
    let called = ScalarFunction::new_udf(function, vec![std::mem::take(&mut **inner)]);
    // The cast stays, where the parts are of another kind of the same types.
    **inner = Expr::ScalarFunction(called);
    Ok(Transformed::yes(expr))
}

/// What texts that are lists, structures or maps mean.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AsNested {
    to: &'static Nested,
    signature: Signature,
}

impl ScalarUDFImpl for AsNested {
    fn name(&self) -> &'static str {
        "as_nested"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(ColumnType::Nested(self.to).arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let assign = |array: &ArrayRef| assign_nested(array, self.to).map_err(to_datafusion);
        of_one_value(&args, assign)
    }
}

/// An expression in which keys that are looked for in maps are of the type of the keys there, as DataFusion wants them.
pub(crate) fn keys(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = &mut expr else {
        return Ok(Transformed::no(expr));
    };
    if !matches!(func.name(), "get_field" | "map_extract") {
        return Ok(Transformed::no(expr));
    }
    let mut arguments = args.iter_mut();
    // What has no type yet is somebody else's business.
    let Some(Ok(mut within)) = arguments.next().map(|first| first.get_type(schema)) else {
        return Ok(Transformed::no(expr));
    };
    let mut changed = false;
    for key in arguments {
        let Expr::Literal(literal, _) = key else { break };
        let part = match &within {
            DataType::Map(entries, _) => {
                let DataType::Struct(fields) = entries.data_type() else { break };
                let [wanted, value] = &**fields else { break };
                if literal.data_type() != *wanted.data_type() {
                    *literal = literal.cast_to(wanted.data_type())?;
                    changed = true;
                }
                Some(value)
            }
            DataType::Struct(fields) => {
                let name = literal.try_as_str().flatten();
                fields.iter().find(|field: &&Arc<Field>| Some(field.name().as_str()) == name)
            }
            _ => None,
        };
        let Some(part) = part else { break };
        within = part.data_type().clone();
    }
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

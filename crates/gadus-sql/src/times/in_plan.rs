//! Functions and operators of plans of texts: what depends on the session's zone, and what DataFusion does otherwise.
//!
//! - The planner of texts knows these functions by the types of their arguments; a rule after type coercion replaces
//!   DataFusion's by those here if the session's zone is not UTC, where both agree.

use super::functions::{call, find};
use super::items::Kind;
use super::kernel::{Entry, evaluated};
use crate::executor::statement_times;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility, cast,
};
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Statement, Value as SqlValue, VisitMut, VisitorMut,
};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Functions with an argument that is a point in time, of which DataFusion's are those of UTC.
const ZONED: &[&str] = &["age", "date_part", "date_trunc"];

/// Returns true if the session's zone is UTC.
pub(super) fn is_in_utc() -> bool {
    statement_times().settings.time_zone.name() == "UTC"
}

/// Returns an operator or a function of points in time as one in the zone of the session. It is for after type coercion.
pub(crate) fn zoned_in_plan(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if is_in_utc() {
        return Ok(Transformed::no(expr));
    }
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let kinds = (kind(&left, schema), kind(&right, schema));
            let is_called = matches!(
                (op, kinds),
                (Operator::Plus | Operator::Minus, (Some(Kind::TimestampTz), Some(Kind::Interval)))
                    | (Operator::Plus, (Some(Kind::Interval), Some(Kind::TimestampTz)))
            );
            if !is_called {
                return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
            }
            let whole =
                Expr::BinaryExpr(BinaryExpr { left: left.clone(), op, right: right.clone() });
            let wanted = whole.get_type(schema)?;
            let name = if op == Operator::Plus { "+" } else { "-" };
            let sum = call(name, vec![*left, *right], &Kind::TimestampTz.arrow());
            Ok(Transformed::yes(as_type(sum.unwrap_or(whole), &Kind::TimestampTz.arrow(), wanted)))
        }
        Expr::ScalarFunction(function)
            if ZONED.contains(&function.func.name())
                && function.args.iter().any(|of| kind(of, schema) == Some(Kind::TimestampTz)) =>
        {
            let whole = Expr::ScalarFunction(function.clone());
            let wanted = whole.get_type(schema)?;
            let given = match function.func.name() {
                "age" => Kind::Interval,
                "date_part" => Kind::Float,
                _ => Kind::TimestampTz,
            };
            let zoned = call(function.func.name(), function.args, &given.arrow());
            Ok(Transformed::yes(as_type(zoned.unwrap_or(whole), &given.arrow(), wanted)))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn kind(expr: &Expr, schema: &DFSchema) -> Option<Kind> {
    Kind::of(&expr.get_type(schema).ok()?)
}

fn as_type(expr: Expr, given: &DataType, wanted: DataType) -> Expr {
    if *given == wanted { expr } else { cast(expr, wanted) }
}

/// Replaces AT TIME ZONE by the function that it stands for: DataFusion makes a cast of it.
pub(crate) fn respell(statement: &mut Statement) {
    let _: ControlFlow<()> = statement.visit(&mut AtTimeZone);
}

struct AtTimeZone;

impl VisitorMut for AtTimeZone {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut SqlExpr) -> ControlFlow<()> {
        if let SqlExpr::AtTimeZone { timestamp, time_zone } = expr {
            let mut arguments = Vec::with_capacity(2);
            for argument in [time_zone, timestamp] {
                let argument = std::mem::replace(&mut **argument, SqlExpr::value(SqlValue::Null));
                arguments.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)));
            }
            let list = FunctionArgumentList {
                duplicate_treatment: None,
                args: arguments,
                clauses: Vec::new(),
            };
            *expr = SqlExpr::Function(Function {
                name: ObjectName::from(vec![Ident::new("timezone")]),
                uses_odbc_syntax: false,
                parameters: FunctionArguments::None,
                args: FunctionArguments::List(list),
                filter: None,
                null_treatment: None,
                over: None,
                within_group: Vec::new(),
            });
        }
        ControlFlow::Continue(())
    }
}

/// Function of the planner of texts, whose result follows from its arguments.
#[derive(Debug)]
struct PlanFunction {
    entry: &'static Entry,
    aliases: Vec<String>,
    signature: Signature,
    result: fn(&[DataType]) -> Option<Kind>,
}

/// Returns the functions that the planner of texts calls by name.
pub(crate) fn plan_functions() -> Vec<Arc<ScalarUDF>> {
    let nullary = || Signature::nullary(Volatility::Stable);
    let of = |name, aliases: &[&str], signature, result| {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let entry = find(name, 0)?;
        let function = PlanFunction { entry, aliases, signature, result };
        Some(Arc::new(ScalarUDF::from(function)))
    };
    let functions = [
        of("now", &["current_timestamp", "transaction_timestamp"], nullary(), |_| {
            Some(Kind::TimestampTz)
        }),
        of("current_date", &["today"], nullary(), |_| Some(Kind::Date)),
        of("localtimestamp", &[], nullary(), |_| Some(Kind::Timestamp)),
        of("statement_timestamp", &[], nullary(), |_| Some(Kind::TimestampTz)),
        of("clock_timestamp", &[], Signature::nullary(Volatility::Volatile), |_| {
            Some(Kind::TimestampTz)
        }),
        of("timezone", &[], Signature::any(2, Volatility::Immutable), |types| {
            match Kind::of(types.get(1)?)? {
                Kind::Timestamp => Some(Kind::TimestampTz),
                Kind::TimestampTz => Some(Kind::Timestamp),
                _ => None,
            }
        }),
    ];
    functions.into_iter().flatten().collect()
}

impl PartialEq for PlanFunction {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name
    }
}

impl Eq for PlanFunction {}

impl Hash for PlanFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entry.name.hash(state);
    }
}

impl ScalarUDFImpl for PlanFunction {
    fn name(&self) -> &str {
        self.entry.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match (self.result)(types) {
            Some(kind) => Ok(kind.arrow()),
            None => plan_err!("there is no function {} of these types", self.entry.name),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types = args.arg_fields.iter().map(|field| field.data_type().clone());
        match (self.result)(&types.collect::<Vec<_>>()) {
            Some(kind) => evaluated(self.entry, &args, kind),
            None => plan_err!("there is no function {} of these types", self.entry.name),
        }
    }
}

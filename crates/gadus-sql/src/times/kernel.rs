//! Functions as DataFusion calls them.

use super::columns::{TimeColumn, Written};
use super::items::{Item, Kind};
use super::{StatementTimes, of_times};
use crate::executor::{check_cancelled, statement_times};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use gadus_times::{Field, Settings, TimesError, ZoneArgument};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Failure of a call.
#[derive(Debug)]
pub(super) enum Fault {
    /// PostgreSQL's error.
    Times(TimesError),
    /// Arguments that the function does not take: an error of the planner.
    Arguments,
}

impl From<TimesError> for Fault {
    fn from(error: TimesError) -> Self {
        Self::Times(error)
    }
}

/// Result of a call; `None` for NULL.
pub(super) type Computed<'a> = std::result::Result<Option<Item<'a>>, Fault>;

/// Computation of one row.
pub(super) type Compute = for<'a> fn(&[Option<Item<'a>>], &mut Context) -> Computed<'a>;

/// Function of a name.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) compute: Compute,
    /// True if the result is NULL for arguments of which one is.
    pub(super) is_strict: bool,
    /// `Stable` if the result depends on the time at which the transaction or the statement began.
    pub(super) volatility: Volatility,
}

impl Entry {
    /// A function that gives NULL for NULL, and does not depend on the time.
    pub(super) const fn strict(name: &'static str, compute: Compute) -> Self {
        Self { name, compute, is_strict: true, volatility: Volatility::Immutable }
    }
}

/// Settings of the statement, and what was read of arguments that often come again.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) times: Arc<StatementTimes>,
    field: Option<(String, Field)>,
    zone: Option<(String, ZoneArgument)>,
}

impl Context {
    pub(super) fn new() -> Self {
        Self { times: statement_times(), field: None, zone: None }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.times.settings
    }

    /// Returns the field of a name.
    pub(super) fn field(&mut self, name: &str) -> Field {
        match &self.field {
            Some((known, field)) if known == name => field.clone(),
            _ => {
                let field = Field::new(name);
                self.field = Some((name.to_owned(), field.clone()));
                field
            }
        }
    }

    /// Returns the time zone of a text.
    pub(super) fn zone(&mut self, text: &str) -> std::result::Result<ZoneArgument, TimesError> {
        match &self.zone {
            Some((known, zone)) if known == text => Ok(zone.clone()),
            _ => {
                let zone = ZoneArgument::parse(text)?;
                self.zone = Some((text.to_owned(), zone.clone()));
                Ok(zone)
            }
        }
    }
}

/// Function with the type of its results.
#[derive(Debug)]
struct Kernel {
    entry: &'static Entry,
    result: Kind,
    signature: Signature,
}

/// Returns a call of a function.
pub(super) fn call_of(entry: &'static Entry, arguments: Vec<Expr>, result: Kind) -> Expr {
    if let Some(value) = constant(entry, &arguments, result) {
        return lit(value);
    }
    let volatility = entry.volatility;
    let signature = match arguments.len() {
        0 => Signature::nullary(volatility),
        count => Signature::any(count, volatility),
    };
    let function = ScalarUDF::from(Kernel { entry, result, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), arguments))
}

/// Returns the result of a call of literals; `None` if it fails, or depends on the time.
fn constant(entry: &Entry, arguments: &[Expr], result: Kind) -> Option<ScalarValue> {
    if entry.volatility != Volatility::Immutable {
        return None;
    }
    let column = |argument: &Expr| match argument {
        Expr::Literal(value, _) => Some((TimeColumn::of(&value.to_array().ok()?).ok()?, true)),
        _ => None,
    };
    let columns = arguments.iter().map(column).collect::<Option<Vec<_>>>()?;
    let array = computed(entry, &columns, 1, result).ok()?;
    ScalarValue::try_from_array(&array, 0).ok()
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name
            && self.result == other.result
            && self.signature == other.signature
    }
}

impl Eq for Kernel {}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entry.name.hash(state);
        self.result.hash(state);
    }
}

impl ScalarUDFImpl for Kernel {
    fn name(&self) -> &str {
        self.entry.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        evaluated(self.entry, &args, self.result)
    }
}

/// Evaluates a call, of arrays or of single values.
pub(super) fn evaluated(
    entry: &Entry,
    args: &ScalarFunctionArgs,
    result: Kind,
) -> Result<ColumnarValue> {
    let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
    let rows = if is_one { 1 } else { args.number_rows };
    let columns = args.args.iter().map(|value| match value {
        ColumnarValue::Array(array) => Ok((TimeColumn::of(array)?, false)),
        ColumnarValue::Scalar(scalar) => Ok((TimeColumn::of(&scalar.to_array()?)?, true)),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let results = computed(entry, &columns, rows, result)?;
    Ok(match is_one {
        true => ColumnarValue::Scalar(ScalarValue::try_from_array(&results, 0)?),
        false => ColumnarValue::Array(results),
    })
}

/// Rows between looks at cancellation.
const ROWS_BETWEEN_LOOKS: usize = 1_024;

/// Computes all rows of columns, of which some are single values.
fn computed(
    entry: &Entry,
    columns: &[(TimeColumn, bool)],
    rows: usize,
    result: Kind,
) -> Result<ArrayRef> {
    let (mut context, mut written) = (Context::new(), Written::new(result, rows));
    let mut items = Vec::with_capacity(columns.len());
    for row in 0..rows {
        if row % ROWS_BETWEEN_LOOKS == 0 {
            check_cancelled()?;
        }
        items.clear();
        let mut is_null = false;
        for (column, is_one) in columns {
            let item = column.get(if *is_one { 0 } else { row })?;
            is_null |= item.is_none();
            items.push(item);
        }
        if is_null && entry.is_strict {
            written.push_null();
            continue;
        }
        match (entry.compute)(&items, &mut context) {
            Ok(Some(item)) => written.push(item)?,
            Ok(None) => written.push_null(),
            Err(Fault::Times(error)) => return Err(of_times(error)),
            Err(Fault::Arguments) => return internal_err!("{}{items:?}", entry.name),
        }
    }
    Ok(written.finish())
}

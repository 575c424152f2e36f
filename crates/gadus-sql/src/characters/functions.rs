//! Functions of one text that casts to and from character types become.

use super::{assigned, cut, shown};
use crate::error::to_datafusion;
use crate::one_value::of_one_value;
use arrow::array::{ArrayRef, AsArray, StringViewArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use gadus_engine::{Characters, ColumnType};
use std::sync::Arc;

/// Change of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    /// Explicit cast.
    Cut(Characters),
    /// Assignment, which refuses what is too long.
    Assigned(Characters),
    /// Stored value as a text that looks like it.
    Shown(Characters),
    /// Text without blanks at its end.
    Trimmed,
    /// Value of a type as it is.
    Typed(Option<Characters>),
}

/// Name of the function that makes a value of a character type a text.
pub(super) const TEXT: &str = "text_of_characters";

/// Returns the function that makes a value of a character type a text, for all sessions.
pub(crate) fn character_functions() -> [Arc<ScalarUDF>; 1] {
    let signature = Signature::any(1, Volatility::Immutable);
    [Arc::new(ScalarUDF::from(Changed { change: Change::Typed(None), signature }))]
}

/// Returns a text that is changed.
pub(crate) fn changed(text: Expr, change: Change) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = Arc::new(ScalarUDF::from(Changed { change, signature }));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![text]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Changed {
    change: Change,
    signature: Signature,
}

impl ScalarUDFImpl for Changed {
    fn name(&self) -> &'static str {
        match self.change {
            Change::Cut(_) => "cast_to_characters",
            Change::Assigned(_) => "assigned_characters",
            Change::Shown(_) => "shown_characters",
            Change::Trimmed => "trimmed_characters",
            Change::Typed(None) => TEXT,
            Change::Typed(Some(_)) => "typed_characters",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(match self.change {
            Change::Cut(of) | Change::Assigned(of) | Change::Typed(Some(of)) => {
                ColumnType::Characters(of).field(self.name(), true)
            }
            Change::Shown(_) | Change::Trimmed | Change::Typed(None) => {
                Field::new(self.name(), DataType::Utf8View, true)
            }
        }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |texts| {
            match self.change {
                Change::Cut(of) => cut(texts, of),
                Change::Assigned(of) => assigned(texts, of),
                Change::Shown(of) => shown(texts, of),
                Change::Trimmed => trimmed(texts),
                Change::Typed(_) => {
                    arrow::compute::cast(texts, &DataType::Utf8View).map_err(Into::into)
                }
            }
            .map_err(to_datafusion)
        })
    }
}

fn trimmed(texts: &ArrayRef) -> gadus_engine::Result<ArrayRef> {
    let texts = arrow::compute::cast(texts, &DataType::Utf8View)?;
    let trim = |text: Option<&str>| text.map(|text| text.trim_end_matches(' ').to_owned());
    let trimmed = texts.as_string_view().iter().map(trim).collect::<StringViewArray>();
    Ok(Arc::new(trimmed))
}

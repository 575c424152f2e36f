//! `date_trunc` of intervals, which DataFusion's function has not.

use super::functions::What;
use super::is_interval;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::common::types::logical_string;
use datafusion::functions::datetime;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    Coercion, ColumnarValue, Documentation, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, TypeSignature, TypeSignatureClass,
};
use gadus_engine::INTERVAL;
use std::sync::Arc;

/// The function, to be registered in the place of DataFusion's, which does what is asked of points in time.
pub(crate) fn date_trunc() -> Arc<ScalarUDF> {
    let others = datetime::date_trunc();
    let signature = others.signature();
    let name = Coercion::new_exact(TypeSignatureClass::Native(logical_string()));
    let interval = Coercion::new_exact(TypeSignatureClass::Interval);
    let of_intervals = TypeSignature::Coercible(vec![name, interval]);
    let both = vec![signature.type_signature.clone(), of_intervals];
    let signature = Signature::one_of(both, signature.volatility);
    Arc::new(ScalarUDF::from(Truncated { others, signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Truncated {
    others: Arc<ScalarUDF>,
    signature: Signature,
}

impl ScalarUDFImpl for Truncated {
    fn name(&self) -> &str {
        self.others.name()
    }

    fn aliases(&self) -> &[String] {
        self.others.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [_, DataType::Interval(_)] => Ok(INTERVAL),
            _ => self.others.return_type(arguments),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        match args.arg_fields {
            [_, value] if is_interval(value.data_type()) => {
                Ok(Arc::new(Field::new(self.name(), INTERVAL, true)))
            }
            _ => self.others.return_field_from_args(args),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [_, value] if is_interval(&value.data_type()) => {
                What::Truncate.of_columns(&args.args, args.number_rows)
            }
            _ => self.others.invoke_with_args(args),
        }
    }

    fn output_ordering(&self, input: &[ExprProperties]) -> Result<SortProperties> {
        self.others.output_ordering(input)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.others.documentation()
    }
}

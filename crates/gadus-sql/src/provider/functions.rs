//! Functions without arguments that say where a client is.

use crate::session::POSTGRES_VERSION;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use std::sync::Arc;

/// The functions, for all sessions.
pub(crate) fn place_functions() -> Vec<Arc<ScalarUDF>> {
    let version = env!("CARGO_PKG_VERSION");
    // What clients take the first number of is PostgreSQL's.
    let version = format!("PostgreSQL {POSTGRES_VERSION} (Gadus {version})");
    let texts = [
        ("version", version),
        ("current_database", super::catalog::CATALOG.to_owned()),
        ("current_catalog", super::catalog::CATALOG.to_owned()),
        ("current_schema", super::catalog::MAIN_SCHEMA.to_owned()),
    ];
    texts.map(|(name, text)| Arc::new(constant(name, text))).to_vec()
}

fn constant(name: &str, text: String) -> ScalarUDF {
    let value = ColumnarValue::Scalar(ScalarValue::Utf8(Some(text)));
    let function = Arc::new(move |_: &[ColumnarValue]| Ok(value.clone()));
    create_udf(name, Vec::new(), DataType::Utf8, Volatility::Immutable, function)
}

//! Expressions of one row, as tables keep them.

use super::types::sql_type;
use arrow::datatypes::Schema;
use gadus_binder::types::TypeId;
use gadus_binder::{BoundStatement, Provider, Relation, RelationColumn, Result, bind_query};
use gadus_engine::ColumnType;
use gadus_syntax::ast::Statement;
use gadus_syntax::parse_statement;
use std::sync::Arc;

/// Relation of the one row.
const ROW: &str = "row";

/// Catalog of one relation.
#[derive(Debug)]
struct RowCatalog(Arc<Relation>);

impl Provider for RowCatalog {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<Relation>>> {
        Ok((schema.is_none() && name == ROW).then(|| self.0.clone()))
    }

    fn type_named(&self, _schema: Option<&str>, _name: &str) -> Result<Option<TypeId>> {
        Ok(None)
    }

    fn type_name(&self, _id: TypeId) -> Option<String> {
        None
    }

    fn fields(&self, _id: TypeId) -> Option<Arc<[RelationColumn]>> {
        None
    }
}

/// Binds an expression over the columns of a row as the only item of a query; `None` if the binder does not accept it, or
/// does not know a column's type.
pub(crate) fn bound_row_expression(shape: &Schema, expression: &str) -> Option<BoundStatement> {
    let column = |field: &Arc<arrow::datatypes::Field>| {
        let data_type = sql_type(ColumnType::from_field(field)?)?;
        Some(RelationColumn { name: field.name().clone(), data_type })
    };
    let relation = Relation {
        name: ROW.to_owned(),
        columns: shape.fields().iter().map(column).collect::<Option<_>>()?,
        ..Relation::default()
    };
    let text = format!("SELECT ({expression}) FROM \"{ROW}\"");
    let Statement::Query(query) = parse_statement(&text).ok()?.statement else { return None };
    bind_query(&RowCatalog(Arc::new(relation)), &query, &[]).ok()
}

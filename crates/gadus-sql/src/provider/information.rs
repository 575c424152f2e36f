//! DataFusion's information schema, and what PostgreSQL's tells besides of the types of columns.

use super::catalog::SnapshotCatalog;
use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::information_schema::InformationSchemaProvider;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{Column, Result};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlanBuilder, ScalarUDF, Volatility, create_udf, lit, when,
};
use gadus_engine::{ColumnType, Snapshot, schema_and_name};
use std::collections::HashMap;
use std::sync::Arc;

/// The schema's name.
pub(super) const INFORMATION_SCHEMA: &str = "information_schema";

/// Its table of columns.
const COLUMNS: &str = "columns";

/// What the standard says of a type that is not built in.
const USER_DEFINED: &str = "USER-DEFINED";

#[derive(Debug)]
pub(super) struct Information {
    tables: InformationSchemaProvider,
    snapshot: Snapshot,
}

impl Information {
    pub(super) fn new(catalog: &SnapshotCatalog) -> Self {
        let snapshot = catalog.snapshot().clone();
        Self { tables: InformationSchemaProvider::new(Arc::new(catalog.clone())), snapshot }
    }

    /// The columns, with the names that their types have in PostgreSQL's catalog.
    fn columns(&self, columns: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>> {
        let scan = LogicalPlanBuilder::scan(COLUMNS, provider_as_source(columns), None)?;
        let column = |name: &str| Expr::Column(Column::from_name(name));
        let named = ["table_schema", "table_name", "column_name"].map(column).to_vec();
        let types = Arc::new(types(&self.snapshot));
        let items = scan.schema().columns().into_iter().map(|item| {
            if item.name != "data_type" {
                return Ok(Expr::Column(item));
            }
            let is_made = of_types(&types, true).call(named.clone()).is_not_null();
            let own = Expr::Column(item);
            Ok(when(is_made, lit(USER_DEFINED)).otherwise(own)?.alias("data_type"))
        });
        let mut items = items.collect::<Result<Vec<_>>>()?;
        items.push(of_types(&types, false).call(named).alias("udt_name"));
        Ok(Arc::new(ViewTable::new(scan.project(items)?.build()?, None)))
    }
}

#[async_trait]
impl SchemaProvider for Information {
    fn table_names(&self) -> Vec<String> {
        self.tables.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = self.tables.table(name).await?;
        match table {
            Some(columns) if name == COLUMNS => self.columns(columns).map(Some),
            other => Ok(other),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.table_exist(name)
    }
}

/// Types by the schema, the table and the column that have them.
type Types = HashMap<[String; 3], ColumnType>;

fn types(snapshot: &Snapshot) -> Types {
    let key = |relation: &str, column: &str| {
        let (schema, name) = schema_and_name(relation);
        [schema.unwrap_or(super::MAIN_SCHEMA), name, column].map(str::to_owned)
    };
    let mut types = Types::new();
    for table in snapshot.tables() {
        let schema = table.schema();
        let columns = schema.columns.iter();
        types.extend(columns.map(|one| (key(&schema.name, &one.name), one.column_type)));
    }
    for view in snapshot.views() {
        let columns = view.columns.iter();
        let of =
            |one: &gadus_engine::ViewColumn| Some((key(&view.name, &one.name), one.column_type?));
        types.extend(columns.filter_map(of));
    }
    types
}

/// What the catalog calls the type of a column, perhaps only where it is not built in.
fn of_types(types: &Arc<Types>, only_made: bool) -> ScalarUDF {
    let types = types.clone();
    let look = move |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let texts = |array: &ArrayRef| datafusion::arrow::compute::cast(array, &DataType::Utf8);
        let arrays = arrays.iter().map(texts).collect::<Result<Vec<_>, _>>()?;
        let rows = arrays.first().map_or(0, |array| array.len());
        let name = |row: usize| {
            let part = |place: usize| arrays[place].as_string::<i32>().value(row).to_owned();
            let of = *types.get(&[part(0), part(1), part(2)])?;
            let is_wanted = !only_made || matches!(of, ColumnType::Enum(_));
            is_wanted.then(|| crate::postgres::type_name(of))
        };
        let names = (0..rows).map(name).collect::<StringArray>();
        Ok(ColumnarValue::Array(Arc::new(names)))
    };
    let name = if only_made { "gadus_made_type" } else { "gadus_type" };
    create_udf(name, vec![DataType::Utf8; 3], DataType::Utf8, Volatility::Stable, Arc::new(look))
}

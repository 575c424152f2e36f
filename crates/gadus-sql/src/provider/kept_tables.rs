//! How tables are kept, as tables of the schema `gadus`: `tables`, `columns`, `functions`, `segments` and `storage`.
//!
//! - As of the statement's snapshot, but for `storage`, which is of the file.
//! - Of values only what their segments' sketches say: they are bounds, which changes since have not made narrower.
//! - How a column of a segment is encoded is read from it, so only where that is asked for.

use super::system::texts;
use crate::error::to_datafusion;
use crate::functions::Function;
use crate::names::written;
use crate::session::is_hidden;
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array, UInt64Array};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{MemTable, Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use gadus_engine::{
    ColumnDescription, ColumnType, Datum, DefinitionKey, Engine, SegmentDescription, Snapshot,
    Table, is_temporary, value_text,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Such a table; none where it is not one of them.
pub(super) fn kept_table(
    snapshot: &Snapshot,
    engine: &Engine,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let batch = match name {
        "tables" => tables(snapshot, &of(snapshot))?,
        "columns" => columns(snapshot, &of(snapshot))?,
        "functions" => functions(snapshot)?,
        "storage" => storage(engine)?,
        "segments" => {
            let schema = segments(&[], false)?.schema();
            return Ok(Some(Arc::new(Segments { snapshot: snapshot.clone(), schema })));
        }
        _ => return Ok(None),
    };
    Ok(Some(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?)))
}

/// The tables that are shown.
fn of(snapshot: &Snapshot) -> Vec<Table> {
    let mut tables = snapshot.tables();
    tables.retain(|table| {
        let name = &table.schema().name;
        !is_hidden(name) && !is_temporary(name)
    });
    tables.sort_by(|one, other| one.schema().name.cmp(&other.schema().name));
    tables
}

fn described(table: &Table, encodings: bool) -> Result<Vec<SegmentDescription>> {
    table.describe_segments(encodings).map_err(to_datafusion)
}

fn counts(counts: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(counts.collect::<UInt64Array>())
}

/// The functions of SQL.
fn functions(snapshot: &Snapshot) -> Result<RecordBatch> {
    let all = crate::functions::all(snapshot);
    let read = all.filter_map(|(_, text)| Some((Function::of_text(text).ok()?, text)));
    let read = read.collect::<Vec<_>>();
    let text =
        |of: &dyn Fn(&Function) -> Option<String>| texts(read.iter().map(|(one, _)| of(one)));
    let comment = |one: &Function| {
        let key = DefinitionKey::CommentOnFunction(one.name.clone());
        snapshot.definition(&key).map(|text| text.to_string())
    };
    let gives_rows = read.iter().map(|(one, _)| Some(one.gives_rows())).collect::<BooleanArray>();
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("function_name", text(&|one| Some(one.name.clone())), false),
        ("parameters", text(&|one| Some(one.arguments())), false),
        ("returns", text(&Function::result), true),
        ("gives_rows", Arc::new(gives_rows) as ArrayRef, false),
        ("definition", texts(read.iter().map(|(_, text)| Some(text.to_string()))), false),
        ("comment", text(&comment), true),
    ])?)
}

fn tables(snapshot: &Snapshot, tables: &[Table]) -> Result<RecordBatch> {
    let all = tables.iter().map(|table| described(table, false)).collect::<Result<Vec<_>>>()?;
    let sum = |of: &dyn Fn(&SegmentDescription) -> u64| {
        counts(all.iter().map(|segments| segments.iter().map(of).sum()))
    };
    let schemas = || tables.iter().map(|table| table.schema());
    let comment = |table: &Table| {
        let key = DefinitionKey::CommentOnRelation(table.id());
        snapshot.definition(&key).map(|text| text.to_string())
    };
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("table_name", texts(schemas().map(|schema| Some(written(&schema.name)))), false),
        ("rows", counts(tables.iter().map(Table::about_rows)), false),
        ("deleted_rows", sum(&|segment| u64::from(segment.rows - segment.live_rows)), false),
        ("waiting_rows", sum(&|segment| u64::from(segment.rows - segment.encoded_rows)), false),
        ("segments", counts(all.iter().map(|segments| segments.len() as u64)), false),
        ("columns", counts(schemas().map(|schema| schema.columns.len() as u64)), false),
        ("indexes", counts(schemas().map(|schema| schema.indexes.len() as u64)), false),
        ("data_bytes", sum(&data_bytes), false),
        ("index_bytes", counts(tables.iter().map(Table::index_bytes)), false),
        ("comment", texts(tables.iter().map(comment)), true),
    ])?)
}

fn data_bytes(segment: &SegmentDescription) -> u64 {
    segment.columns.iter().map(|column| column.bytes).sum()
}

/// A column of a table, over all of its segments.
struct Column<'a> {
    table: &'a Table,
    place: usize,
    segments: &'a [SegmentDescription],
}

impl<'a> Column<'a> {
    /// Its part of each segment that has encoded rows, and how many these are.
    fn parts(&self) -> impl Iterator<Item = (u32, &'a ColumnDescription)> {
        let place = self.place;
        let part = move |segment: &'a SegmentDescription| {
            segment.columns.get(place).map(|part| (segment.encoded_rows, part))
        };
        self.segments.iter().filter_map(part)
    }

    fn column_type(&self) -> ColumnType {
        self.table.schema().columns[self.place].column_type
    }

    fn sum(&self, of: impl Fn(&ColumnDescription) -> u64) -> u64 {
        self.parts().map(|(_, part)| of(part)).sum()
    }

    /// The least lower bound, or the greatest upper one; none where a segment has no bounds but other values, or those
    /// of values that have another order.
    fn bound(&self, which: Ordering) -> Option<String> {
        let mut bound: Option<&Datum> = None;
        if !self.column_type().is_ordered() || self.column_type().has_own_order() {
            return None;
        }
        for (rows, part) in self.parts() {
            match &part.range {
                None if part.nulls == rows => {}
                None => return None,
                Some((least, greatest)) => {
                    let own = if which == Ordering::Less { least } else { greatest };
                    let is_beyond = |bound: &Datum| own.cmp(bound) == which;
                    bound = if bound.is_none_or(is_beyond) { Some(own) } else { bound };
                }
            }
        }
        bound.and_then(|bound| value_text(self.column_type(), bound).ok())
    }
}

fn columns(snapshot: &Snapshot, tables: &[Table]) -> Result<RecordBatch> {
    let all = tables.iter().map(|table| described(table, false)).collect::<Result<Vec<_>>>()?;
    let columns = tables.iter().zip(&all).flat_map(|(table, segments)| {
        let places = 0..table.schema().columns.len();
        places.map(move |place| Column { table, place, segments })
    });
    let columns = columns.collect::<Vec<_>>();
    let definitions = || columns.iter().map(|one| &one.table.schema().columns[one.place]);
    let text = |of: &dyn Fn(&Column<'_>) -> Option<String>| texts(columns.iter().map(of));
    let count = |of: &dyn Fn(&Column<'_>) -> u64| counts(columns.iter().map(of));
    let position = |one: &Column<'_>| one.place as u64 + 1;
    let nullable = definitions().map(|column| Some(column.nullable)).collect::<BooleanArray>();
    let is_key = |one: &Column<'_>| Some(one.table.schema().key.contains(&one.place));
    let is_key = columns.iter().map(is_key).collect::<BooleanArray>();
    let defaults = definitions().map(|column| column.default.as_ref().map(|one| one.0.clone()));
    let generated = definitions().map(|one| one.generated.as_ref().map(|of| of.expression.clone()));
    let comment = |one: &Column<'_>| {
        let id = one.table.schema().columns[one.place].id;
        let key = DefinitionKey::CommentOnColumn(one.table.id(), id);
        snapshot.definition(&key).map(|text| text.to_string())
    };
    let types = definitions().map(|column| Some(column.column_type.to_string()));
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("table_name", text(&|one| Some(written(&one.table.schema().name))), false),
        ("column_name", texts(definitions().map(|column| Some(column.name.clone()))), false),
        ("position", count(&position), false),
        ("data_type", texts(types), false),
        ("nullable", Arc::new(nullable) as ArrayRef, false),
        ("column_default", texts(defaults), true),
        ("in_primary_key", Arc::new(is_key) as ArrayRef, false),
        ("data_bytes", count(&|one| one.sum(|part| part.bytes)), false),
        ("nulls", count(&|one| one.sum(|part| u64::from(part.nulls))), false),
        ("min", text(&|one| one.bound(Ordering::Less)), true),
        ("max", text(&|one| one.bound(Ordering::Greater)), true),
        ("generated", texts(generated), true),
        ("comment", text(&comment), true),
    ])?)
}

/// Of the file, and of its log beside it.
fn storage(engine: &Engine) -> Result<RecordBatch> {
    let store = engine.statistics().store;
    let figures = [
        ("data_file_bytes", store.data_file_bytes),
        ("free_bytes", store.free_bytes),
        ("pending_bytes", store.pending_bytes),
        ("extents", store.extents),
        ("log_file_bytes", store.log_file_bytes),
        ("log_bytes", store.log_bytes),
        ("commits", store.commits),
        ("log_syncs", store.log_syncs),
        ("data_syncs", store.data_syncs),
        ("checkpoints", store.checkpoints),
    ];
    let column = |count: u64| Arc::new(UInt64Array::from(vec![count])) as ArrayRef;
    let columns = figures.map(|(name, figure)| (name, column(figure), false));
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

/// A row for each column of each segment.
#[derive(Debug)]
struct Segments {
    snapshot: Snapshot,
    schema: SchemaRef,
}

#[async_trait]
impl TableProvider for Segments {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let encoding = self.schema.index_of("encoding")?;
        let encodings = projection.is_none_or(|columns| columns.contains(&encoding));
        let batch = segments(&of(&self.snapshot), encodings)?;
        let table = MemTable::try_new(self.schema.clone(), vec![vec![batch]])?;
        table.scan(state, projection, filters, limit).await
    }
}

/// A column of a segment; the segment alone, where nothing of it is encoded yet.
struct Part<'a> {
    table: &'a Table,
    segment: SegmentDescription,
    column: Option<(usize, ColumnDescription)>,
}

fn segments(tables: &[Table], encodings: bool) -> Result<RecordBatch> {
    let mut parts = Vec::new();
    for table in tables {
        for mut segment in described(table, encodings)? {
            let columns = std::mem::take(&mut segment.columns);
            let part = |column| Part { table, segment: segment.clone(), column };
            if columns.is_empty() {
                parts.push(part(None));
            }
            parts.extend(columns.into_iter().enumerate().map(|column| part(Some(column))));
        }
    }
    let text = |of: &dyn Fn(&Part<'_>) -> Option<String>| texts(parts.iter().map(of));
    let number = |of: &dyn Fn(&Part<'_>) -> Option<u32>| -> ArrayRef {
        Arc::new(parts.iter().map(of).collect::<UInt32Array>())
    };
    let column = |part: &Part<'_>| part.column.clone().map(|(_, column)| column);
    let name = |part: &Part<'_>| {
        let (place, _) = part.column.as_ref()?;
        Some(part.table.schema().columns[*place].name.clone())
    };
    let bound = |part: &Part<'_>, is_least: bool| {
        let (place, column) = part.column.as_ref()?;
        let (least, greatest) = column.range.as_ref()?;
        let column_type = part.table.schema().columns[*place].column_type;
        if !column_type.is_ordered() {
            return None;
        }
        value_text(column_type, if is_least { least } else { greatest }).ok()
    };
    let bytes = parts.iter().map(|part| part.column.as_ref().map(|(_, column)| column.bytes));
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("table_name", text(&|part| Some(part.table.schema().name.clone())), false),
        ("segment", number(&|part| Some(part.segment.id.0)), false),
        ("rows", number(&|part| Some(part.segment.live_rows)), false),
        ("deleted_rows", number(&|part| Some(part.segment.rows - part.segment.live_rows)), false),
        (
            "waiting_rows",
            number(&|part| Some(part.segment.rows - part.segment.encoded_rows)),
            false,
        ),
        ("column_name", text(&name), true),
        ("encoding", text(&|part| column(part)?.encoding.map(str::to_owned)), true),
        ("data_bytes", Arc::new(bytes.collect::<UInt64Array>()) as ArrayRef, true),
        ("nulls", number(&|part| Some(column(part)?.nulls)), true),
        ("distinct_most", number(&|part| Some(column(part)?.distinct)), true),
        ("min", text(&|part| bound(part, true)), true),
        ("max", text(&|part| bound(part, false)), true),
    ])?)
}

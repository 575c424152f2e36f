//! ALTER TABLE … ALTER COLUMN, and tables that are written anew.

use super::Session;
use super::alter::{holds_null, quoted};
use super::bound_queries::QueryText;
use super::generated::refuse_generated;
use super::numbering::{Numbering, add_numbering, is_identity, let_go, take_over};
use crate::error::input;
use crate::types::column_type;
use datafusion::sql::sqlparser::ast::{AlterColumnOperation, DataType, Expr};
use gadus_base::TableId;
use gadus_engine::{
    ColumnDefinition, ColumnType, DefaultValue, DefinitionKey, Error, ErrorKind, Reason, Result,
    SequenceShape, TableSchema, Transaction,
};
use std::sync::Arc;

impl Session {
    pub(super) async fn alter_column(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        (place, operation): (usize, &AlterColumnOperation),
    ) -> Result<()> {
        let mut after = TableSchema::clone(schema);
        let column = &mut after.columns[place];
        match operation {
            AlterColumnOperation::SetDefault { .. }
            | AlterColumnOperation::DropDefault
            | AlterColumnOperation::AddGenerated { .. }
                if column.generated.is_some() =>
            {
                return refuse_generated(schema, place, "a default");
            }
            AlterColumnOperation::SetDefault { .. } if column.identity.is_some() => {
                return Err(is_identity(schema, place));
            }
            AlterColumnOperation::SetDefault { value } => {
                let default = DefaultValue(value.to_string());
                let snapshot = transaction.snapshot();
                self.check_default(&snapshot, &default, column.column_type).await?;
                column.default = Some(default);
            }
            AlterColumnOperation::DropDefault if column.identity.is_some() => {
                return Err(is_identity(schema, place));
            }
            AlterColumnOperation::DropDefault => column.default = None,
            AlterColumnOperation::SetNotNull if !column.nullable => return Ok(()),
            AlterColumnOperation::SetNotNull => {
                transaction.keep_rows(schema)?;
                let name = quoted(&column.name);
                let condition = format!("{name} IS NULL");
                if self.has_row(transaction, schema, &condition).await? {
                    return Err(holds_null(schema, &column.name));
                }
                column.nullable = false;
            }
            AlterColumnOperation::DropNotNull if schema.key.contains(&place) => {
                let message = format!("column \"{}\" is in a primary key", column.name);
                return Err(input(message).because(Reason::InvalidDefinition));
            }
            AlterColumnOperation::DropNotNull if column.identity.is_some() => {
                return Err(is_identity(schema, place));
            }
            AlterColumnOperation::DropNotNull => column.nullable = true,
            AlterColumnOperation::SetDataType { data_type, using, .. } => {
                let using = using.as_ref();
                return self.retype(transaction, schema, (place, data_type, using)).await;
            }
            AlterColumnOperation::AddGenerated { generated_as, sequence_options } => {
                let numbering = Numbering::of_column(
                    column,
                    generated_as.as_ref(),
                    sequence_options.as_deref(),
                )?;
                return add_numbering(transaction, schema, (place, numbering)).map(|_| ());
            }
        }
        transaction.alter_table(&after, &[]).map(|_| ())
    }

    async fn retype(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        (place, data_type, using): (usize, &DataType, Option<&Expr>),
    ) -> Result<()> {
        let column = &schema.columns[place];
        let wanted = column_type(data_type)?;
        if wanted == column.column_type && using.is_none() {
            return Ok(());
        }
        refuse_generated(schema, place, "another type")?;
        let snapshot = transaction.snapshot();
        let reads = |used: &gadus_engine::UsedColumn| used.is_used && used.id == column.id;
        let mut readers = snapshot.readers(schema.id).filter_map(|view| view.reads(schema.id));
        if readers.any(|used| used.columns.iter().any(reads)) {
            let message = "cannot alter type of a column used by a view or rule";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let of_others = schema.referenced_by.iter().filter_map(|id| snapshot.table_by_id(*id));
        let mut keys = of_others
            .flat_map(|other| other.schema().references_to(schema.id).cloned().collect::<Vec<_>>());
        if keys.any(|key| key.referenced.contains(&column.id)) {
            let message = "cannot alter type of a column to which a foreign key refers";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let refuse = |what: &str| {
            let message = format!("{what} cannot be cast automatically to type {wanted}");
            Err(input(message).because(Reason::TypeMismatch))
        };
        if using.is_none() && !is_assignable(column.column_type, wanted) {
            return refuse(&format!("column \"{}\"", column.name));
        }
        if column.identity.is_some() && SequenceShape::range_of(wanted).is_none() {
            let message = "identity column type must be smallint, integer, or bigint";
            return Err(input(message).because(Reason::InvalidParameter));
        }
        if let Some(default) = &column.default
            && self.check_default(&snapshot, default, wanted).await.is_err()
        {
            return refuse(&format!("default for column \"{}\"", column.name));
        }
        let mut after = TableSchema::clone(schema);
        // Its values are others: it is another column in the place of the old one.
        after.columns[place].column_type = wanted;
        let (old, new) = (column.id, schema.next_column);
        after.columns[place].id = new;
        let of_checks = after.checks.iter_mut().flat_map(|check| &mut check.columns);
        of_checks.filter(|id| **id == old).for_each(|id| *id = new);
        let of_indexes = after.indexes.iter_mut().flat_map(|index| &mut index.columns);
        of_indexes.filter(|id| **id == old).for_each(|id| *id = new);
        let of_keys = after.foreign_keys.iter_mut().flat_map(|key| &mut key.columns);
        of_keys.filter(|id| **id == old).for_each(|id| *id = new);
        after.next_column += 1;
        let item = |(index, column): (usize, &ColumnDefinition)| match using {
            Some(using) if index == place => format!("({using})"),
            _ => quoted(&column.name),
        };
        let items = schema.columns.iter().enumerate().map(item).collect();
        let comment = comment_of(transaction, (schema.id, old));
        let sequence = let_go(transaction, (schema.id, old))?;
        self.rewrite(transaction, schema, (after, items)).await?;
        let key = DefinitionKey::CommentOnColumn(schema.id, new);
        transaction.define(key, comment.as_deref())?;
        match sequence {
            Some(sequence) => take_over(transaction, &sequence, ((schema.id, new), wanted)),
            None => Ok(()),
        }
    }

    /// Gives a table another shape, and writes its rows anew by these expressions.
    pub(super) async fn rewrite(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        (after, items): (TableSchema, Vec<String>),
    ) -> Result<()> {
        transaction.keep_rows(schema)?;
        let item = |(index, item): (usize, &String)| format!("{item} AS \"gadus.column{index}\"");
        let items = items.iter().enumerate().map(item).collect::<Vec<_>>().join(", ");
        let text = format!("SELECT {items} FROM {}", quoted(&schema.name));
        let prepared = super::parse(&text)?;
        let rows = QueryText {
            text: &text,
            statement: &prepared.statement,
            is_deep: prepared.is_deep,
            snapshot: transaction.snapshot(),
            names: None,
        };
        let stream = self.rows_to_store(rows, &[]).await?;
        transaction.empty_table(schema)?;
        let after = transaction.alter_table(&after, &[])?;
        let columns = (0..after.columns.len()).collect::<Vec<_>>();
        self.insert_stream(transaction, &after, &columns, stream).await.map(|_| ())
    }
}

/// What is said of a column.
fn comment_of(transaction: &Transaction, (table, column): (TableId, u32)) -> Option<Arc<str>> {
    let key = DefinitionKey::CommentOnColumn(table, column);
    transaction.snapshot().definition(&key).cloned()
}

/// Whether values of one type are stored in a column of another without a word about it.
fn is_assignable(from: ColumnType, to: ColumnType) -> bool {
    let is_number = |of: ColumnType| {
        matches!(
            of,
            ColumnType::Int8
                | ColumnType::Int16
                | ColumnType::Int32
                | ColumnType::Int64
                | ColumnType::UInt8
                | ColumnType::UInt16
                | ColumnType::UInt32
                | ColumnType::UInt64
                | ColumnType::Float32
                | ColumnType::Float64
                | ColumnType::Decimal { .. }
                | ColumnType::Numeric(_)
        )
    };
    let is_moment = |of: ColumnType| {
        matches!(of, ColumnType::Date | ColumnType::Timestamp | ColumnType::TimestampUtc)
    };
    let is_document = |of: ColumnType| matches!(of, ColumnType::Json | ColumnType::Jsonb);
    from == to
        || (is_document(from) && is_document(to))
        || matches!(to, ColumnType::Text | ColumnType::Characters(_))
        || (is_number(from) && is_number(to))
        || (is_moment(from) && is_moment(to))
}

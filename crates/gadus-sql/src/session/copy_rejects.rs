//! Records of a CSV file that a COPY leaves out, and the table in which it writes them down.
//!
//! - `ON_ERROR ignore` and `IGNORE_ERRORS` leave out what is not of its column's type, and records with more or fewer
//!   values than there are columns; `REJECTS 'table'` keeps them there as part of the same transaction, and
//!   `STORE_REJECTS` in [`TABLE_USUAL`]. Constraints hold as always.

use super::Session;
use super::copy_words::{CopyWords, Word};
use super::files::{FileFormat, FileSource};
use super::loading::load;
use crate::error::{from_datafusion, input};
use crate::text_files::{Fits, Reject, Rejects};
use crate::value::assign_array;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Schema;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use gadus_engine::{
    BulkWriter, ColumnDefinition, ColumnType, Error, ErrorKind, Reason, Result, TableSchema,
    Transaction,
};
use std::sync::Arc;

/// The table of DuckDB that has them.
const TABLE_USUAL: &str = "reject_errors";

/// Records of which a verbose COPY tells one by one.
const TOLD_MAX: usize = 100;

const COLUMNS: [(&str, ColumnType); 6] = [
    ("file", ColumnType::Text),
    ("line", ColumnType::Int64),
    ("column_name", ColumnType::Text),
    ("error", ColumnType::Text),
    ("message", ColumnType::Text),
    ("text", ColumnType::Text),
];

/// What a COPY does with records that it cannot read; none where they are an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RejectsForm {
    /// Where they are written down.
    table: Option<String>,
    limit: Option<u64>,
    verbosity: Verbosity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Silent,
    Usual,
    Verbose,
}

impl RejectsForm {
    /// Options that say what becomes of them.
    pub(super) const OPTIONS: [&str; 8] = [
        "rejects",
        "rejects_table",
        "store_rejects",
        "ignore_errors",
        "on_error",
        "reject_limit",
        "rejects_limit",
        "log_verbosity",
    ];

    pub(super) fn of(words: &CopyWords) -> Result<Option<Self>> {
        let on_error = words.value("on_error")?;
        let ignores = match on_error.map(|word| word.text.to_ascii_lowercase()).as_deref() {
            Some("ignore") => Some(true),
            Some("stop") => Some(false),
            Some(_) => return Err(input("ON_ERROR of a COPY is ignore or stop")),
            None => None,
        };
        let named = match words.value("rejects")? {
            None => words.value("rejects_table")?,
            named => named,
        };
        let usual = || words.is_set("store_rejects").map(|is| is.then(|| TABLE_USUAL.to_owned()));
        let table = match named {
            Some(named) => Some(name_of(named)?),
            None => usual()?,
        };
        let limit = match words.value("reject_limit")? {
            None => words.value("rejects_limit")?,
            limit => limit,
        };
        let number = |word: &Word| {
            let known = word.text.parse::<u64>().ok().filter(|most| *most > 0);
            known.ok_or_else(|| input("REJECT_LIMIT of a COPY is a number, at least 1"))
        };
        let limit = limit.map(number).transpose()?;
        let verbosity = words.value("log_verbosity")?.map(|word| word.text.to_ascii_lowercase());
        let verbosity = match verbosity.as_deref() {
            None | Some("default") => Verbosity::Usual,
            Some("silent") => Verbosity::Silent,
            Some("verbose") => Verbosity::Verbose,
            Some(_) => return Err(input("LOG_VERBOSITY is default, verbose or silent")),
        };
        let leaves_out = table.is_some() || words.is_set("ignore_errors")?;
        if ignores == Some(false) && leaves_out {
            return Err(input("ON_ERROR stop keeps no record that is wrong: say ON_ERROR ignore"));
        }
        if !leaves_out && ignores != Some(true) {
            return match limit {
                Some(_) => Err(input("REJECT_LIMIT goes with ON_ERROR ignore or REJECTS 'table'")),
                None => Ok(None),
            };
        }
        Ok(Some(Self { table, limit, verbosity }))
    }

    /// Those of a load of columns of these types.
    pub(super) fn begin(&self, types: Vec<ColumnType>) -> Arc<Rejects> {
        let is_kept = self.table.is_some() || self.verbosity == Verbosity::Verbose;
        Arc::new(Rejects::new(self.limit, is_kept, Some(fits(types))))
    }
}

/// Whether what was read of a file is what columns of these types take.
fn fits(types: Vec<ColumnType>) -> Box<Fits> {
    Box::new(move |place: usize, array: &ArrayRef| match types.get(place) {
        Some(column_type) => assign_array(array, *column_type).map(drop),
        None => Ok(()),
    })
}

/// The table of a text or a name.
fn name_of(word: &Word) -> Result<String> {
    let name = word.folded();
    let is_name = !name.is_empty() && !name.contains(['"', '.']);
    is_name.then_some(name).ok_or_else(|| input("REJECTS of a COPY is the name of a table"))
}

/// Writes down what a load leaves out.
pub(super) struct Recorder<'a> {
    form: &'a RejectsForm,
    rejects: Arc<Rejects>,
    path: &'a str,
    bulk: Option<BulkWriter>,
    told: Vec<String>,
}

impl Session {
    /// Inserts the rows of a stream of a file, and writes down what is left out of them.
    pub(super) async fn insert_sifted(
        &self,
        transaction: &mut Transaction,
        to: (&Arc<TableSchema>, &[usize]),
        stream: SendableRecordBatchStream,
        mut recorder: Recorder<'_>,
    ) -> Result<u64> {
        if let (Some(name), Some(bulk)) = (&recorder.form.table, &recorder.bulk)
            && bulk.schema().id == to.0.id
        {
            return Err(input(format!("\"{name}\" is the table that is loaded")));
        }
        let mut bulk = transaction.bulk(to.0)?;
        let snapshot = transaction.snapshot();
        let take = |batch: RecordBatch| {
            recorder.write()?;
            if batch.num_rows() > 0 { load(&mut bulk, &batch) } else { Ok(()) }
        };
        self.whole_rows(&snapshot, to, stream, take).await?;
        drop(snapshot);
        let rows = transaction.finish_bulk(bulk)?;
        *self.notices.lock() = recorder.end(transaction)?;
        Ok(rows)
    }
}

impl Session {
    /// The error of a load with the line, the column and the value that it is about, where it was found behind the
    /// reader, which alone knows them: the file is read again for it.
    pub(super) async fn located(
        &self,
        context: &SessionContext,
        source: &FileSource,
        types: Vec<ColumnType>,
        error: Error,
    ) -> Error {
        let is_of_value = matches!(error.kind(), ErrorKind::Input | ErrorKind::OutOfRange);
        let is_located = error.message().contains(": line ") || source.rejects.is_some();
        if source.format != FileFormat::Csv || !is_of_value || is_located {
            return source.unreadable(&error);
        }
        let rejects = Some(Arc::new(Rejects::new(Some(0), false, Some(fits(types)))));
        let source = FileSource { rejects, ..source.clone() };
        let read_again = async {
            let table = source.open(context, &self.files).await?;
            let frame = context.read_table(table).map_err(from_datafusion)?;
            let mut stream = self.stream_plan_to_write(context, frame.logical_plan()).await?;
            while stream.try_next().await.map_err(from_datafusion)?.is_some() {}
            Ok::<_, Error>(())
        };
        match read_again.await {
            Err(found) if found.reason() == Some(Reason::InvalidText) => {
                let located = Error::new(error.kind(), found.message());
                let located = match error.reason() {
                    Some(reason) => located.because(reason),
                    None => located,
                };
                match error.reason() {
                    Some(reason) => located.because(reason),
                    None => located,
                }
            }
            // It is about none of them alone.
            Ok(()) | Err(_) => source.unreadable(&error),
        }
    }
}

impl<'a> Recorder<'a> {
    /// Begins it; makes the table where it is missing.
    pub(super) fn begin(
        transaction: &mut Transaction,
        form: &'a RejectsForm,
        rejects: Arc<Rejects>,
        path: &'a str,
    ) -> Result<Self> {
        let bulk = match &form.table {
            Some(name) => {
                let schema = table_of(transaction, name)?;
                Some(transaction.bulk(&schema)?)
            }
            None => None,
        };
        Ok(Self { form, rejects, path, bulk, told: Vec::new() })
    }
}

/// The table of a name; made where there is none.
fn table_of(transaction: &mut Transaction, name: &str) -> Result<Arc<TableSchema>> {
    if !transaction.snapshot().has_relation(name) {
        let columns = COLUMNS.map(|(name, column_type)| ColumnDefinition::new(name, column_type));
        return transaction.create_table(&TableSchema::new(name, columns.to_vec(), Vec::new())?);
    }
    let schema = transaction.snapshot().table(name)?.schema().clone();
    let has = schema.columns.iter().map(|column| (column.name.as_str(), column.column_type));
    if has.eq(COLUMNS) {
        return Ok(schema);
    }
    let columns = COLUMNS.map(|(name, column_type)| format!("{name} {column_type}")).join(", ");
    Err(input(format!("table \"{name}\" keeps no rejects: its columns are not {columns}")))
}

impl Recorder<'_> {
    /// Writes down what has come; it is called as often as rows come.
    fn write(&mut self) -> Result<()> {
        let rejects = self.rejects.take();
        if rejects.is_empty() {
            return Ok(());
        }
        if self.form.verbosity == Verbosity::Verbose {
            let room = TOLD_MAX.saturating_sub(self.told.len());
            let told = rejects.iter().take(room).map(|reject| reject.to_error());
            self.told.extend(told.map(|error| format!("left out: {}", error.message())));
        }
        match &mut self.bulk {
            Some(bulk) => bulk.push(&batch_of(bulk.schema(), &rejects)?),
            None => Ok(()),
        }
    }

    /// Ends it; returns what there is to tell.
    fn end(mut self, transaction: &mut Transaction) -> Result<Vec<String>> {
        self.write()?;
        if let Some(bulk) = self.bulk {
            transaction.finish_bulk(bulk)?;
        }
        let count = self.rejects.count();
        if count > 0 && self.form.verbosity != Verbosity::Silent {
            let rows = if count == 1 { "1 row was" } else { &format!("{count} rows were") };
            let kept = match &self.form.table {
                Some(table) => format!(", and written to table \"{table}\""),
                None => String::new(),
            };
            self.told.push(format!("{}: {rows} left out that cannot be read{kept}", self.path));
        }
        Ok(self.told)
    }
}

fn batch_of(schema: &TableSchema, rejects: &[Reject]) -> Result<RecordBatch> {
    let texts = |of: &dyn Fn(&Reject) -> Option<String>| -> ArrayRef {
        Arc::new(rejects.iter().map(of).collect::<StringArray>())
    };
    let line = |reject: &Reject| i64::try_from(reject.line).unwrap_or(i64::MAX);
    let arrays: [ArrayRef; 6] = [
        texts(&|reject| Some(reject.file.to_string())),
        Arc::new(rejects.iter().map(line).collect::<Int64Array>()),
        texts(&|reject| reject.column.clone()),
        texts(&|reject| Some(reject.error.to_owned())),
        texts(&|reject| Some(reject.message.clone())),
        texts(&|reject| Some(reject.text.clone())),
    ];
    let columns = arrays.iter().zip(&schema.columns);
    let arrays = columns.map(|(array, column)| assign_array(array, column.column_type));
    let fields = schema.columns.iter().map(|column| column.column_type.field(&column.name, true));
    let shape = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Ok(RecordBatch::try_new(shape, arrays.collect::<Result<Vec<_>>>()?)?)
}

//! Files as tables: `read_parquet('…')`, `read_csv('…')` and `FROM 'file.parquet'`, with globs.
//!
//! - Each is given a name in the statement's own schema before planning, because reading a file's
//!   schema waits for the disk and planning a table function may not.

use super::reach::{FileAccess, is_glob, kind_of};
use super::sniff::{Dialect, SAMPLE_BYTES, sniffed};
use crate::error::{from_datafusion, input, unsupported};
use crate::partitioned::{ParquetTable, Partitions};
use crate::provider::FILES_SCHEMA;
use crate::text_files::{
    Compression, Rejects, TextFile, TextForm, TextTable, beginning, check_columns, files_beneath,
    files_of,
};
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState as PlannerState;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, Statement, TableAlias, TableFactor,
    TableFunctionArgs, Value as SqlValue, VisitMut, VisitorMut,
};
use gadus_engine::{Error, Reason, Result};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    Parquet,
    Csv,
    Json,
    /// PostgreSQL's text format, which COPY alone reads and writes.
    Text,
}

/// A file, or several by a glob, with how to read it.
#[derive(Debug, Clone)]
pub(super) struct FileSource {
    pub(super) path: String,
    pub(super) format: FileFormat,
    /// Of CSV: whether the first line has names, and what separates values; where nobody says, by how it looks.
    pub(super) header: Option<bool>,
    pub(super) delimiter: Option<u8>,
    /// Of texts: how the files are compressed; where nobody says, by their endings.
    pub(super) compression: Option<Compression>,
    /// Of CSV: where records go that cannot be read; else they are an error.
    pub(super) rejects: Option<Arc<Rejects>>,
    /// Whether the names of the files' folders are columns, `year=2024`; where nobody says, where all have the same.
    pub(super) hive: Option<bool>,
    /// The columns' types where they are known; else they are read from the file.
    pub(super) schema: Option<arrow::datatypes::SchemaRef>,
}

impl FileFormat {
    pub(super) fn named(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "parquet" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "text" => Ok(Self::Text),
            "json" | "jsonl" | "ndjson" => Ok(Self::Json),
            "binary" => Err(unsupported("COPY of a file in BINARY format")),
            _ => {
                let message = format!("COPY format \"{name}\" not recognized");
                let known = "text, csv, json and parquet are";
                Err(input(format!("{message}; {known}")).because(Reason::InvalidParameter))
            }
        }
    }

    /// The format that a path's ending names, behind which may stand that of a compression.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let (compression, plain) = Compression::of_path(path);
        let (_, ending) = plain.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            // Its columns are compressed, not the file.
            "parquet" if compression == Compression::None => Some(Self::Parquet),
            "csv" | "tsv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            _ => None,
        }
    }

    /// How the names of its files end.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Parquet => &[".parquet"],
            Self::Csv => &[".csv", ".tsv"],
            Self::Json => &[".json", ".jsonl", ".ndjson"],
            Self::Text => &[".txt", ".data"],
        }
    }
}

impl FileSource {
    pub(super) fn new(path: &str, format: FileFormat) -> Self {
        let (_, plain) = Compression::of_path(path);
        let delimiter = plain.to_ascii_lowercase().ends_with(".tsv").then_some(b'\t');
        let path = path.to_owned();
        let (header, compression, rejects, hive, schema) = Default::default();
        Self { path, format, header, delimiter, compression, rejects, hive, schema }
    }

    /// The file's rows as a table.
    pub(super) async fn open(
        &self,
        context: &SessionContext,
        access: &FileAccess,
    ) -> Result<Arc<dyn TableProvider>> {
        if self.format != FileFormat::Parquet {
            let files = self.files(access, self.compression)?;
            return Ok(Arc::new(self.texts(files, access)?));
        }
        if self.compression.is_some() {
            return Err(input("a Parquet file says itself how it is compressed"));
        }
        let files = self.files(access, Some(Compression::None))?;
        let partitions = self.partitions(&files, access)?;
        if !partitions.fields.is_empty() || access.granted().is_some() {
            let table = ParquetTable::open(context, &files, partitions).await;
            let table = table.map_err(|error| self.unreadable(&error))?;
            check_columns(&self.path, table.schema().fields().len())?;
            return Ok(Arc::new(table));
        }
        // An ending other than the usual one is read all the same.
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        let ending = match name.rsplit_once('.') {
            Some((_, ending)) => format!(".{ending}"),
            None => self.format.endings()[0].to_owned(),
        };
        let options = ParquetReadOptions::new().file_extension(&ending);
        // Of globs DataFusion knows no folders within folders.
        let paths = files.iter().map(|file| file.path.to_string_lossy().into_owned());
        let paths = paths.collect::<Vec<_>>();
        let frame = context.read_parquet(paths, options).await;
        let frame = frame.map_err(|error| self.unreadable(&from_datafusion(error)))?;
        check_columns(&self.path, frame.schema().fields().len())?;
        Ok(frame.into_view())
    }

    /// The files that the path or glob means, which the session may read.
    pub(super) fn files(
        &self,
        access: &FileAccess,
        compression: Option<Compression>,
    ) -> Result<Vec<TextFile>> {
        access.check()?;
        if let Some(granted) = access.granted() {
            return Ok(files_beneath(granted.folder(), granted.files(&self.path)?, compression));
        }
        if !is_glob(&self.path) {
            // DataFusion takes a missing file for an empty one.
            let metadata = std::fs::metadata(&self.path).map_err(|error| self.failed(&error))?;
            if !metadata.is_file() && !metadata.is_dir() {
                return Err(input(format!("{} is not a file", self.path)));
            }
        }
        files_of(&self.path, self.format.endings(), compression)
    }

    /// What the folders of files say; nothing where the columns are known.
    fn partitions(&self, files: &[TextFile], access: &FileAccess) -> Result<Partitions> {
        let paths = files.iter().map(|file| file.path.as_path());
        let asked = if self.schema.is_some() { Some(false) } else { self.hive };
        Partitions::of(paths, access.granted().map(|granted| granted.folder().path()), asked)
    }

    fn texts(&self, files: Vec<TextFile>, access: &FileAccess) -> Result<TextTable> {
        let form = match self.format {
            FileFormat::Csv => {
                let Dialect { delimiter, header } = self.dialect(&files)?;
                TextForm::Csv { delimiter, header }
            }
            _ => TextForm::Json,
        };
        let partitions = self.partitions(&files, access)?;
        TextTable::new(files, form, self.schema.clone(), self.rejects.clone(), partitions)
    }

    /// As it was said, or as the first of the files looks.
    fn dialect(&self, files: &[TextFile]) -> Result<Dialect> {
        if let (Some(delimiter), Some(header)) = (self.delimiter, self.header) {
            return Ok(Dialect { delimiter, header });
        }
        let begin = |file| beginning(file, SAMPLE_BYTES);
        let sample = files.first().map_or_else(|| Ok(Vec::new()), begin)?;
        let looks = sniffed(&sample, self.delimiter);
        Ok(Dialect { header: self.header.unwrap_or(looks.header), ..looks })
    }

    /// An error of reading that names the file.
    pub(super) fn unreadable(&self, error: &Error) -> Error {
        // What others have locked has nothing to do with the file, and what its texts are names it.
        let is_named = error.message().contains(&self.path) || is_glob(&self.path);
        if is_named || error.blocked().is_some() {
            return error.clone();
        }
        error.clone().about(&self.path)
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        Error::new(kind_of(error), format!("{} cannot be read: {error}", self.path))
    }
}

/// Replaces files in a statement by names in `gadus_files`, and opens them.
pub(super) async fn take_files(
    statement: &mut Statement,
    planner: &PlannerState,
    access: &FileAccess,
) -> Result<HashMap<String, Arc<dyn TableProvider>>> {
    let mut finder = Finder::default();
    let _ = statement.visit(&mut finder);
    if let Some(error) = finder.error {
        return Err(error);
    }
    if !finder.sources.is_empty() {
        access.check()?;
    }
    let mut files = HashMap::new();
    let context = SessionContext::new_with_state(planner.clone());
    for (index, source) in finder.sources.iter().enumerate() {
        files.insert(file_name(index), source.open(&context, access).await?);
    }
    Ok(files)
}

fn file_name(index: usize) -> String {
    format!("file_{}", index + 1)
}

/// Finds files among the tables of a statement.
#[derive(Debug, Default)]
struct Finder {
    sources: Vec<FileSource>,
    error: Option<Error>,
}

impl VisitorMut for Finder {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, args, alias, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let source = match source_of(name, args.as_ref()) {
            Ok(Some(source)) => source,
            Ok(None) => return ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                return ControlFlow::Break(());
            }
        };
        let stem = source.path.rsplit('/').next().and_then(|name| name.split('.').next());
        let shown = stem.filter(|stem| !stem.is_empty() && !stem.contains(['*', '?']));
        alias.get_or_insert_with(|| TableAlias {
            explicit: true,
            name: Ident::with_quote('"', shown.unwrap_or("file")),
            columns: Vec::new(),
            at: None,
        });
        *args = None;
        *name = ObjectName::from(vec![
            Ident::new(FILES_SCHEMA),
            Ident::new(file_name(self.sources.len())),
        ]);
        self.sources.push(source);
        ControlFlow::Continue(())
    }
}

/// The file that a table's name and arguments mean, if they mean one.
fn source_of(name: &ObjectName, args: Option<&TableFunctionArgs>) -> Result<Option<FileSource>> {
    let [part] = name.0.as_slice() else { return Ok(None) };
    let Some(ident) = part.as_ident() else { return Ok(None) };
    let Some(args) = args else {
        if ident.quote_style != Some('\'') {
            return Ok(None);
        }
        let path = &ident.value;
        let format = FileFormat::of_path(path).ok_or_else(|| {
            input(format!("the ending of '{path}' names no format: use read_csv or read_parquet"))
        })?;
        return Ok(Some(FileSource::new(path, format)));
    };
    let format = match ident.value.to_ascii_lowercase().as_str() {
        "read_parquet" | "parquet_scan" => FileFormat::Parquet,
        "read_csv" | "read_csv_auto" => FileFormat::Csv,
        "read_json" | "read_json_auto" => FileFormat::Json,
        _ => return Ok(None),
    };
    let mut source: Option<FileSource> = None;
    for arg in &args.args {
        match (arg, &mut source) {
            (FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value))), None) => {
                let SqlValue::SingleQuotedString(path) = &value.value else {
                    return Err(input(format!("{ident} takes a path in single quotes")));
                };
                source = Some(FileSource::new(path, format));
            }
            (
                FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. }
                | FunctionArg::ExprNamed {
                    name: Expr::Identifier(name),
                    arg: FunctionArgExpr::Expr(value),
                    ..
                },
                Some(source),
            ) => option(source, &name.value, value)?,
            _ => return Err(input(format!("{ident} takes a path, then options as name => value"))),
        }
    }
    source.map(Some).ok_or_else(|| input(format!("{ident} takes a path in single quotes")))
}

fn option(source: &mut FileSource, name: &str, value: &Expr) -> Result<()> {
    let text = value.to_string();
    let text = text.trim_matches('\'');
    match name.to_ascii_lowercase().as_str() {
        "header" => source.header = Some(text.eq_ignore_ascii_case("true")),
        "delim" | "delimiter" | "sep" if text.len() == 1 => {
            source.delimiter = Some(text.as_bytes()[0]);
        }
        "ignore_errors" if source.format == FileFormat::Csv => {
            let leaves_out = text.eq_ignore_ascii_case("true");
            source.rejects = leaves_out.then(|| Arc::new(Rejects::new(None, false, None)));
        }
        "store_rejects" | "rejects_table" => {
            let how = "COPY table FROM 'file' (REJECTS 'table')";
            return Err(unsupported(&format!("{name} of a query: {how} writes them down; it")));
        }
        "hive_partitioning" => source.hive = Some(text.eq_ignore_ascii_case("true")),
        "compression" => source.compression = Compression::named(text)?,
        _ => {
            let known = "header, delimiter, compression, ignore_errors and hive_partitioning are";
            return Err(input(format!("there is no option {name}; {known}")));
        }
    }
    Ok(())
}

//! Form of a file that COPY reads or writes.
//!
//! - FORMAT says it, or else the ending of the file's name; a file whose name says nothing is PostgreSQL's text.
//! - A CSV file has a line of names unless HEADER says otherwise. Values that are NULL, quoted or escaped in other ways
//!   than usual are read and written as lines, as for clients.

use super::super::copy_partitioned::PartitionForm;
use super::super::copy_rejects::RejectsForm;
use super::super::copy_words::CopyWords;
use super::super::files::FileFormat;
use crate::characters::shown_columns;
use crate::copy_text::{CopyForm, CopyFormat, CopyHeader, OPTIONS_OF_LINES};
use crate::error::input;
use crate::file_writer::FileForm;
use crate::intervals::with_texts_of_intervals;
use crate::text_files::Compression;
use crate::uuids::with_texts;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use gadus_engine::Result;

/// Form of a file, and what becomes of rows that cannot be read.
pub(in crate::session) struct FileCopyForm {
    pub(in crate::session) format: FileFormat,
    pub(in crate::session) header: Option<bool>,
    pub(in crate::session) delimiter: Option<u8>,
    /// Form of lines; `None` if the file is read and written as a table.
    pub(super) lines: Option<CopyForm>,
    /// As it is said: of a file of texts, or of the columns of Parquet.
    compression: Option<String>,
    pub(super) rejects: Option<RejectsForm>,
    pub(super) partitions: Option<PartitionForm>,
}

impl FileCopyForm {
    /// Returns the form that the options and the file's name ask for.
    pub(super) fn of(path: &str, words: &CopyWords, to: bool) -> Result<Self> {
        let named = words.value("format")?.map(|word| FileFormat::named(&word.text)).transpose()?;
        let of_path = FileFormat::of_path(path);
        let format = named.or(of_path).unwrap_or(FileFormat::Text);
        let rejects = RejectsForm::of(words)?;
        if let Some(option) = words.said_of(&RejectsForm::OPTIONS)
            && (to || format != FileFormat::Csv)
        {
            let option = option.to_uppercase();
            return Err(input(format!("{option} is for a COPY from a file in CSV format")));
        }
        let partitions = PartitionForm::of(words)?;
        if partitions.is_some() && !to {
            return Err(input("PARTITION_BY is for a COPY to a folder"));
        }
        let compression = words.value("compression")?.map(|word| word.text.clone());
        let mut form = Self {
            format,
            header: None,
            delimiter: None,
            lines: None,
            compression,
            rejects,
            partitions,
        };
        let usual = match format {
            FileFormat::Text => CopyFormat::Text,
            FileFormat::Csv => CopyFormat::Csv,
            FileFormat::Json | FileFormat::Parquet => {
                form.refuse_options_of_lines(words)?;
                return Ok(form);
            }
        };
        let mut lines = CopyForm::of(words, !to, usual)?;
        let is_said = |name: &'static str| words.said_of(&[name]).is_some();
        form.delimiter = is_said("delimiter").then_some(lines.delimiter);
        form.header = is_said("header").then_some(lines.header != CopyHeader::None);
        let is_own = format == FileFormat::Text
            || lines.header == CopyHeader::Match
            || CopyForm::has_own_options(words);
        if is_own {
            if format == FileFormat::Csv && form.header.is_none() {
                lines.header = CopyHeader::Names;
            }
            if form.rejects.is_some() {
                let message = "rows of CSV are left out only with the usual NULL, QUOTE and ESCAPE";
                return Err(crate::error::unsupported(message));
            }
            form.lines = Some(lines);
        }
        Ok(form)
    }

    /// Refuses options of text and CSV for a format that is neither.
    fn refuse_options_of_lines(&self, words: &CopyWords) -> Result<()> {
        match words.said_of(&OPTIONS_OF_LINES) {
            Some(name) if !matches!(name, "header" | "delimiter") => {
                let name = name.to_uppercase();
                Err(input(format!("{name} is for a COPY in text or CSV format")))
            }
            _ => Ok(()),
        }
    }

    /// How a file of texts is compressed; none where its name is to tell.
    pub(in crate::session) fn compression(&self) -> Result<Option<Compression>> {
        self.compression.as_deref().map_or(Ok(None), Compression::named)
    }

    /// How the columns of Parquet are, in the writer's words; none for what is usual.
    pub(in crate::session) fn codec(&self) -> Result<Option<&'static str>> {
        let Some(name) = &self.compression else { return Ok(None) };
        Ok(match name.to_ascii_lowercase().as_str() {
            "auto" => None,
            "none" | "uncompressed" => Some("uncompressed"),
            "zstd" => Some("zstd(3)"),
            "snappy" => Some("snappy"),
            "gzip" => Some("gzip(6)"),
            "lz4" | "lz4_raw" => Some("lz4_raw"),
            _ => {
                let known = "zstd, snappy, gzip, lz4 and none are";
                return Err(input(format!("Parquet has no compression '{name}'; {known}")));
            }
        })
    }

    /// Returns the format of the files, and a plan that gives its rows as that format holds them. Texts are
    /// compressed as the statement says, or else as `named`.
    pub(in crate::session) fn file_form(
        &self,
        context: &SessionContext,
        plan: LogicalPlan,
        named: Compression,
    ) -> Result<(LogicalPlan, FileForm)> {
        let plan = shown_columns(plan)?;
        if let Some(form) = &self.lines {
            let compression = self.compression()?.unwrap_or(named);
            let form = form.clone();
            return Ok((super::lines::texts_of(plan)?, FileForm::Lines { form, compression }));
        }
        Ok(match self.format {
            FileFormat::Parquet => {
                let mut options = context.state().default_table_options().parquet;
                if let Some(codec) = self.codec()? {
                    options.global.compression = Some(codec.to_owned());
                }
                (with_texts_of_intervals(plan)?, FileForm::Parquet(Box::new(options)))
            }
            FileFormat::Json => {
                let compression = self.compression()?.unwrap_or(named);
                (with_texts(plan, true)?, FileForm::Json { compression })
            }
            FileFormat::Csv | FileFormat::Text => {
                let (delimiter, header) =
                    (self.delimiter.unwrap_or(b','), self.header.unwrap_or(true));
                let compression = self.compression()?.unwrap_or(named);
                (with_texts(plan, false)?, FileForm::Csv { delimiter, header, compression })
            }
        })
    }
}

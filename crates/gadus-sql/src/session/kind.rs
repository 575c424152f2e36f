//! What kind of statement a text is, for who must know before it runs: what it does to the transaction,
//! whether it reads only, whether its data travels beside it.

use super::Prepared;
use super::modify::{folded, table_name};
use super::returning::returned_items;
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    CopyLegacyCsvOption, CopyLegacyOption, CopyOption, CopySource, CopyTarget, Ident, Statement,
    TransactionMode,
};
use gadus_engine::Result;

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatementKind {
    /// Gives rows and changes nothing: SELECT without FOR UPDATE, VALUES, SHOW of tables.
    Query,
    /// EXPLAIN.
    Explain,
    /// SHOW of a setting.
    Show,
    /// SET and RESET.
    Set,
    /// BEGIN.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// ROLLBACK TO a savepoint.
    RollbackToSavepoint,
    /// SAVEPOINT and RELEASE.
    Savepoint,
    /// COPY FROM STDIN or TO STDOUT: see [`Prepared::copy_request`].
    CopyStream,
    /// DEALLOCATE: see [`Prepared::deallocated`].
    Deallocate,
    /// Everything else.
    Other,
}

/// A COPY whose data travels beside the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRequest {
    /// From the client into a table, or from a query to the client.
    pub what: CopyWhat,
    /// How the data is written.
    pub form: CopyForm,
}

/// What a COPY reads or fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyWhat {
    /// Fills a table.
    Into {
        /// The table's exact name.
        table: String,
        /// The exact names of the columns that are given; empty for all.
        columns: Vec<String>,
        /// A query whose columns are those.
        probe: String,
    },
    /// Gives the rows of this query.
    Query(String),
}

/// How the data of a COPY is written: PostgreSQL's formats and their options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyForm {
    /// Which format.
    pub format: CopyFormat,
    /// Stands between values; a tab in text, a comma in CSV.
    pub delimiter: u8,
    /// What a NULL is written as.
    pub null: String,
    /// Whether the first line names the columns.
    pub header: bool,
    /// Stands around CSV values.
    pub quote: u8,
    /// Stands before a quote in a CSV value.
    pub escape: u8,
    /// The columns whose CSV values are always quoted, by name; `*` for all.
    pub force_quote: Vec<String>,
}

/// The formats of COPY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyFormat {
    /// Lines with tabs, `\N` for NULL.
    Text,
    /// Comma-separated values.
    Csv,
    /// PostgreSQL's binary format.
    Binary,
}

impl Prepared {
    /// What kind of statement it is.
    #[must_use]
    pub fn kind(&self) -> StatementKind {
        match self.statement() {
            Statement::Query(query) if query.locks.is_empty() => StatementKind::Query,
            Statement::ShowTables { .. }
            | Statement::ShowColumns { .. }
            | Statement::ExplainTable { .. } => StatementKind::Query,
            Statement::Explain { .. } => StatementKind::Explain,
            Statement::ShowVariable { .. } => StatementKind::Show,
            Statement::Set(_) | Statement::Reset(_) | Statement::Discard { .. } => {
                StatementKind::Set
            }
            Statement::StartTransaction { .. } => StatementKind::Begin,
            Statement::Commit { .. } => StatementKind::Commit,
            Statement::Rollback { savepoint: None, .. } => StatementKind::Rollback,
            Statement::Rollback { savepoint: Some(_), .. } => StatementKind::RollbackToSavepoint,
            Statement::Savepoint { .. } | Statement::ReleaseSavepoint { .. } => {
                StatementKind::Savepoint
            }
            Statement::Copy { target: CopyTarget::Stdin | CopyTarget::Stdout, .. } => {
                StatementKind::CopyStream
            }
            Statement::Deallocate { .. } => StatementKind::Deallocate,
            _ => StatementKind::Other,
        }
    }

    /// What gives the open transaction the modes that a BEGIN names; none where it names none.
    #[must_use]
    pub fn modes_to_set(&self) -> Option<String> {
        match self.statement() {
            Statement::StartTransaction { modes, .. } if !modes.is_empty() => {
                let modes = modes.iter().map(TransactionMode::to_string).collect::<Vec<_>>();
                Some(format!("SET TRANSACTION {}", modes.join(", ")))
            }
            _ => None,
        }
    }

    /// The name of the statement that a DEALLOCATE is about; none for all.
    #[must_use]
    pub fn deallocated(&self) -> Option<String> {
        match self.statement() {
            Statement::Deallocate { name, .. } => {
                let is_all = name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all");
                (!is_all).then(|| folded(name))
            }
            _ => None,
        }
    }

    /// Whether it names a file to be read or written by the database's process, or a program.
    #[must_use]
    pub fn copies_file(&self) -> bool {
        matches!(
            self.statement(),
            Statement::Copy { target: CopyTarget::File { .. } | CopyTarget::Program { .. }, .. }
        )
    }

    /// Whether it gives rows, as far as its text says.
    #[must_use]
    pub fn gives_rows(&self) -> bool {
        match self.statement() {
            Statement::Query(_) | Statement::Fetch { into: None, .. } => true,
            statement if returned_items(statement).is_some() => true,
            _ => matches!(
                self.kind(),
                StatementKind::Query | StatementKind::Explain | StatementKind::Show
            ),
        }
    }

    /// What a COPY FROM STDIN or TO STDOUT asks for; none for every other statement.
    ///
    /// # Errors
    /// `Input` or `Unsupported` for options that contradict each other or are not known.
    pub fn copy_request(&self) -> Result<Option<CopyRequest>> {
        let Statement::Copy {
            source,
            to,
            target: CopyTarget::Stdin | CopyTarget::Stdout,
            options,
            legacy_options,
            ..
        } = self.statement()
        else {
            return Ok(None);
        };
        if let Some(words) = &self.copy_words {
            words.refuse("to or from the client")?;
        }
        let form = form_of(options, legacy_options)?;
        let what = match source {
            CopySource::Query(query) => CopyWhat::Query(query.to_string()),
            CopySource::Table { table_name: name, columns } => {
                let list = columns.iter().map(Ident::to_string).collect::<Vec<_>>();
                let list = if list.is_empty() { "*".to_owned() } else { list.join(", ") };
                let query = format!("SELECT {list} FROM {name}");
                match to {
                    true => CopyWhat::Query(query),
                    false => CopyWhat::Into {
                        table: table_name(name)?,
                        columns: columns.iter().map(folded).collect(),
                        probe: query,
                    },
                }
            }
        };
        Ok(Some(CopyRequest { what, form }))
    }
}

/// Options as they are gathered; the format says what the rest is by default.
#[derive(Default)]
struct Options {
    format: Option<CopyFormat>,
    delimiter: Option<char>,
    null: Option<String>,
    header: bool,
    quote: Option<char>,
    escape: Option<char>,
    force_quote: Vec<String>,
}

fn form_of(options: &[CopyOption], legacy: &[CopyLegacyOption]) -> Result<CopyForm> {
    let mut given = Options::default();
    for option in options {
        match option {
            CopyOption::Format(name) => given.format = Some(format_named(&name.value)?),
            // Rows are visible to others when they are committed, whatever is said.
            CopyOption::Freeze(_) => {}
            CopyOption::Delimiter(character) => given.delimiter = Some(*character),
            CopyOption::Null(text) => given.null = Some(text.clone()),
            CopyOption::Header(header) => given.header = *header,
            CopyOption::Quote(character) => given.quote = Some(*character),
            CopyOption::Escape(character) => given.escape = Some(*character),
            CopyOption::ForceQuote(columns) => {
                given.force_quote = columns.iter().map(folded).collect();
            }
            CopyOption::Encoding(name) => refuse_encoding(name)?,
            other => return Err(unsupported(&format!("the COPY option {other}"))),
        }
    }
    for option in legacy {
        match option {
            CopyLegacyOption::Binary => given.format = Some(CopyFormat::Binary),
            CopyLegacyOption::Delimiter(character) => given.delimiter = Some(*character),
            CopyLegacyOption::Null(text) => given.null = Some(text.clone()),
            CopyLegacyOption::Header => given.header = true,
            CopyLegacyOption::Csv(options) => {
                given.format = Some(CopyFormat::Csv);
                for option in options {
                    match option {
                        CopyLegacyCsvOption::Header => given.header = true,
                        CopyLegacyCsvOption::Quote(character) => given.quote = Some(*character),
                        CopyLegacyCsvOption::Escape(character) => given.escape = Some(*character),
                        CopyLegacyCsvOption::ForceQuote(columns) => {
                            given.force_quote = columns.iter().map(folded).collect();
                        }
                        other @ CopyLegacyCsvOption::ForceNotNull(_) => {
                            return Err(unsupported(&format!("the COPY option {other}")));
                        }
                    }
                }
            }
            other => return Err(unsupported(&format!("the COPY option {other}"))),
        }
    }
    given.form()
}

impl Options {
    fn form(self) -> Result<CopyForm> {
        let format = self.format.unwrap_or(CopyFormat::Text);
        let is_csv = format == CopyFormat::Csv;
        if !is_csv && (self.quote.is_some() || self.escape.is_some()) {
            return Err(input("QUOTE and ESCAPE are for COPY in CSV format"));
        }
        if format == CopyFormat::Binary && (self.delimiter.is_some() || self.null.is_some()) {
            return Err(input("DELIMITER and NULL are not for COPY in BINARY format"));
        }
        let quote = byte("QUOTE", self.quote, b'"')?;
        let form = CopyForm {
            format,
            delimiter: byte("DELIMITER", self.delimiter, if is_csv { b',' } else { b'\t' })?,
            null: self.null.unwrap_or_else(|| if is_csv { "" } else { "\\N" }.to_owned()),
            header: self.header,
            quote,
            escape: byte("ESCAPE", self.escape, quote)?,
            force_quote: self.force_quote,
        };
        if matches!(form.delimiter, b'\n' | b'\r') || form.null.contains(['\n', '\r']) {
            return Err(input("DELIMITER and NULL hold no end of line"));
        }
        if is_csv && form.delimiter == form.quote {
            return Err(input("DELIMITER and QUOTE of a COPY are different"));
        }
        if form.null.as_bytes().contains(&form.delimiter) {
            return Err(input("DELIMITER does not stand in NULL"));
        }
        Ok(form)
    }
}

fn format_named(name: &str) -> Result<CopyFormat> {
    match name.to_ascii_lowercase().as_str() {
        "text" => Ok(CopyFormat::Text),
        "csv" => Ok(CopyFormat::Csv),
        "binary" => Ok(CopyFormat::Binary),
        _ => Err(input(format!("COPY format \"{name}\" is not text, csv or binary"))),
    }
}

fn byte(option: &str, given: Option<char>, default: u8) -> Result<u8> {
    let Some(character) = given else { return Ok(default) };
    let ascii = u8::try_from(character).ok().filter(u8::is_ascii);
    ascii.ok_or_else(|| input(format!("{option} of a COPY is one ASCII character")))
}

fn refuse_encoding(name: &str) -> Result<()> {
    match name.to_ascii_lowercase().replace('-', "").as_str() {
        "utf8" | "unicode" => Ok(()),
        _ => Err(unsupported(&format!("the encoding {name}: text is UTF8; another"))),
    }
}

#[cfg(test)]
mod tests;

//! Options of COPY, checked as PostgreSQL checks them.

use crate::error::coded;
use crate::session::{CopyWords, Word};
use gadus_engine::Result;

/// How the data of a COPY is written: PostgreSQL's formats and their options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyForm {
    /// Which format.
    pub format: CopyFormat,
    /// Stands between values; a tab in text, a comma in CSV.
    pub delimiter: u8,
    /// Text of NULL.
    pub null: String,
    /// Meaning of the first line.
    pub header: CopyHeader,
    /// Stands around CSV values.
    pub quote: u8,
    /// Stands before a quote in a CSV value.
    pub escape: u8,
    /// The columns whose CSV values are always quoted, by name; `*` for all.
    pub force_quote: Vec<String>,
    /// The columns whose CSV values are never NULL.
    pub force_not_null: Vec<String>,
    /// The columns whose CSV values may be NULL although they are quoted.
    pub force_null: Vec<String>,
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

/// First line of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyHeader {
    /// A row as any other.
    None,
    /// Names of the columns, which are not looked at.
    Names,
    /// Names that must be those of the columns.
    Match,
}

/// Names of PostgreSQL's options for text and CSV.
pub(crate) const OPTIONS_OF_LINES: [&str; 9] = [
    "delimiter",
    "null",
    "header",
    "quote",
    "escape",
    "force_quote",
    "force_not_null",
    "force_null",
    "encoding",
];

/// SQLSTATEs of options that cannot be so.
const SYNTAX: &str = "42601";
const NOT_SUPPORTED: &str = "0A000";
const INVALID: &str = "22023";

/// Options as they are gathered; the format says what the rest is by default.
struct Options<'a> {
    words: &'a CopyWords,
    is_from: bool,
    format: CopyFormat,
}

impl CopyForm {
    /// Returns the form that the options of a COPY ask for; `usual` is the format if they name none.
    ///
    /// # Errors
    /// PostgreSQL's, for options that are not known or do not go together.
    pub(crate) fn of(words: &CopyWords, is_from: bool, usual: CopyFormat) -> Result<Self> {
        let format = match text(words, "format")?.as_deref() {
            None => usual,
            Some("text") => CopyFormat::Text,
            Some("csv") => CopyFormat::Csv,
            Some("binary") => CopyFormat::Binary,
            Some(other) => {
                return Err(coded(INVALID, format!("COPY format \"{other}\" not recognized")));
            }
        };
        Options { words, is_from, format }.form()
    }

    /// Returns true for the name of an option that PostgreSQL has.
    pub(crate) fn is_option(name: &str) -> bool {
        matches!(name, "format" | "freeze") || OPTIONS_OF_LINES.contains(&name)
    }

    /// Returns true if there is an option that is about values of text or CSV.
    pub(crate) fn has_own_options(words: &CopyWords) -> bool {
        let own = ["null", "quote", "escape", "force_quote", "force_not_null", "force_null"];
        words.said_of(&own).is_some()
    }
}

impl Options<'_> {
    fn form(self) -> Result<CopyForm> {
        let is_csv = self.format == CopyFormat::Csv;
        self.check_format()?;
        check_encoding(self.words)?;
        self.words.is_set("freeze")?;
        let quote = self.byte("quote", b'"')?;
        let form = CopyForm {
            format: self.format,
            delimiter: self.byte("delimiter", if is_csv { b',' } else { b'\t' })?,
            null: text(self.words, "null")?
                .unwrap_or_else(|| if is_csv { "" } else { "\\N" }.to_owned()),
            header: header(self.words)?,
            quote,
            escape: self.byte("escape", quote)?,
            force_quote: names(self.words, "force_quote")?,
            force_not_null: names(self.words, "force_not_null")?,
            force_null: names(self.words, "force_null")?,
        };
        if form.header == CopyHeader::Match && !self.is_from {
            return Err(coded(NOT_SUPPORTED, "cannot use \"match\" with HEADER in COPY TO"));
        }
        form.check()?;
        Ok(form)
    }

    /// Refuses options of other formats, and of the other direction.
    fn check_format(&self) -> Result<()> {
        let has = |name: &'static str| self.words.said_of(&[name]).is_some();
        if self.format == CopyFormat::Binary {
            let refused = [("delimiter", SYNTAX), ("null", SYNTAX), ("header", NOT_SUPPORTED)];
            if let Some((name, state)) = refused.into_iter().find(|(name, _)| has(name)) {
                let name = name.to_uppercase();
                return Err(coded(state, format!("cannot specify {name} in BINARY mode")));
            }
        }
        for (name, shown, direction) in [
            ("quote", "quote", None),
            ("escape", "escape", None),
            ("force_quote", "force quote", Some(false)),
            ("force_not_null", "force not null", Some(true)),
            ("force_null", "force null", Some(true)),
        ] {
            if !has(name) {
                continue;
            }
            if self.format != CopyFormat::Csv {
                let message = format!("COPY {shown} available only in CSV mode");
                return Err(coded(NOT_SUPPORTED, message));
            }
            if direction.is_some_and(|is_from| is_from != self.is_from) {
                let direction = if self.is_from { "TO" } else { "FROM" };
                let message = format!("COPY {shown} only available using COPY {direction}");
                return Err(coded(NOT_SUPPORTED, message));
            }
        }
        Ok(())
    }

    fn byte(&self, name: &'static str, default: u8) -> Result<u8> {
        let Some(given) = text(self.words, name)? else { return Ok(default) };
        match given.as_bytes() {
            [byte] => Ok(*byte),
            _ => {
                let message = format!("COPY {name} must be a single one-byte character");
                Err(coded(NOT_SUPPORTED, message))
            }
        }
    }
}

impl CopyForm {
    /// Refuses characters that contradict each other.
    fn check(&self) -> Result<()> {
        const OF_ESCAPES: &[u8] = b"\\.abcdefghijklmnopqrstuvwxyz0123456789";
        let Self { format, delimiter, quote, null, .. } = self;
        if matches!(delimiter, b'\n' | b'\r') {
            return Err(coded(INVALID, "COPY delimiter cannot be newline or carriage return"));
        }
        if null.contains(['\n', '\r']) {
            let message = "COPY null representation cannot use newline or carriage return";
            return Err(coded(INVALID, message));
        }
        if *format == CopyFormat::Text && OF_ESCAPES.contains(delimiter) {
            let delimiter = char::from(*delimiter);
            return Err(coded(INVALID, format!("COPY delimiter cannot be \"{delimiter}\"")));
        }
        if *format == CopyFormat::Csv && delimiter == quote {
            return Err(coded(INVALID, "COPY delimiter and quote must be different"));
        }
        if *format != CopyFormat::Binary && null.as_bytes().contains(delimiter) {
            let message = "COPY delimiter must not appear in the NULL specification";
            return Err(coded(NOT_SUPPORTED, message));
        }
        if *format == CopyFormat::Csv && null.as_bytes().contains(quote) {
            let message = "CSV quote character must not appear in the NULL specification";
            return Err(coded(NOT_SUPPORTED, message));
        }
        Ok(())
    }
}

/// Returns the value of an option that is one text.
fn text(words: &CopyWords, name: &'static str) -> Result<Option<String>> {
    let Some(values) = words.values(name) else { return Ok(None) };
    match values {
        [value] => Ok(Some(value.text.clone())),
        _ => Err(coded(SYNTAX, format!("{name} requires a parameter"))),
    }
}

fn header(words: &CopyWords) -> Result<CopyHeader> {
    match words.values("header") {
        None => Ok(CopyHeader::None),
        Some([value]) if value.text.eq_ignore_ascii_case("match") => Ok(CopyHeader::Match),
        Some(_) => match words.is_set("header") {
            Ok(true) => Ok(CopyHeader::Names),
            Ok(false) => Ok(CopyHeader::None),
            Err(_) => Err(coded(SYNTAX, "header requires a Boolean value or \"match\"")),
        },
    }
}

fn names(words: &CopyWords, name: &'static str) -> Result<Vec<String>> {
    match words.values(name) {
        None => Ok(Vec::new()),
        Some([]) => {
            let message = format!("argument to option \"{name}\" must be a list of column names");
            Err(coded(INVALID, message))
        }
        Some(columns) => Ok(columns.iter().map(Word::folded).collect()),
    }
}

fn check_encoding(words: &CopyWords) -> Result<()> {
    let Some(name) = text(words, "encoding")? else { return Ok(()) };
    const KNOWN: [&str; 8] =
        ["latin1", "latin9", "sqlascii", "win1252", "eucjp", "iso88591", "koi8r", "eucjis2004"];
    match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "utf8" | "unicode" => Ok(()),
        known if KNOWN.contains(&known) => {
            Err(coded(NOT_SUPPORTED, format!("encoding {name} is not supported; texts are UTF8")))
        }
        _ => {
            let message = "argument to option \"encoding\" must be a valid encoding name";
            Err(coded(INVALID, message))
        }
    }
}

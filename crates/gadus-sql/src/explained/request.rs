//! What an EXPLAIN asks for.
//!
//! - `EXPLAIN [ANALYZE] [FORMAT …] …`, and PostgreSQL's form `EXPLAIN (ANALYZE, FORMAT JSON) …`. Its options that would
//!   change only how much is shown are taken, and change nothing.
//! - `EXPLAIN VERBOSE`, and forms that only the planner has, are the planner's: they show how it came to its plan.

use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    AnalyzeFormat, AnalyzeFormatKind, Expr, Ident, Statement, UtilityOption, Value as SqlValue,
    ValueWithSpan,
};
use gadus_engine::Result;

/// An EXPLAIN that is not the planner's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) statement: &'a Statement,
    /// Whether the statement is to run.
    pub(crate) runs: bool,
    /// True if the bound query is shown instead of the plan.
    pub(crate) shows_bound: bool,
    pub(crate) format: Format,
}

/// How it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
    Html,
}

/// Options that say how much is shown.
const SHOWN: [&str; 9] = [
    "verbose",
    "costs",
    "settings",
    "buffers",
    "wal",
    "timing",
    "summary",
    "memory",
    "generic_plan",
];

impl<'a> Request<'a> {
    /// What a statement asks for; none where it is no EXPLAIN, or the planner's.
    pub(crate) fn of(statement: &'a Statement) -> Result<Option<Self>> {
        let Statement::Explain { analyze, verbose, statement, format, options, .. } = statement
        else {
            return Ok(None);
        };
        if *verbose && !analyze {
            return Ok(None);
        }
        let named = match format {
            None => None,
            Some(AnalyzeFormatKind::Keyword(format) | AnalyzeFormatKind::Assignment(format)) => {
                Some(match format {
                    AnalyzeFormat::TEXT => Format::Text,
                    AnalyzeFormat::JSON => Format::Json,
                    // The planner's.
                    _ if !analyze => return Ok(None),
                    other => return Err(unsupported(&format!("EXPLAIN ANALYZE FORMAT {other}"))),
                })
            }
        };
        let (mut runs, mut format) = (*analyze, named.unwrap_or_default());
        let mut shows_bound = false;
        for UtilityOption { name, arg } in options.iter().flatten() {
            match name.value.to_lowercase().as_str() {
                "analyze" => runs = is_on(name, arg.as_ref())?,
                "bound" => shows_bound = is_on(name, arg.as_ref())?,
                "format" => format = format_of(arg.as_ref())?,
                shown if SHOWN.contains(&shown) => _ = is_on(name, arg.as_ref())?,
                other => return Err(input(format!("unrecognized EXPLAIN option \"{other}\""))),
            }
        }
        if runs && shows_bound {
            return Err(input("EXPLAIN option BOUND cannot be used together with ANALYZE"));
        }
        Ok(Some(Self { statement, runs, shows_bound, format }))
    }
}

fn is_on(name: &Ident, value: Option<&Expr>) -> Result<bool> {
    let Some(value) = value else { return Ok(true) };
    let word = match value {
        Expr::Value(ValueWithSpan { value: SqlValue::Boolean(on), .. }) => return Ok(*on),
        Expr::Identifier(word) => word.value.to_lowercase(),
        other => other.to_string().trim_matches('\'').to_lowercase(),
    };
    match word.as_str() {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        other => Err(input(format!("the EXPLAIN option {name} is on or off, not {other}"))),
    }
}

fn format_of(value: Option<&Expr>) -> Result<Format> {
    let word = value.map(|value| value.to_string().trim_matches('\'').to_lowercase());
    match word.as_deref() {
        Some("text") => Ok(Format::Text),
        Some("json") => Ok(Format::Json),
        Some("html") => Ok(Format::Html),
        other => {
            let other = other.unwrap_or("nothing");
            Err(input(format!("the format of EXPLAIN is text, json or html, not {other}")))
        }
    }
}

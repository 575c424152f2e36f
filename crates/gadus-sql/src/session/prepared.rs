//! Statements that are parsed already.

use super::copy_words::CopyWords;
use super::parse::no_changes_within;
use super::{Frames, columns};
use datafusion::sql::sqlparser::ast::Statement;
use gadus_engine::{Error, Result};
use std::sync::Arc;

/// A parsed statement.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(super) text: Arc<str>,
    pub(super) statement: Arc<Statement>,
    pub(super) parameters: usize,
    /// Their names, in order, where they have names.
    pub(super) names: Arc<[String]>,
    /// Error of the planner of texts for a query that it cannot read: `statement` stands for it, and is never run.
    pub(super) unread: Option<Arc<Error>>,
    /// Whether it is carried out with room on the stack.
    pub(super) is_deep: bool,
    /// Whether it calls `current_setting` or `set_config`.
    pub(super) calls_settings: bool,
    /// Whether it takes numbers of sequences, or asks for them.
    pub(super) calls_sequences: bool,
    /// Whether it reads the settings as rows.
    pub(super) reads_settings: bool,
    /// True if its WITH changes rows.
    pub(super) changes_within: bool,
    /// Arrow data that this statement alone reads as tables.
    pub(super) frames: Option<Arc<Frames>>,
    /// Options of a COPY, which the statement itself does not have.
    pub(super) copy_words: Option<Arc<CopyWords>>,
}

impl Prepared {
    /// Returns a statement without parameters and names that are resolved.
    pub(super) fn bare(text: &str, statement: Statement) -> Self {
        Self {
            text: Arc::from(text),
            statement: Arc::new(statement),
            parameters: 0,
            names: Arc::default(),
            unread: None,
            is_deep: false,
            calls_settings: false,
            calls_sequences: false,
            reads_settings: false,
            changes_within: false,
            frames: None,
            copy_words: None,
        }
    }

    /// Refuses a query whose WITH changes rows, where only its rows are wanted.
    pub(crate) fn refuse_changes_within(&self) -> Result<()> {
        match self.changes_within {
            true => Err(no_changes_within()),
            false => Ok(()),
        }
    }

    /// Returns the options of a COPY.
    pub(crate) fn copy_words(&self) -> Option<&CopyWords> {
        self.copy_words.as_deref()
    }

    /// How many parameters the statement has.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// The names of the parameters, `:name` or `$name`, in the order of the values that are given for
    /// them; empty where they have numbers.
    #[must_use]
    pub fn parameter_names(&self) -> &[String] {
        &self.names
    }

    /// What PostgreSQL calls the columns of its rows; empty where the text alone does not tell.
    #[must_use]
    pub fn postgres_names(&self) -> Vec<String> {
        columns::postgres_names(&self.statement)
    }

    pub(crate) fn statement(&self) -> &Statement {
        &self.statement
    }

    /// The statement's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

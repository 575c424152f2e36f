//! What kind of statement a text is, for who must know before it runs: what it does to the transaction,
//! whether it reads only, whether its data travels beside it.

use super::Prepared;
use super::modify::{folded, table_name};
use super::returning::returned_items;
use crate::copy_text::{CopyForm, CopyFormat};
use datafusion::sql::sqlparser::ast::{CopySource, CopyTarget, Ident, Statement, TransactionMode};
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

impl Prepared {
    /// What kind of statement it is.
    #[must_use]
    pub fn kind(&self) -> StatementKind {
        if self.changes_within && !matches!(self.statement(), Statement::Explain { .. }) {
            return StatementKind::Other;
        }
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

    /// True for COMMIT and ROLLBACK that begin another transaction: AND CHAIN.
    #[must_use]
    pub fn chains(&self) -> bool {
        matches!(
            self.statement(),
            Statement::Commit { chain: true, .. } | Statement::Rollback { chain: true, .. }
        )
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
        let Statement::Copy { source, to, target: CopyTarget::Stdin | CopyTarget::Stdout, .. } =
            self.statement()
        else {
            return Ok(None);
        };
        let Some(words) = self.copy_words() else {
            return Err(gadus_engine::Error::internal("a COPY without its options"));
        };
        words.refuse_own("to or from the client")?;
        let form = CopyForm::of(words, !to, CopyFormat::Text)?;
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

#[cfg(test)]
mod tests;

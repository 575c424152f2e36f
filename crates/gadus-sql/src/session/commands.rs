//! Statements that read and change no table: settings, ends of others, and what needs nothing to be done.

use super::as_queries::{described, placed_table};
use super::cursors::close;
use super::modify::target;
use super::{Outcome, Session, State};
use crate::provider::MAIN_SCHEMA;
use datafusion::sql::sqlparser::ast::{
    Analyze, DiscardObject, ObjectName, Statement, VacuumStatement,
};
use gadus_engine::{Error, ErrorKind, Reason, Result};

impl Session {
    /// Refuses the name of a table that is not there.
    fn refuse_unknown(&self, state: &State, table: Option<&ObjectName>) -> Result<()> {
        let Some(table) = table else { return Ok(()) };
        target(&state.snapshot(&self.engine)?, table).map(|_| ())
    }

    /// Compacts one table, or all. Much of that happens in the background anyway; this does it now,
    /// and gives space back to the file system.
    fn vacuum(&self, state: &State, table: Option<&ObjectName>) -> Result<Outcome> {
        super::transact::refuse_in_transaction(state, "VACUUM")?;
        let table = match table {
            Some(table) => Some(target(&state.snapshot(&self.engine)?, table)?),
            None => None,
        };
        let flag = self.cancel.current();
        let check = || if flag.is_set() { Err(flag.reason()) } else { Ok(()) };
        super::locking::blocking(|| self.engine.vacuum(table.as_deref(), &check))?;
        Ok(Outcome::Done("VACUUM"))
    }

    /// Refuses to describe what is neither a table nor a view nor data of the program.
    fn refuse_undescribed(&self, state: &State, table: &ObjectName) -> Result<()> {
        let (schema, name) = described(table);
        let is_known = schema != MAIN_SCHEMA
            || state.snapshot(&self.engine)?.has_relation(&name)
            || self.frames().contains_key(&name.to_lowercase());
        if is_known {
            return Ok(());
        }
        let message = format!("table \"{name}\" does not exist");
        Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable))
    }

    /// Carries out what reads and changes no table; none where it is another statement.
    pub(super) fn command(
        &self,
        state: &mut State,
        statement: &Statement,
    ) -> Result<Option<Outcome>> {
        let done = match statement {
            Statement::Kill { modifier, id } => self.kill(modifier.as_ref(), *id),
            Statement::Set(set) => self.set(state, set),
            Statement::Reset(reset) => self.reset(state, &reset.reset),
            Statement::Discard { object_type: DiscardObject::ALL } => {
                super::transact::refuse_in_transaction(state, "DISCARD ALL")?;
                state.reset_all()?;
                state.cursors.close_all();
                self.by_name.forget_all();
                self.drop_temporary(state)?;
                Ok(Outcome::Done("DISCARD ALL"))
            }
            Statement::Discard { object_type: DiscardObject::TEMP } => {
                super::transact::refuse_in_transaction(state, "DISCARD TEMP")?;
                self.drop_temporary(state)?;
                Ok(Outcome::Done("DISCARD TEMP"))
            }
            Statement::Vacuum(VacuumStatement { table_name, .. }) => {
                self.vacuum(state, table_name.as_ref())
            }
            // Statistics are gathered as rows come and go.
            Statement::Analyze(Analyze { table_name, .. }) => {
                self.refuse_unknown(state, table_name.as_ref())?;
                Ok(Outcome::Done("ANALYZE"))
            }
            // Then it is a query.
            Statement::ExplainTable { .. } => {
                self.refuse_unknown(state, placed_table(statement))?;
                if let (Statement::ExplainTable { table_name, .. }, None) =
                    (statement, placed_table(statement))
                {
                    self.refuse_undescribed(state, table_name)?;
                }
                return Ok(None);
            }
            Statement::Close { cursor } => close(state, cursor),
            // There are no notifications.
            Statement::UNLISTEN { .. } => Ok(Outcome::Done("UNLISTEN")),
            Statement::Lock(lock) => super::lock_tables::lock_tables(&self.engine, state, lock),
            Statement::ShowVariable { variable } => self.show(state, variable),
            _ => return Ok(None),
        };
        done.map(Some)
    }
}

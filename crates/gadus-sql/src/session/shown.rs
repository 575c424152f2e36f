//! SHOW, and settings with their values for who reads them as rows.

use super::chosen::Chosen;
use super::known::{Setting, settings};
use super::scanning::ScanSharing;
use super::variables::{name_of, unknown};
use super::{Outcome, Session, State};
use crate::rows::RowStream;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::sql::sqlparser::ast::Ident;
use gadus_engine::{Durability, Engine, Isolation, Result, Transaction};
use std::sync::Arc;
use std::time::Duration;

/// A setting with its values in a session.
#[derive(Debug, Clone)]
pub(crate) struct ShownSetting {
    pub(crate) setting: Setting,
    pub(crate) value: String,
    /// What RESET goes back to.
    pub(crate) reset: String,
    /// What it is in a session that is told nothing.
    pub(crate) default: String,
}

impl Session {
    pub(super) fn show(&self, state: &State, variable: &[Ident]) -> Result<Outcome> {
        let name = name_of(variable);
        if name == "all" {
            return self.show_all(state);
        }
        let value = self.setting(state, &name).ok_or_else(|| unknown(&name))?;
        RowStream::text(&name, &value).map(Outcome::Rows)
    }

    /// All settings with their values.
    fn show_all(&self, state: &State) -> Result<Outcome> {
        let shown = self.shown_settings(state);
        let names = shown.iter().map(|shown| shown.setting.name);
        let values = shown.iter().map(|shown| &shown.value);
        let descriptions = shown.iter().map(|shown| shown.setting.description);
        let columns: [(&str, ArrayRef); 3] = [
            ("name", Arc::new(StringArray::from_iter_values(names))),
            ("setting", Arc::new(StringArray::from_iter_values(values))),
            ("description", Arc::new(StringArray::from_iter_values(descriptions))),
        ];
        let batch = RecordBatch::try_from_iter(columns)?;
        Ok(Outcome::Rows(RowStream::ready(batch.schema(), vec![batch])))
    }

    /// All settings, by name.
    fn shown_settings(&self, state: &State) -> Vec<ShownSetting> {
        let default = Chosen::default();
        let shown = |setting: Setting| {
            let name = setting.name.to_ascii_lowercase();
            let value = self.setting(state, &name).unwrap_or_default();
            let of = |chosen: &Chosen| chosen.shown(&name, &self.engine);
            // What is not the session's has no value but its own.
            let reset = of(state.settings.first()).unwrap_or_else(|| value.clone());
            let default = of(&default).unwrap_or_else(|| value.clone());
            ShownSetting { setting, value, reset, default }
        };
        settings().into_iter().map(shown).collect()
    }

    /// Has the statement that is about to run see the settings as they are.
    pub(super) fn show_to_planner(&self, state: &State) {
        *self.shown.lock() = self.shown_settings(state).into();
    }

    /// The value of a setting; none where there is no such setting.
    pub(super) fn setting(&self, state: &State, name: &str) -> Option<String> {
        Some(match name {
            "transaction_isolation" => {
                let open = state.transaction.as_ref().map(Transaction::isolation);
                match open.unwrap_or(state.settings.isolation) {
                    Isolation::Serializable => "serializable".to_owned(),
                    // As standard SQL calls what is at least that.
                    Isolation::Snapshot => "repeatable read".to_owned(),
                    Isolation::ReadCommitted => "read committed".to_owned(),
                }
            }
            "transaction_read_only" => {
                let is_of_transaction = match state.transaction {
                    Some(_) => state.read_only,
                    None => state.settings.variables.is_read_only(),
                };
                let is_read_only = self.engine.options().read_only || is_of_transaction;
                if is_read_only { "on".to_owned() } else { "off".to_owned() }
            }
            "transaction_deferrable" => {
                let is_deferrable = state.transaction.is_some() && state.deferrable;
                if is_deferrable { "on".to_owned() } else { "off".to_owned() }
            }
            name => {
                let of_database = self.setting_of_database(name);
                return of_database.or_else(|| state.settings.shown(name, &self.engine));
            }
        })
    }
}

impl Chosen {
    /// The value of a setting of the session; none where it is not the session's.
    fn shown(&self, name: &str, engine: &Engine) -> Option<String> {
        Some(match name {
            "lock_timeout" => shown_time(self.lock_timeout),
            "statement_timeout" => shown_time(self.statement_timeout),
            "idle_in_transaction_session_timeout" => shown_time(self.idle_in_transaction_timeout),
            "idle_session_timeout" => shown_time(self.idle_timeout),
            "gadus.sharing" => match self.scan_sharing {
                ScanSharing::Auto => "auto".to_owned(),
                ScanSharing::Always => "always".to_owned(),
                ScanSharing::Never => "never".to_owned(),
            },
            "gadus.statement_memory" => self.statement_memory.0.exact(),
            "default_transaction_isolation" => match self.isolation {
                Isolation::Serializable => "serializable".to_owned(),
                Isolation::Snapshot => "snapshot".to_owned(),
                Isolation::ReadCommitted => "read committed".to_owned(),
            },
            "gadus.durability" => match self.durability.unwrap_or(engine.options().durability) {
                Durability::Sync => "sync".to_owned(),
                Durability::Relaxed => "relaxed".to_owned(),
                Durability::Off => "off".to_owned(),
            },
            name => self.variables.get(name)?.to_owned(),
        })
    }
}

pub(super) fn shown_time(time: Option<Duration>) -> String {
    format!("{}ms", time.map_or(0, |time| time.as_millis()))
}

//! Scans of plans that are answered together with others.
//!
//! - A plan with expressions of any kind has one scan, with those conjuncts that the engine knows. Where
//!   these are selective, its rows are found in the table's next shared scan, like those of compiled
//!   statements; all else is done to them by the plan.
//! - Plans with several scans read one snapshot, which a shared scan is not bound to.

use super::scanning::{STREAMED_ROWS_MIN, ScanSharing};
use super::{Session, Shared, State};
use crate::compiled::Budget;
use crate::provider::ScanExec;
use datafusion::physical_plan::ExecutionPlan;
use gadus_engine::{Engine, Question, Result, Wanted};
use std::sync::Arc;

/// Who may ask.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    engine: Engine,
    shared: Arc<Shared>,
    sharing: ScanSharing,
    budget: Budget,
}

impl Session {
    /// Whether a plan's rows may be those of a newer snapshot than its own, and how they are shared.
    pub(super) fn asking(&self, state: &State) -> Option<Asking> {
        let may = state.transaction.is_none() && state.settings.scan_sharing != ScanSharing::Never;
        may.then(|| Asking {
            engine: self.engine.clone(),
            shared: self.shared.clone(),
            sharing: state.settings.scan_sharing,
            budget: state.settings.statement_memory,
        })
    }
}

impl Asking {
    /// Has the only scan of a plan that is about to run answered in a shared one, where others scan and it
    /// finds few rows.
    pub(crate) fn begin(&self, plan: &dyn ExecutionPlan) -> Result<()> {
        let Some(exec) = ScanExec::only_of(plan) else { return Ok(()) };
        let Some(scan) = exec.whole() else { return Ok(()) };
        let table = scan.table();
        if self.sharing == ScanSharing::Auto {
            if !self.shared.is_worth_sharing(table.about_rows()) {
                return Ok(());
            }
            if !self.engine.is_scanned() {
                exec.scans_alone(self.engine.scans_alone());
                return Ok(());
            }
        }
        #[allow(clippy::cast_precision_loss)] // a small constant
        let most = STREAMED_ROWS_MIN as f64;
        let wanted = Wanted::Rows { rows_max: self.budget.found_rows() };
        let question = Question { predicates: scan.request().predicates.clone(), wanted };
        let estimate = table.estimate(&question)?;
        if estimate.looked_up_by.is_some() && estimate.rows < most {
            exec.ask(self.engine.ask(table.schema(), question)?);
        }
        Ok(())
    }
}

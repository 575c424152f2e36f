//! Statements that are begun, and answered later: thousands of them from one thread.

use super::scanning::{ScanSharing, is_for_alone};
use super::{Boxed, Cancel, Outcome, Session};
use crate::shape::shape_of;
use crate::value::Value;
use gadus_engine::Result;
use std::sync::Arc;

impl Session {
    /// Begins a statement in its table's next shared scan, and does not wait; none where it cannot be
    /// shared, or the session is busy or in a transaction: then it is to be executed.
    ///
    /// Who drops the future is not interested in the answer any more.
    #[must_use]
    pub fn submit(
        self: &Arc<Self>,
        text: &str,
        parameters: &[Value],
    ) -> Option<Boxed<'static, Outcome>> {
        self.try_submit(text, parameters).unwrap_or_else(|error| {
            let failed: Boxed<'static, Outcome> = Box::pin(std::future::ready(Err(error)));
            Some(failed)
        })
    }

    fn try_submit(
        self: &Arc<Self>,
        text: &str,
        parameters: &[Value],
    ) -> Result<Option<Boxed<'static, Outcome>>> {
        self.engine.check_process()?;
        let Ok(mut state) = self.state.try_lock() else { return Ok(None) };
        if state.transaction.is_some() || state.scan_sharing == ScanSharing::Never {
            return Ok(None);
        }
        self.refuse_ended(&mut state)?;
        let lifted = if parameters.is_empty() { shape_of(text) } else { None };
        let (shape, values) = match &lifted {
            Some(lifted) => (lifted.text.as_str(), lifted.literals.as_slice()),
            None => (text, parameters),
        };
        let snapshot = self.engine.snapshot()?;
        let compiled = self.shared.compiled.get(shape, values.len(), &snapshot);
        drop(snapshot);
        let Some(compiled) = compiled.filter(|compiled| compiled.scans()) else { return Ok(None) };
        let asked = if compiled.modifies() {
            let Some(modification) = compiled.modification(values)? else { return Ok(None) };
            if self.modifies_many(&compiled, &modification)? {
                return Ok(None);
            }
            self.ask_modification(&state, &compiled, modification)?
        } else {
            let Some(question) = compiled.question(values)? else { return Ok(None) };
            self.engine.ask(compiled.schema(), question)?
        };
        let (session, text, parameters) = (self.clone(), text.to_owned(), parameters.to_vec());
        Ok(Some(Box::pin(async move {
            match asked.await {
                Ok(answer) => compiled.outcome(answer, &Arc::<Cancel>::default()),
                Err(error) if is_for_alone(&error) => session.execute(&text, &parameters).await,
                Err(error) => Err(error),
            }
        })))
    }
}

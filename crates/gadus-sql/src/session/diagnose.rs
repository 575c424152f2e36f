//! Reasons of refused statements, by analysis of their text.

use super::asked::Source;
use super::preparing::LARGE_TEXT;
use super::{Session, State};
use crate::analysis::{BinderCatalog, KnownFunctions, diagnosed, is_of_planning};
use gadus_engine::{DefinitionKey, Error, Snapshot};

/// Functions of the planner, and those that are defined in a snapshot.
struct Functions<'a> {
    session: &'a Session,
    snapshot: Option<&'a Snapshot>,
}

impl KnownFunctions for Functions<'_> {
    fn has_function(&self, name: &str) -> bool {
        let key = DefinitionKey::Function(name.to_owned());
        self.session.is_built_in(name)
            || self.snapshot.is_some_and(|snapshot| snapshot.definition(&key).is_some())
    }
}

impl Session {
    /// Returns the error of a statement in PostgreSQL's words, if it is about names or types.
    pub(super) fn diagnosed(&self, state: &State, source: Source<'_>, error: Error) -> Error {
        // Nothing interrupts analysis: long texts keep the planner's error.
        if !is_of_planning(&error) || source.text().len() >= LARGE_TEXT {
            return error;
        }
        let snapshot = state.snapshot(&self.engine).ok();
        let catalog = || {
            let snapshot = snapshot.clone()?;
            Some(BinderCatalog::new(snapshot, self.names(state)))
        };
        let functions = Functions { session: self, snapshot: snapshot.as_ref() };
        diagnosed(error, source.text(), catalog, &functions)
    }
}

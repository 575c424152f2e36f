//! What is known of the machine, and what was decided by it, as tables.
//!
//! - Facts are gathered when a statement names their table: an opened database has none.

use super::system::texts;
use crate::error::to_datafusion;
use arrow::array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use datafusion::error::DataFusionError;
use gadus_base::date_and_time;
use gadus_engine::{Error, ErrorKind};
use gadus_machine::{
    Decided, Decision, Decisions, Fact, FactValue, Facts, Identity, KeptFacts, MachineError, Source,
};
use std::path::Path;
use std::sync::Arc;

/// What the machine tells now, and what `gadus kub` has measured of its kernel with files in a folder; each with its
/// value as text, and as a number where it is one.
pub(super) fn facts(folder: &Path) -> Result<RecordBatch, DataFusionError> {
    let unknown =
        |error: MachineError| to_datafusion(Error::new(ErrorKind::Unsupported, error.to_string()));
    let mut facts = Facts::discover().map_err(unknown)?;
    if let Some(kept) = KeptFacts::of_this_user() {
        match kept.load(&Identity::of_this_machine(folder)) {
            Ok(measured) => measured.iter().for_each(|fact| facts.set(fact.clone())),
            Err(error) => {
                let unknown = FactValue::Unknown(error.to_string());
                facts.note(("kernel", "measured"), unknown, "", Source::Measured);
            }
        }
    }
    let text = |of: fn(&Fact) -> Option<String>| texts(facts.iter().map(of));
    let number = |of: fn(&Fact) -> Option<f64>| -> ArrayRef {
        Arc::new(facts.iter().map(of).collect::<Float64Array>())
    };
    Ok(RecordBatch::try_from_iter([
        ("subject", text(|fact| Some(fact.subject.clone()))),
        ("name", text(|fact| Some(fact.name.clone()))),
        ("value", text(value)),
        ("number", number(number_of)),
        ("unit", text(|fact| Some(fact.unit.clone()).filter(|unit| !unit.is_empty()))),
        ("source", text(|fact| Some(fact.source.word().to_owned()))),
        ("confidence", number(|fact| Some(fact.confidence))),
        ("noted_at", text(|fact| Some(date_and_time(fact.seconds)))),
        ("why_unknown", text(why_unknown)),
    ])?)
}

fn value(fact: &Fact) -> Option<String> {
    match &fact.value {
        FactValue::Unknown(_) => None,
        known => Some(known.to_string()),
    }
}

#[allow(clippy::cast_precision_loss)] // bytes and counts
fn number_of(fact: &Fact) -> Option<f64> {
    match fact.value {
        FactValue::Whole(number) => Some(number as f64),
        FactValue::Number(number) => Some(number),
        FactValue::Text(_) | FactValue::Unknown(_) => None,
    }
}

fn why_unknown(fact: &Fact) -> Option<String> {
    match &fact.value {
        FactValue::Unknown(why) => Some(why.clone()),
        _ => None,
    }
}

/// What was decided for the database in this process; lists as text for people.
pub(super) fn decisions(decisions: &Decisions) -> Result<RecordBatch, DataFusionError> {
    let text = |of: fn(&Decision) -> Option<String>| {
        texts(decisions.iter().map(|known| of(&known.decision)))
    };
    let changes = decisions.iter().map(|known: &Decided| Some(known.changes));
    Ok(RecordBatch::try_from_iter([
        ("question", text(|decision| Some(decision.question.clone()))),
        ("inputs", text(inputs)),
        ("choice", text(|decision| Some(decision.choice.clone()))),
        ("reason", text(|decision| Some(decision.reason.clone()))),
        ("facts", text(|decision| listed(&decision.facts))),
        ("alternatives", text(|decision| listed(&decision.alternatives))),
        ("would_change", text(|decision| listed(&decision.would_change))),
        ("overridden", text(|decision| decision.overridden.clone())),
        ("changes", Arc::new(changes.collect::<UInt64Array>()) as ArrayRef),
        ("decided_at", text(|decision| Some(date_and_time(decision.seconds)))),
    ])?)
}

fn inputs(decision: &Decision) -> Option<String> {
    let inputs = decision.inputs.iter().map(|(name, value)| format!("{name} = {value}"));
    listed(&inputs.collect::<Vec<_>>())
}

/// One after the other; none for nothing.
fn listed(list: &[impl ToString]) -> Option<String> {
    let list = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Some(list).filter(|list| !list.is_empty())
}

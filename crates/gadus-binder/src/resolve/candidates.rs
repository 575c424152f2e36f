//! Choice among signatures (`func_match_argtypes`, `func_select_candidate`).

use super::polymorphic::are_consistent;
use crate::catalog::{CastContext, find_cast, is_binary_coercible};
use crate::types::{BaseType, Category, TypeId, constants};

/// Signature with a type for each argument of the call.
#[derive(Debug, Clone)]
pub(crate) struct Candidate<T> {
    /// Entry of the catalog.
    pub(crate) entry: T,
    /// Types of the arguments, one for each of the call's.
    pub(crate) arguments: Vec<TypeId>,
}

/// Outcome of a choice.
#[derive(Debug)]
pub(crate) enum Choice<T> {
    /// One signature.
    One(Candidate<T>),
    /// No signature accepts the types.
    None,
    /// Several do, and none is better.
    Ambiguous,
}

/// Chooses the signature that fits argument types best.
pub(crate) fn choose<T: Clone>(candidates: Vec<Candidate<T>>, inputs: &[TypeId]) -> Choice<T> {
    if let Some(exact) = candidates.iter().find(|candidate| candidate.arguments == inputs) {
        return Choice::One(exact.clone());
    }
    let mut fitting = candidates;
    fitting.retain(|candidate| can_coerce_all(inputs, &candidate.arguments));
    match fitting.len() {
        0 => Choice::None,
        1 => fitting.pop().map_or(Choice::None, Choice::One),
        _ => best(fitting, inputs),
    }
}

/// Returns true if each argument converts implicitly.
pub(crate) fn can_coerce_all(inputs: &[TypeId], targets: &[TypeId]) -> bool {
    let fits = inputs.iter().zip(targets).all(|(input, target)| can_coerce(*input, *target));
    let has_open = targets.iter().any(|target| target.is_polymorphic());
    fits && (!has_open || are_consistent(inputs, targets))
}

/// Returns true if a type converts implicitly.
pub(crate) fn can_coerce(input: TypeId, target: TypeId) -> bool {
    input == target
        || target == constants::ANY
        || target.is_polymorphic()
        || input.is_unknown()
        || find_cast(input, target, CastContext::Implicit).is_some()
        || is_binary_coercible(input, target)
        || (input == constants::RECORD && is_composite(target))
        || (is_composite(input) && target == constants::RECORD)
}

fn is_composite(id: TypeId) -> bool {
    !id.is_array && matches!(id.base, BaseType::Composite(_))
}

fn best<T: Clone>(mut candidates: Vec<Candidate<T>>, inputs: &[TypeId]) -> Choice<T> {
    keep_most(&mut candidates, |candidate| {
        count(inputs, &candidate.arguments, |input, target| input == target)
    });
    if candidates.len() > 1 {
        keep_most(&mut candidates, |candidate| {
            count(inputs, &candidate.arguments, |input, target| {
                input == target || (target.is_preferred() && target.category() == input.category())
            })
        });
    }
    if candidates.len() == 1 {
        return candidates.pop().map_or(Choice::None, Choice::One);
    }
    let unknowns = inputs.iter().filter(|input| input.is_unknown()).count();
    if unknowns == 0 {
        return Choice::Ambiguous;
    }
    keep_categories(&mut candidates, inputs);
    if candidates.len() == 1 {
        return candidates.pop().map_or(Choice::None, Choice::One);
    }
    match by_known_type(&candidates, inputs) {
        Some(candidate) => Choice::One(candidate),
        None => Choice::Ambiguous,
    }
}

/// Counts arguments of known type that satisfy a predicate.
fn count(inputs: &[TypeId], targets: &[TypeId], fits: impl Fn(TypeId, TypeId) -> bool) -> usize {
    let pairs = inputs.iter().zip(targets);
    pairs.filter(|(input, target)| !input.is_unknown() && fits(**input, **target)).count()
}

/// Keeps the candidates with the highest score.
fn keep_most<T>(candidates: &mut Vec<Candidate<T>>, score: impl Fn(&Candidate<T>) -> usize) {
    let most = candidates.iter().map(&score).max().unwrap_or(0);
    candidates.retain(|candidate| score(candidate) == most);
}

/// Decides a category for each argument of unknown type, and keeps the candidates that have it: text if any candidate
/// takes text, else the category that all share.
fn keep_categories<T: Clone>(candidates: &mut Vec<Candidate<T>>, inputs: &[TypeId]) {
    let mut wanted = Vec::new();
    for (place, _) in inputs.iter().enumerate().filter(|(_, input)| input.is_unknown()) {
        let types = || candidates.iter().filter_map(|candidate| candidate.arguments.get(place));
        let has_text = types().any(|target| target.category() == Category::String);
        let first = types().next().map(|target| target.category());
        let is_shared = types().all(|target| Some(target.category()) == first);
        let category = match (has_text, first) {
            (true, _) => Category::String,
            (false, Some(category)) if is_shared => category,
            _ => return,
        };
        let has_preferred =
            types().any(|target| target.category() == category && target.is_preferred());
        wanted.push((place, category, has_preferred));
    }
    let fits = |candidate: &Candidate<T>| {
        wanted.iter().all(|(place, category, has_preferred)| {
            let target = candidate.arguments.get(*place);
            target.is_some_and(|target| {
                target.category() == *category && (!has_preferred || target.is_preferred())
            })
        })
    };
    let left = candidates.iter().filter(|candidate| fits(candidate)).cloned().collect::<Vec<_>>();
    if !left.is_empty() {
        *candidates = left;
    }
}

/// Takes unknown arguments for the type that all known ones have, if exactly one candidate accepts that.
fn by_known_type<T: Clone>(candidates: &[Candidate<T>], inputs: &[TypeId]) -> Option<Candidate<T>> {
    let mut known = inputs.iter().filter(|input| !input.is_unknown());
    let first = *known.next()?;
    if !known.all(|input| *input == first) {
        return None;
    }
    let all = vec![first; inputs.len()];
    let mut accepting =
        candidates.iter().filter(|candidate| can_coerce_all(&all, &candidate.arguments));
    let only = accepting.next()?;
    accepting.next().is_none().then(|| only.clone())
}

//! Types that signatures leave open: `anyelement`, `anyarray`, `anycompatible` and the like.

use super::unify::common_type;
use crate::types::{Category, SqlType, TypeId, constants};

/// Types that a call gives to those left open.
#[derive(Debug, Clone, Copy, Default)]
struct Bindings {
    /// `anyelement`
    element: Option<TypeId>,
    /// `anycompatible`
    compatible: Option<TypeId>,
}

/// Returns true if a call's types agree about those left open.
pub(crate) fn are_consistent(inputs: &[TypeId], targets: &[TypeId]) -> bool {
    bindings(inputs, targets).is_ok()
}

/// Puts the types of a call in the place of those left open.
///
/// # Errors
/// PostgreSQL's text if they contradict each other or cannot be decided.
pub(crate) fn instantiate(
    inputs: &[TypeId],
    targets: &[TypeId],
    result: TypeId,
) -> Result<(Vec<TypeId>, TypeId), String> {
    if !targets.iter().any(|target| target.is_polymorphic()) {
        return Ok((targets.to_vec(), result));
    }
    let bound = bindings(inputs, targets)?;
    let arguments = targets.iter().map(|target| bound.actual(*target)).collect::<Result<_, _>>()?;
    Ok((arguments, bound.actual(result)?))
}

/// Returns true if a type is left open together with `anyelement`.
fn is_of_element(id: TypeId) -> bool {
    [constants::ANYELEMENT, constants::ANYARRAY, constants::ANYNONARRAY, constants::ANYENUM]
        .contains(&id)
}

fn is_of_compatible(id: TypeId) -> bool {
    [constants::ANYCOMPATIBLE, constants::ANYCOMPATIBLEARRAY, constants::ANYCOMPATIBLENONARRAY]
        .contains(&id)
}

fn bindings(inputs: &[TypeId], targets: &[TypeId]) -> Result<Bindings, String> {
    let mut bound = Bindings::default();
    let pairs = || inputs.iter().copied().zip(targets.iter().copied());
    let is_unknown = |(input, _): &(TypeId, TypeId)| input.is_unknown();
    for (input, target) in pairs().filter(|pair| !is_unknown(pair) && is_of_element(pair.1)) {
        let element =
            if target == constants::ANYARRAY { element_of(input, target)? } else { input };
        match bound.element {
            None => bound.element = Some(element),
            Some(known) if known == element => {}
            Some(known) if target == constants::ANYARRAY => {
                let detail = format!("{} versus {}", array_name(known), input);
                return Err(format!("arguments declared \"anyarray\" are not all alike: {detail}"));
            }
            Some(known) => {
                let detail = format!("{known} versus {element}");
                return Err(format!(
                    "arguments declared \"anyelement\" are not all alike: {detail}"
                ));
            }
        }
    }
    bound.check_element(targets)?;
    let mut compatible = Vec::new();
    for (input, target) in pairs().filter(|pair| !is_unknown(pair) && is_of_compatible(pair.1)) {
        let is_array = target == constants::ANYCOMPATIBLEARRAY;
        compatible.push(if is_array { element_of(input, target)? } else { input });
    }
    if targets.iter().any(|target| is_of_compatible(*target)) {
        let types = compatible.iter().map(|id| SqlType::from(*id)).collect::<Vec<_>>();
        let common = match types.is_empty() {
            true => Some(constants::TEXT),
            false => common_type(&types).ok().map(|common| common.id),
        };
        let failed =
            || "arguments of anycompatible family cannot be cast to a common type".to_owned();
        bound.compatible = Some(common.ok_or_else(failed)?);
    }
    Ok(bound)
}

fn array_name(element: TypeId) -> String {
    element.array_of().unwrap_or(element).to_string()
}

fn element_of(input: TypeId, target: TypeId) -> Result<TypeId, String> {
    input.element().ok_or_else(|| {
        format!("argument declared {} is not an array but type {input}", target.base.name())
    })
}

impl Bindings {
    fn check_element(&self, targets: &[TypeId]) -> Result<(), String> {
        let Some(element) = self.element else { return Ok(()) };
        if targets.contains(&constants::ANYNONARRAY) && element.is_array {
            return Err(format!("type matched to anynonarray is an array type: {element}"));
        }
        if targets.contains(&constants::ANYENUM) && element.category() != Category::Enum {
            return Err(format!("type matched to anyenum is not an enum type: {element}"));
        }
        Ok(())
    }

    /// Returns the type that stands for one left open, or that type itself if it is not.
    fn actual(&self, target: TypeId) -> Result<TypeId, String> {
        let undecided =
            || "could not determine polymorphic type because input has type unknown".to_owned();
        let array = |element: TypeId| {
            let none = || format!("could not find array type for data type {element}");
            element.array_of().ok_or_else(none)
        };
        match target {
            constants::ANYARRAY => array(self.element.ok_or_else(undecided)?),
            constants::ANYCOMPATIBLEARRAY => array(self.compatible.ok_or_else(undecided)?),
            _ if is_of_element(target) => self.element.ok_or_else(undecided),
            _ if is_of_compatible(target) => self.compatible.ok_or_else(undecided),
            _ => Ok(target),
        }
    }
}

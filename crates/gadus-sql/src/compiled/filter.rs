//! The WHERE of a compiled statement: conjuncts with values that come when it runs.

use super::{Operand, Target};
use crate::value::Value;
use gadus_engine::{Comparison, Datum, Predicate, Result, Test};

/// A conjunction.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Each conjunct as conditions that must all hold.
    pub(super) conjuncts: Vec<Vec<Condition>>,
}

/// A condition on one column.
#[derive(Debug)]
pub(super) enum Condition {
    Compare {
        column: usize,
        comparison: Comparison,
        operand: Operand,
    },
    In {
        column: usize,
        operands: Vec<Operand>,
    },
    /// LIKE with a pattern that is known when the statement runs.
    Like {
        column: usize,
        pattern: Operand,
    },
    Null {
        column: usize,
        wanted: bool,
    },
}

impl Condition {
    /// Returns the values that it has.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Operand> {
        match self {
            Self::Compare { operand, .. } | Self::Like { pattern: operand, .. } => {
                std::slice::from_ref(operand)
            }
            Self::In { operands, .. } => operands.as_slice(),
            Self::Null { .. } => &[],
        }
        .iter()
    }
}

impl Filter {
    /// The conditions with their values; none when one of them needs DataFusion's rules.
    pub(super) fn predicates(
        &self,
        target: &Target,
        parameters: &[Value],
    ) -> Result<Option<Vec<Predicate>>> {
        let mut predicates = Vec::with_capacity(self.conjuncts.len());
        for condition in self.conjuncts.iter().flatten() {
            match condition.predicate(target, parameters)? {
                Some(predicate) => predicates.push(predicate),
                None => return Ok(None),
            }
        }
        Ok(Some(predicates))
    }
}

impl Condition {
    fn predicate(&self, target: &Target, parameters: &[Value]) -> Result<Option<Predicate>> {
        let (column, test) = match self {
            Self::Null { column, wanted: true } => (*column, Some(Test::IsNull)),
            Self::Null { column, wanted: false } => (*column, Some(Test::IsNotNull)),
            Self::Compare { column, comparison, operand } => {
                let constant = constant(target, *column, operand, parameters)?;
                (*column, constant.map(|constant| Test::Compare(*comparison, constant)))
            }
            Self::In { column, operands } => {
                let constants = operands
                    .iter()
                    .map(|operand| constant(target, *column, operand, parameters))
                    .collect::<Result<Option<Vec<_>>>>()?;
                let sorted = constants.map(|mut constants| {
                    constants.sort();
                    constants.dedup();
                    Test::In(constants)
                });
                (*column, sorted)
            }
            Self::Like { column, pattern } => {
                let Value::Text(pattern) = pattern.value(parameters)? else { return Ok(None) };
                (*column, prefix_of(&pattern))
            }
        };
        Ok(test.map(|test| Predicate { column, test }))
    }
}

/// The value as the column keeps it, where the two compare exactly.
fn constant(
    target: &Target,
    column: usize,
    operand: &Operand,
    parameters: &[Value],
) -> Result<Option<Datum>> {
    Ok(operand.value(parameters)?.exact(target.column_type(column)))
}

/// What a pattern tests, where it is a prefix.
fn prefix_of(pattern: &str) -> Option<Test> {
    let prefix = pattern.strip_suffix('%')?;
    let is_plain = !prefix.contains(['%', '_', '\\']);
    is_plain.then(|| Test::StartsWith(prefix.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patterns_with_one_wildcard_at_the_end_are_prefixes() {
        assert_eq!(prefix_of("ab%"), Some(Test::StartsWith(b"ab".to_vec())));
        assert_eq!(prefix_of("%"), Some(Test::StartsWith(Vec::new())));
        for other in ["", "ab", "%ab", "a%b%", "a_%", "a\\%"] {
            assert_eq!(prefix_of(other), None, "{other}");
        }
    }
}

//! What an index is over, and how values become codes of it.

use super::code::{KeyCode, KeyHash, order_of, order_of_bytes};
use crate::scan::{Comparison, Predicate, Test};
use crate::types::{Datum, StorageClass, TableSchema};
use std::ops::RangeInclusive;

/// The number of the primary key among the indexes of its table.
pub(crate) const PRIMARY: u32 = 0;

/// Values of a list that are looked up one by one, at most.
const VALUES_MAX: usize = 1_024;

/// An index of a table of today's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyShape {
    /// [`PRIMARY`], or the index's number.
    pub(crate) id: u32,
    /// The places of its columns, in its order.
    pub(crate) columns: Vec<usize>,
    /// Whether no two rows have the same values, none of them NULL.
    pub(crate) unique: bool,
    /// Whether codes rise with the first column's values: those of a primary key do not.
    ordered: bool,
    /// Whether the order alone tells values apart, but for NULL and NaN.
    exact: bool,
}

impl KeyShape {
    /// The shapes of all indexes, the primary key's first.
    pub(crate) fn all(schema: &TableSchema) -> Vec<Self> {
        let primary = Self {
            id: PRIMARY,
            columns: schema.key.clone(),
            unique: true,
            ordered: false,
            exact: false,
        };
        let primary = Some(primary).filter(|primary| !primary.columns.is_empty());
        let others = schema.indexes.iter().map(|index| {
            let place = |id: &u32| schema.column_with_id(*id).expect("indexes name columns");
            let columns = index.columns.iter().map(place).collect::<Vec<_>>();
            let exact = match columns.as_slice() {
                [one] => matches!(
                    schema.columns[*one].column_type.storage(),
                    StorageClass::Integer | StorageClass::Float
                ),
                _ => false,
            };
            Self { id: index.id, columns, unique: index.unique, ordered: true, exact }
        });
        primary.into_iter().chain(others).collect()
    }

    /// The values of a row given whole.
    pub(crate) fn values<'a>(
        &'a self,
        row: &'a [Datum],
    ) -> impl Iterator<Item = &'a Datum> + Clone {
        self.columns.iter().map(|&column| &row[column])
    }

    /// Where values stand, one for each column.
    pub(crate) fn code<'a>(&self, values: impl Iterator<Item = &'a Datum> + Clone) -> KeyCode {
        let order = match values.clone().next() {
            Some(first) if self.ordered => order_of(first),
            _ => 0,
        };
        let hash = if self.exact { 0 } else { KeyHash::of(values).0 };
        KeyCode { order, hash }
    }

    /// Whether its entries are in the order of values of this column.
    pub(crate) fn orders_by(&self, column: usize) -> bool {
        self.ordered && self.columns[0] == column
    }

    /// The codes that rows have which meet all of some conditions; none where the index is of no help.
    pub(crate) fn codes(&self, predicates: &[Predicate]) -> Option<Vec<RangeInclusive<KeyCode>>> {
        let only = |column: &usize| {
            let mut of_column = predicates.iter().filter(|predicate| predicate.column == *column);
            of_column.find_map(|predicate| predicate.test.only_value())
        };
        if let Some(values) = self.columns.iter().map(only).collect::<Option<Vec<_>>>() {
            let code = self.code(values.into_iter());
            return Some(vec![code..=code]);
        }
        let of_first = predicates.iter().filter(|predicate| predicate.column == self.columns[0]);
        let all = of_first.filter_map(|predicate| self.codes_of_first(&predicate.test));
        all.reduce(|one, other| match (one.as_slice(), other.as_slice()) {
            // Two bounds that are no one predicate.
            ([one], [other]) => {
                let low = *one.start().max(other.start());
                let high = *one.end().min(other.end());
                if low <= high { vec![low..=high] } else { Vec::new() }
            }
            _ if other.len() < one.len() => other,
            _ => one,
        })
    }

    /// The same for a test of the first column.
    fn codes_of_first(&self, test: &Test) -> Option<Vec<RangeInclusive<KeyCode>>> {
        let between = |low: u64, high: u64| {
            KeyCode { order: low, hash: 0 }..=KeyCode { order: high, hash: u64::MAX }
        };
        let one = |value: &Datum| match self.columns.len() {
            1 => {
                let code = self.code(std::iter::once(value));
                code..=code
            }
            _ => between(order_of(value), order_of(value)),
        };
        if let Test::In(values) = test
            && (self.columns.len() == 1 || self.ordered)
            && values.len() <= VALUES_MAX
        {
            return Some(values.iter().map(one).collect());
        }
        if !self.ordered {
            return None;
        }
        let range = match test {
            Test::Compare(Comparison::Equal, value) => one(value),
            Test::Compare(Comparison::Less | Comparison::LessOrEqual, value) => {
                between(0, order_of(value))
            }
            Test::Compare(Comparison::Greater | Comparison::GreaterOrEqual, value) => {
                between(order_of(value), u64::MAX)
            }
            Test::Between(low, high) if low <= high => between(order_of(low), order_of(high)),
            Test::Between(..) => return Some(Vec::new()),
            Test::StartsWith(prefix) => {
                let mut last = [u8::MAX; 8];
                let count = prefix.len().min(last.len());
                last[..count].copy_from_slice(&prefix[..count]);
                between(order_of_bytes(prefix), u64::from_be_bytes(last))
            }
            Test::IsNull => between(u64::MAX, u64::MAX),
            Test::Compare(Comparison::NotEqual, _) | Test::IsNotNull | Test::In(_) => return None,
        };
        Some(vec![range])
    }
}

//! GROUPING: bits that say which groups a row's grouping set does not have.

use super::{Lowering, Result, Typed, column, column_name, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::logical_expr::{Aggregate, Expr, cast, lit};
use gadus_binder::bound::{AggregateCall, ColumnId, Scalar};
use gadus_binder::types::SqlType;

/// Grouping sets of an aggregation.
#[derive(Debug)]
pub(super) struct Grouping {
    /// Column with DataFusion's bits, the lowest one of the last group.
    number: ColumnId,
    /// Groups by position in the statement, in the order in which DataFusion has them.
    order: Vec<usize>,
}

/// Returns groups by position in the order in which DataFusion has them.
fn order_of(sets: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    for group in sets.iter().flatten() {
        if !order.contains(group) {
            order.push(*group);
        }
    }
    order
}

/// Returns the condition that a row's grouping set has a group; `None` for a group that all have.
pub(super) fn in_set(sets: &[Vec<usize>], group: usize) -> Option<Expr> {
    if sets.iter().all(|set| set.contains(&group)) {
        return None;
    }
    let order = order_of(sets);
    let place = order.iter().position(|known| *known == group)?;
    let unit = 1_i64 << (order.len() - 1 - place).min(62);
    let bits = Expr::Column(Column::new_unqualified(Aggregate::INTERNAL_GROUPING_ID));
    let bit = (cast(bits, DataType::Int64) / lit(unit)) % lit(2_i64);
    Some(bit.eq(lit(0_i64)))
}

impl Lowering<'_> {
    /// Notes the grouping sets of an aggregation; returns the column with their bits.
    pub(super) fn note_grouping(&mut self, number: ColumnId, sets: &[Vec<usize>]) -> Expr {
        let order = order_of(sets);
        self.make(number, DataType::Int64);
        self.groupings.push(Grouping { number, order });
        let bits = Column::new_unqualified(Aggregate::INTERNAL_GROUPING_ID);
        cast(Expr::Column(bits), DataType::Int64).alias(column_name(number))
    }

    /// Lowers GROUPING of groups.
    pub(super) fn grouping(&self, groups: &[usize], data_type: SqlType) -> Result<Typed> {
        let is_here = |grouping: &&Grouping| {
            self.made.last().is_some_and(|made| made.contains(&grouping.number))
        };
        let Some(grouping) = self.groupings.iter().rev().find(is_here) else {
            return missing("GROUPING without grouping sets");
        };
        let count = grouping.order.len();
        let mut bits: Option<Expr> = None;
        for group in groups {
            let place = grouping.order.iter().position(|known| known == group);
            let bit = match place {
                Some(place) => {
                    let unit = 1_i64 << (count - 1 - place).min(62);
                    (column(grouping.number) / lit(unit)) % lit(2_i64)
                }
                // It is in no set.
                None => lit(1_i64),
            };
            bits = Some(match bits {
                Some(before) => before * lit(2_i64) + bit,
                None => bit,
            });
        }
        let wanted = super::types::lowered_type(data_type)?;
        match bits {
            Some(bits) => Ok(Typed::new(cast(bits, wanted.clone()), wanted)),
            None => missing("GROUPING of nothing"),
        }
    }
}

/// Refuses direct arguments that depend on the group: a group that is NULL in a set is not NULL in the rows below.
pub(super) fn refuse_direct_groups(
    call: &AggregateCall,
    sets: Option<&[Vec<usize>]>,
) -> Result<()> {
    let is_within_group = sets.is_some() && call.function.kind.is_within_group();
    match is_within_group && call.arguments.iter().any(Scalar::depends_on_rows) {
        true => missing("a direct argument that differs between grouping sets"),
        false => Ok(()),
    }
}

//! Groups, windows, DISTINCT and LIMIT for each value of a domain.

use super::Unnesting;
use super::build::{all, coalesce, column, function, infix, integer, is, written};
use super::dependent::{OfEach, joined};
use super::domain::{Domain, DomainColumn, same_values, substitute};
use crate::bound::{
    AggregateCall, ColumnId, Constant, JoinKind, Limit, OrderedScalar, Relational, Scalar,
    ScalarKind, SortKey, WindowBound, WindowCall, WindowFrame,
};
use crate::catalog::{Function, FunctionKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{BooleanTest, FrameExclusion, FrameUnits};

/// Function that is called for expressions.
type Visit<'a> = &'a mut dyn FnMut(&mut Scalar);

/// Aggregates with their columns.
pub(super) type Calls = Vec<(ColumnId, AggregateCall)>;

impl Unnesting {
    /// Returns the rows of groups, windows, DISTINCT and LIMIT for each value of a domain.
    pub(super) fn groups_of_each(&mut self, rows: Relational, domain: &Domain) -> Result<OfEach> {
        match rows {
            Relational::Aggregate { input, groups, sets, mut aggregates, set_number } => {
                let (input, of) = self.of_each(*input, domain)?;
                for (_, call) in &mut aggregates {
                    substitute_all(&mut |visit| call.for_each_scalar(visit), &of)?;
                }
                match (groups.is_empty(), sets) {
                    (true, None) => self.one_group_of_each(input, aggregates, of, domain),
                    (_, sets) => group_by(input, groups, (sets, set_number), aggregates, of),
                }
            }
            Relational::Window { input, mut calls } => {
                let (input, of) = self.of_each(*input, domain)?;
                for (_, call) in &mut calls {
                    substitute_all(&mut |visit| call.for_each_scalar(visit), &of)?;
                    call.partition_by.extend(of.iter().map(|column| column.key()));
                }
                Ok((Relational::Window { input: Box::new(input), calls }, of))
            }
            Relational::Distinct { input, mut on, mut columns } => {
                let (input, of) = self.of_each(*input, domain)?;
                columns.extend(of.iter().map(|column| column.key));
                if let Some(on) = &mut on {
                    on.extend(of.iter().map(|column| column.key));
                }
                Ok((Relational::Distinct { input: Box::new(input), on, columns }, of))
            }
            Relational::Limit(limit) => {
                let mut limit = *limit;
                let (input, of) = self.of_each(limit.input, domain)?;
                limit.input = input;
                for count in limit.limit.iter_mut().chain(&mut limit.offset) {
                    substitute(count, &of)?;
                }
                let keys = of.iter().map(|column| column.key()).collect();
                Ok((self.limit_each(limit, keys)?, of))
            }
            _ => Err(BindError::unsupported("this correlated query", Span::default())),
        }
    }

    /// Aggregates the rows of each value; a value without rows has its row, too.
    fn one_group_of_each(
        &mut self,
        input: Relational,
        aggregates: Calls,
        of: Vec<DomainColumn>,
        domain: &Domain,
    ) -> Result<OfEach> {
        let (left, values) = self.rows_of(domain)?;
        let grouped = self.renamed(&of);
        let keys = grouped.iter().zip(&of).map(|(group, column)| (group.key, column.key()));
        let keys = keys.collect();
        let mut items = values.iter().map(|column| (column.key, column.key())).collect::<Vec<_>>();
        let mut calls = Vec::with_capacity(aggregates.len());
        for (id, call) in aggregates {
            let inner = self.new_column(call.data_type);
            items.push((id, value_of_group(&call, column(inner, call.data_type))?));
            calls.push((inner, call));
        }
        let right = Relational::Aggregate {
            input: Box::new(input),
            groups: keys,
            sets: None,
            aggregates: calls,
            set_number: None,
        };
        let condition = all(same_values(&values, &grouped)?);
        let input = Box::new(joined(JoinKind::Left, left, right, condition, false));
        Ok((Relational::Project { input, items }, values))
    }

    /// Limits the rows of each value of some expressions.
    pub(super) fn limit_each(&mut self, limit: Limit, keys: Vec<Scalar>) -> Result<Relational> {
        let Limit { input, limit: most, offset, with_ties } = limit;
        // What is computed of ordered rows is computed of those that are left.
        if let Relational::Project { input, items } = input {
            let limit = Limit { input: *input, limit: most, offset, with_ties };
            let input = Box::new(self.limit_each(limit, keys)?);
            return Ok(Relational::Project { input, items });
        }
        let order_by = match &input {
            Relational::Sort { keys, .. } => keys.iter().map(|key| self.ordered(key)).collect(),
            _ => Vec::new(),
        };
        let place = self.new_column(constants::INT8.plain());
        let number = self.numbering("row_number", &keys, &order_by)?;
        let mut calls = vec![(place, number)];
        let place = column(place, constants::INT8);
        let last = match (&most, with_ties) {
            (Some(_), true) => {
                let rank = self.new_column(constants::INT8.plain());
                calls.push((rank, self.numbering("rank", &keys, &order_by)?));
                column(rank, constants::INT8)
            }
            _ => place.clone(),
        };
        let offset = offset.map(|offset| coalesce(offset, integer(0)));
        let mut conditions = Vec::new();
        if let Some(offset) = &offset {
            conditions.push(infix(">", place, offset.clone())?);
        }
        if let Some(most) = most.filter(|most| !is_null(most)) {
            refuse_negative(&most)?;
            let end = match offset {
                Some(offset) => infix("+", offset, most.clone())?,
                None => most.clone(),
            };
            let within = infix("<=", last, end)?;
            conditions.push(match written(&most) {
                Some(_) => within,
                // NULL is no limit.
                None => {
                    let parts = vec![is(most, BooleanTest::Null, false), within];
                    Scalar::new(ScalarKind::Or(parts), constants::BOOL, Span::default())
                }
            });
        }
        let rows = Relational::Window { input: Box::new(input), calls };
        Ok(match all(conditions) {
            Some(predicate) => Relational::Filter { input: Box::new(rows), predicate },
            None => rows,
        })
    }

    /// Limits rows by their ranks; they stay in their order.
    pub(super) fn limit_with_ties(&mut self, limit: Limit) -> Result<Relational> {
        let limited = self.limit_each(limit, Vec::new())?;
        Ok(sorted_again(limited))
    }

    fn ordered(&self, key: &SortKey) -> OrderedScalar {
        OrderedScalar {
            value: column(key.column, self.type_of(key.column)),
            is_descending: key.is_descending,
            nulls_first: key.nulls_first,
        }
    }

    /// Returns the call of a window function that numbers the rows of each group.
    fn numbering(
        &self,
        name: &str,
        partition_by: &[Scalar],
        order_by: &[OrderedScalar],
    ) -> Result<WindowCall> {
        let is_window = |function: &Function| function.kind == FunctionKind::Window;
        let function = function(name, 0, is_window)?;
        Ok(WindowCall {
            call: super::build::aggregate(function, Vec::new(), constants::INT8),
            ignores_nulls: false,
            partition_by: partition_by.to_vec(),
            order_by: order_by.to_vec(),
            frame: WindowFrame {
                units: FrameUnits::Range,
                start: WindowBound::UnboundedPreceding,
                end: WindowBound::CurrentRow,
                exclusion: FrameExclusion::NoOthers,
            },
        })
    }
}

/// Sorts rows that were numbered in an order by it.
fn sorted_again(rows: Relational) -> Relational {
    match rows {
        Relational::Project { input, items } => {
            Relational::Project { input: Box::new(sorted_again(*input)), items }
        }
        rows => match order_of(&rows) {
            Some(keys) => Relational::Sort { input: Box::new(rows), keys },
            None => rows,
        },
    }
}

/// Returns the keys by which the input of a numbering is sorted.
fn order_of(rows: &Relational) -> Option<Vec<SortKey>> {
    match rows {
        Relational::Filter { input, .. } | Relational::Window { input, .. } => order_of(input),
        Relational::Sort { keys, .. } => Some(keys.clone()),
        _ => None,
    }
}

/// Groups rows by the values of a domain, too.
fn group_by(
    input: Relational,
    mut groups: Vec<(ColumnId, Scalar)>,
    (mut sets, set_number): (Option<Vec<Vec<usize>>>, Option<ColumnId>),
    aggregates: Calls,
    of: Vec<DomainColumn>,
) -> Result<OfEach> {
    for (_, group) in &mut groups {
        substitute(group, &of)?;
    }
    let first = groups.len();
    groups.extend(of.iter().map(|column| (column.key, column.key())));
    for set in sets.iter_mut().flatten() {
        // Its row is there also if there are no rows.
        if set.is_empty() {
            let what = "an empty grouping set in a correlated query";
            return Err(BindError::unsupported(what, Span::default()));
        }
        set.extend(first..groups.len());
    }
    let input = Box::new(input);
    Ok((Relational::Aggregate { input, groups, sets, aggregates, set_number }, of))
}

/// Returns the value of an aggregate over the column that is NULL for no rows.
pub(super) fn value_of_group(call: &AggregateCall, value: Scalar) -> Result<Scalar> {
    match (call.function.kind, call.function.name) {
        (FunctionKind::Aggregate, "count" | "regr_count") => Ok(coalesce(value, integer(0))),
        (FunctionKind::HypotheticalSet, name) => {
            let what = format!("{name} in a correlated query");
            Err(BindError::unsupported(what, Span::default()))
        }
        _ => Ok(value),
    }
}

fn substitute_all(for_each: &mut dyn FnMut(Visit<'_>), of: &[DomainColumn]) -> Result<()> {
    let mut substituted = Ok(());
    for_each(&mut |part| {
        if substituted.is_ok() {
            substituted = substitute(part, of);
        }
    });
    substituted
}

fn is_null(scalar: &Scalar) -> bool {
    match &scalar.kind {
        ScalarKind::Constant(Constant::Null) => true,
        ScalarKind::Cast { operand, .. } => is_null(operand),
        _ => false,
    }
}

fn refuse_negative(most: &Scalar) -> Result<()> {
    match written(most) {
        Some(..0) => Err(BindError::without_position("2201W", "LIMIT must not be negative")),
        _ => Ok(()),
    }
}

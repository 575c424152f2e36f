//! Joining a correlated query to the rows around it.

use super::Unnesting;
use super::build::{all, column};
use super::columns::Columns;
use super::dependent::joined;
use super::domain::DomainColumn;
use super::groups::Calls;
use super::pull::{Equality, Pulled, equalities};
use super::values::grouped;
use crate::bound::{ColumnId, CommonTable, JoinKind, Relational, Scalar, Subquery};
use crate::error::Result;
use crate::types::SqlType;
use std::collections::HashSet;

/// Query that no longer names columns around it, and what joins it to the rows around.
pub(super) struct Detached {
    pub(super) rows: Relational,
    pub(super) keys: Vec<Key>,
    /// Conditions that are no keys.
    conditions: Vec<Scalar>,
    /// Rows around that are read twice.
    shared: Option<CommonTable>,
}

/// Value by which a query is joined.
pub(super) enum Key {
    /// Both sides of an equality.
    Equality(Box<Equality>),
    /// Column of the domain.
    Domain(DomainColumn),
}

impl Key {
    /// Returns the value as an expression over the query.
    pub(super) fn inner(&self) -> Scalar {
        match self {
            Self::Equality(equality) => equality.inner.clone(),
            Self::Domain(column) => column.key(),
        }
    }

    /// Returns the condition, with an expression for the value of the query.
    fn condition(&self, inner: Scalar) -> Result<Scalar> {
        match self {
            Self::Equality(equality) => Ok(equality.with(inner)),
            Self::Domain(column) => column.is_of_row(inner),
        }
    }
}

impl Detached {
    /// Creates a query that is joined by conditions.
    pub(super) fn joined_by(rows: Relational, conditions: Vec<Scalar>) -> Self {
        Self { rows, keys: Vec::new(), conditions, shared: None }
    }

    /// Groups the rows by their keys, by which the groups are joined then.
    pub(super) fn grouped(self, unnesting: &mut Unnesting, aggregates: Calls) -> Result<Self> {
        let (mut groups, mut conditions) = (Vec::new(), self.conditions);
        for key in &self.keys {
            let inner = key.inner();
            let data_type = inner.data_type;
            let id = unnesting.new_column(data_type);
            groups.push((id, inner));
            conditions.push(key.condition(column(id, data_type))?);
        }
        let rows = grouped(self.rows, groups, aggregates);
        Ok(Self { rows, keys: Vec::new(), conditions, shared: self.shared })
    }

    /// Returns the rows around, joined with those of the query.
    pub(super) fn attach(
        self,
        input: Relational,
        kind: JoinKind,
        condition: Option<Scalar>,
    ) -> Result<Relational> {
        let mut conditions = self.conditions;
        for key in &self.keys {
            conditions.push(key.condition(key.inner())?);
        }
        conditions.extend(condition);
        let (mut tables, input) = match input {
            Relational::With { tables, input } => (tables, *input),
            input => (Vec::new(), input),
        };
        tables.extend(self.shared);
        let rows = joined(kind, input, self.rows, all(conditions), false);
        Ok(match tables.is_empty() {
            true => rows,
            false => Relational::With { tables, input: Box::new(rows) },
        })
    }
}

impl Unnesting {
    /// Returns true for a query within an expression that names columns around it.
    pub(super) fn is_correlated(&self, subquery: &mut Subquery) -> bool {
        !self.free_of_query(subquery).is_empty()
    }

    /// Returns the columns of an input that a query names.
    pub(super) fn columns_around(&self, input: &Relational, query: &mut Relational) -> Columns {
        let there = self.outputs(input).into_iter().collect::<HashSet<_>>();
        let mut columns = self.free(query);
        columns.retain(|id, _| there.contains(id));
        columns
    }

    /// Detaches a query from the rows around it. Its rows have the wanted columns.
    pub(super) fn detach(
        &mut self,
        input: &mut Relational,
        mut query: Relational,
        wanted: &[(ColumnId, SqlType)],
        by_keys: bool,
    ) -> Result<Detached> {
        let columns = self.columns_around(input, &mut query);
        let outer = columns.keys().copied().collect::<HashSet<_>>();
        if outer.is_empty() {
            return Ok(Detached::joined_by(query, Vec::new()));
        }
        if let Some(Pulled { rows, conditions }) = self.pull(query.clone(), &outer)? {
            let keys = equalities(&conditions, &outer);
            match keys {
                Some(keys) if by_keys => {
                    let keys = keys.into_iter().map(|key| Key::Equality(Box::new(key))).collect();
                    return Ok(Detached { rows, keys, conditions: Vec::new(), shared: None });
                }
                _ if !by_keys => {
                    return Ok(Detached::joined_by(rows, conditions));
                }
                _ => {}
            }
        }
        let (domain, shared) = self.domain(input, columns);
        let (rows, of) = self.of_each(query, &domain)?;
        let rows = self.without(rows, &outer, &of, wanted);
        let keys = of.into_iter().map(Key::Domain).collect();
        Ok(Detached { rows, keys, conditions: Vec::new(), shared })
    }

    /// Leaves out columns that the rows around have, too.
    fn without(
        &self,
        rows: Relational,
        outer: &HashSet<ColumnId>,
        of: &[DomainColumn],
        wanted: &[(ColumnId, SqlType)],
    ) -> Relational {
        if !self.outputs(&rows).iter().any(|id| outer.contains(id)) {
            return rows;
        }
        let wanted = wanted.iter().filter(|(id, _)| !outer.contains(id));
        let wanted = wanted.map(|(id, data_type)| (*id, column(*id, *data_type)));
        let keys = of.iter().map(|column| (column.key, column.key()));
        Relational::Project { input: Box::new(rows), items: wanted.chain(keys).collect() }
    }
}

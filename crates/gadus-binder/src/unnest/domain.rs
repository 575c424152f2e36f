//! Domain of a correlated query: the different values of the columns that it names of the rows around it.

use super::Unnesting;
use super::build::{cast, column, same};
use super::columns::{Columns, has_query};
use crate::bound::{
    BoundQuery, ColumnId, CommonTable, CommonTableId, OutputColumn, Relational, Scalar, ScalarKind,
};
use crate::catalog::Volatility;
use crate::error::Result;
use crate::types::{BaseType, SqlType, TypeId, constants};
use std::collections::HashSet;

/// Rows around a correlated query, of which it reads some columns.
pub(super) struct Domain {
    source: Relational,
    columns: Columns,
    /// Numbers of the columns.
    pub(super) outer: HashSet<ColumnId>,
}

impl Domain {
    /// Returns the columns of the rows around.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }
}

/// Column of a domain in one of its places in a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct DomainColumn {
    /// Column of the rows around.
    pub(super) outer: ColumnId,
    outer_type: SqlType,
    /// Column that tells its values apart.
    pub(super) key: ColumnId,
    pub(super) key_type: SqlType,
}

impl DomainColumn {
    /// Returns the key as an expression.
    pub(super) fn key(self) -> Scalar {
        column(self.key, self.key_type)
    }

    /// Returns the value of the column around.
    fn value(self) -> Result<Scalar> {
        let value = cast(self.key(), self.outer_type.id)?;
        Ok(Scalar { data_type: self.outer_type, ..value })
    }

    /// Returns the condition that a row of the domain, by an expression of its key, is that of a row around.
    pub(super) fn is_of_row(self, key: Scalar) -> Result<Scalar> {
        same(key, self.key_of_row()?)
    }

    /// Returns the key as an expression over the rows around.
    pub(super) fn key_of_row(self) -> Result<Scalar> {
        cast(column(self.outer, self.outer_type), self.key_type.id)
    }

    /// Returns the column in another place.
    pub(super) fn at(self, key: ColumnId) -> Self {
        Self { key, ..self }
    }
}

/// Returns the conditions that rows of two places of one domain are of the same values.
pub(super) fn same_values(left: &[DomainColumn], right: &[DomainColumn]) -> Result<Vec<Scalar>> {
    left.iter().zip(right).map(|(left, right)| same(left.key(), right.key())).collect()
}

/// Puts the values of a domain in the place of columns around.
pub(super) fn substitute(scalar: &mut Scalar, domain: &[DomainColumn]) -> Result<()> {
    let mut failed = None;
    scalar.for_each(&mut |part| {
        let ScalarKind::Column(id) = part.kind else { return };
        let Some(column) = domain.iter().find(|column| column.outer == id) else { return };
        match column.value() {
            Ok(value) => *part = value,
            Err(error) => failed = Some(error),
        }
    });
    failed.map_or(Ok(()), Err)
}

/// Returns the type by which values of a type are told apart: text if values that are written in several ways are equal.
fn key_type(data_type: SqlType) -> SqlType {
    const BY_VALUE: [TypeId; 16] = [
        constants::BOOL,
        constants::BYTEA,
        constants::CHAR,
        constants::NAME,
        constants::INT8,
        constants::INT2,
        constants::INT4,
        constants::TEXT,
        constants::OID,
        constants::BPCHAR,
        constants::VARCHAR,
        constants::DATE,
        constants::TIME,
        constants::TIMESTAMP,
        constants::TIMESTAMPTZ,
        constants::UUID,
    ];
    let id = data_type.id;
    let is_enumeration = !id.is_array && matches!(id.base, BaseType::Enum(_));
    match is_enumeration || BY_VALUE.contains(&id) {
        true => data_type,
        false => constants::TEXT.plain(),
    }
}

impl Unnesting {
    /// Returns the domain of some columns of rows. Rows that may be others when they are computed again, or that cost more
    /// than a scan, become a common table, which the caller adds.
    pub(super) fn domain(
        &mut self,
        input: &mut Relational,
        columns: Columns,
    ) -> (Domain, Option<CommonTable>) {
        let outer = columns.keys().copied().collect::<HashSet<_>>();
        let source = self.source(input, &outer);
        let shared = match is_repeatable(source) || self.keeps_rows {
            true => None,
            false => Some(self.share(source)),
        };
        (Domain { source: source.clone(), columns, outer }, shared)
    }

    /// Returns the part of an input that has some columns, with at least the values that they have in it.
    fn source<'a>(
        &self,
        input: &'a mut Relational,
        outer: &HashSet<ColumnId>,
    ) -> &'a mut Relational {
        let inner = match &*input {
            Relational::Join(join) => join.kind.keeps_left().then(|| self.outputs(&join.left)),
            Relational::With { input, .. } => Some(self.outputs(input)),
            _ => None,
        };
        if !inner.is_some_and(|inner| outer.iter().all(|id| inner.contains(id))) {
            return input;
        }
        match input {
            Relational::Join(join) => self.source(&mut join.left, outer),
            Relational::With { input, .. } => self.source(input, outer),
            input => input,
        }
    }

    /// Makes rows a common table, which is read in their place.
    fn share(&mut self, source: &mut Relational) -> CommonTable {
        self.last_table += 1;
        let id = CommonTableId(self.last_table);
        let columns = self.outputs(source);
        let outputs = columns.iter().map(|id| OutputColumn {
            name: format!("c{}", id.0),
            id: *id,
            data_type: self.type_of(*id),
        });
        let outputs = outputs.collect();
        let root = std::mem::replace(source, Relational::CommonTableScan { table: id, columns });
        let query = BoundQuery { root, outputs };
        let free = self.free(&mut query.root.clone());
        if !free.is_empty() {
            self.correlated.insert(id, free);
        }
        let name = "rows around a query".to_owned();
        CommonTable { id, name, query, recursive: None, materialized: Some(true), readers: 2 }
    }

    /// Returns the rows of a domain, with columns of their own.
    pub(super) fn rows_of(&mut self, domain: &Domain) -> Result<(Relational, Vec<DomainColumn>)> {
        let (mut groups, mut columns) = (Vec::new(), Vec::new());
        for (outer, outer_type) in &domain.columns {
            let key_type = key_type(*outer_type);
            let key = self.new_column(key_type);
            groups.push((key, cast(column(*outer, *outer_type), key_type.id)?));
            columns.push(DomainColumn { outer: *outer, outer_type: *outer_type, key, key_type });
        }
        let rows = Relational::Aggregate {
            input: Box::new(domain.source.clone()),
            groups,
            sets: None,
            aggregates: Vec::new(),
            set_number: None,
        };
        Ok((rows, columns))
    }
}

/// Returns true for rows that are the same each time they are computed, and cost little.
pub(super) fn is_repeatable(rows: &mut Relational) -> bool {
    let mut is_repeatable = true;
    rows.for_each_operator(&mut |operator| {
        is_repeatable &= matches!(
            operator,
            Relational::OneRow
                | Relational::Scan { .. }
                | Relational::CommonTableScan { .. }
                | Relational::Values { .. }
                | Relational::TableFunctions { .. }
                | Relational::Project { .. }
                | Relational::Filter { .. }
                | Relational::Join(_)
        );
        operator.for_each_own_scalar(&mut |scalar| {
            is_repeatable &= !has_query(scalar);
            scalar.for_each(&mut |part| is_repeatable &= !is_volatile(part));
        });
    });
    is_repeatable
}

/// Returns true for the call of a function that may give another value each time.
pub(super) fn is_volatile(scalar: &Scalar) -> bool {
    match &scalar.kind {
        ScalarKind::Function { function, .. } => function.volatility == Volatility::Volatile,
        _ => false,
    }
}

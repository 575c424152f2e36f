//! Correlated queries as queries over a domain: the rows of each of its values, all at once.
//!
//! - Each operator that names a column around, or has an input that does, gets the columns of the domain (Neumann and Kemper,
//!   *Unnesting Arbitrary Queries*, BTW 2015, section 3). An operator that is reached by none joins it.

use super::Unnesting;
use super::build::{all, coalesce, column};
use super::domain::{Domain, DomainColumn, same_values, substitute};
use crate::bound::{
    BoundQuery, ColumnId, CommonTable, Join, JoinKind, OutputColumn, Relational, Scalar,
    SetOperation,
};
use crate::error::{BindError, Result};
use crate::types::SqlType;
use gadus_syntax::Span;
use gadus_syntax::ast::SetOperator;

/// Rows of each value of a domain, and its columns in them.
pub(super) type OfEach = (Relational, Vec<DomainColumn>);

impl Unnesting {
    /// Returns the rows of an operator for each value of a domain.
    pub(super) fn of_each(&mut self, mut rows: Relational, domain: &Domain) -> Result<OfEach> {
        if !self.depends(&mut rows, &domain.outer) {
            let (left, columns) = self.rows_of(domain)?;
            return Ok(match rows {
                Relational::OneRow => (left, columns),
                rows => (joined(JoinKind::Inner, left, rows, None, false), columns),
            });
        }
        crate::bind::with_stack(|| self.of_each_dependent(rows, domain))
    }

    fn of_each_dependent(&mut self, rows: Relational, domain: &Domain) -> Result<OfEach> {
        match rows {
            Relational::OneRow | Relational::Scan { .. } => self.rows_of(domain),
            Relational::CommonTableScan { table, columns } => self.table_of_each(table, columns),
            Relational::Values { rows, columns } => self.values_of_each(rows, &columns, domain),
            Relational::TableFunctions { mut calls, ordinality } => {
                let (left, of) = self.rows_of(domain)?;
                for call in &mut calls {
                    substitute(&mut call.call, &of)?;
                }
                let right = Relational::TableFunctions { calls, ordinality };
                Ok((joined(JoinKind::Inner, left, right, None, true), of))
            }
            Relational::Project { input, mut items } => {
                let (input, of) = self.of_each(*input, domain)?;
                for (_, item) in &mut items {
                    substitute(item, &of)?;
                }
                items.extend(of.iter().map(|column| (column.key, column.key())));
                Ok((Relational::Project { input: Box::new(input), items }, of))
            }
            Relational::ProjectSets { input, mut calls } => {
                let (input, of) = self.of_each(*input, domain)?;
                for call in &mut calls {
                    substitute(&mut call.call, &of)?;
                }
                Ok((Relational::ProjectSets { input: Box::new(input), calls }, of))
            }
            Relational::Filter { input, mut predicate } => {
                let (input, of) = self.of_each(*input, domain)?;
                substitute(&mut predicate, &of)?;
                Ok((Relational::Filter { input: Box::new(input), predicate }, of))
            }
            Relational::Join(join) => self.join_of_each(*join, domain),
            Relational::Sort { input, keys } => {
                let (input, of) = self.of_each(*input, domain)?;
                Ok((Relational::Sort { input: Box::new(input), keys }, of))
            }
            Relational::SetOperation(operation) => self.set_of_each(*operation, domain),
            Relational::With { tables, input } => self.with_of_each(tables, *input, domain),
            Relational::Lock { .. } | Relational::Change(_) => {
                Err(BindError::unsupported("a lock in a correlated query", Span::default()))
            }
            rows => self.groups_of_each(rows, domain),
        }
    }

    fn join_of_each(&mut self, mut join: Join, domain: &Domain) -> Result<OfEach> {
        let of_left = self.depends(&mut join.left, &domain.outer);
        let of_right = !join.is_lateral && self.depends(&mut join.right, &domain.outer);
        // Rows without a partner are of each value, too.
        let keeps_left = !matches!(join.kind, JoinKind::Inner | JoinKind::Right);
        let keeps_right = matches!(join.kind, JoinKind::Right | JoinKind::Full);
        let to_right = of_right || keeps_right;
        let to_left = of_left || keeps_left || !to_right;
        let mut conditions = Vec::new();
        let of = match (to_left, to_right) {
            (true, true) => {
                let (left, of_left) = self.of_each(join.left, domain)?;
                let (right, of_right) = self.of_each(join.right, domain)?;
                conditions = same_values(&of_left, &of_right)?;
                (join.left, join.right) = (left, right);
                match join.kind {
                    JoinKind::Right => of_right,
                    JoinKind::Full => return self.full_join_of_each(join, of_left, of_right),
                    _ => of_left,
                }
            }
            (false, true) => {
                let (right, of) = self.of_each(join.right, domain)?;
                join.right = right;
                of
            }
            _ => {
                let (left, of) = self.of_each(join.left, domain)?;
                join.left = left;
                of
            }
        };
        if let (true, Relational::TableFunctions { calls, .. }) = (join.is_lateral, &mut join.right)
        {
            for call in calls {
                substitute(&mut call.call, &of)?;
            }
        }
        if let Some(mut condition) = join.condition.take() {
            substitute(&mut condition, &of)?;
            conditions.push(condition);
        }
        join.condition = all(conditions);
        Ok((Relational::Join(Box::new(join)), of))
    }

    /// Joins both inputs fully: a value is that of either side.
    fn full_join_of_each(
        &mut self,
        mut join: Join,
        left: Vec<DomainColumn>,
        right: Vec<DomainColumn>,
    ) -> Result<OfEach> {
        let mut conditions = same_values(&left, &right)?;
        if let Some(mut condition) = join.condition.take() {
            substitute(&mut condition, &left)?;
            conditions.push(condition);
        }
        join.condition = all(conditions);
        let outputs = self.outputs(&join.left).into_iter().chain(self.outputs(&join.right));
        let mut items = outputs.map(|id| (id, column(id, self.type_of(id)))).collect::<Vec<_>>();
        let mut of = Vec::with_capacity(left.len());
        for (left, right) in left.into_iter().zip(right) {
            let key = self.new_column(left.key_type);
            items.push((key, coalesce(left.key(), right.key())));
            of.push(left.at(key));
        }
        let input = Box::new(Relational::Join(Box::new(join)));
        Ok((Relational::Project { input, items }, of))
    }

    fn values_of_each(
        &mut self,
        rows: Vec<Vec<Scalar>>,
        columns: &[(ColumnId, SqlType)],
        domain: &Domain,
    ) -> Result<OfEach> {
        let (mut inputs, mut keys) = (Vec::with_capacity(rows.len()), Vec::new());
        for mut row in rows {
            let (input, of) = self.rows_of(domain)?;
            for value in &mut row {
                substitute(value, &of)?;
            }
            row.extend(of.iter().map(|column| column.key()));
            inputs.push((input, row));
            keys = of;
        }
        let of = self.renamed(&keys);
        let mut columns = columns.to_vec();
        columns.extend(of.iter().map(|column| (column.key, column.key_type)));
        Ok((self.rows_of_inputs(inputs, &columns)?, of))
    }

    /// Returns the rows of expressions, each over an input of its own.
    pub(super) fn rows_of_inputs(
        &mut self,
        inputs: Vec<(Relational, Vec<Scalar>)>,
        columns: &[(ColumnId, SqlType)],
    ) -> Result<Relational> {
        let mut whole = None::<(Relational, Vec<ColumnId>)>;
        let last = inputs.len().saturating_sub(1);
        for (place, (input, row)) in inputs.into_iter().enumerate() {
            let is_only = last == 0;
            let ids = columns.iter().map(|(id, data_type)| match is_only {
                true => *id,
                false => self.new_column(*data_type),
            });
            let ids = ids.collect::<Vec<_>>();
            let items = ids.iter().copied().zip(row).collect();
            let rows = Relational::Project { input: Box::new(input), items };
            whole = Some(match whole {
                None => (rows, ids),
                Some((before, before_ids)) => {
                    let result = columns.iter().map(|(id, data_type)| match place == last {
                        true => *id,
                        false => self.new_column(*data_type),
                    });
                    let result = result.collect::<Vec<_>>();
                    let typed = columns.iter().map(|(_, data_type)| *data_type);
                    let operation = SetOperation {
                        operator: SetOperator::Union,
                        all: true,
                        left: query_of(before, &before_ids, columns),
                        right: query_of(rows, &ids, columns),
                        columns: result.iter().copied().zip(typed).collect(),
                    };
                    (Relational::SetOperation(Box::new(operation)), result)
                }
            });
        }
        match whole {
            Some((rows, _)) => Ok(rows),
            None => Err(BindError::unsupported("VALUES without rows", Span::default())),
        }
    }

    fn set_of_each(&mut self, operation: SetOperation, domain: &Domain) -> Result<OfEach> {
        let SetOperation { operator, all, mut left, mut right, mut columns } = operation;
        let mut keys = Vec::new();
        for side in [&mut left, &mut right] {
            let root = std::mem::replace(&mut side.root, Relational::OneRow);
            let (root, of) = self.of_each(root, domain)?;
            side.root = root;
            side.outputs.extend(of.iter().map(output_of));
            keys = of;
        }
        let of = self.renamed(&keys);
        columns.extend(of.iter().map(|column| (column.key, column.key_type)));
        let operation = SetOperation { operator, all, left, right, columns };
        Ok((Relational::SetOperation(Box::new(operation)), of))
    }

    fn with_of_each(
        &mut self,
        mut tables: Vec<CommonTable>,
        input: Relational,
        domain: &Domain,
    ) -> Result<OfEach> {
        for table in &mut tables {
            self.common_table_of_each(table, domain)?;
        }
        let (input, of) = self.of_each(input, domain)?;
        for table in &tables {
            if let Some(free) = self.correlated.get_mut(&table.id) {
                free.retain(|id, _| !domain.outer.contains(id));
            }
        }
        Ok((Relational::With { tables, input: Box::new(input) }, of))
    }

    fn common_table_of_each(&mut self, table: &mut CommonTable, domain: &Domain) -> Result<()> {
        let mut depends = self.depends(&mut table.query.root, &domain.outer);
        if let Some((step, _)) = &mut table.recursive {
            depends |= self.depends(&mut step.root, &domain.outer);
        }
        if !depends {
            return Ok(());
        }
        let root = std::mem::replace(&mut table.query.root, Relational::OneRow);
        let (root, of) = self.of_each(root, domain)?;
        table.query.root = root;
        table.query.outputs.extend(of.iter().map(output_of));
        self.extended.insert(table.id, of);
        // The step reads the rows of each value, too.
        let mut free = self.correlated.remove(&table.id).unwrap_or_default();
        free.extend(domain.columns().iter().map(|(id, data_type)| (*id, *data_type)));
        self.correlated.insert(table.id, free);
        if let Some((step, _)) = &mut table.recursive {
            let root = std::mem::replace(&mut step.root, Relational::OneRow);
            let (root, of) = self.of_each(root, domain)?;
            step.root = root;
            step.outputs.extend(of.iter().map(output_of));
        }
        Ok(())
    }

    /// Reads a common table that has the columns of the domain.
    fn table_of_each(
        &mut self,
        table: crate::bound::CommonTableId,
        mut columns: Vec<ColumnId>,
    ) -> Result<OfEach> {
        let Some(of) = self.extended.get(&table).cloned() else {
            return Err(BindError::unsupported(
                "a common table of a query around",
                Span::default(),
            ));
        };
        let of = self.renamed(&of);
        columns.extend(of.iter().map(|column| column.key));
        Ok((Relational::CommonTableScan { table, columns }, of))
    }

    /// Gives columns of a domain numbers of their own.
    pub(super) fn renamed(&mut self, of: &[DomainColumn]) -> Vec<DomainColumn> {
        of.iter().map(|column| column.at(self.new_column(column.key_type))).collect()
    }
}

fn query_of(root: Relational, ids: &[ColumnId], columns: &[(ColumnId, SqlType)]) -> BoundQuery {
    let outputs = ids.iter().zip(columns).map(|(id, (_, data_type))| OutputColumn {
        name: format!("c{}", id.0),
        id: *id,
        data_type: *data_type,
    });
    BoundQuery { root, outputs: outputs.collect() }
}

fn output_of(column: &DomainColumn) -> OutputColumn {
    let name = format!("c{}", column.key.0);
    OutputColumn { name, id: column.key, data_type: column.key_type }
}

/// Joins two inputs.
pub(super) fn joined(
    kind: JoinKind,
    left: Relational,
    right: Relational,
    condition: Option<Scalar>,
    is_lateral: bool,
) -> Relational {
    Relational::Join(Box::new(Join { kind, left, right, condition, is_lateral }))
}

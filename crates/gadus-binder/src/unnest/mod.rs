//! Correlated queries as joins.
//!
//! - Queries within expressions, and LATERAL ones, are evaluated once for all rows around them: afterwards no operator names a
//!   column that none of its inputs has, but for functions in FROM and expressions of changes over rows in hand.
//! - A query whose dependence is in conditions alone is joined by these (`pull`). Any other is computed for each value
//!   of its [`domain`](domain), the different values of what it names (`dependent`).
//! - WITH TIES is a condition on ranks, as any limit of the rows of each value is.
//! - Queries that name nothing around them stay in expressions: scalar ones, arrays, and conditions of filters.
//!
//! Sources: Neumann and Kemper, *Unnesting Arbitrary Queries*, BTW 2015; for the conditions, Kim, *On Optimizing an SQL-like
//! Nested Query*, TODS 1982, with the outer join of Ganski and Wong, SIGMOD 1987, for groups without rows.

mod attach;
mod build;
mod columns;
mod conditions;
mod dependent;
mod domain;
mod groups;
mod joins;
mod members;
mod pull;
mod values;

use crate::BoundStatement;
use crate::bind::with_stack;
use crate::bound::{
    BoundQuery, Change, ChangeKind, ColumnId, CommonTable, CommonTableId, Relational, Scalar,
    ScalarKind, SubqueryKind,
};
use crate::error::{BindError, Result};
use crate::types::SqlType;
use columns::{Columns, has_query};
use domain::DomainColumn;
use std::collections::HashMap;

/// Queries of one operator among which an equal one is looked for: a comparison copies both.
const RECENT: usize = 32;

impl BoundStatement {
    /// Makes joins of the correlated queries.
    ///
    /// # Errors
    /// 0A000 for the few forms that have no join.
    pub fn unnest(&mut self) -> Result<()> {
        if !is_nested(&mut self.query.root) {
            return Ok(());
        }
        let mut unnesting = Unnesting {
            types: HashMap::new(),
            correlated: HashMap::new(),
            extended: HashMap::new(),
            last_column: self.last_column,
            last_table: self.last_table,
            keeps_rows: false,
            values: Vec::new(),
            joins_all: false,
        };
        unnesting.note_columns(&mut self.query);
        unnesting.query(&mut self.query)?;
        count_readers(&mut self.query.root);
        (self.last_column, self.last_table) = (unnesting.last_column, unnesting.last_table);
        Ok(())
    }
}

/// State of unnesting a statement.
struct Unnesting {
    types: HashMap<ColumnId, SqlType>,
    /// Common tables that name columns around them.
    correlated: HashMap<CommonTableId, Columns>,
    /// Common tables that have the columns of the domain in hand.
    extended: HashMap<CommonTableId, Vec<DomainColumn>>,
    last_column: u32,
    last_table: u32,
    /// True within a change: its rows come with numbers, which no common table has.
    keeps_rows: bool,
    /// Queries of the operators in hand that were joined, and their values; those of the innermost one last.
    values: Vec<Vec<(Scalar, Scalar)>>,
    /// True for expressions that become columns of their own: queries in them are joined though they name nothing around.
    joins_all: bool,
}

impl Unnesting {
    fn new_column(&mut self, data_type: SqlType) -> ColumnId {
        self.last_column += 1;
        let id = ColumnId(self.last_column);
        self.types.insert(id, data_type);
        id
    }

    fn query(&mut self, query: &mut BoundQuery) -> Result<()> {
        self.within(&mut query.root)
    }

    /// Unnests an operator and its inputs.
    fn within(&mut self, operator: &mut Relational) -> Result<()> {
        let taken = std::mem::replace(operator, Relational::OneRow);
        *operator = self.operator(taken)?;
        Ok(())
    }

    fn operator(&mut self, operator: Relational) -> Result<Relational> {
        let joins_all = std::mem::replace(&mut self.joins_all, false);
        self.values.push(Vec::new());
        let unnested = with_stack(|| self.operator_here(operator));
        self.values.pop();
        self.joins_all = joins_all;
        unnested
    }

    fn operator_here(&mut self, operator: Relational) -> Result<Relational> {
        match operator {
            Relational::Values { rows, columns } => self.values_unnested(rows, columns),
            Relational::Filter { input, predicate } => {
                let input = self.operator(*input)?;
                self.filter(input, predicate)
            }
            Relational::Join(join) => self.join(*join),
            Relational::TableFunctions { mut calls, ordinality } => {
                let mut input = Relational::OneRow;
                for call in &mut calls {
                    self.extract(&mut input, &mut call.call)?;
                }
                let functions = Relational::TableFunctions { calls, ordinality };
                Ok(match input {
                    Relational::OneRow => functions,
                    input => {
                        let kind = crate::bound::JoinKind::Inner;
                        dependent::joined(kind, input, functions, None, true)
                    }
                })
            }
            Relational::With { mut tables, mut input } => {
                for table in &mut tables {
                    self.common_table(table)?;
                }
                self.within(&mut input)?;
                Ok(Relational::With { tables, input })
            }
            Relational::Change(mut change) => {
                self.change(&mut change)?;
                Ok(Relational::Change(change))
            }
            Relational::Limit(mut limit) => {
                self.within(&mut limit.input)?;
                let mut counts = limit.limit.iter_mut().chain(&mut limit.offset);
                counts.try_for_each(|count| self.uncorrelated(count))?;
                match limit.with_ties {
                    true => self.limit_with_ties(*limit),
                    false => Ok(Relational::Limit(limit)),
                }
            }
            mut operator => {
                self.inputs_and_expressions(&mut operator)?;
                Ok(operator)
            }
        }
    }

    /// Unnests the input of an operator, and the queries in its expressions, which are joined to the input.
    fn inputs_and_expressions(&mut self, operator: &mut Relational) -> Result<()> {
        let mut done = Ok(());
        operator.for_each_input(&mut |input| {
            if done.is_ok() {
                done = self.within(input);
            }
        });
        done?;
        if let Relational::SetOperation(_) = operator {
            return Ok(());
        }
        // Others have one input, to which the queries in their expressions are joined.
        let mut input = None;
        operator.for_each_input(&mut |of| input = Some(std::mem::replace(of, Relational::OneRow)));
        let Some(mut input) = input else { return Ok(()) };
        self.joins_all =
            matches!(operator, Relational::Aggregate { .. } | Relational::Window { .. });
        let mut done = Ok(());
        operator.for_each_own_scalar(&mut |scalar| {
            if done.is_ok() {
                done = self.extract(&mut input, scalar);
            }
        });
        done?;
        operator.for_each_input(&mut |of| std::mem::swap(of, &mut input));
        Ok(())
    }

    fn common_table(&mut self, table: &mut CommonTable) -> Result<()> {
        self.query(&mut table.query)?;
        let mut free = self.free(&mut table.query.root);
        if let Some((step, _)) = &mut table.recursive {
            self.query(step)?;
            free.extend(self.free(&mut step.root));
        }
        if !free.is_empty() {
            self.correlated.insert(table.id, free);
        }
        Ok(())
    }

    /// Unnests what a change reads. Expressions over rows in hand keep the queries that name these.
    fn change(&mut self, change: &mut Change) -> Result<()> {
        let keeps_rows = std::mem::replace(&mut self.keeps_rows, true);
        let mut done = Ok(());
        let mut extracted = |unnesting: &mut Self, input: &mut Relational, scalar: &mut Scalar| {
            if done.is_ok() {
                done = unnesting.extract(input, scalar);
            }
        };
        match &mut change.kind {
            ChangeKind::Insert(insert) => {
                self.within(&mut insert.input)?;
                for value in &mut insert.values {
                    extracted(self, &mut insert.input, &mut value.value);
                }
            }
            ChangeKind::Update(update) => {
                self.within(&mut update.input)?;
                // A query of several columns has no value that could be joined.
                for (_, query) in &mut update.assignments.queries {
                    if let ScalarKind::Subquery(subquery) = &mut query.kind {
                        self.query(&mut subquery.query)?;
                    }
                }
                for value in &mut update.assignments.values {
                    extracted(self, &mut update.input, &mut value.value);
                }
            }
            ChangeKind::Delete { input } => self.within(input)?,
            ChangeKind::Merge(merge) => self.within(&mut merge.source)?,
        }
        self.keeps_rows = keeps_rows;
        done
    }

    /// Unnests what is within the queries of an expression, which name nothing around them.
    fn uncorrelated(&mut self, scalar: &mut Scalar) -> Result<()> {
        let mut input = Relational::OneRow;
        self.extract(&mut input, scalar)?;
        match input {
            Relational::OneRow => Ok(()),
            _ => Err(BindError::unsupported("a correlated query in LIMIT", scalar.span)),
        }
    }

    /// Joins the correlated queries of an expression to the input of its operator, and names their values instead.
    fn extract(&mut self, input: &mut Relational, scalar: &mut Scalar) -> Result<()> {
        if !has_query(scalar) {
            return Ok(());
        }
        if let ScalarKind::Subquery(_) = scalar.kind {
            return self.extract_query(input, scalar);
        }
        let mut done = Ok(());
        scalar.for_each_part(&mut |part| {
            if done.is_ok() {
                done = self.extract(input, part);
            }
        });
        done
    }

    /// Joins the query that an expression is, unless its operator has joined one that equals it.
    fn extract_query(&mut self, input: &mut Relational, scalar: &mut Scalar) -> Result<()> {
        let is_known = |(query, _): &&(Scalar, Scalar)| query == scalar;
        let mut recent = self.values.last().into_iter().flat_map(|of| of.iter().rev().take(RECENT));
        if let Some((_, value)) = recent.find(is_known) {
            *scalar = value.clone();
            return Ok(());
        }
        let original = scalar.clone();
        let ScalarKind::Subquery(subquery) = &mut scalar.kind else { return Ok(()) };
        if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) = &mut subquery.kind {
            self.extract(input, condition)?;
        }
        self.query(&mut subquery.query)?;
        if !self.is_correlated(subquery) && !self.joins_all {
            return self.as_scalar(scalar);
        }
        let mut is_volatile = false;
        scalar.for_each(&mut |part| is_volatile |= domain::is_volatile(part));
        *scalar = self.value(input, scalar)?;
        if let (false, Some(known)) = (is_volatile, self.values.last_mut()) {
            known.push((original, scalar.clone()));
        }
        Ok(())
    }
}

/// Returns true for a tree with queries in expressions, LATERAL ones, or limits WITH TIES.
fn is_nested(root: &mut Relational) -> bool {
    let mut is_nested = false;
    root.for_each_operator(&mut |operator| {
        is_nested |= match operator {
            Relational::Join(join) => join.is_lateral,
            Relational::Limit(limit) => limit.with_ties,
            _ => false,
        };
        operator.for_each_own_scalar(&mut |scalar| is_nested |= has_query(scalar));
    });
    is_nested
}

/// Counts the readers of common tables anew: rows around a query may be read more often now.
fn count_readers(root: &mut Relational) {
    let mut readers = HashMap::<CommonTableId, u32>::new();
    root.for_each_operator(&mut |operator| {
        if let Relational::CommonTableScan { table, .. } = operator {
            *readers.entry(*table).or_default() += 1;
        }
    });
    root.for_each_operator(&mut |operator| {
        if let Relational::With { tables, .. } = operator {
            for table in tables {
                let counted = readers.get(&table.id).copied().unwrap_or(0);
                table.readers = table.readers.max(counted);
            }
        }
    });
}

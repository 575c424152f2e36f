//! Queries: WITH, the body, order and limit.

use super::order::Sorting;
use super::scope::Clause;
use super::{Binder, UnknownOutputs, with_stack};
use crate::bound::{BoundQuery, Limit, Relational, RowLock, Scalar};
use crate::catalog::CastContext;
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::ast::{Expr, ObjectName, Query, QueryBody};

impl Binder<'_> {
    /// Binds a query.
    pub(super) fn query(&mut self, query: &Query, unknown: UnknownOutputs) -> Result<BoundQuery> {
        with_stack(|| {
            self.nested(|binder| match &query.with {
                Some(with) => binder.with(with, |binder| binder.query_without_with(query, unknown)),
                None => binder.query_without_with(query, unknown),
            })
        })
    }

    fn query_without_with(&mut self, query: &Query, unknown: UnknownOutputs) -> Result<BoundQuery> {
        let bound = match &query.body {
            QueryBody::Select(select) => self.select(select, query, unknown)?,
            QueryBody::Values(rows) => {
                let values = self.values(rows, unknown)?;
                self.sorted_outputs(values, query)?
            }
            QueryBody::Table(name) => {
                let select = select_all(name);
                self.select(&select, query, unknown)?
            }
            QueryBody::SetOperation { .. } => {
                let operation = self.set_operation(query)?;
                self.sorted_outputs(operation, query)?
            }
            QueryBody::Modification(_) => {
                return Err(BindError::unsupported("a change in a query", query.span));
            }
        };
        self.limited(bound, query)
    }

    /// Sorts by output columns alone: the rows of VALUES and set operations.
    fn sorted_outputs(&mut self, bound: BoundQuery, query: &Query) -> Result<BoundQuery> {
        let BoundQuery { root, outputs } = bound;
        let keys = self.output_keys(&outputs, Sorting::of(query))?;
        let root = match keys.is_empty() {
            true => root,
            false => Relational::Sort { input: Box::new(root), keys },
        };
        Ok(BoundQuery { root, outputs })
    }

    /// Adds LIMIT, OFFSET and locks.
    fn limited(&mut self, bound: BoundQuery, query: &Query) -> Result<BoundQuery> {
        let BoundQuery { mut root, outputs } = bound;
        let limit = query.limit.as_ref().map(|limit| self.row_count(limit, Clause::Limit));
        let offset = query.offset.as_ref().map(|offset| self.row_count(offset, Clause::Offset));
        let (limit, offset) = (limit.transpose()?, offset.transpose()?);
        if query.with_ties && query.order_by.is_empty() {
            let message = "WITH TIES cannot be specified without ORDER BY clause";
            return Err(BindError::new("42601", message, query.span));
        }
        if limit.is_some() || offset.is_some() {
            let with_ties = query.with_ties;
            root = Relational::Limit(Box::new(Limit { input: root, limit, offset, with_ties }));
        }
        if !query.locking.is_empty() {
            let lock = |locking: &gadus_syntax::ast::Locking| RowLock {
                strength: locking.strength,
                wait: locking.wait,
            };
            let locks = query.locking.iter().map(lock).collect();
            root = Relational::Lock { input: Box::new(root), locks };
        }
        Ok(BoundQuery { root, outputs })
    }

    /// Refuses LIMIT and OFFSET that name columns of FROM.
    pub(super) fn check_row_counts(&mut self, query: &Query) -> Result<()> {
        let clauses = [(&query.limit, Clause::Limit), (&query.offset, Clause::Offset)];
        for (expr, clause) in clauses {
            let Some(expr) = expr else { continue };
            self.scope().clause = clause;
            let value = self.expr(expr)?;
            if names_own(&value, &self.scope().own) {
                let message = format!("argument of {} must not contain variables", clause.name());
                return Err(BindError::new("42P10", message, expr.span));
            }
        }
        Ok(())
    }

    /// Binds a number of rows, which names no column.
    fn row_count(&mut self, expr: &Expr, clause: Clause) -> Result<Scalar> {
        let (value, _) = self.in_scope(|binder| {
            binder.scope().clause = clause;
            binder.expr(expr)
        })?;
        let source = value.data_type.id;
        let converted = self.coercion().convert(value, constants::INT8, CastContext::Assignment)?;
        converted.ok_or_else(|| {
            let name = clause.name();
            let message = format!("argument of {name} must be type bigint, not type {source}");
            BindError::new("42804", message, expr.span)
        })
    }
}

fn names_own(value: &Scalar, own: &std::collections::HashSet<crate::bound::ColumnId>) -> bool {
    let mut found = false;
    value.clone().for_each(&mut |part| {
        found |= part.as_column().is_some_and(|column| own.contains(&column));
    });
    found
}

/// Returns the syntax tree of `SELECT * FROM name`, which `TABLE name` is.
fn select_all(name: &ObjectName) -> gadus_syntax::ast::Select {
    use gadus_syntax::ast::{Distinct, FromItem, FromKind, Select, Target, TargetKind};
    let span = name.span();
    let kind = TargetKind::Wildcard {
        qualifier: Vec::new(),
        exclude: Vec::new(),
        replace: Vec::new(),
        rename: Vec::new(),
    };
    let table = FromKind::Table { name: name.clone(), only: false, sample: None };
    Select {
        distinct: Distinct::All,
        targets: vec![Target { kind, span }],
        into: None,
        from: vec![FromItem { kind: table, alias: None, span }],
        filter: None,
        group_by: None,
        having: None,
        windows: Vec::new(),
        qualify: None,
    }
}

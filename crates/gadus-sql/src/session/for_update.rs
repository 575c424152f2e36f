//! SELECT … FOR UPDATE and FOR SHARE: the rows of one table, locked until the transaction ends.
//!
//! - The rows are found as those of an UPDATE are, locked, and then read by the query itself, on the
//!   snapshot in which they were found: what is locked is unchanged in it.
//! - With LIMIT, or SKIP LOCKED, the query then reads exactly the rows that were locked.
//! - Outside a transaction the locks end with the statement: it waits for who has the rows, and reads what he
//!   leaves. What cannot be locked is then only read.

use super::modify::{Wanted, folded, modified, row_ids};
use super::{Outcome, Session, State};
use crate::error::{from_parser, input, unsupported};
use crate::provider::ROWS_SCHEMA;
use crate::value::Value;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, GroupByExpr, Ident, LimitClause, LockType, NonBlock, ObjectName, OrderByExpr,
    OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableAlias, TableFactor,
    Value as SqlValue, Visit, Visitor, WildcardAdditionalOptions, visit_expressions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_base::RowId;
use gadus_engine::{Mode, ROW_ID_COLUMN, Result, TableSchema, Transaction};
use std::ops::ControlFlow;
use std::sync::Arc;

impl Session {
    pub(super) async fn query_locking(
        &self,
        state: &mut State,
        query: &Query,
        parameters: &[Value],
    ) -> Result<Outcome> {
        super::transact::refuse_read_only(&self.engine, state)?;
        let mut plain = query.clone();
        plain.locks.clear();
        if let Some(transaction) = &mut state.transaction {
            let locked = self.lock_selected(transaction, query, parameters).await?;
            if let Some(locked) = locked {
                locked.restrict(&mut plain)?;
            }
        } else if self.is_lockable(query) {
            let mut own = self.own_transaction(state)?;
            let outcome = self.query_locked(&mut own.transaction, plain, query, parameters).await;
            return own.end(state, outcome);
        }
        self.query(state, &Statement::Query(Box::new(plain)), parameters).await
    }

    /// Locks rows in the transaction of one statement, and reads them in it.
    async fn query_locked(
        &self,
        transaction: &mut Transaction,
        mut plain: Query,
        query: &Query,
        parameters: &[Value],
    ) -> Result<Outcome> {
        if let Some(locked) = self.lock_selected(transaction, query, parameters).await? {
            locked.restrict(&mut plain)?;
        }
        let read = (transaction.snapshot(), None);
        self.query_on(read, &Statement::Query(Box::new(plain)), parameters).await
    }

    fn is_lockable(&self, query: &Query) -> bool {
        let select = Wish::of(query).and_then(|_| rows_of_one_table(query));
        select.is_ok_and(|select| self.refuse_what_is_not_of_rows(query, select).is_ok())
    }

    /// Locks the rows that a query gives; says which, where it would give others, too.
    async fn lock_selected(
        &self,
        transaction: &mut Transaction,
        query: &Query,
        parameters: &[Value],
    ) -> Result<Option<Locked>> {
        let wish = Wish::of(query)?;
        let select = rows_of_one_table(query)?;
        self.refuse_what_is_not_of_rows(query, select)?;
        let snapshot = transaction.snapshot();
        let (schema, alias) = modified(&snapshot, &select.from[0])?;
        wish.is_of(&alias)?;
        let mut rest = String::new();
        if let Some(order) = &query.order_by {
            rest = format!(" {order}");
        }
        if let Some(limit) = query.limit_clause.as_ref().filter(|_| !wish.skips) {
            rest = format!("{rest} {limit}");
        }
        let wanted = Wanted { rest: &rest, ..Wanted::by(select.selection.as_ref()) };
        let found = self.rows(snapshot, (&schema, &alias), &[], wanted, parameters).await?;
        let mut ids = Vec::new();
        for batch in found.batches {
            ids.extend(row_ids(&batch)?);
        }
        if wish.skips {
            let enough = wish.limit.unwrap_or(usize::MAX);
            ids = transaction.lock_free_rows(&schema, &ids, enough, wish.mode)?;
        } else {
            let locked = transaction.lock_rows(&schema, &ids, wish.mode);
            locked.map_err(|error| if wish.waits { error } else { error.without_waiting() })?;
        }
        let all = query.limit_clause.is_none() && !wish.skips;
        Ok((!all).then_some(Locked { schema, alias, ids }))
    }
}

impl Session {
    /// Whether a function is of several rows together: an aggregate or a window.
    pub(super) fn is_of_many(&self, function: &Function) -> bool {
        let name = function.name.to_string().to_lowercase();
        function.over.is_some() || self.shared.planner.aggregate_functions().contains_key(&name)
    }

    /// The query runs twice, once for its rows and once for what it says of them: both must mean
    /// the same rows.
    fn refuse_what_is_not_of_rows(&self, query: &Query, select: &Select) -> Result<()> {
        let found = visit_expressions(&select.projection, |expr| match expr {
            Expr::Function(function) if self.is_of_many(function) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        if found.is_break() {
            return Err(unsupported("FOR UPDATE of anything but rows of one table"));
        }
        let plain = WildcardAdditionalOptions::default();
        let options = select.projection.iter().filter_map(|item| match item {
            SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => {
                Some(options)
            }
            _ => None,
        });
        if options.into_iter().any(|options| *options != plain) {
            return Err(unsupported("FOR UPDATE with a changed *"));
        }
        let aliases = select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
            _ => None,
        });
        let aliases = aliases.collect::<Vec<_>>();
        let by = query.order_by.iter().flat_map(|order| match &order.kind {
            OrderByKind::Expressions(by) => by.as_slice(),
            OrderByKind::All(_) => &[],
        });
        let is_of_output = |by: &OrderByExpr| match &by.expr {
            Expr::Identifier(name) => aliases.contains(&name.value.to_lowercase()),
            expr => literal(expr).is_some(),
        };
        if by.into_iter().any(is_of_output) {
            return Err(unsupported("FOR UPDATE ordered by anything but columns of the table"));
        }
        Ok(())
    }
}

/// Refuses locking clauses in subqueries and in the queries of other statements: the planner reads
/// them without locking anything.
pub(super) fn refuse_nested_locks(statement: &Statement) -> Result<()> {
    struct Locks {
        found: usize,
    }
    impl Visitor for Locks {
        type Break = ();
        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            self.found += usize::from(!query.locks.is_empty());
            ControlFlow::Continue(())
        }
    }
    let mut locks = Locks { found: 0 };
    let _ = statement.visit(&mut locks);
    let outer = match statement {
        Statement::Query(query) => Some(query),
        Statement::Declare { stmts } => stmts.first().and_then(|cursor| cursor.for_query.as_ref()),
        _ => None,
    };
    let is_locking = outer.is_some_and(|query| !query.locks.is_empty());
    if locks.found > usize::from(is_locking) {
        return Err(unsupported("FOR UPDATE in a part of a statement"));
    }
    Ok(())
}

/// How rows are to be locked.
struct Wish {
    /// Whose rows; else those of all tables.
    of: Option<ObjectName>,
    mode: Mode,
    waits: bool,
    skips: bool,
    limit: Option<usize>,
}

impl Wish {
    fn of(query: &Query) -> Result<Self> {
        let [lock] = query.locks.as_slice() else {
            return Err(unsupported("several locking clauses"));
        };
        let skips = lock.nonblock == Some(NonBlock::SkipLocked);
        let limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by })
                if limit_by.is_empty() =>
            {
                literal(limit)
            }
            _ => None,
        };
        if skips && query.limit_clause.is_some() && limit.is_none() {
            return Err(unsupported("SKIP LOCKED with anything but a number after LIMIT"));
        }
        let mode = match lock.lock_type {
            LockType::Share => Mode::Shared,
            LockType::Update => Mode::Exclusive,
        };
        let (of, waits) = (lock.of.clone(), lock.nonblock.is_none());
        Ok(Self { of, mode, waits, skips, limit })
    }

    /// Refuses a table that the query does not call so.
    fn is_of(&self, alias: &Ident) -> Result<()> {
        let Some(of) = &self.of else { return Ok(()) };
        match of.0.as_slice() {
            [part] if part.as_ident().map(folded) == Some(folded(alias)) => Ok(()),
            _ => Err(input(format!("the query has no table that it calls {of}"))),
        }
    }
}

fn literal(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            SqlValue::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn rows_of_one_table(query: &Query) -> Result<&Select> {
    let refused = || unsupported("FOR UPDATE of anything but rows of one table");
    let SetExpr::Select(select) = &*query.body else { return Err(refused()) };
    let is_simple = query.with.is_none()
        && query.fetch.is_none()
        && select.distinct.is_none()
        && select.having.is_none()
        && matches!(
            &select.group_by,
            GroupByExpr::Expressions(by, with)
                if by.is_empty() && with.is_empty()
        );
    match select.from.as_slice() {
        [table] if is_simple && table.joins.is_empty() => Ok(select),
        _ => Err(refused()),
    }
}

/// Rows that were locked, of a table under a name.
struct Locked {
    schema: Arc<TableSchema>,
    alias: Ident,
    ids: Vec<RowId>,
}

impl Locked {
    /// Makes a query give these rows.
    fn restrict(&self, query: &mut Query) -> Result<()> {
        query.limit_clause = None;
        let SetExpr::Select(select) = &mut *query.body else {
            return Err(input("a query of one table was expected"));
        };
        // The table with row ids has them as a column of its own.
        let columns = self.schema.columns.iter();
        let column = |name: &str| {
            let parts = vec![self.alias.clone(), Ident::with_quote('"', name)];
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts))
        };
        let columns = columns.map(|definition| column(&definition.name)).collect::<Vec<_>>();
        let items = std::mem::take(&mut select.projection).into_iter();
        select.projection = items
            .flat_map(|item| match item {
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => columns.clone(),
                item => vec![item],
            })
            .collect();
        if let Some(TableFactor::Table { name, alias, .. }) =
            select.from.first_mut().map(|table| &mut table.relation)
        {
            let table = Ident::with_quote('"', &self.schema.name);
            *name = ObjectName::from(vec![Ident::new(ROWS_SCHEMA), table]);
            let name = self.alias.clone();
            let named = || TableAlias { explicit: true, name, columns: Vec::new(), at: None };
            alias.get_or_insert_with(named);
        }
        let ids = self.ids.iter().map(|id| id.to_u64().to_string()).collect::<Vec<_>>();
        let text = match ids.is_empty() {
            true => "false".to_owned(),
            false => format!("{}.{ROW_ID_COLUMN} IN ({})", self.alias, ids.join(", ")),
        };
        let parser = Parser::new(&GenericDialect {}).try_with_sql(&text);
        let parsed = parser.and_then(|mut parser| parser.parse_expr());
        select.selection = Some(parsed.map_err(|error| from_parser(&error))?);
        Ok(())
    }
}

//! References to common tables within syntax trees, with the context that each stands in.
//!
//! - Names of inner WITH clauses hide those of outer ones.
//! - Goes through clauses in the order of PostgreSQL's `raw_expression_tree_walker`, so that the same error comes first.

use crate::bind::with_stack;
use crate::error::Result;
use gadus_syntax::ast::{
    Assignment, ConflictAction, Distinct, Expr, ExprKind, FrameBound, FromItem, FromKind,
    FunctionCall, GroupBy, GroupingElement, InsertSource, JoinCondition, JoinKind, MergeAction,
    Name, OrderBy, Query, QueryBody, Select, SetOperator, Statement, Target, TargetKind, Window,
    WindowSpecification, With,
};

/// Context of a reference to the query that is being defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Reference that recursion allows.
    Allowed,
    /// Part that may not read itself.
    NonRecursiveTerm,
    Subquery,
    OuterJoin,
    Intersect,
    Except,
}

/// Search for references.
pub(super) struct References<'a, 'f> {
    /// Names of inner WITH clauses.
    hidden: Vec<&'a str>,
    context: Context,
    found: &'f mut dyn FnMut(&'a Name, Context) -> Result<()>,
}

impl<'a, 'f> References<'a, 'f> {
    /// Creates a search that calls a function for each reference.
    pub(super) fn new(
        context: Context,
        found: &'f mut dyn FnMut(&'a Name, Context) -> Result<()>,
    ) -> Self {
        Self { hidden: Vec::new(), context, found }
    }

    fn within(
        &mut self,
        context: Context,
        walk: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let before = std::mem::replace(&mut self.context, context);
        let walked = walk(self);
        self.context = before;
        walked
    }

    /// Goes through a query.
    pub(super) fn query(&mut self, query: &'a Query) -> Result<()> {
        with_stack(|| {
            let hidden = self.hidden.len();
            if let Some(with) = &query.with {
                self.with(with)?;
            }
            let walked = self.query_without_with(query);
            self.hidden.truncate(hidden);
            walked
        })
    }

    /// Goes through a WITH clause; its names stay hidden.
    fn with(&mut self, with: &'a With) -> Result<()> {
        if with.recursive {
            self.hidden.extend(with.tables.iter().map(|table| table.name.text.as_str()));
        }
        for table in &with.tables {
            self.query(&table.query)?;
            if !with.recursive {
                self.hidden.push(&table.name.text);
            }
        }
        Ok(())
    }

    fn query_without_with(&mut self, query: &'a Query) -> Result<()> {
        match &query.body {
            QueryBody::Select(select) => self.select(select)?,
            QueryBody::Values(rows) => {
                rows.iter().flatten().try_for_each(|value| self.expr(value))?;
            }
            QueryBody::Table(name) => self.table(&name.parts)?,
            QueryBody::SetOperation { operator, all, left, right, .. } => {
                let is_allowed = self.context == Context::Allowed;
                let context = |context, is_forbidden| match is_allowed && is_forbidden {
                    true => Some(context),
                    false => None,
                };
                let (first, second) = match operator {
                    SetOperator::Union => (None, None),
                    SetOperator::Intersect => {
                        (context(Context::Intersect, *all), context(Context::Intersect, *all))
                    }
                    SetOperator::Except => {
                        (context(Context::Except, *all), context(Context::Except, true))
                    }
                };
                self.within(first.unwrap_or(self.context), |walk| walk.query(left))?;
                self.within(second.unwrap_or(self.context), |walk| walk.query(right))?;
            }
            QueryBody::Modification(statement) => self.statement(statement)?,
        }
        self.order_by(&query.order_by)?;
        self.exprs(query.offset.iter().chain(&query.limit))
    }

    fn table(&mut self, parts: &'a [Name]) -> Result<()> {
        match parts {
            [name] if !self.hidden.contains(&name.text.as_str()) => {
                (self.found)(name, self.context)
            }
            _ => Ok(()),
        }
    }

    fn select(&mut self, select: &'a Select) -> Result<()> {
        if let Distinct::On(on) = &select.distinct {
            self.exprs(on)?;
        }
        self.targets(&select.targets)?;
        select.from.iter().try_for_each(|item| self.item(item))?;
        self.exprs(&select.filter)?;
        if let Some(GroupBy::Elements { elements, .. }) = &select.group_by {
            elements.iter().try_for_each(|element| self.grouping(element))?;
        }
        self.exprs(&select.having)?;
        select.windows.iter().try_for_each(|(_, window)| self.window(window))?;
        self.exprs(&select.qualify)
    }

    fn targets(&mut self, targets: &'a [Target]) -> Result<()> {
        targets.iter().try_for_each(|target| match &target.kind {
            TargetKind::Expr { expr, .. } => self.expr(expr),
            TargetKind::Wildcard { replace, .. } => {
                self.exprs(replace.iter().map(|replacement| &replacement.expr))
            }
        })
    }

    fn grouping(&mut self, element: &'a GroupingElement) -> Result<()> {
        match element {
            GroupingElement::Expr(expr) => self.expr(expr),
            GroupingElement::Empty => Ok(()),
            GroupingElement::Rollup(exprs) | GroupingElement::Cube(exprs) => self.exprs(exprs),
            GroupingElement::Sets(elements) => {
                elements.iter().try_for_each(|element| self.grouping(element))
            }
        }
    }

    fn item(&mut self, item: &'a FromItem) -> Result<()> {
        with_stack(|| match &item.kind {
            FromKind::Table { name, .. } => self.table(&name.parts),
            FromKind::Functions { functions, .. } => {
                self.exprs(functions.iter().map(|function| &function.call))
            }
            FromKind::Query { query, .. } => self.query(query),
            FromKind::Join { left, right, kind, condition } => {
                self.join([left, right], *kind, condition)
            }
            FromKind::Pivot(pivot) => self.item(&pivot.source),
            FromKind::Unpivot(unpivot) => self.item(&unpivot.source),
            FromKind::File(_) => Ok(()),
        })
    }

    fn join(
        &mut self,
        [left, right]: [&'a FromItem; 2],
        kind: JoinKind,
        condition: &'a JoinCondition,
    ) -> Result<()> {
        let nullable = match self.context {
            Context::Allowed => Context::OuterJoin,
            other => other,
        };
        let (of_left, of_right) = match kind {
            JoinKind::Left => (self.context, nullable),
            JoinKind::Right => (nullable, self.context),
            JoinKind::Full => (nullable, nullable),
            _ => (self.context, self.context),
        };
        self.within(of_left, |walk| walk.item(left))?;
        self.within(of_right, |walk| walk.item(right))?;
        match condition {
            JoinCondition::On(condition) => self.expr(condition),
            _ => Ok(()),
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) -> Result<()> {
        exprs.into_iter().try_for_each(|expr| self.expr(expr))
    }

    fn order_by(&mut self, keys: &'a [OrderBy]) -> Result<()> {
        self.exprs(keys.iter().map(|key| &key.expr))
    }

    fn subquery(&mut self, query: &'a Query) -> Result<()> {
        self.within(Context::Subquery, |walk| walk.query(query))
    }

    fn expr(&mut self, expr: &'a Expr) -> Result<()> {
        with_stack(|| self.expr_here(expr))
    }

    fn expr_here(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Literal(_)
            | ExprKind::Parameter(_)
            | ExprKind::Column(_)
            | ExprKind::AllColumns(_)
            | ExprKind::TypedText { .. }
            | ExprKind::ValueFunction { .. }
            | ExprKind::Default
            | ExprKind::CurrentOf(_) => Ok(()),
            ExprKind::Cast { operand, .. }
            | ExprKind::Unary { operand, .. }
            | ExprKind::Not(operand)
            | ExprKind::IsTest { operand, .. }
            | ExprKind::Field { operand, .. }
            | ExprKind::AllFields(operand)
            | ExprKind::Collate { operand, .. } => self.expr(operand),
            ExprKind::Binary { left, right, .. } | ExprKind::IsDistinctFrom { left, right, .. } => {
                self.exprs([&**left, &**right])
            }
            ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::Array(parts)
            | ExprKind::Row { fields: parts, .. } => self.exprs(parts),
            ExprKind::Between { operand, low, high, .. } => {
                self.exprs([&**operand, &**low, &**high])
            }
            ExprKind::InList { operand, list, .. } => {
                self.expr(operand)?;
                self.exprs(list)
            }
            ExprKind::InQuery { operand, query, .. } => {
                self.subquery(query)?;
                self.expr(operand)
            }
            ExprKind::Like { operand, pattern, escape, .. } => {
                self.exprs([&**operand, &**pattern])?;
                self.exprs(escape.as_deref())
            }
            ExprKind::Quantified(quantified) => self.exprs([&quantified.right, &quantified.left]),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Case { operand, branches, otherwise } => {
                self.exprs(operand.as_deref())?;
                branches.iter().try_for_each(|branch| self.exprs([&branch.when, &branch.then]))?;
                self.exprs(otherwise.as_deref())
            }
            ExprKind::ArrayQuery(query) | ExprKind::Query(query) | ExprKind::Exists(query) => {
                self.subquery(query)
            }
            ExprKind::Subscript { operand, index } => self.exprs([&**operand, &**index]),
            ExprKind::Slice { operand, low, high } => {
                self.expr(operand)?;
                self.exprs(low.as_deref().into_iter().chain(high.as_deref()))
            }
            ExprKind::AtTimeZone { operand, zone } => {
                self.exprs(zone.as_deref())?;
                self.expr(operand)
            }
        }
    }

    fn call(&mut self, call: &'a FunctionCall) -> Result<()> {
        self.exprs(call.arguments.iter().map(|argument| &argument.value))?;
        self.order_by(&call.order_by)?;
        self.order_by(&call.within_group)?;
        self.exprs(&call.filter)?;
        match &call.over {
            Some(WindowSpecification::Window(window)) => self.window(window),
            _ => Ok(()),
        }
    }

    fn window(&mut self, window: &'a Window) -> Result<()> {
        self.exprs(&window.partition_by)?;
        self.order_by(&window.order_by)?;
        let bounds = window.frame.iter().flat_map(|frame| [Some(&frame.start), frame.end.as_ref()]);
        bounds.flatten().try_for_each(|bound| match bound {
            FrameBound::Preceding(distance) | FrameBound::Following(distance) => {
                self.expr(distance)
            }
            _ => Ok(()),
        })
    }

    /// Goes through a change.
    fn statement(&mut self, statement: &'a Statement) -> Result<()> {
        let hidden = self.hidden.len();
        let with = match statement {
            Statement::Insert(insert) => &insert.with,
            Statement::Update(update) => &update.with,
            Statement::Delete(delete) => &delete.with,
            Statement::Merge(merge) => &merge.with,
            _ => return Ok(()),
        };
        with.iter().try_for_each(|with| self.with(with))?;
        let walked = self.statement_without_with(statement);
        self.hidden.truncate(hidden);
        walked
    }

    fn statement_without_with(&mut self, statement: &'a Statement) -> Result<()> {
        match statement {
            Statement::Insert(insert) => {
                if let InsertSource::Query { query, .. } = &insert.source {
                    self.query(query)?;
                }
                if let Some(conflict) = &insert.on_conflict
                    && let ConflictAction::Update { assignments, filter } = &conflict.action
                {
                    self.assignments(assignments)?;
                    self.exprs(filter)?;
                }
                self.targets(&insert.returning)
            }
            Statement::Update(update) => {
                self.assignments(&update.assignments)?;
                self.exprs(&update.filter)?;
                update.from.iter().try_for_each(|item| self.item(item))?;
                self.targets(&update.returning)
            }
            Statement::Delete(delete) => {
                delete.using.iter().try_for_each(|item| self.item(item))?;
                self.exprs(&delete.filter)?;
                self.targets(&delete.returning)
            }
            Statement::Merge(merge) => {
                self.item(&merge.source)?;
                self.expr(&merge.on)?;
                merge.clauses.iter().try_for_each(|clause| {
                    self.exprs(&clause.condition)?;
                    match &clause.action {
                        MergeAction::Update(assignments) => self.assignments(assignments),
                        MergeAction::Insert { values, .. } => self.exprs(values.iter().flatten()),
                        MergeAction::Delete | MergeAction::Nothing => Ok(()),
                    }
                })
            }
            _ => Ok(()),
        }
    }

    fn assignments(&mut self, assignments: &'a [Assignment]) -> Result<()> {
        self.exprs(assignments.iter().map(|assignment| match assignment {
            Assignment::One { value, .. } | Assignment::Many { value, .. } => value,
        }))
    }
}

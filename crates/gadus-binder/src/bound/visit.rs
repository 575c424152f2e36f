//! Going through the expressions of expressions and operators.

use super::{
    AggregateCall, BoundQuery, OrderedScalar, Relational, Scalar, ScalarKind, SubqueryKind,
    SubscriptItem, WindowBound, WindowCall,
};

/// Function that is called for expressions.
pub(super) type Visit<'a> = &'a mut dyn FnMut(&mut Scalar);

impl Scalar {
    /// Calls a function for each expression directly within this one, those of its query included.
    pub(crate) fn for_each_part(&mut self, visit: Visit<'_>) {
        match &mut self.kind {
            ScalarKind::Constant(_)
            | ScalarKind::Parameter(_)
            | ScalarKind::Column(_)
            | ScalarKind::CaseOperand
            | ScalarKind::Value(_)
            | ScalarKind::Grouping(_)
            | ScalarKind::Default => {}
            ScalarKind::Operator { operands: parts, .. }
            | ScalarKind::Function { arguments: parts, .. }
            | ScalarKind::And(parts)
            | ScalarKind::Or(parts)
            | ScalarKind::Coalesce(parts)
            | ScalarKind::Greatest(parts)
            | ScalarKind::Least(parts)
            | ScalarKind::Array(parts)
            | ScalarKind::Row(parts) => parts.iter_mut().for_each(visit),
            ScalarKind::Cast { operand, .. }
            | ScalarKind::ApplyModifier { operand, .. }
            | ScalarKind::Not(operand)
            | ScalarKind::Is { operand, .. }
            | ScalarKind::Field { operand, .. }
            | ScalarKind::Collate { operand, .. } => visit(operand),
            ScalarKind::IsDistinct { operands, .. } | ScalarKind::NullIf { operands, .. } => {
                operands.iter_mut().for_each(visit);
            }
            ScalarKind::OnlyRow { value, rows } => {
                visit(value);
                visit(rows);
            }
            ScalarKind::Case { operand, branches, otherwise } => {
                operand.iter_mut().for_each(|operand| visit(operand));
                for (when, then) in branches {
                    visit(when);
                    visit(then);
                }
                otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
            }
            ScalarKind::Quantified(quantified) => {
                visit(&mut quantified.left);
                visit(&mut quantified.array);
            }
            ScalarKind::RowComparison { fields, .. } => {
                fields.iter_mut().flatten().for_each(visit);
            }
            ScalarKind::Subquery(subquery) => {
                if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) =
                    &mut subquery.kind
                {
                    visit(condition);
                }
                subquery.query.for_each_scalar(visit);
            }
            ScalarKind::Subscript { operand, items } => {
                visit(operand);
                items.iter_mut().for_each(|item| item.for_each_scalar(visit));
            }
        }
    }

    /// Calls a function for this expression and all within it, from the outside in.
    pub(crate) fn for_each(&mut self, visit: Visit<'_>) {
        visit(self);
        self.for_each_part(&mut |part| part.for_each(visit));
    }
}

impl SubscriptItem {
    /// Calls a function for each bound.
    pub(super) fn for_each_scalar(&mut self, visit: Visit<'_>) {
        match self {
            Self::Index(index) => visit(index),
            Self::Slice(low, high) => low.iter_mut().chain(high).for_each(visit),
        }
    }
}

impl BoundQuery {
    /// Calls a function for each expression of its operators, not for those within expressions.
    pub(crate) fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.root.for_each_scalar(visit);
    }
}

impl Relational {
    /// Calls a function for each expression of this operator and its inputs, not for those within expressions.
    pub(crate) fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.for_each_own_scalar(visit);
        self.for_each_input(&mut |input| input.for_each_scalar(visit));
    }

    /// Calls a function for each expression of this operator, not for those within expressions.
    pub(crate) fn for_each_own_scalar(&mut self, visit: Visit<'_>) {
        match self {
            Self::OneRow
            | Self::Scan { .. }
            | Self::CommonTableScan { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Lock { .. }
            | Self::SetOperation(_)
            | Self::With { .. } => {}
            Self::Values { rows, .. } => rows.iter_mut().flatten().for_each(visit),
            Self::TableFunctions { calls, .. } => {
                calls.iter_mut().for_each(|call| visit(&mut call.call));
            }
            Self::Project { items, .. } => items.iter_mut().for_each(|(_, item)| visit(item)),
            Self::ProjectSets { calls, .. } => {
                calls.iter_mut().for_each(|call| visit(&mut call.call));
            }
            Self::Filter { predicate, .. } => visit(predicate),
            Self::Join(join) => join.condition.iter_mut().for_each(visit),
            Self::Aggregate { groups, aggregates, .. } => {
                groups.iter_mut().for_each(|(_, group)| visit(group));
                aggregates.iter_mut().for_each(|(_, call)| call.for_each_scalar(visit));
            }
            Self::Window { calls, .. } => {
                calls.iter_mut().for_each(|(_, call)| call.for_each_scalar(visit));
            }
            Self::Change(change) => change.for_each_scalar(visit),
            Self::Limit(limit) => {
                limit.limit.iter_mut().chain(&mut limit.offset).for_each(visit);
            }
        }
    }
}

impl Relational {
    /// Calls a function for each input of this operator.
    pub(crate) fn for_each_input(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::OneRow
            | Self::Scan { .. }
            | Self::CommonTableScan { .. }
            | Self::Values { .. }
            | Self::TableFunctions { .. } => {}
            Self::Project { input, .. }
            | Self::ProjectSets { input, .. }
            | Self::Filter { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Window { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Lock { input, .. } => visit(input),
            Self::Join(join) => {
                visit(&mut join.left);
                visit(&mut join.right);
            }
            Self::SetOperation(operation) => {
                visit(&mut operation.left.root);
                visit(&mut operation.right.root);
            }
            Self::Limit(limit) => visit(&mut limit.input),
            Self::With { tables, input } => {
                for table in tables {
                    visit(&mut table.query.root);
                    if let Some((step, _)) = &mut table.recursive {
                        visit(&mut step.root);
                    }
                }
                visit(input);
            }
            Self::Change(change) => change.for_each_input(visit),
        }
    }

    /// Calls a function for this operator, its inputs and the queries within expressions, the outermost first.
    pub(crate) fn for_each_operator(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        visit(self);
        self.for_each_own_scalar(&mut |scalar| {
            scalar.for_each_query(&mut |query| query.root.for_each_operator(visit));
        });
        self.for_each_input(&mut |input| input.for_each_operator(visit));
    }
}

impl Scalar {
    /// Calls a function for each outermost query within this expression.
    pub(crate) fn for_each_query(&mut self, visit: &mut dyn FnMut(&mut BoundQuery)) {
        match &mut self.kind {
            ScalarKind::Subquery(subquery) => {
                if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) =
                    &mut subquery.kind
                {
                    condition.for_each_query(visit);
                }
                visit(&mut subquery.query);
            }
            _ => self.for_each_part(&mut |part| part.for_each_query(visit)),
        }
    }
}

impl AggregateCall {
    /// Calls a function for each of its expressions.
    pub(crate) fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.arguments.iter_mut().for_each(&mut *visit);
        for_each_ordered(&mut self.order_by, visit);
        self.filter.iter_mut().for_each(visit);
    }
}

impl WindowCall {
    /// Calls a function for each of its expressions.
    pub(crate) fn for_each_scalar(&mut self, visit: Visit<'_>) {
        self.call.for_each_scalar(visit);
        self.partition_by.iter_mut().for_each(&mut *visit);
        for_each_ordered(&mut self.order_by, visit);
        for bound in [&mut self.frame.start, &mut self.frame.end] {
            if let WindowBound::Preceding(distance) | WindowBound::Following(distance) = bound {
                visit(distance);
            }
        }
    }
}

fn for_each_ordered(order_by: &mut [OrderedScalar], visit: Visit<'_>) {
    order_by.iter_mut().for_each(|key| visit(&mut key.value));
}

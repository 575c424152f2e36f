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
        match self {
            Self::OneRow | Self::Scan { .. } | Self::CommonTableScan { .. } => {}
            Self::Values { rows, .. } => rows.iter_mut().flatten().for_each(visit),
            Self::TableFunctions { calls, .. } => {
                calls.iter_mut().for_each(|call| visit(&mut call.call));
            }
            Self::Project { input, items } => {
                items.iter_mut().for_each(|(_, item)| visit(item));
                input.for_each_scalar(visit);
            }
            Self::ProjectSets { input, calls } => {
                calls.iter_mut().for_each(|call| visit(&mut call.call));
                input.for_each_scalar(visit);
            }
            Self::Filter { input, predicate } => {
                visit(predicate);
                input.for_each_scalar(visit);
            }
            Self::Join(join) => {
                join.condition.iter_mut().for_each(&mut *visit);
                join.left.for_each_scalar(visit);
                join.right.for_each_scalar(visit);
            }
            Self::Aggregate { input, groups, aggregates, .. } => {
                groups.iter_mut().for_each(|(_, group)| visit(group));
                aggregates.iter_mut().for_each(|(_, call)| call.for_each_scalar(visit));
                input.for_each_scalar(visit);
            }
            Self::Window { input, calls } => {
                calls.iter_mut().for_each(|(_, call)| call.for_each_scalar(visit));
                input.for_each_scalar(visit);
            }
            Self::Distinct { input, .. } | Self::Sort { input, .. } | Self::Lock { input, .. } => {
                input.for_each_scalar(visit);
            }
            Self::Change(change) => change.for_each_scalar(visit),
            Self::SetOperation(operation) => {
                operation.left.for_each_scalar(visit);
                operation.right.for_each_scalar(visit);
            }
            Self::Limit(limit) => {
                limit.limit.iter_mut().chain(&mut limit.offset).for_each(&mut *visit);
                limit.input.for_each_scalar(visit);
            }
            Self::With { tables, input } => {
                for table in tables {
                    table.query.for_each_scalar(visit);
                    if let Some((step, _)) = &mut table.recursive {
                        step.for_each_scalar(visit);
                    }
                }
                input.for_each_scalar(visit);
            }
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

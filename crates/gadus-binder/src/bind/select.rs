//! SELECT: its clauses in the order of their meaning, and the operators that they become.

use super::grouping::{Groups, OverGroups};
use super::order::{Sorting, TargetKey, check_equality};
use super::scope::{Clause, Scope};
use super::targets::BoundTarget;
use super::{Binder, UnknownOutputs};
use crate::bound::{
    AggregateCall, BoundQuery, ColumnId, OutputColumn, Relational, Scalar, ScalarKind, SetCall,
    SortKey,
};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::ast::{Distinct, Query, Select};

/// Clauses of a SELECT, bound.
struct Clauses {
    rows: Relational,
    filter: Option<Scalar>,
    targets: Vec<BoundTarget>,
    groups: Option<Groups>,
    having: Option<Scalar>,
    qualify: Option<Scalar>,
    distinct: Option<DistinctRows>,
    keys: Vec<TargetKey>,
}

/// DISTINCT, with the entries of DISTINCT ON.
struct DistinctRows {
    on: Option<Vec<usize>>,
}

impl Binder<'_> {
    /// Binds a SELECT with its order.
    pub(super) fn select(
        &mut self,
        select: &Select,
        query: &Query,
        unknown: UnknownOutputs,
    ) -> Result<BoundQuery> {
        if select.into.is_some() {
            return Err(BindError::unsupported("SELECT INTO here", query.span));
        }
        let (clauses, scope) = self.in_scope(|binder| binder.clauses(select, query, unknown))?;
        self.assemble(clauses, scope)
    }

    fn clauses(
        &mut self,
        select: &Select,
        query: &Query,
        unknown: UnknownOutputs,
    ) -> Result<Clauses> {
        let rows = self.bind_from(&select.from)?;
        self.name_windows(&select.windows)?;
        self.scope().clause = Clause::Select;
        let mut targets = self.targets(&select.targets)?;
        if unknown == UnknownOutputs::BecomeText {
            for target in targets.iter_mut().filter(|target| target.value.data_type.id.is_unknown())
            {
                let value = target.value.clone();
                target.value = self.coercion().argument(value, constants::TEXT)?;
            }
        }
        self.scope().clause = Clause::Where;
        let filter = select.filter.as_ref().map(|filter| self.condition(filter, "WHERE"));
        let filter = filter.transpose()?;
        self.scope().clause = Clause::Having;
        let having = select.having.as_ref().map(|having| self.condition(having, "HAVING"));
        let having = having.transpose()?;
        let keys = self.target_keys(Sorting::of(query), &mut targets)?;
        let visible = targets.iter().filter(|target| !target.is_hidden).count();
        let groups = self.group_by(select.group_by.as_ref(), &targets[..visible])?;
        self.scope().clause = Clause::Qualify;
        let qualify = select.qualify.as_ref().map(|qualify| self.condition(qualify, "QUALIFY"));
        let qualify = qualify.transpose()?;
        let distinct = self.distinct(&select.distinct, &mut targets, &keys)?;
        self.check_row_counts(query)?;
        self.check_recursion(&targets, having.as_ref())?;
        let has_groups =
            groups.is_some() || having.is_some() || !self.scope().aggregates.is_empty();
        let groups = match groups {
            None if has_groups => Some(Groups::default()),
            groups => groups,
        };
        Ok(Clauses { rows, filter, targets, groups, having, qualify, distinct, keys })
    }

    /// Refuses aggregates over the rows of a recursive query's last step.
    fn check_recursion(&mut self, targets: &[BoundTarget], having: Option<&Scalar>) -> Result<()> {
        let scope = self.scope();
        if !scope.reads_itself || scope.aggregates.is_empty() {
            return Ok(());
        }
        let calls = scope.aggregates.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let mut span = None;
        for value in targets.iter().map(|target| &target.value).chain(having) {
            value.clone().for_each(&mut |part| {
                let is_call = part.as_column().is_some_and(|id| calls.contains(&id));
                span = span.or(is_call.then_some(part.span));
            });
        }
        let message = "aggregate functions are not allowed in a recursive query's recursive term";
        Err(BindError { span, ..BindError::without_position("42P19", message) })
    }

    fn distinct(
        &mut self,
        distinct: &Distinct,
        targets: &mut Vec<BoundTarget>,
        keys: &[TargetKey],
    ) -> Result<Option<DistinctRows>> {
        match distinct {
            Distinct::All => Ok(None),
            Distinct::Distinct => {
                let hidden = targets.iter().find(|target| target.is_hidden);
                if let Some(hidden) = hidden {
                    let message =
                        "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                    return Err(BindError::new("42P10", message, hidden.value.span));
                }
                for target in &*targets {
                    check_equality(target.value.data_type.id, target.value.span)?;
                }
                Ok(Some(DistinctRows { on: None }))
            }
            Distinct::On(exprs) => {
                self.scope().clause = Clause::DistinctOn;
                let mut on = Vec::with_capacity(exprs.len());
                for expr in exprs {
                    let target = self.target_of(expr, Clause::DistinctOn, targets)?;
                    check_equality(targets[target].value.data_type.id, expr.span)?;
                    on.push(target);
                }
                let known = keys.iter().take_while(|key| on.contains(&key.target)).count();
                let rest = keys.get(known..).unwrap_or_default();
                let is_missing =
                    |target: &usize| !keys[..known].iter().any(|key| key.target == *target);
                if !rest.is_empty() && on.iter().any(is_missing) {
                    let message =
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
                    let span = exprs.first().map(|expr| expr.span).unwrap_or_default();
                    return Err(BindError::new("42P10", message, span));
                }
                Ok(Some(DistinctRows { on: Some(on) }))
            }
        }
    }

    /// Puts the operators of the clauses on top of each other.
    fn assemble(&mut self, clauses: Clauses, mut scope: Scope) -> Result<BoundQuery> {
        let Clauses {
            mut rows,
            filter,
            mut targets,
            groups,
            mut having,
            mut qualify,
            distinct,
            keys,
        } = clauses;
        let mut windows = std::mem::take(&mut scope.windows);
        let mut sets = std::mem::take(&mut scope.sets);
        let mut aggregates = std::mem::take(&mut scope.aggregates);
        if let Some(predicate) = filter {
            rows = Relational::Filter { input: Box::new(rows), predicate };
        }
        if let Some(mut groups) = groups {
            let mut failed = None;
            let mut over = OverGroups { groups: &mut groups, scope: &scope };
            let mut rewrite = |value: &mut Scalar| {
                if failed.is_none() {
                    failed = over.rewrite(value).err();
                }
            };
            targets.iter_mut().for_each(|target| rewrite(&mut target.value));
            having.iter_mut().chain(&mut qualify).for_each(&mut rewrite);
            windows.iter_mut().for_each(|(_, call)| call.for_each_scalar(&mut rewrite));
            sets.iter_mut().for_each(|(_, set)| rewrite(&mut set.call));
            // Direct arguments of ordered-set aggregates are evaluated once for a group.
            let ordered = |call: &&mut AggregateCall| call.function.kind.is_within_group();
            let calls = aggregates.iter_mut().map(|(_, call)| call).filter(ordered);
            calls.for_each(|call| call.arguments.iter_mut().for_each(&mut rewrite));
            if let Some(error) = failed {
                return Err(error);
            }
            let set_number = groups.sets.as_ref().map(|_| self.new_column());
            rows = Relational::Aggregate {
                input: Box::new(rows),
                groups: groups.keys,
                sets: groups.sets,
                aggregates,
                set_number,
            };
        } else if let Some((_, arguments)) = scope.groupings.first() {
            let message =
                "arguments to GROUPING must be grouping expressions of the associated query level";
            let span = arguments.first().map(|argument| argument.span).unwrap_or_default();
            return Err(BindError::new("42803", message, span));
        }
        if let Some(predicate) = having {
            rows = Relational::Filter { input: Box::new(rows), predicate };
        }
        if !windows.is_empty() {
            rows = Relational::Window { input: Box::new(rows), calls: windows };
        }
        if let Some(predicate) = qualify {
            rows = Relational::Filter { input: Box::new(rows), predicate };
        }
        rows = with_sets(rows, sets);
        Ok(self.project(rows, targets, distinct, &keys))
    }

    /// Returns true for a column of a query around the one whose scope has ended.
    fn is_around(&self, column: ColumnId) -> bool {
        self.scopes.iter().any(|scope| scope.own.contains(&column))
    }

    /// Adds the select list, DISTINCT and the order.
    fn project(
        &mut self,
        rows: Relational,
        targets: Vec<BoundTarget>,
        distinct: Option<DistinctRows>,
        keys: &[TargetKey],
    ) -> BoundQuery {
        let mut items = Vec::<(ColumnId, Scalar)>::with_capacity(targets.len());
        let mut outputs = Vec::with_capacity(targets.len());
        let mut hidden = 0;
        for target in targets {
            let BoundTarget { name, value, is_hidden } = target;
            // A column of a query around is another one here: a lateral join has both.
            let column = value.as_column().filter(|id| !self.is_around(*id));
            let id = column.filter(|id| !items.iter().any(|(known, _)| known == id));
            let id = id.unwrap_or_else(|| self.new_column());
            if is_hidden {
                hidden += 1;
            } else {
                outputs.push(OutputColumn { name, id, data_type: value.data_type });
            }
            items.push((id, value));
        }
        let ids = items.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let key = |key: &TargetKey| SortKey {
            column: ids[key.target],
            is_descending: key.is_descending,
            nulls_first: key.nulls_first,
        };
        let keys = keys.iter().map(key).collect::<Vec<_>>();
        let mut root = Relational::Project { input: Box::new(rows), items };
        let sort = |root: Relational, keys: Vec<SortKey>| match keys.is_empty() {
            true => root,
            false => Relational::Sort { input: Box::new(root), keys },
        };
        match distinct {
            // The first row of each group is by the order.
            Some(DistinctRows { on: Some(on) }) => {
                let on = Some(on.into_iter().map(|target| ids[target]).collect());
                let input = Box::new(sort(root, keys.clone()));
                root = sort(Relational::Distinct { input, on, columns: ids.clone() }, keys);
            }
            Some(DistinctRows { on: None }) => {
                let (input, columns) = (Box::new(root), ids.clone());
                root = sort(Relational::Distinct { input, on: None, columns }, keys);
            }
            None => root = sort(root, keys),
        }
        if hidden > 0 {
            let span = gadus_syntax::Span::default();
            let item = |output: &OutputColumn| {
                (output.id, Scalar::new(ScalarKind::Column(output.id), output.data_type, span))
            };
            let items = outputs.iter().map(item).collect();
            root = Relational::Project { input: Box::new(root), items };
        }
        BoundQuery { root, outputs }
    }
}

/// Adds the calls that return sets: those whose arguments have sets above the others.
pub(super) fn with_sets(mut rows: Relational, sets: Vec<(u32, SetCall)>) -> Relational {
    let last = sets.iter().map(|(step, _)| *step).max();
    for step in 0..=last.unwrap_or(0) {
        let calls = sets.iter().filter(|(at, _)| *at == step).map(|(_, call)| call.clone());
        let calls = calls.collect::<Vec<_>>();
        if !calls.is_empty() {
            rows = Relational::ProjectSets { input: Box::new(rows), calls };
        }
    }
    rows
}

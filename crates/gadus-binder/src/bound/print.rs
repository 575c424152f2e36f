//! Bound queries as text: a line for each operator, its inputs indented below it.

use super::{
    AggregateCall, BoundQuery, ColumnId, CommonTable, Join, JoinKind, OrderedScalar, Relational,
    Scalar, SetOperation, SortKey, WindowBound, WindowCall,
};
use gadus_syntax::ast::SetOperator;
use std::fmt::{self, Display, Formatter, Write};

impl Display for ColumnId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Writes a tree of operators, the columns of the result first.
impl Display for BoundQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_query(self, 0, f)
    }
}

pub(super) fn write_query(query: &BoundQuery, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    indent(depth, f)?;
    f.write_str("Output")?;
    for (place, output) in query.outputs.iter().enumerate() {
        let separator = if place == 0 { " " } else { ", " };
        write!(f, "{separator}{} {}: {}", output.id, output.name, output.data_type)?;
    }
    f.write_char('\n')?;
    write_operator(&query.root, depth + 1, f)
}

pub(super) fn indent(depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    (0..depth).try_for_each(|_| f.write_str("  "))
}

/// Writes one operator and its inputs.
pub(super) fn write_operator(
    operator: &Relational,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    indent(depth, f)?;
    match operator {
        Relational::OneRow => f.write_str("OneRow\n"),
        Relational::Scan { relation, columns } => {
            write!(f, "Scan {}.{}", relation.schema, relation.name)?;
            for (place, id) in columns {
                let name = relation.columns.get(*place).map_or("?", |column| &column.name);
                write!(f, " {id}={name}")?;
            }
            f.write_char('\n')
        }
        Relational::Values { .. } | Relational::TableFunctions { .. } => {
            write_leaf(operator, depth, f)
        }
        Relational::Project { input, items } => {
            write_items("Project", items.iter().map(|(id, item)| (*id, item)), f)?;
            write_operator(input, depth + 1, f)
        }
        Relational::ProjectSets { input, calls } => {
            write_items("ProjectSets", calls.iter().map(|set| (set.id, &set.call)), f)?;
            write_operator(input, depth + 1, f)
        }
        Relational::Filter { input, predicate } => {
            writeln!(f, "Filter {predicate}")?;
            write_operator(input, depth + 1, f)
        }
        Relational::Join(join) => write_join(join, depth, f),
        Relational::Aggregate { input, .. } => {
            write_groups(operator, depth, f)?;
            write_operator(input, depth + 1, f)
        }
        Relational::Window { input, calls } => {
            f.write_str("Window\n")?;
            for (id, call) in calls {
                indent(depth + 1, f)?;
                writeln!(f, "{id} = {call}")?;
            }
            write_operator(input, depth + 1, f)
        }
        Relational::Distinct { input, on, .. } => {
            f.write_str("Distinct")?;
            on.iter().flatten().try_for_each(|id| write!(f, " {id}"))?;
            f.write_char('\n')?;
            write_operator(input, depth + 1, f)
        }
        Relational::SetOperation(operation) => write_set_operation(operation, depth, f),
        Relational::Sort { .. } | Relational::Limit(_) => write_order(operator, depth, f),
        Relational::With { tables, input } => {
            f.write_str("With\n")?;
            tables.iter().try_for_each(|table| write_common_table(table, depth + 1, f))?;
            write_operator(input, depth + 1, f)
        }
        Relational::CommonTableScan { table, columns } => {
            write!(f, "CommonTableScan @{}", table.0)?;
            columns.iter().try_for_each(|id| write!(f, " {id}"))?;
            f.write_char('\n')
        }
        Relational::Change(change) => super::print_changes::write_change(change, depth, f),
        Relational::Lock { input, .. } => {
            f.write_str("Lock\n")?;
            write_operator(input, depth + 1, f)
        }
    }
}

/// Writes the rows of VALUES and functions.
fn write_leaf(operator: &Relational, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    match operator {
        Relational::Values { rows, columns } => {
            f.write_str("Values")?;
            columns.iter().try_for_each(|(id, _)| write!(f, " {id}"))?;
            f.write_char('\n')?;
            for row in rows {
                indent(depth + 1, f)?;
                writeln!(f, "({})", List(row))?;
            }
            Ok(())
        }
        Relational::TableFunctions { calls, ordinality } => {
            f.write_str("TableFunctions")?;
            for call in calls {
                write!(f, " {}", call.call)?;
                call.columns.iter().try_for_each(|(id, _)| write!(f, " {id}"))?;
            }
            ordinality.iter().try_for_each(|id| write!(f, " ordinality {id}"))?;
            f.write_char('\n')
        }
        _ => Ok(()),
    }
}

/// Writes an order or a limit with its input.
fn write_order(operator: &Relational, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    match operator {
        Relational::Sort { input, keys } => {
            f.write_str("Sort")?;
            keys.iter().try_for_each(|key| write!(f, " {key}"))?;
            f.write_char('\n')?;
            write_operator(input, depth + 1, f)
        }
        Relational::Limit(limit) => {
            f.write_str("Limit")?;
            limit.limit.iter().try_for_each(|limit| write!(f, " {limit}"))?;
            limit.offset.iter().try_for_each(|offset| write!(f, " offset {offset}"))?;
            f.write_str(if limit.with_ties { " with ties\n" } else { "\n" })?;
            write_operator(&limit.input, depth + 1, f)
        }
        _ => Ok(()),
    }
}

fn write_join(join: &Join, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let kind = match join.kind {
        JoinKind::Inner => "Inner",
        JoinKind::Left => "Left",
        JoinKind::Right => "Right",
        JoinKind::Full => "Full",
        JoinKind::Semi => "Semi",
        JoinKind::Anti => "Anti",
        JoinKind::Mark(_) => "Mark",
    };
    let lateral = if join.is_lateral { " lateral" } else { "" };
    write!(f, "{kind}Join{lateral}")?;
    join.condition.iter().try_for_each(|condition| write!(f, " {condition}"))?;
    f.write_char('\n')?;
    write_operator(&join.left, depth + 1, f)?;
    write_operator(&join.right, depth + 1, f)
}

/// Writes the groups, grouping sets and aggregates of an aggregation.
fn write_groups(operator: &Relational, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let Relational::Aggregate { groups, sets, aggregates, .. } = operator else {
        return Ok(());
    };
    write_items("Aggregate", groups.iter().map(|(id, group)| (*id, group)), f)?;
    for set in sets.iter().flatten() {
        indent(depth + 1, f)?;
        let ids = set.iter().map(|place| groups[*place].0.to_string()).collect::<Vec<_>>();
        writeln!(f, "set ({})", ids.join(", "))?;
    }
    for (id, call) in aggregates {
        indent(depth + 1, f)?;
        writeln!(f, "{id} = {call}")?;
    }
    Ok(())
}

fn write_set_operation(
    operation: &SetOperation,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let name = match operation.operator {
        SetOperator::Union => "Union",
        SetOperator::Intersect => "Intersect",
        SetOperator::Except => "Except",
    };
    let all = if operation.all { "All" } else { "" };
    write!(f, "{name}{all}")?;
    operation.columns.iter().try_for_each(|(id, _)| write!(f, " {id}"))?;
    f.write_char('\n')?;
    write_query(&operation.left, depth + 1, f)?;
    write_query(&operation.right, depth + 1, f)
}

fn write_common_table(table: &CommonTable, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    indent(depth, f)?;
    writeln!(f, "{} as @{}, readers: {}", table.name, table.id.0, table.readers)?;
    write_query(&table.query, depth + 1, f)?;
    let Some((step, all)) = &table.recursive else { return Ok(()) };
    indent(depth + 1, f)?;
    f.write_str(if *all { "recursive all\n" } else { "recursive\n" })?;
    write_query(step, depth + 1, f)
}

pub(super) fn write_items<'a>(
    name: &str,
    items: impl Iterator<Item = (ColumnId, &'a Scalar)>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    f.write_str(name)?;
    for (place, (id, item)) in items.enumerate() {
        let separator = if place == 0 { " " } else { ", " };
        match item.as_column() == Some(id) {
            true => write!(f, "{separator}{id}")?,
            false => write!(f, "{separator}{id} = {item}")?,
        }
    }
    f.write_char('\n')
}

/// Writes expressions with commas.
pub(super) struct List<'a>(pub(super) &'a [Scalar]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, item) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}{item}")?;
        }
        Ok(())
    }
}

impl Display for SortKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.column, direction(self.is_descending, self.nulls_first))
    }
}

impl Display for OrderedScalar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, direction(self.is_descending, self.nulls_first))
    }
}

fn direction(is_descending: bool, nulls_first: bool) -> &'static str {
    match (is_descending, nulls_first) {
        (false, false) => "",
        (false, true) => " nulls first",
        (true, true) => " desc",
        (true, false) => " desc nulls last",
    }
}

impl Display for AggregateCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let distinct = if self.is_distinct { "distinct " } else { "" };
        let star = if self.is_star { "*" } else { "" };
        write!(f, "{}({distinct}{star}{}", self.function.name, List(&self.arguments))?;
        for (place, key) in self.order_by.iter().enumerate() {
            write!(f, "{}{key}", if place == 0 { " order by " } else { ", " })?;
        }
        write!(f, "): {}", self.data_type)?;
        self.filter.iter().try_for_each(|filter| write!(f, " filter {filter}"))
    }
}

impl Display for WindowCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} over (", self.call)?;
        if !self.partition_by.is_empty() {
            write!(f, "partition by {} ", List(&self.partition_by))?;
        }
        for (place, key) in self.order_by.iter().enumerate() {
            write!(f, "{}{key}", if place == 0 { "order by " } else { ", " })?;
        }
        let frame = &self.frame;
        write!(f, " {:?} {} to {} {:?})", frame.units, frame.start, frame.end, frame.exclusion)
    }
}

impl Display for WindowBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnboundedPreceding => f.write_str("unbounded preceding"),
            Self::Preceding(distance) => write!(f, "{distance} preceding"),
            Self::CurrentRow => f.write_str("current row"),
            Self::Following(distance) => write!(f, "{distance} following"),
            Self::UnboundedFollowing => f.write_str("unbounded following"),
        }
    }
}

//! From a parse tree to a compiled statement, or to nothing.

use super::compile_grouped::{grouped, is_grouped};
use super::compile_order::{named_item, order};
use super::compile_writes::{delete_rows, insert_rows, update_rows};
use super::filter::{Condition, Filter};
use super::point::PointSelect;
use super::scan::ScanQuery;
use super::{Compiled, Operand, Target, negate};
use crate::session::{folded, table_name};
use crate::shape::{number_literal, typed_literal};
use crate::value::Value;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor,
    TableWithJoins, UnaryOperator, Value as SqlValue,
};
use gadus_engine::{ColumnType, Comparison, Snapshot, StorageClass, TableSchema};

pub(super) fn compile(statement: &Statement, snapshot: &Snapshot) -> Option<Compiled> {
    match statement {
        Statement::Query(query) => select(query, snapshot),
        Statement::Insert(insert) => insert_rows(insert, snapshot),
        Statement::Update(update) => update_rows(update, snapshot),
        Statement::Delete(delete) => delete_rows(delete, snapshot),
        _ => None,
    }
}

fn select(query: &Query, snapshot: &Snapshot) -> Option<Compiled> {
    let plain = query.with.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty();
    let SetExpr::Select(select) = &*query.body else { return None };
    if !plain || !is_plain(select) {
        return None;
    }
    let [table] = select.from.as_slice() else { return None };
    let target = target(table, snapshot)?;
    if !is_grouped(select)
        && let Some(columns) = projected(&select.projection, &target.schema)
    {
        return scan(query, select, target, columns);
    }
    grouped(query, select, target).map(Compiled::Aggregate)
}

/// SELECT columns FROM table WHERE conjunction ORDER BY columns.
fn scan(
    query: &Query,
    select: &Select,
    target: Target,
    columns: Vec<(usize, String)>,
) -> Option<Compiled> {
    // Whole tables are left to DataFusion, which reads them with all threads.
    let selection = select.selection.as_ref()?;
    let schema = &target.schema;
    let sorted_by = |expr: &Expr| {
        // Only plain columns were projected.
        let has_wildcard = columns.len() != select.projection.len();
        let named = named_item(expr, &select.projection).filter(|_| !has_wildcard);
        let found = named.map(|item| columns[item].0).or_else(|| column(expr, schema))?;
        is_sortable(found, schema).then_some(found)
    };
    let order = order(query, sorted_by)?;
    if let Some(key) = key_operands(selection, schema) {
        return order.is_none().then(|| Compiled::Select(PointSelect::new(target, columns, key)));
    }
    let filter = filter(Some(selection), schema)?;
    Some(Compiled::Scan(ScanQuery::new(target, columns, filter, order)))
}

/// Whether DataFusion orders all values of a column as the engine does: doubles, and what is made of others, it does not.
pub(super) fn is_comparable(column: usize, schema: &TableSchema) -> bool {
    let column_type = schema.columns[column].column_type;
    column_type.storage() != StorageClass::Float && column_type.is_ordered()
}

/// Whether the engine sorts values of a column as SQL does.
fn is_sortable(column: usize, schema: &TableSchema) -> bool {
    is_comparable(column, schema) && !schema.columns[column].column_type.has_own_order()
}

pub(super) fn filter(selection: Option<&Expr>, schema: &TableSchema) -> Option<Filter> {
    let mut conjuncts = Vec::new();
    if let Some(selection) = selection {
        each_conjunct(selection, &mut |conjunct| conjuncts.push(condition(conjunct, schema)));
    }
    let conjuncts = conjuncts.into_iter().collect::<Option<Vec<_>>>()?;
    Some(Filter { conjuncts })
}

/// Whether a SELECT has nothing but a projection, one FROM, a WHERE and a GROUP BY.
fn is_plain(select: &Select) -> bool {
    select.top.is_none()
        && select.into.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.having.is_none()
        && select.named_window.is_empty()
        && select.qualify.is_none()
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.exclude.is_none()
        && select.connect_by.is_empty()
}

/// The one table of a statement, without alias or decoration.
pub(super) fn target(table: &TableWithJoins, snapshot: &Snapshot) -> Option<Target> {
    let TableFactor::Table {
        name,
        alias: None,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_hints,
    } = &table.relation
    else {
        return None;
    };
    let plain = table.joins.is_empty()
        && with_hints.is_empty()
        && partitions.is_empty()
        && index_hints.is_empty();
    if plain { named(name, snapshot) } else { None }
}

pub(super) fn named(name: &ObjectName, snapshot: &Snapshot) -> Option<Target> {
    let table = snapshot.find_table(&table_name(name).ok()?)?;
    Some(Target { schema: table.schema().clone() })
}

/// Indexes of the columns of a projection that names only columns.
fn projected(items: &[SelectItem], schema: &TableSchema) -> Option<Vec<(usize, String)>> {
    let mut columns = Vec::new();
    for item in items {
        match item {
            SelectItem::Wildcard(options) if options.to_string().is_empty() => {
                let all = schema.columns.iter().enumerate();
                columns.extend(all.map(|(index, column)| (index, column.name.clone())));
            }
            SelectItem::UnnamedExpr(expr) => {
                let column = column(expr, schema)?;
                columns.push((column, schema.columns[column].name.clone()));
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                columns.push((column(expr, schema)?, folded(alias)));
            }
            _ => return None,
        }
    }
    Some(columns)
}

pub(super) fn column(expr: &Expr, schema: &TableSchema) -> Option<usize> {
    match expr {
        Expr::Identifier(ident) => schema.column_index(&folded(ident)),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, ident] if folded(table) == schema.name => schema.column_index(&folded(ident)),
            _ => None,
        },
        Expr::Nested(inner) => column(inner, schema),
        _ => None,
    }
}

/// A literal or a parameter, with its sign.
pub(super) fn operand(expr: &Expr) -> Option<Operand> {
    match expr {
        Expr::Nested(inner) => operand(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match operand(expr)? {
            Operand::Literal(value) => negate(&value).ok().map(Operand::Literal),
            Operand::Parameter { index, negated } => {
                Some(Operand::Parameter { index, negated: !negated })
            }
        },
        Expr::TypedString(typed) => match &typed.value.value {
            SqlValue::SingleQuotedString(text) => {
                typed_literal(&typed.data_type.to_string(), text)?.map(Operand::Literal)
            }
            _ => None,
        },
        Expr::Value(value) => match &value.value {
            SqlValue::Placeholder(name) => {
                let number: usize = name.strip_prefix('$')?.parse().ok()?;
                Some(Operand::Parameter { index: number.checked_sub(1)?, negated: false })
            }
            SqlValue::Null => Some(Operand::Literal(Value::Null)),
            SqlValue::Boolean(value) => Some(Operand::Literal(Value::Boolean(*value))),
            SqlValue::SingleQuotedString(text) => Some(Operand::Literal(Value::Text(text.clone()))),
            SqlValue::Number(digits, false) => {
                number_literal(&digits.to_string()).map(Operand::Literal)
            }
            _ => None,
        },
        _ => None,
    }
}

fn each_conjunct<'a>(expr: &'a Expr, each: &mut dyn FnMut(&'a Expr)) {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            each_conjunct(left, each);
            each_conjunct(right, each);
        }
        Expr::Nested(inner) => each_conjunct(inner, each),
        other => each(other),
    }
}

/// The operand of each key column, when the filter is equality on the whole key and nothing else.
pub(super) fn key_operands(selection: &Expr, schema: &TableSchema) -> Option<Vec<Operand>> {
    if schema.key.is_empty() {
        return None;
    }
    let mut found: Vec<Option<Operand>> = vec![None; schema.key.len()];
    let mut whole = true;
    each_conjunct(selection, &mut |conjunct| {
        let part = match conjunct {
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                let forward = column(left, schema).zip(operand(right));
                forward.or_else(|| column(right, schema).zip(operand(left)))
            }
            _ => None,
        };
        let slot = part.and_then(|(column, operand)| {
            let index = schema.key.iter().position(|&key| key == column)?;
            Some((index, operand))
        });
        match slot {
            Some((index, operand)) if found[index].is_none() => found[index] = Some(operand),
            _ => whole = false,
        }
    });
    if whole { found.into_iter().collect() } else { None }
}

/// Returns true for a value that is compared with a column as it is: a date and a timestamp are not.
fn fits(value: &Operand, column: usize, schema: &TableSchema) -> bool {
    let column_type = schema.columns[column].column_type;
    match value {
        Operand::Literal(Value::Timestamp(_)) => column_type != ColumnType::Date,
        Operand::Literal(Value::Date(_)) => column_type == ColumnType::Date,
        Operand::Literal(_) | Operand::Parameter { .. } => true,
    }
}

/// Conditions of BETWEEN.
fn between(
    column: usize,
    (low, high): (&Expr, &Expr),
    schema: &TableSchema,
) -> Option<Vec<Condition>> {
    if schema.columns[column].column_type.has_own_order() {
        return None;
    }
    let bound = |comparison, expr| {
        let operand = operand(expr).filter(|value| fits(value, column, schema))?;
        Some(Condition::Compare { column, comparison, operand })
    };
    Some(vec![bound(Comparison::GreaterOrEqual, low)?, bound(Comparison::LessOrEqual, high)?])
}

fn condition(conjunct: &Expr, schema: &TableSchema) -> Option<Vec<Condition>> {
    let usable = |column: usize| {
        is_comparable(column, schema) || schema.columns[column].column_type == ColumnType::Float64
    };
    let one = |column: usize, condition: Condition| {
        let is_of_it = condition.operands().all(|value| fits(value, column, schema));
        (usable(column) && is_of_it).then(|| vec![condition])
    };
    match conjunct {
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
            let mut values = Vec::new();
            let column = alternatives(conjunct, schema, &mut values)?;
            one(column, Condition::In { column, operands: values })
        }
        Expr::BinaryOp { left, op, right } => {
            let comparison = match op {
                BinaryOperator::Eq => Comparison::Equal,
                BinaryOperator::NotEq => Comparison::NotEqual,
                BinaryOperator::Lt => Comparison::Less,
                BinaryOperator::LtEq => Comparison::LessOrEqual,
                BinaryOperator::Gt => Comparison::Greater,
                BinaryOperator::GtEq => Comparison::GreaterOrEqual,
                _ => return None,
            };
            let by_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            let has_own = |column: usize| schema.columns[column].column_type.has_own_order();
            let has_it = |expr: &Expr| column(expr, schema).is_some_and(has_own);
            if by_order && (has_it(left) || has_it(right)) {
                return None;
            }
            if let Some((column, operand)) = column(left, schema).zip(operand(right)) {
                return one(column, Condition::Compare { column, comparison, operand });
            }
            let (column, operand) = column(right, schema).zip(operand(left))?;
            let comparison = comparison.flipped();
            one(column, Condition::Compare { column, comparison, operand })
        }
        Expr::Between { expr, negated: false, low, high } => {
            let column = column(expr, schema).filter(|column| usable(*column))?;
            between(column, (low, high), schema)
        }
        Expr::InList { expr, list, negated: false } => {
            let column = column(expr, schema)?;
            let operands = list.iter().map(operand).collect::<Option<Vec<_>>>()?;
            one(column, Condition::In { column, operands })
        }
        Expr::Like { negated: false, any: false, expr, pattern, escape_char: None } => {
            let column = column(expr, schema)?;
            let column_type = schema.columns[column].column_type;
            let is_text = column_type.is_text() && !column_type.is_shown_otherwise();
            let pattern = operand(pattern)?;
            is_text.then(|| vec![Condition::Like { column, pattern }])
        }
        Expr::IsNull(expr) => {
            let column = column(expr, schema)?;
            Some(vec![Condition::Null { column, wanted: true }])
        }
        Expr::IsNotNull(expr) => {
            let column = column(expr, schema)?;
            Some(vec![Condition::Null { column, wanted: false }])
        }
        _ => None,
    }
}

/// The column of which one of several values is asked for: `a = 1 OR a IN (2, 3)`.
fn alternatives(expr: &Expr, schema: &TableSchema, values: &mut Vec<Operand>) -> Option<usize> {
    match expr {
        Expr::Nested(inner) => alternatives(inner, schema, values),
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            let column = alternatives(left, schema, values)?;
            (alternatives(right, schema, values)? == column).then_some(column)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            let forward = column(left, schema).zip(operand(right));
            let (column, value) = forward.or_else(|| column(right, schema).zip(operand(left)))?;
            values.push(value);
            Some(column)
        }
        Expr::InList { expr, list, negated: false } => {
            values.extend(list.iter().map(operand).collect::<Option<Vec<_>>>()?);
            column(expr, schema)
        }
        _ => None,
    }
}

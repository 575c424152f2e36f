//! Filters that the engine evaluates, made from DataFusion's expressions.
//!
//! - A filter is taken over whole and exactly, or not at all.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Like, Operator};
use gadus_engine::{ColumnType, Comparison, Datum, Predicate, TableSchema, Test, datum_from_array};

/// The engine's form of a filter, where it has one that means the same.
pub(crate) fn predicate_of(filter: &Expr, schema: &TableSchema) -> Option<Predicate> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => alternatives(filter, schema),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let comparison = comparison(*op)?;
            let by_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            let has_own = |column: usize| schema.columns[column].column_type.has_own_order();
            let mut sides = [left, right].into_iter();
            if by_order && sides.any(|side| column_index(side, schema).is_some_and(has_own)) {
                return None;
            }
            if let Some(column) = column_index(left, schema) {
                let constant = constant(right, schema, column)?;
                return Some(Predicate { column, test: Test::Compare(comparison, constant) });
            }
            let column = column_index(right, schema)?;
            let constant = constant(left, schema, column)?;
            Some(Predicate { column, test: Test::Compare(comparison.flipped(), constant) })
        }
        Expr::InList(list) if !list.negated => {
            let column = column_index(&list.expr, schema)?;
            let mut constants = list
                .list
                .iter()
                .map(|item| constant(item, schema, column))
                .collect::<Option<Vec<_>>>()?;
            constants.sort();
            constants.dedup();
            Some(Predicate { column, test: Test::In(constants) })
        }
        Expr::IsNull(inner) => {
            Some(Predicate { column: column_index(inner, schema)?, test: Test::IsNull })
        }
        Expr::IsNotNull(inner) => {
            Some(Predicate { column: column_index(inner, schema)?, test: Test::IsNotNull })
        }
        Expr::Like(like) => starts_with(like, schema),
        Expr::Column(_) => flag(filter, true, schema),
        Expr::Not(inner) => flag(inner, false, schema),
        _ => None,
    }
}

/// `a = 1 OR a = 2` as a list, which is also what the planner makes of short lists.
fn alternatives(filter: &Expr, schema: &TableSchema) -> Option<Predicate> {
    let (mut parts, mut columns, mut constants) = (vec![filter], Vec::new(), Vec::new());
    while let Some(part) = parts.pop() {
        if let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) = part {
            parts.extend([&**left, &**right]);
            continue;
        }
        let Predicate { column, test } = predicate_of(part, schema)?;
        columns.push(column);
        match test {
            Test::Compare(Comparison::Equal, value) => constants.push(value),
            Test::In(values) => constants.extend(values),
            _ => return None,
        }
    }
    constants.sort();
    constants.dedup();
    let (&column, others) = columns.split_first()?;
    let is_one = others.iter().all(|other| *other == column);
    is_one.then_some(Predicate { column, test: Test::In(constants) })
}

fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Eq => Comparison::Equal,
        Operator::NotEq => Comparison::NotEqual,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// A boolean column that stands alone.
fn flag(expr: &Expr, value: bool, schema: &TableSchema) -> Option<Predicate> {
    let column = column_index(expr, schema)?;
    let constant = scalar_datum(&value.into(), schema.columns[column].column_type)?;
    Some(Predicate { column, test: Test::Compare(Comparison::Equal, constant) })
}

fn column_index(expr: &Expr, schema: &TableSchema) -> Option<usize> {
    match expr {
        Expr::Column(column) => schema.column_index(&column.name),
        _ => None,
    }
}

/// A literal of the column's own type; the planner has coerced both sides to one type.
fn constant(expr: &Expr, schema: &TableSchema, column: usize) -> Option<Datum> {
    let Expr::Literal(scalar, _) = expr else { return None };
    if scalar.is_null() {
        return None;
    }
    scalar_datum(scalar, schema.columns[column].column_type).filter(|datum| match datum {
        // DataFusion orders floats otherwise than SQL: it tells -0 from 0.
        Datum::Float(value) => *value != 0.0 && !value.is_nan(),
        _ => true,
    })
}

fn scalar_datum(scalar: &ScalarValue, column_type: ColumnType) -> Option<Datum> {
    if let (true, Some(Some(text))) = (column_type.is_text(), scalar.try_as_str()) {
        return Some(Datum::text(text));
    }
    if scalar.data_type() != column_type.arrow() || !column_type.is_ordered() {
        return None;
    }
    datum_from_array(column_type, &scalar.to_array().ok()?, 0).ok()
}

/// `column LIKE 'prefix%'` without other wildcards.
fn starts_with(like: &Like, schema: &TableSchema) -> Option<Predicate> {
    if like.negated || like.case_insensitive || like.escape_char.is_some() {
        return None;
    }
    let column = column_index(&like.expr, schema)?;
    let column_type = schema.columns[column].column_type;
    if !column_type.is_text() || column_type.is_shown_otherwise() {
        return None;
    }
    let Expr::Literal(pattern, _) = &*like.pattern else { return None };
    let prefix = pattern.try_as_str()??.strip_suffix('%')?;
    if prefix.contains(['%', '_', '\\']) {
        return None;
    }
    Some(Predicate { column, test: Test::StartsWith(prefix.as_bytes().to_vec()) })
}

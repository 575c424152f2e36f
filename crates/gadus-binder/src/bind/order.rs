//! ORDER BY and DISTINCT ON: by name, position or expression.

use super::Binder;
use super::operators::choose_infix;
use super::scope::Clause;
use super::targets::BoundTarget;
use crate::bound::{OrderedScalar, OutputColumn, SortKey};
use crate::error::{BindError, Result};
use crate::types::{TypeId, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{
    BinaryOperator, Expr, ExprKind, Literal, NullsOrder, OperatorName, OrderBy, Query,
    SortDirection,
};

/// Order of a query as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sorting<'a> {
    keys: &'a [OrderBy],
    /// ORDER BY ALL
    all: Option<(SortDirection, NullsOrder)>,
}

/// Key of an order by its place in the select list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TargetKey {
    pub(super) target: usize,
    pub(super) is_descending: bool,
    pub(super) nulls_first: bool,
}

/// Direction of a key, with the default of NULLs: last if ascending.
#[derive(Debug, Clone, Copy)]
struct Direction {
    is_descending: bool,
    nulls_first: bool,
}

impl<'a> Sorting<'a> {
    pub(super) fn of(query: &'a Query) -> Self {
        Self { keys: &query.order_by, all: query.order_by_all }
    }
}

impl Binder<'_> {
    /// Binds the order of a select list; adds hidden entries for expressions that are not in it.
    pub(super) fn target_keys(
        &mut self,
        sorting: Sorting<'_>,
        targets: &mut Vec<BoundTarget>,
    ) -> Result<Vec<TargetKey>> {
        self.scope().clause = Clause::OrderBy;
        let mut keys = Vec::<TargetKey>::new();
        let mut add = |target: usize, direction: Direction| {
            if !keys.iter().any(|key| key.target == target) {
                let Direction { is_descending, nulls_first } = direction;
                keys.push(TargetKey { target, is_descending, nulls_first });
            }
        };
        if let Some((direction, nulls)) = sorting.all {
            let direction = direction_of(direction, nulls, None)?;
            (0..targets.len()).for_each(|target| add(target, direction));
            return Ok(keys);
        }
        for key in sorting.keys {
            let target = self.target_of(&key.expr, Clause::OrderBy, targets)?;
            check_order(targets[target].value.data_type.id, key.expr.span)?;
            add(target, direction_of(key.direction, key.nulls, key.using.as_ref())?);
        }
        Ok(keys)
    }

    /// Binds the order of output columns, which may be named and counted alone.
    pub(super) fn output_keys(
        &mut self,
        outputs: &[OutputColumn],
        sorting: Sorting<'_>,
    ) -> Result<Vec<SortKey>> {
        let key = |output: &OutputColumn, direction: Direction| {
            let Direction { is_descending, nulls_first } = direction;
            SortKey { column: output.id, is_descending, nulls_first }
        };
        if let Some((direction, nulls)) = sorting.all {
            let direction = direction_of(direction, nulls, None)?;
            return Ok(outputs.iter().map(|output| key(output, direction)).collect());
        }
        let mut keys = Vec::with_capacity(sorting.keys.len());
        for wanted in sorting.keys {
            let names = outputs.iter().map(|output| output.name.as_str()).collect::<Vec<_>>();
            let place = match position(&wanted.expr, Clause::OrderBy, names.len())? {
                Some(place) => place,
                None => match plain_name(&wanted.expr) {
                    Some(name) => {
                        let mut same = (0..names.len()).filter(|place| names[*place] == name);
                        let found = same.next();
                        if same.next().is_some() {
                            let message = format!("ORDER BY \"{name}\" is ambiguous");
                            return Err(BindError::new("42702", message, wanted.expr.span));
                        }
                        found.ok_or_else(|| {
                            let message = format!("column \"{name}\" does not exist");
                            BindError::new("42703", message, wanted.expr.span)
                        })?
                    }
                    None => return Err(not_an_output(wanted.expr.span)),
                },
            };
            check_order(outputs[place].data_type.id, wanted.expr.span)?;
            let direction = direction_of(wanted.direction, wanted.nulls, wanted.using.as_ref())?;
            keys.push(key(&outputs[place], direction));
        }
        Ok(keys)
    }

    /// Finds the entry of a select list that an expression means; adds a hidden one if there is none.
    pub(super) fn target_of(
        &mut self,
        expr: &Expr,
        clause: Clause,
        targets: &mut Vec<BoundTarget>,
    ) -> Result<usize> {
        let visible = targets.iter().filter(|target| !target.is_hidden).count();
        if let Some(place) = position(expr, clause, visible)? {
            return Ok(place);
        }
        if let Some(name) = plain_name(expr)
            && let Some(place) = labelled(name, targets, (clause, expr.span))?
        {
            return Ok(place);
        }
        let value = self.expr(expr)?;
        let value = match value.data_type.id.is_unknown() {
            true => self.coercion().argument(value, constants::TEXT)?,
            false => value,
        };
        if let Some(place) = targets.iter().position(|target| target.value == value) {
            return Ok(place);
        }
        targets.push(BoundTarget { name: String::new(), value, is_hidden: true });
        Ok(targets.len() - 1)
    }

    /// Binds expressions with directions: in calls and windows.
    pub(super) fn ordered(&mut self, order_by: &[OrderBy]) -> Result<Vec<OrderedScalar>> {
        let mut keys = Vec::with_capacity(order_by.len());
        for key in order_by {
            let value = self.expr(&key.expr)?;
            let value = match value.data_type.id.is_unknown() {
                true => self.coercion().argument(value, constants::TEXT)?,
                false => value,
            };
            check_order(value.data_type.id, key.expr.span)?;
            let direction = direction_of(key.direction, key.nulls, key.using.as_ref())?;
            let Direction { is_descending, nulls_first } = direction;
            keys.push(OrderedScalar { value, is_descending, nulls_first });
        }
        Ok(keys)
    }
}

fn direction_of(
    direction: SortDirection,
    nulls: NullsOrder,
    using: Option<&OperatorName>,
) -> Result<Direction> {
    let is_descending = match using {
        None => direction == SortDirection::Descending,
        Some(using) => match using.operator.text() {
            "<" | "~<~" => false,
            ">" | "~>~" => true,
            other => {
                let message = format!("operator {other} is not a valid ordering operator");
                let hint =
                    "Ordering operators must be \"<\" or \">\" members of btree operator families.";
                return Err(BindError::new("42809", message, using.span).with_hint(hint));
            }
        },
    };
    let nulls_first = match nulls {
        NullsOrder::Default => is_descending,
        NullsOrder::First => true,
        NullsOrder::Last => false,
    };
    Ok(Direction { is_descending, nulls_first })
}

/// Returns the place in a select list that an integer literal means.
pub(super) fn position(expr: &Expr, clause: Clause, count: usize) -> Result<Option<usize>> {
    let name = clause.name();
    let Some((literal, is_negative)) = constant(expr) else { return Ok(None) };
    let Literal::Integer(digits) = literal else {
        return Err(BindError::new("42601", format!("non-integer constant in {name}"), expr.span));
    };
    let place = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match place.filter(|place| *place < count && !is_negative) {
        Some(place) => Ok(Some(place)),
        None => {
            let sign = if is_negative { "-" } else { "" };
            let message = format!("{name} position {sign}{digits} is not in select list");
            Err(BindError::new("42P10", message, expr.span))
        }
    }
}

/// Returns the literal that an expression is, and true if it is negative: signs before numbers belong to them.
fn constant(expr: &Expr) -> Option<(&Literal, bool)> {
    match &expr.kind {
        ExprKind::Literal(Literal::Bits(_) | Literal::HexBits(_)) => None,
        ExprKind::Literal(literal) => Some((literal, false)),
        ExprKind::Unary { operator, operand }
            if operator.operator == BinaryOperator::Subtract && operator.schema.is_empty() =>
        {
            let (literal, is_negative) = constant(operand)?;
            let is_number = matches!(literal, Literal::Integer(_) | Literal::Decimal(_));
            is_number.then_some((literal, !is_negative))
        }
        _ => None,
    }
}

/// Returns the name of a column without a table.
pub(super) fn plain_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Column(parts) if parts.len() == 1 => Some(&parts[0].text),
        _ => None,
    }
}

/// Returns the entry of a heading, if there is one or all are the same.
pub(super) fn labelled(
    name: &str,
    targets: &[BoundTarget],
    (clause, span): (Clause, Span),
) -> Result<Option<usize>> {
    let mut found: Option<usize> = None;
    for (place, target) in targets.iter().enumerate() {
        if target.is_hidden || target.name != name {
            continue;
        }
        match found {
            Some(first) if targets[first].value != target.value => {
                let message = format!("{} \"{name}\" is ambiguous", clause.name());
                return Err(BindError::new("42702", message, span));
            }
            Some(_) => {}
            None => found = Some(place),
        }
    }
    Ok(found)
}

/// Checks that values of a type have an order.
pub(super) fn check_order(id: TypeId, span: Span) -> Result<()> {
    if choose_infix("<", id, id, span).is_ok() {
        return Ok(());
    }
    let message = format!("could not identify an ordering operator for type {id}");
    let hint = "Use an explicit ordering operator or modify the query.";
    Err(BindError::new("42883", message, span).with_hint(hint))
}

/// Checks that values of a type can be compared for equality.
pub(super) fn check_equality(id: TypeId, span: Span) -> Result<()> {
    if id.is_unknown() || choose_infix("=", id, id, span).is_ok() {
        return Ok(());
    }
    let message = format!("could not identify an equality operator for type {id}");
    Err(BindError::new("42883", message, span))
}

fn not_an_output(span: Span) -> BindError {
    let message = "invalid UNION/INTERSECT/EXCEPT ORDER BY clause";
    let detail = "Only result column names can be used, not expressions or functions.";
    let hint = "Add the expression/function to every SELECT, or move the UNION into a FROM clause.";
    BindError::new("0A000", message, span).with_detail(detail).with_hint(hint)
}

//! Expressions by their forms.

use super::operators::is_comparison;
use super::{Binder, with_stack};
use crate::bound::{Constant, Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::resolve::coerce::with_modifier;
use crate::types::{BaseType, Modifier, SqlType, constants, resolve_type};
use gadus_syntax::Span;
use gadus_syntax::ast::{
    BooleanTest, CaseBranch, CastForm, Expr, ExprKind, TypeName, ValueFunction,
};

impl Binder<'_> {
    /// Binds an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Scalar> {
        with_stack(|| self.expr_here(expr))
    }

    /// Binds expressions.
    pub(super) fn exprs(&mut self, exprs: &[Expr]) -> Result<Vec<Scalar>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn expr_here(&mut self, expr: &Expr) -> Result<Scalar> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Literal(literal) => super::literals::literal(literal, span),
            ExprKind::Parameter(parameter) => self.parameter(parameter, span),
            ExprKind::Column(parts) => self.column(parts, span),
            ExprKind::AllColumns(parts) => self.whole_row_of(parts, span),
            ExprKind::TypedText { data_type, text, text_span } => {
                let value = self.typed_text(data_type, text, *text_span)?;
                Ok(Scalar { span, ..value })
            }
            ExprKind::Cast { operand, data_type, form } => {
                self.cast(operand, data_type, *form, span)
            }
            ExprKind::Unary { operator, operand } => self.unary(operator, operand, span),
            ExprKind::Binary { operator, left, right } => self.binary(operator, left, right, span),
            ExprKind::And(parts) => self.logical(parts, "AND", ScalarKind::And, span),
            ExprKind::Or(parts) => self.logical(parts, "OR", ScalarKind::Or, span),
            ExprKind::Not(operand) => {
                let operand = self.condition(operand, "NOT")?;
                Ok(Scalar::new(ScalarKind::Not(Box::new(operand)), constants::BOOL, span))
            }
            ExprKind::IsTest { operand, test, negated } => {
                self.is_test(operand, *test, *negated, span)
            }
            ExprKind::IsDistinctFrom { left, right, negated } => {
                self.is_distinct(left, right, *negated, span)
            }
            ExprKind::Between { operand, low, high, symmetric, negated } => {
                self.between([operand, low, high], (*symmetric, *negated), span)
            }
            ExprKind::InList { operand, list, negated } => {
                self.in_list(operand, list, *negated, span)
            }
            ExprKind::Like { operand, pattern, escape, kind, negated } => {
                self.like(operand, pattern, escape.as_deref(), (*kind, *negated))
            }
            ExprKind::InQuery { .. }
            | ExprKind::Quantified(_)
            | ExprKind::Query(_)
            | ExprKind::Exists(_)
            | ExprKind::ArrayQuery(_) => self.query_expr(expr),
            ExprKind::Call(call) => self.call(call, span),
            ExprKind::ValueFunction { function, precision } => {
                Ok(value_function(*function, *precision, span))
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), span)
            }
            ExprKind::Array(elements) => self.array(elements, None, span),
            ExprKind::Row { fields, .. } => {
                let fields = self.expanded(fields)?;
                Ok(Scalar::new(ScalarKind::Row(fields), constants::RECORD, span))
            }
            ExprKind::Subscript { .. } | ExprKind::Slice { .. } => self.subscript(expr),
            ExprKind::Field { operand, field } => self.field(operand, field, span),
            ExprKind::AllFields(operand) => self.expr(operand),
            ExprKind::Collate { .. } | ExprKind::AtTimeZone { .. } => self.suffixed(expr),
            ExprKind::Default => {
                let message = "DEFAULT is not allowed in this context";
                Err(BindError::new("42601", message, span))
            }
            ExprKind::CurrentOf(_) => Err(BindError::unsupported("WHERE CURRENT OF here", span)),
        }
    }

    /// Binds COLLATE and AT TIME ZONE.
    fn suffixed(&mut self, expr: &Expr) -> Result<Scalar> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Collate { operand, collation } => {
                let operand = self.expr(operand)?;
                let name = collation.parts.last().map(|name| name.text.clone());
                collate(operand, name.unwrap_or_default(), span)
            }
            ExprKind::AtTimeZone { operand, zone } => {
                let value = self.expr(operand)?;
                match zone {
                    Some(zone) => {
                        let zone = self.expr(zone)?;
                        self.call_named("timezone", vec![zone, value], span)
                    }
                    None => Err(BindError::unsupported("AT LOCAL", span)),
                }
            }
            _ => Err(BindError::unsupported("this expression", span)),
        }
    }

    /// Binds an expression with a query.
    fn query_expr(&mut self, expr: &Expr) -> Result<Scalar> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::InQuery { operand, query, negated } => {
                self.in_query(operand, query, *negated, span)
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified, span),
            ExprKind::Query(query) => self.scalar_query(query, span),
            ExprKind::Exists(query) => self.exists(query, span),
            ExprKind::ArrayQuery(query) => self.array_query(query, span),
            _ => Err(BindError::unsupported("this expression", span)),
        }
    }

    /// Binds a condition.
    pub(super) fn condition(&mut self, expr: &Expr, clause: &str) -> Result<Scalar> {
        let value = self.expr(expr)?;
        self.coercion().boolean(value, clause)
    }

    fn logical(
        &mut self,
        parts: &[Expr],
        name: &str,
        make: impl Fn(Vec<Scalar>) -> ScalarKind,
        span: Span,
    ) -> Result<Scalar> {
        let parts = parts.iter().map(|part| self.condition(part, name)).collect::<Result<_>>()?;
        Ok(Scalar::new(make(parts), constants::BOOL, span))
    }

    fn unary(
        &mut self,
        operator: &gadus_syntax::ast::OperatorName,
        operand: &Expr,
        span: Span,
    ) -> Result<Scalar> {
        if let ("-", ExprKind::Literal(literal)) = (operator.operator.text(), &operand.kind)
            && let Some(constant) = super::literals::negative(literal, span)
        {
            return Ok(constant);
        }
        let operand = self.expr(operand)?;
        self.prefix(operator, operand)
    }

    fn binary(
        &mut self,
        operator: &gadus_syntax::ast::OperatorName,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<Scalar> {
        let text = operator.operator.text();
        if is_comparison(text) {
            if let (Some(left), Some(right)) = (row_fields(left), row_fields(right)) {
                let (left, right) = (self.expanded(left)?, self.expanded(right)?);
                return self.compare_rows(operator, left, right, span);
            }
            if let (Some(fields), ExprKind::Query(query)) = (row_fields(left), &right.kind) {
                return self.compare_row_with_query(operator, fields, query, span);
            }
        }
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        self.infix(operator, left, right)
    }

    fn typed_text(&mut self, name: &TypeName, text: &str, span: Span) -> Result<Scalar> {
        let data_type = resolve_type(self.provider, name)?;
        let constant = ScalarKind::Constant(Constant::Text(text.to_owned()));
        let unknown = Scalar::new(constant, constants::UNKNOWN, span);
        self.cast_to(unknown, data_type)
    }

    /// Converts to a type as CAST does. The fields of an interval decide how its literal is read.
    pub(super) fn cast_to(&mut self, value: Scalar, data_type: SqlType) -> Result<Scalar> {
        let has_fields =
            data_type.id == constants::INTERVAL && data_type.modifier != Modifier::None;
        if value.is_unknown_constant() && has_fields {
            return Ok(Scalar { data_type, ..value });
        }
        self.coercion().explicit(value, data_type)
    }

    fn cast(
        &mut self,
        operand: &Expr,
        name: &TypeName,
        form: CastForm,
        span: Span,
    ) -> Result<Scalar> {
        let data_type = resolve_type(self.provider, name)?;
        let value = match &operand.kind {
            ExprKind::Array(elements) if data_type.id.is_array => {
                self.array(elements, Some(data_type.id), operand.span)?
            }
            _ => self.expr(operand)?,
        };
        if form == CastForm::Explicit {
            return Ok(Scalar { span, ..self.cast_to(value, data_type)? });
        }
        // A literal is converted when the query runs, so that it may become NULL.
        let text = match value.is_unknown_constant() {
            true => self.coercion().argument(value, constants::TEXT)?,
            false => value,
        };
        match self.coercion().explicit(text, data_type)? {
            Scalar { kind: ScalarKind::Cast { operand, path, context, .. }, data_type, .. } => {
                let kind = ScalarKind::Cast { operand, path, context, is_try: true };
                Ok(Scalar::new(kind, data_type, span))
            }
            other => Ok(other),
        }
    }

    pub(super) fn is_test(
        &mut self,
        operand: &Expr,
        test: BooleanTest,
        negated: bool,
        span: Span,
    ) -> Result<Scalar> {
        let operand = match test {
            BooleanTest::Null => self.expr(operand)?,
            BooleanTest::True | BooleanTest::False | BooleanTest::Unknown => {
                let clause = match (test, negated) {
                    (BooleanTest::True, false) => "IS TRUE",
                    (BooleanTest::True, true) => "IS NOT TRUE",
                    (BooleanTest::False, false) => "IS FALSE",
                    (BooleanTest::False, true) => "IS NOT FALSE",
                    (_, false) => "IS UNKNOWN",
                    (_, true) => "IS NOT UNKNOWN",
                };
                self.condition(operand, clause)?
            }
            BooleanTest::Document | BooleanTest::Normalized => {
                return Err(BindError::unsupported("IS DOCUMENT or IS NORMALIZED", span));
            }
        };
        let kind = ScalarKind::Is { operand: Box::new(operand), test, negated };
        Ok(Scalar::new(kind, constants::BOOL, span))
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[CaseBranch],
        otherwise: Option<&Expr>,
        span: Span,
    ) -> Result<Scalar> {
        let mut operand = operand.map(|operand| self.expr(operand)).transpose()?;
        if let Some(value) = operand.take_if(|value| value.data_type.id.is_unknown()) {
            operand = Some(self.coercion().argument(value, constants::TEXT)?);
        }
        let mut conditions = Vec::with_capacity(branches.len());
        let mut results = Vec::with_capacity(branches.len() + 1);
        for branch in branches {
            let condition = match &operand {
                None => self.condition(&branch.when, "CASE/WHEN")?,
                Some(operand) => {
                    let value = self.expr(&branch.when)?;
                    let placeholder =
                        Scalar::new(ScalarKind::CaseOperand, operand.data_type, operand.span);
                    let compared = self.infix_named("=", placeholder, value, branch.when.span)?;
                    self.coercion().boolean(compared, "CASE/WHEN")?
                }
            };
            conditions.push(condition);
            results.push(self.expr(&branch.then)?);
        }
        let fallback = otherwise.map(|otherwise| self.expr(otherwise)).transpose()?;
        // ELSE decides first, as in PostgreSQL.
        let order = fallback.iter().chain(&results).cloned().collect::<Vec<_>>();
        let common = self.coercion().common(&order, "CASE")?;
        let mut convert = |value| self.coercion().convert_to_common(value, common, "CASE/THEN");
        let results = results.into_iter().map(&mut convert).collect::<Result<Vec<_>>>()?;
        let otherwise = fallback.map(convert).transpose()?.map(Box::new);
        let branches = conditions.into_iter().zip(results).collect();
        let kind = ScalarKind::Case { operand: operand.map(Box::new), branches, otherwise };
        Ok(Scalar::new(kind, common, span))
    }
}

/// Returns the fields of `(a, b)` and `ROW(a, b)`.
pub(super) fn row_fields(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Row { fields, .. } => Some(fields),
        _ => None,
    }
}

fn collate(operand: Scalar, collation: String, span: Span) -> Result<Scalar> {
    let source = operand.data_type;
    let is_text = matches!(
        source.id.base,
        BaseType::Text | BaseType::Varchar | BaseType::Bpchar | BaseType::Name | BaseType::Unknown
    );
    if !is_text {
        let message = format!("collations are not supported by type {}", source.id);
        return Err(BindError::new("42804", message, span));
    }
    let kind = ScalarKind::Collate { operand: Box::new(operand), collation };
    Ok(Scalar::new(kind, source, span))
}

fn value_function(function: ValueFunction, precision: Option<u32>, span: Span) -> Scalar {
    let data_type = match function {
        ValueFunction::CurrentDate => constants::DATE,
        ValueFunction::CurrentTime => constants::TIMETZ,
        ValueFunction::CurrentTimestamp => constants::TIMESTAMPTZ,
        ValueFunction::LocalTime => constants::TIME,
        ValueFunction::LocalTimestamp => constants::TIMESTAMP,
        ValueFunction::CurrentRole
        | ValueFunction::CurrentUser
        | ValueFunction::SessionUser
        | ValueFunction::User
        | ValueFunction::CurrentCatalog
        | ValueFunction::CurrentSchema => constants::NAME,
    };
    let value = Scalar::new(ScalarKind::Value(function), data_type, span);
    let digits = precision.map(|digits| u8::try_from(digits.min(6)).unwrap_or(6));
    match digits {
        Some(digits) => with_modifier(value, Modifier::Precision(digits), false),
        None => value,
    }
}

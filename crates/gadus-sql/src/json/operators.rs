//! The operators of JSON as calls of functions.

use crate::lists::list_elements;
use crate::memory::Memory;
use crate::scalar_functions::named;
use crate::value::is_text;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, ScalarUDF, lit};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use std::sync::Arc;

/// `->` and `#>`, which give documents, `->>` and `#>>`, which give texts, and what is asked of documents.
#[derive(Debug)]
pub(crate) struct JsonOperators {
    contains: Arc<ScalarUDF>,
    contained: Arc<ScalarUDF>,
    exists: Arc<ScalarUDF>,
    exists_any: Arc<ScalarUDF>,
    exists_all: Arc<ScalarUDF>,
    field: Arc<ScalarUDF>,
    field_text: Arc<ScalarUDF>,
    element: Arc<ScalarUDF>,
    element_text: Arc<ScalarUDF>,
    path: Arc<ScalarUDF>,
    path_text: Arc<ScalarUDF>,
}

impl JsonOperators {
    pub(crate) fn new(memory: &Memory) -> Self {
        let named = |name| named(name, memory);
        Self {
            contains: named("jsonb_contains"),
            contained: named("jsonb_contained"),
            exists: named("jsonb_exists"),
            exists_any: named("jsonb_exists_any"),
            exists_all: named("jsonb_exists_all"),
            field: named("json_object_field"),
            field_text: named("json_object_field_text"),
            element: named("json_array_element"),
            element_text: named("json_array_element_text"),
            path: named("json_extract_path"),
            path_text: named("json_extract_path_text"),
        }
    }

    /// Returns what an operator asks of a document; `None` for other operators, and for lists.
    fn question(&self, expr: &RawBinaryExpr, schema: &DFSchema) -> Option<&Arc<ScalarUDF>> {
        let is_text = |value: &Expr| value.get_type(schema).is_ok_and(|of| is_text(&of));
        let (function, is_of_list) = match expr.op {
            BinaryOperator::AtArrow => (&self.contains, false),
            BinaryOperator::ArrowAt => (&self.contained, false),
            BinaryOperator::Question => (&self.exists, false),
            BinaryOperator::QuestionPipe => (&self.exists_any, true),
            BinaryOperator::QuestionAnd => (&self.exists_all, true),
            _ => return None,
        };
        (is_text(&expr.left) && (is_of_list || is_text(&expr.right))).then_some(function)
    }
}

impl ExprPlanner for JsonOperators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        if let Some(function) = self.question(&expr, schema) {
            let arguments = vec![expr.left, expr.right];
            let call = ScalarFunction::new_udf(function.clone(), arguments);
            return Ok(PlannerResult::Planned(Expr::ScalarFunction(call)));
        }
        let is_place = expr.right.get_type(schema).is_ok_and(|of| of.is_integer());
        let function = match expr.op {
            BinaryOperator::Arrow if is_place => &self.element,
            BinaryOperator::Arrow => &self.field,
            BinaryOperator::LongArrow if is_place => &self.element_text,
            BinaryOperator::LongArrow => &self.field_text,
            BinaryOperator::HashArrow => &self.path,
            BinaryOperator::HashLongArrow => &self.path_text,
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let is_path = matches!(expr.op, BinaryOperator::HashArrow | BinaryOperator::HashLongArrow);
        let steps = if is_path { steps(&expr.right) } else { None };
        let mut arguments = vec![expr.left];
        arguments.extend(steps.unwrap_or_else(|| vec![expr.right]));
        let call = ScalarFunction::new_udf(function.clone(), arguments);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// Makes `?`, `?|` and `?&` operators where they are between two values; elsewhere `?` is a parameter.
pub(crate) fn question_marks(tokens: &mut [TokenWithSpan]) {
    let is_mark = |token: &Token| matches!(token, Token::Placeholder(name) if name == "?");
    if !tokens.iter().any(|with| is_mark(&with.token)) {
        return;
    }
    let is_shown = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
    let shown = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
    let of_types = [Keyword::NoKeyword, Keyword::JSON, Keyword::JSONB];
    let ends_value = |token: &Token| match token {
        Token::Word(word) => of_types.contains(&word.keyword),
        Token::SingleQuotedString(_) | Token::RParen | Token::RBracket => true,
        _ => false,
    };
    let begins_value = |token: &Token| match token {
        Token::Word(word) => matches!(word.keyword, Keyword::NoKeyword | Keyword::ARRAY),
        Token::SingleQuotedString(_) | Token::LParen => true,
        _ => false,
    };
    for at in 1..shown.len().saturating_sub(1) {
        let [before, mark] = [shown[at - 1], shown[at]];
        if !is_mark(&tokens[mark].token) || !ends_value(&tokens[before].token) {
            continue;
        }
        let next = shown[at + 1];
        let (operator, beside) = match tokens[next].token {
            Token::Pipe if next == mark + 1 => (Token::QuestionPipe, Some(next)),
            Token::Ampersand if next == mark + 1 => (Token::QuestionAnd, Some(next)),
            _ => (Token::Question, None),
        };
        let value = if beside.is_some() { shown.get(at + 2) } else { Some(&next) };
        if value.is_some_and(|value| begins_value(&tokens[*value].token)) {
            tokens[mark].token = operator;
            if let Some(beside) = beside {
                tokens[beside].token = Token::Whitespace(Whitespace::Space);
            }
        }
    }
}

/// Returns the steps of a path that is written as PostgreSQL writes lists.
fn steps(path: &Expr) -> Option<Vec<Expr>> {
    let Expr::Literal(value, _) = path else { return None };
    let step = |step: Option<String>| Some(lit(step?.as_str()));
    list_elements(value.try_as_str()??)?.into_iter().map(step).collect()
}

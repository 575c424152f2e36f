//! LIKE and ILIKE with many wildcards.
//!
//! - Arrow matches such a pattern as a regular expression, in time that grows with the product of the text's and
//!   the pattern's lengths, and compiles it anew for each row if it is a column. Here the pieces between `%` are
//!   sought from left to right: the first place of each piece is as good as any later one.
//! - Patterns of few wildcards stay with Arrow, whose kernels for prefixes and substrings are faster.

use crate::executor::check_cancelled;
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Like, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::{Arc, LazyLock};

/// Wildcards of a pattern that Arrow matches fast enough.
const WILDCARDS_MAX: usize = 8;

/// Rows and pieces between looks at cancellation.
const STEPS: usize = 1 << 10;

static LIKE: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(ScalarUDF::from(LikeFunction::new("gadus_like", false))));
static ILIKE: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(ScalarUDF::from(LikeFunction::new("gadus_ilike", true))));

/// Replaces LIKE with many wildcards, once its operands are strings.
#[derive(Debug)]
pub(crate) struct LongPatterns;

impl AnalyzerRule for LongPatterns {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let replaced = plan.transform_down_with_subqueries(|plan| {
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let replaced = expr.transform_up(|expr| Ok(replace(expr)))?;
                Ok(replaced.update_data(|expr| name.restore(expr)))
            })
        });
        replaced.map(|plan| plan.data)
    }

    fn name(&self) -> &str {
        "gadus_long_patterns"
    }
}

fn replace(expr: Expr) -> Transformed<Expr> {
    let Expr::Like(Like { negated, expr: text, pattern, escape_char: None, case_insensitive }) =
        expr
    else {
        return Transformed::no(expr);
    };
    let is_long = match &*pattern {
        Expr::Literal(
            ScalarValue::Utf8(Some(text))
            | ScalarValue::LargeUtf8(Some(text))
            | ScalarValue::Utf8View(Some(text)),
            _,
        ) => text.bytes().filter(|byte| matches!(byte, b'%' | b'_')).count() > WILDCARDS_MAX,
        _ => false,
    };
    if !is_long {
        let like = Like { negated, expr: text, pattern, escape_char: None, case_insensitive };
        return Transformed::no(Expr::Like(like));
    }
    let function = if case_insensitive { ILIKE.clone() } else { LIKE.clone() };
    let call = Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![*text, *pattern]));
    Transformed::yes(if negated { !call } else { call })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct LikeFunction {
    name: &'static str,
    folds_case: bool,
    signature: Signature,
}

impl LikeFunction {
    fn new(name: &'static str, folds_case: bool) -> Self {
        Self { name, folds_case, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for LikeFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (text, pattern) = (&args.args[0], &args.args[1]);
        let is_one =
            matches!((text, pattern), (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)));
        let rows = if is_one { 1 } else { args.number_rows };
        let (texts, patterns) = (super::strings(text, rows)?, super::strings(pattern, rows)?);
        let fold = |text: &str| if self.folds_case { text.to_lowercase() } else { text.to_owned() };
        let mut parsed: Option<(String, Pattern)> = None;
        let mut matches = Vec::with_capacity(rows);
        for row in 0..rows {
            if row % STEPS == 0 {
                check_cancelled()?;
            }
            if texts.is_null(row) || patterns.is_null(row) {
                matches.push(None);
                continue;
            }
            let of_row = patterns.value(row);
            let pattern = match &parsed {
                Some((known, pattern)) if known == of_row => pattern,
                _ => &parsed.insert((of_row.to_owned(), Pattern::parse(&fold(of_row)))).1,
            };
            matches.push(Some(pattern.matches(&fold(texts.value(row)))?));
        }
        let matches: ArrayRef = Arc::new(BooleanArray::from(matches));
        Ok(match is_one {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&matches, 0)?),
            false => ColumnarValue::Array(matches),
        })
    }
}

/// A pattern, taken apart at its `%`.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Each a run of characters, of which `None` stands for any; the first begins the text and the last ends it.
    pieces: Vec<Vec<Option<char>>>,
}

impl Pattern {
    pub(super) fn parse(pattern: &str) -> Self {
        let (mut pieces, mut piece) = (Vec::new(), Vec::new());
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            match character {
                '%' => pieces.push(std::mem::take(&mut piece)),
                '_' => piece.push(None),
                // A backslash at the end stands for itself, as Arrow has it.
                '\\' => piece.push(Some(characters.next().unwrap_or('\\'))),
                character => piece.push(Some(character)),
            }
        }
        pieces.push(piece);
        Self { pieces }
    }

    pub(super) fn matches(&self, text: &str) -> Result<bool> {
        let text = text.chars().collect::<Vec<_>>();
        let fits = |piece: &[Option<char>], text: &[char]| {
            piece.len() <= text.len()
                && piece.iter().zip(text).all(|(one, other)| one.is_none_or(|one| one == *other))
        };
        let [first, rest @ ..] = &self.pieces[..] else { return Ok(text.is_empty()) };
        let [middle @ .., last] = rest else {
            return Ok(first.len() == text.len() && fits(first, &text));
        };
        if text.len() < first.len() + last.len() || !fits(first, &text) {
            return Ok(false);
        }
        let end = text.len() - last.len();
        if !fits(last, &text[end..]) {
            return Ok(false);
        }
        let mut at = first.len();
        for (number, piece) in middle.iter().enumerate() {
            if number % STEPS == 0 {
                check_cancelled()?;
            }
            let place = (at..=end)
                .find(|place| place + piece.len() <= end && fits(piece, &text[*place..end]));
            let Some(place) = place else { return Ok(false) };
            at = place + piece.len();
        }
        Ok(at <= end)
    }
}

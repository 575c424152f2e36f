//! `OVERRIDING { SYSTEM | USER } VALUE` of INSERT: who numbers the rows of an identity column.
//!
//! - The parser has no words for it: they are taken out of a statement's tokens, and the statement keeps what they say
//!   among its settings, of which an INSERT has no others here.

use super::spelling::{is_word, keyword};
use crate::error::from_datafusion;
use datafusion::error::DataFusionError;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Insert, Query, SetExpr, Setting, Statement, Value,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use futures::TryStreamExt;
use gadus_engine::{Result, TableSchema};
use std::sync::Arc;

/// The setting by which a statement keeps it.
const SETTING: &str = "overriding";

/// What becomes of values that are given for identity columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overriding {
    /// They are taken, also where a column is always generated.
    System,
    /// They are left, and numbers of the sequence are taken.
    User,
}

impl Overriding {
    /// Takes it out of a statement's tokens.
    pub(super) fn take(tokens: &mut [TokenWithSpan]) -> Option<Self> {
        let is_shown = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
        let shown = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
        let token = |at: usize| shown.get(at).map(|&place| &tokens[place].token);
        let is = |at: usize, expected| token(at).map(keyword) == Some(expected);
        let insert = (0..shown.len()).find(|at| is(*at, Keyword::INSERT))?;
        let mut at = insert + 1 + usize::from(is(insert + 1, Keyword::INTO)) + 1;
        while token(at) == Some(&Token::Period) {
            at += 2;
        }
        at += if is(at, Keyword::AS) { 2 } else { 0 };
        if token(at) == Some(&Token::LParen) {
            at = (at..shown.len()).find(|at| token(*at) == Some(&Token::RParen))? + 1;
        }
        let is_named = |at: usize, name| token(at).is_some_and(|token| is_word(token, name));
        if !is_named(at, SETTING) || !is(at + 2, Keyword::VALUE) {
            return None;
        }
        let who = match is_named(at + 1, "system") {
            true => Self::System,
            false => is_named(at + 1, "user").then_some(Self::User)?,
        };
        for &place in &shown[at..at + 3] {
            tokens[place].token = Token::Whitespace(Whitespace::Space);
        }
        Some(who)
    }

    /// Has the INSERT keep it that was parsed from the tokens.
    pub(super) fn keep(self, statement: &mut Statement) {
        match statement {
            Statement::Insert(insert) => {
                let value = Expr::value(Value::Boolean(self == Self::System));
                insert.settings = Some(vec![Setting { key: Ident::new(SETTING), value }]);
            }
            Statement::Explain { statement, .. } => self.keep(statement),
            _ => {}
        }
    }

    /// What an INSERT says.
    pub(crate) fn of(insert: &Insert) -> Option<Self> {
        let setting = insert.settings.as_ref()?.iter().find(|kept| kept.key.value == SETTING)?;
        Some(match setting.value == Expr::value(Value::Boolean(true)) {
            true => Self::System,
            false => Self::User,
        })
    }
}

/// The places of columns to which values are given, and of those of them that are left: of all identity columns.
pub(super) struct Left {
    kept: Vec<usize>,
    left: Vec<usize>,
}

impl Left {
    /// None where nothing is left.
    pub(super) fn of(insert: &Insert, schema: &TableSchema, columns: &[usize]) -> Option<Self> {
        let is_user = Overriding::of(insert) == Some(Overriding::User);
        let is_kept = |place: &usize| schema.columns[columns[*place]].identity.is_none();
        let (kept, left) = (0..columns.len()).partition::<Vec<_>, _>(is_kept);
        (is_user && !left.is_empty()).then_some(Self { kept, left })
    }

    /// Has no value made that is left: DEFAULT would take a number.
    pub(super) fn make_none(&self, source: &mut Query) {
        let SetExpr::Values(values) = &mut *source.body else { return };
        for row in &mut values.rows {
            for place in &self.left {
                if let Some(value) = row.content.get_mut(*place) {
                    *value = Expr::value(Value::Null);
                }
            }
        }
    }

    /// The columns that are given values, and these values.
    pub(super) fn without(
        &self,
        columns: &[usize],
        rows: SendableRecordBatchStream,
    ) -> Result<(Vec<usize>, SendableRecordBatchStream)> {
        if rows.schema().fields().len() != columns.len() {
            return Ok((columns.to_vec(), rows));
        }
        let kept = self.kept.iter().copied().filter(|place| *place < columns.len());
        let kept = kept.collect::<Vec<_>>();
        let arrow = |error| DataFusionError::ArrowError(Box::new(error), None);
        let schema = rows.schema().project(&kept).map_err(|error| from_datafusion(arrow(error)))?;
        let columns = kept.iter().map(|place| columns[*place]).collect();
        let rows =
            rows.and_then(move |batch| std::future::ready(batch.project(&kept).map_err(arrow)));
        Ok((columns, Box::pin(RecordBatchStreamAdapter::new(Arc::new(schema), rows))))
    }
}

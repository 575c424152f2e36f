//! MERGE.

use crate::ast::{Merge, MergeAction, MergeMatch, MergeWhen, Statement, With};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn merge(&mut self, with: Option<With>) -> Result<Statement> {
        self.needs_all(&[Keyword::Merge, Keyword::Into])?;
        let (table, only) = self.table_name()?;
        let alias = self.changed_alias()?;
        self.needs(Keyword::Using)?;
        let source = self.table_item()?;
        self.needs(Keyword::On)?;
        let on = self.expr()?;
        let mut clauses = Vec::new();
        while self.is(Keyword::When) {
            clauses.push(self.merge_when()?);
        }
        if clauses.is_empty() {
            return Err(self.unexpected());
        }
        let returning = self.returning()?;
        Ok(Statement::Merge(Box::new(Merge {
            with,
            table,
            only,
            alias,
            source,
            on,
            clauses,
            returning,
        })))
    }

    fn merge_when(&mut self) -> Result<MergeWhen> {
        self.needs(Keyword::When)?;
        let is_not = self.has(Keyword::Not);
        self.needs(Keyword::Matched)?;
        let by_source = is_not && self.is(Keyword::By) && self.is_word_ahead(1, "source");
        let by_target = is_not && self.is(Keyword::By) && self.is_word_ahead(1, "target");
        self.at += if by_source || by_target { 2 } else { 0 };
        let matched = match (is_not, by_source) {
            (false, _) => MergeMatch::Matched,
            (true, false) => MergeMatch::NotMatchedByTarget,
            (true, true) => MergeMatch::NotMatchedBySource,
        };
        let condition = self.has(Keyword::And).then(|| self.expr()).transpose()?;
        self.needs(Keyword::Then)?;
        let action = match self.keyword() {
            Some(Keyword::Update) if matched != MergeMatch::NotMatchedByTarget => {
                self.at += 1;
                self.needs(Keyword::Set)?;
                MergeAction::Update(self.assignments()?)
            }
            Some(Keyword::Delete) if matched != MergeMatch::NotMatchedByTarget => {
                self.at += 1;
                MergeAction::Delete
            }
            Some(Keyword::Insert) if matched == MergeMatch::NotMatchedByTarget => {
                self.merge_insert()?
            }
            Some(Keyword::Do) if self.is_ahead(1, Keyword::Nothing) => {
                self.at += 2;
                MergeAction::Nothing
            }
            _ => return Err(self.unexpected()),
        };
        Ok(MergeWhen { matched, condition, action })
    }

    fn merge_insert(&mut self) -> Result<MergeAction> {
        self.needs(Keyword::Insert)?;
        let has_columns = self.kind() == crate::lexer::TokenKind::Open;
        let columns = if has_columns { self.assignment_targets()? } else { Vec::new() };
        let overriding = self.overriding()?;
        let values = if self.has_all(&[Keyword::Default, Keyword::Values]) {
            None
        } else {
            self.needs(Keyword::Values)?;
            Some(self.exprs_in_parentheses()?)
        };
        Ok(MergeAction::Insert { columns, overriding, values })
    }
}

//! Constraints of tables.

use crate::ast::{TableConstraint, TableConstraintKind};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// True at a constraint of a table, which no column's definition begins like.
    pub(in crate::parser) fn is_table_constraint(&self) -> bool {
        let Some(keyword) = self.keyword() else { return false };
        match keyword {
            Keyword::Constraint
            | Keyword::Check
            | Keyword::Unique
            | Keyword::Primary
            | Keyword::Foreign => true,
            Keyword::Exclude => {
                self.is_ahead(1, Keyword::Using) || self.token(1).kind == TokenKind::Open
            }
            _ => false,
        }
    }

    pub(in crate::parser) fn table_constraint(&mut self) -> Result<TableConstraint> {
        let start = self.span();
        let name = self.has(Keyword::Constraint).then(|| self.name()).transpose()?;
        let kind = self.table_constraint_kind()?;
        let (mut deferrable, mut initially_deferred, mut not_valid) = (false, false, false);
        loop {
            if self.has_all(&[Keyword::Not, Keyword::Valid]) {
                not_valid = true;
            } else if self.has_all(&[Keyword::No, Keyword::Inherit]) {
                continue;
            } else {
                let before = self.at;
                let (can_defer, deferred) = self.deferral()?;
                if self.at == before {
                    break;
                }
                (deferrable, initially_deferred) = (can_defer, deferred);
            }
        }
        let span = start.to(self.last_span());
        Ok(TableConstraint { name, kind, deferrable, initially_deferred, not_valid, span })
    }

    fn table_constraint_kind(&mut self) -> Result<TableConstraintKind> {
        match self.keyword() {
            Some(Keyword::Check) => {
                self.at += 1;
                let expr = self.in_parentheses(Self::expr)?;
                let no_inherit = self.has_all(&[Keyword::No, Keyword::Inherit]);
                Ok(TableConstraintKind::Check { expr, no_inherit })
            }
            Some(Keyword::Unique) => {
                self.at += 1;
                if let Some(using) = self.using_index(false)? {
                    return Ok(using);
                }
                let nulls_distinct = self.nulls_distinct()?;
                let columns = self.key_columns()?;
                Ok(TableConstraintKind::Unique { columns, nulls_distinct })
            }
            Some(Keyword::Primary) => {
                self.needs_all(&[Keyword::Primary, Keyword::Key])?;
                if let Some(using) = self.using_index(true)? {
                    return Ok(using);
                }
                Ok(TableConstraintKind::PrimaryKey { columns: self.key_columns()? })
            }
            Some(Keyword::Foreign) => {
                self.needs_all(&[Keyword::Foreign, Keyword::Key])?;
                let columns = self.names_in_parentheses()?;
                Ok(TableConstraintKind::ForeignKey { columns, references: self.references()? })
            }
            Some(Keyword::Exclude) => {
                self.skip_exclusion()?;
                Ok(TableConstraintKind::Exclusion)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn key_columns(&mut self) -> Result<Vec<crate::ast::Name>> {
        let columns = self.names_in_parentheses()?;
        if self.has(Keyword::Include) {
            self.names_in_parentheses()?;
        }
        self.index_parameters()?;
        Ok(columns)
    }

    fn using_index(&mut self, primary: bool) -> Result<Option<TableConstraintKind>> {
        if !self.has_all(&[Keyword::Using, Keyword::Index]) {
            return Ok(None);
        }
        Ok(Some(TableConstraintKind::UsingIndex { primary, index: self.name()? }))
    }

    fn skip_exclusion(&mut self) -> Result<()> {
        self.needs(Keyword::Exclude)?;
        if self.has(Keyword::Using) {
            self.name()?;
        }
        self.skip_parentheses()?;
        self.index_parameters()?;
        if self.has(Keyword::Where) {
            self.in_parentheses(Self::expr)?;
        }
        Ok(())
    }
}

//! Columns and their constraints.

use crate::ast::{
    ColumnConstraint, ColumnConstraintKind, ColumnDefinition, IdentityKind, KeyAction, References,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads a column of a table with its constraints.
    pub(in crate::parser) fn column(&mut self) -> Result<ColumnDefinition> {
        let mut column = self.plain_column()?;
        column.constraints = self.column_constraints()?;
        Ok(column)
    }

    /// Reads a column's name, type and collation.
    pub(in crate::parser) fn plain_column(&mut self) -> Result<ColumnDefinition> {
        let name = self.name()?;
        let data_type = self.type_name()?;
        self.storage_words()?;
        let collation = self.optional_collation()?;
        Ok(ColumnDefinition { name, data_type, collation, constraints: Vec::new() })
    }

    pub(in crate::parser) fn optional_collation(
        &mut self,
    ) -> Result<Option<crate::ast::ObjectName>> {
        self.has(Keyword::Collate).then(|| self.object_name()).transpose()
    }

    /// Skips `COMPRESSION method` and `STORAGE method`, which say nothing of values.
    fn storage_words(&mut self) -> Result<()> {
        while matches!(self.keyword(), Some(Keyword::Compression | Keyword::Storage)) {
            self.at += 1;
            self.label()?;
        }
        Ok(())
    }

    pub(in crate::parser) fn column_constraints(&mut self) -> Result<Vec<ColumnConstraint>> {
        let mut constraints = Vec::new();
        while let Some(constraint) = self.column_constraint()? {
            constraints.push(constraint);
        }
        Ok(constraints)
    }

    fn column_constraint(&mut self) -> Result<Option<ColumnConstraint>> {
        let start = self.span();
        let name = self.has(Keyword::Constraint).then(|| self.name()).transpose()?;
        let Some(kind) = self.column_constraint_kind()? else {
            return if name.is_some() { Err(self.unexpected()) } else { Ok(None) };
        };
        let (deferrable, initially_deferred) = self.deferral()?;
        let span = start.to(self.last_span());
        Ok(Some(ColumnConstraint { name, kind, deferrable, initially_deferred, span }))
    }

    fn column_constraint_kind(&mut self) -> Result<Option<ColumnConstraintKind>> {
        let kind = match self.keyword() {
            Some(Keyword::Not) if self.is_ahead(1, Keyword::Null) => {
                self.at += 2;
                ColumnConstraintKind::NotNull
            }
            Some(Keyword::Null) => {
                self.at += 1;
                ColumnConstraintKind::Null
            }
            Some(Keyword::Unique) => {
                self.at += 1;
                self.nulls_distinct()?;
                self.index_parameters()?;
                ColumnConstraintKind::Unique
            }
            Some(Keyword::Primary) => {
                self.needs_all(&[Keyword::Primary, Keyword::Key])?;
                self.index_parameters()?;
                ColumnConstraintKind::PrimaryKey
            }
            Some(Keyword::Check) => {
                self.at += 1;
                let expr = self.in_parentheses(Self::expr)?;
                let no_inherit = self.has_all(&[Keyword::No, Keyword::Inherit]);
                ColumnConstraintKind::Check { expr, no_inherit }
            }
            Some(Keyword::Default) => {
                self.at += 1;
                ColumnConstraintKind::Default(self.restricted_expr()?)
            }
            Some(Keyword::Generated) => self.generated()?,
            // DuckDB's form without GENERATED ALWAYS.
            Some(Keyword::As) if self.token(1).kind == TokenKind::Open => {
                self.at += 1;
                let expr = self.in_parentheses(Self::expr)?;
                ColumnConstraintKind::Generated { expr, stored: self.is_stored() }
            }
            Some(Keyword::References) => ColumnConstraintKind::References(self.references()?),
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn generated(&mut self) -> Result<ColumnConstraintKind> {
        self.needs(Keyword::Generated)?;
        let kind = self.identity_kind()?;
        self.needs(Keyword::As)?;
        if self.has(Keyword::Identity) {
            let options = if self.kind() == TokenKind::Open {
                self.in_parentheses(Self::sequence_options)?
            } else {
                Vec::new()
            };
            return Ok(ColumnConstraintKind::Identity { kind, options });
        }
        if kind == IdentityKind::ByDefault {
            let message = "for a generated column, GENERATED ALWAYS must be specified";
            return Err(self.error(message, self.last_span()));
        }
        let expr = self.in_parentheses(Self::expr)?;
        Ok(ColumnConstraintKind::Generated { expr, stored: self.is_stored() })
    }

    fn is_stored(&mut self) -> bool {
        let stored = self.has(Keyword::Stored);
        if !stored {
            self.has_word("virtual");
        }
        stored
    }

    pub(in crate::parser) fn identity_kind(&mut self) -> Result<IdentityKind> {
        if self.has(Keyword::Always) {
            return Ok(IdentityKind::Always);
        }
        self.needs_all(&[Keyword::By, Keyword::Default])?;
        Ok(IdentityKind::ByDefault)
    }

    /// Reads NULLS DISTINCT or NULLS NOT DISTINCT, and tells whether NULLs are distinct.
    pub(in crate::parser) fn nulls_distinct(&mut self) -> Result<bool> {
        if !self.has(Keyword::Nulls) {
            return Ok(true);
        }
        let distinct = !self.has(Keyword::Not);
        self.needs(Keyword::Distinct)?;
        Ok(distinct)
    }

    /// Skips WITH (…) and USING INDEX TABLESPACE, which say nothing of values.
    pub(in crate::parser) fn index_parameters(&mut self) -> Result<()> {
        if self.is(Keyword::With) && self.token(1).kind == TokenKind::Open {
            self.at += 1;
            self.storage_parameters()?;
        }
        if self.has_all(&[Keyword::Using, Keyword::Index, Keyword::Tablespace]) {
            self.name()?;
        }
        Ok(())
    }

    pub(in crate::parser) fn references(&mut self) -> Result<References> {
        self.needs(Keyword::References)?;
        let table = self.object_name()?;
        let columns = self.optional_names()?;
        let mut match_full = false;
        if self.has(Keyword::Match) {
            match_full = self.has(Keyword::Full);
            if self.is(Keyword::Partial) {
                return Err(self.unsupported("MATCH PARTIAL not yet implemented", self.span()));
            }
            if !match_full {
                self.needs(Keyword::Simple)?;
            }
        }
        let (mut on_delete, mut on_update) = (KeyAction::NoAction, KeyAction::NoAction);
        let mut on_delete_columns = Vec::new();
        loop {
            if self.has_all(&[Keyword::On, Keyword::Delete]) {
                on_delete = self.key_action()?;
                let sets = matches!(on_delete, KeyAction::SetNull | KeyAction::SetDefault);
                if sets {
                    on_delete_columns = self.optional_names()?;
                }
            } else if self.has_all(&[Keyword::On, Keyword::Update]) {
                on_update = self.key_action()?;
            } else {
                return Ok(References {
                    table,
                    columns,
                    match_full,
                    on_delete,
                    on_delete_columns,
                    on_update,
                });
            }
        }
    }

    fn key_action(&mut self) -> Result<KeyAction> {
        let actions: [(&[Keyword], KeyAction); 5] = [
            (&[Keyword::No, Keyword::Action], KeyAction::NoAction),
            (&[Keyword::Restrict], KeyAction::Restrict),
            (&[Keyword::Cascade], KeyAction::Cascade),
            (&[Keyword::Set, Keyword::Null], KeyAction::SetNull),
            (&[Keyword::Set, Keyword::Default], KeyAction::SetDefault),
        ];
        for (keywords, action) in actions {
            if self.has_all(keywords) {
                return Ok(action);
            }
        }
        Err(self.unexpected())
    }

    /// Reads DEFERRABLE and INITIALLY DEFERRED.
    pub(in crate::parser) fn deferral(&mut self) -> Result<(bool, bool)> {
        let (mut deferrable, mut deferred) = (None, false);
        loop {
            let span = self.span();
            if self.has_all(&[Keyword::Not, Keyword::Deferrable]) {
                deferrable = Some(false);
            } else if self.has(Keyword::Deferrable) {
                deferrable = Some(true);
            } else if self.has_all(&[Keyword::Initially, Keyword::Deferred]) {
                deferred = true;
            } else if !self.has_all(&[Keyword::Initially, Keyword::Immediate]) {
                return Ok((deferrable.unwrap_or(deferred), deferred));
            }
            if deferred && deferrable == Some(false) {
                let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
                return Err(self.error(message, span));
            }
        }
    }
}

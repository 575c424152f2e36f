//! ALTER TABLE, and ALTER VIEW and ALTER INDEX, whose actions are among those of tables.

use crate::ast::{AlterAction, AlterColumn, AlterObject, AlterTable, ObjectKind, Statement};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn alter_table(&mut self, kind: ObjectKind) -> Result<Statement> {
        if self.has_all(&[Keyword::All, Keyword::In]) {
            return self.skip_statement("ALTER … ALL IN TABLESPACE");
        }
        let if_exists = self.if_exists();
        let (name, only) = self.table_name()?;
        if let Some(action) = self.object_action()? {
            use crate::ast::AlterObjectAction::OwnerTo;
            let is_last = self.kind() != TokenKind::Comma;
            if is_last || !matches!(action, OwnerTo(_)) {
                return Ok(Statement::AlterObject(AlterObject { kind, name, if_exists, action }));
            }
            self.expect(TokenKind::Comma)?;
        }
        let actions = self.list(Self::alter_action)?;
        Ok(Statement::AlterTable(AlterTable { name, kind, if_exists, only, actions }))
    }

    fn alter_action(&mut self) -> Result<AlterAction> {
        match self.keyword() {
            Some(Keyword::Add) => self.add_action(),
            Some(Keyword::Drop) => self.drop_action(),
            Some(Keyword::Alter) => self.alter_column_action(),
            Some(Keyword::Validate) => {
                self.needs_all(&[Keyword::Validate, Keyword::Constraint])?;
                self.name().map(AlterAction::ValidateConstraint)
            }
            Some(Keyword::Owner) => {
                self.needs_all(&[Keyword::Owner, Keyword::To])?;
                self.role().map(AlterAction::OwnerTo)
            }
            Some(Keyword::Set) if self.token(1).kind == TokenKind::Open => {
                self.at += 1;
                self.storage_parameters().map(AlterAction::SetStorageParameters)
            }
            _ => self.other_action(),
        }
    }

    fn add_action(&mut self) -> Result<AlterAction> {
        self.needs(Keyword::Add)?;
        if self.is_table_constraint() {
            return self.table_constraint().map(Box::new).map(AlterAction::AddConstraint);
        }
        self.has(Keyword::Column);
        let if_not_exists = self.if_not_exists();
        let column = Box::new(self.column()?);
        Ok(AlterAction::AddColumn { column, if_not_exists })
    }

    fn drop_action(&mut self) -> Result<AlterAction> {
        self.needs(Keyword::Drop)?;
        if self.has(Keyword::Constraint) {
            let if_exists = self.if_exists();
            let name = self.name()?;
            let behavior = self.drop_behavior();
            return Ok(AlterAction::DropConstraint { name, if_exists, behavior });
        }
        self.has(Keyword::Column);
        let if_exists = self.if_exists();
        let column = self.name()?;
        let behavior = self.drop_behavior();
        Ok(AlterAction::DropColumn { column, if_exists, behavior })
    }

    fn alter_column_action(&mut self) -> Result<AlterAction> {
        self.needs(Keyword::Alter)?;
        if self.has(Keyword::Constraint) {
            let name = self.name()?;
            self.deferral()?;
            return Ok(AlterAction::AlterConstraint { name });
        }
        self.has(Keyword::Column);
        let is_number = self.kind() == TokenKind::Integer;
        if is_number {
            self.skip_action();
            return Ok(AlterAction::Unsupported("ALTER COLUMN of an index"));
        }
        let column = self.name()?;
        let action = self.alter_column()?;
        Ok(AlterAction::AlterColumn { column, action })
    }

    fn alter_column(&mut self) -> Result<AlterColumn> {
        if self.has_all(&[Keyword::Set, Keyword::Default]) {
            return self.expr().map(AlterColumn::SetDefault);
        }
        if self.has_all(&[Keyword::Set, Keyword::Not, Keyword::Null]) {
            return Ok(AlterColumn::SetNotNull);
        }
        if self.has_all(&[Keyword::Drop, Keyword::Default]) {
            return Ok(AlterColumn::DropDefault);
        }
        if self.has_all(&[Keyword::Drop, Keyword::Not, Keyword::Null]) {
            return Ok(AlterColumn::DropNotNull);
        }
        if self.has_all(&[Keyword::Drop, Keyword::Expression]) {
            return Ok(AlterColumn::DropExpression { if_exists: self.if_exists() });
        }
        if self.has_all(&[Keyword::Drop, Keyword::Identity]) {
            return Ok(AlterColumn::DropIdentity { if_exists: self.if_exists() });
        }
        if self.has_all(&[Keyword::Add, Keyword::Generated]) {
            let kind = self.identity_kind()?;
            self.needs_all(&[Keyword::As, Keyword::Identity])?;
            let has_options = self.kind() == TokenKind::Open;
            let options =
                if has_options { self.in_parentheses(Self::sequence_options)? } else { Vec::new() };
            return Ok(AlterColumn::AddIdentity { kind, options });
        }
        if self.is(Keyword::Type) || (self.is(Keyword::Set) && self.is_ahead(1, Keyword::Data)) {
            return self.set_type();
        }
        let identity = [Keyword::Generated, Keyword::Restart, Keyword::Sequence];
        let sets_identity = |parser: &Self| {
            parser.is(Keyword::Restart)
                || (parser.is(Keyword::Set)
                    && (identity.iter().any(|keyword| parser.is_ahead(1, *keyword))
                        || is_sequence_option(parser)))
        };
        if sets_identity(self) {
            return self.set_identity();
        }
        self.storage_action()?;
        Ok(AlterColumn::Unsupported("ALTER COLUMN"))
    }

    /// Reads what says how values of a column are stored.
    fn storage_action(&mut self) -> Result<()> {
        if self.has_all(&[Keyword::Set, Keyword::Statistics]) {
            self.signed_number()?;
            return Ok(());
        }
        if self.has_all(&[Keyword::Set, Keyword::Storage])
            || self.has_all(&[Keyword::Set, Keyword::Compression])
        {
            self.has(Keyword::Default);
            self.optional_name()?;
            return Ok(());
        }
        if self.has(Keyword::Options) {
            return self.skip_parentheses();
        }
        if !self.has(Keyword::Set) {
            self.needs(Keyword::Reset)?;
        }
        self.storage_parameters().map(drop)
    }

    fn set_type(&mut self) -> Result<AlterColumn> {
        self.has_all(&[Keyword::Set, Keyword::Data]);
        self.needs(Keyword::Type)?;
        let data_type = Box::new(self.type_name()?);
        let collation = self.optional_collation()?;
        let using = self.has(Keyword::Using).then(|| self.expr()).transpose()?;
        Ok(AlterColumn::SetType { data_type, collation, using })
    }

    fn set_identity(&mut self) -> Result<AlterColumn> {
        let (mut kind, mut options) = (None, Vec::new());
        loop {
            if self.has_all(&[Keyword::Set, Keyword::Generated]) {
                kind = Some(self.identity_kind()?);
            } else if self.is(Keyword::Restart) || self.has(Keyword::Set) {
                let option = self.sequence_option()?.ok_or_else(|| self.unexpected())?;
                options.push(option);
            } else {
                return Ok(AlterColumn::SetIdentity { kind, options });
            }
        }
    }

    /// Skips an action that is known to PostgreSQL and has no meaning here.
    fn other_action(&mut self) -> Result<AlterAction> {
        let is_known = matches!(
            self.keyword(),
            Some(
                Keyword::Reset
                    | Keyword::Enable
                    | Keyword::Disable
                    | Keyword::Cluster
                    | Keyword::Inherit
                    | Keyword::No
                    | Keyword::Of
                    | Keyword::Not
                    | Keyword::Force
                    | Keyword::Replica
                    | Keyword::Attach
                    | Keyword::Detach
                    | Keyword::Options
                    | Keyword::Depends
            )
        );
        let is_set = self.is(Keyword::Set)
            && matches!(
                self.token(1).kind,
                TokenKind::Keyword(
                    Keyword::Logged
                        | Keyword::Unlogged
                        | Keyword::Without
                        | Keyword::Tablespace
                        | Keyword::Access
                )
            );
        if !is_known && !is_set {
            return Err(self.unexpected());
        }
        self.skip_action();
        Ok(AlterAction::Unsupported("ALTER TABLE"))
    }

    /// Skips to the comma after an action, or to the statement's end.
    fn skip_action(&mut self) {
        let mut open = 0_usize;
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::Semicolon => return,
                TokenKind::Comma if open == 0 => return,
                TokenKind::Open => open += 1,
                TokenKind::Close => open = open.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }
}

fn is_sequence_option(parser: &Parser<'_>) -> bool {
    matches!(
        parser.token(1).kind,
        TokenKind::Keyword(
            Keyword::Increment
                | Keyword::Minvalue
                | Keyword::Maxvalue
                | Keyword::Start
                | Keyword::Cache
                | Keyword::Cycle
                | Keyword::No
        )
    )
}

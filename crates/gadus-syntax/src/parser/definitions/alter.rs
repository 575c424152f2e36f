//! ALTER of objects other than tables: names, schemas, owners, labels of enumerations.

use crate::ast::{AlterObject, AlterObjectAction, ObjectKind, ObjectName, Statement};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::parser::Parser;
use crate::parser::definitions::objects::has_arguments;

impl Parser<'_> {
    pub(in crate::parser) fn alter(&mut self) -> Result<Statement> {
        self.needs(Keyword::Alter)?;
        let before = self.at;
        let Some(kind) = self.object_kind() else {
            let is_known = self.is_unsupported_kind() || self.is(Keyword::System);
            return if is_known { self.skip_statement("ALTER") } else { Err(self.unexpected()) };
        };
        match kind {
            ObjectKind::Table
            | ObjectKind::View
            | ObjectKind::MaterializedView
            | ObjectKind::Index => self.alter_table(kind),
            ObjectKind::Sequence
            | ObjectKind::Type
            | ObjectKind::Domain
            | ObjectKind::Schema
            | ObjectKind::Function
            | ObjectKind::Procedure
            | ObjectKind::Routine => {
                let if_exists = self.if_exists();
                let name = self.altered_name(kind)?;
                self.alter_object(kind, name, if_exists)
            }
            _ => {
                self.at = before;
                self.skip_statement("ALTER")
            }
        }
    }

    fn altered_name(&mut self, kind: ObjectKind) -> Result<ObjectName> {
        if !has_arguments(kind) {
            return self.object_name();
        }
        let name = self.function_object_name()?;
        self.argument_types()?;
        Ok(name)
    }

    fn alter_object(
        &mut self,
        kind: ObjectKind,
        name: ObjectName,
        if_exists: bool,
    ) -> Result<Statement> {
        let action = match self.object_action()? {
            Some(action) => action,
            None if kind == ObjectKind::Type
                && self.is(Keyword::Add)
                && self.is_ahead(1, Keyword::Value) =>
            {
                self.add_value()?
            }
            None if kind == ObjectKind::Sequence => {
                if self.is(Keyword::Set) {
                    return self.skip_statement("ALTER SEQUENCE … SET");
                }
                return self.alter_sequence(name, if_exists);
            }
            None if self.is_other_action(kind) => return self.skip_statement("ALTER"),
            None => return Err(self.unexpected()),
        };
        Ok(Statement::AlterObject(AlterObject { kind, name, if_exists, action }))
    }

    /// True at actions of types, domains and functions that have no meaning here.
    fn is_other_action(&self, kind: ObjectKind) -> bool {
        let Some(keyword) = self.keyword() else { return false };
        match keyword {
            Keyword::Add | Keyword::Drop | Keyword::Alter => {
                kind == ObjectKind::Domain || self.is_ahead(1, Keyword::Attribute)
            }
            Keyword::Set
            | Keyword::Reset
            | Keyword::Validate
            | Keyword::Depends
            | Keyword::No
            | Keyword::Not
            | Keyword::Immutable
            | Keyword::Stable
            | Keyword::Volatile
            | Keyword::Strict
            | Keyword::Called
            | Keyword::Returns
            | Keyword::Leakproof
            | Keyword::Security
            | Keyword::External
            | Keyword::Cost
            | Keyword::Rows
            | Keyword::Support
            | Keyword::Parallel => true,
            _ => false,
        }
    }

    /// Reads RENAME, SET SCHEMA or OWNER TO, if the cursor is at one.
    pub(in crate::parser) fn object_action(&mut self) -> Result<Option<AlterObjectAction>> {
        if self.has_all(&[Keyword::Set, Keyword::Schema]) {
            return self.name().map(AlterObjectAction::SetSchema).map(Some);
        }
        if self.has_all(&[Keyword::Owner, Keyword::To]) {
            return self.role().map(AlterObjectAction::OwnerTo).map(Some);
        }
        if !self.has(Keyword::Rename) {
            return Ok(None);
        }
        if self.has(Keyword::To) {
            return self.name().map(AlterObjectAction::RenameTo).map(Some);
        }
        if self.has(Keyword::Value) {
            let from = self.text()?;
            self.needs(Keyword::To)?;
            return Ok(Some(AlterObjectAction::RenameValue { from, to: self.text()? }));
        }
        let is_constraint = self.has(Keyword::Constraint);
        if !is_constraint && !self.has(Keyword::Column) {
            self.has(Keyword::Attribute);
        }
        let from = self.name()?;
        self.needs(Keyword::To)?;
        let to = self.name()?;
        self.drop_behavior();
        Ok(Some(match is_constraint {
            true => AlterObjectAction::RenameConstraint { from, to },
            false => AlterObjectAction::RenameColumn { from, to },
        }))
    }

    fn add_value(&mut self) -> Result<AlterObjectAction> {
        self.needs_all(&[Keyword::Add, Keyword::Value])?;
        let if_not_exists = self.if_not_exists();
        let label = self.text()?;
        let (mut before, mut after) = (None, None);
        if self.has(Keyword::Before) {
            before = Some(self.text()?);
        } else if self.has(Keyword::After) {
            after = Some(self.text()?);
        }
        Ok(AlterObjectAction::AddValue { label, if_not_exists, before, after })
    }

    /// Reads a role's name, or CURRENT_USER and the like.
    pub(in crate::parser) fn role(&mut self) -> Result<crate::ast::Name> {
        let is_word = matches!(
            self.keyword(),
            Some(Keyword::CurrentUser | Keyword::CurrentRole | Keyword::SessionUser)
        );
        if is_word { self.label() } else { self.word() }
    }
}

//! Kinds of objects, DROP and COMMENT.

use crate::ast::{CommentOn, DropBehavior, DropObjects, ObjectKind, Statement, TypeName};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads the kind of an object, if the cursor is at one.
    pub(in crate::parser) fn object_kind(&mut self) -> Option<ObjectKind> {
        let kinds: [(&[Keyword], ObjectKind); 24] = [
            (&[Keyword::Table], ObjectKind::Table),
            (&[Keyword::View], ObjectKind::View),
            (&[Keyword::Materialized, Keyword::View], ObjectKind::MaterializedView),
            (&[Keyword::Index], ObjectKind::Index),
            (&[Keyword::Sequence], ObjectKind::Sequence),
            (&[Keyword::Type], ObjectKind::Type),
            (&[Keyword::Domain], ObjectKind::Domain),
            (&[Keyword::Schema], ObjectKind::Schema),
            (&[Keyword::Function], ObjectKind::Function),
            (&[Keyword::Procedure], ObjectKind::Procedure),
            (&[Keyword::Routine], ObjectKind::Routine),
            (&[Keyword::Aggregate], ObjectKind::Aggregate),
            (&[Keyword::Column], ObjectKind::Column),
            (&[Keyword::Constraint], ObjectKind::Constraint),
            (&[Keyword::Database], ObjectKind::Database),
            (&[Keyword::Role], ObjectKind::Role),
            (&[Keyword::User], ObjectKind::Role),
            (&[Keyword::Group], ObjectKind::Role),
            (&[Keyword::Extension], ObjectKind::Extension),
            (&[Keyword::Collation], ObjectKind::Other("COLLATION")),
            (&[Keyword::Statistics], ObjectKind::Other("STATISTICS")),
            (&[Keyword::Foreign, Keyword::Table], ObjectKind::Other("FOREIGN TABLE")),
            (&[Keyword::Tablespace], ObjectKind::Other("TABLESPACE")),
            (&[Keyword::Language], ObjectKind::Other("LANGUAGE")),
        ];
        kinds.into_iter().find(|(keywords, _)| self.has_all(keywords)).map(|(_, kind)| kind)
    }

    pub(in crate::parser) fn if_exists(&mut self) -> bool {
        self.has_all(&[Keyword::If, Keyword::Exists])
    }

    pub(in crate::parser) fn drop_behavior(&mut self) -> DropBehavior {
        if self.has(Keyword::Cascade) {
            return DropBehavior::Cascade;
        }
        self.has(Keyword::Restrict);
        DropBehavior::Restrict
    }

    pub(in crate::parser) fn drop_objects(&mut self) -> Result<Statement> {
        self.needs(Keyword::Drop)?;
        if self.has_word("macro") {
            self.has(Keyword::Table);
            return self.dropped(ObjectKind::Function);
        }
        match self.object_kind() {
            Some(ObjectKind::Other(_) | ObjectKind::Aggregate) => self.skip_statement("DROP"),
            Some(kind) => self.dropped(kind),
            None if self.is_unsupported_kind() => self.skip_statement("DROP"),
            None => Err(self.unexpected()),
        }
    }

    fn dropped(&mut self, kind: ObjectKind) -> Result<Statement> {
        if kind == ObjectKind::Index {
            self.has(Keyword::Concurrently);
        }
        let if_exists = self.if_exists();
        let (mut names, mut arguments) = (Vec::new(), Vec::new());
        loop {
            names.push(if has_arguments(kind) {
                self.function_object_name()?
            } else {
                self.object_name()?
            });
            arguments.push(if has_arguments(kind) { self.argument_types()? } else { None });
            if !self.takes(TokenKind::Comma) {
                break;
            }
        }
        let behavior = self.drop_behavior();
        Ok(Statement::Drop(DropObjects { kind, if_exists, names, arguments, behavior }))
    }

    /// Reads the types of a function's arguments in parentheses, if the cursor is at them.
    pub(in crate::parser) fn argument_types(&mut self) -> Result<Option<Vec<TypeName>>> {
        if self.kind() != TokenKind::Open {
            return Ok(None);
        }
        self.in_parentheses(|parser| {
            if parser.has_operator(Operator::Star) || parser.kind() == TokenKind::Close {
                return Ok(Some(Vec::new()));
            }
            let parameters = parser.list(Self::function_parameter)?;
            Ok(Some(parameters.into_iter().filter_map(|parameter| parameter.data_type).collect()))
        })
    }

    pub(in crate::parser) fn comment(&mut self) -> Result<Statement> {
        self.needs(Keyword::Comment)?;
        self.needs(Keyword::On)?;
        let Some(kind) = self.object_kind() else {
            let is_known = self.is_unsupported_kind();
            return if is_known { self.skip_statement("COMMENT") } else { Err(self.unexpected()) };
        };
        let name =
            if has_arguments(kind) { self.function_object_name()? } else { self.object_name()? };
        if has_arguments(kind) {
            self.argument_types()?;
        }
        let mut on = None;
        if self.has(Keyword::On) {
            self.has(Keyword::Domain);
            on = Some(self.object_name()?);
        }
        self.needs(Keyword::Is)?;
        let text = if self.has(Keyword::Null) { None } else { Some(self.text()?) };
        Ok(Statement::Comment(CommentOn { kind, name, on, text }))
    }
}

pub(in crate::parser) fn has_arguments(kind: ObjectKind) -> bool {
    matches!(
        kind,
        ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine | ObjectKind::Aggregate
    )
}

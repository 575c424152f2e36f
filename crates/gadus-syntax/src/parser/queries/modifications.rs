//! INSERT, UPDATE, DELETE and TRUNCATE.

use crate::ast::{
    Assignment, AssignmentTarget, ConflictAction, ConflictTarget, Delete, ExprKind, Insert,
    InsertSource, OnConflict, Overriding, Statement, Target, Truncate, Update, With,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn insert(&mut self, with: Option<With>) -> Result<Statement> {
        self.needs(Keyword::Insert)?;
        let or_replace = self.has_all(&[Keyword::Or, Keyword::Replace]);
        let or_ignore = self.is(Keyword::Or) && self.is_word_ahead(1, "ignore");
        self.at += if or_ignore { 2 } else { 0 };
        self.needs(Keyword::Into)?;
        let table = self.object_name()?;
        let alias = self.has(Keyword::As).then(|| self.name()).transpose()?;
        let by_name = self.has_all(&[Keyword::By, Keyword::Name]);
        let has_columns = self.kind() == TokenKind::Open && !self.is_query_in_parentheses();
        let columns = if has_columns { self.assignment_targets()? } else { Vec::new() };
        let overriding = self.overriding()?;
        let source = if self.has_all(&[Keyword::Default, Keyword::Values]) {
            InsertSource::DefaultValues
        } else {
            InsertSource::Query { query: Box::new(self.query()?), by_name }
        };
        let span = table.span();
        let implied = |action| Some(OnConflict { target: None, action, span });
        let on_conflict = match self.on_conflict()? {
            None if or_replace => implied(ConflictAction::Replace),
            None if or_ignore => implied(ConflictAction::Nothing),
            on_conflict => on_conflict,
        };
        let returning = self.returning()?;
        Ok(Statement::Insert(Box::new(Insert {
            with,
            table,
            alias,
            columns,
            overriding,
            source,
            on_conflict,
            returning,
        })))
    }

    pub(in crate::parser) fn assignment_targets(&mut self) -> Result<Vec<AssignmentTarget>> {
        self.in_parentheses(|parser| parser.list(Self::assignment_target))
    }

    /// Reads a column, with fields and elements of it.
    pub(in crate::parser) fn assignment_target(&mut self) -> Result<AssignmentTarget> {
        let column = self.name()?;
        if !matches!(self.kind(), TokenKind::Dot | TokenKind::OpenBracket) {
            return Ok(AssignmentTarget { column, path: None });
        }
        let start = self.spanned(column.span, ExprKind::Column(vec![column.clone()]));
        let path = Some(self.postfix(start)?);
        Ok(AssignmentTarget { column, path })
    }

    pub(in crate::parser) fn overriding(&mut self) -> Result<Option<Overriding>> {
        if !self.has(Keyword::Overriding) {
            return Ok(None);
        }
        let overriding =
            if self.has(Keyword::User) { Overriding::User } else { Overriding::System };
        if overriding == Overriding::System {
            self.needs(Keyword::System)?;
        }
        self.needs(Keyword::Value)?;
        Ok(Some(overriding))
    }

    fn on_conflict(&mut self) -> Result<Option<OnConflict>> {
        let start = self.span();
        if !self.has(Keyword::On) {
            return Ok(None);
        }
        self.needs(Keyword::Conflict)?;
        let target = if self.has_all(&[Keyword::On, Keyword::Constraint]) {
            Some(ConflictTarget::Constraint(self.name()?))
        } else if self.kind() == TokenKind::Open {
            let start = self.span();
            let elements = self.in_parentheses(|parser| parser.list(Self::index_element))?;
            let filter = self.has(Keyword::Where).then(|| self.expr()).transpose()?;
            let span = start.to(self.last_span());
            Some(ConflictTarget::Columns { elements, filter, span })
        } else {
            None
        };
        self.needs(Keyword::Do)?;
        if self.has(Keyword::Nothing) {
            let span = start.to(self.last_span());
            return Ok(Some(OnConflict { target, action: ConflictAction::Nothing, span }));
        }
        self.needs_all(&[Keyword::Update, Keyword::Set])?;
        let assignments = self.assignments()?;
        let filter = self.has(Keyword::Where).then(|| self.expr()).transpose()?;
        let action = ConflictAction::Update { assignments, filter };
        Ok(Some(OnConflict { target, action, span: start.to(self.last_span()) }))
    }

    pub(in crate::parser) fn assignments(&mut self) -> Result<Vec<Assignment>> {
        self.list(|parser| {
            if parser.kind() == TokenKind::Open {
                let targets = parser.assignment_targets()?;
                parser.expect(TokenKind::Operator(Operator::Equals))?;
                return Ok(Assignment::Many { targets, value: parser.expr()? });
            }
            let target = parser.assignment_target()?;
            parser.expect(TokenKind::Operator(Operator::Equals))?;
            Ok(Assignment::One { target, value: parser.expr()? })
        })
    }

    pub(in crate::parser) fn returning(&mut self) -> Result<Vec<Target>> {
        if self.has(Keyword::Returning) { self.targets() } else { Ok(Vec::new()) }
    }

    /// Reads `[ONLY] name [*]`.
    pub(in crate::parser) fn table_name(&mut self) -> Result<(crate::ast::ObjectName, bool)> {
        let only = self.has(Keyword::Only);
        let name = if only && self.kind() == TokenKind::Open {
            self.in_parentheses(Self::object_name)?
        } else {
            self.object_name()?
        };
        self.has_operator(Operator::Star);
        Ok((name, only))
    }

    /// Reads the alias of a table that is changed; SET is none without AS.
    pub(in crate::parser) fn changed_alias(&mut self) -> Result<Option<crate::ast::Alias>> {
        if self.is(Keyword::Set) {
            return Ok(None);
        }
        self.has(Keyword::As);
        let alias = self.optional_name()?;
        Ok(alias.map(|name| crate::ast::Alias { name, columns: Vec::new() }))
    }

    pub(in crate::parser) fn update(&mut self, with: Option<With>) -> Result<Statement> {
        self.needs(Keyword::Update)?;
        let (table, only) = self.table_name()?;
        let alias = self.changed_alias()?;
        self.needs(Keyword::Set)?;
        let assignments = self.assignments()?;
        let from = self.from()?;
        let filter = self.has(Keyword::Where).then(|| self.condition()).transpose()?;
        let returning = self.returning()?;
        Ok(Statement::Update(Box::new(Update {
            with,
            table,
            only,
            alias,
            assignments,
            from,
            filter,
            returning,
        })))
    }

    /// Reads a condition, or CURRENT OF a cursor.
    fn condition(&mut self) -> Result<crate::ast::Expr> {
        let start = self.span();
        if self.has_all(&[Keyword::Current, Keyword::Of]) {
            let cursor = self.name()?;
            return Ok(self.spanned(start, ExprKind::CurrentOf(cursor)));
        }
        self.expr()
    }

    pub(in crate::parser) fn delete(&mut self, with: Option<With>) -> Result<Statement> {
        self.needs_all(&[Keyword::Delete, Keyword::From])?;
        let (table, only) = self.table_name()?;
        let alias = self.changed_alias()?;
        let using = if self.has(Keyword::Using) { self.table_list()? } else { Vec::new() };
        let filter = self.has(Keyword::Where).then(|| self.condition()).transpose()?;
        let returning = self.returning()?;
        Ok(Statement::Delete(Box::new(Delete {
            with,
            table,
            only,
            alias,
            using,
            filter,
            returning,
        })))
    }

    pub(in crate::parser) fn truncate(&mut self) -> Result<Statement> {
        self.needs(Keyword::Truncate)?;
        self.has(Keyword::Table);
        let tables = self.list(|parser| parser.table_name().map(|(name, _)| name))?;
        let restart_identity = self.has_all(&[Keyword::Restart, Keyword::Identity]);
        if !restart_identity {
            self.has_all(&[Keyword::Continue, Keyword::Identity]);
        }
        let cascade = self.has(Keyword::Cascade);
        if !cascade {
            self.has(Keyword::Restrict);
        }
        Ok(Statement::Truncate(Truncate { tables, restart_identity, cascade }))
    }
}

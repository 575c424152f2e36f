//! FROM: tables, functions, subqueries and joins.

use crate::ast::{
    Alias, ColumnAlias, ExprKind, FromItem, FromKind, JoinCondition, JoinKind, Sample,
    TableFunction,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;
use crate::parser::expressions::special_calls::is_special_call;

impl Parser<'_> {
    /// Reads `FROM …`, if the cursor is at it.
    pub(in crate::parser) fn from(&mut self) -> Result<Vec<FromItem>> {
        if !self.has(Keyword::From) {
            return Ok(Vec::new());
        }
        self.table_list()
    }

    pub(in crate::parser) fn table_list(&mut self) -> Result<Vec<FromItem>> {
        self.list(Self::table_item)
    }

    /// Reads an element of FROM with its joins (table_ref).
    pub(in crate::parser) fn table_item(&mut self) -> Result<FromItem> {
        let left = self.table_operand()?;
        let depth = self.depth;
        let joined = self.joins(left, false);
        self.depth = depth;
        joined
    }

    /// Reads joins after an element. A right element takes those before its own join's condition.
    fn joins(&mut self, mut left: FromItem, is_right: bool) -> Result<FromItem> {
        loop {
            if is_right && matches!(self.keyword(), Some(Keyword::On | Keyword::Using)) {
                return Ok(left);
            }
            let Some((kind, natural)) = self.join_kind() else { return Ok(left) };
            self.enter(1)?;
            let mut right = self.table_operand()?;
            let has_condition = !natural && !matches!(kind, JoinKind::Cross | JoinKind::Positional);
            let condition = if natural {
                JoinCondition::Natural
            } else if has_condition {
                right = self.nested(|parser| parser.joins(right, true))?;
                self.join_condition()?
            } else {
                JoinCondition::None
            };
            let span = left.span.to(self.last_span());
            let kind =
                FromKind::Join { left: Box::new(left), right: Box::new(right), kind, condition };
            left = FromItem { kind, alias: None, span };
        }
    }

    /// Reads `LEFT JOIN` and the like, and tells whether NATURAL stands before it.
    fn join_kind(&mut self) -> Option<(JoinKind, bool)> {
        if let Some(kind) = self.friendly_join() {
            return Some((kind, false));
        }
        if self.has_all(&[Keyword::Cross, Keyword::Join]) {
            return Some((JoinKind::Cross, false));
        }
        let natural = self.is(Keyword::Natural);
        let ahead = usize::from(natural);
        let (kind, mut length) = match self.token(ahead).kind {
            TokenKind::Keyword(Keyword::Join) => (JoinKind::Inner, 0),
            TokenKind::Keyword(Keyword::Inner) => (JoinKind::Inner, 1),
            TokenKind::Keyword(Keyword::Left) => (JoinKind::Left, 1),
            TokenKind::Keyword(Keyword::Right) => (JoinKind::Right, 1),
            TokenKind::Keyword(Keyword::Full) => (JoinKind::Full, 1),
            _ => return None,
        };
        let is_outer = kind != JoinKind::Inner && self.is_ahead(ahead + length, Keyword::Outer);
        length += usize::from(is_outer);
        if !self.is_ahead(ahead + length, Keyword::Join) {
            return None;
        }
        self.at += ahead + length + 1;
        Some((kind, natural))
    }

    fn join_condition(&mut self) -> Result<JoinCondition> {
        if self.has(Keyword::Using) {
            let columns = self.names_in_parentheses()?;
            let alias = self.has(Keyword::As).then(|| self.name()).transpose()?;
            return Ok(JoinCondition::Using { columns, alias });
        }
        self.needs(Keyword::On)?;
        self.expr().map(JoinCondition::On)
    }

    /// Reads an element of FROM without joins after it, but DuckDB's PIVOT and UNPIVOT.
    fn table_operand(&mut self) -> Result<FromItem> {
        let item = self.nested(Self::plain_table_operand)?;
        self.pivots(item)
    }

    fn plain_table_operand(&mut self) -> Result<FromItem> {
        let start = self.span();
        let lateral = self.has(Keyword::Lateral);
        if self.kind() == TokenKind::Open {
            return self.table_parentheses(lateral);
        }
        if let Some(text) = self.optional_text()? {
            let alias = self.alias()?;
            return Ok(FromItem {
                kind: FromKind::File(text),
                alias,
                span: start.to(self.last_span()),
            });
        }
        if self.is_function() {
            return self.functions(lateral);
        }
        if lateral {
            return Err(self.unexpected());
        }
        let (name, only) = self.table_name()?;
        let alias = self.alias()?;
        let sample = self.sample()?;
        let kind = FromKind::Table { name, only, sample };
        Ok(FromItem { kind, alias, span: start.to(self.last_span()) })
    }

    /// Reads a subquery, or joins in parentheses.
    fn table_parentheses(&mut self, lateral: bool) -> Result<FromItem> {
        let start = self.span();
        if self.is_query_in_parentheses() {
            let query = Box::new(self.query_in_parentheses()?);
            let alias = self.alias()?;
            let kind = FromKind::Query { query, lateral };
            return Ok(FromItem { kind, alias, span: start.to(self.last_span()) });
        }
        if lateral {
            return Err(self.unexpected());
        }
        let mut item = self.in_parentheses(Self::table_item)?;
        if !matches!(item.kind, FromKind::Join { .. }) {
            return Err(self.unexpected());
        }
        if let Some(alias) = self.alias()? {
            item.alias = Some(alias);
        }
        item.span = start.to(self.last_span());
        Ok(item)
    }

    /// True at the call of a function.
    fn is_function(&self) -> bool {
        if self.is(Keyword::Rows)
            && self.is_ahead(1, Keyword::From)
            && self.token(2).kind == TokenKind::Open
        {
            return true;
        }
        let mut ahead = 0;
        while self.token(ahead + 1).kind == TokenKind::Dot {
            ahead += 2;
        }
        let is_call = self.token(ahead + 1).kind == TokenKind::Open;
        match self.token(ahead).kind {
            TokenKind::Name | TokenKind::QuotedName(_) => is_call,
            TokenKind::Keyword(keyword) => {
                let is_value = matches!(
                    keyword,
                    Keyword::CurrentDate
                        | Keyword::CurrentTime
                        | Keyword::CurrentTimestamp
                        | Keyword::Localtime
                        | Keyword::Localtimestamp
                        | Keyword::CurrentUser
                        | Keyword::CurrentRole
                        | Keyword::SessionUser
                        | Keyword::User
                        | Keyword::CurrentCatalog
                );
                let is_collation =
                    keyword == Keyword::Collation && self.is_ahead(ahead + 1, Keyword::For);
                is_value
                    || is_collation
                    || (is_call
                        && (keyword.is_function_name() || is_special_call(keyword) || ahead > 0))
            }
            _ => false,
        }
    }

    fn functions(&mut self, lateral: bool) -> Result<FromItem> {
        let start = self.span();
        let functions = if self.has_all(&[Keyword::Rows, Keyword::From]) {
            self.in_parentheses(|parser| parser.list(Self::table_function))?
        } else {
            vec![TableFunction { call: self.table_call()?, columns: Vec::new() }]
        };
        let ordinality = self.has_all(&[Keyword::With, Keyword::Ordinality]);
        let alias = self.function_alias()?;
        let sample = self.sample()?;
        let kind = FromKind::Functions { functions, ordinality, lateral, sample };
        Ok(FromItem { kind, alias, span: start.to(self.last_span()) })
    }

    fn table_function(&mut self) -> Result<TableFunction> {
        let call = self.table_call()?;
        let columns = if self.has(Keyword::As) {
            self.in_parentheses(|parser| parser.list(Self::plain_column))?
        } else {
            Vec::new()
        };
        Ok(TableFunction { call, columns })
    }

    /// Reads a call, without a cast or subscript after it.
    fn table_call(&mut self) -> Result<crate::ast::Expr> {
        let call = self.primary()?;
        match call.kind {
            ExprKind::Call(ref function)
                if function.over.is_some() || function.filter.is_some() =>
            {
                Err(self.error(
                    "syntax error: a function in FROM has neither FILTER nor OVER",
                    call.span,
                ))
            }
            ExprKind::Call(_) | ExprKind::ValueFunction { .. } | ExprKind::Cast { .. } => Ok(call),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads the alias of a function, whose columns may have types, or `AS (a int, b text)`, if the cursor is at one.
    fn function_alias(&mut self) -> Result<Option<Alias>> {
        if self.is(Keyword::As) && self.token(1).kind == TokenKind::Open {
            self.at += 1;
            let name = crate::ast::Name { text: String::new(), span: self.span() };
            return Ok(Some(Alias { name, columns: self.typed_columns()? }));
        }
        let Some(mut alias) = self.alias_name()? else { return Ok(None) };
        if self.kind() == TokenKind::Open {
            let has_types = !matches!(self.token(2).kind, TokenKind::Comma | TokenKind::Close);
            alias.columns = if has_types { self.typed_columns()? } else { self.named_columns()? };
        }
        Ok(Some(alias))
    }

    /// Reads `AS t (a, b)` or `t`, if the cursor is at it.
    pub(in crate::parser) fn alias(&mut self) -> Result<Option<Alias>> {
        let Some(mut alias) = self.alias_name()? else { return Ok(None) };
        if self.kind() == TokenKind::Open {
            alias.columns = self.named_columns()?;
        }
        Ok(Some(alias))
    }

    fn alias_name(&mut self) -> Result<Option<Alias>> {
        let has_as = self.has(Keyword::As);
        if !has_as && self.is_friendly_clause() {
            return Ok(None);
        }
        let name = if has_as { Some(self.name()?) } else { self.optional_name()? };
        Ok(name.map(|name| Alias { name, columns: Vec::new() }))
    }

    fn named_columns(&mut self) -> Result<Vec<ColumnAlias>> {
        let names = self.names_in_parentheses()?;
        Ok(names.into_iter().map(|name| ColumnAlias { name, data_type: None }).collect())
    }

    fn typed_columns(&mut self) -> Result<Vec<ColumnAlias>> {
        let columns = self.in_parentheses(|parser| parser.list(Self::plain_column))?;
        let alias = |column: crate::ast::ColumnDefinition| ColumnAlias {
            name: column.name,
            data_type: Some(column.data_type),
        };
        Ok(columns.into_iter().map(alias).collect())
    }

    /// Reads TABLESAMPLE, if the cursor is at it.
    fn sample(&mut self) -> Result<Option<Sample>> {
        if !self.has(Keyword::Tablesample) {
            return Ok(None);
        }
        let method = self.function_object_name()?;
        let arguments = self.exprs_in_parentheses()?;
        let repeatable = self.is_word("repeatable");
        self.at += usize::from(repeatable);
        let repeatable = repeatable.then(|| self.in_parentheses(Self::expr)).transpose()?;
        Ok(Some(Sample { method, arguments, repeatable }))
    }
}

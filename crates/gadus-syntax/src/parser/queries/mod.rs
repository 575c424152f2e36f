//! Queries: WITH, set operations, ORDER BY, LIMIT and locking.

mod friendly;
mod from;
mod merge;
mod modifications;
mod selects;
mod with;

use crate::ast::{
    LockStrength, LockWait, Locking, NullsOrder, OrderBy, Query, QueryBody, SetOperator,
    SortDirection, With,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;
use crate::span::Span;

impl Parser<'_> {
    /// True at `(`, however many of them, with a query after it: not with an expression that begins with a query.
    pub(in crate::parser) fn is_query_in_parentheses(&self) -> bool {
        let mut ahead = 0;
        while self.token(ahead).kind == TokenKind::Open {
            ahead += 1;
        }
        if ahead == 0 || !self.is_query_ahead(ahead) {
            return false;
        }
        // `((SELECT 1) + 1)` is an expression, `((SELECT 1) UNION SELECT 2)` and `((SELECT 1))` are queries.
        ahead == 1 || self.closes_into_query(ahead)
    }

    pub(in crate::parser) fn is_query_ahead(&self, ahead: usize) -> bool {
        let TokenKind::Keyword(keyword) = self.token(ahead).kind else { return false };
        match keyword {
            // A column may be named so.
            Keyword::Values => self.token(ahead + 1).kind == TokenKind::Open,
            Keyword::Select | Keyword::With | Keyword::Table | Keyword::From => true,
            _ => false,
        }
    }

    /// Looks from the innermost of so many open parentheses outward: whether what follows each of them but the outermost
    /// goes on with a query.
    fn closes_into_query(&self, opened: usize) -> bool {
        let (mut ahead, mut open) = (opened, opened);
        loop {
            match self.token(ahead).kind {
                TokenKind::Open => open += 1,
                TokenKind::Close => {
                    open -= 1;
                    if open == 0 {
                        return true;
                    }
                    let next = self.token(ahead + 1).kind;
                    if open < opened && next != TokenKind::Close {
                        return continues_query(next);
                    }
                }
                TokenKind::End => return true,
                _ => {}
            }
            ahead += 1;
        }
    }

    pub(in crate::parser) fn query_in_parentheses(&mut self) -> Result<Query> {
        self.nested(|parser| parser.in_parentheses(Self::query))
    }

    /// Reads a query.
    pub(in crate::parser) fn query(&mut self) -> Result<Query> {
        let start = self.span();
        let with = self.with()?;
        self.query_after_with(start, with)
    }

    /// Reads a query that began at `start` with such a WITH.
    pub(in crate::parser) fn query_after_with(
        &mut self,
        start: Span,
        with: Option<With>,
    ) -> Result<Query> {
        let mut query = self.set_operations(0)?;
        if with.is_some() && query.with.is_some() {
            return Err(self.error("multiple WITH clauses not allowed", start));
        }
        let goes_on = with.is_some() || self.keyword().is_some_and(ends_query);
        query.with = with.or(query.with);
        if goes_on {
            self.query_end(&mut query)?;
            query.span = start.to(self.last_span());
        }
        Ok(query)
    }

    /// Reads ORDER BY, LIMIT, OFFSET, FETCH and FOR UPDATE, which a query in parentheses may have had already.
    fn query_end(&mut self, query: &mut Query) -> Result<()> {
        if self.is(Keyword::Order) {
            let span = self.span();
            if !query.order_by.is_empty() || query.order_by_all.is_some() {
                return Err(self.error("multiple ORDER BY clauses not allowed", span));
            }
            self.query_order_by(query)?;
        }
        loop {
            let span = self.span();
            match self.keyword() {
                Some(Keyword::Limit | Keyword::Fetch) => {
                    if query.limit.is_some() {
                        return Err(self.error("multiple LIMIT clauses not allowed", span));
                    }
                    self.limit(query)?;
                }
                Some(Keyword::Offset) => {
                    if query.offset.is_some() {
                        return Err(self.error("multiple OFFSET clauses not allowed", span));
                    }
                    self.at += 1;
                    query.offset = Some(self.expr()?);
                    if !self.has(Keyword::Rows) {
                        self.has(Keyword::Row);
                    }
                }
                Some(Keyword::For) => self.locking(query)?,
                _ => break,
            }
        }
        self.check_ties(query)
    }

    /// Refuses WITH TIES without an order, and with rows that are skipped.
    fn check_ties(&self, query: &Query) -> Result<()> {
        if !query.with_ties {
            return Ok(());
        }
        if query.order_by.is_empty() && query.order_by_all.is_none() {
            let message = "WITH TIES cannot be specified without ORDER BY clause";
            return Err(self.error(message, self.last_span()));
        }
        if query.locking.iter().any(|locking| locking.wait == LockWait::SkipLocked) {
            let message = "SKIP LOCKED and WITH TIES options cannot be used together";
            return Err(self.error(message, self.last_span()));
        }
        Ok(())
    }

    fn query_order_by(&mut self, query: &mut Query) -> Result<()> {
        if self.is_ahead(1, Keyword::By) && self.is_ahead(2, Keyword::All) {
            self.at += 3;
            query.order_by_all = Some((self.direction(), self.nulls_order()?));
            return Ok(());
        }
        query.order_by = self.order_by()?;
        Ok(())
    }

    /// Reads `LIMIT 3`, `LIMIT ALL`, `FETCH FIRST 3 ROWS ONLY`.
    fn limit(&mut self, query: &mut Query) -> Result<()> {
        if self.has(Keyword::Limit) {
            if !self.has(Keyword::All) {
                query.limit = Some(self.expr()?);
            }
            if self.kind() == TokenKind::Comma {
                let message =
                    "LIMIT #,# syntax is not supported; use separate LIMIT and OFFSET clauses";
                return Err(self.error(message, self.span()));
            }
            return Ok(());
        }
        self.needs(Keyword::Fetch)?;
        if !self.has(Keyword::First) {
            self.needs(Keyword::Next)?;
        }
        let start = self.span();
        query.limit = Some(if matches!(self.keyword(), Some(Keyword::Row | Keyword::Rows)) {
            self.literal(start, crate::ast::Literal::Integer("1".to_owned()))
        } else {
            self.fetch_count()?
        });
        if !self.has(Keyword::Rows) {
            self.needs(Keyword::Row)?;
        }
        if !self.has(Keyword::Only) {
            self.needs_all(&[Keyword::With, Keyword::Ties])?;
            query.with_ties = true;
        }
        Ok(())
    }

    /// Reads a number with a sign, or an operand: no operator stands before ROWS without parentheses.
    fn fetch_count(&mut self) -> Result<crate::ast::Expr> {
        let start = self.span();
        match self.kind() {
            TokenKind::Operator(_) => {
                let number = self.signed_number()?;
                Ok(self.literal(start, crate::ast::Literal::Integer(number)))
            }
            _ => self.primary(),
        }
    }

    fn locking(&mut self, query: &mut Query) -> Result<()> {
        self.needs(Keyword::For)?;
        let strength = if self.has(Keyword::Update) {
            LockStrength::Update
        } else if self.has_all(&[Keyword::No, Keyword::Key, Keyword::Update]) {
            LockStrength::NoKeyUpdate
        } else if self.has(Keyword::Share) {
            LockStrength::Share
        } else if self.has_all(&[Keyword::Key, Keyword::Share]) {
            LockStrength::KeyShare
        } else if self.has_all(&[Keyword::Read, Keyword::Only]) {
            return Ok(());
        } else {
            return Err(self.unexpected());
        };
        let tables = if self.has(Keyword::Of) { self.list(Self::object_name)? } else { Vec::new() };
        let wait = if self.has(Keyword::Nowait) {
            LockWait::NoWait
        } else if self.has_all(&[Keyword::Skip, Keyword::Locked]) {
            LockWait::SkipLocked
        } else {
            LockWait::Block
        };
        query.locking.push(Locking { strength, tables, wait });
        Ok(())
    }

    /// Reads `ORDER BY …`, if the cursor is at it.
    pub(in crate::parser) fn order_by(&mut self) -> Result<Vec<OrderBy>> {
        if !self.has(Keyword::Order) {
            return Ok(Vec::new());
        }
        self.needs(Keyword::By)?;
        self.list(Self::sort_key)
    }

    fn sort_key(&mut self) -> Result<OrderBy> {
        let expr = self.expr()?;
        let using = self.has(Keyword::Using).then(|| self.operator()).transpose()?;
        let direction = if using.is_none() { self.direction() } else { SortDirection::Default };
        Ok(OrderBy { expr, direction, using, nulls: self.nulls_order()? })
    }

    pub(in crate::parser) fn direction(&mut self) -> SortDirection {
        if self.has(Keyword::Desc) {
            SortDirection::Descending
        } else if self.has(Keyword::Asc) {
            SortDirection::Ascending
        } else {
            SortDirection::Default
        }
    }

    pub(in crate::parser) fn nulls_order(&mut self) -> Result<NullsOrder> {
        if !self.is(Keyword::Nulls)
            || !(self.is_ahead(1, Keyword::First) || self.is_ahead(1, Keyword::Last))
        {
            return Ok(NullsOrder::Default);
        }
        self.at += 1;
        let is_first = self.is(Keyword::First);
        self.at += 1;
        Ok(if is_first { NullsOrder::First } else { NullsOrder::Last })
    }

    /// Reads operands of UNION and EXCEPT, or of INTERSECT, which binds more closely (1).
    fn set_operations(&mut self, level: u32) -> Result<Query> {
        let start = self.span();
        let mut left = if level == 0 { self.set_operations(1)? } else { self.query_operand()? };
        let depth = self.depth;
        loop {
            let operator = match (self.keyword(), level) {
                (Some(Keyword::Union), 0) => SetOperator::Union,
                (Some(Keyword::Except), 0) => SetOperator::Except,
                (Some(Keyword::Intersect), 1) => SetOperator::Intersect,
                _ => break,
            };
            self.at += 1;
            let all = self.has(Keyword::All);
            if !all {
                self.has(Keyword::Distinct);
            }
            let by_name = self.is(Keyword::By) && self.is_ahead(1, Keyword::Name);
            self.at += if by_name { 2 } else { 0 };
            self.enter(1)?;
            let right = if level == 0 { self.set_operations(1)? } else { self.query_operand()? };
            let (left_query, right) = (Box::new(left), Box::new(right));
            let body = QueryBody::SetOperation { operator, all, by_name, left: left_query, right };
            left = self.bare_query(start, body);
        }
        self.depth = depth;
        Ok(left)
    }

    /// Reads a SELECT, VALUES, TABLE or a query in parentheses.
    fn query_operand(&mut self) -> Result<Query> {
        let start = self.span();
        let body = match self.kind() {
            TokenKind::Open => return self.query_in_parentheses(),
            TokenKind::Keyword(Keyword::Select | Keyword::From) => {
                let select = self.nested(Self::select)?;
                QueryBody::Select(Box::new(select))
            }
            TokenKind::Keyword(Keyword::Values) => {
                self.at += 1;
                QueryBody::Values(self.list(Self::exprs_in_parentheses)?)
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.at += 1;
                self.has(Keyword::Only);
                let name = self.object_name()?;
                self.has_operator(crate::lexer::Operator::Star);
                QueryBody::Table(name)
            }
            _ => return Err(self.unexpected()),
        };
        Ok(self.bare_query(start, body))
    }

    pub(in crate::parser) fn bare_query(&self, start: Span, body: QueryBody) -> Query {
        Query {
            with: None,
            body,
            order_by: Vec::new(),
            order_by_all: None,
            limit: None,
            with_ties: false,
            offset: None,
            locking: Vec::new(),
            span: start.to(self.last_span()),
        }
    }
}

/// True for what goes on with a query after one in parentheses.
fn continues_query(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(keyword) => is_set_operator(keyword) || ends_query(keyword),
        _ => kind == TokenKind::End,
    }
}

/// True for the words of set operations.
pub(in crate::parser) fn is_set_operator(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Union | Keyword::Intersect | Keyword::Except)
}

/// True for the words of clauses that end a query: ORDER BY, LIMIT, OFFSET, FETCH, FOR UPDATE.
pub(in crate::parser) fn ends_query(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Order | Keyword::Limit | Keyword::Offset | Keyword::Fetch | Keyword::For
    )
}

//! Cursors: DECLARE, FETCH, MOVE and CLOSE.

use crate::ast::{CursorDeclaration, Fetch, FetchDirection, Statement};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn declare(&mut self) -> Result<Statement> {
        self.needs(Keyword::Declare)?;
        let name = self.name()?;
        let (mut binary, mut insensitive, mut scroll) = (false, None, None);
        while !self.is(Keyword::Cursor) {
            if self.has_all(&[Keyword::No, Keyword::Scroll]) {
                scroll = Some(false);
            } else if self.has(Keyword::Scroll) {
                scroll = Some(true);
            } else if self.has(Keyword::Binary) {
                binary = true;
            } else if self.has(Keyword::Insensitive) {
                insensitive = Some(true);
            } else if self.has(Keyword::Asensitive) {
                insensitive = Some(false);
            } else {
                return Err(self.unexpected());
            }
        }
        self.needs(Keyword::Cursor)?;
        let hold = self.has_all(&[Keyword::With, Keyword::Hold]);
        if !hold {
            self.has_all(&[Keyword::Without, Keyword::Hold]);
        }
        self.needs(Keyword::For)?;
        let query = self.query()?;
        let declaration = CursorDeclaration { name, binary, insensitive, scroll, hold, query };
        Ok(Statement::DeclareCursor(Box::new(declaration)))
    }

    pub(in crate::parser) fn fetch(&mut self) -> Result<Statement> {
        let is_move = self.is(Keyword::Move);
        self.at += 1;
        let direction = self.fetch_direction()?;
        if !self.has(Keyword::From) {
            self.has(Keyword::In);
        }
        let cursor = self.name()?;
        Ok(Statement::Fetch(Fetch { cursor, direction, is_move }))
    }

    fn fetch_direction(&mut self) -> Result<FetchDirection> {
        let one = FetchDirection::Forward(Some(1));
        // A cursor may have the name of a direction.
        let is_alone = matches!(self.token(1).kind, TokenKind::End | TokenKind::Semicolon);
        if is_alone {
            return Ok(one);
        }
        match self.kind() {
            TokenKind::Integer | TokenKind::Operator(Operator::Minus | Operator::Plus) => {
                return self.fetch_number().map(|count| FetchDirection::Forward(Some(count)));
            }
            _ => {}
        }
        let Some(keyword) = self.keyword() else { return Ok(one) };
        let direction = match keyword {
            Keyword::Next => one,
            Keyword::Prior => FetchDirection::Backward(Some(1)),
            Keyword::First => FetchDirection::Absolute(1),
            Keyword::Last => FetchDirection::Absolute(-1),
            Keyword::All => FetchDirection::Forward(None),
            Keyword::Absolute | Keyword::Relative | Keyword::Forward | Keyword::Backward => {
                self.at += 1;
                return self.counted_direction(keyword);
            }
            _ => return Ok(one),
        };
        self.at += 1;
        Ok(direction)
    }

    fn counted_direction(&mut self, keyword: Keyword) -> Result<FetchDirection> {
        let is_forward = keyword == Keyword::Forward;
        match keyword {
            Keyword::Absolute => return self.fetch_number().map(FetchDirection::Absolute),
            Keyword::Relative => return self.fetch_number().map(FetchDirection::Relative),
            _ => {}
        }
        let count = if self.has(Keyword::All) {
            None
        } else if matches!(self.kind(), TokenKind::Integer | TokenKind::Operator(_)) {
            Some(self.fetch_number()?)
        } else {
            Some(1)
        };
        Ok(if is_forward {
            FetchDirection::Forward(count)
        } else {
            FetchDirection::Backward(count)
        })
    }

    fn fetch_number(&mut self) -> Result<i64> {
        let start = self.span();
        let number = self.signed_number()?;
        number.parse().map_err(|_| {
            let message = format!("value \"{number}\" is out of range for type bigint");
            self.error(message, start)
        })
    }

    pub(in crate::parser) fn close(&mut self) -> Result<Statement> {
        self.needs(Keyword::Close)?;
        let name = if self.has(Keyword::All) { None } else { Some(self.name()?) };
        Ok(Statement::CloseCursor { name })
    }
}

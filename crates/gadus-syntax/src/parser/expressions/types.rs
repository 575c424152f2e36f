//! Names of types (Typename).

use crate::ast::{ArrayBound, Expr, ExprKind, IntervalFields, Literal, Name, ObjectName, TypeName};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;
use crate::span::Span;

impl Parser<'_> {
    pub(in crate::parser) fn type_name(&mut self) -> Result<TypeName> {
        let start = self.span();
        let is_set = self.has(Keyword::Setof);
        let mut data_type = self.simple_type()?;
        data_type.is_set = is_set;
        data_type.array_bounds = self.array_bounds()?;
        data_type.span = start.to(self.last_span());
        Ok(data_type)
    }

    fn array_bounds(&mut self) -> Result<Vec<ArrayBound>> {
        let mut bounds = Vec::new();
        if self.has(Keyword::Array) {
            let bound =
                self.takes(TokenKind::OpenBracket).then(|| self.array_bound()).transpose()?;
            return Ok(vec![bound.unwrap_or(ArrayBound(None))]);
        }
        while self.takes(TokenKind::OpenBracket) {
            bounds.push(self.array_bound()?);
        }
        Ok(bounds)
    }

    /// Reads the rest of `[3]` or `[]`.
    fn array_bound(&mut self) -> Result<ArrayBound> {
        let length =
            (self.kind() == TokenKind::Integer).then(|| self.small_integer()).transpose()?;
        self.expect(TokenKind::CloseBracket)?;
        Ok(ArrayBound(length))
    }

    /// Reads a type without SETOF and array bounds (SimpleTypename).
    pub(in crate::parser) fn simple_type(&mut self) -> Result<TypeName> {
        let start = self.span();
        if let Some(data_type) = self.grammar_type()? {
            return Ok(data_type);
        }
        let name = self.function_object_name()?;
        let is_column_type = self.kind() == TokenKind::Operator(crate::lexer::Operator::Percent)
            && self.is_ahead(1, Keyword::Type);
        if is_column_type {
            self.at += 2;
        }
        let modifiers = self.type_modifiers()?;
        Ok(TypeName { is_column_type, modifiers, ..plain(name, start.to(self.last_span())) })
    }

    pub(in crate::parser) fn type_modifiers(&mut self) -> Result<Vec<Expr>> {
        if self.kind() != TokenKind::Open {
            return Ok(Vec::new());
        }
        self.in_parentheses(|parser| parser.list(Self::expr))
    }

    /// Reads `(3)`, as types that have a length or a precision alone have it, if the cursor is at it.
    pub(in crate::parser) fn length_modifier(&mut self) -> Result<Vec<Expr>> {
        if self.kind() != TokenKind::Open {
            return Ok(Vec::new());
        }
        self.in_parentheses(|parser| {
            let start = parser.span();
            let length = parser.small_integer()?;
            Ok(vec![parser.literal(start, Literal::Integer(length.to_string()))])
        })
    }

    /// Reads a type with a name of the grammar's own, if the cursor is at one (Numeric, Bit, Character, ConstDatetime,
    /// ConstInterval).
    pub(in crate::parser) fn grammar_type(&mut self) -> Result<Option<TypeName>> {
        let start = self.span();
        let Some(keyword) = self.keyword() else { return Ok(None) };
        let name = match keyword {
            Keyword::Int | Keyword::Integer => "int4",
            Keyword::Smallint => "int2",
            Keyword::Bigint => "int8",
            Keyword::Real => "float4",
            Keyword::Boolean => "bool",
            Keyword::Dec | Keyword::Decimal | Keyword::Numeric => "numeric",
            Keyword::Float => return self.float_type(start).map(Some),
            Keyword::Double if self.is_ahead(1, Keyword::Precision) => {
                self.at += 1;
                "float8"
            }
            Keyword::Bit => return self.bit_type(start).map(Some),
            Keyword::Character
            | Keyword::Char
            | Keyword::Nchar
            | Keyword::National
            | Keyword::Varchar => {
                return self.character_type(start).map(Some);
            }
            Keyword::Time | Keyword::Timestamp => return self.time_type(start).map(Some),
            Keyword::Interval => return self.interval_type(start).map(Some),
            _ => return Ok(None),
        };
        self.at += 1;
        let modifiers = if name == "numeric" { self.type_modifiers()? } else { Vec::new() };
        Ok(Some(TypeName { modifiers, ..of_catalog(name, start.to(self.last_span())) }))
    }

    fn float_type(&mut self, start: Span) -> Result<TypeName> {
        self.at += 1;
        let name = match self.optional_precision()? {
            Some(0) => {
                let message = "precision for type float must be at least 1 bit";
                return Err(self.error(message, start));
            }
            Some(1..=24) => "float4",
            Some(25..=53) | None => "float8",
            Some(_) => {
                let message = "precision for type float must be less than 54 bits";
                return Err(self.error(message, start));
            }
        };
        Ok(of_catalog(name, start.to(self.last_span())))
    }

    fn bit_type(&mut self, start: Span) -> Result<TypeName> {
        self.at += 1;
        let is_varying = self.has(Keyword::Varying);
        let mut modifiers = self.type_modifiers()?;
        if modifiers.is_empty() && !is_varying {
            modifiers = vec![one(start)];
        }
        let name = if is_varying { "varbit" } else { "bit" };
        Ok(TypeName { modifiers, ..of_catalog(name, start.to(self.last_span())) })
    }

    fn character_type(&mut self, start: Span) -> Result<TypeName> {
        let mut is_varying = self.is(Keyword::Varchar);
        if self.has(Keyword::National) && !self.is(Keyword::Character) && !self.is(Keyword::Char) {
            return Err(self.unexpected());
        }
        self.at += 1;
        is_varying |= self.has(Keyword::Varying);
        let mut modifiers = self.length_modifier()?;
        // CHARACTER alone is of one character; a text of any length is VARCHAR.
        if modifiers.is_empty() && !is_varying {
            modifiers = vec![one(start)];
        }
        let name = if is_varying { "varchar" } else { "bpchar" };
        Ok(TypeName { modifiers, ..of_catalog(name, start.to(self.last_span())) })
    }

    fn time_type(&mut self, start: Span) -> Result<TypeName> {
        let is_time = self.has(Keyword::Time);
        self.at += usize::from(!is_time);
        let modifiers = self.length_modifier()?;
        let has_zone = self.has_all(&[Keyword::With, Keyword::Time, Keyword::Zone]);
        if !has_zone {
            self.has_all(&[Keyword::Without, Keyword::Time, Keyword::Zone]);
        }
        let name = match (is_time, has_zone) {
            (true, true) => "timetz",
            (true, false) => "time",
            (false, true) => "timestamptz",
            (false, false) => "timestamp",
        };
        Ok(TypeName { modifiers, ..of_catalog(name, start.to(self.last_span())) })
    }

    fn interval_type(&mut self, start: Span) -> Result<TypeName> {
        self.at += 1;
        let mut modifiers = self.length_modifier()?;
        let interval_fields = if modifiers.is_empty() { self.interval_fields()? } else { None };
        if interval_fields.is_some_and(IntervalFields::has_second) {
            modifiers = self.length_modifier()?;
        }
        let span = start.to(self.last_span());
        Ok(TypeName { modifiers, interval_fields, ..of_catalog("interval", span) })
    }

    /// Reads `YEAR TO MONTH` and the like, if the cursor is at it.
    pub(in crate::parser) fn interval_fields(&mut self) -> Result<Option<IntervalFields>> {
        use IntervalFields as Fields;
        let Some(first) = self.keyword() else { return Ok(None) };
        let alone = match first {
            Keyword::Year => Fields::Year,
            Keyword::Month => Fields::Month,
            Keyword::Day => Fields::Day,
            Keyword::Hour => Fields::Hour,
            Keyword::Minute => Fields::Minute,
            Keyword::Second => Fields::Second,
            _ => return Ok(None),
        };
        self.at += 1;
        if !self.has(Keyword::To) {
            return Ok(Some(alone));
        }
        let fields = match (first, self.keyword()) {
            (Keyword::Year, Some(Keyword::Month)) => Fields::YearToMonth,
            (Keyword::Day, Some(Keyword::Hour)) => Fields::DayToHour,
            (Keyword::Day, Some(Keyword::Minute)) => Fields::DayToMinute,
            (Keyword::Day, Some(Keyword::Second)) => Fields::DayToSecond,
            (Keyword::Hour, Some(Keyword::Minute)) => Fields::HourToMinute,
            (Keyword::Hour, Some(Keyword::Second)) => Fields::HourToSecond,
            (Keyword::Minute, Some(Keyword::Second)) => Fields::MinuteToSecond,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(Some(fields))
    }

    /// Reads `(3)`, if the cursor is at it.
    pub(in crate::parser) fn optional_precision(&mut self) -> Result<Option<u32>> {
        if self.kind() != TokenKind::Open {
            return Ok(None);
        }
        self.in_parentheses(Self::small_integer).map(Some)
    }
}

impl IntervalFields {
    pub(in crate::parser) fn has_second(self) -> bool {
        matches!(self, Self::Second | Self::DayToSecond | Self::HourToSecond | Self::MinuteToSecond)
    }
}

/// Returns a type of PostgreSQL's catalog.
pub(in crate::parser) fn of_catalog(name: &str, span: Span) -> TypeName {
    let part = |text: &str| Name { text: text.to_owned(), span };
    plain(ObjectName { parts: vec![part("pg_catalog"), part(name)] }, span)
}

pub(in crate::parser) fn plain(name: ObjectName, span: Span) -> TypeName {
    TypeName {
        name,
        is_set: false,
        is_column_type: false,
        modifiers: Vec::new(),
        interval_fields: None,
        array_bounds: Vec::new(),
        span,
    }
}

fn one(span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(Literal::Integer("1".to_owned())), span }
}

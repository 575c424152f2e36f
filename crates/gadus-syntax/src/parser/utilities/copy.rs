//! COPY, with options in parentheses and PostgreSQL's older ones without.

use crate::ast::{Copy, CopyDirection, CopySource, OptionValue, Statement, UtilityOption};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn copy(&mut self) -> Result<Statement> {
        self.needs(Keyword::Copy)?;
        let mut options = Vec::new();
        if self.has(Keyword::Binary) {
            options.push(word_option("format", "binary"));
        }
        let source = if self.kind() == TokenKind::Open {
            let statement = self.in_parentheses(Self::preparable)?;
            CopySource::Query(Box::new(statement))
        } else {
            CopySource::Table { name: self.object_name()?, columns: self.optional_names()? }
        };
        if matches!(source, CopySource::Query(_)) && !self.is(Keyword::To) {
            return Err(self.unexpected());
        }
        let direction = self.copy_direction()?;
        self.has(Keyword::Using);
        if self.has(Keyword::Delimiters) {
            options.push(text_option("delimiter", self.text()?));
        }
        self.has(Keyword::With);
        if self.kind() == TokenKind::Open {
            options.extend(self.utility_options()?);
        } else {
            self.older_copy_options(&mut options)?;
        }
        let filter = self.has(Keyword::Where).then(|| self.expr()).transpose()?;
        Ok(Statement::Copy(Box::new(Copy { source, direction, options, filter })))
    }

    fn copy_direction(&mut self) -> Result<CopyDirection> {
        let is_from = self.has(Keyword::From);
        if !is_from {
            self.needs(Keyword::To)?;
        }
        if self.has(Keyword::Stdin) || self.has(Keyword::Stdout) {
            return Ok(if is_from { CopyDirection::FromStdin } else { CopyDirection::ToStdout });
        }
        let is_program = self.has(Keyword::Program);
        let name = self.text()?;
        Ok(match (is_from, is_program) {
            (true, false) => CopyDirection::FromFile(name),
            (true, true) => CopyDirection::FromProgram(name),
            (false, false) => CopyDirection::ToFile(name),
            (false, true) => CopyDirection::ToProgram(name),
        })
    }

    /// Reads `DELIMITER ';' CSV HEADER` and the like, as options in parentheses have them.
    fn older_copy_options(&mut self, options: &mut Vec<UtilityOption>) -> Result<()> {
        loop {
            let option = match self.keyword() {
                Some(Keyword::Binary) => word_option("format", "binary"),
                Some(Keyword::Csv) => word_option("format", "csv"),
                Some(Keyword::Header) => word_option("header", "true"),
                Some(Keyword::Freeze) => word_option("freeze", "true"),
                Some(Keyword::Delimiter) => self.older_text_option("delimiter")?,
                Some(Keyword::Null) => self.older_text_option("null")?,
                Some(Keyword::Quote) => self.older_text_option("quote")?,
                Some(Keyword::Escape) => self.older_text_option("escape")?,
                Some(Keyword::Encoding) => self.older_text_option("encoding")?,
                Some(Keyword::Force) => self.force_option()?,
                _ => return Ok(()),
            };
            // The last token of an option.
            self.at += 1;
            options.push(option);
        }
    }

    /// Reads up to the text of an option, which is left at the cursor.
    fn older_text_option(&mut self, name: &str) -> Result<UtilityOption> {
        self.at += 1;
        self.has(Keyword::As);
        let text = self.text()?;
        self.at -= 1;
        Ok(text_option(name, text))
    }

    fn force_option(&mut self) -> Result<UtilityOption> {
        self.at += 1;
        let name = if self.has(Keyword::Quote) {
            "force_quote"
        } else if self.has_all(&[Keyword::Not, Keyword::Null]) {
            "force_not_null"
        } else {
            self.needs(Keyword::Null)?;
            "force_null"
        };
        let value = if self.has_operator(Operator::Star) {
            OptionValue::Star
        } else {
            let names = self.list(Self::name)?;
            OptionValue::List(names.into_iter().map(|name| OptionValue::Word(name.text)).collect())
        };
        self.at -= 1;
        Ok(UtilityOption { name: name.to_owned(), value: Some(value) })
    }
}

fn word_option(name: &str, value: &str) -> UtilityOption {
    UtilityOption { name: name.to_owned(), value: Some(OptionValue::Word(value.to_owned())) }
}

fn text_option(name: &str, value: String) -> UtilityOption {
    UtilityOption { name: name.to_owned(), value: Some(OptionValue::Text(value)) }
}

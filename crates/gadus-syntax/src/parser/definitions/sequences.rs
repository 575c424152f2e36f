//! CREATE SEQUENCE, ALTER SEQUENCE and the options of identity columns.

use crate::ast::{AlterSequence, CreateSequence, Persistence, SequenceOption, Statement};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads what follows CREATE … SEQUENCE.
    pub(in crate::parser) fn create_sequence(
        &mut self,
        persistence: Persistence,
    ) -> Result<Statement> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let options = self.sequence_options()?;
        Ok(Statement::CreateSequence(CreateSequence { name, persistence, if_not_exists, options }))
    }

    pub(in crate::parser) fn alter_sequence(
        &mut self,
        name: crate::ast::ObjectName,
        if_exists: bool,
    ) -> Result<Statement> {
        let options = self.sequence_options()?;
        if options.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Statement::AlterSequence(AlterSequence { name, if_exists, options }))
    }

    pub(in crate::parser) fn sequence_options(&mut self) -> Result<Vec<SequenceOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        Ok(options)
    }

    pub(in crate::parser) fn sequence_option(&mut self) -> Result<Option<SequenceOption>> {
        let Some(keyword) = self.keyword() else { return Ok(None) };
        let before = self.at;
        self.at += 1;
        let option = match keyword {
            Keyword::As => SequenceOption::As(self.simple_type()?),
            Keyword::Increment => {
                self.has(Keyword::By);
                SequenceOption::Increment(self.signed_number()?)
            }
            Keyword::Minvalue => SequenceOption::MinValue(Some(self.signed_number()?)),
            Keyword::Maxvalue => SequenceOption::MaxValue(Some(self.signed_number()?)),
            Keyword::Start => {
                self.has(Keyword::With);
                SequenceOption::Start(self.signed_number()?)
            }
            Keyword::Restart => {
                self.has(Keyword::With);
                let is_signed = matches!(self.kind(), TokenKind::Operator(_));
                let has_number = self.is_number(usize::from(is_signed));
                let number = has_number.then(|| self.signed_number()).transpose()?;
                SequenceOption::Restart(number)
            }
            Keyword::Cache => SequenceOption::Cache(self.signed_number()?),
            Keyword::Cycle => SequenceOption::Cycle(true),
            Keyword::No if self.has(Keyword::Cycle) => SequenceOption::Cycle(false),
            Keyword::No if self.has(Keyword::Minvalue) => SequenceOption::MinValue(None),
            Keyword::No if self.has(Keyword::Maxvalue) => SequenceOption::MaxValue(None),
            Keyword::Owned if self.is(Keyword::By) => {
                self.at += 1;
                let owner = if self.has(Keyword::None) { None } else { Some(self.object_name()?) };
                SequenceOption::OwnedBy(owner)
            }
            Keyword::Sequence if self.is(Keyword::Name) => {
                self.at += 1;
                SequenceOption::SequenceName(self.object_name()?)
            }
            _ => {
                self.at = before;
                return Ok(None);
            }
        };
        Ok(Some(option))
    }
}

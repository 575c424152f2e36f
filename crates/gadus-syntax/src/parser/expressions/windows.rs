//! Windows: OVER, WINDOW and frames.

use crate::ast::{
    Frame, FrameBound, FrameExclusion, FrameUnits, Name, Window, WindowSpecification,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads what follows OVER.
    pub(in crate::parser) fn over(&mut self) -> Result<WindowSpecification> {
        if self.kind() == TokenKind::Open {
            return Ok(WindowSpecification::Window(Box::new(self.window()?)));
        }
        self.name().map(WindowSpecification::Name)
    }

    /// Reads the windows of a SELECT.
    pub(in crate::parser) fn named_windows(&mut self) -> Result<Vec<(Name, Window)>> {
        if !self.has(Keyword::Window) {
            return Ok(Vec::new());
        }
        self.list(|parser| {
            let name = parser.name()?;
            parser.needs(Keyword::As)?;
            Ok((name, parser.window()?))
        })
    }

    fn window(&mut self) -> Result<Window> {
        let start = self.span();
        let (base, partition_by, order_by, frame) = self.in_parentheses(|parser| {
            let is_clause = matches!(
                parser.keyword(),
                Some(Keyword::Partition | Keyword::Range | Keyword::Rows | Keyword::Groups)
            );
            let base = if is_clause { None } else { parser.optional_name()? };
            let has_partitions = parser.has_all(&[Keyword::Partition, Keyword::By]);
            let partition_by = if has_partitions { parser.exprs()? } else { Vec::new() };
            Ok((base, partition_by, parser.order_by()?, parser.frame()?))
        })?;
        Ok(Window { base, partition_by, order_by, frame, span: start.to(self.last_span()) })
    }

    fn frame(&mut self) -> Result<Option<Frame>> {
        let units = match self.keyword() {
            Some(Keyword::Rows) => FrameUnits::Rows,
            Some(Keyword::Range) => FrameUnits::Range,
            Some(Keyword::Groups) => FrameUnits::Groups,
            _ => return Ok(None),
        };
        self.at += 1;
        let (start, end) = if self.has(Keyword::Between) {
            let start = self.frame_bound()?;
            self.needs(Keyword::And)?;
            (start, Some(self.frame_bound()?))
        } else {
            (self.frame_bound()?, None)
        };
        self.check_frame(&start, end.as_ref())?;
        Ok(Some(Frame { units, start, end, exclusion: self.frame_exclusion()? }))
    }

    fn check_frame(&self, start: &FrameBound, end: Option<&FrameBound>) -> Result<()> {
        use FrameBound::{
            CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding,
        };
        let message = match (start, end) {
            (UnboundedFollowing, _) => "frame start cannot be UNBOUNDED FOLLOWING",
            (_, Some(UnboundedPreceding)) => "frame end cannot be UNBOUNDED PRECEDING",
            (Following(_), None) => "frame starting from following row cannot end with current row",
            (CurrentRow, Some(Preceding(_))) => {
                "frame starting from current row cannot have preceding rows"
            }
            (Following(_), Some(Preceding(_) | CurrentRow)) => {
                "frame starting from following row cannot have preceding rows"
            }
            _ => return Ok(()),
        };
        let kind = crate::error::SyntaxErrorKind::Windowing;
        Err(crate::error::SyntaxError::new(kind, message, self.last_span()))
    }

    fn frame_bound(&mut self) -> Result<FrameBound> {
        if self.has_all(&[Keyword::Unbounded, Keyword::Preceding]) {
            return Ok(FrameBound::UnboundedPreceding);
        }
        if self.has_all(&[Keyword::Unbounded, Keyword::Following]) {
            return Ok(FrameBound::UnboundedFollowing);
        }
        if self.has_all(&[Keyword::Current, Keyword::Row]) {
            return Ok(FrameBound::CurrentRow);
        }
        let distance = Box::new(self.expr()?);
        if self.has(Keyword::Preceding) {
            return Ok(FrameBound::Preceding(distance));
        }
        self.needs(Keyword::Following)?;
        Ok(FrameBound::Following(distance))
    }

    fn frame_exclusion(&mut self) -> Result<FrameExclusion> {
        if !self.has(Keyword::Exclude) {
            return Ok(FrameExclusion::NoOthers);
        }
        if self.has_all(&[Keyword::Current, Keyword::Row]) {
            return Ok(FrameExclusion::CurrentRow);
        }
        let exclusion = match self.keyword() {
            Some(Keyword::Group) => FrameExclusion::Group,
            Some(Keyword::Ties) => FrameExclusion::Ties,
            Some(Keyword::No) if self.is_ahead(1, Keyword::Others) => {
                self.at += 1;
                FrameExclusion::NoOthers
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(exclusion)
    }
}

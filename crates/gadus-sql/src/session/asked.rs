//! A statement, and what it is recognised by.

use super::Prepared;
use super::frames::Frames;
use crate::shape::{Shape, shape_of};
use crate::statements::Counted;
use crate::value::Value;
use std::sync::Arc;

/// A statement as the caller gives it.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Text(&'a str),
    Prepared(&'a Prepared),
}

/// A statement that is run, and what it is recognised by.
pub(super) struct Asked<'a> {
    pub(super) source: Source<'a>,
    pub(super) parameters: &'a [Value],
    /// Its shape, where it has no parameters and is not its own shape.
    lifted: Option<Shape>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(source: Source<'a>, parameters: &'a [Value]) -> Self {
        let lifted = if parameters.is_empty() { shape_of(source.text()) } else { None };
        Self { source, parameters, lifted }
    }

    /// What may be compiled, and the values that it runs with.
    pub(super) fn shape(&self) -> Option<(&str, &[Value])> {
        match &self.lifted {
            Some(shape) => Some((&shape.text, &shape.literals)),
            None if self.parameters.is_empty() => None,
            None => Some((self.source.text(), self.parameters)),
        }
    }

    pub(super) fn counted(&self) -> Counted<'_> {
        Counted { text: self.source.text(), shape: self.lifted.as_ref() }
    }
}

impl<'a> Source<'a> {
    pub(super) fn text(self) -> &'a str {
        match self {
            Self::Text(text) => text,
            Self::Prepared(prepared) => &prepared.text,
        }
    }

    /// Arrow data of its own.
    pub(super) fn frames(&self) -> Option<&Arc<Frames>> {
        match self {
            Self::Text(_) => None,
            Self::Prepared(prepared) => prepared.frames.as_ref(),
        }
    }

    pub(super) fn shared_text(&self) -> Arc<str> {
        match self {
            Self::Text(text) => Arc::from(*text),
            Self::Prepared(prepared) => prepared.text.clone(),
        }
    }
}

//! Options of regular expressions: the letters of a `flags` argument and of `(?…)`.

use super::syntax_error::{SyntaxError, SyntaxResult};
use crate::error::{FunctionError, INVALID_PARAMETER, Result};

/// Grammar of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Flavor {
    /// PostgreSQL's own, with escapes and non-greedy quantifiers.
    Advanced,
    Basic,
    /// POSIX extended.
    Extended,
    /// Text that stands for itself.
    Literal,
}

/// How a pattern is read and matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Options {
    pub(super) flavor: Flavor,
    pub(super) ignores_case: bool,
    /// `.` and negated brackets do not match a newline.
    pub(super) stops_at_newline: bool,
    /// `^` and `$` match at newlines, too.
    pub(super) anchors_at_newline: bool,
    /// Blanks and comments within the pattern mean nothing.
    pub(super) is_expanded: bool,
    /// All matches count, not the first one alone.
    pub(super) is_global: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            flavor: Flavor::Advanced,
            ignores_case: false,
            stops_at_newline: false,
            anchors_at_newline: false,
            is_expanded: false,
            is_global: false,
        }
    }
}

impl Options {
    /// Reads a `flags` argument.
    pub(super) fn of_flags(flags: &str) -> Result<Self> {
        let mut options = Self::default();
        for letter in flags.chars() {
            if letter == 'g' {
                options.is_global = true;
            } else if letter == 'e' {
                // PostgreSQL takes away the extended grammar along with the advanced one.
                options.flavor = Flavor::Basic;
            } else if !options.set(letter) {
                let message = format!("invalid regular expression option: \"{letter}\"");
                return Err(FunctionError::new(INVALID_PARAMETER, message));
            }
        }
        Ok(options)
    }

    /// Reads a `flags` argument of a function that finds one match, or all in any case.
    pub(super) fn without_global(flags: &str, function: &str) -> Result<Self> {
        let options = Self::of_flags(flags)?;
        if options.is_global {
            let message = format!("{function}() does not support the \"global\" option");
            return Err(FunctionError::new(INVALID_PARAMETER, message));
        }
        Ok(options)
    }

    /// Reads the letters of `(?letters)` at the start of a pattern.
    pub(super) fn embed(&mut self, letters: &str) -> SyntaxResult<()> {
        match letters.chars().all(|letter| self.set(letter)) {
            true => Ok(()),
            false => Err(SyntaxError::Option),
        }
    }

    fn set(&mut self, letter: char) -> bool {
        match letter {
            'b' => self.flavor = Flavor::Basic,
            'c' => self.ignores_case = false,
            'e' => self.flavor = Flavor::Extended,
            'i' => self.ignores_case = true,
            'm' | 'n' => (self.stops_at_newline, self.anchors_at_newline) = (true, true),
            'p' => (self.stops_at_newline, self.anchors_at_newline) = (true, false),
            'q' => self.flavor = Flavor::Literal,
            's' => (self.stops_at_newline, self.anchors_at_newline) = (false, false),
            't' => self.is_expanded = false,
            'w' => (self.stops_at_newline, self.anchors_at_newline) = (false, true),
            'x' => self.is_expanded = true,
            _ => return false,
        }
        true
    }
}

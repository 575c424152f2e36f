//! Character classes by name, for texts in Unicode.

use super::syntax_error::{SyntaxError, SyntaxResult};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

/// Named class of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

impl Class {
    pub(super) fn named(name: &str) -> SyntaxResult<Self> {
        Ok(match name {
            "alnum" => Self::Alnum,
            "alpha" => Self::Alpha,
            "ascii" => Self::Ascii,
            "blank" => Self::Blank,
            "cntrl" => Self::Cntrl,
            "digit" => Self::Digit,
            "graph" => Self::Graph,
            "lower" => Self::Lower,
            "print" => Self::Print,
            "punct" => Self::Punct,
            "space" => Self::Space,
            "upper" => Self::Upper,
            "word" => Self::Word,
            "xdigit" => Self::Xdigit,
            _ => return Err(SyntaxError::Class),
        })
    }

    /// Returns the characters of the class.
    pub(super) fn set(self, ignores_case: bool) -> ClassUnicode {
        let parsed = match self {
            Self::Lower | Self::Upper if ignores_case => r"\p{Alphabetic}",
            Self::Alnum => r"[\p{Alphabetic}\p{Nd}]",
            Self::Alpha => r"\p{Alphabetic}",
            Self::Ascii => r"[\x00-\x7F]",
            Self::Blank => r"[\t ]",
            Self::Cntrl => r"[\x00-\x1F\x7F-\x{9F}]",
            Self::Digit => r"[0-9]",
            Self::Graph => r"[^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}]",
            Self::Lower => r"\p{Lowercase}",
            Self::Print => r"[^\p{Cc}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]",
            Self::Punct => r"[^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}\p{Alphabetic}\p{Nd}]",
            Self::Space => r"[\p{White_Space}--[\x{85}\x{A0}\x{2007}\x{202F}]]",
            Self::Upper => r"\p{Uppercase}",
            Self::Word => r"[\p{Alphabetic}\p{Nd}_]",
            Self::Xdigit => r"[0-9A-Fa-f]",
        };
        let parsed = regex_syntax::Parser::new().parse(parsed).map(|hir| hir.into_kind());
        match parsed {
            Ok(HirKind::Class(regex_syntax::hir::Class::Unicode(set))) => set,
            _ => ClassUnicode::empty(),
        }
    }
}

/// Returns the set of one character, and of its other case.
pub(super) fn of_character(character: char, ignores_case: bool) -> ClassUnicode {
    let mut set = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    fold(&mut set, ignores_case);
    set
}

/// Returns all characters, perhaps without the newline.
pub(super) fn any(stops_at_newline: bool) -> ClassUnicode {
    let mut set = ClassUnicode::empty();
    if stops_at_newline {
        set.push(ClassUnicodeRange::new('\n', '\n'));
    }
    set.negate();
    set
}

/// Adds the other case of each character.
pub(super) fn fold(set: &mut ClassUnicode, ignores_case: bool) {
    if ignores_case {
        // The tables of cases are compiled in.
        let _ = set.try_case_fold_simple();
    }
}

//! Bracket expressions: `[a-z[:digit:]]`.

use super::classes::{Class, fold, of_character};
use super::element_names::element;
use super::escapes::{Escaped, escape};
use super::syntax::Reader;
use super::syntax_error::{SyntaxError, SyntaxResult};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// Member of a bracket expression.
enum Member {
    Character(char),
    Set(ClassUnicode),
    /// A hyphen between two others.
    Hyphen,
}

/// Reads a bracket expression behind its opening bracket.
pub(super) fn set(reader: &mut Reader<'_>) -> SyntaxResult<ClassUnicode> {
    let is_negated = reader.eat("^");
    let ignores_case = reader.options.ignores_case;
    let mut set = ClassUnicode::empty();
    let mut is_first = true;
    while let Some(member) = member(reader, is_first)? {
        is_first = false;
        match member {
            Member::Hyphen => return Err(SyntaxError::Range),
            Member::Set(other) => set.union(&other),
            Member::Character(first) => {
                let before = reader.rest;
                let is_range = matches!(self::member(reader, false), Ok(Some(Member::Hyphen)));
                if !is_range {
                    reader.rest = before;
                    set.union(&of_character(first, ignores_case));
                    continue;
                }
                let last = match self::member(reader, false)? {
                    Some(Member::Character(last)) => last,
                    Some(Member::Hyphen) => '-',
                    _ => return Err(SyntaxError::Range),
                };
                if first > last {
                    // An error of what comes next goes first.
                    self::member(reader, false)?;
                    return Err(SyntaxError::Range);
                }
                let mut range = ClassUnicode::new([ClassUnicodeRange::new(first, last)]);
                fold(&mut range, ignores_case);
                set.union(&range);
            }
        }
    }
    if is_negated {
        if reader.options.stops_at_newline {
            set.push(ClassUnicodeRange::new('\n', '\n'));
        }
        set.negate();
    }
    Ok(set)
}

/// Reads a member; `None` at the closing bracket.
fn member(reader: &mut Reader<'_>, is_first: bool) -> SyntaxResult<Option<Member>> {
    let first = reader.next().ok_or(SyntaxError::Brackets)?;
    Ok(Some(match first {
        ']' if !is_first => return Ok(None),
        '-' if !is_first && !reader.rest.starts_with(']') => Member::Hyphen,
        '\\' if reader.is_advanced() => match escape(reader) {
            Ok(Escaped::Character(character)) => Member::Character(character),
            Ok(Escaped::Set(set)) => Member::Set(set),
            _ => return Err(SyntaxError::Escape),
        },
        '[' => match reader.peek() {
            None => return Err(SyntaxError::Brackets),
            Some('.') => {
                let name = name(reader, ".]")?;
                Member::Character(element(name).ok_or(SyntaxError::Element)?)
            }
            Some('=') => {
                let name = name(reader, "=]")?;
                let character = element(name).ok_or(SyntaxError::Element)?;
                Member::Set(of_character(character, reader.options.ignores_case))
            }
            Some(':') => {
                let name = name(reader, ":]")?;
                Member::Set(Class::named(name)?.set(reader.options.ignores_case))
            }
            Some(_) => Member::Character('['),
        },
        other => Member::Character(other),
    }))
}

/// Reads a name between `[.`, `[=` or `[:` and the end of it.
fn name<'a>(reader: &mut Reader<'a>, end: &str) -> SyntaxResult<&'a str> {
    reader.next();
    let (name, behind) = reader.rest.split_once(end).ok_or(SyntaxError::Brackets)?;
    reader.rest = behind;
    Ok(name)
}

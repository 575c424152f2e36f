//! `format`: values within a text, as they are, as names or as literals.

use crate::error::{FunctionError, INVALID_PARAMETER, NULL_NOT_ALLOWED, OUT_OF_RANGE, Result};
use crate::identifiers::{quote_ident, quote_nullable};
use crate::numbers::integer_of_text;

/// Specifier between `%` and its type.
#[derive(Debug, Default)]
struct Specifier {
    position: Option<usize>,
    is_left: bool,
    width: Width,
}

/// Width of a value within the result, in characters.
#[derive(Debug, Default)]
enum Width {
    #[default]
    None,
    Fixed(i32),
    /// The next argument, or the one at a position.
    Argument(Option<usize>),
}

/// Text that is yet to be read, with a specifier not yet at its end.
struct Reader<'a> {
    rest: &'a str,
}

/// Formats values, which are texts or NULL, by a format with `%s`, `%I`, `%L` and `%%`.
///
/// # Errors
/// 22023 of a format that is none or wants more values, 22004 of a NULL as a name, 22003 of numbers beyond 32 bits, 54000
/// if the result has more than `bytes_max` bytes.
pub fn format(format: &str, values: &[Option<&str>], bytes_max: usize) -> Result<String> {
    let mut written = String::with_capacity(format.len());
    let mut next = 0;
    let mut reader = Reader { rest: format };
    while let Some((before, behind)) = reader.rest.split_once('%') {
        written.push_str(before);
        reader.rest = behind;
        if reader.peek()? == '%' {
            written.push('%');
            reader.advance();
            continue;
        }
        let specifier = reader.specifier()?;
        let kind = reader.peek()?;
        if !matches!(kind, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{kind}\"");
            return Err(FunctionError::new(INVALID_PARAMETER, message).hint(HINT));
        }
        let mut value = |position: Option<usize>| {
            let index = position.map_or(next, |position| position - 1);
            next = index + 1;
            let few = || FunctionError::new(INVALID_PARAMETER, "too few arguments for format()");
            values.get(index).copied().ok_or_else(few)
        };
        let width = match specifier.width {
            Width::None => 0,
            Width::Fixed(width) => width,
            Width::Argument(position) => value(position)?.map_or(Ok(0), integer_of_text)?,
        };
        let shown = converted(kind, value(specifier.position)?)?;
        append(&mut written, &shown, width, specifier.is_left, bytes_max)?;
        reader.advance();
    }
    written.push_str(reader.rest);
    Ok(written)
}

const HINT: &str = "For a single \"%\" use \"%%\".";

fn converted(kind: char, value: Option<&str>) -> Result<String> {
    Ok(match (kind, value) {
        ('I', Some(value)) => quote_ident(value),
        ('I', None) => {
            let message = "null values cannot be formatted as an SQL identifier";
            return Err(FunctionError::new(NULL_NOT_ALLOWED, message));
        }
        ('L', value) => quote_nullable(value),
        (_, value) => value.unwrap_or_default().to_owned(),
    })
}

fn append(
    written: &mut String,
    shown: &str,
    width: i32,
    is_left: bool,
    bytes_max: usize,
) -> Result<()> {
    if width == i32::MIN {
        return Err(out_of_range());
    }
    let is_left = is_left || width < 0;
    let characters = if width == 0 { 0 } else { shown.chars().count() };
    let missing = (width.unsigned_abs() as usize).saturating_sub(characters);
    if written.len() + shown.len() + missing > bytes_max {
        return Err(FunctionError::too_large());
    }
    let spaces = |written: &mut String| written.extend(std::iter::repeat_n(' ', missing));
    if !is_left {
        spaces(written);
    }
    written.push_str(shown);
    if is_left {
        spaces(written);
    }
    Ok(())
}

impl Reader<'_> {
    /// Returns the next character, which a specifier must have.
    fn peek(&self) -> Result<char> {
        self.rest.chars().next().ok_or_else(|| {
            let message = "unterminated format() type specifier";
            FunctionError::new(INVALID_PARAMETER, message).hint(HINT)
        })
    }

    fn advance(&mut self) {
        let length = self.rest.chars().next().map_or(0, char::len_utf8);
        self.rest = &self.rest[length..];
    }

    fn specifier(&mut self) -> Result<Specifier> {
        let mut specifier = Specifier::default();
        if let Some(number) = self.number()? {
            if self.peek()? != '$' {
                specifier.width = Width::Fixed(number);
                return Ok(specifier);
            }
            specifier.position = Some(position(number)?);
            self.advance();
        }
        while self.peek()? == '-' {
            specifier.is_left = true;
            self.advance();
        }
        if self.peek()? != '*' {
            specifier.width = self.number()?.map_or(Width::None, Width::Fixed);
            return Ok(specifier);
        }
        self.advance();
        specifier.width = match self.number()? {
            None => Width::Argument(None),
            Some(number) => {
                if self.peek()? != '$' {
                    let message = "width argument position must be ended by \"$\"";
                    return Err(FunctionError::new(INVALID_PARAMETER, message));
                }
                self.advance();
                Width::Argument(Some(position(number)?))
            }
        };
        self.peek()?;
        Ok(specifier)
    }

    /// Reads digits, behind which a specifier continues.
    fn number(&mut self) -> Result<Option<i32>> {
        let mut number = None;
        while let Some(digit) = self.peek()?.to_digit(10) {
            let digit = i32::try_from(digit).unwrap_or(0);
            let sum = number.unwrap_or(0_i32).checked_mul(10);
            let sum = sum.and_then(|sum| sum.checked_add(digit));
            number = Some(sum.ok_or_else(out_of_range)?);
            self.advance();
        }
        Ok(number)
    }
}

fn position(number: i32) -> Result<usize> {
    usize::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| {
        let message = "format specifies argument 0, but arguments are numbered from 1";
        FunctionError::new(INVALID_PARAMETER, message)
    })
}

fn out_of_range() -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, "number is out of range")
}

//! Where records end, in bytes that come piece by piece.
//!
//! - Of CSV: a quote opens at the beginning of a value alone, as whoever takes records apart has it; within quotes no
//!   line ends a record.
//! - Of JSON: an object ends where it is closed, and what stands between objects where its line ends.

use memchr::{memchr, memchr2, memchr3};

/// Follows the bytes of a file.
#[derive(Debug, Clone)]
pub(super) enum Ends {
    Csv { delimiter: u8, place: Place, before: u8 },
    Json { depth: u32, is_text: bool, is_escaped: bool },
}

/// Where in a record of CSV one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Begin,
    Plain,
    Quoted,
    /// Behind a quote within quotes: the end of these, or the first of two that mean one.
    QuoteSeen,
}

impl Ends {
    pub(super) fn of_csv(delimiter: u8) -> Self {
        Self::Csv { delimiter, place: Place::Begin, before: b'\n' }
    }

    pub(super) fn of_json() -> Self {
        Self::Json { depth: 0, is_text: false, is_escaped: false }
    }

    /// Goes over more bytes; `each` is told the places behind the records that end in them.
    pub(super) fn pass(&mut self, bytes: &[u8], mut each: impl FnMut(usize)) {
        match self {
            Self::Csv { delimiter, place, before } => {
                pass_csv(bytes, *delimiter, place, *before, &mut each);
                if let Some(&last) = bytes.last() {
                    *before = last;
                }
            }
            Self::Json { depth, is_text, is_escaped } => {
                pass_json(bytes, depth, is_text, is_escaped, &mut each);
            }
        }
    }

    /// Whether what has come may be all: no quote is open, and no bracket.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Csv { place, .. } => *place != Place::Quoted,
            // Who reads the text tells better what is missing.
            Self::Json { .. } => true,
        }
    }
}

fn pass_csv(
    bytes: &[u8],
    delimiter: u8,
    place: &mut Place,
    before: u8,
    each: &mut impl FnMut(usize),
) {
    let mut at = 0;
    while at < bytes.len() {
        match *place {
            Place::Begin if bytes[at] == b'"' => {
                *place = Place::Quoted;
                at += 1;
            }
            Place::Begin => *place = Place::Plain,
            Place::Plain => {
                let Some(found) = memchr3(b'\n', b'\r', b'"', &bytes[at..]) else { return };
                at += found + 1;
                if bytes[at - 1] != b'"' {
                    *place = Place::Begin;
                    each(at);
                    continue;
                }
                let previous = if at >= 2 { bytes[at - 2] } else { before };
                if previous == delimiter {
                    *place = Place::Quoted;
                }
            }
            Place::Quoted => {
                let Some(found) = memchr(b'"', &bytes[at..]) else { return };
                at += found + 1;
                *place = Place::QuoteSeen;
            }
            Place::QuoteSeen if bytes[at] == b'"' => {
                *place = Place::Quoted;
                at += 1;
            }
            Place::QuoteSeen => *place = Place::Plain,
        }
    }
}

fn pass_json(
    bytes: &[u8],
    depth: &mut u32,
    is_text: &mut bool,
    is_escaped: &mut bool,
    each: &mut impl FnMut(usize),
) {
    let mut at = 0;
    while at < bytes.len() {
        if *is_escaped {
            *is_escaped = false;
            at += 1;
            continue;
        }
        if *is_text {
            let Some(found) = memchr2(b'"', b'\\', &bytes[at..]) else { return };
            at += found + 1;
            (*is_text, *is_escaped) = match bytes[at - 1] {
                b'"' => (false, false),
                _ => (true, true),
            };
            continue;
        }
        at += 1;
        match bytes[at - 1] {
            b'"' => *is_text = true,
            b'{' | b'[' => *depth = depth.saturating_add(1),
            b'}' | b']' => {
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    each(at);
                }
            }
            b'\n' if *depth == 0 => each(at),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;

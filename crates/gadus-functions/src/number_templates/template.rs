//! Templates of numbers as items, with what they say together.

use crate::error::{FunctionError, Result, SYNTAX};

/// Template word that stands for a part of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Comma,
    Point,
    Zero,
    Nine,
    Blank,
    /// `C`, which means nothing.
    Currency,
    LocalePoint,
    Exponent,
    FillMode,
    Group,
    LocaleCurrency,
    Minus,
    Plus,
    Brackets,
    Roman {
        is_lower: bool,
    },
    EitherSign,
    Spell,
    Sign,
    Ordinal {
        is_lower: bool,
    },
    Shift,
}

/// Item of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Key(Key),
    Character(char),
}

/// Place of the sign that `S` writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SignPlace {
    #[default]
    None,
    Before,
    After,
}

/// Template that was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Template {
    pub(super) items: Vec<Item>,
    /// Digits before the point, after it, and after `V`.
    pub(super) pre: usize,
    pub(super) post: usize,
    pub(super) multi: usize,
    pub(super) sign_place: SignPlace,
    /// Digits before `S`.
    pub(super) pre_sign: usize,
    /// Number of the first `0` before the point, from 1, and of the last one.
    pub(super) zero_start: usize,
    pub(super) zero_end: usize,
    pub(super) has_zero: bool,
    pub(super) has_point: bool,
    pub(super) has_sign: bool,
    pub(super) has_minus: bool,
    pub(super) has_plus: bool,
    pub(super) has_brackets: bool,
    pub(super) is_fill_mode: bool,
    pub(super) is_blank: bool,
    pub(super) is_roman: bool,
    pub(super) is_shifted: bool,
    pub(super) is_exponent: bool,
}

const KEYS: &[(&str, Key)] = &[
    (",", Key::Comma),
    (".", Key::Point),
    ("0", Key::Zero),
    ("9", Key::Nine),
    ("B", Key::Blank),
    ("C", Key::Currency),
    ("D", Key::LocalePoint),
    ("EEEE", Key::Exponent),
    ("FM", Key::FillMode),
    ("G", Key::Group),
    ("L", Key::LocaleCurrency),
    ("MI", Key::Minus),
    ("PL", Key::Plus),
    ("PR", Key::Brackets),
    ("RN", Key::Roman { is_lower: false }),
    ("SG", Key::EitherSign),
    ("SP", Key::Spell),
    ("S", Key::Sign),
    ("TH", Key::Ordinal { is_lower: false }),
    ("V", Key::Shift),
    ("b", Key::Blank),
    ("c", Key::Currency),
    ("d", Key::LocalePoint),
    ("eeee", Key::Exponent),
    ("fm", Key::FillMode),
    ("g", Key::Group),
    ("l", Key::LocaleCurrency),
    ("mi", Key::Minus),
    ("pl", Key::Plus),
    ("pr", Key::Brackets),
    ("rn", Key::Roman { is_lower: true }),
    ("sg", Key::EitherSign),
    ("sp", Key::Spell),
    ("s", Key::Sign),
    ("th", Key::Ordinal { is_lower: true }),
    ("v", Key::Shift),
];

impl Template {
    /// Reads a template.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut template = Self::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let key = KEYS.iter().find_map(|(name, key)| Some((key, rest.strip_prefix(name)?)));
            if let Some((key, behind)) = key {
                template.add(*key)?;
                template.items.push(Item::Key(*key));
                rest = behind;
            } else if first == '"' {
                rest = template.quoted(&rest[1..]);
            } else {
                // A backslash quotes nothing but a quote here.
                rest = rest.strip_prefix('\\').filter(|rest| rest.starts_with('"')).unwrap_or(rest);
                if let Some(character) = rest.chars().next() {
                    template.items.push(Item::Character(character));
                    rest = &rest[character.len_utf8()..];
                }
            }
        }
        Ok(template)
    }

    /// Reads characters up to a quote, and returns what is behind it.
    fn quoted<'a>(&mut self, text: &'a str) -> &'a str {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            let character = match character {
                '"' => break,
                '\\' => characters.next().unwrap_or('\\'),
                other => other,
            };
            self.items.push(Item::Character(character));
        }
        characters.as_str()
    }

    fn add(&mut self, key: Key) -> Result<()> {
        if self.is_exponent && key != Key::Exponent {
            return Err(refused("\"EEEE\" must be the last pattern used"));
        }
        match key {
            Key::Nine if self.has_brackets => return Err(refused("\"9\" must be ahead of \"PR\"")),
            Key::Zero if self.has_brackets => return Err(refused("\"0\" must be ahead of \"PR\"")),
            Key::Nine if self.is_shifted => self.multi += 1,
            Key::Nine if self.has_point => self.post += 1,
            Key::Nine => self.pre += 1,
            Key::Zero => self.zero(),
            Key::Blank => self.is_blank |= self.pre == 0 && self.post == 0 && !self.has_zero,
            Key::LocalePoint | Key::Point if self.has_point => {
                return Err(refused("multiple decimal points"));
            }
            Key::LocalePoint | Key::Point if self.is_shifted => return Err(shifted_point()),
            Key::LocalePoint | Key::Point => self.has_point = true,
            Key::FillMode => self.is_fill_mode = true,
            Key::Sign => self.sign()?,
            Key::Minus | Key::Plus | Key::EitherSign => self.other_sign(key)?,
            Key::Brackets if self.has_sign || self.has_plus || self.has_minus => {
                return Err(refused("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
            }
            Key::Brackets => self.has_brackets = true,
            Key::Roman { .. } => self.is_roman = true,
            Key::Shift if self.has_point => return Err(shifted_point()),
            Key::Shift => self.is_shifted = true,
            Key::Exponent => self.exponent()?,
            Key::Comma
            | Key::Currency
            | Key::Group
            | Key::LocaleCurrency
            | Key::Spell
            | Key::Ordinal { .. } => {}
        }
        Ok(())
    }

    fn zero(&mut self) {
        if !self.has_zero && !self.has_point {
            self.has_zero = true;
            self.zero_start = self.pre + 1;
        }
        match self.has_point {
            true => self.post += 1,
            false => self.pre += 1,
        }
        self.zero_end = self.pre + self.post;
    }

    fn sign(&mut self) -> Result<()> {
        if self.has_sign {
            return Err(refused("cannot use \"S\" twice"));
        }
        if self.has_plus || self.has_minus || self.has_brackets {
            return Err(refused("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
        }
        if !self.has_point {
            (self.sign_place, self.pre_sign) = (SignPlace::Before, self.pre);
        } else if self.sign_place == SignPlace::None {
            self.sign_place = SignPlace::After;
        }
        self.has_sign = true;
        Ok(())
    }

    fn other_sign(&mut self, key: Key) -> Result<()> {
        let name = match key {
            Key::Minus => "MI",
            Key::Plus => "PL",
            _ => "SG",
        };
        if self.has_sign {
            return Err(refused(&format!("cannot use \"S\" and \"{name}\" together")));
        }
        self.has_minus |= key != Key::Plus;
        self.has_plus |= key != Key::Minus;
        Ok(())
    }

    fn exponent(&mut self) -> Result<()> {
        if self.is_exponent {
            return Err(refused("cannot use \"EEEE\" twice"));
        }
        let has_sign = self.has_sign || self.has_minus || self.has_plus || self.has_brackets;
        if self.is_blank || self.is_fill_mode || has_sign || self.is_roman || self.is_shifted {
            let detail =
                "\"EEEE\" may only be used together with digit and decimal point patterns.";
            return Err(refused("\"EEEE\" is incompatible with other formats").detail(detail));
        }
        self.is_exponent = true;
        Ok(())
    }
}

/// Returns the digits behind the point that a template reads; 0 of a text that is no template.
#[must_use]
pub fn fraction_digits(template: &str) -> usize {
    Template::parse(template).map_or(0, |template| template.post + template.multi)
}

fn shifted_point() -> FunctionError {
    refused("cannot use \"V\" and decimal point together")
}

fn refused(message: &str) -> FunctionError {
    FunctionError::new(SYNTAX, message)
}

//! Grammar of regular expressions: text to tree.
//!
//! - It is PostgreSQL's: advanced regular expressions, or POSIX extended ones.

use super::brackets;
use super::classes::{any, of_character};
use super::escapes::{Escaped, escape};
use super::options::{Flavor, Options};
use super::syntax_error::{SyntaxError, SyntaxResult};
use regex_syntax::hir::{ClassUnicode, Look};

/// Deepest nesting of parentheses: trees are walked by recursion.
const DEPTH_MAX: usize = 200;

/// Largest number within braces.
const BOUND_MAX: u32 = 255;

/// Which of several possible matches is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    Longest,
    Shortest,
}

/// Least and most matches of an atom, and which number is preferred.
type Bound = (u32, Option<u32>, Option<Preference>);

/// Regular expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// One character of a set.
    Set(ClassUnicode),
    Look(Look),
    /// Alternatives, each a sequence.
    Group(Vec<Vec<Node>>),
    Capture(usize, Vec<Vec<Node>>),
    Repeat(Repeat),
}

/// Expression that is to match several times.
#[derive(Debug, Clone)]
pub(super) struct Repeat {
    pub(super) node: Box<Node>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    /// `None` of an exact number.
    pub(super) prefers: Option<Preference>,
}

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) alternatives: Vec<Vec<Node>>,
    /// Number of capturing parentheses.
    pub(super) captures: usize,
}

/// Text of a pattern from a position on.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) rest: &'a str,
    pub(super) options: Options,
    pub(super) captures: usize,
    depth: usize,
}

/// Reads a pattern.
pub(super) fn parse(pattern: &str, options: Options) -> SyntaxResult<Parsed> {
    let mut reader = Reader { rest: pattern, options, captures: 0, depth: 0 };
    reader.prefixes()?;
    let options = reader.options;
    match options.flavor {
        Flavor::Basic => return Err(SyntaxError::Basic),
        Flavor::Literal => {
            let set = |character| Node::Set(of_character(character, options.ignores_case));
            return Ok(Parsed {
                alternatives: vec![reader.rest.chars().map(set).collect()],
                captures: 0,
            });
        }
        Flavor::Advanced | Flavor::Extended => {}
    }
    let alternatives = reader.alternatives(false)?;
    Ok(Parsed { alternatives, captures: reader.captures })
}

impl<'a> Reader<'a> {
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    pub(super) fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn is_advanced(&self) -> bool {
        self.options.flavor == Flavor::Advanced
    }

    /// Reads `***=`, `***:` and `(?options)` at the start.
    fn prefixes(&mut self) -> SyntaxResult<()> {
        let options = &mut self.options;
        if options.flavor == Flavor::Literal {
            return Ok(());
        }
        if self.rest.len() > 3
            && let Some(behind) = self.rest.strip_prefix("***")
        {
            match behind.chars().next() {
                Some('?') => return Err(SyntaxError::Version),
                Some('=') => {
                    self.rest = &behind[1..];
                    options.flavor = Flavor::Literal;
                    (options.is_expanded, options.stops_at_newline) = (false, false);
                    return Ok(());
                }
                Some(':') => {
                    self.rest = &behind[1..];
                    options.flavor = Flavor::Advanced;
                }
                _ => return Err(SyntaxError::Operand),
            }
        }
        if options.flavor != Flavor::Advanced {
            return Ok(());
        }
        if let Some(behind) = self.rest.strip_prefix("(?")
            && behind.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
            let (letters, behind) = behind.split_at(end);
            options.embed(letters)?;
            self.rest = behind.strip_prefix(')').ok_or(SyntaxError::Option)?;
        }
        Ok(())
    }

    /// Skips comments, and blanks if they mean nothing.
    fn skip(&mut self) {
        loop {
            if self.options.is_expanded {
                self.skip_blanks();
            }
            if !self.is_advanced() || !self.eat("(?#") {
                return;
            }
            self.rest = self.rest.split_once(')').map_or("", |(_, behind)| behind);
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            self.rest =
                self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
            if !self.rest.starts_with('#') {
                return;
            }
            self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
        }
    }

    /// Reads alternatives, up to the end or a closing parenthesis.
    fn alternatives(&mut self, is_nested: bool) -> SyntaxResult<Vec<Vec<Node>>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SyntaxError::TooComplex);
        }
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.branch(is_nested)?);
            if !self.eat("|") {
                break;
            }
        }
        if is_nested && !self.eat(")") {
            return Err(SyntaxError::Parentheses);
        }
        self.depth -= 1;
        Ok(alternatives)
    }

    fn branch(&mut self, is_nested: bool) -> SyntaxResult<Vec<Node>> {
        let mut nodes = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None | Some('|') => return Ok(nodes),
                Some(')') if is_nested => return Ok(nodes),
                _ => {}
            }
            let node = self.atom()?;
            if matches!(node, Node::Look(_)) {
                nodes.push(node);
                continue;
            }
            self.skip();
            match self.quantifier()? {
                None => nodes.push(node),
                Some((0, Some(0), _)) => {}
                Some((min, max, prefers)) => {
                    nodes.push(Node::Repeat(Repeat { node: Box::new(node), min, max, prefers }));
                }
            }
        }
    }

    fn atom(&mut self) -> SyntaxResult<Node> {
        let options = self.options;
        let look = |plain, at_newline| {
            Node::Look(if options.anchors_at_newline { at_newline } else { plain })
        };
        let Some(first) = self.next() else { return Err(SyntaxError::Operand) };
        Ok(match first {
            '*' | '+' | '?' => return Err(SyntaxError::Operand),
            '{' if self.is_bound() => return Err(SyntaxError::Operand),
            '^' => look(Look::Start, Look::StartLF),
            '$' => look(Look::End, Look::EndLF),
            '.' => Node::Set(any(options.stops_at_newline)),
            ')' if self.is_advanced() => return Err(SyntaxError::Parentheses),
            '(' => self.parenthesis()?,
            '[' => {
                if self.eat("[:<:]]") {
                    Node::Look(Look::WordStartUnicode)
                } else if self.eat("[:>:]]") {
                    Node::Look(Look::WordEndUnicode)
                } else {
                    Node::Set(brackets::set(self)?)
                }
            }
            '\\' if !self.is_advanced() => {
                let escaped = self.next().ok_or(SyntaxError::Escape)?;
                Node::Set(of_character(escaped, options.ignores_case))
            }
            '\\' => match escape(self)? {
                Escaped::Character(character) => {
                    Node::Set(of_character(character, options.ignores_case))
                }
                Escaped::Set(set) => Node::Set(set),
                Escaped::Look(look) => Node::Look(look),
            },
            plain => Node::Set(of_character(plain, options.ignores_case)),
        })
    }

    fn parenthesis(&mut self) -> SyntaxResult<Node> {
        if !self.is_advanced() || !self.eat("?") {
            self.captures += 1;
            let number = self.captures;
            return Ok(Node::Capture(number, self.alternatives(true)?));
        }
        match self.next() {
            Some(':') => Ok(Node::Group(self.alternatives(true)?)),
            Some('=' | '!') => Err(SyntaxError::Lookaround),
            Some('<') if self.rest.starts_with(['=', '!']) => Err(SyntaxError::Lookaround),
            _ => Err(SyntaxError::Operand),
        }
    }

    /// True if a brace begins a bound: a digit comes next.
    fn is_bound(&mut self) -> bool {
        if self.options.is_expanded {
            self.skip_blanks();
        }
        self.rest.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Reads how often an atom is to match.
    fn quantifier(&mut self) -> SyntaxResult<Option<Bound>> {
        let (min, max) = if self.eat("*") {
            (0, None)
        } else if self.eat("+") {
            (1, None)
        } else if self.eat("?") {
            (0, Some(1))
        } else if self.rest.starts_with('{') {
            let before = self.rest;
            self.next();
            if self.is_bound() {
                return self.bound().map(Some);
            }
            self.rest = before;
            return Ok(None);
        } else {
            return Ok(None);
        };
        Ok(Some((min, max, Some(self.preference()))))
    }

    fn preference(&mut self) -> Preference {
        match self.is_advanced() && self.eat("?") {
            true => Preference::Shortest,
            false => Preference::Longest,
        }
    }

    fn bound(&mut self) -> SyntaxResult<Bound> {
        let min = self.number()?;
        let (max, is_exact) = if self.eat(",") {
            self.skip_in_bound();
            let has_max = self.rest.starts_with(|c: char| c.is_ascii_digit());
            (if has_max { Some(self.number()?) } else { None }, false)
        } else {
            (Some(min), true)
        };
        match self.next() {
            None => return Err(SyntaxError::Braces),
            Some('}') if max.is_none_or(|max| min <= max) => {}
            _ => return Err(SyntaxError::Bound),
        }
        let preference = self.preference();
        Ok((min, max, (!is_exact).then_some(preference)))
    }

    fn number(&mut self) -> SyntaxResult<u32> {
        let mut number = 0;
        while let Some(digit) = self.peek().and_then(|digit| digit.to_digit(10)) {
            if number >= BOUND_MAX {
                return Err(SyntaxError::Bound);
            }
            number = number * 10 + digit;
            self.next();
            self.skip_in_bound();
        }
        if number > BOUND_MAX { Err(SyntaxError::Bound) } else { Ok(number) }
    }

    fn skip_in_bound(&mut self) {
        if self.options.is_expanded {
            self.skip_blanks();
        }
    }
}

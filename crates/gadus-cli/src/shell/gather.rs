//! Lines become statements and commands.
//!
//! - A statement ends at its semicolon, over as many lines as it takes; a command is a line that
//!   begins with a point, where no statement is open.
//! - Each piece knows the line on which it begins.

use gadus::split_statements;

/// Lines that wait for the end of their statement.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    waiting: String,
    /// The line on which `waiting` begins, from 0.
    first_line: usize,
    lines: usize,
}

/// Something to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// The line on which it begins, from 1.
    pub(super) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Statement,
    Command,
}

impl Gatherer {
    /// Takes a line; returns what is now whole.
    pub(super) fn line(&mut self, line: &str) -> Vec<Piece> {
        let number = self.lines;
        self.lines += 1;
        if self.is_empty() {
            self.waiting.clear();
            self.first_line = number;
            let command = line.trim();
            if command.starts_with('.') {
                let text = command.to_owned();
                return vec![Piece { kind: Kind::Command, text, line: number + 1 }];
            }
        }
        self.waiting.push_str(line);
        self.waiting.push('\n');
        // Looking for the ends of statements again and again would take long in a long statement.
        if line.contains(';') { self.take_statements() } else { Vec::new() }
    }

    /// What is left when there are no more lines: its semicolon may be missing.
    pub(super) fn finish(&mut self) -> Option<Piece> {
        let text = std::mem::take(&mut self.waiting);
        let script = split_statements(&text);
        let line = self.line_at(&text, script.starts.last().copied().unwrap_or(0));
        let rest = script.rest;
        (!rest.is_empty()).then_some(Piece { kind: Kind::Statement, text: rest, line })
    }

    /// True if no statement and no comment is open.
    pub(super) fn is_empty(&self) -> bool {
        split_statements(&self.waiting).rest.is_empty()
    }

    /// Forgets an open statement.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    fn take_statements(&mut self) -> Vec<Piece> {
        let text = std::mem::take(&mut self.waiting);
        let script = split_statements(&text);
        let mut pieces = Vec::new();
        for (statement, start) in script.statements.into_iter().zip(&script.starts) {
            let line = self.line_at(&text, *start);
            pieces.push(Piece { kind: Kind::Statement, text: statement, line });
        }
        let rest = script.starts.last().copied().unwrap_or(text.len());
        self.first_line += text[..rest].matches('\n').count();
        self.waiting = text[rest..].to_owned();
        pieces
    }

    /// Returns the number of the line on which the statement at `start` begins, after its comments.
    fn line_at(&self, text: &str, start: usize) -> usize {
        let mut at = start;
        loop {
            let rest = &text[at..];
            let skipped = if rest.starts_with("--") {
                rest.find('\n').map(|end| end + 1)
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2)
            } else {
                Some(rest.len() - rest.trim_start().len()).filter(|&spaces| spaces > 0)
            };
            match skipped {
                Some(bytes) => at += bytes,
                None => return self.first_line + text[..at].matches('\n').count() + 1,
            }
        }
    }
}

#[cfg(test)]
mod tests;

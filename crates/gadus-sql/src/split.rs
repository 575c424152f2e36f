//! Splitting a script into the texts of its statements.

use gadus_syntax::split_script;

/// Statements of a script and what follows its last semicolon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Texts of whole statements, with comments around them, without their semicolons and without empty ones.
    pub statements: Vec<String>,
    /// Text after the last semicolon, trimmed; a shell waits for the rest of it.
    pub rest: String,
    /// Offset of each statement in the script, in bytes, and then of what is left.
    pub starts: Vec<usize>,
}

/// Splits a script: see [`split_script`].
#[must_use]
pub fn split_statements(text: &str) -> Script {
    if u32::try_from(text.len()).is_err() {
        // Beyond the lexer's offsets: the parser refuses it as one statement.
        return Script {
            statements: vec![text.to_owned()],
            rest: String::new(),
            starts: vec![0, text.len()],
        };
    }
    let script = split_script(text);
    let starts = script.statements.iter().chain([&script.rest]).map(|span| span.start as usize);
    Script {
        starts: starts.collect(),
        statements: script.statements.iter().map(|span| span.of(text).to_owned()).collect(),
        rest: script.rest.of(text).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests;

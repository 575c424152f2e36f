//! A report with its verdict, for people: as text, Markdown, or one page of HTML; and as lines of JSON.
//!
//! - All forms say the same: they are made of the same blocks.

mod blocks;
mod comparison;
mod figures;
mod html;
mod markdown;
mod plots;
mod style;
mod text;

use crate::report::Report;
use crate::verdict::judge;

/// How a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For a terminal.
    Text,
    /// An object for each line; it is read back by [`Report::from_json_lines`].
    JsonLines,
    /// For a page or an issue.
    Markdown,
    /// One page that needs nothing else.
    Html,
}

/// A report and what follows from it.
#[must_use]
pub fn render(report: &Report, form: Form) -> String {
    let verdict = judge(report);
    match form {
        Form::JsonLines => {
            let lines = report.to_json_lines().into_iter().chain(verdict.to_json_lines());
            lines.map(|line| format!("{line}\n")).collect()
        }
        Form::Text => text::render(&blocks::blocks(report, &verdict)),
        Form::Markdown => markdown::render(&blocks::blocks(report, &verdict)),
        Form::Html => html::render(&blocks::blocks(report, &verdict), report),
    }
}

#[cfg(test)]
mod tests;

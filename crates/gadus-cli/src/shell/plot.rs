//! `.plot [line|bar|scatter|histogram] [--svg FILE] QUERY`: a result as a chart.

use std::io::Write;
use std::path::PathBuf;

use gadus::Outcome;

use super::Shell;
use crate::failure::Failure;
use crate::plot::{Data, Kind, Page, drawn, write_svg};
use crate::progress::Watch;
use crate::terminal;

/// A page where no terminal says how large it is.
const WIDTH: usize = 80;
const HEIGHT: usize = 20;

/// Rows of a terminal that stay for the prompt and what was asked.
const ROWS_BESIDE: usize = 4;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Request<'a> {
    kind: Option<Kind>,
    svg: Option<PathBuf>,
    query: &'a str,
}

impl Shell {
    /// Draws what a query gives; the text is what stands behind `.plot`.
    pub(super) fn plot(&mut self, text: &str) -> Result<(), Failure> {
        let request = request(text)?;
        let watch = Watch::start(self.connection.cancel_handle());
        let outcome = self.connection.run(request.query.trim_end_matches(';'), &[])?;
        let Outcome::Rows(rows) = outcome else {
            return Err(Failure::message(".plot draws the rows of a query"));
        };
        let data = Data::read(rows, request.kind)?;
        drop(watch);
        if let Some(path) = &request.svg {
            write_svg(&data, path)?;
            for told in data.thinned.iter() {
                self.tell(told)?;
            }
            return self.tell(&format!("{} is written", path.display()));
        }
        let page = self.page();
        for line in drawn(&data, page) {
            writeln!(self.output, "{line}")?;
        }
        Ok(self.output.flush()?)
    }

    fn page(&self) -> Page {
        let terminal = !self.redirected && terminal::is_interactive();
        let size = console::Term::stdout().size_checked().filter(|_| terminal);
        let (width, height) = match size {
            Some((rows, columns)) if columns > 0 => {
                (usize::from(columns), usize::from(rows).saturating_sub(ROWS_BESIDE).max(8))
            }
            _ => (WIDTH, HEIGHT),
        };
        let has_colors = terminal && console::colors_enabled();
        Page { width, height: height.min(width), is_unicode: is_unicode(), has_colors }
    }
}

/// Whether the locale has more than ASCII, by the first of the variables that says something.
fn is_unicode() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let said = said.map(|value| value.to_string_lossy().to_ascii_lowercase());
    let mut said = said.filter(|value| !value.is_empty());
    said.next().is_some_and(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}

/// The words before a query, which are taken off it; a query begins with none of them.
fn request(text: &str) -> Result<Request<'_>, Failure> {
    let mut request = Request { kind: None, svg: None, query: text.trim() };
    loop {
        let (word, rest) = first_word(request.query);
        if let Some(kind) = Kind::named(word).filter(|_| request.kind.is_none()) {
            (request.kind, request.query) = (Some(kind), rest);
        } else if word == "--svg" {
            let (file, rest) = first_word(rest);
            if file.is_empty() {
                return Err(Failure::message("--svg takes the name of a file"));
            }
            (request.svg, request.query) = (Some(PathBuf::from(file)), rest);
        } else if word.starts_with("--") && word.len() > 2 {
            return Err(Failure::message(format!("there is no option {word}; --svg FILE is")));
        } else if word.is_empty() {
            let message = "use: .plot [line|bar|scatter|histogram] [--svg FILE] QUERY";
            return Err(Failure::message(message));
        } else {
            return Ok(request);
        }
    }
}

/// A word, or what stands in quotes, and what is behind it.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    for quote in ['\'', '"'] {
        if let Some((word, rest)) = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
        {
            return (word, rest.trim_start());
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_query_are_taken_off_it() {
        let of =
            |kind, svg: Option<&str>, query| Request { kind, svg: svg.map(PathBuf::from), query };
        for (text, expected) in [
            (" SELECT 1", of(None, None, "SELECT 1")),
            (" bar SELECT a, b FROM t;", of(Some(Kind::Bar), None, "SELECT a, b FROM t;")),
            (" --svg x.svg line FROM t", of(Some(Kind::Line), Some("x.svg"), "FROM t")),
            (
                " scatter --svg 'a b.svg' VALUES (1)",
                of(Some(Kind::Scatter), Some("a b.svg"), "VALUES (1)"),
            ),
        ] {
            assert_eq!(request(text).unwrap(), expected, "{text}");
        }
        for wrong in ["", " bar", " --svg", " --png x SELECT 1"] {
            assert!(request(wrong).is_err(), "{wrong}");
        }
    }
}

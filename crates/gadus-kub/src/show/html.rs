//! Blocks as one page of HTML: nothing is loaded, nothing runs.

use super::blocks::{Block, Table};
use super::{plots, style};
use crate::report::Report;
use gadus_base::escaped;

pub(super) fn render(blocks: &[Block], report: &Report) -> String {
    let mut body = String::new();
    let mut is_first_section = true;
    for block in blocks {
        match block {
            Block::Heading(level, title) => {
                // Curves before the first benchmark: they say most in the least room.
                if *level == 2 && is_first_section && title != "Verdict" {
                    body.push_str(&plots::curves(report));
                    is_first_section = false;
                }
                body.push_str(&format!("<h{level}>{}</h{level}>\n", escaped(title)));
            }
            Block::Paragraph(text) => body.push_str(&format!("<p>{}</p>\n", escaped(text))),
            Block::List(lines) if lines.is_empty() => {}
            Block::List(lines) => {
                let lines = lines.iter().map(|line| format!("<li>{}</li>", escaped(line)));
                body.push_str(&format!("<ul>{}</ul>\n", lines.collect::<String>()));
            }
            Block::Table(table) if table.rows.is_empty() => body.push_str("<p>none</p>\n"),
            Block::Table(table) => body.push_str(&of_table(table)),
            Block::Bars(cell) => body.push_str(&plots::bars(cell)),
        }
    }
    let title = "What a database should leave to this kernel";
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         </body>\n</html>\n",
        style::SHEET
    )
}

/// On narrow screens each row becomes a block, and each cell says what it is.
fn of_table(table: &Table) -> String {
    let headings = table.headings.iter().map(|heading| format!("<th>{}</th>", escaped(heading)));
    let headings = headings.collect::<String>();
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().zip(&table.headings).map(|(cell, heading)| {
            let grade = grade_class(cell);
            format!("<td data-name=\"{}\"{grade}>{}</td>", escaped(heading), escaped(cell))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    });
    let rows = rows.collect::<String>();
    format!("<table>\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn grade_class(cell: &str) -> &'static str {
    match cell.trim_end_matches(", not certain") {
        "poor" => " class=\"poor\"",
        "good" => " class=\"good\"",
        "very good" => " class=\"very-good\"",
        "excellent" => " class=\"excellent\"",
        _ => "",
    }
}

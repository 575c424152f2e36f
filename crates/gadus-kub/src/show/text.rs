//! Blocks as text for a terminal.

use super::blocks::{Block, Table};

/// Cells that are longer go on below one another.
const CELL_CHARACTERS_MAX: usize = 60;

pub(super) fn render(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, title) => {
                let line = if *level == 1 { "═" } else { "─" };
                text.push_str(&format!("\n{title}\n"));
                if *level < 3 {
                    text.push_str(&line.repeat(title.chars().count()));
                    text.push('\n');
                }
            }
            Block::Paragraph(paragraph) => text.push_str(&format!("{paragraph}\n")),
            Block::List(lines) => {
                lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
            }
            Block::Table(table) if table.rows.is_empty() => text.push_str("none\n"),
            Block::Table(table) => text.push_str(&lines(table)),
            // The table behind it says the same.
            Block::Bars(_) => {}
        }
    }
    text.trim_start().to_owned()
}

fn lines(table: &Table) -> String {
    let broken = |cells: &[String]| cells.iter().map(|cell| parts(cell)).collect::<Vec<_>>();
    let mut rows = vec![broken(&table.headings)];
    rows.extend(table.rows.iter().map(|row| broken(row)));
    let width = |column: usize| {
        let of_row = |row: &Vec<Vec<String>>| {
            row.get(column)
                .map_or(0, |cell| cell.iter().map(|p| p.chars().count()).max().unwrap_or(0))
        };
        rows.iter().map(of_row).max().unwrap_or(0)
    };
    let widths = (0..table.headings.len()).map(width).collect::<Vec<_>>();
    let mut text = String::new();
    for row in &rows {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let cells = row.iter().zip(&widths).map(|(cell, width)| {
                let part = cell.get(line).map_or("", String::as_str);
                format!("{part:<width$}")
            });
            let joined = cells.collect::<Vec<_>>().join("  ");
            text.push_str(&format!("  {}\n", joined.trim_end()));
        }
    }
    text
}

/// A cell in lines, broken between words.
fn parts(cell: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in cell.split(' ') {
        let last = parts.last_mut().expect("there is one at least");
        let fits = last.chars().count() + 1 + word.chars().count() <= CELL_CHARACTERS_MAX;
        match (last.is_empty(), fits) {
            (true, _) => last.push_str(word),
            (false, true) => {
                last.push(' ');
                last.push_str(word);
            }
            (false, false) => parts.push(word.to_owned()),
        }
    }
    parts
}

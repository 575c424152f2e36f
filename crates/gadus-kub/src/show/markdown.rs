//! Blocks as Markdown.

use super::blocks::Block;

pub(super) fn render(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, title) => {
                text.push_str(&format!("{} {title}\n\n", "#".repeat(usize::from(*level))));
            }
            Block::Paragraph(paragraph) => text.push_str(&format!("{paragraph}\n\n")),
            Block::List(lines) => {
                lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
                if !lines.is_empty() {
                    text.push('\n');
                }
            }
            Block::Table(table) if table.rows.is_empty() => text.push_str("none\n\n"),
            Block::Table(table) => {
                text.push_str(&line(&table.headings));
                text.push_str(&format!("|{}\n", "---|".repeat(table.headings.len())));
                table.rows.iter().for_each(|row| text.push_str(&line(row)));
                text.push('\n');
            }
            Block::Bars(_) => {}
        }
    }
    text
}

fn line(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

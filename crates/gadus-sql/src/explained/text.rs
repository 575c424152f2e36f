//! As text: what an operator took stands before it, so that columns of figures come to stand below each other.

use super::operator::{Operator, ScanTold};
use super::{Explained, Run, percent, shown_time};
use gadus_base::{ByteCount, counted};
use std::fmt::Write;
use std::time::Duration;

pub(super) fn render(explained: &Explained) -> String {
    let mut text = String::new();
    let mut lines = Vec::new();
    add(&explained.operator, 0, &mut lines);
    match &explained.run {
        None => lines.iter().for_each(|line| _ = writeln!(text, "{}", line.operator)),
        Some(run) => {
            let spills = explained.spilled_bytes() > 0;
            let whole = explained.time();
            let _ = write!(text, "{:>9} {:>5} {:>13} {:>10}", "time", "share", "rows", "memory");
            if spills {
                let _ = write!(text, " {:>10}", "spilled");
            }
            text.push_str("  operator\n");
            lines.iter().for_each(|line| line.write(&mut text, whole, spills));
            text.push_str(&summary(explained, run));
        }
    }
    text
}

struct Line<'a> {
    of: Option<&'a Operator>,
    operator: String,
}

fn add<'a>(operator: &'a Operator, depth: usize, lines: &mut Vec<Line<'a>>) {
    let indent = "  ".repeat(depth);
    let Operator { name, details, .. } = operator;
    let between = if details.is_empty() { "" } else { ": " };
    let mut details = details.lines();
    let first = details.next().unwrap_or_default();
    lines.push(Line { of: Some(operator), operator: format!("{indent}{name}{between}{first}") });
    lines.extend(details.map(|line| Line { of: None, operator: format!("{indent}  {line}") }));
    if let Some(told) = operator.scan.as_ref().and_then(scan_line) {
        lines.push(Line { of: None, operator: format!("{indent}  {told}") });
    }
    operator.inputs.iter().for_each(|input| add(input, depth + 1, lines));
}

impl Line<'_> {
    fn write(&self, text: &mut String, whole: Duration, spills: bool) {
        let bytes = |bytes: u64| ByteCount(bytes).to_string();
        let cells = self.of.map(|operator| {
            let figures = &operator.figures;
            let share = format!("{:.0} %", percent(figures.time, whole));
            let rows = figures.rows.map_or_else(String::new, counted);
            let memory = figures.memory_bytes.map_or_else(String::new, bytes);
            let spilled = match figures.spilled_bytes {
                0 => String::new(),
                count => bytes(count),
            };
            (shown_time(figures.time), share, rows, memory, spilled)
        });
        let (time, share, rows, memory, spilled) = cells.unwrap_or_default();
        let _ = write!(text, "{time:>9} {share:>5} {rows:>13} {memory:>10}");
        if spills {
            let _ = write!(text, " {spilled:>10}");
        }
        let _ = writeln!(text, "  {}", self.operator);
    }
}

/// What a scan read; none where it has not run, since its details say what it would.
fn scan_line(told: &ScanTold) -> Option<String> {
    let ran = told.ran?;
    if ran.shared {
        return Some("found by a shared scan, which has read for all that asked it".to_owned());
    }
    let (read, of, pruned) = (counted(ran.segments), counted(told.segments), counted(told.pruned));
    Some(format!(
        "{read} of {of} segments read, {pruned} pruned; cache: {} hits, {} reads of {}",
        counted(ran.cache.hits),
        counted(ran.cache.reads),
        ByteCount(ran.read_bytes)
    ))
}

fn summary(explained: &Explained, run: &Run) -> String {
    let spilled = match explained.spilled_bytes() {
        0 => "nothing spilled".to_owned(),
        bytes => format!("{} spilled", ByteCount(bytes)),
    };
    let planned = match run.planned {
        Duration::ZERO => String::new(),
        time => format!("planned in {}, ", shown_time(time)),
    };
    let again = match &run.planned_again {
        Some(reason) => format!("planned again while it ran: {reason}\n"),
        None => String::new(),
    };
    format!(
        "\n{planned}ran in {}: {} rows; {} of memory at most, {spilled}; {} read, {} written\n{again}",
        shown_time(run.ran),
        counted(run.rows),
        ByteCount(run.memory_bytes),
        ByteCount(run.bytes.read),
        ByteCount(run.bytes.written),
    )
}

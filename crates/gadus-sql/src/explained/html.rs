//! As one page, which loads nothing and runs nothing: operators above what they have their rows from, each as wide as
//! its time and that of all below it, and redder the more of that is its own.

use super::operator::Operator;
use super::{Explained, percent, shown_time, text};
use gadus_base::{ByteCount, counted, escaped};
use std::fmt::Write;
use std::time::Duration;

const STYLE: &str = "\
:root{color-scheme:light dark;--hot:#d9480f;--cool:#e9ecef}
@media(prefers-color-scheme:dark){:root{--hot:#e8590c;--cool:#343a40}}
body{font:14px/1.4 system-ui,sans-serif;margin:1rem auto;max-width:80rem;padding:0 1rem}
h1{font-size:1.2rem}
.flame{border:1px solid color-mix(in srgb,currentColor 25%,transparent);overflow:hidden}
.operator{min-width:0}
.operator>span{display:block;box-sizing:border-box;padding:.1rem .3rem;overflow:hidden;white-space:nowrap;\
text-overflow:ellipsis;border:1px solid color-mix(in srgb,currentColor 15%,transparent);\
background:color-mix(in srgb,var(--hot) calc(var(--own)*1%),var(--cool))}
.inputs{display:flex}
pre{overflow-x:auto;font-size:12px}
";

pub(super) fn render(explained: &Explained) -> String {
    let whole = explained.time();
    let mut flame = String::new();
    add(&explained.operator, whole, 100.0, explained.run.is_some(), &mut flame);
    let text = escaped(&text::render(explained));
    let title = match &explained.run {
        Some(run) => format!("{} rows in {}", counted(run.rows), shown_time(run.ran)),
        None => "Plan".to_owned(),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <div class=\"flame\">\n{flame}</div>\n<pre>{text}</pre>\n</body>\n</html>\n"
    )
}

/// An operator as wide as its share of the one above it; what is left beside its inputs is its own time.
fn add(operator: &Operator, whole: Duration, width: f64, ran: bool, flame: &mut String) {
    let own = percent(operator.figures.time, whole);
    let label = match ran {
        true => format!("{} {own:.0} %", operator.name),
        false => operator.name.clone(),
    };
    let _ = write!(
        flame,
        "<div class=\"operator\" style=\"width:{width:.2}%;--own:{own:.0}\"><span title=\"{}\">{}</span>",
        escaped(&title(operator, own, ran)),
        escaped(&label)
    );
    if !operator.inputs.is_empty() {
        flame.push_str("<div class=\"inputs\">");
        let time = operator.whole_time();
        // Where nothing was measured, all are as wide.
        let equal = 100.0 / f64::from(u32::try_from(operator.inputs.len()).unwrap_or(1));
        for input in &operator.inputs {
            let width = if time.is_zero() { equal } else { percent(input.whole_time(), time) };
            add(input, whole, width, ran, flame);
        }
        flame.push_str("</div>");
    }
    flame.push_str("</div>\n");
}

/// What is shown of an operator that is pointed at.
fn title(operator: &Operator, own: f64, ran: bool) -> String {
    let mut title = operator.name.clone();
    if !operator.details.is_empty() {
        let _ = write!(title, ": {}", operator.details);
    }
    if !ran {
        return title;
    }
    let figures = &operator.figures;
    let _ = write!(
        title,
        "\n{} of its own ({own:.0} %), {} with all below",
        shown_time(figures.time),
        shown_time(operator.whole_time())
    );
    if let Some(rows) = figures.rows {
        let _ = write!(title, "\n{} rows", counted(rows));
    }
    if let Some(bytes) = figures.memory_bytes {
        let _ = write!(title, "\n{} of memory", ByteCount(bytes));
    }
    if figures.spilled_bytes > 0 {
        let _ = write!(title, "\n{} spilled", ByteCount(figures.spilled_bytes));
    }
    title
}

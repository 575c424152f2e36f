//! The picture as SVG: a box for each part, beside and below each other.

use std::fmt::Write;

use gadus_base::escaped;
use gadus_machine::{Load, Topology};

use super::parts::{Inside, Part};
use super::text::share_of;

/// Boxes stand side by side up to this width, then below.
const ROW: u32 = 1_200;
const GAP: u32 = 8;
/// The line of a label, and what a letter takes of it, at most.
const LINE: u32 = 18;
const LETTER: u32 = 8;
const BAR_WIDTH: u32 = 64;
const BAR_HEIGHT: u32 = 8;

/// A file of a picture.
pub(super) fn drawing(picture: &Part, machine: &Topology, loads: Option<&[Load]>) -> String {
    let Drawn { width, height, body } = part(picture, machine, loads);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// What is drawn from the corner at 0, 0.
struct Drawn {
    width: u32,
    height: u32,
    body: String,
}

fn part(part: &Part, machine: &Topology, loads: Option<&[Load]>) -> Drawn {
    let pieces = match &part.inside {
        Inside::Parts(parts) => {
            parts.iter().map(|inner| self::part(inner, machine, loads)).collect::<Vec<_>>()
        }
        Inside::Cores(cores) => {
            let load = |core: usize| loads.and_then(|loads| loads.get(core));
            let name = |core: usize| machine.cores[core].cpus.to_string();
            cores.iter().map(|place| core(&name(*place), load(*place))).collect()
        }
    };
    let top = if part.label.is_empty() { GAP } else { GAP + LINE };
    let (mut x, mut y, mut row, mut body) = (GAP, top, 0, String::new());
    let mut width = text_width(&part.label) + 2 * GAP;
    for piece in pieces {
        if x > GAP && x + piece.width > ROW {
            (x, y, row) = (GAP, y + row + GAP, 0);
        }
        // Writing to a string does not fail.
        let _ = writeln!(body, "<g transform=\"translate({x} {y})\">\n{}</g>", piece.body);
        x += piece.width + GAP;
        width = width.max(x);
        row = row.max(piece.height);
    }
    boxed(&part.label, width, y + row + GAP, &body)
}

/// A core's box, with its bar.
fn core(name: &str, load: Option<&Load>) -> Drawn {
    let width = (BAR_WIDTH + 2 * GAP).max(text_width(name) + 2 * GAP);
    let mut body = String::new();
    if let Some(load) = load {
        let y = GAP + LINE;
        let of = |share: f64| share_of(share, BAR_WIDTH);
        let (busy, taken) = (of(load.busy), of(load.busy + load.stolen));
        for (width, fill) in [(BAR_WIDTH, "#ddd"), (taken, "#b99"), (busy, "#385")] {
            let _ = writeln!(
                body,
                "<rect x=\"{GAP}\" y=\"{y}\" width=\"{width}\" height=\"{BAR_HEIGHT}\" fill=\"{fill}\"/>"
            );
        }
    }
    boxed(name, width, LINE + BAR_HEIGHT + 2 * GAP, &body)
}

fn boxed(label: &str, width: u32, height: u32, inside: &str) -> Drawn {
    let mut body = format!(
        "<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"#246\" \
         fill-opacity=\"0.06\" stroke=\"#678\"/>\n",
        width.saturating_sub(1),
        height.saturating_sub(1)
    );
    if !label.is_empty() {
        let label = escaped(label);
        let _ = writeln!(body, "<text x=\"{GAP}\" y=\"{LINE}\">{label}</text>");
    }
    body.push_str(inside);
    Drawn { width, height, body }
}

fn text_width(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(0).saturating_mul(LETTER).min(ROW)
}

//! The picture as text: a line for each part, and as many cores in a line as fit.

use gadus_machine::{Load, Topology};

use super::parts::{Inside, Part};
use crate::output::cut;

/// Characters of a bar.
const BAR: u32 = 8;

/// Between two cores.
const GAP: &str = "  ";

/// The lines of a picture, none wider than `width`.
pub(super) fn lines(
    picture: &Part,
    machine: &Topology,
    loads: Option<&[Load]>,
    width: usize,
) -> Vec<String> {
    let mut drawing = Drawing { machine, loads, width, lines: Vec::new() };
    drawing.line("", &picture.label);
    drawing.inside(picture, "");
    drawing.lines
}

struct Drawing<'a> {
    machine: &'a Topology,
    loads: Option<&'a [Load]>,
    width: usize,
    lines: Vec<String>,
}

impl Drawing<'_> {
    fn line(&mut self, edge: &str, text: &str) {
        self.lines.push(cut(&format!("{edge}{text}"), self.width));
    }

    /// What a part has, behind the edges of the parts around it.
    fn inside(&mut self, part: &Part, edge: &str) {
        match &part.inside {
            Inside::Cores(cores) => self.cores(cores, edge),
            Inside::Parts(parts) => parts.iter().for_each(|part| self.part(part, edge)),
        }
    }

    fn part(&mut self, part: &Part, edge: &str) {
        // Cores stand in the part that has them.
        if matches!(part.inside, Inside::Cores(_)) {
            if !part.label.is_empty() {
                self.line(edge, &part.label);
            }
            return self.inside(part, edge);
        }
        self.line(edge, &format!("┌ {}", part.label));
        self.inside(part, &format!("{edge}│ "));
    }

    fn cores(&mut self, cores: &[usize], edge: &str) {
        let names = cores.iter().map(|core| format!("[{}]", self.machine.cores[*core].cpus));
        let names = names.collect::<Vec<_>>();
        let widest = names.iter().map(String::len).max().unwrap_or(0);
        let cells = names.iter().zip(cores).map(|(name, core)| {
            match self.loads.and_then(|loads| loads.get(*core)) {
                Some(load) => format!("{name:widest$} {}", bar(load)),
                None => format!("{name:widest$}"),
            }
        });
        let cells = cells.collect::<Vec<_>>();
        // All are equally wide.
        let cell = cells.first().map_or(1, |cell| cell.chars().count());
        let room = self.width.saturating_sub(edge.chars().count());
        let abreast = ((room + GAP.len()) / (cell + GAP.len())).max(1);
        for row in cells.chunks(abreast) {
            self.line(edge, row.join(GAP).trim_end());
        }
    }
}

/// `████▒···  52 %`: what runs, what the host gives to others, what is left.
fn bar(load: &Load) -> String {
    let steps = |share: f64| share_of(share, BAR);
    let busy = steps(load.busy);
    let stolen = steps(load.busy + load.stolen) - busy;
    let bar = [("█", busy), ("▒", stolen), ("·", BAR - busy - stolen)];
    let bar = bar.map(|(sign, count)| sign.repeat(count as usize)).concat();
    format!("{bar} {:>3} %", share_of(load.busy, 100))
}

/// A part of a number, no more than all of it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to the number
pub(super) fn share_of(share: f64, all: u32) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(all)).round() as u32
}

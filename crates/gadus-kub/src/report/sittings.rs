//! Cells of several sittings, put together.
//!
//! - A cell of a later sitting is the same if its benchmark, its origin and its title are.
//! - Who took part in some sittings alone has the rounds of those.

use super::{Cell, Measured, Stopped};
use crate::harness::{Summary, summaries};
use crate::numbers::{figure, figure_of};

/// Adds the cell of another sitting to those that are there.
pub(crate) fn add_sitting(cells: &mut Vec<Cell>, new: Cell) {
    let title = new.title();
    let is_same = |cell: &&mut Cell| {
        cell.benchmark == new.benchmark && cell.origin == new.origin && cell.title() == title
    };
    match cells.iter_mut().find(is_same) {
        Some(known) => known.add(new),
        None => cells.push(new),
    }
}

impl Cell {
    fn add(&mut self, new: Self) {
        self.quiet &= new.quiet;
        self.stopped = match (self.stopped, new.stopped) {
            (Stopped::Narrow, other) | (other, Stopped::Narrow) => other,
            (Stopped::Time, _) | (_, Stopped::Time) => Stopped::Time,
            (Stopped::Rounds, Stopped::Rounds) => Stopped::Rounds,
        };
        for measured in new.measured {
            match self.measured.iter_mut().find(|known| known.who == measured.who) {
                Some(known) => known.add(measured),
                None => self.measured.push(measured),
            }
        }
        let first = self.measured.first().cloned();
        for measured in self.measured.iter_mut().skip(1) {
            measured.ratio = first.as_ref().map(|first| measured.ratio_to(first));
        }
    }
}

impl Measured {
    fn add(&mut self, new: Self) {
        let times =
            |measured: &Self| figure_of(measured.rounds.len()) * figure(measured.repetitions);
        let (here, there) = (times(self), times(&new));
        let share = |one: f64, other: f64| (one * here + other * there) / (here + there).max(1.0);
        self.user_ns = share(self.user_ns, new.user_ns);
        self.system_ns = share(self.system_ns, new.system_ns);
        self.voluntary_switches = share(self.voluntary_switches, new.voluntary_switches);
        self.minor_faults = share(self.minor_faults, new.minor_faults);
        let rounds = [self.rounds.len(), new.rounds.len()].map(figure_of);
        let disturbed = self.disturbed * rounds[0] + new.disturbed * rounds[1];
        self.disturbed = disturbed / (rounds[0] + rounds[1]).max(1.0);
        self.involuntary_switches += new.involuntary_switches;
        self.major_faults += new.major_faults;
        self.rounds.extend(new.rounds);
        self.sittings.extend(new.sittings);
        self.summary = Summary::of_sittings(&self.rounds, &self.sittings);
        join(&mut self.parts.steps, new.parts.steps);
        join(&mut self.parts.counts, new.parts.counts);
        self.steps = summaries(&self.parts.steps);
        self.counts = summaries(&self.parts.counts);
    }
}

fn join(known: &mut Vec<(&'static str, Vec<f64>)>, new: Vec<(&'static str, Vec<f64>)>) {
    for (name, figures) in new {
        match known.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.extend(figures),
            None => known.push((name, figures)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Benchmark, Side, sample};

    fn sitting(call: &[f64], pipe: &[f64]) -> Cell {
        let contestants = [("call", Side::User, call), ("pipe", Side::Kernel, pipe)];
        let mut cell = sample::cell(Benchmark::Message, "echo", &[("bytes", "64")], &contestants);
        for measured in &mut cell.measured {
            measured.parts.steps = vec![("write", measured.rounds.clone())];
        }
        cell
    }

    #[test]
    fn rounds_of_sittings_are_put_together_and_ratios_are_of_all() {
        let mut cells = Vec::new();
        add_sitting(&mut cells, sitting(&[10.0, 10.0], &[20.0, 20.0]));
        let mut second = sitting(&[20.0, 20.0, 20.0], &[40.0, 40.0, 40.0]);
        second.measured[0].user_ns = 11.5;
        second.quiet = false;
        second.stopped = Stopped::Time;
        add_sitting(&mut cells, second);
        let [cell] = &cells[..] else { panic!("{cells:?}") };
        assert!(!cell.quiet && cell.stopped == Stopped::Time);
        let [call, pipe] = &cell.measured[..] else { panic!("{cell:?}") };
        assert_eq!(call.rounds, [10.0, 10.0, 20.0, 20.0, 20.0]);
        assert_eq!(
            (call.sittings.clone(), call.summary.low, call.summary.high),
            (vec![2, 3], 10.0, 20.0)
        );
        assert_eq!(pipe.ratio.map(|ratio| (ratio.low, ratio.high)), Some((2.0, 2.0)));
        assert!((call.user_ns - 7.5).abs() < 1e-9, "{}", call.user_ns);
        assert_eq!(pipe.steps[0].1.count, 5);
    }

    #[test]
    fn who_takes_part_later_is_added_and_other_cells_stay_apart() {
        let mut cells = vec![sitting(&[10.0], &[20.0])];
        let late = [("call", Side::User, &[10.0][..]), ("TCP", Side::Kernel, &[50.0][..])];
        add_sitting(
            &mut cells,
            sample::cell(Benchmark::Message, "echo", &[("bytes", "64")], &late),
        );
        add_sitting(
            &mut cells,
            sample::cell(Benchmark::Message, "echo", &[("bytes", "65")], &late),
        );
        assert_eq!(cells.len(), 2);
        let who = cells[0].measured.iter().map(|measured| measured.who.as_str());
        assert_eq!(who.collect::<Vec<_>>(), ["call", "pipe", "TCP"]);
        assert_eq!(cells[0].measured[2].ratio.map(|ratio| ratio.value), Some(5.0));
    }
}

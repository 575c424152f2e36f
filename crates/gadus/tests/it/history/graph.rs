//! What came before what, and the shortest circle in it.

use std::collections::VecDeque;

/// Why one comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Wrote the version before.
    Overwritten,
    /// Wrote what a snapshot shows.
    Shown,
    /// Who changes a row in a snapshot has its last version in it.
    FirstUpdater,
    /// Wrote what a snapshot does not show any more.
    NotShown,
    /// Has read the version before, and comes as late as it writes.
    NotReplaced,
    /// One transaction, in this order.
    Own,
    /// Was over when the other began.
    Time,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    after: Vec<Vec<(usize, Why)>>,
}

impl Graph {
    pub(super) fn node(&mut self) -> usize {
        self.after.push(Vec::new());
        self.after.len() - 1
    }

    pub(super) fn before(&mut self, one: usize, other: usize, why: Why) {
        self.after[one].push((other, why));
    }

    /// A shortest circle, if there is one: its nodes, each with why it comes before the next.
    pub(super) fn circle(&self, counts: impl Fn(Why) -> bool) -> Option<Vec<(usize, Why)>> {
        let circular = self.circular(&counts);
        let nodes = (0..self.after.len()).filter(|node| circular[*node]);
        nodes.filter_map(|node| self.circle_through(node, &circular, &counts)).min_by_key(Vec::len)
    }

    /// Which nodes are left when those are taken away again and again that nothing comes before.
    fn circular(&self, counts: &impl Fn(Why) -> bool) -> Vec<bool> {
        let mut before = vec![0; self.after.len()];
        let after = |node: usize| self.after[node].iter().filter(|(_, why)| counts(*why));
        for node in 0..self.after.len() {
            after(node).for_each(|(next, _)| before[*next] += 1);
        }
        let mut free = (0..before.len()).filter(|node| before[*node] == 0).collect::<Vec<_>>();
        let mut circular = vec![true; before.len()];
        while let Some(node) = free.pop() {
            circular[node] = false;
            for (next, _) in after(node) {
                before[*next] -= 1;
                if before[*next] == 0 {
                    free.push(*next);
                }
            }
        }
        circular
    }

    fn circle_through(
        &self,
        start: usize,
        circular: &[bool],
        counts: &impl Fn(Why) -> bool,
    ) -> Option<Vec<(usize, Why)>> {
        let mut from: Vec<Option<(usize, Why)>> = vec![None; self.after.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &(next, why) in &self.after[node] {
                if counts(why) && circular[next] && from[next].is_none() {
                    from[next] = Some((node, why));
                    queue.push_back(next);
                }
            }
        }
        let mut circle = vec![from[start]?];
        while circle[circle.len() - 1].0 != start {
            circle.push(from[circle[circle.len() - 1].0].expect("the way goes back to its start"));
        }
        circle.reverse();
        Some(circle)
    }
}

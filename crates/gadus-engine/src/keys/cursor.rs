//! The entries of an index, one after the other.
//!
//! - Runs and recent entries are merged as they are asked for: who needs the first ten reads a page of each run.

use super::{KeyEntry, KeyIndex, KeyPage, KeyRun};
use crate::blobs::Blobs;
use crate::error::Result;
use std::sync::Arc;

/// Goes through the entries of an index in their order, or backwards.
pub(crate) struct KeyCursor<'a> {
    backwards: bool,
    recent: Box<dyn Iterator<Item = KeyEntry> + 'a>,
    runs: Vec<RunCursor<'a>>,
    /// The next entry of the recent ones, and of each run behind them.
    next: Vec<Option<KeyEntry>>,
}

/// Goes through a run.
struct RunCursor<'a> {
    run: &'a KeyRun,
    blobs: &'a Blobs,
    backwards: bool,
    /// Pages that were begun.
    pages: usize,
    page: Option<Arc<KeyPage>>,
    /// Entries of it that were given.
    given: usize,
}

impl<'a> KeyCursor<'a> {
    pub(crate) fn new(index: &'a KeyIndex, blobs: &'a Blobs, backwards: bool) -> Result<Self> {
        let runs = index.runs().iter().map(|run| RunCursor {
            run,
            blobs,
            backwards,
            pages: 0,
            page: None,
            given: 0,
        });
        let mut cursor = Self {
            backwards,
            recent: index.recent(backwards),
            runs: runs.collect(),
            next: Vec::new(),
        };
        cursor.next.push(cursor.recent.next());
        for run in &mut cursor.runs {
            cursor.next.push(run.next()?);
        }
        Ok(cursor)
    }

    /// The next entry.
    pub(crate) fn next(&mut self) -> Result<Option<KeyEntry>> {
        let known = self.next.iter().enumerate();
        let known = known.filter_map(|(source, entry)| Some(((*entry)?, source)));
        let first = if self.backwards { known.max() } else { known.min() };
        let Some((entry, source)) = first else { return Ok(None) };
        self.next[source] = match source {
            0 => self.recent.next(),
            run => self.runs[run - 1].next()?,
        };
        Ok(Some(entry))
    }
}

impl RunCursor<'_> {
    fn next(&mut self) -> Result<Option<KeyEntry>> {
        loop {
            if let Some(page) = &self.page
                && self.given < page.len()
            {
                let place = self.given;
                self.given += 1;
                let place = if self.backwards { page.len() - 1 - place } else { place };
                return Ok(Some(page.entry(place)));
            }
            let Some(page) = self.run.page(self.blobs, self.pages, self.backwards)? else {
                return Ok(None);
            };
            self.page = Some(page);
            self.pages += 1;
            self.given = 0;
        }
    }
}

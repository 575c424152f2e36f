//! Abbreviations of time zones, in PostgreSQL's default set.

use super::TimeZone;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Meaning of an abbreviation.
#[derive(Debug, Clone)]
pub(crate) enum Abbreviation {
    /// Offset in seconds east of UTC.
    Fixed { offset: i32, is_daylight: bool },
    /// Offset that a zone decides by the time.
    Zone(TimeZone),
}

/// Entry of the table.
enum Entry {
    Fixed { offset: i32, is_daylight: bool },
    Zone(&'static str),
}

/// Longest abbreviation in bytes.
const BYTES_MAX: usize = 8;

static TABLE: OnceLock<HashMap<Vec<u8>, Entry>> = OnceLock::new();

/// Returns the meaning of an abbreviation in lower case.
pub(crate) fn abbreviation(name: &[u8]) -> Option<Abbreviation> {
    if name.len() > BYTES_MAX {
        return None;
    }
    match TABLE.get_or_init(table).get(name)? {
        Entry::Fixed { offset, is_daylight } => {
            Some(Abbreviation::Fixed { offset: *offset, is_daylight: *is_daylight })
        }
        Entry::Zone(zone) => TimeZone::find(zone).map(Abbreviation::Zone),
    }
}

fn table() -> HashMap<Vec<u8>, Entry> {
    let lines = include_str!("abbreviations.txt").lines().filter(|line| !line.starts_with('#'));
    let entries = lines.filter_map(|line| {
        let mut words = line.split(' ');
        let name = words.next()?.to_ascii_lowercase().into_bytes();
        let meaning = words.next()?;
        let is_daylight = words.next() == Some("D");
        let entry = match meaning.parse() {
            Ok(offset) => Entry::Fixed { offset, is_daylight },
            Err(_) => Entry::Zone(meaning),
        };
        Some((name, entry))
    });
    entries.collect()
}

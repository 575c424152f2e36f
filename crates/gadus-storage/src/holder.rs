//! `x.gadus-lck`: who holds the database, for messages.
//!
//! Version 1 is text: the lines `pid`, `program` and `since`, each with its value after a space.
//!
//! - Never needed to recover, never trusted: ownership is the lock on the data and log files.
//! - Best effort: a holder that cannot write it holds the database all the same.
//! - Never removed: an opener could hold the removed file while another creates a new one.

use gadus_base::clock;
use gadus_block::{Folder, OpenMode};
use std::io::IoSlice;

const BYTES_MAX: u64 = 4096;

/// Records this process as the holder.
pub(crate) fn record(folder: &dyn Folder, name: &str) {
    let program = std::env::current_exe()
        .map_or_else(|_| "unknown".to_owned(), |path| path.display().to_string());
    let since = date_and_time(clock().wall_time().0.as_secs());
    let text = format!("pid {}\nprogram {program}\nsince {since}\n", std::process::id());
    let device =
        folder.open(name, OpenMode::ReadWrite).or_else(|_| folder.open(name, OpenMode::Create));
    if let Ok(device) = device {
        // A failure costs the next opener a detail of a message, nothing else.
        let _ = device.write_at(0, &[IoSlice::new(text.as_bytes())]);
        let _ = device.set_length(text.len() as u64);
    }
}

/// The recorded holder in words, when the record can be read.
pub(crate) fn describe(folder: &dyn Folder, name: &str) -> Option<String> {
    let device = folder.open(name, OpenMode::Read).ok()?;
    let length = device.length().ok().filter(|length| (1..=BYTES_MAX).contains(length))?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    device.read_at(0, &mut bytes).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let value = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')).map(printable)
    };
    let (pid, program, since) = (value("pid")?, value("program")?, value("since")?);
    Some(format!("process {pid} ({program}), since {since}"))
}

fn printable(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).collect()
}

/// Seconds since 1970 as date and time, UTC. The year begins in March, so that the leap day comes
/// last and the months' lengths repeat every five.
fn date_and_time(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests;

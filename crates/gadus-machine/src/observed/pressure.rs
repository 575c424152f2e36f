//! How much of the time somebody waits for want of processors, memory or I/O (PSI).

use std::fs;
use std::path::Path;

/// Of the last ten seconds and the last minute, the parts in which somebody waited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pressure {
    /// At least one, of ten seconds.
    pub some_10s: f64,
    /// At least one, of a minute.
    pub some_60s: f64,
    /// All at once, of ten seconds: nothing was done.
    pub full_10s: f64,
}

/// Of a file such as /proc/pressure/memory or a group's memory.pressure.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn pressure_of(path: &Path) -> Result<Pressure, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let part = |line: &str, name: &str| {
        let line = text.lines().find_map(|known| known.strip_prefix(line))?;
        let mut words = line.split_whitespace();
        let share = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
        share.parse::<f64>().ok().filter(|share| share.is_finite()).map(|percent| percent / 100.0)
    };
    let read = || {
        Some(Pressure {
            some_10s: part("some ", "avg10")?,
            some_60s: part("some ", "avg60")?,
            // Of processors, old kernels do not tell.
            full_10s: part("full ", "avg10").unwrap_or(0.0),
        })
    };
    read().ok_or_else(|| format!("{}: {text:?} is not what is expected", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory");
        let text = "some avg10=12.50 avg60=1.00 avg300=0.00 total=1\nfull avg10=0.25 avg60=0.00 avg300=0.00 total=0\n";
        fs::write(&path, text).unwrap();
        let expected = Pressure { some_10s: 0.125, some_60s: 0.01, full_10s: 0.0025 };
        assert_eq!(pressure_of(&path), Ok(expected));
        fs::write(&path, "nothing").unwrap();
        assert!(pressure_of(&path).is_err() && pressure_of(folder.path()).is_err());
    }
}

//! Facts that somebody has measured, kept for whoever asks later.
//!
//! - In the user's cache folder, which may be emptied at any time: then nothing is known, and answers are
//!   assumed.
//! - A file for each machine, kernel, file system and device ([`Identity`]): those of another are not found, and a
//!   file that was copied from one is refused.

use crate::error::{ErrorKind, MachineError};
use crate::facts::{Fact, FactValue, Facts, Source};
use crate::identity::Identity;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names the machine that facts are of.
const OF: (&str, &str) = ("kernel", "measured on");

/// What is at most so sure, such as what was measured beside others' work, does not replace what is surer.
const UNSURE: f64 = 0.5;

/// Eleven days in nanoseconds: nobody has measured for so long.
const COST_END: f64 = 1e15;

/// Where measured facts are kept.
#[derive(Debug, Clone)]
pub struct KeptFacts {
    folder: PathBuf,
}

impl KeptFacts {
    /// In `$XDG_CACHE_HOME/gadus`, or `~/.cache/gadus`; none for a user who has neither.
    #[must_use]
    pub fn of_this_user() -> Option<Self> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|f| f.is_absolute());
        let caches =
            absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        Some(Self::in_folder(&caches.join("gadus")))
    }

    /// In a folder, which is made where something is kept.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Whether nothing is kept, of any machine: then nobody has to ask which this one is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !fs::read_dir(&self.folder).is_ok_and(|mut files| files.next().is_some())
    }

    /// The file for a machine.
    #[must_use]
    pub fn path(&self, machine: &Identity) -> PathBuf {
        self.folder.join(format!("machine-{}.json", machine.key()))
    }

    /// What is kept of a machine; nothing where nothing was measured there.
    ///
    /// # Errors
    /// `Description` with the file, where it cannot be read, is damaged, or is another machine's.
    pub fn load(&self, machine: &Identity) -> Result<Facts, MachineError> {
        let path = self.path(machine);
        let wrong = |what: String| {
            let message = format!("{}: {what}; delete it, and run gadus kub again", path.display());
            MachineError::new(ErrorKind::Description, message)
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Facts::default()),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let facts = Facts::from_json(&text, "it").map_err(|error| wrong(error.to_string()))?;
        let (subject, name) = OF;
        match facts.get(subject, name).map(|fact| &fact.value) {
            Some(FactValue::Text(key)) if *key == machine.key() => Ok(facts),
            _ => Err(wrong("it says nothing of this machine".to_owned())),
        }
    }

    /// Keeps facts of a machine, and of those that are kept of it already what is not replaced by newer ones, or only by
    /// some that are not sure. Returns the file.
    ///
    /// # Errors
    /// `Description` with the file that cannot be written.
    pub fn keep(&self, machine: &Identity, facts: &Facts) -> Result<PathBuf, MachineError> {
        // What cannot be read is not worth keeping.
        let mut all = self.load(machine).unwrap_or_default();
        for fact in facts.iter() {
            let known = all.get(&fact.subject, &fact.name);
            let is_surer = known.is_some_and(|known| known.confidence > UNSURE);
            if fact.confidence > UNSURE || !is_surer {
                all.set(fact.clone());
            }
        }
        all.note(OF, machine.key(), "", Source::Measured);
        let path = self.path(machine);
        let written = fs::create_dir_all(&self.folder).and_then(|()| {
            // Who reads meanwhile reads the older ones.
            let new = path.with_extension(format!("{}.new", std::process::id()));
            fs::write(&new, format!("{:#}\n", all.to_json()))?;
            fs::rename(&new, &path)
        });
        match written {
            Ok(()) => Ok(path),
            Err(error) => {
                let message = format!("{} cannot be written: {error}", path.display());
                Err(MachineError::new(ErrorKind::Description, message))
            }
        }
    }
}

impl Fact {
    /// What something was measured to take; none where that is no number, or one that cannot be.
    pub(crate) fn cost(&self) -> Option<f64> {
        match self.value {
            FactValue::Number(number) if number > 0.0 && number < COST_END => Some(number),
            _ => None,
        }
    }
}

impl Facts {
    /// Measured facts whose names begin so, with the rest of the names, and their numbers, the least first. What
    /// nothing can take is left out.
    pub(crate) fn numbers<'a>(
        &'a self,
        subject: &str,
        prefix: &str,
    ) -> Vec<(&'a str, f64, &'a Fact)> {
        let of = |fact: &'a Fact| Some((fact.name.strip_prefix(prefix)?, fact.cost()?, fact));
        let about = self.iter().filter(|fact| fact.subject == subject);
        let mut numbers = about.filter_map(of).collect::<Vec<_>>();
        numbers.sort_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_on_this_machine_alone() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptFacts::in_folder(&folder.path().join("gadus"));
        let here = Identity::of_this_machine(folder.path());
        assert!(kept.load(&here).unwrap().is_empty() && kept.is_empty());
        for (name, nanoseconds) in [("a call", 10.0), ("a switch", 1500.0), ("a call", 12.0)] {
            let mut facts = Facts::default();
            facts.note(("kernel", name), nanoseconds, "ns", Source::Measured);
            assert_eq!(kept.keep(&here, &facts).unwrap(), kept.path(&here));
        }
        assert!(!kept.is_empty());
        let known = kept.load(&here).unwrap();
        let numbers = known.numbers("kernel", "a ");
        let numbers = numbers.iter().map(|(name, value, _)| (*name, *value)).collect::<Vec<_>>();
        assert_eq!(numbers, [("call", 12.0), ("switch", 1500.0)]);
        // Beside others' work: what was known is surer, and what was not is better than nothing.
        let mut loud = Facts::default();
        for (name, nanoseconds) in [("a call", 90.0), ("a message", 70.0)] {
            loud.note(("kernel", name), nanoseconds, "ns", Source::Measured);
            let fact = loud.get("kernel", name).unwrap().clone();
            loud.set(Fact { confidence: UNSURE, ..fact });
        }
        kept.keep(&here, &loud).unwrap();
        let known = kept.load(&here).unwrap();
        let value = |name| known.get("kernel", name).map(|fact| fact.value.clone());
        assert_eq!(value("a call"), Some(FactValue::Number(12.0)));
        assert_eq!(value("a message"), Some(FactValue::Number(70.0)));
        let newer = Identity { kernel: "99.1".to_owned(), ..here.clone() };
        assert!(kept.load(&newer).unwrap().is_empty());
        fs::copy(kept.path(&here), kept.path(&newer)).unwrap();
        let refused = kept.load(&newer).unwrap_err().to_string();
        assert!(refused.contains("it says nothing of this machine; delete it"), "{refused}");
        fs::write(kept.path(&here), "{").unwrap();
        assert!(kept.load(&here).is_err());
    }
}

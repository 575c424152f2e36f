//! Measures this machine and prints the report as lines of JSON: what `gadus kub --json` does, without the rest of
//! the program. The benchmarks to run may be named: `measure quick lock sync`.

use gadus_kub::{Benchmark, Budget, KubError, Settings};
use std::io::Write;
use std::path::Path;

fn main() -> Result<(), KubError> {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let budgets = [Budget::Quick, Budget::Usual, Budget::Thorough];
    let budget = budgets.into_iter().find(|budget| words.iter().any(|word| word == budget.word()));
    let named = words.iter().filter_map(|word| Benchmark::from_word(word)).collect::<Vec<_>>();
    let mut settings = Settings::new(Path::new(".")).budget(budget.unwrap_or(Budget::Quick));
    if !named.is_empty() {
        settings = settings.only(named);
    }
    let report = gadus_kub::run(&settings, |progress| {
        if let Some(next) = &progress.next {
            let _ = writeln!(std::io::stderr(), "{}/{}: {next}", progress.done, progress.all);
        }
    })?;
    for line in report.to_json_lines() {
        // Whoever reads may have seen enough.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    Ok(())
}

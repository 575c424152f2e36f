//! Measures this machine and prints the report, as lines of JSON or as it is told: what `gadus kub` does, without the
//! rest of the program. `measure quick lock sync text`; `measure show report.json html` shows one again.

use gadus_kub::{Benchmark, Budget, Form, KubError, Report, Settings, render};
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
    let report = match words.iter().position(|word| word == "show") {
        Some(place) => {
            let path = words.get(place + 1).map_or("", String::as_str);
            Report::from_json_lines(&std::fs::read_to_string(path).unwrap_or_default(), path)?
        }
        None => gadus_kub::run(&settings, |progress| {
            if let Some(next) = &progress.next {
                let _ = writeln!(std::io::stderr(), "{}/{}: {next}", progress.done, progress.all);
            }
        })?,
    };
    let forms = [("text", Form::Text), ("markdown", Form::Markdown), ("html", Form::Html)];
    let form = forms.into_iter().find(|(name, _)| words.iter().any(|word| word == name));
    let form = form.map_or(Form::JsonLines, |(_, form)| form);
    // Whoever reads may have seen enough.
    let _ = std::io::stdout().write_all(render(&report, form).as_bytes());
    Ok(())
}

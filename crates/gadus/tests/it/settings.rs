//! The guide's page of settings, which is made from them; and SHOW ALL.

use gadus::{Database, Options, Setting, SettingScope, settings};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const BEGINNING: &str = "\
# Settings

`SET name = value` sets one, `RESET name` sets it back, `SHOW name` and `SHOW ALL` tell what is set. `SET LOCAL` lasts
until the transaction ends, and `ROLLBACK` takes back what the transaction has set; but what is set for all sessions of
a database is set at once.
";

fn scope_of(setting: &Setting) -> (&'static str, &'static str) {
    match setting.scope {
        SettingScope::Session => ("Of a session", "Whoever sets it has it for his own statements."),
        SettingScope::Transaction => ("Of a transaction", "Until it ends."),
        SettingScope::Database => {
            ("Of a database", "For all sessions of the process that sets it.")
        }
        SettingScope::Client => {
            ("Of PostgreSQL's clients", "Accepted, because clients set them when they connect.")
        }
        _ => ("Only to be read", "What PostgreSQL's clients ask."),
    }
}

fn page() -> String {
    let (settings, mut page, mut told) = (settings(), BEGINNING.to_owned(), BTreeSet::new());
    let mut ordered = settings.iter().collect::<Vec<_>>();
    ordered.sort_by_key(|setting| setting.scope);
    for setting in ordered {
        let (heading, what) = scope_of(setting);
        if told.insert(heading) {
            write!(page, "\n## {heading}\n\n{what}\n\n").unwrap();
            page += "| name | values | default | what it does |\n|---|---|---|---|\n";
        }
        let Setting { name, values, default, description, .. } = setting;
        writeln!(page, "| `{name}` | {values} | {default} | {description} |").unwrap();
    }
    page
}

#[test]
fn the_guide_has_all_settings() {
    // Tests run in the folder of their crate.
    let path = Path::new("../../docs/guide/settings.md");
    if std::env::var_os("GADUS_REWRITE").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == page(),
        "set GADUS_REWRITE and run this again"
    );
}

#[test]
fn each_setting_is_shown_with_its_default() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let mut shown = Vec::new();
    for row in connection.query("SHOW ALL", &[]).unwrap() {
        let row = row.unwrap();
        let text = |column| row.get::<String>(column).unwrap();
        shown.push((text("name"), text("setting")));
    }
    let names = shown.iter().map(|(name, _)| name.as_str());
    assert!(names.eq(settings().iter().map(|setting| setting.name)));
    for (name, value) in shown {
        let alone =
            connection.query(&format!("SHOW {name}"), &[]).unwrap().next().unwrap().unwrap();
        assert_eq!(alone.get::<String>(0).unwrap(), value, "{name}");
        let setting = settings().into_iter().find(|setting| setting.name == name).unwrap();
        let is_told = setting.default == value
            || matches!((setting.default, value.as_str()), ("0", "0ms") | ("30s", "30000ms"))
            || setting.default.starts_with(&value)
            || setting.default.starts_with("default_")
            || ["gadus.cache", "gadus.memory_limit"].contains(&name.as_str())
                && value.ends_with('B');
        assert!(is_told, "{name} is {value}, not {}", setting.default);
    }
}

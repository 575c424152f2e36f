//! The rows of `pg_settings`: what SHOW ALL shows, in PostgreSQL's words.

use super::build::{Cell, Rows};
use crate::session::{Setting, SettingScope, ShownSetting};

/// What values of a setting are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    /// Milliseconds.
    Time,
    Number,
    /// One of some words.
    Words,
    Text,
}

/// The settings of a session.
pub(super) fn rows(settings: &[ShownSetting]) -> Rows {
    settings.iter().map(row).collect()
}

fn row(shown: &ShownSetting) -> Vec<(&'static str, Cell)> {
    let ShownSetting { setting, value, reset, default } = shown;
    let kind = Kind::of(setting);
    let plain = |value: &str| match kind {
        Kind::Time => value.trim_end_matches("ms").to_owned(),
        _ => value.to_owned(),
    };
    let source = if value == default {
        "default"
    } else if value == reset {
        "client"
    } else {
        "session"
    };
    let mut row = vec![
        ("name", setting.name.into()),
        ("setting", plain(value).into()),
        ("category", category(setting).into()),
        ("short_desc", setting.description.into()),
        ("context", context(setting.scope).into()),
        ("vartype", kind.name().into()),
        ("source", source.into()),
        ("boot_val", plain(default).into()),
        ("reset_val", plain(reset).into()),
        ("pending_restart", false.into()),
    ];
    match kind {
        Kind::Time => {
            row.extend([("unit", "ms"), ("min_val", "0")].map(|(name, text)| (name, text.into())));
        }
        Kind::Words => row.push(("enumvals", Cell::Texts(words(setting.values)))),
        Kind::Boolean | Kind::Number | Kind::Text => {}
    }
    row
}

impl Kind {
    /// As the setting says for people.
    fn of(setting: &Setting) -> Self {
        let begins = |start: &str| setting.values.starts_with(start);
        if matches!(setting.default, "on" | "off") {
            Self::Boolean
        } else if begins("a time") {
            Self::Time
        } else if begins("a number") || setting.default.parse::<i64>().is_ok() {
            Self::Number
        } else if setting.values.contains(" or ") {
            Self::Words
        } else {
            Self::Text
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Boolean => "bool",
            Self::Time | Self::Number => "integer",
            Self::Words => "enum",
            Self::Text => "string",
        }
    }
}

/// `a, b or c`
fn words(values: &'static str) -> Vec<&'static str> {
    values.split(" or ").flat_map(|words| words.split(", ")).collect()
}

fn category(setting: &Setting) -> &'static str {
    match setting.scope {
        SettingScope::Nobody => "Preset Options",
        _ if setting.name.starts_with("gadus.") => "Gadus",
        _ => "Client Connection Defaults",
    }
}

/// Who may change it: whoever changes it for all others does what PostgreSQL's administrators do.
fn context(scope: SettingScope) -> &'static str {
    match scope {
        SettingScope::Nobody => "internal",
        SettingScope::Database => "superuser",
        SettingScope::Session | SettingScope::Transaction | SettingScope::Client => "user",
    }
}

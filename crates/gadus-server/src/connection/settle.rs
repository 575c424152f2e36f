//! The settings that a client's first message asks for.

use crate::error::{Failure, SqlState};
use crate::protocol::Startup;
use crate::server::Shared;
use gadus::Connection;

/// Gives a connection the settings that its first message asks for.
pub(super) async fn settle(
    connection: &Connection,
    startup: &Startup,
    shared: &Shared,
) -> Result<(), Failure> {
    let mut settings = Vec::new();
    if let Some(time) = shared.options.limits.statement_time {
        settings.push(("statement_timeout".to_owned(), format!("{}ms", time.as_millis())));
    }
    for (name, value) in &startup.parameters {
        match name.as_str() {
            // One database, by whatever name.
            "user" | "database" | "replication" => {}
            "options" => settings.extend(options_of(value)),
            _ => settings.push((name.clone(), value.clone())),
        }
    }
    for (name, value) in settings {
        // It becomes part of a statement.
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        if name.is_empty() || !name.bytes().all(is_name) {
            let text = format!("a first message sets \"{name}\", which is no setting");
            return Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text));
        }
        let text = format!("SET {name} = '{}'", value.replace('\'', "''"));
        let set = match connection.prepare(&text) {
            Ok(statement) => statement.run_async(Vec::new()).await.map(|_| ()),
            Err(error) => Err(error),
        };
        set.map_err(|error| Failure::from(error).made_fatal())?;
    }
    connection.keep_settings();
    Ok(())
}

/// Settings as they stand on the command line of a server: `-c name=value --name=value`.
fn options_of(options: &str) -> Vec<(String, String)> {
    let words = options.split_whitespace().filter(|word| *word != "-c");
    let setting = |word: &str| {
        let word = word.strip_prefix("--").or_else(|| word.strip_prefix("-c")).unwrap_or(word);
        let (name, value) = word.split_once('=')?;
        Some((name.replace('-', "_"), value.to_owned()))
    };
    words.filter_map(setting).collect()
}

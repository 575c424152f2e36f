//! Which crate may use which: the direction of the product, as a table.
//!
//! - Upwards never. A crate that is not in the table is refused: deciding its edges comes first.

use super::finding::Finding;
use super::manifest;
use super::source::Source;

/// What one crate may and may not use.
#[derive(Debug)]
struct Room {
    name: &'static str,
    /// Crates of this workspace it may depend on.
    uses: &'static [&'static str],
    /// Foreign crates it may not depend on, with all whose name continues by `-`.
    never: &'static [&'static str],
    /// Paths that its code outside tests may not name.
    never_named: &'static [&'static str],
}

const ASYNC_RUNTIMES: &[&str] = &["tokio", "async-std", "smol"];
const SOCKETS: &[&str] = &["std::net", "std::os::unix::net", "rustix::net"];

const ROOMS: &[Room] = &[
    Room { name: "gadus-base", uses: &[], never: &["arrow", "tokio"], never_named: SOCKETS },
    Room { name: "gadus-machine", uses: &["gadus-base"], never: &["arrow"], never_named: SOCKETS },
    Room {
        name: "gadus-allocator",
        uses: &["gadus-base", "gadus-machine"],
        never: &["arrow", "tokio"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-machine-c",
        uses: &["gadus-base", "gadus-machine"],
        never: &["arrow"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-block",
        uses: &["gadus-base", "gadus-machine"],
        never: &["arrow"],
        never_named: &[],
    },
    Room {
        name: "gadus-locks",
        uses: &["gadus-base"],
        never: ASYNC_RUNTIMES,
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-storage",
        uses: &["gadus-base", "gadus-block", "gadus-locks"],
        never: &["arrow", "parquet"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-engine",
        uses: &["gadus-base", "gadus-block", "gadus-locks", "gadus-machine", "gadus-storage"],
        never: &[],
        never_named: &["std::net", "std::os::unix::net", "rustix::net", "std::fs", "rustix::fs"],
    },
    Room {
        name: "gadus-syntax",
        uses: &[],
        never: &["arrow", "datafusion", "sqlparser", "tokio"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-binder",
        uses: &["gadus-syntax"],
        never: &["arrow", "datafusion", "sqlparser", "tokio"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-functions",
        uses: &["gadus-base"],
        never: &["arrow", "datafusion", "sqlparser", "tokio"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-numeric",
        uses: &["gadus-base"],
        never: &["arrow", "datafusion", "sqlparser", "tokio"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-times",
        uses: &["gadus-base"],
        never: &["arrow", "datafusion", "sqlparser", "tokio"],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-sql",
        uses: &[
            "gadus-base",
            "gadus-binder",
            "gadus-block",
            "gadus-engine",
            "gadus-functions",
            "gadus-numeric",
            "gadus-locks",
            "gadus-machine",
            "gadus-storage",
            "gadus-syntax",
            "gadus-times",
        ],
        never: &[],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus",
        uses: &["gadus-base", "gadus-block", "gadus-engine", "gadus-sql", "gadus-storage"],
        never: &[],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-cli",
        uses: &[
            "gadus",
            "gadus-allocator",
            "gadus-base",
            "gadus-block",
            "gadus-cluster",
            "gadus-kub",
            "gadus-locks",
            "gadus-machine",
            "gadus-profiler",
            "gadus-server",
            "gadus-volume",
        ],
        never: &[],
        never_named: &[],
    },
    Room {
        name: "gadus-python",
        uses: &["gadus", "gadus-allocator", "gadus-base"],
        never: &[],
        never_named: SOCKETS,
    },
    Room {
        name: "gadus-server",
        uses: &["gadus", "gadus-base", "gadus-machine"],
        never: &[],
        never_named: &[],
    },
    Room { name: "gadus-cluster", uses: &["gadus", "gadus-base"], never: &[], never_named: &[] },
    Room {
        name: "gadus-volume",
        uses: &["gadus-base", "gadus-block", "gadus-machine"],
        never: &["arrow", "sqlparser"],
        never_named: &[],
    },
    Room {
        name: "gadus-preload",
        uses: &["gadus-base", "gadus-block"],
        never: &["arrow"],
        never_named: &[],
    },
    Room {
        name: "gadus-kub",
        uses: &["gadus-base", "gadus-block", "gadus-locks", "gadus-machine"],
        never: &["arrow", "sqlparser"],
        never_named: &[],
    },
    Room {
        name: "gadus-profiler",
        uses: &["gadus-base", "gadus-machine"],
        never: &["arrow", "sqlparser"],
        never_named: &[],
    },
    Room {
        name: "gadus-sim",
        uses: &[
            "gadus",
            "gadus-base",
            "gadus-block",
            "gadus-engine",
            "gadus-locks",
            "gadus-sql",
            "gadus-storage",
        ],
        never: &[],
        never_named: SOCKETS,
    },
];

/// Crates that may name DataFusion, and under which name: its futures are compiled again wherever
/// they are awaited, so everybody else goes through the facade.
const DATAFUSION: [(&str, &str); 2] =
    [("gadus-sql", "datafusion"), ("gadus-cluster", "datafusion-distributed")];

/// The dependencies of `crates/NAME/Cargo.toml`.
pub(crate) fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let Some(crate_name) = crate_of(path) else { return Vec::new() };
    let Some(room) = room(crate_name) else {
        let message = format!("`{crate_name}` has no entry in {}: decide its edges", file!());
        return vec![Finding::error(path, 1, message)];
    };
    let refused = manifest::dependencies(text).into_iter().filter_map(|dependency| {
        let name = dependency.name.as_str();
        let reason = if is_or_extends(name, "gadus") {
            (!room.uses.contains(&name)).then_some("against the direction of the product")
        } else if is_or_extends(name, "datafusion") {
            let allowed = DATAFUSION
                .iter()
                .any(|(owner, root)| *owner == room.name && is_or_extends(name, root));
            (!allowed).then_some("gadus-sql alone names DataFusion")
        } else {
            let never = room.never.iter().any(|never| is_or_extends(name, never));
            never.then_some("kept out on purpose")
        }?;
        let message =
            format!("{crate_name} may not use `{name}`: {reason}; see ROOMS in {}", file!());
        Some(Finding::error(path, dependency.line, message))
    });
    refused.collect()
}

/// The names in a source file that its crate may not say.
pub(crate) fn check_source(source: &Source) -> Vec<Finding> {
    let room = crate_of(&source.path).and_then(room);
    let Some(room) = room.filter(|_| !source.is_test()) else { return Vec::new() };
    let named = room.never_named.iter().flat_map(|name| {
        source.words(name).map(move |at| {
            let message = format!("{} may not name `{name}`: see ROOMS in {}", room.name, file!());
            Finding::error(&source.path, source.line_at(at), message)
        })
    });
    named.collect()
}

fn room(crate_name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == crate_name)
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// True for `arrow` and `arrow-array`, not for `arrowhead`.
fn is_or_extends(name: &str, root: &str) -> bool {
    name.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

//! The dependency names of a `Cargo.toml`, read without a TOML parser.
//!
//! - Knows the forms used here: `name = …`, `name.workspace = true`, `[dependencies.name]`, and the
//!   same under `[target.….…]`. Development dependencies are not edges of the product.

/// A dependency and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// What the package needs to build.
pub(crate) fn dependencies(text: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        if let Some(section) = line.trim().strip_prefix('[') {
            let section = section.split(']').next().unwrap_or(section);
            let table = section.rsplit('.').next().unwrap_or(section);
            inside = is_dependency_table(table);
            let parent = section.strip_suffix(table).unwrap_or("").trim_end_matches('.');
            if is_dependency_table(parent.rsplit('.').next().unwrap_or(parent)) {
                found.push(Dependency { name: table.to_owned(), line: line_number });
            }
        } else if inside && let Some((name, value)) = line.split_once('=') {
            let alias = name.split('.').next().unwrap_or(name).trim();
            let name = renamed(value).unwrap_or(alias);
            if !alias.starts_with('#') {
                found.push(Dependency { name: name.to_owned(), line: line_number });
            }
        }
    }
    found
}

fn is_dependency_table(name: &str) -> bool {
    matches!(name, "dependencies" | "build-dependencies")
}

/// The package behind `alias = { package = "name", … }`.
fn renamed(value: &str) -> Option<&str> {
    value.split_once("package = \"")?.1.split('"').next()
}

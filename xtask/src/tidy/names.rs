//! Names say what a thing is for; these say only that nobody decided.

use super::finding::Finding;
use super::source::Source;

const EMPTY_NAMES: [&str; 8] =
    ["util", "utils", "common", "misc", "helper", "helpers", "stuff", "shared_code"];

pub(crate) fn check(source: &Source) -> Vec<Finding> {
    source
        .path
        .trim_end_matches(".rs")
        .split('/')
        .filter(|part| EMPTY_NAMES.contains(part) || is_version(part))
        .map(|part| {
            let message = format!("`{part}` says nothing: name the file after what it owns");
            Finding::error(&source.path, 1, message)
        })
        .collect()
}

/// True for `parser_v2`: the version history is git's.
fn is_version(name: &str) -> bool {
    name.rsplit_once("_v").is_some_and(|(_, digits)| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

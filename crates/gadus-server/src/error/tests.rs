//! Places of syntax errors.

use super::position;

#[test]
fn syntax_errors_have_their_place() {
    assert_eq!(position("expected x at Line: 1, Column: 8", "SELECT FROM"), Some(8));
    assert_eq!(position("expected x at Line: 2, Column: 3", "SELÉCT\n  )"), Some(10));
    assert_eq!(position("expected x", "SELECT"), None);
}

//! Texts of arrays.

use super::read_array;

/// Returns the lengths and the elements of a text, or the SQLSTATE and the detail of its error.
fn shown(text: &str) -> String {
    match read_array(text) {
        Ok(array) => {
            let elements = array.elements.iter().map(|one| one.as_deref().unwrap_or("-"));
            format!("{:?} {}", array.lengths, elements.collect::<Vec<_>>().join("|"))
        }
        Err(error) => {
            format!("{} {}", error.sql_state, error.detail.unwrap_or(error.message))
        }
    }
}

#[test]
fn arrays_have_the_dimensions_of_their_braces() {
    for (text, expected) in [
        ("{}", "[] "),
        ("  { } ", "[] "),
        ("{1, NULL ,\"NULL\"}", "[3] 1|-|NULL"),
        ("{{1,2,3},{4,5,6}}", "[2, 3] 1|2|3|4|5|6"),
        ("{{{1},{2}}}", "[1, 2, 1] 1|2"),
        ("{\"a,b\",c\\\"d, e f }", "[3] a,b|c\"d|e f"),
        ("[1:2]={5,6}", "[2] 5|6"),
        (" [2] = {5,6}", "[2] 5|6"),
        ("[1:1][0:1]={{5,6}}", "[1, 2] 5|6"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
    assert_eq!(read_array("[-1:0][3]={{1,2,3},{4,5,6}}").unwrap().lower_bounds, [-1, 1]);
}

#[test]
fn other_texts_are_refused() {
    let other_parts = "Multidimensional arrays must have sub-arrays with matching dimensions.";
    let mismatch = "Specified array dimensions do not match array contents.";
    for (text, expected) in [
        ("1,2", "Array value must start with \"{\" or dimension information."),
        ("{1,2", "Unexpected end of input."),
        ("{1}x", "Junk after closing right brace."),
        ("{{1},{2,3}}", other_parts),
        ("[1:2]={1}", mismatch),
        ("[1]={}", mismatch),
        ("[]={1}", "\"[\" must introduce explicitly-specified array dimensions."),
        ("[1:]={1}", "Missing array dimension value."),
        ("[1:1={1}", "Missing \"]\" after array dimensions."),
        ("[1:1]{1}", "Missing \"=\" after array dimensions."),
        ("[1:1]=1", "Array contents must start with \"{\"."),
    ] {
        assert_eq!(shown(text), format!("22P02 {expected}"), "{text}");
    }
    assert_eq!(shown("[2:1]={1}"), "2202E upper bound cannot be less than lower bound");
}

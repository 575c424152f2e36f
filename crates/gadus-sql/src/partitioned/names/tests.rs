//! Names of folders mean what they were made of.

use super::*;

#[test]
fn every_value_comes_back_from_its_folder() {
    for value in
        ["x", "", "a/b", "a=b", "100%", "%2F", ".", "..", "ä ö", "a\nb\0", NULL, "c:\\d*?\"'"]
    {
        let name = folder_name("k/1", Some(value));
        assert!(!name.contains(['/', '\0', '\\', '*', '?']), "{name}");
        assert_eq!(of_folder(&name), Some(("k/1".to_owned(), Some(value.to_owned()))), "{name}");
    }
    assert_eq!(folder_name("k", Some("a b/c")), "k=a b%2Fc");
    assert_eq!(of_folder(&folder_name("k", None)), Some(("k".to_owned(), None)));
    assert_eq!(of_folder("k=%zz%4"), Some(("k".to_owned(), Some("%zz%4".to_owned()))));
    assert_eq!(of_folder("plain"), None);
    assert_eq!(of_folder("=x"), None);
}

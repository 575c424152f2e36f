//! Lock files that say the same, and others.

use super::*;

const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry\"\n\
                    checksum = \"12\"\ndependencies = [\n \"b 2.0.0\",\n]\n\n[[package]]\nname = \"b\"\n\
                    version = \"2.0.0\"\n";

#[test]
fn packages_are_the_same_whatever_their_dependencies_are_called() {
    let expected = ["\"a\" \"1.0.0\" \"registry\" \"12\"", "\"b\" \"2.0.0\""];
    assert_eq!(packages(LOCK).collect::<Vec<_>>(), expected);
    assert_eq!(packages(&LOCK.replace("b 2.0.0", "b")).collect::<Vec<_>>(), expected);
    assert_ne!(packages(&LOCK.replace("12", "13")).collect::<Vec<_>>(), expected);
    assert_eq!(packages("version = 4\n").count(), 0);
}

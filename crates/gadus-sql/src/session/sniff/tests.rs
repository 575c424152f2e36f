//! What files look like, by their first lines.

use super::*;

fn of(text: &str) -> (char, bool) {
    let Dialect { delimiter, header } = dialect(text.as_bytes(), true, None);
    (delimiter.into(), header)
}

#[test]
fn what_separates_values_is_what_makes_most_of_them_in_each_line() {
    for (text, expected) in [
        ("", (',', true)),
        ("name\nAda\n", (',', true)),
        ("id,name\n1,Ada\n2,Bob\n", (',', true)),
        ("id;price\n1;2,50\n2;3,75\n", (';', true)),
        ("a\tb\tc\n1\tx, y\t2\n", ('\t', true)),
        ("a|b\nx;y|z\n", ('|', true)),
        // In quotes it separates nothing, and lines end elsewhere.
        ("a;b\n\"1,2\n3,4\";x\n\"5,6\";\"y\"\"z\"\n", (';', true)),
        // As many as there are in each line.
        ("a,b;c\n1,2,3;4\n", (';', true)),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
}

#[test]
fn the_first_line_has_names_unless_it_has_values() {
    for (text, header) in [
        ("1,Ada\n2,Bob\n", false),
        ("Ada,2024-01-02\nBob,2024-01-03 04:05:06\n", false),
        ("x,true\ny,false\n", false),
        ("x,\ny,1\n", true),
        ("2020,2021\nmany,few\n", true),
        ("name,2021\nAda,\nBob,1.5\n", false),
        ("Ada,Berlin\nBob,Rome\n", true),
        ("1,2\n", true),
        ("nan,inf\n1,2\n", true),
        ("name,age\nAda,36\nBob,unknown\n", true),
    ] {
        assert_eq!(of(text).1, header, "{text}");
    }
}

#[test]
fn a_line_that_is_cut_off_says_nothing() {
    let cut = b"a;b;c\n1;2;3\n4;5";
    assert_eq!(dialect(cut, false, None), Dialect { delimiter: b';', header: true });
    // What somebody says holds, also where lines have more values or fewer.
    let said = dialect(b"a,b\n1,2,3\n", true, Some(b','));
    assert_eq!(said, Dialect { delimiter: b',', header: true });
}

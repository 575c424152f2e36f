//! What the log shows of statements.

use super::{CHARACTERS_MAX, shown, tells_password};

#[test]
fn passwords_are_hidden() {
    for (text, expected) in [
        ("SELECT 'password'", "SELECT 'password'"),
        ("SELECT 'a password' PASSWORD 'b'", "SELECT 'a password' PASSWORD '…'"),
        ("/* /* */ it's */ PASSWORD 'b' -- it's", "/* /* */ it's */ PASSWORD '…' -- it's"),
        ("SELECT 'a\\' PASSWORD 'b'", "SELECT 'a\\' PASSWORD '…'"),
        ("SELECT $x$it's$x$ PASSWORD 'b'", "SELECT $x$it's$x$ PASSWORD '…'"),
        ("CREATE USER ada PASSWORD 'secret'", "CREATE USER ada PASSWORD '…'"),
        ("alter user a with password'it''s'; SELECT 1", "alter user a with password '…'; SELECT 1"),
        ("CREATE USER a PASSWORD 'sec", "CREATE USER a PASSWORD '…'"),
        ("CREATE USER a PASSWORD E'a\\'b' x", "CREATE USER a PASSWORD '…' x"),
        ("CREATE USER a PASSWORD /* ' */ --\n 'b' x", "CREATE USER a PASSWORD /* ' */ --\n '…' x"),
        ("CREATE USER a PASSWORD = $$b'$$ x", "CREATE USER a PASSWORD = '…' x"),
        ("CREATE USER a PASSWORD $q$b$$c$q$", "CREATE USER a PASSWORD '…'"),
        ("CREATE USER a PASSWORD U&'b' x", "CREATE USER a PASSWORD '…' x"),
        ("ALTER USER a PASSWORD NULL", "ALTER USER a PASSWORD NULL"),
        ("ALTER USER a PASSWORD $1", "ALTER USER a PASSWORD $1"),
        ("PASSWORD 'a' PASSWORD 'b'", "PASSWORD '…' PASSWORD '…'"),
        ("SELECT my_password 'x', passwords 'y'", "SELECT my_password 'x', passwords 'y'"),
        ("SELECT \"password\" FROM \"t\"", "SELECT \"password\" FROM \"t\""),
        ("PASSWORD", "PASSWORD"),
        ("", ""),
    ] {
        assert_eq!(shown(text), expected);
        assert_eq!(shown(&shown(text)), expected);
    }
    assert!(tells_password("create user a Password 'x'"));
    assert!(!tells_password("SELECT passwords"));
}

#[test]
fn texts_are_cut_between_characters() {
    let text = "ü".repeat(CHARACTERS_MAX);
    assert_eq!(shown(&text), text);
    let cut = shown(&format!("{text}x"));
    assert_eq!(cut, format!("{text}…"));
    // What is cut in a password's middle is hidden as far as it is there.
    let long = format!("CREATE USER a PASSWORD '{}'", "x".repeat(CHARACTERS_MAX));
    assert_eq!(shown(&long), "CREATE USER a PASSWORD '…'…");
    assert!(tells_password(&shown(&format!("CREATE /* {text} */ USER a PASSWORD 'b'"))));
}

//! Single bits and bytes, and digests, with PostgreSQL's answers.

use super::{
    bit_count, decode, encode, get_bit, get_byte, like, like_escape, md5, overlay, position,
    read_bytes, set_bit, set_byte, sha224, sha256, sha384, sha512, substring, trim, write_bytes,
};

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn digests_are_those_of_their_standards() {
    assert_eq!(md5(b"").unwrap(), "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(md5("é".as_bytes()).unwrap(), "66ddcd97cfdeabb2f6fb8a999b4bc76f");
    let abc = b"abc";
    let short = "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7";
    assert_eq!(hexadecimal(&sha224(abc).unwrap()), short);
    let middle = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hexadecimal(&sha256(abc).unwrap()), middle);
    assert!(hexadecimal(&sha384(abc).unwrap()).starts_with("cb00753f45a35e8bb5a03d699ac65007"));
    assert!(hexadecimal(&sha512(abc).unwrap()).starts_with("ddaf35a193617abacc417349ae204131"));
}

#[test]
fn bits_count_from_the_lowest_of_each_byte() {
    let bytes = [0x12, 0x34];
    assert_eq!(get_bit(&bytes, 1).unwrap(), 1);
    assert_eq!(get_bit(&bytes, 10).unwrap(), 1);
    assert_eq!(set_bit(&bytes, 0, 1).unwrap(), [0x13, 0x34]);
    assert_eq!(set_bit(&bytes, 10, 0).unwrap(), [0x12, 0x30]);
    assert_eq!(get_byte(&bytes, 1).unwrap(), 0x34);
    assert_eq!(set_byte(&bytes, 0, 257).unwrap(), [0x01, 0x34]);
    assert_eq!(bit_count(&bytes), 5);
}

#[test]
fn positions_outside_of_a_value_are_refused() {
    let error = get_bit(&[0], 8).unwrap_err();
    assert_eq!((error.sqlstate, &*error.message), ("2202E", "index 8 out of valid range, 0..7"));
    let error = get_byte(&[], 0).unwrap_err();
    assert_eq!(error.message, "index 0 out of valid range, 0..-1");
    assert_eq!(set_byte(&[0], -1, 0).unwrap_err().sqlstate, "2202E");
    let error = set_bit(&[0], 0, 2).unwrap_err();
    assert_eq!((error.sqlstate, &*error.message), ("22023", "new bit must be 0 or 1"));
}

#[test]
fn texts_of_bytes_have_digits_or_escapes() {
    assert_eq!(read_bytes("\\x01 aF\n").unwrap(), [0x01, 0xaf]);
    assert_eq!(read_bytes("a\\\\b\\001é").unwrap(), b"a\\b\x01\xc3\xa9");
    assert_eq!(write_bytes(&[0x01, 0xaf]), "\\x01af");
    let failed = |text: &str| read_bytes(text).unwrap_err();
    assert_eq!(failed("\\x0").message, "invalid hexadecimal data: odd number of digits");
    assert_eq!(failed("\\xäb").message, "invalid hexadecimal digit: \"ä\"");
    assert_eq!(failed("\\x0").sqlstate, "22023");
    for wrong in ["\\", "a\\b", "\\400", "\\08 "] {
        assert_eq!(failed(wrong).sqlstate, "22P02", "{wrong}");
    }
}

#[test]
fn encodings_are_read_as_they_are_written() {
    let bytes = (0..=255).collect::<Vec<u8>>();
    for encoding in ["hex", "BASE64", "escape"] {
        let text = encode(&bytes, encoding).unwrap();
        assert_eq!(decode(&text, encoding).unwrap(), bytes, "{encoding}");
    }
    assert_eq!(encode(b"\x00\xff\\a", "escape").unwrap(), "\\000\\377\\\\a");
    assert_eq!(encode(&[1; 58], "base64").unwrap().find('\n'), Some(76));
    assert_eq!(encode(b"", "base64").unwrap(), "");
    for (text, encoding, sqlstate) in [
        ("1234567", "base64", "22023"),
        ("12+/$", "base64", "22023"),
        ("123", "hex", "22023"),
        ("\\", "escape", "22P02"),
        ("", "rot13", "22023"),
    ] {
        assert_eq!(decode(text, encoding).unwrap_err().sqlstate, sqlstate, "{text}");
    }
}

#[test]
fn parts_of_bytes_are_counted_from_one() {
    assert_eq!(substring(b"string", -10, Some(i32::MAX)).unwrap(), b"string");
    assert_eq!(substring(b"string", 2, None).unwrap(), b"tring");
    assert_eq!(substring(b"string", 2, Some(-1)).unwrap_err().sqlstate, "22011");
    assert_eq!(overlay(b"Th\x00omas", b"Th\x00ox", 2, Some(3)).unwrap(), b"TTh\x00oxmas");
    assert_eq!(trim(b"\x00Tom\x00", b"\x00", true, true), b"Tom");
    assert_eq!(trim(b"\x00Tom\x00", b"\x00", false, true), b"\x00Tom");
    assert_eq!(trim(b"aa", b"a", true, true), b"");
    assert_eq!((position(b"abc", b"bc"), position(b"abc", b""), position(b"a", b"b")), (2, 1, 0));
}

#[test]
fn patterns_of_bytes_have_wildcards_and_an_escape() {
    for (value, pattern, expected) in
        [("abc", "_b_", true), ("abc", "a%", true), ("a%c", "a\\%c", true), ("abc", "a\\%c", false)]
    {
        assert_eq!(like(value.as_bytes(), pattern.as_bytes()).unwrap(), expected, "{pattern}");
    }
    assert_eq!(like(b"a", b"a\\").unwrap_err().sqlstate, "22025");
    assert_eq!(like_escape(b"a$__\\", b"$").unwrap(), b"a\\__\\\\");
    assert_eq!(like_escape(b"a", b"##").unwrap_err().sqlstate, "22025");
}

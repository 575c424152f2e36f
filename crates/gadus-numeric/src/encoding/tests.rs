//! The table of bytes, and refusals of its neighbours.

use crate::Numeric;

fn written(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    text.parse::<Numeric>().unwrap().write(&mut bytes);
    bytes
}

#[test]
fn bytes_are_those_of_the_table() {
    for (text, bytes) in [
        ("0.00", &[0x80, 0, 2][..]),
        ("1", &[0x97, 2, 0, 0]),
        ("-1", &[0x68, 0xFD, 0, 0]),
        ("100", &[0x98, 2, 0, 0]),
        ("19.90", &[0x97, 39, 180, 0, 2]),
        ("0.5", &[0x96, 100, 0, 1]),
        ("1e200", &[0xE7, 0, 20, 2, 0, 0]),
        ("1e-50", &[0x81, 0x1F, 0xE8, 2, 0, 50]),
        ("NaN", &[0xF8, 0, 0]),
        ("Infinity", &[0xF7, 0, 0]),
        ("-Infinity", &[0x08, 0, 0]),
    ] {
        assert_eq!(written(text), bytes, "{text}");
    }
}

#[test]
fn bytes_that_no_value_is_written_as_are_refused() {
    for bytes in [
        &[][..],
        &[0x80],
        &[0x80, 0],
        &[0x80, 0, 0, 0],
        &[0x80, 0xFF, 0xFF],
        // NaN with a scale.
        &[0xF8, 0, 2],
        // Negative NaN, negative zero.
        &[0x07, 0, 0],
        &[0x7F, 0, 0],
        // Zero as the first digit, and as the last.
        &[0x97, 0, 0, 0],
        &[0x97, 1, 2, 0, 2],
        &[0x97, 3, 0, 0, 2],
        // A digit of 100.
        &[0x97, 200, 0, 0],
        // A digit after the display scale.
        &[0x97, 3, 3, 2, 0, 2],
        // A small exponent in a wide form, and one beyond the limits.
        &[0x81, 0x20, 0x01, 2, 0, 0],
        &[0xE7, 0xFF, 0xFF, 200, 0, 0],
        // No last digit.
        &[0x97, 3, 3, 3],
    ] {
        assert_eq!(Numeric::read(bytes).unwrap_err().sqlstate(), "XX001", "{bytes:?}");
    }
}

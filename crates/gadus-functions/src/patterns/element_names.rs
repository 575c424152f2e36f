//! Names of collating elements within brackets, as in `[[.hyphen.]]`.

#[rustfmt::skip]
const NAMES: &[(&str, u8)] = &[
    ("NUL", 0x00), ("SOH", 0x01), ("STX", 0x02), ("ETX", 0x03), ("EOT", 0x04), ("ENQ", 0x05),
    ("ACK", 0x06), ("BEL", 0x07), ("alert", 0x07), ("BS", 0x08), ("backspace", 0x08),
    ("HT", 0x09), ("tab", 0x09), ("LF", 0x0A), ("newline", 0x0A), ("VT", 0x0B),
    ("vertical-tab", 0x0B), ("FF", 0x0C), ("form-feed", 0x0C), ("CR", 0x0D),
    ("carriage-return", 0x0D), ("SO", 0x0E), ("SI", 0x0F), ("DLE", 0x10), ("DC1", 0x11),
    ("DC2", 0x12), ("DC3", 0x13), ("DC4", 0x14), ("NAK", 0x15), ("SYN", 0x16), ("ETB", 0x17),
    ("CAN", 0x18), ("EM", 0x19), ("SUB", 0x1A), ("ESC", 0x1B), ("IS4", 0x1C), ("FS", 0x1C),
    ("IS3", 0x1D), ("GS", 0x1D), ("IS2", 0x1E), ("RS", 0x1E), ("IS1", 0x1F), ("US", 0x1F),
    ("space", 0x20), ("exclamation-mark", 0x21), ("quotation-mark", 0x22), ("number-sign", 0x23),
    ("dollar-sign", 0x24), ("percent-sign", 0x25), ("ampersand", 0x26), ("apostrophe", 0x27),
    ("left-parenthesis", 0x28), ("right-parenthesis", 0x29), ("asterisk", 0x2A),
    ("plus-sign", 0x2B), ("comma", 0x2C), ("hyphen", 0x2D), ("hyphen-minus", 0x2D),
    ("period", 0x2E), ("full-stop", 0x2E), ("slash", 0x2F), ("solidus", 0x2F), ("zero", 0x30),
    ("one", 0x31), ("two", 0x32), ("three", 0x33), ("four", 0x34), ("five", 0x35), ("six", 0x36),
    ("seven", 0x37), ("eight", 0x38), ("nine", 0x39), ("colon", 0x3A), ("semicolon", 0x3B),
    ("less-than-sign", 0x3C), ("equals-sign", 0x3D), ("greater-than-sign", 0x3E),
    ("question-mark", 0x3F), ("commercial-at", 0x40), ("left-square-bracket", 0x5B),
    ("backslash", 0x5C), ("reverse-solidus", 0x5C), ("right-square-bracket", 0x5D),
    ("circumflex", 0x5E), ("circumflex-accent", 0x5E), ("underscore", 0x5F), ("low-line", 0x5F),
    ("grave-accent", 0x60), ("left-brace", 0x7B), ("left-curly-bracket", 0x7B),
    ("vertical-line", 0x7C), ("right-brace", 0x7D), ("right-curly-bracket", 0x7D),
    ("tilde", 0x7E), ("DEL", 0x7F),
];

/// Returns the character of a name; a single character is its own.
pub(super) fn element(name: &str) -> Option<char> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Some(only);
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, code)| char::from(*code))
}

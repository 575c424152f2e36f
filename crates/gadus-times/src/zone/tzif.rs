//! Files of the IANA database: TZif of version 2 and later, RFC 8536.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `TZif` |
//! | 1 | version: `2` or later |
//! | 15 | reserved |
//! | 6 × 4 | counts: UT flags, standard flags, leap seconds, transitions, types, bytes of abbreviations |
//! | … | block of version 1, in 32 bits, skipped |
//! | 44 | header of the second block |
//! | 8 n | transitions, seconds since 1970, big-endian |
//! | n | type of each transition |
//! | 6 m | types: offset (4), daylight flag (1), index of the abbreviation (1) |
//! | … | abbreviations, leap seconds, flags |
//! | … | newline, POSIX text for later times, newline |

use super::posix;
use super::rules::{LocalType, Rules, Transition};

const HEADER_BYTES: usize = 44;

/// Decodes a file; `None` if it is damaged.
pub(super) fn decode(bytes: &[u8]) -> Option<Rules> {
    let first = Header::decode(bytes)?;
    let bytes = bytes.get(HEADER_BYTES + first.block_bytes(4)..)?;
    let header = Header::decode(bytes)?;
    let mut block = bytes.get(HEADER_BYTES..)?;
    let times = take(&mut block, header.transitions * 8)?;
    let indexes = take(&mut block, header.transitions)?;
    let types = take(&mut block, header.types * 6)?;
    let names = take(&mut block, header.abbreviation_bytes)?;
    take(&mut block, header.leap_seconds * 12 + header.standard_flags + header.ut_flags)?;
    let mut types = types
        .chunks_exact(6)
        .map(|entry| local_type(entry, names))
        .collect::<Option<Vec<LocalType>>>()?;
    let mut transitions = Vec::new();
    for (time, index) in times.chunks_exact(8).zip(indexes) {
        let unix_seconds = i64::from_be_bytes(time.try_into().ok()?);
        transitions.push(Transition { unix_seconds, type_index: usize::from(*index) });
    }
    let footer = block.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
    let mut rule = None;
    if !footer.is_empty() {
        let parsed = posix::parse(footer)?;
        rule = parsed.rule.map(|mut rule| {
            (rule.standard, rule.daylight) = (types.len(), types.len() + 1);
            rule
        });
        if rule.is_some() {
            types.extend(parsed.types);
        }
    }
    Rules::new(types, transitions, rule)
}

/// Counts of a header.
struct Header {
    ut_flags: usize,
    standard_flags: usize,
    leap_seconds: usize,
    transitions: usize,
    types: usize,
    abbreviation_bytes: usize,
}

impl Header {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..HEADER_BYTES)?.strip_prefix(b"TZif")?;
        if header.first().is_none_or(|version| *version < b'2') {
            return None;
        }
        let counts = header.get(16..)?.chunks_exact(4).map(|count| {
            let count = u32::from_be_bytes(count.try_into().ok()?);
            // A file has less than a megabyte of each.
            usize::try_from(count).ok().filter(|count| *count < 1 << 20)
        });
        let counts = counts.collect::<Option<Vec<usize>>>()?;
        let [ut_flags, standard_flags, leap_seconds, transitions, types, abbreviation_bytes] =
            counts.try_into().ok()?;
        Some(Self {
            ut_flags,
            standard_flags,
            leap_seconds,
            transitions,
            types,
            abbreviation_bytes,
        })
    }

    fn block_bytes(&self, time_bytes: usize) -> usize {
        self.transitions * (time_bytes + 1)
            + self.types * 6
            + self.abbreviation_bytes
            + self.leap_seconds * (time_bytes + 4)
            + self.standard_flags
            + self.ut_flags
    }
}

fn local_type(entry: &[u8], names: &[u8]) -> Option<LocalType> {
    let [a, b, c, d, daylight, index] = entry.try_into().ok()?;
    let name = names.get(usize::from(index)..)?;
    let name = name.split(|byte| *byte == 0).next()?;
    Some(LocalType {
        offset: i32::from_be_bytes([a, b, c, d]),
        is_daylight: daylight != 0,
        abbreviation: std::str::from_utf8(name).ok()?.to_owned(),
    })
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

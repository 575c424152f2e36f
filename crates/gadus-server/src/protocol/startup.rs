//! What comes before a client is let in: requests for encryption, for cancelling, and the startup itself.

use super::frontend::Body;
use crate::error::{Failure, SqlState};
use bytes::{Buf, Bytes};

/// Bytes of a first message: more than its parameters ever need.
pub(super) const OPENING_BYTES_MAX: usize = 10_000;

const SSL: i32 = 80_877_103;
const GSS: i32 = 80_877_104;
const CANCEL: i32 = 80_877_102;

/// A first message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Encrypt,
    /// Encryption begins without being asked for.
    Handshake,
    EncryptByGss,
    Cancel {
        process: u32,
        secret: u32,
    },
    Start(Startup),
}

/// Who wants in, and with what settings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Startup {
    /// Of the protocol.
    pub(crate) minor_version: u16,
    /// Names and values; options of the protocol, `_pq_.…`, stand apart.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) protocol_options: Vec<String>,
}

impl Startup {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Opening {
    /// Reads the body of a first message.
    pub(super) fn read(mut body: Bytes) -> Result<Self, Failure> {
        let violation = |text: &str| Failure::fatal(SqlState::PROTOCOL_VIOLATION, text);
        if body.len() < 4 {
            return Err(violation("a first message is too short"));
        }
        let code = body.get_i32();
        match code {
            SSL if body.is_empty() => return Ok(Self::Encrypt),
            GSS if body.is_empty() => return Ok(Self::EncryptByGss),
            CANCEL if body.len() == 8 => {
                let (process, secret) = (body.get_u32(), body.get_u32());
                return Ok(Self::Cancel { process, secret });
            }
            _ => {}
        }
        let (major, minor) = (code >> 16, code & 0xffff);
        if major != 3 {
            return Err(violation(&format!(
                "the protocol {major}.{minor} is not known: there is 3.0"
            )));
        }
        let mut body = Body(body);
        let (mut parameters, mut protocol_options) = (Vec::new(), Vec::new());
        loop {
            let name = body.text().map_err(Failure::made_fatal)?;
            if name.is_empty() {
                break;
            }
            let value = body.text().map_err(Failure::made_fatal)?;
            match name.starts_with("_pq_.") {
                true => protocol_options.push(name),
                false => parameters.push((name, value)),
            }
        }
        if !body.0.is_empty() {
            return Err(violation("a first message is longer than what it holds"));
        }
        let minor_version = u16::try_from(minor).unwrap_or(u16::MAX);
        Ok(Self::Start(Startup { minor_version, parameters, protocol_options }))
    }
}

#[cfg(test)]
mod tests {
    use super::Opening;
    use bytes::Bytes;

    #[test]
    fn startups_are_read() {
        let body = b"\0\x03\0\0user\0ada\0database\0shop\0_pq_.x\x001\0\0";
        let Ok(Opening::Start(startup)) = Opening::read(Bytes::from_static(body)) else {
            panic!("a startup")
        };
        assert_eq!(startup.get("user"), Some("ada"));
        assert_eq!(startup.protocol_options, ["_pq_.x"]);
        let ssl = Opening::read(Bytes::copy_from_slice(&super::SSL.to_be_bytes()));
        assert!(matches!(ssl, Ok(Opening::Encrypt)));
    }

    #[test]
    fn other_first_messages_end_the_connection() {
        for body in [&b""[..], b"\0\x02\0\0\0", b"\0\x03\0\0user", b"\0\x03\0\0user\0a\0\0x"] {
            let failure = Opening::read(Bytes::from_static(body)).expect_err("refused");
            assert_eq!((failure.code.text(), failure.is_fatal), ("08P01", true), "{body:?}");
        }
    }
}

//! What is sent to clients.

use crate::error::Failure;
use bytes::{BufMut, BytesMut};

/// 3.0, in two halves.
const PROTOCOL_VERSION: i32 = 3 << 16;

/// Messages that gather until they are sent.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: BytesMut,
}

/// A column as RowDescription tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) oid: u32,
    /// Bytes of a value, negative where they vary.
    pub(crate) size: i16,
    /// Precision and scale of a numeric; -1 for none.
    pub(crate) modifier: i32,
    /// 0 for text, 1 for binary.
    pub(crate) format: i16,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Notice,
    Warning,
    Error,
    Fatal,
}

/// Something to tell that is no error.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    pub(crate) severity: Severity,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Output {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn take(&mut self) -> BytesMut {
        std::mem::take(&mut self.bytes)
    }

    /// Writes a message: its type, its length, its body.
    pub(crate) fn message(&mut self, kind: u8, body: impl FnOnce(&mut BytesMut)) {
        self.bytes.put_u8(kind);
        let start = self.bytes.len();
        self.bytes.put_i32(0);
        body(&mut self.bytes);
        let length = i32::try_from(self.bytes.len() - start).unwrap_or(i32::MAX);
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn empty(&mut self, kind: u8) {
        self.message(kind, |_| {});
    }

    pub(crate) fn authentication_ok(&mut self) {
        self.message(b'R', |body| body.put_i32(0));
    }

    pub(crate) fn authentication_sasl(&mut self, mechanisms: &[&str]) {
        self.message(b'R', |body| {
            body.put_i32(10);
            for mechanism in mechanisms {
                put_text(body, mechanism);
            }
            body.put_u8(0);
        });
    }

    /// A step of SASL: 11 to go on, 12 at the end.
    pub(crate) fn authentication_step(&mut self, step: i32, data: &str) {
        self.message(b'R', |body| {
            body.put_i32(step);
            body.put_slice(data.as_bytes());
        });
    }

    /// What is spoken where a client asks for a newer version or options.
    pub(crate) fn negotiate_version(&mut self, unknown: &[String]) {
        self.message(b'v', |body| {
            body.put_i32(PROTOCOL_VERSION);
            body.put_i32(i32::try_from(unknown.len()).unwrap_or(i32::MAX));
            for option in unknown {
                put_text(body, option);
            }
        });
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        self.message(b'S', |body| {
            put_text(body, name);
            put_text(body, value);
        });
    }

    pub(crate) fn backend_key(&mut self, process: u32, secret: u32) {
        self.message(b'K', |body| {
            body.put_u32(process);
            body.put_u32(secret);
        });
    }

    /// `I` when no transaction is open, `T` in one, `E` in one that has failed.
    pub(crate) fn ready(&mut self, status: u8) {
        self.message(b'Z', |body| body.put_u8(status));
    }

    pub(crate) fn parse_complete(&mut self) {
        self.empty(b'1');
    }

    pub(crate) fn bind_complete(&mut self) {
        self.empty(b'2');
    }

    pub(crate) fn close_complete(&mut self) {
        self.empty(b'3');
    }

    pub(crate) fn no_data(&mut self) {
        self.empty(b'n');
    }

    pub(crate) fn portal_suspended(&mut self) {
        self.empty(b's');
    }

    pub(crate) fn empty_query(&mut self) {
        self.empty(b'I');
    }

    pub(crate) fn complete(&mut self, tag: &str) {
        self.message(b'C', |body| put_text(body, tag));
    }

    pub(crate) fn parameter_description(&mut self, types: &[u32]) {
        self.message(b't', |body| {
            body.put_u16(u16::try_from(types.len()).unwrap_or(u16::MAX));
            for oid in types {
                body.put_u32(*oid);
            }
        });
    }

    pub(crate) fn row_description(&mut self, fields: &[Field]) {
        self.message(b'T', |body| {
            body.put_u16(u16::try_from(fields.len()).unwrap_or(u16::MAX));
            for field in fields {
                put_text(body, &field.name);
                // No table and no column of it: results are computed.
                body.put_u32(0);
                body.put_u16(0);
                body.put_u32(field.oid);
                body.put_i16(field.size);
                body.put_i32(field.modifier);
                body.put_i16(field.format);
            }
        });
    }

    /// The answer to COPY: `G` when the client is to send, `H` when it is to receive.
    pub(crate) fn copy_response(&mut self, kind: u8, is_binary: bool, columns: usize) {
        let format = u8::from(is_binary);
        self.message(kind, |body| {
            body.put_u8(format);
            body.put_u16(u16::try_from(columns).unwrap_or(u16::MAX));
            for _ in 0..columns {
                body.put_u16(u16::from(format));
            }
        });
    }

    pub(crate) fn copy_data(&mut self, write: impl FnOnce(&mut BytesMut)) {
        self.message(b'd', write);
    }

    pub(crate) fn copy_done(&mut self) {
        self.empty(b'c');
    }

    pub(crate) fn error(&mut self, failure: &Failure) {
        let severity = if failure.is_fatal { Severity::Fatal } else { Severity::Error };
        self.message(b'E', |body| {
            put_report(body, severity, failure.code.text(), &failure.message);
            let optional = [(b'D', &failure.detail), (b'H', &failure.hint)];
            for (kind, text) in optional {
                if let Some(text) = text {
                    put_field(body, kind, text);
                }
            }
            if let Some(position) = failure.position {
                put_field(body, b'P', &position.to_string());
            }
            body.put_u8(0);
        });
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        self.message(b'N', |body| {
            put_report(body, notice.severity, notice.code, &notice.message);
            body.put_u8(0);
        });
    }
}

fn put_report(body: &mut BytesMut, severity: Severity, code: &str, message: &str) {
    let severity = match severity {
        Severity::Notice => "NOTICE",
        Severity::Warning => "WARNING",
        Severity::Error => "ERROR",
        Severity::Fatal => "FATAL",
    };
    put_field(body, b'S', severity);
    put_field(body, b'V', severity);
    put_field(body, b'C', code);
    put_field(body, b'M', message);
}

fn put_field(body: &mut BytesMut, kind: u8, text: &str) {
    body.put_u8(kind);
    put_text(body, text);
}

/// A text and its NUL; one within it ends it.
fn put_text(body: &mut BytesMut, text: &str) {
    let end = text.find('\0').unwrap_or(text.len());
    body.put_slice(&text.as_bytes()[..end]);
    body.put_u8(0);
}

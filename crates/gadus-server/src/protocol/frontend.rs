//! What clients send after they have been let in.

use crate::error::{Failure, SqlState};
use bytes::{Buf, Bytes};

/// A message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    Query(String),
    Parse { name: String, text: String, types: Vec<u32> },
    Bind(Bind),
    Describe(Target, String),
    Close(Target, String),
    Execute { portal: String, max_rows: usize },
    Flush,
    Sync,
    CopyData(Bytes),
    CopyDone,
    CopyFail(String),
    Terminate,
}

impl Message {
    /// Whether what goes wrong with it is the statement's.
    pub(crate) fn is_of_statement(&self) -> bool {
        matches!(
            self,
            Self::Parse { .. } | Self::Bind(_) | Self::Describe(..) | Self::Execute { .. }
        )
    }
}

/// What a Bind says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bind {
    pub(crate) portal: String,
    pub(crate) statement: String,
    pub(crate) parameter_formats: Vec<i16>,
    /// None for NULL.
    pub(crate) parameters: Vec<Option<Bytes>>,
    pub(crate) result_formats: Vec<i16>,
}

/// What Describe and Close are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Statement,
    Portal,
}

impl Message {
    /// Reads the body of a message of this type.
    ///
    /// # Errors
    /// `08P01` for a body that is not one of such a message, `22021` for text that is not UTF-8.
    pub(crate) fn read(kind: u8, body: Bytes) -> Result<Self, Failure> {
        let mut body = Body(body);
        let message = match kind {
            b'Q' => Self::Query(body.text()?),
            b'P' => {
                let (name, text) = (body.text()?, body.text()?);
                let types = body.list(4, Buf::get_u32)?;
                Self::Parse { name, text, types }
            }
            b'B' => Self::Bind(Bind {
                portal: body.text()?,
                statement: body.text()?,
                parameter_formats: body.list(2, Buf::get_i16)?,
                parameters: body.parameters()?,
                result_formats: body.list(2, Buf::get_i16)?,
            }),
            b'D' => Self::Describe(body.target()?, body.text()?),
            b'C' => Self::Close(body.target()?, body.text()?),
            b'E' => {
                let portal = body.text()?;
                // Zero and less mean all.
                let max_rows = usize::try_from(body.number(4, Buf::get_i32)?).unwrap_or(0);
                Self::Execute { portal, max_rows }
            }
            b'H' => Self::Flush,
            b'S' => Self::Sync,
            b'd' => return Ok(Self::CopyData(body.0)),
            b'c' => Self::CopyDone,
            b'f' => Self::CopyFail(body.text()?),
            b'X' => Self::Terminate,
            other => return Err(unknown(other)),
        };
        match body.0.is_empty() {
            true => Ok(message),
            false => Err(malformed("a message is longer than what it holds")),
        }
    }
}

/// The error for a message that is none.
fn unknown(kind: u8) -> Failure {
    let text = match kind {
        b'F' => return Failure::new(SqlState::FEATURE_NOT_SUPPORTED, "function calls by message"),
        graphic if graphic.is_ascii_graphic() => format!("'{}'", char::from(graphic)),
        other => other.to_string(),
    };
    malformed(&format!("there is no message of type {text}"))
}

fn malformed(what: &str) -> Failure {
    Failure::new(SqlState::PROTOCOL_VIOLATION, what)
}

/// What is left of a body.
pub(super) struct Body(pub(super) Bytes);

impl Body {
    /// A text up to its NUL.
    pub(super) fn text(&mut self) -> Result<String, Failure> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| malformed("a text in a message has no end"))?;
        let text = self.0.split_to(end);
        self.0.advance(1);
        match String::from_utf8(text.into()) {
            Ok(text) => Ok(text),
            Err(error) => Err(Failure::encoding(&error.utf8_error())),
        }
    }

    fn number<T>(&mut self, bytes: usize, get: fn(&mut Bytes) -> T) -> Result<T, Failure> {
        if self.0.len() < bytes {
            return Err(malformed("a message is shorter than what it should hold"));
        }
        Ok(get(&mut self.0))
    }

    /// A count, and as many numbers.
    fn list<T>(&mut self, bytes: usize, get: fn(&mut Bytes) -> T) -> Result<Vec<T>, Failure> {
        let count = usize::from(self.number(2, Buf::get_u16)?);
        if self.0.len() < count * bytes {
            return Err(malformed("a list in a message is shorter than it says"));
        }
        Ok((0..count).map(|_| get(&mut self.0)).collect())
    }

    fn parameters(&mut self) -> Result<Vec<Option<Bytes>>, Failure> {
        let count = usize::from(self.number(2, Buf::get_u16)?);
        // Each has its length at least.
        if self.0.len() < count * 4 {
            return Err(malformed("a message has fewer parameters than it says"));
        }
        let mut parameters = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.number(4, Buf::get_i32)?;
            if length == -1 {
                parameters.push(None);
                continue;
            }
            let length = usize::try_from(length).ok().filter(|length| *length <= self.0.len());
            let length = length.ok_or_else(|| malformed("a parameter has an impossible length"))?;
            parameters.push(Some(self.0.split_to(length)));
        }
        Ok(parameters)
    }

    fn target(&mut self) -> Result<Target, Failure> {
        match self.number(1, Buf::get_u8)? {
            b'S' => Ok(Target::Statement),
            b'P' => Ok(Target::Portal),
            _ => Err(malformed("a message is about neither a statement nor a portal")),
        }
    }
}

#[cfg(test)]
mod tests;

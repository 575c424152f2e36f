//! A client of PostgreSQL's protocol: simple queries, results as texts.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// An ErrorResponse of the server.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: String,
    /// FATAL ends the connection.
    pub(crate) severity: String,
}

pub(crate) struct WireClient(TcpStream);

impl WireClient {
    pub(crate) fn connect(address: &str) -> Result<Self, Refusal> {
        let mut client = Self(TcpStream::connect(address).unwrap());
        let startup = b"\0\x03\0\0user\0ada\0database\0x\0\0";
        let length = u32::try_from(startup.len() + 4).unwrap();
        client.0.write_all(&[&length.to_be_bytes(), &startup[..]].concat()).unwrap();
        client.answer().map(|_| client)
    }

    /// Runs statements; gives the first column of all rows.
    pub(crate) fn query(&mut self, text: &str) -> Result<Vec<String>, Refusal> {
        self.send(text);
        self.answer()
    }

    /// Runs statements, and leaves their results where they are.
    pub(crate) fn send(&mut self, text: &str) {
        let length = u32::try_from(text.len() + 5).unwrap();
        let message = [b"Q", &length.to_be_bytes()[..], text.as_bytes(), b"\0"].concat();
        self.0.write_all(&message).unwrap();
    }

    /// Waits for the first row of what was sent, and leaves the others where they are.
    pub(crate) fn first_row(&mut self) -> String {
        loop {
            let (kind, body) = self.message().unwrap();
            assert!(b"TD".contains(&kind), "{}", Refusal::read(&body).message);
            if kind == b'D' {
                return first_column(&body);
            }
        }
    }

    /// Waits for what the server says without having been asked: that the connection ends.
    pub(crate) fn ending(mut self) -> Refusal {
        self.answer().unwrap_err()
    }

    fn message(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let mut body = vec![0; length - 4];
        self.0.read_exact(&mut body)?;
        Ok((head[0], body))
    }

    /// Reads messages until the server is ready for the next statement, or closes.
    fn answer(&mut self) -> Result<Vec<String>, Refusal> {
        let (mut rows, mut refusal) = (Vec::new(), None);
        loop {
            let Ok((kind, body)) = self.message() else {
                return Err(refusal.expect("a server says why it closes"));
            };
            match kind {
                b'D' => rows.push(first_column(&body)),
                b'E' => refusal = Some(Refusal::read(&body)),
                b'Z' => return refusal.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }
}

fn first_column(body: &[u8]) -> String {
    let length = u32::from_be_bytes(body[2..6].try_into().unwrap()) as usize;
    String::from_utf8(body[6..6 + length].to_vec()).unwrap()
}

impl Refusal {
    fn read(body: &[u8]) -> Self {
        let fields = body.split(|byte| *byte == 0).filter_map(|field| field.split_first());
        let fields = fields.map(|(kind, text)| (*kind, String::from_utf8_lossy(text).into_owned()));
        let fields = fields.collect::<Vec<_>>();
        let field = |kind: u8| {
            let found = fields.iter().find(|(found, _)| *found == kind);
            found.map(|(_, text)| text.clone()).unwrap_or_default()
        };
        let [code, message, hint, severity] = [b'C', b'M', b'H', b'S'].map(field);
        Self { code, message, hint, severity }
    }
}

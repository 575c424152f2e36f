//! Requests and responses as HTTP/1.1 writes them: RFC 9112, as much of it as two pages need.
//!
//! - Each connection has one request; what a request holds behind its head is not read.

/// Bytes of a request's line and headers.
pub(super) const HEAD_BYTES_MAX: usize = 8 << 10;

/// What a head ends with.
const END: &[u8] = b"\r\n\r\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Other,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// Without what follows a question mark.
    pub(super) path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    HeadTooLarge,
    Unavailable,
    VersionNotSupported,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: Status,
    content_type: &'static str,
    body: String,
}

impl Request {
    /// Reads a head; none where it has not come whole.
    ///
    /// # Errors
    /// What is to be answered to a head that is too long, or none.
    pub(super) fn read(head: &[u8]) -> Result<Option<Self>, Response> {
        if !head.windows(END.len()).any(|window| window == END) {
            if head.len() < HEAD_BYTES_MAX {
                return Ok(None);
            }
            let text = format!("a request has {HEAD_BYTES_MAX} bytes at most");
            return Err(Response::text(Status::HeadTooLarge, &text));
        }
        let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let wrong = || Response::text(Status::BadRequest, "this is no request of HTTP");
        let line = std::str::from_utf8(line).map_err(|_| wrong())?;
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(wrong());
        };
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_method || !target.starts_with('/') || !version.starts_with("HTTP/") {
            return Err(wrong());
        }
        if !version.starts_with("HTTP/1.") {
            let text = "there are HTTP/1.0 and HTTP/1.1";
            return Err(Response::text(Status::VersionNotSupported, text));
        }
        let method = match method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            _ => Method::Other,
        };
        let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
        Ok(Some(Self { method, path }))
    }
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::RequestTimeout => "408 Request Timeout",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }
}

impl Response {
    pub(super) fn of(status: Status, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, body }
    }

    /// A line for people.
    pub(super) fn text(status: Status, line: &str) -> Self {
        Self::of(status, "text/plain; charset=utf-8", format!("{line}\n"))
    }

    /// As it travels; to HEAD without its body.
    pub(super) fn encode(&self, is_head: bool) -> Vec<u8> {
        let (status, length) = (self.status.line(), self.body.len());
        let allow = match self.status {
            Status::MethodNotAllowed => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let mut text = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {length}\r\n{allow}\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            self.content_type
        );
        if !is_head {
            text.push_str(&self.body);
        }
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests;

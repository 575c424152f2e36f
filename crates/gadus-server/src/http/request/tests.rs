//! Requests as they come, and as they should not.

use super::{HEAD_BYTES_MAX, Method, Request, Response, Status};

#[test]
fn requests_are_read_once_they_are_whole() {
    let head = b"GET /metrics?name=x HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for end in 0..head.len() {
        assert_eq!(Request::read(&head[..end]), Ok(None));
    }
    let expected = Request { method: Method::Get, path: "/metrics".to_owned() };
    assert_eq!(Request::read(head), Ok(Some(expected)));
    let head = Request::read(b"HEAD / HTTP/1.0\r\n\r\nmore").expect("read").expect("whole");
    assert_eq!((head.method, &head.path[..]), (Method::Head, "/"));
    let post = Request::read(b"POST /health HTTP/1.1\r\n\r\n").expect("read").expect("whole");
    assert_eq!(post.method, Method::Other);
}

#[test]
fn what_is_no_request_is_refused() {
    for (head, status) in [
        (&b"\r\n\r\n"[..], Status::BadRequest),
        (b"GET /\r\n\r\n", Status::BadRequest),
        (b"get / HTTP/1.1\r\n\r\n", Status::BadRequest),
        (b"GET http://x/ HTTP/1.1\r\n\r\n", Status::BadRequest),
        (b"GET /\xff HTTP/1.1\r\n\r\n", Status::BadRequest),
        (b"GET / x HTTP/1.1\r\n\r\n", Status::BadRequest),
        (b"GET / HTTP/2.0\r\n\r\n", Status::VersionNotSupported),
        (&[b'x'; HEAD_BYTES_MAX], Status::HeadTooLarge),
    ] {
        let refusal = Request::read(head).expect_err("refused");
        assert_eq!(refusal.status, status, "{}", head.escape_ascii());
    }
}

#[test]
fn responses_say_how_long_they_are() {
    let response = Response::text(Status::MethodNotAllowed, "no");
    let (whole, head) = (response.encode(false), response.encode(true));
    let whole = String::from_utf8(whole).expect("text");
    assert!(whole.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{whole}");
    assert!(whole.contains("\r\nContent-Length: 3\r\nAllow: GET, HEAD\r\n"), "{whole}");
    assert_eq!(whole.strip_suffix("no\n"), std::str::from_utf8(&head).ok());
}

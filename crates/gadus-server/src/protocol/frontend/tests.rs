//! Messages, well formed and not.

use super::{Message, Target};
use bytes::Bytes;

fn read(kind: u8, body: &'static [u8]) -> Result<Message, &'static str> {
    Message::read(kind, Bytes::from_static(body)).map_err(|failure| failure.code.text())
}

#[test]
fn messages_are_read_whole() {
    assert_eq!(read(b'Q', b"SELECT 1\0"), Ok(Message::Query("SELECT 1".to_owned())));
    let parse = Message::Parse { name: "a".into(), text: "b".into(), types: vec![23] };
    assert_eq!(read(b'P', b"a\0b\0\0\x01\0\0\0\x17"), Ok(parse));
    assert_eq!(read(b'D', b"Sx\0"), Ok(Message::Describe(Target::Statement, "x".into())));
    let all = Message::Execute { portal: String::new(), max_rows: 0 };
    assert_eq!(read(b'E', b"\0\xff\xff\xff\xff"), Ok(all));
    let Ok(Message::Bind(bind)) =
        read(b'B', b"p\0s\0\0\x01\0\x01\0\x02\xff\xff\xff\xff\0\0\0\x01z\0\0")
    else {
        panic!("a bind")
    };
    assert_eq!(bind.parameters, [None, Some(Bytes::from_static(b"z"))]);
}

#[test]
fn what_is_wrong_is_refused() {
    for (kind, body) in [
        (b'Q', &b"SELECT 1"[..]),
        (b'Q', b"a\0b"),
        (b'P', b"a\0b\0\xff\xff"),
        (b'B', b"\0\0\0\0\xff\xff"),
        (b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0"),
        (b'B', b"\0\0\0\0\0\x01\0\0\0\x09ab\0\0"),
        (b'D', b"Z\0"),
        (b'E', b"\0\0"),
        (b'S', b"\0"),
        (b'!', b""),
    ] {
        assert_eq!(read(kind, body), Err("08P01"), "{} {body:?}", char::from(kind));
    }
    for text in [&b"\xff\0"[..], b"\xc0\x80\0", b"\xed\xa0\x80\0"] {
        assert_eq!(read(b'Q', text), Err("22021"), "{text:?}");
    }
}

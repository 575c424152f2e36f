//! Functions of byte strings.

use super::overloads::{Function, Kind, Overload};
use super::results::answer;
use gadus_functions::bytes;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "md5", overloads: &[
        Overload::strict(&[Kind::Text], Kind::Text, |of| answer(bytes::md5(of.text(0).as_bytes()))),
        Overload::strict(&[Kind::Bytes], Kind::Text, |of| answer(bytes::md5(of.bytes(0)))),
    ] },
    Function { name: "sha224", overloads: &[
        Overload::strict(&[Kind::Bytes], Kind::Bytes, |of| answer(bytes::sha224(of.bytes(0)))),
    ] },
    Function { name: "sha256", overloads: &[
        Overload::strict(&[Kind::Bytes], Kind::Bytes, |of| answer(bytes::sha256(of.bytes(0)))),
    ] },
    Function { name: "sha384", overloads: &[
        Overload::strict(&[Kind::Bytes], Kind::Bytes, |of| answer(bytes::sha384(of.bytes(0)))),
    ] },
    Function { name: "sha512", overloads: &[
        Overload::strict(&[Kind::Bytes], Kind::Bytes, |of| answer(bytes::sha512(of.bytes(0)))),
    ] },
    Function { name: "bit_count", overloads: &[
        Overload::strict(&[Kind::Bytes], Kind::Bigint, |of| answer(Ok(bytes::bit_count(of.bytes(0))))),
    ] },
    Function { name: "get_byte", overloads: &[
        Overload::strict(&[Kind::Bytes, Kind::Integer], Kind::Integer, |of| {
            answer(bytes::get_byte(of.bytes(0), of.integer(1)?))
        }),
    ] },
    Function { name: "set_byte", overloads: &[
        Overload::strict(&[Kind::Bytes, Kind::Integer, Kind::Integer], Kind::Bytes, |of| {
            answer(bytes::set_byte(of.bytes(0), of.integer(1)?, of.integer(2)?))
        }),
    ] },
    Function { name: "get_bit", overloads: &[
        Overload::strict(&[Kind::Bytes, Kind::Bigint], Kind::Integer, |of| {
            answer(bytes::get_bit(of.bytes(0), of.bigint(1)))
        }),
    ] },
    Function { name: "set_bit", overloads: &[
        Overload::strict(&[Kind::Bytes, Kind::Bigint, Kind::Integer], Kind::Bytes, |of| {
            answer(bytes::set_bit(of.bytes(0), of.bigint(1), of.integer(2)?))
        }),
    ] },
];

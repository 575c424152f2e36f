//! Functions of byte strings.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use gadus_functions::{FunctionError, bytes};

use Kind::{Bigint, Boolean, Bytes, Double, Integer, Text};

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
    Function { name: "gadus_bytea_encode", overloads: &[
        Overload::strict(&[Bytes, Text], Text, |of| answer(bytes::encode(of.bytes(0), of.text(1)))),
    ] },
    Function { name: "gadus_bytea_decode", overloads: &[
        Overload::strict(&[Text, Text], Bytes, |of| answer(bytes::decode(of.text(0), of.text(1)))),
    ] },
    Function { name: "gadus_bytea_substr", overloads: &[
        Overload::strict(&[Bytes, Integer], Bytes, |of| answer(bytes::substring(of.bytes(0), of.integer(1)?, None))),
        Overload::strict(&[Bytes, Integer, Integer], Bytes, |of| {
            answer(bytes::substring(of.bytes(0), of.integer(1)?, Some(of.integer(2)?)))
        }),
    ] },
    Function { name: "gadus_bytea_overlay", overloads: &[
        Overload::strict(&[Bytes, Bytes, Integer], Bytes, |of| {
            answer(bytes::overlay(of.bytes(0), of.bytes(1), of.integer(2)?, None))
        }),
        Overload::strict(&[Bytes, Bytes, Integer, Integer], Bytes, |of| {
            answer(bytes::overlay(of.bytes(0), of.bytes(1), of.integer(2)?, Some(of.integer(3)?)))
        }),
    ] },
    Function { name: "gadus_bytea_btrim", overloads: &[Overload::strict(&[Bytes, Bytes], Bytes, |of| trimmed(of, true, true))] },
    Function { name: "gadus_bytea_ltrim", overloads: &[Overload::strict(&[Bytes, Bytes], Bytes, |of| trimmed(of, true, false))] },
    Function { name: "gadus_bytea_rtrim", overloads: &[Overload::strict(&[Bytes, Bytes], Bytes, |of| trimmed(of, false, true))] },
    Function { name: "gadus_bytea_position", overloads: &[
        Overload::strict(&[Bytes, Bytes], Integer, |of| answer(Ok(bytes::position(of.bytes(0), of.bytes(1))))),
    ] },
    Function { name: "gadus_bytea_like", overloads: &[
        Overload::strict(&[Bytes, Bytes], Boolean, |of| answer(bytes::like(of.bytes(0), of.bytes(1)))),
    ] },
    Function { name: "gadus_bytea_like_escape", overloads: &[
        Overload::strict(&[Bytes, Bytes], Bytes, |of| answer(bytes::like_escape(of.bytes(0), of.bytes(1)))),
    ] },
    Function { name: "boolsend", overloads: &[
        Overload::strict(&[Boolean], Bytes, |of| sent([u8::from(of.boolean(0))])),
    ] },
    Function { name: "int2send", overloads: &[
        Overload::strict(&[Integer], Bytes, |of| {
            let [_, _, high, low] = of.integer(0)?.to_be_bytes();
            sent([high, low])
        }),
    ] },
    Function { name: "int4send", overloads: &[Overload::strict(&[Integer], Bytes, |of| sent(of.integer(0)?.to_be_bytes()))] },
    Function { name: "int8send", overloads: &[Overload::strict(&[Bigint], Bytes, |of| sent(of.bigint(0).to_be_bytes()))] },
    Function { name: "float4send", overloads: &[Overload::strict(&[Double], Bytes, |of| sent(single(of.double(0)).to_be_bytes()))] },
    Function { name: "float8send", overloads: &[Overload::strict(&[Double], Bytes, |of| sent(of.double(0).to_be_bytes()))] },
    Function { name: "textsend", overloads: &[Overload::strict(&[Text], Bytes, |of| answer(Ok(of.text(0).as_bytes().to_vec())))] },
];

/// Returns bytes as they go over the wire.
fn sent<const N: usize>(bytes: [u8; N]) -> Result<Answer, FunctionError> {
    answer(Ok(bytes.to_vec()))
}

/// Returns a number of single precision, which came as a double.
#[expect(clippy::cast_possible_truncation)] // it was one before
fn single(value: f64) -> f32 {
    value as f32
}

fn trimmed(of: &Arguments<'_>, at_start: bool, at_end: bool) -> Result<Answer, FunctionError> {
    answer(Ok(bytes::trim(of.bytes(0), of.bytes(1), at_start, at_end)))
}

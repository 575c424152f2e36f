//! Functions of texts and names.

use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use arrow::array::AsArray;
use gadus_functions::{identifiers, texts};

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "quote_ident", overloads: &[
        Overload::strict(&[Kind::Text], Kind::Text, |of| answer(Ok(identifiers::quote_ident(of.text(0))))),
    ] },
    Function { name: "quote_literal", overloads: &[
        Overload::strict(&[Kind::Any], Kind::Text, |of| answer(Ok(identifiers::quote_literal(of.text(0))))),
    ] },
    Function { name: "quote_nullable", overloads: &[
        Overload::of_nulls(&[Kind::Any], Kind::Text, |of| {
            answer(Ok(identifiers::quote_nullable(of.optional_text(0))))
        }),
    ] },
    Function { name: "parse_ident", overloads: &[
        Overload::strict(&[Kind::Text], Kind::Texts, |of| answer(identifiers::parse_ident(of.text(0), true))),
        Overload::strict(&[Kind::Text, Kind::Boolean], Kind::Texts, |of| {
            answer(identifiers::parse_ident(of.text(0), of.boolean(1)))
        }),
    ] },
    Function { name: "unistr", overloads: &[
        Overload::strict(&[Kind::Text], Kind::Text, |of| answer(texts::unistr(of.text(0)))),
    ] },
    Function { name: "format", overloads: &[
        Overload::of_nulls(&[Kind::Text, Kind::Any], Kind::Text, |of| {
            let Some(format) = of.optional_text(0) else { return Ok(Answer::Null) };
            let values = (1..of.count()).map(|index| of.optional_text(index)).collect::<Vec<_>>();
            answer(texts::format(format, &values, of.bytes_max))
        }).variadic(),
    ] },
    Function { name: "chr", overloads: &[
        Overload::strict(&[Kind::Integer], Kind::Text, |of| answer(texts::chr(of.integer(0)?))),
    ] },
    Function { name: "split_part", overloads: &[
        Overload::strict(&[Kind::Text, Kind::Text, Kind::Integer], Kind::Text, |of| {
            answer(texts::split_part(of.text(0), of.text(1), of.integer(2)?))
        }),
    ] },
    Function { name: "gadus_format_of_array", overloads: &[
        Overload::of_nulls(&[Kind::Text, Kind::Texts], Kind::Text, |of| {
            let Some(format) = of.optional_text(0) else { return Ok(Answer::Null) };
            let list = of.list(1);
            let values = list.as_ref().map_or_else(Vec::new, |list| list.as_string_view().iter().collect());
            answer(texts::format(format, &values, of.bytes_max))
        }),
    ] },
];

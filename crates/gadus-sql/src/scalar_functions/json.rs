//! Functions that change documents and compare them.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use arrow::array::{ArrayRef, AsArray};
use gadus_functions::FunctionError;
use gadus_functions::json::{self, NullTreatment};

use Kind::{Boolean, Integer, Json, Jsonb, Text, Texts};

type Computed = Result<Answer, FunctionError>;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "json_strip_nulls", overloads: &[
        Overload::strict(&[Json], Json, |of| answer(json::json_strip_nulls(of.text(0)))),
    ] },
    Function { name: "jsonb_strip_nulls", overloads: &[
        Overload::strict(&[Jsonb], Jsonb, |of| answer(json::jsonb_strip_nulls(of.text(0)))),
    ] },
    Function { name: "json_object", overloads: &[
        Overload::strict(&[Texts], Json, |of| with_texts(of, 0, |texts| answer(json::json_object(texts)))),
        Overload::strict(&[Texts, Texts], Json, object_of_lists),
    ] },
    Function { name: "jsonb_object", overloads: &[
        Overload::strict(&[Texts], Jsonb, |of| {
            with_texts(of, 0, |texts| answer(json::json_object(texts).and_then(|object| json::normalized(&object))))
        }),
        Overload::strict(&[Texts, Texts], Jsonb, |of| match object_of_lists(of)? {
            Answer::Text(object) => answer(json::normalized(&object)),
            other => Ok(other),
        }),
    ] },
    Function { name: "gadus_json_array_text", overloads: &[
        Overload::strict(&[Json, Text], Text, |of| answer(json::array_text(of.text(0), of.text(1)))),
    ] },
    Function { name: "gadus_json_object_of_array", overloads: &[
        Overload::strict(&[Texts, Integer, Integer], Json, |of| {
            let (dimensions, columns) = (of.integer(1)?, of.integer(2)?);
            with_texts(of, 0, |texts| answer(json::json_object_of_array(texts, dimensions, columns)))
        }),
    ] },
    Function { name: "jsonb_pretty", overloads: &[
        Overload::strict(&[Jsonb], Text, |of| answer(json::jsonb_pretty(of.text(0), of.bytes_max))),
    ] },
    Function { name: "jsonb_set", overloads: &[
        Overload::strict(&[Jsonb, Texts, Jsonb], Jsonb, |of| set(of, true)),
        Overload::strict(&[Jsonb, Texts, Jsonb, Boolean], Jsonb, |of| set(of, of.boolean(3))),
    ] },
    Function { name: "jsonb_set_lax", overloads: &[
        Overload::of_nulls(&[Jsonb, Texts, Jsonb], Jsonb, set_lax),
        Overload::of_nulls(&[Jsonb, Texts, Jsonb, Boolean], Jsonb, set_lax),
        Overload::of_nulls(&[Jsonb, Texts, Jsonb, Boolean, Text], Jsonb, set_lax),
    ] },
    Function { name: "jsonb_insert", overloads: &[
        Overload::strict(&[Jsonb, Texts, Jsonb], Jsonb, |of| insert(of, false)),
        Overload::strict(&[Jsonb, Texts, Jsonb, Boolean], Jsonb, |of| insert(of, of.boolean(3))),
    ] },
    Function { name: "jsonb_delete_path", overloads: &[
        Overload::strict(&[Jsonb, Texts], Jsonb, |of| {
            with_texts(of, 1, |path| answer(json::jsonb_delete_path(of.text(0), path)))
        }),
    ] },
    Function { name: "jsonb_delete", overloads: &[
        Overload::strict(&[Jsonb, Text], Jsonb, |of| answer(json::jsonb_delete_keys(of.text(0), &[Some(of.text(1))]))),
        Overload::strict(&[Jsonb, Integer], Jsonb, |of| answer(json::jsonb_delete_index(of.text(0), of.integer(1)?))),
        Overload::strict(&[Jsonb, Texts], Jsonb, |of| {
            with_texts(of, 1, |keys| answer(json::jsonb_delete_keys(of.text(0), keys)))
        }),
    ] },
    Function { name: "jsonb_contains", overloads: &[
        Overload::strict(&[Jsonb, Jsonb], Boolean, |of| answer(json::jsonb_contains(of.text(0), of.text(1)))),
    ] },
    Function { name: "jsonb_contained", overloads: &[
        Overload::strict(&[Jsonb, Jsonb], Boolean, |of| answer(json::jsonb_contains(of.text(1), of.text(0)))),
    ] },
    Function { name: "jsonb_exists_any", overloads: &[
        Overload::strict(&[Jsonb, Texts], Boolean, |of| {
            with_texts(of, 1, |keys| answer(json::jsonb_exists_any_or_all(of.text(0), keys, false)))
        }),
    ] },
    Function { name: "jsonb_exists_all", overloads: &[
        Overload::strict(&[Jsonb, Texts], Boolean, |of| {
            with_texts(of, 1, |keys| answer(json::jsonb_exists_any_or_all(of.text(0), keys, true)))
        }),
    ] },
];

fn set(of: &Arguments<'_>, creates: bool) -> Computed {
    with_texts(of, 1, |path| answer(json::jsonb_set(of.text(0), path, of.text(2), creates)))
}

fn insert(of: &Arguments<'_>, is_after: bool) -> Computed {
    with_texts(of, 1, |path| answer(json::jsonb_insert(of.text(0), path, of.text(2), is_after)))
}

/// Sets a value that may be NULL, unlike all else.
fn set_lax(of: &Arguments<'_>) -> Computed {
    let is_given = |index: usize| index < of.count();
    if of.is_null(0) || of.is_null(1) || is_given(3) && of.is_null(3) {
        return Ok(Answer::Null);
    }
    let treatment = match is_given(4) {
        true => NullTreatment::named(of.optional_text(4)),
        false => Ok(NullTreatment::UseJsonNull),
    };
    let value = of.optional_text(2);
    // Another name matters for a NULL alone.
    let treatment = match (treatment, value) {
        (Err(_), Some(_)) if !of.is_null(4) => NullTreatment::UseJsonNull,
        (treatment, _) => treatment?,
    };
    let creates = !is_given(3) || of.boolean(3);
    with_texts(of, 1, |path| {
        answer(json::jsonb_set_lax(of.text(0), path, value, creates, treatment))
    })
}

fn object_of_lists(of: &Arguments<'_>) -> Computed {
    with_texts(of, 0, |keys| {
        with_texts(of, 1, |values| answer(json::json_object_of_lists(keys, values)))
    })
}

/// Calls with the texts of a list.
fn with_texts(
    of: &Arguments<'_>,
    index: usize,
    call: impl FnOnce(&[Option<&str>]) -> Computed,
) -> Computed {
    let list: Option<ArrayRef> = of.list(index);
    let texts = list.as_ref().map(|list| list.as_string_view().iter().collect::<Vec<_>>());
    call(&texts.unwrap_or_default())
}

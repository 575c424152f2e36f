//! Functions that look into documents.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use arrow::array::{ArrayRef, AsArray};
use gadus_functions::FunctionError;
use gadus_functions::json::{self, DocumentKind};

use Kind::{Boolean, Integer, Json, Jsonb, Text, Texts};

type Computed = Result<Answer, FunctionError>;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "json_object_field", overloads: &[Overload::strict(&[Json, Text], Json, field)] },
    Function { name: "jsonb_object_field", overloads: &[Overload::strict(&[Jsonb, Text], Jsonb, field)] },
    Function { name: "json_object_field_text", overloads: &[Overload::strict(&[Json, Text], Text, field_text)] },
    Function { name: "jsonb_object_field_text", overloads: &[Overload::strict(&[Jsonb, Text], Text, field_text)] },
    Function { name: "json_array_element", overloads: &[
        Overload::strict(&[Json, Integer], Json, |of| Ok(document(element(of, DocumentKind::Text)?))),
    ] },
    Function { name: "jsonb_array_element", overloads: &[
        Overload::strict(&[Jsonb, Integer], Jsonb, |of| Ok(document(element(of, DocumentKind::Binary)?))),
    ] },
    Function { name: "json_array_element_text", overloads: &[
        Overload::strict(&[Json, Integer], Text, |of| text(element(of, DocumentKind::Text)?)),
    ] },
    Function { name: "jsonb_array_element_text", overloads: &[
        Overload::strict(&[Jsonb, Integer], Text, |of| text(element(of, DocumentKind::Binary)?)),
    ] },
    Function { name: "json_extract_path", overloads: &[
        Overload::strict(&[Json, Texts], Json, |of| with_path(of, |found| Ok(document(found)))),
        Overload::strict(&[Json, Text], Json, |of| with_steps(of, |found| Ok(document(found)))).variadic(),
    ] },
    Function { name: "jsonb_extract_path", overloads: &[
        Overload::strict(&[Jsonb, Texts], Jsonb, |of| with_path(of, |found| Ok(document(found)))),
        Overload::strict(&[Jsonb, Text], Jsonb, |of| with_steps(of, |found| Ok(document(found)))).variadic(),
    ] },
    Function { name: "json_extract_path_text", overloads: &[
        Overload::strict(&[Json, Texts], Text, |of| with_path(of, text)),
        Overload::strict(&[Json, Text], Text, |of| with_steps(of, text)).variadic(),
    ] },
    Function { name: "jsonb_extract_path_text", overloads: &[
        Overload::strict(&[Jsonb, Texts], Text, |of| with_path(of, text)),
        Overload::strict(&[Jsonb, Text], Text, |of| with_steps(of, text)).variadic(),
    ] },
    // Member of a record: null is NULL.
    Function { name: "json_member", overloads: &[Overload::strict(&[Json, Text], Json, |of| {
        let found = json::object_field(of.text(0), of.text(1))?;
        Ok(document(found.filter(|value| *value != "null")))
    })] },
    Function { name: "json_typeof", overloads: &[Overload::strict(&[Json], Text, type_name)] },
    Function { name: "jsonb_typeof", overloads: &[Overload::strict(&[Jsonb], Text, type_name)] },
    Function { name: "json_array_length", overloads: &[
        Overload::strict(&[Json], Integer, |of| answer(json::array_length(of.text(0)))),
    ] },
    Function { name: "jsonb_array_length", overloads: &[
        Overload::strict(&[Jsonb], Integer, |of| answer(json::array_length(of.text(0)))),
    ] },
    Function { name: "jsonb_concat", overloads: &[
        Overload::strict(&[Jsonb, Jsonb], Jsonb, |of| answer(json::jsonb_concat(of.text(0), of.text(1)))),
    ] },
    Function { name: "gadus_jsonb_assign", overloads: &[
        Overload::of_nulls(&[Jsonb, Jsonb, Boolean, Text], Jsonb, |of| {
            let steps = (3..of.count()).map(|index| of.optional_text(index)).collect::<Vec<_>>();
            let (target, value) = (of.optional_text(0), of.optional_text(1));
            answer(json::jsonb_assign(target, &steps, value, of.boolean(2)))
        }).variadic(),
    ] },
    Function { name: "jsonb_exists", overloads: &[
        Overload::strict(&[Jsonb, Text], Boolean, |of| {
            answer(json::jsonb_exists_any_or_all(of.text(0), &[Some(of.text(1))], false))
        }),
    ] },
];

fn document(found: Option<&str>) -> Answer {
    found.map(str::to_owned).into()
}

fn text(found: Option<&str>) -> Computed {
    Ok(match found {
        Some(value) => json::value_text(value)?.map(|text| text.into_owned()).into(),
        None => Answer::Null,
    })
}

fn field(of: &Arguments<'_>) -> Computed {
    Ok(document(json::object_field(of.text(0), of.text(1))?))
}

fn field_text(of: &Arguments<'_>) -> Computed {
    text(json::object_field(of.text(0), of.text(1))?)
}

fn element<'a>(of: &Arguments<'a>, kind: DocumentKind) -> Result<Option<&'a str>, FunctionError> {
    Ok(json::array_element(of.text(0), of.integer(1)?, kind))
}

fn type_name(of: &Arguments<'_>) -> Computed {
    Ok(json::type_name(of.text(0)).to_owned().into())
}

/// Looks up a path that is a list.
fn with_path(of: &Arguments<'_>, answer: fn(Option<&str>) -> Computed) -> Computed {
    let list: Option<ArrayRef> = of.list(1);
    let steps = list.as_ref().map(|list| list.as_string_view().iter().collect::<Vec<_>>());
    answer(json::extract_path(of.text(0), &steps.unwrap_or_default())?)
}

/// Looks up a path whose steps are arguments.
fn with_steps(of: &Arguments<'_>, answer: fn(Option<&str>) -> Computed) -> Computed {
    let steps = (1..of.count()).map(|index| of.optional_text(index)).collect::<Vec<_>>();
    answer(json::extract_path(of.text(0), &steps)?)
}

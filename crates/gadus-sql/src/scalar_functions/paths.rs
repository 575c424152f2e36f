//! Functions that follow SQL's paths in documents.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use gadus_functions::FunctionError;
use gadus_functions::json::{
    JsonPath, jsonb_path_exists, jsonb_path_match, jsonb_path_query, jsonb_path_query_array,
};

use Kind::{Boolean, Jsonb, Text};

type Computed = Result<Answer, FunctionError>;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "jsonb_path_exists", overloads: &[
        Overload::strict(&[Jsonb, Text], Boolean, exists),
        Overload::strict(&[Jsonb, Text, Jsonb], Boolean, exists),
        Overload::strict(&[Jsonb, Text, Jsonb, Boolean], Boolean, exists),
    ] },
    Function { name: "jsonb_path_match", overloads: &[
        Overload::strict(&[Jsonb, Text], Boolean, matches),
        Overload::strict(&[Jsonb, Text, Jsonb], Boolean, matches),
        Overload::strict(&[Jsonb, Text, Jsonb, Boolean], Boolean, matches),
    ] },
    Function { name: "jsonb_path_query_array", overloads: &[
        Overload::strict(&[Jsonb, Text], Jsonb, found),
        Overload::strict(&[Jsonb, Text, Jsonb], Jsonb, found),
        Overload::strict(&[Jsonb, Text, Jsonb, Boolean], Jsonb, found),
    ] },
    Function { name: "jsonb_path_query_first", overloads: &[
        Overload::strict(&[Jsonb, Text], Jsonb, first),
        Overload::strict(&[Jsonb, Text, Jsonb], Jsonb, first),
        Overload::strict(&[Jsonb, Text, Jsonb, Boolean], Jsonb, first),
    ] },
    // The operators `@?` and `@@`, which give NULL for what fails.
    Function { name: "jsonb_path_exists_opr", overloads: &[
        Overload::strict(&[Jsonb, Text], Boolean, |of| answer(jsonb_path_exists(of.text(0), &path(of)?, NONE, true))),
    ] },
    Function { name: "jsonb_path_match_opr", overloads: &[
        Overload::strict(&[Jsonb, Text], Boolean, |of| answer(jsonb_path_match(of.text(0), &path(of)?, NONE, true))),
    ] },
];

/// Object without variables.
const NONE: &str = "{}";

fn path(of: &Arguments<'_>) -> Result<JsonPath, FunctionError> {
    JsonPath::parse(of.text(1))
}

fn variables<'a>(of: &Arguments<'a>) -> &'a str {
    of.optional_text(2).unwrap_or(NONE)
}

fn exists(of: &Arguments<'_>) -> Computed {
    answer(jsonb_path_exists(of.text(0), &path(of)?, variables(of), of.boolean(3)))
}

fn matches(of: &Arguments<'_>) -> Computed {
    answer(jsonb_path_match(of.text(0), &path(of)?, variables(of), of.boolean(3)))
}

fn found(of: &Arguments<'_>) -> Computed {
    answer(jsonb_path_query_array(of.text(0), &path(of)?, variables(of), of.boolean(3)))
}

fn first(of: &Arguments<'_>) -> Computed {
    let found = jsonb_path_query(of.text(0), &path(of)?, variables(of), of.boolean(3))?;
    Ok(found.into_iter().next().into())
}

//! Functions of regular expressions.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use gadus_functions::FunctionError;
use gadus_functions::patterns::{self, Search};

use Kind::{Boolean, Integer, Text, TextLists, Texts};

type Computed = Result<Answer, FunctionError>;

/// Function for `~`: true if a text has a match.
pub(super) const MATCHES: &str = "gadus_regexp_matches_text";
/// Function for SIMILAR TO, with the escape.
pub(super) const SIMILAR: &str = "gadus_similar_to";
/// Function for `SUBSTRING(text FROM pattern)`.
pub(crate) const SUBSTRING: &str = "gadus_substring_of_pattern";
/// Function for `SUBSTRING(text SIMILAR pattern ESCAPE escape)`.
pub(crate) const SUBSTRING_SIMILAR: &str = "gadus_substring_of_similar";

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "regexp_like", overloads: &[
        Overload::strict(&[Text, Text], Boolean, like),
        Overload::strict(&[Text, Text, Text], Boolean, like),
    ] },
    Function { name: MATCHES, overloads: &[Overload::strict(&[Text, Text, Text], Boolean, like)] },
    Function { name: SIMILAR, overloads: &[
        Overload::strict(&[Text, Text, Text], Boolean, |of| {
            let pattern = patterns::similar_to_escape(of.text(1), Some(of.text(2)))?;
            answer(patterns::regexp_like(of.text(0), &pattern, ""))
        }),
    ] },
    Function { name: SUBSTRING, overloads: &[
        Overload::strict(&[Text, Text], Text, |of| answer(patterns::substring(of.text(0), of.text(1)))),
    ] },
    Function { name: SUBSTRING_SIMILAR, overloads: &[
        Overload::strict(&[Text, Text, Text], Text, |of| {
            let pattern = patterns::similar_to_escape(of.text(1), Some(of.text(2)))?;
            answer(patterns::substring(of.text(0), &pattern))
        }),
    ] },
    Function { name: "similar_to_escape", overloads: &[
        Overload::strict(&[Text], Text, |of| answer(patterns::similar_to_escape(of.text(0), None))),
        Overload::strict(&[Text, Text], Text, |of| {
            answer(patterns::similar_to_escape(of.text(0), Some(of.text(1))))
        }),
    ] },
    Function { name: "regexp_count", overloads: &[
        Overload::strict(&[Text, Text], Integer, count),
        Overload::strict(&[Text, Text, Integer], Integer, count),
        Overload::strict(&[Text, Text, Integer, Text], Integer, count),
    ] },
    Function { name: "regexp_instr", overloads: &[
        Overload::strict(&[Text, Text], Integer, position),
        Overload::strict(&[Text, Text, Integer], Integer, position),
        Overload::strict(&[Text, Text, Integer, Integer], Integer, position),
        Overload::strict(&[Text, Text, Integer, Integer, Integer], Integer, position),
        Overload::strict(&[Text, Text, Integer, Integer, Integer, Text], Integer, position),
        Overload::strict(&[Text, Text, Integer, Integer, Integer, Text, Integer], Integer, position),
    ] },
    Function { name: "regexp_substr", overloads: &[
        Overload::strict(&[Text, Text], Text, substring),
        Overload::strict(&[Text, Text, Integer], Text, substring),
        Overload::strict(&[Text, Text, Integer, Integer], Text, substring),
        Overload::strict(&[Text, Text, Integer, Integer, Text], Text, substring),
        Overload::strict(&[Text, Text, Integer, Integer, Text, Integer], Text, substring),
    ] },
    Function { name: "regexp_match", overloads: &[
        Overload::strict(&[Text, Text], Texts, first_match),
        Overload::strict(&[Text, Text, Text], Texts, first_match),
    ] },
    Function { name: "gadus_regexp_matches", overloads: &[
        Overload::strict(&[Text, Text], TextLists, all_matches),
        Overload::strict(&[Text, Text, Text], TextLists, all_matches),
    ] },
    Function { name: "regexp_split_to_array", overloads: &[
        Overload::strict(&[Text, Text], Texts, |of| split(of, "regexp_split_to_array")),
        Overload::strict(&[Text, Text, Text], Texts, |of| split(of, "regexp_split_to_array")),
    ] },
    Function { name: "gadus_regexp_split_to_table", overloads: &[
        Overload::strict(&[Text, Text], Texts, |of| split(of, "regexp_split_to_table")),
        Overload::strict(&[Text, Text, Text], Texts, |of| split(of, "regexp_split_to_table")),
    ] },
    Function { name: "regexp_replace", overloads: &[
        Overload::strict(&[Text, Text, Text], Text, |of| replaced(of, (1, None), "")),
        Overload::strict(&[Text, Text, Text, Text], Text, |of| {
            let (text, pattern, replacement) = (of.text(0), of.text(1), of.text(2));
            answer(patterns::regexp_replace_by_flags(text, pattern, replacement, of.text(3), of.bytes_max))
        }),
        Overload::strict(&[Text, Text, Text, Integer], Text, |of| replaced(of, (of.integer(3)?, None), "")),
        Overload::strict(&[Text, Text, Text, Integer, Integer], Text, |of| {
            replaced(of, (of.integer(3)?, Some(of.integer(4)?)), "")
        }),
        Overload::strict(&[Text, Text, Text, Integer, Integer, Text], Text, |of| {
            replaced(of, (of.integer(3)?, Some(of.integer(4)?)), of.text(5))
        }),
    ] },
];

fn like(of: &Arguments<'_>) -> Computed {
    answer(patterns::regexp_like(of.text(0), of.text(1), of.text(2)))
}

fn count(of: &Arguments<'_>) -> Computed {
    let search = Search { start: integer_or(of, 2, 1)?, flags: of.text(3), ..Search::default() };
    answer(patterns::regexp_count(of.text(0), of.text(1), &search))
}

fn position(of: &Arguments<'_>) -> Computed {
    let search = Search {
        start: integer_or(of, 2, 1)?,
        n: integer_or(of, 3, 1)?,
        endoption: integer_or(of, 4, 0)?,
        flags: of.text(5),
        subexpr: integer_or(of, 6, 0)?,
    };
    answer(patterns::regexp_instr(of.text(0), of.text(1), &search))
}

fn substring(of: &Arguments<'_>) -> Computed {
    let search = Search {
        start: integer_or(of, 2, 1)?,
        n: integer_or(of, 3, 1)?,
        flags: of.text(4),
        subexpr: integer_or(of, 5, 0)?,
        ..Search::default()
    };
    answer(patterns::regexp_substr(of.text(0), of.text(1), &search))
}

fn first_match(of: &Arguments<'_>) -> Computed {
    answer(patterns::regexp_match(of.text(0), of.text(1), of.text(2)))
}

fn all_matches(of: &Arguments<'_>) -> Computed {
    answer(patterns::regexp_matches(of.text(0), of.text(1), of.text(2)))
}

fn split(of: &Arguments<'_>, function: &str) -> Computed {
    answer(patterns::regexp_split(of.text(0), of.text(1), of.text(2), function))
}

fn replaced(of: &Arguments<'_>, which: (i32, Option<i32>), flags: &str) -> Computed {
    let (text, pattern, replacement) = (of.text(0), of.text(1), of.text(2));
    answer(patterns::regexp_replace(text, pattern, replacement, which, flags, of.bytes_max))
}

fn integer_or(of: &Arguments<'_>, index: usize, default: i32) -> Result<i32, FunctionError> {
    if index < of.count() { of.integer(index) } else { Ok(default) }
}

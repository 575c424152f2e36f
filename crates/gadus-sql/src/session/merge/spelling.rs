//! DO NOTHING in a MERGE, which the parser does not know: an UPDATE or an INSERT of nothing.

use super::super::spelling::keyword;
use datafusion::sql::sqlparser::ast::{Assignment, AssignmentTarget, Ident, ObjectName};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// What no column is called.
const NOTHING: &str = "gadus: nothing";

/// Whether columns are those of a DO NOTHING.
pub(super) fn names_nothing(columns: &[ObjectName]) -> bool {
    matches!(columns, [column] if *column == ObjectName::from(Ident::with_quote('"', NOTHING)))
}

/// Whether this is all that a DO NOTHING assigns.
pub(super) fn is_nothing(assignment: &Assignment) -> bool {
    match &assignment.target {
        AssignmentTarget::ColumnName(name) => names_nothing(std::slice::from_ref(name)),
        AssignmentTarget::Tuple(_) => false,
    }
}

/// Respells each DO NOTHING of a MERGE.
pub(in super::super) fn respell(tokens: &mut Vec<TokenWithSpan>) {
    // Most statements are others.
    let first = tokens.iter().find(|with| !matches!(with.token, Token::Whitespace(_)));
    let first = first.map_or(Keyword::NoKeyword, |with| keyword(&with.token));
    if !matches!(first, Keyword::MERGE | Keyword::WITH | Keyword::EXPLAIN) {
        return;
    }
    let is_shown = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
    let places = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
    let word = |at: usize| {
        places.get(at).map_or(Keyword::NoKeyword, |&place| keyword(&tokens[place].token))
    };
    let mut is_inserting = false;
    let mut found = Vec::new();
    for at in 0..places.len() {
        match (word(at), word(at + 1), word(at + 2)) {
            (Keyword::WHEN, Keyword::MATCHED, _) => is_inserting = false,
            (Keyword::WHEN, Keyword::NOT, Keyword::MATCHED) => {
                is_inserting = word(at + 4) != Keyword::SOURCE;
            }
            (Keyword::THEN, Keyword::DO, Keyword::NOTHING) => {
                found.push((places[at + 1], places[at + 2], is_inserting));
            }
            _ => {}
        }
    }
    for (first, last, is_inserting) in found.into_iter().rev() {
        let span = tokens[first].span;
        let nothing = Token::make_word(NOTHING, Some('"'));
        let key = Token::make_keyword;
        let spelled = match is_inserting {
            true => vec![
                key("INSERT"),
                Token::LParen,
                nothing,
                Token::RParen,
                key("VALUES"),
                Token::LParen,
                key("NULL"),
                Token::RParen,
            ],
            false => vec![key("UPDATE"), key("SET"), nothing, Token::Eq, key("NULL")],
        };
        let space = Token::Whitespace(Whitespace::Space);
        let spelled = spelled.into_iter().flat_map(|token| [token, space.clone()]);
        tokens.splice(first..=last, spelled.map(|token| TokenWithSpan { token, span }));
    }
}

//! Statements of PostgreSQL that change nothing here: back to the user that a session began with, and modes of
//! constraints that can be deferred, of which there are none.
//!
//! - The parser does not know them: they become RESET of a reserved name.

use super::Outcome;
use super::spelling::{is_word, keyword};
use datafusion::sql::sqlparser::ast::{Set, SetSessionAuthorizationParamKind};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Reserved names, each with its command tag.
const NAMES: [(&str, &str); 2] =
    [("gadus.current_user", "RESET"), ("gadus.constraints", "SET CONSTRAINTS")];

/// Respells a statement without effect.
pub(super) fn respell(tokens: &mut [TokenWithSpan]) {
    let is_shown = |with: &&mut TokenWithSpan| {
        !matches!(with.token, Token::Whitespace(_) | Token::SemiColon | Token::EOF)
    };
    let mut shown = tokens.iter_mut().filter(is_shown).take(6).collect::<Vec<_>>();
    let is = |at: usize, word: &str| shown.get(at).is_some_and(|with| is_word(&with.token, word));
    let first = shown.first().map_or(Keyword::NoKeyword, |with| keyword(&with.token));
    let count = shown.len();
    let name = match first {
        Keyword::RESET if count == 2 && is(1, "role") => NAMES[0].0,
        Keyword::RESET if count == 3 && is(1, "session") && is(2, "authorization") => NAMES[0].0,
        Keyword::SET
            if count == 4
                && is(1, "constraints")
                && is(2, "all")
                && (is(3, "immediate") || is(3, "deferred")) =>
        {
            NAMES[1].0
        }
        // It holds for the transaction; the parser knows what holds for the session.
        Keyword::SET if is(1, "local") && is(2, "session") && is(3, "authorization") => {
            shown[1].token = Token::Whitespace(Whitespace::Space);
            return;
        }
        _ => return,
    };
    for (at, with) in shown.iter_mut().enumerate() {
        with.token = match at {
            0 => Token::make_keyword("RESET"),
            1 => Token::make_word(name, Some('"')),
            _ => Token::Whitespace(Whitespace::Space),
        };
    }
}

/// Returns what RESET of a reserved name does; `None` for other names.
pub(super) fn reset(name: &str) -> Option<Outcome> {
    let name = name.trim_matches('"');
    let (_, done) = NAMES.iter().find(|(known, _)| *known == name)?;
    Some(Outcome::Done(done))
}

/// Returns true for SET that goes back to the user that the session began with.
pub(super) fn is_back_to_user(set: &Set) -> bool {
    match set {
        Set::SetRole { role_name, .. } => role_name.is_none(),
        Set::SetSessionAuthorization(user) => {
            matches!(user.kind, SetSessionAuthorizationParamKind::Default)
        }
        _ => false,
    }
}

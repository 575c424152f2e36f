//! FETCH and MOVE in all their forms, as the one that the parser knows: `FETCH direction FROM cursor`.
//!
//! - Where no direction is said it is NEXT, where no count is it is 1; a count below 0 is one in the other direction.
//! - MOVE is a FETCH into nowhere.

use datafusion::sql::sqlparser::ast::{Ident, ObjectName};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// What no table is called.
const NOWHERE: &str = "gadus: nowhere";

/// Whether this stands where a MOVE has brought it.
pub(in super::super) fn is_move(into: Option<&ObjectName>) -> bool {
    into.is_some_and(|name| *name == ObjectName::from(Ident::with_quote('"', NOWHERE)))
}

/// Respells a FETCH or a MOVE; what is neither stays for the parser to refuse.
pub(in super::super) fn respell(tokens: &mut Vec<TokenWithSpan>) {
    let is_end = |token: &Token| matches!(token, Token::SemiColon | Token::EOF);
    let mut shown = tokens.iter().filter(|with| !matches!(with.token, Token::Whitespace(_)));
    let Some(first) = shown.next() else { return };
    let moves = is(&first.token, "move");
    if !moves && !is(&first.token, "fetch") {
        return;
    }
    let words = shown.take_while(|with| !is_end(&with.token)).map(|with| with.token.clone());
    let words = words.collect::<Vec<_>>();
    let Some((direction, name)) = parts(&words) else { return };
    let span = first.span;
    let mut spelled = vec![Token::make_keyword("FETCH")];
    spelled.extend(direction);
    spelled.extend([Token::make_keyword("FROM"), name]);
    if moves {
        spelled.extend([Token::make_keyword("INTO"), Token::make_word(NOWHERE, Some('"'))]);
    }
    let end = tokens.iter().position(|with| is_end(&with.token)).unwrap_or(tokens.len());
    let space = Token::Whitespace(Whitespace::Space);
    let spelled = spelled.into_iter().flat_map(|token| [token, space.clone()]);
    tokens.splice(..end, spelled.map(|token| TokenWithSpan { token, span }));
}

/// The direction in the parser's spelling, and the name of the cursor.
fn parts(words: &[Token]) -> Option<(Vec<Token>, Token)> {
    let (direction, behind) = direction(words)?;
    let behind = match behind.split_first() {
        Some((word, behind)) if is(word, "from") || is(word, "in") => behind,
        _ => behind,
    };
    match (behind, words) {
        ([name @ Token::Word(_)], _) => Some((direction, name.clone())),
        // A cursor may be called as a direction is.
        ([], [name @ Token::Word(_)]) => Some((vec![Token::make_keyword("NEXT")], name.clone())),
        _ => None,
    }
}

/// The direction that stands at the beginning, and what stands behind it.
fn direction(words: &[Token]) -> Option<(Vec<Token>, &[Token])> {
    let keyword = Token::make_keyword;
    let counted = |forward: bool, count: i64| {
        let direction = if forward == (count >= 0) { "FORWARD" } else { "BACKWARD" };
        vec![keyword(direction), number(count.unsigned_abs().to_string())]
    };
    let first = words.first()?;
    let named = |expected: &[&str]| expected.iter().any(|word| is(first, word));
    if named(&["next", "prior", "first", "last"]) {
        return Some((vec![first.clone()], &words[1..]));
    }
    if named(&["all"]) {
        return Some((vec![keyword("FORWARD"), keyword("ALL")], &words[1..]));
    }
    if named(&["absolute", "relative"]) {
        let (count, behind) = signed(&words[1..])?;
        return Some((vec![first.clone(), number(count.to_string())], behind));
    }
    if named(&["forward", "backward"]) {
        let is_forward = named(&["forward"]);
        if words.get(1).is_some_and(|word| is(word, "all")) {
            return Some((vec![first.clone(), keyword("ALL")], &words[2..]));
        }
        let (count, behind) = signed(&words[1..]).unwrap_or((1, &words[1..]));
        return Some((counted(is_forward, count), behind));
    }
    Some(match signed(words) {
        Some((count, behind)) => (counted(true, count), behind),
        None => (vec![keyword("NEXT")], words),
    })
}

/// A whole number with its sign.
fn signed(words: &[Token]) -> Option<(i64, &[Token])> {
    let (is_negative, words) = match words.split_first()? {
        (Token::Minus, behind) => (true, behind),
        (Token::Plus, behind) => (false, behind),
        _ => (false, words),
    };
    let (Token::Number(digits, false), behind) = words.split_first()? else { return None };
    let count = digits.parse::<i64>().ok()?;
    Some((if is_negative { -count } else { count }, behind))
}

fn number(text: String) -> Token {
    Token::Number(text, false)
}

fn is(token: &Token, expected: &str) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(expected))
}

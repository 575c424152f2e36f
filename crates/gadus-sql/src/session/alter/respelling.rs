//! Forms of ALTER TABLE and CREATE that the parser does not know: words about storage, and identity columns.
//!
//! - An action becomes `SET ("gadus.…" = value, …)`, as options of sequences do. Words that have no meaning here are made
//!   blanks: tables without a log are as durable as others, and no table inherits from another.

use super::super::sequence_spelling::options_text;
use super::super::spelling::{is_word, keyword};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Names of the options that actions become.
pub(in crate::session) const STORAGE: &str = "gadus.storage";
pub(in crate::session) const COLUMN: &str = "gadus.column";
pub(in crate::session) const INDEX: &str = "gadus.index";
pub(in crate::session) const DROP_IDENTITY: &str = "gadus.drop_identity";
pub(in crate::session) const DROP_EXPRESSION: &str = "gadus.drop_expression";
pub(in crate::session) const IF_EXISTS: &str = "gadus.if_exists";
pub(in crate::session) const IDENTITY: &str = "gadus.identity";
pub(in crate::session) const GENERATED: &str = "gadus.generated";
pub(in crate::session) const SCHEMA: &str = "gadus.schema";
pub(in crate::session) const CONSTRAINT: &str = "gadus.constraint";
pub(in crate::session) const DEFERRABLE: &str = "gadus.deferrable";
pub(in crate::session) const UNSUPPORTED: &str = "gadus.unsupported";

/// Beginnings of actions that are not supported, each with its name in the error.
const UNSUPPORTED_ACTIONS: [(&str, &str); 6] = [
    ("attach partition", "ATTACH PARTITION"),
    ("detach partition", "DETACH PARTITION"),
    ("inherit", "INHERIT"),
    ("no inherit", "NO INHERIT"),
    ("of", "OF"),
    ("not of", "NOT OF"),
];

/// Respells a statement.
pub(in crate::session) fn respell(tokens: &mut Vec<TokenWithSpan>) {
    let shown = shown(tokens);
    let word = |at: usize| shown.get(at).map(|place| keyword(&tokens[*place].token));
    match (word(0), word(1)) {
        (Some(Keyword::CREATE), Some(Keyword::UNLOGGED)) => {
            blank(tokens, &shown[1..2]);
            without_no_inherit(tokens);
        }
        (Some(Keyword::CREATE), Some(Keyword::TABLE)) => without_no_inherit(tokens),
        (Some(Keyword::CREATE), Some(Keyword::INDEX | Keyword::UNIQUE)) => {
            let on = (2..shown.len()).find(|at| word(*at) == Some(Keyword::ON));
            if let Some(only) = on.filter(|on| word(on + 1) == Some(Keyword::ONLY)) {
                blank(tokens, &shown[only + 1..only + 2]);
            }
        }
        (Some(Keyword::ALTER), Some(Keyword::TABLE)) => {
            without_no_inherit(tokens);
            alter_table(tokens);
        }
        _ => {}
    }
}

fn shown(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let is_shown = |place: &usize| {
        !matches!(tokens[*place].token, Token::Whitespace(_) | Token::SemiColon | Token::EOF)
    };
    (0..tokens.len()).filter(is_shown).collect()
}

fn blank(tokens: &mut [TokenWithSpan], places: &[usize]) {
    for place in places {
        tokens[*place].token = Token::Whitespace(Whitespace::Space);
    }
}

/// `CHECK (…) NO INHERIT`
fn without_no_inherit(tokens: &mut [TokenWithSpan]) {
    let shown = shown(tokens);
    for three in shown.windows(3) {
        let is_it = tokens[three[0]].token == Token::RParen
            && keyword(&tokens[three[1]].token) == Keyword::NO
            && keyword(&tokens[three[2]].token) == Keyword::INHERIT;
        if is_it {
            blank(tokens, &three[1..]);
        }
    }
}

fn alter_table(tokens: &mut Vec<TokenWithSpan>) {
    let places = shown(tokens);
    let is = |at: usize, expected: Keyword| {
        places.get(at).is_some_and(|place| keyword(&tokens[*place].token) == expected)
    };
    let mut at = 2;
    at += if is(at, Keyword::IF) { 2 } else { 0 };
    at += usize::from(is(at, Keyword::ONLY));
    at += 1;
    while places.get(at).is_some_and(|place| tokens[*place].token == Token::Period) {
        at += 2;
    }
    let Some(&first) = places.get(at) else { return };
    if tokens[first].token == Token::Mul {
        return;
    }
    let (mut respelled, mut is_other, mut depth) = (Vec::new(), false, 0_usize);
    let mut action: Vec<TokenWithSpan> = Vec::new();
    let rest = tokens[first..].to_vec();
    let mut finish = |action: &mut Vec<TokenWithSpan>, respelled: &mut Vec<TokenWithSpan>| {
        let words = action.iter().filter(|with| !matches!(with.token, Token::Whitespace(_)));
        let words = words.map(|with| with.token.clone()).collect::<Vec<_>>();
        match (action_text(&words), action.first()) {
            (Some(text), Some(begin)) => {
                is_other = true;
                let span = begin.span;
                let text = text
                    .into_iter()
                    .flat_map(|token| [token, Token::Whitespace(Whitespace::Space)]);
                respelled.extend(text.map(|token| TokenWithSpan { token, span }));
                action.clear();
            }
            _ => respelled.append(action),
        }
    };
    for with in rest {
        match with.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_end = matches!(with.token, Token::SemiColon | Token::EOF)
            || (depth == 0 && with.token == Token::Comma);
        if is_end {
            finish(&mut action, &mut respelled);
            respelled.push(with);
        } else {
            action.push(with);
        }
    }
    finish(&mut action, &mut respelled);
    if is_other {
        tokens.truncate(first);
        tokens.extend(respelled);
    }
}

/// Returns an action as the parser knows it; `None` if it knows the action itself.
fn action_text(words: &[Token]) -> Option<Vec<Token>> {
    let is = |at: usize, expected: &str| words.get(at).is_some_and(|word| is_word(word, expected));
    let on = || Token::make_keyword("TRUE");
    let option = |pairs: Vec<(&str, Token)>| {
        let mut text = vec![Token::make_keyword("SET"), Token::LParen];
        for (at, (name, value)) in pairs.into_iter().enumerate() {
            text.extend((at > 0).then_some(Token::Comma));
            text.extend([Token::make_word(name, Some('"')), Token::Eq, value]);
        }
        text.push(Token::RParen);
        text
    };
    let is_storage = (is(0, "set") && (is(1, "logged") || is(1, "unlogged")) && words.len() == 2)
        || (is(0, "set") && is(1, "without") && (is(2, "oids") || is(2, "cluster")))
        || (is(0, "reset") && words.get(1) == Some(&Token::LParen));
    if is_storage {
        return Some(option(vec![(STORAGE, on())]));
    }
    if is(0, "cluster") && is(1, "on") {
        return Some(option(vec![(INDEX, quoted(words.get(2)?)?)]));
    }
    if is(0, "set") && is(1, "schema") && words.len() == 3 {
        return Some(option(vec![(SCHEMA, quoted(&words[2])?)]));
    }
    let text = |text: &str| Token::SingleQuotedString(text.to_owned());
    let known = UNSUPPORTED_ACTIONS.iter().find(|(action, _)| {
        action.split(' ').enumerate().all(|(at, word)| is(at, word)) && words.len() > 1
    });
    if let Some((_, name)) = known {
        return Some(option(vec![(UNSUPPORTED, text(name))]));
    }
    if is(0, "alter") && is(1, "constraint") {
        let rest = words.get(3..).unwrap_or_default();
        let is_deferred = (0..rest.len()).any(|at| {
            let is = |at: usize, word: &str| rest.get(at).is_some_and(|known| is_word(known, word));
            is(at, "deferred") || (is(at, "deferrable") && (at == 0 || !is(at - 1, "not")))
        });
        let mut pairs = vec![(CONSTRAINT, quoted(words.get(2)?)?)];
        pairs.extend(is_deferred.then(|| (DEFERRABLE, on())));
        return Some(option(pairs));
    }
    if !is(0, "alter") {
        return None;
    }
    let at = 1 + usize::from(is(1, "column"));
    let name = quoted(words.get(at)?)?;
    let rest = words.get(at + 1..)?;
    let is = |at: usize, expected: &str| rest.get(at).is_some_and(|word| is_word(word, expected));
    let has_if_exists = is(2, "if");
    let dropped = |what: &'static str| {
        let mut pairs = vec![(what, name.clone())];
        pairs.extend(has_if_exists.then(|| (IF_EXISTS, on())));
        Some(option(pairs))
    };
    match rest {
        [_, _, ..] if is(0, "drop") && is(1, "identity") => dropped(DROP_IDENTITY),
        [_, _, ..] if is(0, "drop") && is(1, "expression") => dropped(DROP_EXPRESSION),
        [_, Token::LParen, ..] if is(0, "set") || is(0, "reset") => {
            Some(option(vec![(COLUMN, name)]))
        }
        [_, _, ..]
            if is(0, "set")
                && (is(1, "statistics") || is(1, "storage") || is(1, "compression")) =>
        {
            Some(option(vec![(COLUMN, name)]))
        }
        [_, ..] => identity_text(&name, rest),
        [] => None,
    }
}

/// `SET GENERATED ALWAYS`, `SET INCREMENT BY 2`, `RESTART WITH 5`, one after another.
fn identity_text(column: &Token, words: &[Token]) -> Option<Vec<Token>> {
    let is = |at: usize, expected: &str| words.get(at).is_some_and(|word| is_word(word, expected));
    let of_sequences = [
        "generated",
        "increment",
        "minvalue",
        "maxvalue",
        "start",
        "cache",
        "cycle",
        "no",
        "sequence",
    ];
    let begins =
        is(0, "restart") || (is(0, "set") && of_sequences.iter().any(|expected| is(1, expected)));
    if !begins {
        return None;
    }
    let (mut generated, mut options, mut at) = (None, Vec::new(), 0);
    while at < words.len() {
        if is(at, "set") && is(at + 1, "generated") {
            let is_always = is(at + 2, "always");
            generated = Some(if is_always { "always" } else { "by default" });
            at += if is_always { 3 } else { 4 };
        } else if is(at, "set") {
            at += 1;
        } else {
            options.push(words[at].clone());
            at += 1;
        }
    }
    let mut text = options_text(&options);
    text.pop();
    let mut add = |name: &str, value: Token| {
        let comma = (text.len() > 2).then_some(Token::Comma);
        text.extend(comma);
        text.extend([Token::make_word(name, Some('"')), Token::Eq, value]);
    };
    add(IDENTITY, column.clone());
    if let Some(generated) = generated {
        add(GENERATED, Token::SingleQuotedString(generated.to_owned()));
    }
    text.push(Token::RParen);
    Some(text)
}

/// Returns a name as a text, folded unless it has quotes.
fn quoted(name: &Token) -> Option<Token> {
    let Token::Word(word) = name else { return None };
    let text = match word.quote_style {
        Some(_) => word.value.clone(),
        None => word.value.to_lowercase(),
    };
    Some(Token::SingleQuotedString(text))
}

//! What statements say of sequences, as the parser knows it: options of CREATE SEQUENCE and of identity columns in its
//! order, and `ALTER SEQUENCE s RESTART WITH 5 …` as `ALTER TABLE s SET (restart = 5, …)`.

use super::spelling::keyword;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Respells statements about sequences.
pub(super) fn respell(tokens: &mut Vec<TokenWithSpan>) {
    let words = tokens.iter().map(|with| keyword(&with.token));
    let mut words = words.filter(|word| *word != Keyword::NoKeyword);
    match (words.next(), words.next()) {
        (Some(Keyword::ALTER), Some(Keyword::SEQUENCE)) => alter_sequence(tokens),
        (Some(Keyword::CREATE), Some(Keyword::SEQUENCE)) => {
            let (places, at) = behind_name(tokens);
            if let Some(&first) = places.get(at) {
                order_options(&mut tokens[first..]);
            }
        }
        (Some(Keyword::CREATE | Keyword::ALTER), Some(Keyword::TABLE)) => {
            let is_identity = |place: &usize| keyword(&tokens[*place].token) == Keyword::IDENTITY;
            let identities = (0..tokens.len()).filter(is_identity).collect::<Vec<_>>();
            for place in identities {
                let opens = tokens[place..].iter().position(|with| with.token == Token::LParen);
                let closes = tokens[place..].iter().position(|with| with.token == Token::RParen);
                if let (Some(opens), Some(closes)) = (opens, closes)
                    && opens < closes
                {
                    order_options(&mut tokens[place + opens + 1..place + closes]);
                }
            }
        }
        _ => {}
    }
}

/// Puts options in the order in which the parser wants them.
fn order_options(tokens: &mut [TokenWithSpan]) {
    let rank = |at: usize| match keyword(&tokens[at].token) {
        Keyword::INCREMENT => Some(0),
        Keyword::MINVALUE => Some(1),
        Keyword::MAXVALUE => Some(2),
        Keyword::START => Some(3),
        Keyword::CACHE => Some(4),
        Keyword::CYCLE => Some(5),
        Keyword::OWNED => Some(6),
        _ => None,
    };
    let is_no = |at: usize| keyword(&tokens[at].token) == Keyword::NO;
    // What belongs together begins at a word, or at the NO before it.
    let (mut groups, mut no) = (Vec::<(usize, usize)>::new(), None);
    for at in 0..tokens.len() {
        match rank(at) {
            Some(rank) => groups.push((rank, no.take().unwrap_or(at))),
            None if is_no(at) => no = Some(at),
            None => {}
        }
    }
    let Some(&(_, first)) = groups.first() else { return };
    let is_end = |with: &TokenWithSpan| matches!(with.token, Token::SemiColon | Token::EOF);
    let end = tokens.iter().position(is_end).unwrap_or(tokens.len());
    let ends = groups.iter().skip(1).map(|(_, begin)| *begin).chain([end]);
    let space =
        TokenWithSpan { token: Token::Whitespace(Whitespace::Space), span: tokens[first].span };
    let mut texts = groups
        .iter()
        .zip(ends)
        .filter(|((_, begin), end)| begin <= end)
        .map(|(&(rank, begin), end)| (rank, tokens[begin..end].to_vec()))
        .collect::<Vec<_>>();
    texts.sort_by_key(|(rank, _)| *rank);
    let mut ordered = texts.into_iter().flat_map(|(_, text)| text);
    for slot in &mut tokens[first..end] {
        *slot = ordered.next().unwrap_or_else(|| space.clone());
    }
}

fn is_shown(with: &TokenWithSpan) -> bool {
    !matches!(with.token, Token::Whitespace(_))
}

/// The places of a statement's tokens, and which of them stands behind the name of its sequence.
fn behind_name(tokens: &[TokenWithSpan]) -> (Vec<usize>, usize) {
    let places = (0..tokens.len()).filter(|&place| is_shown(&tokens[place])).collect::<Vec<_>>();
    let is = |at: usize, expected: Keyword| {
        places.get(at).is_some_and(|&place| keyword(&tokens[place].token) == expected)
    };
    // Behind IF EXISTS or IF NOT EXISTS.
    let mut at = match (is(2, Keyword::IF), is(3, Keyword::NOT)) {
        (true, true) => 6,
        (true, false) => 5,
        (false, _) => 3,
    };
    while places.get(at).is_some_and(|&place| tokens[place].token == Token::Period) {
        at += 2;
    }
    (places, at)
}

/// `ALTER SEQUENCE s …` as an ALTER TABLE.
fn alter_sequence(tokens: &mut Vec<TokenWithSpan>) {
    let (places, at) = behind_name(tokens);
    let word = |at: usize| places.get(at).map(|&place| keyword(&tokens[place].token));
    if places.len() < 2 {
        return;
    }
    let table = places[1];
    let options = match word(at) {
        Some(Keyword::RENAME | Keyword::OWNER | Keyword::SET) | None => None,
        Some(_) => places.get(at).copied(),
    };
    if let Some(first) = options {
        let end = tokens.len();
        let rest = tokens[first..end].iter().filter(|with| is_shown(with)).map(|with| &with.token);
        let text = options_text(&rest.cloned().collect::<Vec<_>>());
        let span = tokens[first].span;
        tokens.truncate(first);
        let set = text.into_iter().flat_map(|token| [token, Token::Whitespace(Whitespace::Space)]);
        tokens.extend(set.map(|token| TokenWithSpan { token, span }));
    }
    tokens[table].token = Token::make_keyword("TABLE");
}

/// Options of ALTER SEQUENCE as those of SET.
pub(super) fn options_text(words: &[Token]) -> Vec<Token> {
    let mut set = vec![Token::make_keyword("SET"), Token::LParen];
    let mut at = 0;
    let is = |at: usize, expected: Keyword| {
        words.get(at).is_some_and(|token| keyword(token) == expected)
    };
    while at < words.len() && !matches!(words[at], Token::SemiColon | Token::EOF) {
        if set.len() > 2 {
            set.push(Token::Comma);
        }
        let name = words[at].to_string().to_lowercase();
        at += 1;
        let (name, value) = match name.as_str() {
            "no" => {
                let name = words.get(at).map(ToString::to_string).unwrap_or_default();
                at += 1;
                match name.to_lowercase().as_str() {
                    "cycle" => ("cycle".to_owned(), vec![Token::make_keyword("FALSE")]),
                    other => (format!("no_{other}"), vec![Token::make_keyword("TRUE")]),
                }
            }
            "cycle" => (name, vec![Token::make_keyword("TRUE")]),
            "as" => {
                let data_type = words.get(at).map(ToString::to_string).unwrap_or_default();
                at += 1;
                ("as".to_owned(), vec![Token::SingleQuotedString(data_type)])
            }
            "owned" => {
                at += usize::from(is(at, Keyword::BY));
                let from = at;
                at += 1;
                while matches!(words.get(at), Some(Token::Period)) {
                    at += 2;
                }
                let words = words.get(from..at.min(words.len())).unwrap_or_default();
                let column = words.iter().map(ToString::to_string).collect::<String>();
                ("owned_by".to_owned(), vec![Token::SingleQuotedString(column)])
            }
            _ => {
                at += usize::from(is(at, Keyword::WITH) || is(at, Keyword::BY));
                let from = at;
                at += usize::from(matches!(words.get(at), Some(Token::Minus | Token::Plus)));
                let has_number = matches!(words.get(at), Some(Token::Number(..)));
                match has_number {
                    true => {
                        at += 1;
                        (name, words[from..at].to_vec())
                    }
                    false if name == "restart" => (name, vec![Token::make_word("start", None)]),
                    false => (name, vec![Token::make_keyword("NULL")]),
                }
            }
        };
        set.push(Token::make_word(&name, None));
        set.push(Token::Eq);
        set.extend(value);
    }
    set.push(Token::RParen);
    set
}

//! PostgreSQL's other spellings of what the parser knows under one: ABORT for ROLLBACK, ON and OFF for
//! TRUE and FALSE among the options of COPY, USER for ROLE, VACUUM with ANALYZE, VERBOSE and FREEZE; FOR NO
//! KEY UPDATE and FOR KEY SHARE for FOR UPDATE and FOR SHARE, which exclude more, and LIMIT behind them;
//! columns called `key` or `index`. DuckDB's of types that are structures, and of macros. And EXPLAIN PLACEMENT, which is none of PostgreSQL's, for EXPLAIN FORMATTED.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Replaces words by those that the parser knows.
pub(super) fn respell(tokens: &mut [TokenWithSpan]) {
    if has_structures(tokens) {
        structures_in_parentheses(tokens);
    }
    digits_of_intervals(tokens);
    let words = tokens.iter_mut().filter(|with| matches!(with.token, Token::Word(_)));
    let mut words = words.map(|with| &mut with.token);
    let Some(first) = words.next() else { return };
    match keyword(first) {
        Keyword::ABORT => *first = Token::make_keyword("ROLLBACK"),
        Keyword::COPY => {
            let mut before = Keyword::NoKeyword;
            for word in words {
                let of_option = matches!(before, Keyword::FREEZE | Keyword::HEADER);
                before = keyword(word);
                match before {
                    Keyword::ON if of_option => *word = Token::make_keyword("TRUE"),
                    Keyword::OFF if of_option => *word = Token::make_keyword("FALSE"),
                    _ => {}
                }
            }
        }
        Keyword::CREATE | Keyword::ALTER | Keyword::DROP => {
            if let Some(word) = words.next().filter(|word| keyword(word) == Keyword::USER) {
                *word = Token::make_keyword("ROLE");
            }
            columns_named_as_indexes(tokens);
            macros(tokens);
        }
        Keyword::RESET => {
            let (time, zone) = (words.next(), words.next());
            if let (Some(time), Some(zone)) = (time, zone)
                && keyword(time) == Keyword::TIME
                && keyword(zone) == Keyword::ZONE
            {
                *time = Token::make_word("timezone", None);
                *zone = Token::Whitespace(Whitespace::Space);
            }
        }
        Keyword::COMMENT => without_types_of_function(tokens),
        Keyword::EXPLAIN => {
            // Not a table that is called so.
            let next = words.next();
            if let Some(word) = next.filter(|word| is_word(word, "placement"))
                && words.next().is_some()
            {
                *word = Token::make_keyword("FORMATTED");
            }
        }
        Keyword::VACUUM => {
            for word in words {
                if matches!(keyword(word), Keyword::ANALYZE | Keyword::VERBOSE | Keyword::FREEZE) {
                    *word = Token::Whitespace(Whitespace::Space);
                }
            }
        }
        Keyword::SELECT | Keyword::WITH => {
            row_locks(tokens);
            limits_behind_locks(tokens);
        }
        _ => {}
    }
}

/// `TABLE t`, which is `SELECT * FROM t`.
pub(super) fn table_as_query(tokens: &mut Vec<TokenWithSpan>) {
    if !begins_with(tokens, Keyword::TABLE) {
        return;
    }
    let is_it = |with: &TokenWithSpan| keyword(&with.token) == Keyword::TABLE;
    let Some(place) = tokens.iter().position(is_it) else { return };
    let span = tokens[place].span;
    let space = || Token::Whitespace(Whitespace::Space);
    let words =
        [Token::make_keyword("SELECT"), space(), Token::Mul, space(), Token::make_keyword("FROM")];
    let words = words.map(|token| TokenWithSpan { token, span });
    tokens.splice(place..=place, words);
}

/// Whether a type that is a structure may be among them; PostgreSQL's dialect has none.
pub(super) fn has_structures(tokens: &[TokenWithSpan]) -> bool {
    let is_of =
        |with: &TokenWithSpan| matches!(keyword(&with.token), Keyword::STRUCT | Keyword::MAP);
    tokens.iter().any(is_of)
}

/// DuckDB's types `STRUCT(name type, ...)`, which the parser knows in angle brackets; not calls of the function `struct`.
fn structures_in_parentheses(tokens: &mut [TokenWithSpan]) {
    let shown = tokens.iter_mut().map(|with| &mut with.token);
    let mut shown =
        shown.filter(|token| !matches!(token, Token::Whitespace(_))).collect::<Vec<_>>();
    let mut opened = Vec::new();
    for place in 0..shown.len() {
        match *shown[place] {
            Token::LParen => {
                let is_type = place > 0
                    && keyword(shown[place - 1]) == Keyword::STRUCT
                    && shown.get(place + 1).is_some_and(|token| begins_field(token))
                    && shown.get(place + 2).is_some_and(|token| begins_type(token));
                opened.push(is_type.then_some(place));
            }
            Token::RParen => {
                if let Some(Some(first)) = opened.pop() {
                    *shown[first] = Token::Lt;
                    *shown[place] = Token::Gt;
                }
            }
            _ => {}
        }
    }
}

/// `INTERVAL(3) '1.2345'`, of which the parser forgets the digits: it knows them as those of seconds, behind the text.
fn digits_of_intervals(tokens: &mut [TokenWithSpan]) {
    for place in 0..tokens.len() {
        if keyword(&tokens[place].token) != Keyword::INTERVAL {
            continue;
        }
        let Some([open, digits, close, space, text]) = tokens.get_mut(place + 1..place + 6) else {
            return;
        };
        let is_it = open.token == Token::LParen
            && matches!(digits.token, Token::Number(..))
            && close.token == Token::RParen
            && matches!(space.token, Token::Whitespace(_))
            && matches!(text.token, Token::SingleQuotedString(_));
        if is_it {
            space.token = Token::make_keyword("SECOND");
            tokens[place + 1..place + 6].rotate_right(1);
            tokens[place + 2..place + 6].rotate_right(1);
        }
    }
}

fn begins_field(token: &Token) -> bool {
    let begins_value = [Keyword::NOT, Keyword::CASE, Keyword::DISTINCT, Keyword::EXISTS];
    matches!(token, Token::Word(word) if !begins_value.contains(&word.keyword))
}

/// Not what goes on with a value.
fn begins_type(token: &Token) -> bool {
    use Keyword::{
        AND, AS, AT, BETWEEN, COLLATE, DIV, ILIKE, IN, IS, LIKE, NOT, OR, OVER, REGEXP, RLIKE,
        SIMILAR, XOR,
    };
    let goes_on = [
        AND, AS, AT, BETWEEN, COLLATE, DIV, ILIKE, IN, IS, LIKE, NOT, OR, OVER, REGEXP, RLIKE,
        SIMILAR, XOR,
    ];
    matches!(token, Token::Word(word) if !goes_on.contains(&word.keyword))
}

/// `COMMENT ON FUNCTION f(int) IS …`: a function has its name alone.
fn without_types_of_function(tokens: &mut [TokenWithSpan]) {
    let function = tokens.iter().position(|with| keyword(&with.token) == Keyword::FUNCTION);
    let is = tokens.iter().position(|with| keyword(&with.token) == Keyword::IS);
    let (Some(function), Some(is)) = (function, is) else { return };
    let Some(of_function) = tokens.get_mut(function..is) else { return };
    let from = of_function.iter().position(|with| with.token == Token::LParen);
    for with in of_function.iter_mut().skip(from.unwrap_or(usize::MAX)) {
        with.token = Token::Whitespace(Whitespace::Space);
    }
}

/// DuckDB's `CREATE FUNCTION f(a) AS a + 1`, which is a macro, and DROP MACRO, which is DROP FUNCTION.
fn macros(tokens: &mut [TokenWithSpan]) {
    let shown = tokens.iter_mut().map(|with| &mut with.token);
    let mut shown =
        shown.filter(|token| !matches!(token, Token::Whitespace(_))).collect::<Vec<_>>();
    let is = |token: Option<&&mut Token>, word| token.is_some_and(|token| keyword(token) == word);
    if is(shown.first(), Keyword::DROP) && is(shown.get(1), Keyword::MACRO) {
        *shown[1] = Token::make_keyword("FUNCTION");
        if is(shown.get(2), Keyword::TABLE) {
            *shown[2] = Token::Whitespace(Whitespace::Space);
        }
    }
    // Behind OR REPLACE, perhaps.
    let Some(word) = (1..=3).find(|place| is(shown.get(*place), Keyword::FUNCTION)) else { return };
    let mut depth = 0_usize;
    let end = (word..shown.len()).find(|place| {
        match *shown[*place] {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *shown[*place] == Token::RParen
    });
    let Some(end) = end.filter(|end| is(shown.get(end + 1), Keyword::AS)) else { return };
    let is_text = |token: &Token| {
        matches!(
            token,
            Token::SingleQuotedString(_)
                | Token::DollarQuotedString(_)
                | Token::EscapedStringLiteral(_)
        )
    };
    if shown.get(end + 2).is_some_and(|token| !is_text(token)) {
        *shown[word] = Token::make_keyword("MACRO");
    }
}

/// Columns called `key` or `index`, which the parser takes for MySQL's definitions of indexes.
fn columns_named_as_indexes(tokens: &mut [TokenWithSpan]) {
    let shown = tokens.iter_mut().map(|with| &mut with.token);
    let mut shown =
        shown.filter(|token| !matches!(token, Token::Whitespace(_))).collect::<Vec<_>>();
    for place in 1..shown.len().saturating_sub(1) {
        let begins = matches!(shown[place - 1], Token::LParen | Token::Comma);
        let is_named = begins && matches!(shown[place + 1], Token::Word(_));
        if let Token::Word(word) = &mut *shown[place]
            && is_named
            && matches!(word.keyword, Keyword::KEY | Keyword::INDEX)
        {
            (word.keyword, word.quote_style) = (Keyword::NoKeyword, Some('"'));
            word.value = word.value.to_lowercase();
        }
    }
}

/// FOR NO KEY UPDATE, and FOR KEY SHARE: rows have one lock.
fn row_locks(tokens: &mut [TokenWithSpan]) {
    let words = tokens.iter_mut().filter(|with| matches!(with.token, Token::Word(_)));
    let mut words = words.map(|with| &mut with.token).collect::<Vec<_>>();
    for first in 0..words.len() {
        let is = |offset: usize, expected| {
            words.get(first + offset).is_some_and(|word| keyword(word) == expected)
        };
        if !is(0, Keyword::FOR) {
            continue;
        }
        let dropped = if is(1, Keyword::NO) && is(2, Keyword::KEY) && is(3, Keyword::UPDATE) {
            2
        } else {
            usize::from(is(1, Keyword::KEY) && is(2, Keyword::SHARE))
        };
        for word in words.iter_mut().skip(first + 1).take(dropped) {
            **word = Token::Whitespace(Whitespace::Space);
        }
    }
}

/// LIMIT and OFFSET behind a locking clause, where the parser has them before it.
fn limits_behind_locks(tokens: &mut [TokenWithSpan]) {
    let shown = |tokens: &[TokenWithSpan]| {
        let is_shown = |(_, with): &(usize, &TokenWithSpan)| {
            !matches!(with.token, Token::Whitespace(_) | Token::EOF | Token::SemiColon)
        };
        let shown = tokens.iter().enumerate().filter(is_shown);
        shown.map(|(place, with)| (place, keyword(&with.token))).collect::<Vec<_>>()
    };
    let words = shown(tokens);
    let is_lock = |pair: &[(usize, Keyword)]| {
        pair[0].1 == Keyword::FOR && matches!(pair[1].1, Keyword::UPDATE | Keyword::SHARE)
    };
    let Some(lock) = words.windows(2).rposition(is_lock) else { return };
    let is_limit = |(_, word): &(usize, Keyword)| matches!(word, Keyword::LIMIT | Keyword::OFFSET);
    let Some(limit) = words[lock..].iter().position(is_limit) else { return };
    let (first, middle) = (words[lock].0, words[lock + limit].0);
    // In parentheses it is the clause of a part, which is refused anyway.
    let last = words.last().map_or(middle, |(place, _)| *place);
    let has_parenthesis = tokens[first..=last].iter().any(|with| with.token == Token::RParen);
    if !has_parenthesis {
        tokens[first..=last].rotate_left(middle - first);
    }
}

/// Whether a statement is one that the parser knows only in PostgreSQL's dialect: about users, UNLISTEN, ALTER, and
/// INSERT into a table that is given another name.
pub(super) fn is_of_postgres(tokens: &[TokenWithSpan]) -> bool {
    let words = tokens.iter().map(|with| keyword(&with.token));
    let mut words = words.filter(|word| *word != Keyword::NoKeyword);
    match words.next() {
        Some(Keyword::CREATE) => words.next() == Some(Keyword::ROLE),
        Some(Keyword::ALTER) => !has_structures(tokens),
        Some(Keyword::INSERT | Keyword::WITH | Keyword::EXPLAIN) => names_target(tokens),
        first => first == Some(Keyword::UNLISTEN),
    }
}

/// Whether an INSERT gives its table another name: AS follows it.
fn names_target(tokens: &[TokenWithSpan]) -> bool {
    let shown = tokens.iter().map(|with| &with.token);
    let shown = shown.filter(|token| !matches!(token, Token::Whitespace(_)));
    let mut shown = shown.skip_while(|token| keyword(token) != Keyword::INSERT).skip(2);
    while let Some(Token::Word(_)) = shown.next() {
        match shown.next() {
            Some(Token::Period) => {}
            next => return next.is_some_and(|token| keyword(token) == Keyword::AS),
        }
    }
    false
}

/// Whether this is the first word.
pub(super) fn begins_with(tokens: &[TokenWithSpan], expected: Keyword) -> bool {
    let mut words = tokens.iter().map(|with| &with.token);
    let first = words.find(|token| !matches!(token, Token::Whitespace(_)));
    first.map(keyword) == Some(expected)
}

pub(super) fn is_word(token: &Token, expected: &str) -> bool {
    matches!(token, Token::Word(word) if word.value.eq_ignore_ascii_case(expected))
}

pub(super) fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

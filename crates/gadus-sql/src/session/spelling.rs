//! PostgreSQL's other spellings of what the parser knows under one: ABORT for ROLLBACK, ON and OFF for
//! TRUE and FALSE among the options of COPY, USER for ROLE, VACUUM with ANALYZE, VERBOSE and FREEZE.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Replaces words by those that the parser knows.
pub(super) fn respell(tokens: &mut [TokenWithSpan]) {
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
        }
        Keyword::VACUUM => {
            for word in words {
                if matches!(keyword(word), Keyword::ANALYZE | Keyword::VERBOSE | Keyword::FREEZE) {
                    *word = Token::Whitespace(Whitespace::Space);
                }
            }
        }
        _ => {}
    }
}

/// Whether a statement is about users, which the parser knows only in PostgreSQL's dialect.
pub(super) fn is_of_users(tokens: &[TokenWithSpan]) -> bool {
    let words = tokens.iter().map(|with| keyword(&with.token));
    let mut words = words.filter(|word| *word != Keyword::NoKeyword);
    let first = words.next();
    matches!(first, Some(Keyword::CREATE | Keyword::ALTER)) && words.next() == Some(Keyword::ROLE)
}

fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

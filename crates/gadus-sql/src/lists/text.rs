//! Lists as PostgreSQL writes them: `{1,2,NULL}`, `{"a,b","c\"d"}`.

/// The elements of a list of one dimension as PostgreSQL writes it, each with what its quotes hold, none
/// for NULL; none altogether for a text that is no such list.
///
/// ```
/// # use gadus_sql::list_elements;
/// let elements = list_elements(r#"{1, NULL, "a,\"b"}"#).expect("a list");
/// assert_eq!(elements, [Some("1".to_owned()), None, Some("a,\"b".to_owned())]);
/// assert_eq!(list_elements("1,2"), None);
/// ```
#[must_use]
pub fn list_elements(text: &str) -> Option<Vec<Option<String>>> {
    let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    let mut rest = inside.trim();
    if rest.is_empty() {
        return Some(elements);
    }
    loop {
        let (element, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_element(quoted)?,
            None => plain_element(rest)?,
        };
        elements.push(element);
        let behind = behind.trim_start();
        if behind.is_empty() {
            return Some(elements);
        }
        rest = behind.strip_prefix(',')?.trim_start();
    }
}

/// What stands before the closing quotes, and what behind.
fn quoted_element(text: &str) -> Option<(Option<String>, &str)> {
    let mut element = String::new();
    let mut characters = text.char_indices();
    loop {
        match characters.next()? {
            (at, '"') => return Some((Some(element), &text[at + 1..])),
            (_, '\\') => element.push(characters.next()?.1),
            (_, character) => element.push(character),
        }
    }
}

/// What stands before the next comma, and the rest from there.
fn plain_element(text: &str) -> Option<(Option<String>, &str)> {
    let mut element = String::new();
    let mut end = text.len();
    let mut is_escaped = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ',' => {
                end = at;
                break;
            }
            // Of lists in lists, and of what is not written so.
            '{' | '}' | '"' => return None,
            '\\' => {
                element.push(characters.next()?.1);
                is_escaped = true;
            }
            _ => element.push(character),
        }
    }
    let element = element.trim_end();
    let is_null = !is_escaped && element.eq_ignore_ascii_case("null");
    match element.is_empty() {
        true => None,
        false => Some(((!is_null).then(|| element.to_owned()), &text[end..])),
    }
}

/// Writes an element as a list has it, in quotes where it could be taken for something else.
///
/// ```
/// # use gadus_sql::write_element;
/// let mut list = String::from("{");
/// for element in [Some("a b"), None, Some("NULL"), Some("1")] {
///     list.push(if list.len() == 1 { ' ' } else { ',' });
///     write_element(&mut list, element);
/// }
/// assert_eq!(list, r#"{ "a b",NULL,"NULL",1"#);
/// ```
pub fn write_element(list: &mut String, element: Option<&str>) {
    let Some(element) = element else {
        list.push_str("NULL");
        return;
    };
    let is_special = |byte: u8| byte.is_ascii_whitespace() || b"{},\"\\".contains(&byte);
    if !element.is_empty()
        && !element.eq_ignore_ascii_case("null")
        && !element.bytes().any(is_special)
    {
        list.push_str(element);
        return;
    }
    list.push('"');
    for character in element.chars() {
        if matches!(character, '"' | '\\') {
            list.push('\\');
        }
        list.push(character);
    }
    list.push('"');
}

#[cfg(test)]
mod tests {
    use super::list_elements;

    #[test]
    fn lists_are_read() {
        for (text, expected) in [
            ("{}", vec![]),
            (" { } ", vec![]),
            ("{1}", vec![Some("1")]),
            ("{ 1 , NULL,null, \"NULL\" }", vec![Some("1"), None, None, Some("NULL")]),
            (r#"{"a,b","\\\"",a b,\n,\NULL,""}"#, {
                vec![Some("a,b"), Some("\\\""), Some("a b"), Some("n"), Some("NULL"), Some("")]
            }),
            ("{grün,\"ö\"}", vec![Some("grün"), Some("ö")]),
        ] {
            let elements = list_elements(text).unwrap_or_else(|| panic!("{text}"));
            let elements = elements.iter().map(Option::as_deref).collect::<Vec<_>>();
            assert_eq!(elements, expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "1",
            "{",
            "}",
            "{1",
            "1}",
            "{1,}",
            "{,1}",
            "{,}",
            "{\"a}",
            "{\"a\"b}",
            "{{1},{2}}",
            "{a\\}",
        ] {
            assert_eq!(list_elements(text), None, "{text}");
        }
    }
}

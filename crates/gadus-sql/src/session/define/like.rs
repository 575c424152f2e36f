//! LIKE among the elements of CREATE TABLE: the columns of another relation.
//!
//! - The parser does not know it: it becomes a column of a reserved name that refers to the relation, so that the name of
//!   the relation is resolved as those of foreign keys are.
//! - Columns, constraints and comments are written out as a statement has them; indexes are returned next to it.

use super::super::indexes::Wanted;
use super::super::modify::table_name;
use super::super::spelling::{is_word, keyword};
use crate::error::coded;
use crate::postgres::quoted;
use crate::sequences::sequence_options;
use datafusion::sql::sqlparser::ast::{
    ColumnDef, ColumnOption, CreateTable, Ident, ObjectName, Statement,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use gadus_engine::{
    ColumnDefinition, DefinitionKey, Error, ErrorKind, Identity, Reason, Result, Snapshot,
    TableSchema, ViewSchema,
};
use std::borrow::Cow;
use std::fmt::Write;

/// Name of the columns that stand for LIKE; the options that are included follow.
const LIKE: &str = "gadus.like";

/// Parts of a table that LIKE may include, in PostgreSQL's order. The last three have no meaning here.
const OPTIONS: [&str; 9] = [
    "comments",
    "constraints",
    "defaults",
    "identity",
    "generated",
    "indexes",
    "statistics",
    "storage",
    "compression",
];

/// Respells each LIKE among the elements of a CREATE TABLE.
pub(in crate::session) fn respell(tokens: &mut Vec<TokenWithSpan>) {
    let is_shown = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
    let shown = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
    let word = |at: usize| {
        shown.get(at).map_or(Keyword::NoKeyword, |place| keyword(&tokens[*place].token))
    };
    if word(0) != Keyword::CREATE || !(1..5).any(|at| word(at) == Keyword::TABLE) {
        return;
    }
    let (mut depth, mut begins, mut found) = (0_usize, None, Vec::new());
    for (at, &place) in shown.iter().enumerate() {
        let is_end = match tokens[place].token {
            Token::LParen => {
                depth += 1;
                if depth == 1 && begins.is_none() {
                    begins = Some(at + 1);
                }
                false
            }
            Token::RParen => {
                depth = depth.saturating_sub(1);
                depth == 0
            }
            Token::Comma => depth == 1,
            _ => depth == 0 && keyword(&tokens[place].token) == Keyword::AS,
        };
        if !is_end {
            continue;
        }
        let Some(first) = begins else { return };
        if first < at && word(first) == Keyword::LIKE {
            let words = shown[first..at].iter().map(|place| tokens[*place].token.clone());
            if let Some(respelled) = respelled(&words.collect::<Vec<_>>()) {
                found.push((shown[first], place, respelled));
            }
        }
        if depth == 0 {
            break;
        }
        begins = Some(at + 1);
    }
    for (first, end, respelled) in found.into_iter().rev() {
        let span = tokens[first].span;
        let space = Token::Whitespace(Whitespace::Space);
        let respelled = respelled.into_iter().flat_map(|token| [token, space.clone()]);
        tokens.splice(first..end, respelled.map(|token| TokenWithSpan { token, span }));
    }
}

/// Returns LIKE and what follows as a column; `None` if that is no LIKE.
fn respelled(words: &[Token]) -> Option<Vec<Token>> {
    let mut end = 2;
    while words.get(end) == Some(&Token::Period) {
        end += 2;
    }
    let name = words.get(1..end)?;
    let mut included = [false; OPTIONS.len()];
    for pair in words[end..].chunks(2) {
        let [how, what] = pair else { return None };
        let is_included = is_word(how, "including");
        if !is_included && !is_word(how, "excluding") {
            return None;
        }
        match OPTIONS.iter().position(|option| is_word(what, option)) {
            Some(option) => included[option] = is_included,
            None if is_word(what, "all") => included = [is_included; OPTIONS.len()],
            None => return None,
        }
    }
    let options = OPTIONS.iter().zip(included).filter(|(_, is_included)| *is_included);
    let options = options.map(|(option, _)| format!(" {option}")).collect::<String>();
    let mut column = vec![
        Token::make_word(&format!("{LIKE}{options}"), Some('"')),
        Token::make_keyword("BOOLEAN"),
        Token::make_keyword("REFERENCES"),
    ];
    column.extend_from_slice(name);
    Some(column)
}

/// Returns a statement in which the columns of other relations are written out, and the indexes that it copies.
pub(super) fn expanded<'a>(
    snapshot: &Snapshot,
    statement: &'a Statement,
) -> Result<(Cow<'a, Statement>, Vec<Wanted>)> {
    let same = || Ok((Cow::Borrowed(statement), Vec::new()));
    let Statement::CreateTable(create) = statement else { return same() };
    let is_made_already = create.if_not_exists && snapshot.has_relation(&table_name(&create.name)?);
    if is_made_already || !create.columns.iter().any(|column| like(column).is_some()) {
        return same();
    }
    if create.query.is_some() {
        return Err(coded("42601", "LIKE is no name of a column of CREATE TABLE … AS"));
    }
    let (mut whole, mut indexes) = (create.clone(), Vec::new());
    whole.columns.clear();
    for column in &create.columns {
        let Some((relation, options)) = like(column) else {
            whole.columns.push(column.clone());
            continue;
        };
        let first = whole.columns.len();
        let copy = Copy { snapshot, options };
        let lines = match found(snapshot, relation)? {
            Source::View(view) => copy.view(&view)?,
            Source::Table(schema) => {
                indexes.extend(copy.indexes(&schema, first));
                copy.table(&schema)
            }
        };
        if !lines.is_empty() {
            let copied = parsed(&lines)?;
            whole.columns.extend(copied.columns);
            whole.constraints.extend(copied.constraints);
        }
    }
    Ok((Cow::Owned(Statement::CreateTable(whole)), indexes))
}

/// Returns the relation and the options of a LIKE.
fn like(column: &ColumnDef) -> Option<(&ObjectName, Vec<&str>)> {
    let Ident { value, quote_style: Some(_), .. } = &column.name else { return None };
    let options = value.strip_prefix(LIKE)?.split_whitespace().collect();
    column.options.iter().find_map(|option| match &option.option {
        ColumnOption::ForeignKey(key) => Some((&key.foreign_table, Vec::clone(&options))),
        _ => None,
    })
}

/// Relation whose columns are copied.
enum Source {
    Table(std::sync::Arc<TableSchema>),
    View(std::sync::Arc<ViewSchema>),
}

fn found(snapshot: &Snapshot, name: &ObjectName) -> Result<Source> {
    let stored = table_name(name)?;
    if let Some(table) = snapshot.find_table(&stored) {
        return Ok(Source::Table(table.schema().clone()));
    }
    if let Some(view) = snapshot.find_view(&stored) {
        return Ok(Source::View(view));
    }
    if snapshot.find_sequence(&stored).is_some() {
        let what = "a table, view, materialized view, composite type, or foreign table";
        return Err(coded("42809", format!("\"{stored}\" is not {what}")));
    }
    let message = format!("relation \"{stored}\" does not exist");
    Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable))
}

/// Parses the elements of a table.
fn parsed(lines: &[String]) -> Result<CreateTable> {
    let prepared = super::super::parse(&format!("CREATE TABLE t ({})", lines.join(", ")))?;
    match &*prepared.statement {
        Statement::CreateTable(create) => Ok(create.clone()),
        other => Err(Error::internal(format!("{other} makes no table"))),
    }
}

/// Copy of a relation's definition.
struct Copy<'a> {
    snapshot: &'a Snapshot,
    options: Vec<&'a str>,
}

impl Copy<'_> {
    fn includes(&self, option: &str) -> bool {
        self.options.contains(&option)
    }

    fn view(&self, view: &ViewSchema) -> Result<Vec<String>> {
        let column = |column: &gadus_engine::ViewColumn| {
            let of = column.column_type.ok_or_else(|| {
                let message = format!("the type of column \"{}\" is not supported", column.name);
                coded("0A000", message)
            })?;
            Ok(format!("{} {of}", quoted(&column.name)))
        };
        view.columns.iter().map(column).collect()
    }

    /// Returns the columns and constraints of a table.
    fn table(&self, schema: &TableSchema) -> Vec<String> {
        let column = |column: &ColumnDefinition| self.column(schema, column);
        let mut lines = schema.columns.iter().map(column).collect::<Vec<_>>();
        let list = |places: &[usize]| {
            let names = places.iter().map(|place| quoted(&schema.columns[*place].name));
            names.collect::<Vec<_>>().join(", ")
        };
        if self.includes("constraints") {
            let check = |check: &gadus_engine::CheckDefinition| {
                format!("CONSTRAINT {} CHECK ({})", quoted(&check.name), check.condition)
            };
            lines.extend(schema.checks.iter().map(check));
        }
        if self.includes("indexes") {
            if !schema.key.is_empty() {
                lines.push(format!("PRIMARY KEY ({})", list(&schema.key)));
            }
            for index in schema.indexes.iter().filter(|index| index.constraint && index.unique) {
                lines.push(format!("UNIQUE ({})", list(&places(schema, &index.columns))));
            }
        }
        lines
    }

    fn column(&self, schema: &TableSchema, column: &ColumnDefinition) -> String {
        let mut line = format!("{} {}", quoted(&column.name), column.column_type);
        let mut owned = self.snapshot.owned_sequences(schema.id);
        let owner = Some((schema.id, column.id));
        // Writing to a String cannot fail.
        let _ = match (column.identity, &column.generated, &column.default) {
            (Some(identity), ..) => {
                let sequence = owned.find(|sequence| sequence.owner == owner);
                let kind = match identity {
                    Identity::Always => "ALWAYS",
                    Identity::ByDefault => "BY DEFAULT",
                };
                match sequence.filter(|_| self.includes("identity")) {
                    Some(sequence) => {
                        let options = sequence_options(&sequence.shape);
                        let options = match options.is_empty() {
                            true => options,
                            false => format!(" ({})", options.trim_start()),
                        };
                        write!(line, " GENERATED {kind} AS IDENTITY{options}")
                    }
                    None => Ok(()),
                }
            }
            (None, Some(generated), _) if self.includes("generated") => {
                write!(line, " GENERATED ALWAYS AS ({}) STORED", generated.expression)
            }
            (None, None, Some(default)) if self.includes("defaults") => {
                write!(line, " DEFAULT {}", default.0)
            }
            _ => Ok(()),
        };
        if !column.nullable {
            line.push_str(" NOT NULL");
        }
        let key = DefinitionKey::CommentOnColumn(schema.id, column.id);
        if let Some(comment) = self.snapshot.definition(&key).filter(|_| self.includes("comments"))
        {
            let _ = write!(line, " COMMENT '{}'", comment.replace('\'', "''"));
        }
        line
    }

    /// Returns the indexes that are no constraints, for columns from a place on.
    fn indexes(&self, schema: &TableSchema, first: usize) -> Vec<Wanted> {
        let is_copied = |index: &&gadus_engine::IndexDefinition| !index.constraint;
        let all = schema.indexes.iter().filter(|_| self.includes("indexes")).filter(is_copied);
        let index = |index: &gadus_engine::IndexDefinition| {
            let places = places(schema, &index.columns).into_iter();
            Wanted::unnamed(places.map(|place| first + place).collect(), index.unique)
        };
        all.map(index).collect()
    }
}

fn places(schema: &TableSchema, columns: &[u32]) -> Vec<usize> {
    columns.iter().filter_map(|id| schema.column_with_id(*id)).collect()
}

//! Schemas of tables and views as the log and the manifest hold them.
//!
//! Byte table of a table (version 5): id u32, version u32, name text, next column number u32, column
//! count u32, then for each column: number u32, name text, type code u8, precision u8, scale u8,
//! nullable u8, default kind u8 (0 none, 1 SQL text, 2 an identity by default, 3 an identity always, 4 generated), default text; of
//! kind 4 column count u32, numbers of the columns read u32 each; key length u32, key column indexes
//! u32 each; check count u32, then for each check: name text, condition text, column count u32, numbers
//! of columns u32 each; next index number u32, index count u32, then for each index: number u32, name text, flags u8 (1
//! unique, 2 a constraint), column count u32, numbers of columns u32 each; foreign key count u32, then for each: name text,
//! table u32, on delete u8 and on update u8 (0 no action, 1 restrict, 2 cascade, 3 set null), column count u32, numbers of its columns u32 each, of those that
//! it refers to u32 each; count of tables that refer to it u32, ids u32 each.
//! Version ladder: version 1 has no numbers of columns, which are their places then, and no checks; version 2 has no
//! indexes, version 3 no identities, version 4 no foreign keys. All are read. Kind 4 of a default joined version 5, which needs no step: an
//! unknown kind refuses the database.
//!
//! Byte table of a view (version 1): id u32, version u32, name text, text of its query, column count
//! u32, then for each: name text, type code u8 (255 none), precision u8, scale u8; used relations u32, then for each: id u32, name text, column count u32, then
//! for each: number u32, name text, used u8; tables read u32.

use super::schema::{COLUMNS_MAX, EXPRESSION_BYTES_MAX, NAME_BYTES_MAX};
use super::view::{
    RELATIONS_MAX, UsedColumn, UsedRelation, VIEW_BYTES_MAX, ViewColumn, ViewSchema,
};
use super::{
    CheckDefinition, ColumnDefinition, ColumnType, DefaultValue, ForeignKey, Generated, Identity,
    IndexDefinition, TableSchema,
};
use gadus_base::{ByteReader, ByteWriter, DecodeError, TableId};

/// The type of a view's column that no table can have.
const NO_TYPE: [u8; 3] = [255, 0, 0];

/// Flags of an index.
const UNIQUE: u8 = 1;
const CONSTRAINT: u8 = 2;

/// The kind of default of a generated column.
const GENERATED: u8 = 4;

/// Which form a table's schema has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SchemaForm {
    /// Version 1.
    WithoutNumbers,
    /// Version 2.
    WithoutIndexes,
    /// Version 3.
    WithoutIdentity,
    /// Version 4.
    WithoutForeignKeys,
    /// Version 5, which is written.
    Newest,
}

fn count_u32(count: usize) -> u32 {
    u32::try_from(count).expect("checked against limits")
}

impl TableSchema {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.id.0);
        to.u32(self.version);
        to.text(&self.name);
        to.u32(self.next_column);
        to.u32(count_u32(self.columns.len()));
        for column in &self.columns {
            to.u32(column.id);
            to.text(&column.name);
            column.column_type.encode(to);
            to.u8(u8::from(column.nullable));
            if let Some(Generated { expression, columns }) = &column.generated {
                to.u8(GENERATED);
                to.text(expression);
                to.u32(count_u32(columns.len()));
                columns.iter().for_each(|column| to.u32(*column));
                continue;
            }
            to.u8(match (&column.default, column.identity) {
                (None, _) => 0,
                (Some(_), None) => 1,
                (Some(_), Some(Identity::ByDefault)) => 2,
                (Some(_), Some(Identity::Always)) => 3,
            });
            if let Some(DefaultValue(text)) = &column.default {
                to.text(text);
            }
        }
        to.u32(count_u32(self.key.len()));
        for &column in &self.key {
            to.u32(count_u32(column));
        }
        to.u32(count_u32(self.checks.len()));
        for check in &self.checks {
            to.text(&check.name);
            to.text(&check.condition);
            to.u32(count_u32(check.columns.len()));
            check.columns.iter().for_each(|column| to.u32(*column));
        }
        to.u32(self.next_index);
        to.u32(count_u32(self.indexes.len()));
        for index in &self.indexes {
            to.u32(index.id);
            to.text(&index.name);
            let unique = UNIQUE * u8::from(index.unique);
            to.u8(unique | (CONSTRAINT * u8::from(index.constraint)));
            to.u32(count_u32(index.columns.len()));
            index.columns.iter().for_each(|column| to.u32(*column));
        }
        to.u32(count_u32(self.foreign_keys.len()));
        self.foreign_keys.iter().for_each(|key| key.encode(to));
        to.u32(count_u32(self.referenced_by.len()));
        self.referenced_by.iter().for_each(|table| to.u32(table.0));
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>, form: SchemaForm) -> Result<Self, DecodeError> {
        let id = TableId(from.u32()?);
        let version = from.u32()?;
        let name = from.text(NAME_BYTES_MAX)?.to_owned();
        let given = match form {
            SchemaForm::WithoutNumbers => None,
            _ => Some(from.u32()?),
        };
        let count = from.count(9)?;
        let mut columns = Vec::with_capacity(count);
        for place in 0..count {
            let id = match given {
                Some(_) => from.u32()?,
                None => count_u32(place),
            };
            columns.push(decode_column(from, id)?);
        }
        let next_column = given.unwrap_or(count_u32(count));
        let offset = from.offset();
        let key_count = from.count(4)?;
        let mut key = Vec::with_capacity(key_count);
        for _ in 0..key_count {
            key.push(from.u32()? as usize);
        }
        let mut checks = Vec::new();
        if form != SchemaForm::WithoutNumbers {
            for _ in 0..from.count(12)? {
                checks.push(decode_check(from)?);
            }
        }
        let (mut next_index, mut indexes) = (1, Vec::new());
        if form >= SchemaForm::WithoutIdentity {
            next_index = from.u32()?;
            for _ in 0..from.count(13)? {
                indexes.push(decode_index(from)?);
            }
        }
        let (mut foreign_keys, mut referenced_by) = (Vec::new(), Vec::new());
        if form >= SchemaForm::Newest {
            for _ in 0..from.count(14)? {
                foreign_keys.push(ForeignKey::decode(from)?);
            }
            for _ in 0..from.count(4)? {
                referenced_by.push(TableId(from.u32()?));
            }
        }
        let schema = Self {
            id,
            version,
            name,
            columns,
            key,
            next_column,
            checks,
            indexes,
            next_index,
            foreign_keys,
            referenced_by,
        };
        let mut numbers = schema.columns.iter().map(|column| column.id).collect::<Vec<_>>();
        numbers.sort_unstable();
        let are_numbered = numbers.windows(2).all(|two| two[0] < two[1])
            && numbers.last().is_none_or(|last| *last < next_column);
        match schema.check() {
            Ok(()) if are_numbered => Ok(schema),
            _ => Err(DecodeError { offset, expected: "a valid table schema" }),
        }
    }
}

fn decode_check(from: &mut ByteReader<'_>) -> Result<CheckDefinition, DecodeError> {
    let name = from.text(NAME_BYTES_MAX)?.to_owned();
    let condition = from.text(EXPRESSION_BYTES_MAX)?.to_owned();
    let columns = (0..from.count(4)?).map(|_| from.u32()).collect::<Result<_, _>>()?;
    Ok(CheckDefinition { name, condition, columns })
}

fn decode_index(from: &mut ByteReader<'_>) -> Result<IndexDefinition, DecodeError> {
    let (id, name) = (from.u32()?, from.text(NAME_BYTES_MAX)?.to_owned());
    let offset = from.offset();
    let flags = from.u8()?;
    if flags & !(UNIQUE | CONSTRAINT) != 0 {
        return Err(DecodeError { offset, expected: "flags of an index; a newer Gadus wrote it" });
    }
    let columns = (0..from.count(4)?).map(|_| from.u32()).collect::<Result<_, _>>()?;
    let (unique, constraint) = (flags & UNIQUE != 0, flags & CONSTRAINT != 0);
    Ok(IndexDefinition { id, name, columns, unique, constraint })
}

fn unknown_type(offset: usize) -> DecodeError {
    DecodeError { offset, expected: "a column type; a newer Gadus wrote it" }
}

fn decode_column(from: &mut ByteReader<'_>, id: u32) -> Result<ColumnDefinition, DecodeError> {
    let name = from.text(NAME_BYTES_MAX)?.to_owned();
    let offset = from.offset();
    let column_type = ColumnType::decode(from)?.ok_or_else(|| unknown_type(offset))?;
    let nullable = from.u8()? != 0;
    let offset = from.offset();
    let (has_default, identity) = match from.u8()? {
        GENERATED => {
            let expression = from.text(EXPRESSION_BYTES_MAX)?.to_owned();
            let columns = (0..from.count(4)?).map(|_| from.u32()).collect::<Result<_, _>>()?;
            let generated = Some(Generated { expression, columns });
            let column = ColumnDefinition::new(&name, column_type);
            return Ok(ColumnDefinition { id, nullable, generated, ..column });
        }
        0 => (false, None),
        1 => (true, None),
        2 => (true, Some(Identity::ByDefault)),
        3 => (true, Some(Identity::Always)),
        _ => {
            return Err(DecodeError {
                offset,
                expected: "a kind of default; a newer Gadus wrote it",
            });
        }
    };
    let default = match has_default {
        true => Some(DefaultValue(from.text(EXPRESSION_BYTES_MAX)?.to_owned())),
        false => None,
    };
    Ok(ColumnDefinition { id, name, column_type, nullable, default, identity, generated: None })
}

impl ViewSchema {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.id.0);
        to.u32(self.version);
        to.text(&self.name);
        to.text(&self.query);
        to.u32(count_u32(self.columns.len()));
        for column in &self.columns {
            to.text(&column.name);
            match column.column_type {
                Some(column_type) => column_type.encode(to),
                None => to.raw(&NO_TYPE),
            }
        }
        to.u32(count_u32(self.uses.len()));
        for relation in &self.uses {
            to.u32(relation.id.0);
            to.text(&relation.name);
            to.u32(count_u32(relation.columns.len()));
            for column in &relation.columns {
                to.u32(column.id);
                to.text(&column.name);
                to.u8(u8::from(column.is_used));
            }
        }
        to.u32(self.scans);
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let offset = from.offset();
        let (id, version) = (TableId(from.u32()?), from.u32()?);
        let name = from.text(NAME_BYTES_MAX)?.to_owned();
        let query = from.text(VIEW_BYTES_MAX)?.to_owned();
        let columns = (0..from.count(7)?)
            .map(|_| decode_view_column(from))
            .collect::<Result<Vec<_>, DecodeError>>()?;
        let uses = (0..from.count(12)?)
            .map(|_| decode_use(from))
            .collect::<Result<Vec<_>, DecodeError>>()?;
        let scans = from.u32()?;
        let fits = (1..=COLUMNS_MAX).contains(&columns.len()) && uses.len() <= RELATIONS_MAX;
        let view = Self { id, version, name, query, columns, uses, scans };
        match view.check() {
            Ok(()) if fits => Ok(view),
            _ => Err(DecodeError { offset, expected: "a valid view" }),
        }
    }
}

fn decode_view_column(from: &mut ByteReader<'_>) -> Result<ViewColumn, DecodeError> {
    let name = from.text(NAME_BYTES_MAX)?.to_owned();
    if from.clone().raw(NO_TYPE.len())? == NO_TYPE {
        from.raw(NO_TYPE.len())?;
        return Ok(ViewColumn { name, column_type: None });
    }
    let offset = from.offset();
    let column_type = ColumnType::decode(from)?.ok_or_else(|| unknown_type(offset))?;
    Ok(ViewColumn { name, column_type: Some(column_type) })
}

fn decode_use(from: &mut ByteReader<'_>) -> Result<UsedRelation, DecodeError> {
    let (id, name) = (TableId(from.u32()?), from.text(NAME_BYTES_MAX)?.to_owned());
    let columns = (0..from.count(9)?)
        .map(|_| {
            let (id, name) = (from.u32()?, from.text(NAME_BYTES_MAX)?.to_owned());
            Ok(UsedColumn { id, name, is_used: from.u8()? != 0 })
        })
        .collect::<Result<Vec<_>, DecodeError>>()?;
    Ok(UsedRelation { id, name, columns })
}

#[cfg(test)]
mod tests;

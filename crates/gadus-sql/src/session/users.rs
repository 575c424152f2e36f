//! Users of the database: CREATE, ALTER and DROP USER, for servers that let clients in by password.
//!
//! - Kept in a table of its own that no statement reads or writes: what is stored of a password must not
//!   leave. Whoever opens the file embedded is not asked for one.
//! - Of a password only a SCRAM-SHA-256 verifier is stored, in PostgreSQL's form; a client may send such a
//!   verifier instead of the password, as psql's `\password` does.

use super::modify::folded;
use super::{Outcome, Session};
use crate::error::{input, unsupported};
use arrow::array::AsArray;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use datafusion::sql::sqlparser::ast::{
    AlterRoleOperation, CreateRole, Expr, ObjectName, Password, RoleOption, Statement,
    Value as SqlValue,
};
use gadus_engine::{
    ColumnDefinition, ColumnType, Datum, Error, ErrorKind, Reason, Result, RowChange, ScanRequest,
    Snapshot, TableSchema, Transaction,
};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What the tables are called that no statement names.
pub(super) const HIDDEN_PREFIX: &str = "gadus.";
const TABLE: &str = "gadus.users";
/// What is made up once and never told, by name.
const SECRETS: &str = "gadus.secrets";
/// From it servers make up salts for users who do not exist.
const SALT_SECRET: &str = "salt";

/// Whether a table is one that no statement names.
#[must_use]
pub fn is_hidden(table: &str) -> bool {
    table.starts_with(HIDDEN_PREFIX)
}

const NAME: usize = 0;
/// The verifier, or the secret.
const VALUE: usize = 1;

const SCHEME: &str = "SCRAM-SHA-256";
const SALT_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;
/// As PostgreSQL's default is; a verifier says its own.
const ITERATIONS: u32 = 4_096;
/// A client that says more wants the server to be busy, not safe.
const ITERATIONS_MAX: u32 = 1_000_000;

impl Session {
    /// What is stored of a user's password; none where there is no such user, or he has none.
    pub fn verifier(&self, user: &str) -> Result<Option<String>> {
        Ok(find(&self.engine.snapshot()?, TABLE, user)?.flatten())
    }

    /// What servers make up salts from; none in a database whose users are older than it.
    pub fn salt_secret(&self) -> Result<Option<String>> {
        Ok(find(&self.engine.snapshot()?, SECRETS, SALT_SECRET)?.flatten())
    }

    /// Whether there is a user of this name.
    pub fn is_user(&self, user: &str) -> Result<bool> {
        Ok(find(&self.engine.snapshot()?, TABLE, user)?.is_some())
    }
}

/// What is kept under a name that is there: the verifier of a user, or a secret.
fn find(snapshot: &Snapshot, table: &str, name: &str) -> Result<Option<Option<String>>> {
    let Some(table) = snapshot.find_table(table) else { return Ok(None) };
    let Some(row) = table.find_key(&[Datum::text(name)])? else { return Ok(None) };
    let Some(values) = table.values(row, &[VALUE])? else { return Ok(None) };
    Ok(Some(match values.first() {
        Some(Datum::Bytes(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }))
}

/// The names of all users.
pub(crate) fn names(snapshot: &Snapshot) -> Result<Vec<String>> {
    let Some(table) = snapshot.find_table(TABLE) else { return Ok(Vec::new()) };
    let request = ScanRequest { projection: vec![NAME], ..ScanRequest::default() };
    let scan = table.scan(request)?;
    let mut names = Vec::new();
    for morsel in 0..scan.morsels() {
        scan.morsel(morsel, |batch| {
            let column = batch.column(0).as_string_view();
            names.extend(column.iter().flatten().map(str::to_owned));
            ControlFlow::Continue(())
        })?;
    }
    names.sort_unstable();
    Ok(names)
}

/// Runs CREATE, ALTER or DROP of users; none where it is another statement.
pub(super) fn manage(
    transaction: &mut Transaction,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    match statement {
        Statement::CreateRole(create) => create_users(transaction, create).map(Some),
        Statement::AlterRole { name, operation } => {
            let AlterRoleOperation::WithOptions { options } = operation else {
                return Err(unsupported("ALTER USER with anything but PASSWORD"));
            };
            let user = folded(name);
            let verifier = match options.as_slice() {
                [RoleOption::Password(password)] => verifier(password)?,
                _ => return Err(unsupported("ALTER USER with anything but PASSWORD")),
            };
            let schema = users(transaction)?;
            let change = |_: &[Datum]| Ok(RowChange::Update(vec![(VALUE, datum(&verifier))]));
            match transaction.change_row(&schema, &[Datum::text(&user)], change)? {
                0 => Err(unknown(&user)),
                _ => Ok(Some(Outcome::Done("ALTER ROLE"))),
            }
        }
        _ => Ok(None),
    }
}

fn create_users(transaction: &mut Transaction, create: &CreateRole) -> Result<Outcome> {
    let names = create.names.iter().map(name_of).collect::<Result<Vec<_>>>()?;
    refuse_rights(create)?;
    let verifier = create.password.as_ref().map(verifier).transpose()?.flatten();
    let schema = users(transaction)?;
    for name in names {
        if find(&transaction.snapshot(), TABLE, &name)?.is_some() {
            if create.if_not_exists {
                continue;
            }
            let message = format!("user \"{name}\" exists already");
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        let row: Arc<[Datum]> = [Datum::text(&name), datum(&verifier)].into();
        transaction.insert(&schema, vec![row])?;
    }
    Ok(Outcome::Done("CREATE ROLE"))
}

/// Drops users.
pub(super) fn drop_users(
    transaction: &mut Transaction,
    names: &[ObjectName],
    if_exists: bool,
) -> Result<Outcome> {
    let schema = users(transaction)?;
    for name in names {
        let name = name_of(name)?;
        let dropped =
            transaction.change_row(&schema, &[Datum::text(&name)], |_| Ok(RowChange::Delete))?;
        if dropped == 0 && !if_exists {
            return Err(unknown(&name));
        }
    }
    Ok(Outcome::Done("DROP ROLE"))
}

/// Every user may do everything: what would give or take single rights is refused.
fn refuse_rights(create: &CreateRole) -> Result<()> {
    let limits = [
        (create.login == Some(false), "NOLOGIN"),
        (create.connection_limit.is_some(), "CONNECTION LIMIT"),
        (create.valid_until.is_some(), "VALID UNTIL"),
        (create.superuser == Some(false), "NOSUPERUSER"),
        (!create.in_role.is_empty() || !create.in_group.is_empty(), "IN ROLE"),
        (!create.role.is_empty() || !create.user.is_empty() || !create.admin.is_empty(), "ROLE"),
    ];
    super::modify::refuse_extras(&limits)
}

fn name_of(name: &ObjectName) -> Result<String> {
    match name.0.as_slice() {
        [part] => part.as_ident().map(folded).ok_or_else(|| input(format!("{name} is no user"))),
        _ => Err(input(format!("{name} is no user: users have no schema"))),
    }
}

fn unknown(user: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("user \"{user}\" does not exist"))
        .because(Reason::UnknownUser)
}

/// The table of users, made where there was none.
fn users(transaction: &mut Transaction) -> Result<Arc<TableSchema>> {
    keep_secret(transaction)?;
    if let Some(table) = transaction.snapshot().find_table(TABLE) {
        return Ok(table.schema().clone());
    }
    let columns = vec![column("name", false), column("verifier", true)];
    transaction.create_table(&TableSchema::new(TABLE, columns, vec![NAME])?)
}

/// Makes up the secret, where there is none.
fn keep_secret(transaction: &mut Transaction) -> Result<()> {
    if transaction.snapshot().find_table(SECRETS).is_some() {
        return Ok(());
    }
    let columns = vec![column("name", false), column("value", false)];
    let schema = transaction.create_table(&TableSchema::new(SECRETS, columns, vec![NAME])?)?;
    let secret = STANDARD.encode(random::<SECRET_BYTES>()?);
    let row: Arc<[Datum]> = [Datum::text(SALT_SECRET), Datum::text(&secret)].into();
    transaction.insert(&schema, vec![row])?;
    Ok(())
}

fn column(name: &str, nullable: bool) -> ColumnDefinition {
    ColumnDefinition { nullable, ..ColumnDefinition::new(name, ColumnType::Text) }
}

fn datum(verifier: &Option<String>) -> Datum {
    verifier.as_ref().map_or(Datum::Null, |verifier| Datum::text(verifier))
}

/// What is stored of a password; none for none.
fn verifier(password: &Password) -> Result<Option<String>> {
    let Password::Password(Expr::Value(value)) = password else { return Ok(None) };
    let SqlValue::SingleQuotedString(text) = &value.value else {
        return Err(input("a password is a text in quotes"));
    };
    if text.is_empty() {
        return Err(input("a password is not empty; PASSWORD NULL means none"));
    }
    if is_verifier(text) {
        return Ok(Some(text.clone()));
    }
    Ok(Some(verifier_of(text, &random::<SALT_BYTES>()?, ITERATIONS)))
}

fn random<const BYTES: usize>() -> Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let failed = |_| Error::new(ErrorKind::Io, "the system has no random numbers to give");
    SystemRandom::new().fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// RFC 5802, section 3, in the form of PostgreSQL's `pg_authid.rolpassword`.
fn verifier_of(password: &str, salt: &[u8], iterations: u32) -> String {
    // A password that SASLprep refuses is taken as it is, by clients, too.
    let prepared = stringprep::saslprep(password).unwrap_or(password.into());
    let mut salted = [0; digest::SHA256_OUTPUT_LEN];
    let rounds = NonZeroU32::new(iterations).unwrap_or(NonZeroU32::MIN);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, salt, prepared.as_bytes(), &mut salted);
    let keyed = |text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &salted), text);
    let stored_key = digest::digest(&digest::SHA256, keyed(b"Client Key").as_ref());
    let [salt, stored_key, server_key] =
        [salt, stored_key.as_ref(), keyed(b"Server Key").as_ref()].map(|key| STANDARD.encode(key));
    format!("{SCHEME}${iterations}:{salt}${stored_key}:{server_key}")
}

/// Whether a password is a verifier already.
fn is_verifier(text: &str) -> bool {
    let parts = || {
        let (head, keys) = text.strip_prefix(SCHEME)?.strip_prefix('$')?.split_once('$')?;
        let (iterations, salt) = head.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        let iterations = iterations.parse::<u32>().ok()?;
        let decoded = |text: &str| STANDARD.decode(text).ok();
        let keys = [decoded(stored_key)?, decoded(server_key)?];
        let are_keys = keys.iter().all(|key| key.len() == digest::SHA256_OUTPUT_LEN);
        let salt = decoded(salt)?;
        let is_sound = are_keys && !salt.is_empty() && (1..=ITERATIONS_MAX).contains(&iterations);
        is_sound.then_some(())
    };
    parts().is_some()
}

#[cfg(test)]
mod tests;

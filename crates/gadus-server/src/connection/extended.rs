//! The extended protocol: statements are parsed, bound to values, described and executed by messages of
//! their own.

use super::Client;
use super::portal::{Portal, State, has_failed};
use super::told::Told;
use crate::error::{Failure, SqlState};
use crate::protocol::{Bind, Field, Target};
use crate::values::{Type, checked_format, fields, parameter, parameter_oid_of};
use gadus::{Statement, StatementKind, TextSettings, Value, split_statements};
use gadus_base::{Instant, clock};
use std::sync::Arc;

/// A statement as a client has it prepared.
pub(super) struct Parsed {
    /// None for an empty text.
    pub(super) statement: Option<Statement>,
    /// The types of its parameters.
    types: Vec<u32>,
    /// The names of its columns, where its text tells them.
    pub(super) names: Arc<[String]>,
    /// As the log shows it.
    text: Option<Arc<str>>,
    /// The columns that the client was told of last, and may not ask for again.
    told: Told,
}

/// Whether a statement begins or ends the client's own transaction.
pub(super) fn ends_block(kind: StatementKind) -> bool {
    matches!(kind, StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback)
}

impl Client {
    pub(super) async fn parse(
        &mut self,
        name: String,
        text: String,
        types: Vec<u32>,
        came: Instant,
    ) -> Result<(), Failure> {
        self.current = self.kept_text(&text);
        if !name.is_empty() && self.statements.contains_key(&name) {
            let text = format!("prepared statement \"{name}\" already exists");
            return Err(Failure::new(SqlState::DUPLICATE_STATEMENT, text));
        }
        let script = split_statements(&text);
        let mut texts = script.statements;
        texts.extend(Some(script.rest).filter(|rest| !rest.is_empty()));
        let statement = match texts.as_slice() {
            [] => None,
            [one] => {
                let before = script.starts.first().and_then(|start| text.get(..*start));
                let failure = |error| Failure::of(&error, Some(one)).behind(before.unwrap_or(""));
                Some(self.connection.prepare_next(one, came).await.map_err(failure)?)
            }
            _ => {
                let text = "cannot insert multiple commands into a prepared statement";
                return Err(Failure::new(SqlState::SYNTAX_ERROR, text));
            }
        };
        let types = match &statement {
            Some(statement) => {
                self.check_block(statement.kind())?;
                self.types_of(statement, types).await?
            }
            None => types,
        };
        let names = statement.as_ref().map(Statement::postgres_names).unwrap_or_default().into();
        let text = self.current.clone();
        let told = Told::default();
        self.statements.insert(name, Arc::new(Parsed { statement, types, names, text, told }));
        self.channel.output.parse_complete();
        Ok(())
    }

    /// The types of a statement's parameters: those that the client gives, then those that the statement
    /// decides, and text.
    async fn types_of(
        &mut self,
        statement: &Statement,
        mut given: Vec<u32>,
    ) -> Result<Vec<u32>, Failure> {
        let count = statement.parameters().max(given.len());
        given.resize(count, 0);
        if given.contains(&0) {
            let description = self.watched(statement.describe()).await?;
            for (oid, decided) in given.iter_mut().zip(&description.parameters) {
                if let Some(decided) = decided.as_ref().filter(|_| *oid == 0) {
                    *oid = parameter_oid_of(decided);
                }
            }
        }
        let or_text = |oid: u32| if oid == 0 { Type::Text.oid() } else { oid };
        Ok(given.into_iter().map(or_text).collect())
    }

    pub(super) async fn bind(&mut self, bind: Bind) -> Result<(), Failure> {
        let parsed = self.prepared(&bind.statement)?;
        self.current = parsed.text.clone();
        if let Some(statement) = &parsed.statement {
            self.check_block(statement.kind())?;
        }
        let values = values_of(&bind, &parsed.types, &self.connection.times_to_read())?;
        for format in &bind.result_formats {
            checked_format(*format)?;
        }
        if !bind.portal.is_empty() && self.portals.contains_key(&bind.portal) {
            let text = format!("portal \"{}\" already exists", bind.portal);
            return Err(Failure::new(SqlState::DUPLICATE_CURSOR, text));
        }
        self.portals.insert(bind.portal, Portal::bound(parsed, values, bind.result_formats));
        self.channel.output.bind_complete();
        Ok(())
    }

    pub(super) async fn describe(&mut self, target: Target, name: &str) -> Result<(), Failure> {
        let columns = match target {
            Target::Statement => {
                let parsed = self.prepared(name)?;
                self.current = parsed.text.clone();
                self.channel.output.parameter_description(&parsed.types);
                self.columns_of(&parsed, &[]).await?
            }
            Target::Portal if !name.is_empty() && !self.portals.contains_key(name) => {
                self.columns_of_cursor(name).await?
            }
            Target::Portal => {
                let mut portal = self.take_portal(name)?;
                let columns = self.columns_of_portal(&mut portal).await;
                self.put_back(name, portal, columns.as_ref().err());
                columns?
            }
        };
        match columns {
            Some(columns) => self.channel.output.row_description(&columns),
            None => self.channel.output.no_data(),
        }
        Ok(())
    }

    async fn columns_of(
        &mut self,
        parsed: &Parsed,
        formats: &[i16],
    ) -> Result<Option<Vec<Field>>, Failure> {
        let Some(statement) = parsed.statement.as_ref().filter(|known| known.gives_rows()) else {
            return Ok(None);
        };
        self.check_block(statement.kind())?;
        let description = self.watched(statement.describe()).await?;
        let columns = description.columns.as_ref();
        parsed.told.set(columns);
        columns.map(|columns| fields(columns, &parsed.names, formats)).transpose()
    }

    /// The columns of a cursor that a DECLARE has opened: to clients that is a portal, too.
    async fn columns_of_cursor(&mut self, name: &str) -> Result<Option<Vec<Field>>, Failure> {
        let fetch = format!("FETCH FROM \"{}\"", name.replace('"', "\"\""));
        let fetch = self.connection.prepare(&fetch)?;
        self.check_block(fetch.kind())?;
        let description = self.watched(fetch.describe()).await?;
        let columns = description.columns.as_ref().ok_or_else(|| no_portal(name))?;
        fields(columns, &[], &[]).map(Some)
    }

    /// The columns of a portal. A query begins to run: that tells them, and does no more than it would.
    async fn columns_of_portal(
        &mut self,
        portal: &mut Portal,
    ) -> Result<Option<Vec<Field>>, Failure> {
        let Some(parsed) = portal.parsed.clone() else { return Ok(None) };
        self.current = parsed.text.clone();
        if let Some(statement) = &parsed.statement {
            self.check_block(statement.kind())?;
        }
        if matches!(portal.state, State::Bound)
            && let Some(statement) = &parsed.statement
            && statement.kind() == StatementKind::Query
        {
            let started = clock().now();
            self.start(portal, statement).await?;
            portal.time = Some(started.elapsed());
        }
        match portal.state {
            State::Bound => self.columns_of(&parsed, &portal.formats).await,
            State::Failed => Err(has_failed()),
            _ => {
                parsed.told.set(portal.schema());
                portal.fields()
            }
        }
    }

    pub(super) async fn execute(&mut self, name: &str, max_rows: usize) -> Result<(), Failure> {
        let mut portal = self.take_portal(name)?;
        let executed = self.execute_portal(&mut portal, max_rows).await;
        self.put_back(name, portal, executed.as_ref().err());
        executed
    }

    async fn execute_portal(
        &mut self,
        portal: &mut Portal,
        max_rows: usize,
    ) -> Result<(), Failure> {
        let Some(parsed) = portal.parsed.clone() else { return Ok(()) };
        self.current = parsed.text.clone();
        let Some(statement) = &parsed.statement else {
            self.channel.output.empty_query();
            return Ok(());
        };
        let started = clock().now();
        self.check_block(statement.kind())?;
        let resumed = match &portal.state {
            // Others may have run since: it is the statement that runs now, and has its time anew.
            State::Rows { rows, .. } => Some(self.connection.resume(rows)),
            _ => None,
        };
        if let Some(resumed) = resumed {
            resumed.await?;
        }
        if matches!(portal.state, State::Bound) {
            let kind = statement.kind();
            // Alone it needs no transaction around it; one query does not, whatever follows.
            let is_alone = self.channel.next_kind() == Some(b'S');
            if !is_alone && kind != StatementKind::Query && !ends_block(kind) {
                self.begin_implicit().await?;
            }
            if let Some(request) = statement.copy_request()? {
                portal.state = State::Told;
                let rows = self.copy(request).await?;
                self.finished(self.current_text(), started.elapsed(), Ok(rows));
                return Ok(());
            }
            self.start(portal, statement).await?;
            portal.form = parsed.told.form_of(portal.schema(), &parsed.names)?;
        }
        self.send_rows(portal, max_rows).await?;
        // Rows that are fetched later are the client's time.
        if let Some(before) = portal.time.take() {
            self.finished(self.current_text(), before + started.elapsed(), Ok(portal.rows));
        }
        Ok(())
    }

    async fn start(&mut self, portal: &mut Portal, statement: &Statement) -> Result<(), Failure> {
        let values = std::mem::take(&mut portal.values);
        portal.take(self.run_in_block(statement, values).await?);
        Ok(())
    }

    pub(super) async fn sync(&mut self) -> Result<(), Failure> {
        self.skips = false;
        if let Err(failure) = self.commit_implicit().await {
            if failure.is_fatal {
                return Err(failure);
            }
            self.channel.output.error(&failure);
        }
        self.drop_portals();
        self.ready().await
    }

    /// Portals do not outlive their transaction.
    pub(super) fn drop_portals(&mut self) {
        if !self.block.is_open() {
            self.portals.clear();
        }
    }

    pub(super) fn close(&mut self, target: Target, name: &str) {
        match target {
            Target::Statement => drop(self.statements.remove(name)),
            Target::Portal => drop(self.portals.remove(name)),
        }
        self.channel.output.close_complete();
    }

    /// Keeps a portal, of which nothing is left but its name where it has failed. What a transaction that has
    /// failed refuses may be there again after ROLLBACK TO.
    fn put_back(&mut self, name: &str, mut portal: Portal, failure: Option<&Failure>) {
        if failure.is_some_and(|failure| failure.code != SqlState::FAILED_TRANSACTION) {
            portal.state = State::Failed;
        }
        self.portals.insert(name.to_owned(), portal);
    }

    fn prepared(&self, name: &str) -> Result<Arc<Parsed>, Failure> {
        self.statements.get(name).cloned().ok_or_else(|| {
            let text = match name {
                "" => "the prepared statement without a name does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            Failure::new(SqlState::UNDEFINED_STATEMENT, text)
        })
    }

    fn take_portal(&mut self, name: &str) -> Result<Portal, Failure> {
        self.portals.remove(name).ok_or_else(|| no_portal(name))
    }
}

fn no_portal(name: &str) -> Failure {
    let text = format!("portal \"{name}\" does not exist");
    Failure::new(SqlState::UNDEFINED_CURSOR, text)
}

/// The values that a Bind gives to parameters of these types.
fn values_of(bind: &Bind, types: &[u32], times: &TextSettings) -> Result<Vec<Value>, Failure> {
    let Bind { parameters, parameter_formats: formats, .. } = bind;
    let violation = |text: String| Err(Failure::new(SqlState::PROTOCOL_VIOLATION, text));
    if parameters.len() != types.len() {
        let (given, needed) = (parameters.len(), types.len());
        return violation(format!(
            "bind message supplies {given} parameters, but the prepared statement requires {needed}"
        ));
    }
    if !(formats.len() < 2 || formats.len() == parameters.len()) {
        let (formats, parameters) = (formats.len(), parameters.len());
        return violation(format!("{formats} formats for {parameters} parameters"));
    }
    let values = parameters.iter().zip(types).enumerate().map(|(index, (bytes, oid))| {
        let format = formats.get(index).or(formats.first().filter(|_| formats.len() == 1));
        let format = checked_format(format.copied().unwrap_or(0))?;
        bytes.as_ref().map_or(Ok(Value::Null), |bytes| parameter(*oid, format, bytes, times))
    });
    values.collect()
}

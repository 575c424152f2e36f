//! From text to the part that runs it.

use super::{Outcome, Prepared, Session, State};
use crate::compiled::Compiled;
use crate::error::{from_parser, input, unsupported};
use crate::shape::shape_of;
use crate::value::Value;
use datafusion::sql::sqlparser::ast::{
    Expr, Statement, TransactionMode, Value as SqlValue, ValueWithSpan, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::{ErrorKind, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Nesting that the parser follows. Each level costs the stack of several calls; this many fit the
/// smallest thread stack that runs statements.
const NESTING_MAX: usize = 128;

/// Parses one statement.
pub(crate) fn parse(text: &str) -> Result<Prepared> {
    let dialect = GenericDialect {};
    let mut statements = Parser::new(&dialect)
        .with_recursion_limit(NESTING_MAX)
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| from_parser(&error))?;
    if statements.len() > 1 {
        return Err(input("one statement at a time: split the script at its semicolons"));
    }
    let mut statement = statements.pop().ok_or_else(|| input("there is no statement"))?;
    let parameters = number_parameters(&mut statement)?;
    Ok(Prepared { text: Arc::from(text), statement: Arc::new(statement), parameters })
}

/// Gives `?` parameters their numbers; returns how many parameters there are.
fn number_parameters(statement: &mut Statement) -> Result<usize> {
    struct Numbering {
        anonymous: usize,
        greatest: usize,
        wrong: Option<String>,
    }
    impl VisitorMut for Numbering {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Value(ValueWithSpan { value: SqlValue::Placeholder(name), .. }) = expr {
                if name == "?" {
                    self.anonymous += 1;
                    *name = format!("${}", self.anonymous);
                }
                match name.strip_prefix('$').and_then(|digits| digits.parse().ok()) {
                    Some(number @ 1..=65_535) => self.greatest = self.greatest.max(number),
                    _ => self.wrong = Some(name.clone()),
                }
            }
            ControlFlow::Continue(())
        }
    }
    let mut numbering = Numbering { anonymous: 0, greatest: 0, wrong: None };
    let _ = statement.visit(&mut numbering);
    match numbering.wrong {
        Some(name) => Err(input(format!("parameters are ? or $1 to $65535, not {name}"))),
        None => Ok(numbering.greatest),
    }
}

impl Session {
    pub(super) async fn run_text(&self, text: &str, parameters: &[Value]) -> Result<Outcome> {
        let mut state = self.state.lock().await;
        let flag = self.cancel.begin();
        if let Some(outcome) = self.run_compiled(&state, text, parameters, &flag)? {
            return Ok(outcome);
        }
        if let Some(outcome) = self.run_command(text)? {
            return Ok(outcome);
        }
        let prepared = parse(text)?;
        flag.run(self.dispatch(&mut state, &prepared, parameters)).await
    }

    pub(super) async fn run_prepared(
        &self,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let mut state = self.state.lock().await;
        let flag = self.cancel.begin();
        if let Some(outcome) = self.run_compiled(&state, &prepared.text, parameters, &flag)? {
            return Ok(outcome);
        }
        flag.run(self.dispatch(&mut state, prepared, parameters)).await
    }

    /// Runs a statement whose shape has been, or now can be, compiled.
    fn run_compiled(
        &self,
        state: &State,
        text: &str,
        parameters: &[Value],
        flag: &super::cancel::Flag,
    ) -> Result<Option<Outcome>> {
        let lifted;
        let (shape, parameters) = if parameters.is_empty() {
            match shape_of(text) {
                Some(shape) => {
                    lifted = shape;
                    (lifted.text.as_str(), lifted.literals.as_slice())
                }
                None => return Ok(None),
            }
        } else {
            (text, parameters)
        };
        let snapshot = state.snapshot(&self.shared.engine);
        let Some(compiled) = self.shared.compiled.get(shape, &snapshot) else { return Ok(None) };
        if state.transaction.is_some() && compiled.writes() {
            return Ok(None);
        }
        let durability =
            state.durability.unwrap_or_else(|| self.shared.engine.options().durability);
        compiled.run(&self.shared.engine, &snapshot, parameters, durability, flag.as_atomic())
    }

    /// Statements that the parser does not know.
    fn run_command(&self, text: &str) -> Result<Option<Outcome>> {
        let word = text.trim().trim_end_matches(';').trim_end();
        if word.eq_ignore_ascii_case("checkpoint") {
            self.shared.engine.checkpoint()?;
            return Ok(Some(Outcome::Done("CHECKPOINT")));
        }
        Ok(None)
    }

    async fn dispatch(
        &self,
        state: &mut State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Outcome> {
        if parameters.len() != prepared.parameters {
            return Err(input(format!(
                "the statement has {} parameters, {} values were given",
                prepared.parameters,
                parameters.len()
            )));
        }
        let statement = &*prepared.statement;
        match statement {
            Statement::StartTransaction { modes, .. } => begin(state, &self.shared.engine, modes),
            Statement::Commit { .. } => commit(state),
            Statement::Rollback { savepoint: None, .. } => {
                state.savepoints.clear();
                state.transaction = None;
                Ok(Outcome::Done("ROLLBACK"))
            }
            Statement::Rollback { savepoint: Some(name), .. } => roll_back_to(state, &name.value),
            Statement::Savepoint { name } => {
                let transaction = in_transaction(state)?;
                let savepoint = transaction.savepoint();
                state.savepoints.push((name.value.clone(), savepoint));
                Ok(Outcome::Done("SAVEPOINT"))
            }
            Statement::ReleaseSavepoint { name } => {
                let index = savepoint_index(state, &name.value)?;
                state.savepoints.truncate(index);
                Ok(Outcome::Done("RELEASE"))
            }
            Statement::Set(set) => self.set(state, set),
            Statement::ShowVariable { variable } => self.show(state, variable),
            Statement::Copy { to, .. } => {
                if !to {
                    refuse_read_only(state)?;
                }
                self.copy(state, statement, parameters).await
            }
            Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Truncate(_)
            | Statement::CreateTable(_)
            | Statement::Drop { .. } => {
                refuse_read_only(state)?;
                self.write(state, statement, parameters).await
            }
            Statement::Explain { analyze: false, statement: inner, .. } => {
                match Compiled::compile(inner, &state.snapshot(&self.shared.engine)) {
                    Some(compiled) => compiled.explain(),
                    None => self.query(state, statement, parameters).await,
                }
            }
            Statement::Query(_)
            | Statement::Explain { .. }
            | Statement::ExplainTable { .. }
            | Statement::ShowTables { .. }
            | Statement::ShowColumns { .. } => self.query(state, statement, parameters).await,
            other => {
                let text = other.to_string();
                let verb = text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
                Err(unsupported(&verb))
            }
        }
    }
}

fn begin(
    state: &mut State,
    engine: &gadus_engine::Engine,
    modes: &[TransactionMode],
) -> Result<Outcome> {
    use datafusion::sql::sqlparser::ast::TransactionAccessMode as Access;
    use datafusion::sql::sqlparser::ast::TransactionIsolationLevel as Level;
    if state.transaction.is_some() {
        return Err(input("a transaction is open already: COMMIT or ROLLBACK it first"));
    }
    let mut read_only = false;
    for mode in modes {
        match mode {
            TransactionMode::IsolationLevel(Level::Snapshot | Level::RepeatableRead) => {}
            TransactionMode::AccessMode(mode) => read_only = *mode == Access::ReadOnly,
            TransactionMode::IsolationLevel(level) => {
                return Err(unsupported(&format!(
                    "ISOLATION LEVEL {level}: transactions have snapshot isolation; it"
                )));
            }
        }
    }
    let mut transaction = engine.begin();
    if let Some(durability) = state.durability {
        transaction.set_durability(durability);
    }
    state.transaction = Some(transaction);
    state.read_only = read_only;
    Ok(Outcome::Done("BEGIN"))
}

pub(super) fn refuse_read_only(state: &State) -> Result<()> {
    if state.transaction.is_some() && state.read_only {
        let message = "the transaction is READ ONLY: ROLLBACK it and begin another";
        return Err(gadus_engine::Error::new(ErrorKind::ReadOnly, message));
    }
    Ok(())
}

fn commit(state: &mut State) -> Result<Outcome> {
    state.savepoints.clear();
    match state.transaction.take() {
        Some(transaction) => {
            transaction.commit()?;
            Ok(Outcome::Done("COMMIT"))
        }
        None => Err(input("there is no transaction to commit: BEGIN starts one")),
    }
}

fn roll_back_to(state: &mut State, name: &str) -> Result<Outcome> {
    let index = savepoint_index(state, name)?;
    state.savepoints.truncate(index + 1);
    let (name, savepoint) = state.savepoints.pop().expect("found above");
    let transaction = in_transaction(state)?;
    transaction.restore(savepoint);
    // The savepoint stays, as SQL has it.
    let again = transaction.savepoint();
    state.savepoints.push((name, again));
    Ok(Outcome::Done("ROLLBACK"))
}

fn in_transaction(state: &mut State) -> Result<&mut gadus_engine::Transaction> {
    state.transaction.as_mut().ok_or_else(|| input("there is no transaction: BEGIN starts one"))
}

fn savepoint_index(state: &State, name: &str) -> Result<usize> {
    state.savepoints.iter().rposition(|(known, _)| known == name).ok_or_else(|| {
        gadus_engine::Error::new(
            ErrorKind::NotFound,
            format!("savepoint \"{name}\" does not exist"),
        )
    })
}

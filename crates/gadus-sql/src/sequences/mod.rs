//! `nextval`, `currval`, `lastval` and `setval`: what a session does with sequences.
//!
//! - Numbers are taken for all at once, by commits of their own; what a transaction has made is its own until it
//!   commits: how far that has come is kept here, and each statement tells the transaction of it.

mod functions;

pub(crate) use functions::functions;

use crate::error::input;
use crate::names::kept;
use crate::postgres::parts_of_name;
use crate::provider::CATALOG;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Statement, Value as SqlValue,
    ValueWithSpan, VisitMut, VisitorMut,
};
use gadus_base::TableId;
use gadus_engine::{
    Engine, Error, ErrorKind, Reason, Result, Sequence, SequencePosition, SequenceShape, Snapshot,
    Transaction,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Returns the options by which a sequence differs from one that is created without any.
#[must_use]
pub fn sequence_options(shape: &SequenceShape) -> String {
    let mut text = String::new();
    let Ok(plain) = SequenceShape::new(shape.column_type, shape.increment) else { return text };
    let options = [
        (shape.increment != 1, "INCREMENT BY", shape.increment),
        (shape.least != plain.least, "MINVALUE", shape.least),
        (shape.greatest != plain.greatest, "MAXVALUE", shape.greatest),
        (shape.start != plain.start, "START WITH", shape.start),
    ];
    for (_, option, number) in options.iter().filter(|(is_said, ..)| *is_said) {
        // Writing to a String cannot fail.
        let _ = write!(text, " {option} {number}");
    }
    if shape.cycles {
        text.push_str(" CYCLE");
    }
    text
}

/// What a session remembers of sequences.
#[derive(Debug, Default)]
pub(crate) struct SequenceMemory(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    /// The last number that was given here, of each sequence.
    current: BTreeMap<TableId, i64>,
    /// The sequence that gave the last.
    last: Option<TableId>,
    /// How far those have come that belong to the open transaction, by what shape they had: rows that are still read
    /// go on from there, whatever the transaction knows.
    own: BTreeMap<(TableId, u32), SequencePosition>,
    /// Transactions that have ended.
    ended: u64,
}

impl SequenceMemory {
    /// Tells the open transaction how far its own sequences have come.
    pub(crate) fn settle(&self, transaction: &mut Transaction) -> Result<()> {
        let remembered = self.0.lock();
        let mut own = remembered.own.iter();
        own.try_for_each(|(key, position)| transaction.place_sequence(*key, *position))
    }

    /// The transaction has gone back.
    pub(crate) fn go_back(&self, transaction: &Transaction) {
        self.0.lock().forget_gone(|| Ok(transaction.snapshot()));
    }

    /// No transaction is open: none has sequences of its own.
    pub(crate) fn end_transaction(&self, engine: &Engine) {
        let mut remembered = self.0.lock();
        remembered.forget_gone(|| engine.snapshot());
        remembered.own.clear();
        remembered.ended += 1;
    }
}

impl Remembered {
    /// Forgets what a transaction has made that is not there: another sequence may have its number by now.
    fn forget_gone(&mut self, snapshot: impl FnOnce() -> Result<Snapshot>) {
        if self.own.is_empty() {
            return;
        }
        let snapshot = snapshot().ok();
        let is_there = |id: TableId| {
            snapshot.as_ref().is_some_and(|snapshot| snapshot.sequence_by_id(id).is_some())
        };
        let Self { current, own, .. } = self;
        current.retain(|id, _| is_there(*id) || !own.keys().any(|(own, _)| own == id));
        own.retain(|(id, _), _| is_there(*id));
    }
}

/// Sequences as one statement sees them.
#[derive(Debug, Clone)]
pub(crate) struct Sequences {
    engine: Engine,
    snapshot: Snapshot,
    memory: Arc<SequenceMemory>,
    /// Transactions that had ended before.
    ended: u64,
    read_only: bool,
}

impl Sequences {
    pub(crate) fn new(
        engine: Engine,
        snapshot: Snapshot,
        memory: &Arc<SequenceMemory>,
        read_only: bool,
    ) -> Self {
        let ended = memory.0.lock().ended;
        Self { engine, snapshot, memory: memory.clone(), ended, read_only }
    }

    /// So many numbers of the sequence of a name, as statements have it.
    pub(crate) fn next(&self, name: &str, count: usize) -> Result<Vec<i64>> {
        let sequence = self.find(name)?;
        self.refuse_read_only("nextval")?;
        let id = sequence.id;
        let given = match self.is_own(&sequence)? {
            true => {
                let own = &mut self.memory.0.lock().own;
                let key = (id, sequence.version);
                let from = own.get(&key).copied().unwrap_or(sequence.position);
                let (position, given) = sequence.take(from, count)?;
                own.insert(key, position);
                given
            }
            false => self.engine.next_values(id, count)?,
        };
        if let Some(&last) = given.last() {
            let mut remembered = self.memory.0.lock();
            remembered.current.insert(id, last);
            remembered.last = Some(id);
        }
        Ok(given)
    }

    /// The last number that the session was given of a sequence.
    fn current(&self, name: &str) -> Result<i64> {
        let sequence = self.find(name)?;
        let current = self.memory.0.lock().current.get(&sequence.id).copied();
        current.ok_or_else(|| {
            let name = &sequence.name;
            not_yet(format!("currval of sequence \"{name}\" is not yet defined in this session"))
        })
    }

    /// The last number that the session was given of any.
    fn last(&self) -> Result<i64> {
        let remembered = self.memory.0.lock();
        let is_there = |id: &TableId| self.snapshot.sequence_by_id(*id).is_some();
        let last = remembered.last.filter(is_there);
        let number = last.and_then(|id| remembered.current.get(&id).copied());
        number.ok_or_else(|| not_yet("lastval is not yet defined in this session".to_owned()))
    }

    /// Sets how far a sequence has come.
    fn set(&self, name: &str, last: i64, is_given: bool) -> Result<i64> {
        let sequence = self.find(name)?;
        self.refuse_read_only("setval")?;
        let (id, position) = (sequence.id, SequencePosition { last, is_given });
        sequence.check_value(last)?;
        match self.is_own(&sequence)? {
            true => _ = self.memory.0.lock().own.insert((id, sequence.version), position),
            false => self.engine.set_sequence(id, position)?,
        }
        if is_given {
            self.memory.0.lock().current.insert(id, last);
        }
        Ok(last)
    }

    /// Whether a sequence is that of the open transaction alone.
    fn is_own(&self, sequence: &Sequence) -> Result<bool> {
        if sequence.is_private && self.memory.0.lock().ended != self.ended {
            let message = "the transaction that made the sequence has ended meanwhile";
            return Err(not_yet(message.to_owned()));
        }
        Ok(sequence.is_private)
    }

    /// The sequence of a name.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Sequence>> {
        let found = exact_name(name).and_then(|name| self.snapshot.find_sequence(&name).cloned());
        found.ok_or_else(|| {
            let is_other = exact_name(name).is_some_and(|name| self.snapshot.has_relation(&name));
            match is_other {
                true => input(format!("\"{name}\" is not a sequence")).because(Reason::WrongObject),
                false => unknown(name),
            }
        })
    }

    fn refuse_read_only(&self, function: &str) -> Result<()> {
        match self.read_only {
            true => {
                let message = format!("cannot execute {function}() in a read-only transaction");
                Err(Error::new(ErrorKind::ReadOnly, message))
            }
            false => Ok(()),
        }
    }
}

fn unknown(name: &str) -> Error {
    let message = format!("relation \"{name}\" does not exist");
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable)
}

fn not_yet(message: String) -> Error {
    input(message).because(Reason::NotInState)
}

/// The exact name of a sequence in a text, as a statement would have it.
pub(crate) fn exact_name(text: &str) -> Option<String> {
    let mut parts = parts_of_name(text)?;
    let name = parts.pop()?;
    match parts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Some(name),
        [schema] | [CATALOG, schema] => Some(kept(schema, &name)),
        _ => None,
    }
}

/// Which function of sequences it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Does {
    Next,
    Current,
    Last,
    Set,
}

/// Whether a function is one of sequences.
pub(crate) fn does(function: &Function) -> Option<Does> {
    let name = function.name.0.last().and_then(|part| part.as_ident())?;
    match name.value.to_ascii_lowercase().as_str() {
        "nextval" => Some(Does::Next),
        "currval" => Some(Does::Current),
        "lastval" => Some(Does::Last),
        "setval" => Some(Does::Set),
        _ => None,
    }
}

/// Whether a statement calls a function of sequences; has the names of these be texts: `'s'::regclass` is `'s'`.
pub(crate) fn find_calls(statement: &mut Statement) -> bool {
    struct Calls(bool);
    impl VisitorMut for Calls {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Function(function) = expr
                && does(function).is_some()
            {
                self.0 = true;
                if let Some(name) = name_of(function) {
                    *name = without_cast(name).clone();
                }
            }
            ControlFlow::Continue(())
        }
    }
    let mut calls = Calls(false);
    let _ = VisitMut::visit(statement, &mut calls);
    calls.0
}

/// The first argument of a function.
fn name_of(function: &mut Function) -> Option<&mut Expr> {
    let FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.first_mut() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => Some(expr),
        _ => None,
    }
}

fn without_cast(name: &Expr) -> &Expr {
    match name {
        Expr::Cast { expr, data_type, .. }
            if data_type.to_string().eq_ignore_ascii_case("regclass") =>
        {
            expr
        }
        name => name,
    }
}

/// The names of the sequences whose numbers an expression takes, as it has them; each may be given another.
pub(crate) fn for_each_name(expr: &mut Expr, mut look: impl FnMut(&mut String)) {
    struct Names<F>(F);
    impl<F: FnMut(&mut String)> VisitorMut for Names<F> {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Function(function) = expr
                && does(function).is_some()
                && let Some(name) = name_of(function)
            {
                let name = match name {
                    Expr::Cast { expr, .. } => &mut **expr,
                    name => name,
                };
                if let Expr::Value(ValueWithSpan {
                    value: SqlValue::SingleQuotedString(text),
                    ..
                }) = name
                {
                    (self.0)(text);
                }
            }
            ControlFlow::Continue(())
        }
    }
    let _ = expr.visit(&mut Names(&mut look));
}

/// The name of the sequence whose next number an expression is.
pub(crate) fn next_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Nested(inner) => next_of(inner),
        Expr::Function(function) if does(function) == Some(Does::Next) => {
            let FunctionArguments::List(list) = &function.args else { return None };
            let [FunctionArg::Unnamed(FunctionArgExpr::Expr(name))] = list.args.as_slice() else {
                return None;
            };
            match without_cast(name) {
                Expr::Value(ValueWithSpan {
                    value: SqlValue::SingleQuotedString(text), ..
                }) => Some(text),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The expression of the next number of a sequence.
pub(crate) fn next_text(name: &str) -> String {
    let name = crate::postgres::quoted(name);
    format!("nextval('{}'::regclass)", name.replace('\'', "''"))
}

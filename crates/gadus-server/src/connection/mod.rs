//! One client, from its first byte to its last.
//!
//! - A message is answered before the next is read; answers gather until the client waits for them.
//! - An error in the extended protocol skips what comes until Sync, as the protocol has it.

mod copy_in;
mod copy_out;
mod extended;
mod idle;
mod measured;
mod opening;
mod portal;
mod settle;
mod shown;
mod simple;
mod told;
mod transaction;
mod watching;
mod who;

use crate::authenticate::authenticate;
use crate::error::{Failure, SqlState};
use crate::listen::Peer;
use crate::metrics::Metrics;
use crate::protocol::{Channel, Frame, Message, Socket};
use crate::registry::{Place, Registered};
use crate::reopening::{Lease, closed, overdue};
use crate::server::Shared;
use extended::Parsed;
use gadus::{Connection, Isolation, POSTGRES_VERSION, SessionOptions, Value};
use gadus_base::clock;
use idle::Idle;
use opening::{Opened, opened};
use portal::Portal;
use settle::settle;
pub(crate) use shown::shown;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::timeout;
use transaction::Block;
use watching::Patience;
pub(crate) use watching::Watching;
pub(crate) use who::Who;

/// What the server's parameters say beside the session's variables.
const VERSION_PARAMETER: &str = "server_version";

/// A client that was let in.
pub(crate) struct Client {
    channel: Channel,
    shared: Arc<Shared>,
    connection: Connection,
    who: Box<Who>,
    statements: HashMap<String, Arc<Parsed>>,
    portals: HashMap<String, Portal>,
    /// What the log shows of the statement that a message is about.
    current: Option<Arc<str>>,
    block: Block,
    /// After an error, until Sync.
    skips: bool,
    /// The client is gone; nobody is to be told anything.
    is_gone: bool,
    /// Changes of variables that the client was told of.
    told: u64,
    idle: Idle,
    patience: Patience,
    /// Dropped after what came of the database.
    lease: Lease,
}

/// A message, or its type and what is wrong with it.
type Received = Result<Message, (u8, Failure)>;

/// Serves a client to its end.
pub(crate) async fn serve(
    socket: Box<dyn Socket>,
    peer: Peer,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let limits = shared.options.limits;
    let mut channel = Channel::new(socket);
    let opening = shared.half_open.begin(&peer);
    let mut who = Box::new(Who::stranger(peer));
    let letting_in = timeout(limits.authentication_time, let_in(&mut channel, &mut who, &shared));
    let let_in = tokio::select! {
        biased;
        let_in = letting_in => let_in.unwrap_or_else(|_| {
            let text = "the client took too long to be let in";
            Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text))
        }),
        () = opening.evicted() => {
            let text = "too many connections are being opened; log in faster, or try again";
            Err(Failure::fatal(SqlState::TOO_MANY_CONNECTIONS, text))
        }
    };
    drop(opening);
    let audit = shared.audit.as_ref();
    match let_in {
        Ok(Some((connection, lease, _place, _registered))) => {
            who.opened();
            if let Some(audit) = audit {
                audit.connection("connection opened", &who);
            }
            let overdue = overdue(lease.over(), 2 * limits.stop_time);
            let mut client = Client::new(channel, shared, connection, who, lease);
            let ended = tokio::select! {
                biased;
                ended = client.run(&mut stop) => ended,
                // It sends nothing that is waited for, or takes nothing.
                () = overdue => Ok(()),
            };
            if let Err(failure) = ended {
                client.end(&failure).await;
            }
            client.leave_block();
            client.who.closed();
            if let Some(audit) = &client.shared.audit {
                audit.connection("connection closed", &client.who);
            }
        }
        Ok(None) => {}
        Err(failure) => {
            if !failure.is_lost() {
                count_refused(&shared.metrics, failure.code);
                who.refused(&failure);
                if let Some(audit) = audit {
                    audit.refused(&who, &failure);
                }
                channel.output.error(&failure);
            }
            channel.close().await;
        }
    }
}

/// Answers first messages until a client is let in; none where it wanted something else.
async fn let_in(
    channel: &mut Channel,
    who: &mut Who,
    shared: &Shared,
) -> Result<Option<(Connection, Lease, Place, Registered)>, Failure> {
    let (startup, encrypted) = match opened(channel, &who.peer, shared).await? {
        Opened::Start(startup, encrypted) => (startup, encrypted),
        Opened::Done => return Ok(None),
    };
    let Some(user) = startup.get("user").filter(|user| !user.is_empty()) else {
        let text = "a first message names no user";
        return Err(Failure::fatal(SqlState::INVALID_AUTHORIZATION, text));
    };
    user.clone_into(&mut who.user);
    startup.get("database").unwrap_or(user).clone_into(&mut who.database);
    who.is_encrypted = encrypted.is_some();
    let (registry, max) = (&shared.registry, shared.options.limits.connections);
    let full = || {
        let text = format!("sorry, too many clients already; the limit is {max} connections");
        Failure::fatal(SqlState::TOO_MANY_CONNECTIONS, text)
    };
    // Before a password is asked for in vain; the place itself is for users who have proven theirs.
    if registry.connections() >= max {
        return Err(full());
    }
    if startup.minor_version > 0 || !startup.protocol_options.is_empty() {
        channel.output.negotiate_version(&startup.protocol_options);
    }
    let lease = shared.served.lease()?;
    let connection = lease.database.connect_with(SessionOptions {
        isolation: Isolation::ReadCommitted,
        files: shared.options.files.clone(),
    });
    let mut over = lease.over();
    let admitting = async {
        authenticate(channel, &who.peer, encrypted.as_ref(), user, &connection, shared).await?;
        let place = registry.place(max).ok_or_else(full)?;
        settle(&connection, &startup, shared).await?;
        Ok(place)
    };
    let place = tokio::select! {
        biased;
        _ = over.wait_for(|is_over| *is_over) => Err(closed()),
        place = admitting => place,
    }?;
    let session = connection.session_id().ok();
    let registered = shared.registry.register(connection.cancel_handle(), session)?;
    channel.output.authentication_ok();
    channel.output.parameter_status(VERSION_PARAMETER, POSTGRES_VERSION);
    channel.output.parameter_status("server_encoding", "UTF8");
    channel.output.parameter_status("is_superuser", "on");
    channel.output.parameter_status("session_authorization", user);
    channel.output.backend_key(registered.process, registered.secret);
    channel.expect(shared.options.limits.message_bytes);
    Ok(Some((connection, lease, place, registered)))
}

impl Client {
    fn new(
        channel: Channel,
        shared: Arc<Shared>,
        connection: Connection,
        who: Box<Who>,
        lease: Lease,
    ) -> Self {
        let (statements, portals, current, block) = Default::default();
        Self {
            channel,
            shared,
            connection,
            who,
            statements,
            portals,
            current,
            block,
            skips: false,
            is_gone: false,
            told: u64::MAX,
            idle: Idle::default(),
            patience: Patience::default(),
            lease,
        }
    }

    /// Answers messages until the client leaves.
    async fn run(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), Failure> {
        let mut over = self.lease.over();
        self.ready().await?;
        let stopped = || {
            let text = "the server is shutting down";
            Err(Failure::fatal(SqlState::ADMIN_SHUTDOWN, text))
        };
        loop {
            self.shared.watching.watch(&mut self.channel, &mut self.patience).await;
            // Before what the client has sent ahead, however much that is.
            if *stop.borrow() {
                return stopped();
            }
            if *over.borrow() {
                return Err(closed());
            }
            let message = tokio::select! {
                biased;
                message = self.next() => message?,
                _ = stop.wait_for(|stopped| *stopped) => return stopped(),
                _ = over.wait_for(|is_over| *is_over) => return Err(closed()),
            };
            let Some(message) = message else { return Ok(()) };
            if matches!(message, Ok(Message::Terminate)) {
                return Ok(());
            }
            // Kept apart: what an idle client keeps is to be small.
            Box::pin(self.answer(message)).await?;
            if self.is_gone {
                return Ok(());
            }
        }
    }

    /// The next message, with what is wrong with it where the connection can go on; none at the end.
    async fn next(&mut self) -> Result<Option<Received>, Failure> {
        let of_all = self.shared.options.limits.idle_time;
        let frame = match self.idle.silence(self.block.is_open(), of_all) {
            None => self.channel.frame().await?,
            Some(silence) => match timeout(silence.time, self.channel.frame()).await {
                Ok(frame) => frame?,
                Err(_) => return Err(silence.over()),
            },
        };
        let read = |frame: Frame| {
            Message::read(frame.kind, frame.body).map_err(|failure| (frame.kind, failure))
        };
        Ok(frame.map(read))
    }

    /// Answers one message.
    ///
    /// # Errors
    /// What ends the connection; everything else the client is told.
    async fn answer(&mut self, message: Received) -> Result<(), Failure> {
        let message = match message {
            Ok(Message::Sync) => Message::Sync,
            // Whatever is wrong with it.
            _ if self.skips => return Ok(()),
            Ok(message) => message,
            // No Sync is sent behind them.
            Err((b'Q' | b'F', failure)) => return self.fail_simple(failure).await,
            Err((_, failure)) => return self.fail(failure).await,
        };
        self.current = None;
        let started = clock().now();
        let is_of_statement = message.is_of_statement();
        let answered = match message {
            Message::Query(text) => return self.simple(&text, started).await,
            Message::Sync => return self.sync().await,
            Message::Flush => return Ok(self.channel.flush().await?),
            Message::Parse { name, text, types } => self.parse(name, text, types, started).await,
            Message::Bind(bind) => self.bind(bind).await,
            Message::Describe(target, name) => self.describe(target, &name).await,
            Message::Execute { portal, max_rows } => self.execute(&portal, max_rows).await,
            Message::Close(target, name) => {
                self.close(target, &name);
                Ok(())
            }
            // Left over from a COPY that has failed.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) => Ok(()),
            Message::Terminate => Ok(()),
        };
        match answered {
            Ok(()) => Ok(self.channel.flush_much().await?),
            Err(failure) => {
                if is_of_statement {
                    self.finished(self.current_text(), started.elapsed(), Err(&failure));
                }
                self.fail(failure).await
            }
        }
    }

    /// Tells the client that a message of the extended protocol has failed, and skips what follows.
    async fn fail(&mut self, failure: Failure) -> Result<(), Failure> {
        if failure.is_fatal {
            return Err(failure);
        }
        self.channel.output.error(&self.lease.explained(failure));
        self.skips = true;
        // Who asked for what there is waits for it, and its Flush is skipped.
        self.channel.flush().await?;
        self.fail_block().await
    }

    /// Says that the client may go on, after what it is to be told of its settings.
    async fn ready(&mut self) -> Result<(), Failure> {
        self.connection.forget_preparing();
        if let Some(reported) = self.connection.reported_variables(self.told).await {
            self.told = reported.changes;
            self.idle = Idle::of(&reported);
            for (name, value) in reported.variables {
                self.channel.output.parameter_status(name, &value);
            }
        }
        self.channel.output.ready(self.block.status());
        Ok(self.channel.flush().await?)
    }

    /// Awaits what a statement does, and cancels it when the client goes away meanwhile.
    async fn watched<T>(
        &mut self,
        work: impl Future<Output = gadus::Result<T>>,
    ) -> gadus::Result<T> {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.channel.gone() => {}
        }
        self.is_gone = true;
        self.connection.cancel_handle().cancel();
        work.await
    }

    /// Runs a prepared statement.
    async fn run_statement(
        &mut self,
        statement: &gadus::Statement,
        values: Vec<Value>,
    ) -> Result<gadus::Outcome, Failure> {
        let run = statement.run_async(values);
        Ok(self.watched(run).await?)
    }

    /// Tells the client why the connection ends, where it is still there.
    async fn end(&mut self, failure: &Failure) {
        if !failure.is_lost() {
            self.who.ended(failure);
            self.channel.output.error(failure);
        }
        self.channel.close().await;
    }
}

fn count_refused(metrics: &Metrics, code: SqlState) {
    metrics.refused.add_one();
    if code.is_of_authentication() {
        metrics.authentication_failures.add_one();
    }
}

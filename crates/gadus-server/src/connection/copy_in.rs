//! COPY … FROM STDIN: lines of text or CSV, or PostgreSQL's binary format, become batches of Arrow data.
//!
//! - Rows are taken in parts and are in one transaction; whatever fails takes all of them back.
//! - Values are read as assignments read text; where a line is wrong its number is said.

mod binary;

use super::Client;
use crate::error::{Failure, SqlState};
use crate::protocol::Message;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use binary::BinaryRows;
use bytes::Bytes;
use gadus::{Appender, CopyForm, CopyFormat, CopyRequest, CopyRows, CopyWhat};
use std::sync::Arc;

/// Rows, and bytes of their text, that are handed on together.
const ROWS_TOGETHER: usize = 16_384;
const BYTES_TOGETHER: usize = 8 << 20;

/// What reads rows from the data of a COPY, until they are handed on.
trait Intake: Send {
    /// Takes data as it comes.
    fn push(&mut self, data: &[u8]);

    /// Takes the rows that have come whole; at the end everything.
    fn take(&mut self, is_end: bool) -> Result<(), Failure>;

    /// Rows that wait, and their bytes.
    fn size(&self) -> (usize, usize);

    /// The rows that wait.
    fn batch(&mut self) -> Result<RecordBatch, Failure>;
}

impl Client {
    /// Carries out a COPY whose data travels beside it; returns its rows.
    pub(super) async fn copy(&mut self, request: CopyRequest) -> Result<u64, Failure> {
        let CopyRequest { what, form } = request;
        match what {
            CopyWhat::Query(query) => self.copy_out(&query, &form).await,
            CopyWhat::Into { table, columns, probe } => {
                self.copy_in(&table, &columns, &probe, &form).await
            }
        }
    }

    async fn copy_in(
        &mut self,
        table: &str,
        names: &[String],
        probe: &str,
        form: &CopyForm,
    ) -> Result<u64, Failure> {
        let probe = self.connection.prepare(probe)?;
        let description = self.watched(probe.describe()).await?;
        let schema = description.columns.clone().unwrap_or_else(|| Arc::new(Schema::empty()));
        let row_bytes_max = self.shared.options.limits.message_bytes;
        let is_binary = form.format == CopyFormat::Binary;
        let mut intake: Box<dyn Intake> = match is_binary {
            true => Box::new(BinaryRows::new(&schema, row_bytes_max)),
            false => {
                let names = schema.fields().iter().map(|field| field.name().clone());
                Box::new(CopyRows::new(names.collect(), form.clone(), row_bytes_max))
            }
        };
        // So that it is cancelled, and commits, as the client's other statements.
        self.begin_implicit().await?;
        let mut appender = self.connection.appender_of(table, names)?;
        self.channel.output.copy_response(b'G', is_binary, schema.fields().len());
        self.channel.flush().await?;
        while let Some(data) = self.copy_data().await? {
            intake.push(&data);
            intake.take(false)?;
            let (rows, bytes) = intake.size();
            if rows >= ROWS_TOGETHER || bytes >= BYTES_TOGETHER {
                appender = append(appender, intake.batch()?).await?;
            }
        }
        intake.take(true)?;
        let appender = append(appender, intake.batch()?).await?;
        let rows = blocking(move || appender.finish()).await?;
        self.shared.metrics.copy_rows_received.add(rows);
        self.channel.output.complete(&format!("COPY {rows}"));
        Ok(rows)
    }

    /// The next part of the data; none at its end.
    async fn copy_data(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let Some(frame) = self.channel.frame().await? else {
                let text = "the client left in the middle of COPY";
                return Err(Failure::fatal(SqlState::CONNECTION_FAILURE, text));
            };
            match Message::read(frame.kind, frame.body)? {
                Message::CopyData(data) => return Ok(Some(data)),
                Message::CopyDone => return Ok(None),
                Message::CopyFail(reason) => {
                    let text = format!("COPY from stdin failed: {reason}");
                    return Err(Failure::new(SqlState::QUERY_CANCELED, text));
                }
                // Clients that send these behind each message may go on doing so.
                Message::Flush | Message::Sync => {}
                _ => {
                    let text = "a message that is no data came in the middle of COPY";
                    return Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text));
                }
            }
        }
    }
}

/// Appends where it may wait.
async fn append(mut appender: Appender, batch: RecordBatch) -> Result<Appender, Failure> {
    if batch.num_rows() == 0 {
        return Ok(appender);
    }
    blocking(move || appender.append(batch).map(|()| appender)).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> gadus::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Failure::new(SqlState::INTERNAL, format!("COPY broke off: {error}"))),
    }
}

/// Rows as lines of text or CSV.
impl Intake for CopyRows {
    fn push(&mut self, data: &[u8]) {
        Self::push(self, data);
    }

    fn take(&mut self, is_end: bool) -> Result<(), Failure> {
        Ok(Self::take(self, is_end)?)
    }

    fn size(&self) -> (usize, usize) {
        Self::size(self)
    }

    fn batch(&mut self) -> Result<RecordBatch, Failure> {
        Ok(Self::batch(self)?)
    }
}

fn batch_of(names: &[String], columns: Vec<ArrayRef>) -> Result<RecordBatch, Failure> {
    let field =
        |(name, column): (&String, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let fields = names.iter().zip(&columns).map(field).collect::<Vec<_>>();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
    Ok(batch.map_err(gadus::Error::from)?)
}

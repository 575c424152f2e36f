//! COPY … FROM STDIN: lines of text or CSV, or PostgreSQL's binary format, become batches of Arrow data.
//!
//! - Rows are taken in parts and are in one transaction; whatever fails takes all of them back.
//! - Values are read as assignments read text; where a line is wrong its number is said.

mod binary;
mod lines;

use super::Client;
use crate::error::{Failure, SqlState};
use crate::protocol::Message;
use crate::values::hex;
use arrow::array::{ArrayRef, BinaryBuilder, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use binary::BinaryRows;
use bytes::Bytes;
use gadus::{Appender, CopyForm, CopyFormat, CopyRequest, CopyWhat};
use lines::Lines;
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

/// Rows as lines of text or CSV.
struct TextRows {
    lines: Lines,
    names: Vec<String>,
    types: Vec<DataType>,
    builders: Vec<StringBuilder>,
    rows: usize,
    bytes: usize,
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
            false => Box::new(TextRows::new(&schema, Lines::new(form.clone(), row_bytes_max))),
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

impl TextRows {
    fn new(schema: &Schema, lines: Lines) -> Self {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let types = schema.fields().iter().map(|field| field.data_type().clone());
        let types = types.collect::<Vec<_>>();
        let builders = types.iter().map(|_| StringBuilder::new()).collect();
        Self { lines, names, types, builders, rows: 0, bytes: 0 }
    }
}

impl Intake for TextRows {
    fn push(&mut self, data: &[u8]) {
        self.lines.push(data);
    }

    fn size(&self) -> (usize, usize) {
        (self.rows, self.bytes)
    }

    /// The last line may have no end.
    fn take(&mut self, is_end: bool) -> Result<(), Failure> {
        let lines = &mut self.lines;
        while lines.read(is_end)? {
            let line = lines.line();
            let (wanted, given) = (self.builders.len(), line.len());
            if given != wanted {
                let text = match given < wanted {
                    true => format!("missing data for column \"{}\"", self.names[given]),
                    false => "extra data after last expected column".to_owned(),
                };
                return Err(lines.wrong(SqlState::BAD_COPY, &text));
            }
            for (builder, value) in self.builders.iter_mut().zip(line.values()) {
                let Some(bytes) = value else {
                    builder.append_null();
                    continue;
                };
                self.bytes += bytes.len();
                match std::str::from_utf8(bytes) {
                    Ok(text) if !text.contains('\0') => builder.append_value(text),
                    _ => {
                        let text = "a value is not UTF-8, or holds the character 0";
                        return Err(lines.wrong(SqlState::NOT_IN_REPERTOIRE, text));
                    }
                }
            }
            self.rows += 1;
        }
        Ok(())
    }

    /// A batch of texts, and of bytes where the column has them.
    fn batch(&mut self) -> Result<RecordBatch, Failure> {
        let columns = self.builders.iter_mut().zip(&self.types).map(|(builder, data_type)| {
            let texts = builder.finish();
            match data_type {
                DataType::Binary | DataType::BinaryView | DataType::LargeBinary => bytes_of(&texts),
                _ => Ok(Arc::new(texts) as ArrayRef),
            }
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        (self.rows, self.bytes) = (0, 0);
        batch_of(&self.names, columns)
    }
}

fn batch_of(names: &[String], columns: Vec<ArrayRef>) -> Result<RecordBatch, Failure> {
    let field =
        |(name, column): (&String, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let fields = names.iter().zip(&columns).map(field).collect::<Vec<_>>();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
    Ok(batch.map_err(gadus::Error::from)?)
}

fn bytes_of(texts: &StringArray) -> Result<ArrayRef, Failure> {
    let mut builder = BinaryBuilder::new();
    for text in texts {
        match text.map(|text| text.strip_prefix("\\x").map_or(Some(text.into()), hex)) {
            None => builder.append_null(),
            Some(Some(bytes)) => builder.append_value(bytes),
            Some(None) => {
                let text = "invalid hexadecimal digits in a value of type bytea";
                return Err(Failure::new(SqlState::INVALID_TEXT, text));
            }
        }
    }
    Ok(Arc::new(builder.finish()))
}

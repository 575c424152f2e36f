//! COPY … TO STDOUT: rows as lines, or in PostgreSQL's binary format.

use super::Client;
use crate::error::{Failure, SqlState};
use crate::values::{Rows, Writer, is_null, oid_of_column, text_writer};
use arrow::array::RecordBatch;
use bytes::{BufMut, BytesMut};
use gadus::{CopyForm, CopyFormat, CopyHeader, Outcome, put_copy_line as put_line};

/// Signature, flags, and the length of an extension that there is none of.
const BINARY_HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Rows that are written between looks at how much has gathered.
const ROWS_TOGETHER: usize = 128;

impl Client {
    /// Sends the rows of a query; returns how many.
    pub(super) async fn copy_out(&mut self, query: &str, form: &CopyForm) -> Result<u64, Failure> {
        let statement = self.connection.prepare(query)?;
        let Outcome::Rows(mut rows) = self.run_in_block(&statement, Vec::new()).await? else {
            return Err(Failure::new(SqlState::INTERNAL, "a query gave no rows"));
        };
        let schema = rows.schema().clone();
        let is_binary = form.format == CopyFormat::Binary;
        self.channel.output.copy_response(b'H', is_binary, schema.fields().len());
        if form.header != CopyHeader::None && !is_binary {
            let names = schema.fields().iter().map(|field| Some(field.name().as_bytes()));
            let forced = vec![false; schema.fields().len()];
            self.channel.output.copy_data(|body| put_line(body, form, names, &forced));
        }
        let forced = form.forced(&schema);
        // It travels with what comes first: drivers expect it there.
        let mut header = BINARY_HEADER.as_slice();
        let mut count = 0_u64;
        while let Some(batch) = self.watched(rows.next_batch_async()).await? {
            count += batch.num_rows() as u64;
            match is_binary {
                true => self.send_binary(&batch, &mut header).await?,
                false => self.send_lines(&batch, form, &forced).await?,
            }
        }
        if is_binary {
            self.channel.output.copy_data(|body| {
                body.put_slice(header);
                body.put_i16(-1);
            });
        }
        self.shared.metrics.copy_rows_sent.add(count);
        self.channel.output.copy_done();
        self.channel.output.complete(&format!("COPY {count}"));
        Ok(count)
    }

    /// Sends rows, the first behind a header that was not yet sent.
    async fn send_binary(
        &mut self,
        batch: &RecordBatch,
        header: &mut &[u8],
    ) -> Result<(), Failure> {
        let schema = batch.schema();
        let columns = schema.fields().iter().map(|field| (oid_of_column(field), 1));
        let rows = Rows::new(batch, columns, &self.connection.times())?;
        for row in 0..batch.num_rows() {
            let header = std::mem::take(header);
            self.channel.output.copy_data(|body| {
                body.put_slice(header);
                rows.put(row, body);
            });
            if row % ROWS_TOGETHER == 0 {
                self.channel.flush_much().await?;
            }
        }
        Ok(())
    }

    async fn send_lines(
        &mut self,
        batch: &RecordBatch,
        form: &CopyForm,
        forced: &[bool],
    ) -> Result<(), Failure> {
        let times = self.connection.times();
        let writers = batch.columns().iter().map(|column| text_writer(&**column, &times));
        let writers = writers.collect::<Result<Vec<Writer<'_>>, _>>()?;
        let (mut space, mut ends) = (BytesMut::new(), Vec::with_capacity(writers.len()));
        for row in 0..batch.num_rows() {
            space.clear();
            ends.clear();
            for (column, write) in batch.columns().iter().zip(&writers) {
                let is_null = is_null(&**column, row);
                if !is_null {
                    write(row, &mut space);
                }
                ends.push((space.len(), is_null));
            }
            let mut start = 0;
            let values = ends.iter().map(|(end, is_null)| {
                let value = &space[start..*end];
                start = *end;
                (!is_null).then_some(value)
            });
            self.channel.output.copy_data(|body| put_line(body, form, values, forced));
            if row % ROWS_TOGETHER == 0 {
                self.channel.flush_much().await?;
            }
        }
        Ok(())
    }
}

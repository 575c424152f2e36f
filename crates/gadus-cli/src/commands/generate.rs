//! `gadus generate`: test data to standard output or a file.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::generate::bookings::{self, Bookings};
use crate::generate::hits::{self, Hits};
use crate::generate::{Table, tpch};
use crate::output::{Format, Limits};
use crate::progress::Progress;
use crate::terminal;

/// Fits the second-level cache with all columns, and is large enough to hide the cost of a batch.
const BATCH_ROWS: usize = 8192;

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The bookings of an airline: 27 skewed and correlated columns
    Bookings {
        /// How many rows
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(0..=bookings::ROWS_MAX))]
        rows: u64,
        /// The same seed gives the same rows
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        target: Target,
    },
    /// ClickBench's hits of web pages, 105 columns, or its queries
    Hits {
        /// Print the 43 queries
        #[arg(long, conflicts_with_all = ["rows", "seed", "create_table", "format"])]
        queries: bool,
        /// How many rows
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(0..=hits::ROWS_MAX))]
        rows: u64,
        /// The same seed gives the same rows
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        target: Target,
    },
    /// A table of the TPC-H benchmark, or its queries; all statements with --create-table and no name
    Tpch {
        /// Which table
        #[arg(value_parser = PossibleValuesParser::new(tpch::TABLES), required_unless_present_any = ["create_table", "queries"])]
        table: Option<String>,
        /// Print the 22 queries with the values by which the specification validates answers
        #[arg(long, conflicts_with_all = ["table", "create_table", "format"])]
        queries: bool,
        /// 1 is about a gigabyte in all tables
        #[arg(long, default_value_t = 1.0, value_parser = scale_factor)]
        scale_factor: f64,
        #[command(flatten)]
        target: Target,
    },
}

#[derive(Debug, Args)]
struct Target {
    /// Default: table on a terminal, CSV elsewhere
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the CREATE TABLE statement instead of rows
    #[arg(long)]
    create_table: bool,
}

pub(crate) fn run(command: Generate) -> Result<(), Failure> {
    match command.what {
        What::Bookings { rows, seed, target } => {
            let table = Bookings::new(rows, seed).into_table(BATCH_ROWS);
            target.write(std::iter::once(table))
        }
        What::Hits { queries: true, target, .. } => {
            target.write_queries(hits::queries::all().map(|query| query.text))
        }
        What::Hits { rows, seed, target, .. } => {
            target.write(std::iter::once(Hits::new(rows, seed).into_table(BATCH_ROWS)))
        }
        What::Tpch { queries: true, scale_factor, target, .. } => {
            target.write_queries(tpch::queries::validation(scale_factor).map(|query| query.text))
        }
        What::Tpch { table: Some(name), scale_factor, target, .. } => {
            target.write(tpch::table(&name, scale_factor, BATCH_ROWS).into_iter())
        }
        What::Tpch { table: None, scale_factor, target, .. } => {
            target.write(tpch::tables(scale_factor, BATCH_ROWS))
        }
    }
}

impl Target {
    fn write(&self, tables: impl Iterator<Item = Table>) -> Result<(), Failure> {
        let mut output = terminal::open(self.output.as_deref())?;
        for table in tables {
            if self.create_table {
                writeln!(output, "{};", table.create_table)?;
            } else {
                self.write_rows(table, &mut output)?;
            }
        }
        output.flush()?;
        Ok(())
    }

    fn write_queries(&self, queries: impl Iterator<Item: Display>) -> Result<(), Failure> {
        let mut output = terminal::open(self.output.as_deref())?;
        for query in queries {
            writeln!(output, "{query};")?;
        }
        output.flush()?;
        Ok(())
    }

    fn write_rows(&self, table: Table, output: &mut (impl Write + Send)) -> Result<(), Failure> {
        let interactive = self.output.is_none() && terminal::is_interactive();
        let format = self.format.unwrap_or(if interactive { Format::Table } else { Format::Csv });
        let limits = if interactive { terminal::limits() } else { Limits::default() };
        // A bar among the rows themselves would only disturb.
        let mut progress = (!interactive).then(|| Progress::new(table.name, table.rows));
        let mut writer = format.writer(output, limits);
        writer.start(&table.schema)?;
        for batch in table.batches {
            let batch = batch?;
            writer.batch(&batch)?;
            if let Some(progress) = &mut progress {
                progress.advance(batch.num_rows() as u64);
            }
        }
        writer.finish()?;
        Ok(())
    }
}

pub(crate) fn scale_factor(text: &str) -> Result<f64, String> {
    // Beyond 100,000, keys do not fit the standard's columns.
    match text.parse::<f64>() {
        Ok(factor) if (0.001..=100_000.0).contains(&factor) => Ok(factor),
        _ => Err("a number from 0.001 to 100000".to_owned()),
    }
}

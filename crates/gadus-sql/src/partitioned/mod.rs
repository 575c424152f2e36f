//! Files in folders that say of what rows they are: `dir/year=2024/city=Oslo/data_0.parquet`, as Hive has them.
//!
//! - What a folder says is not in its files. NULL and texts that are no names of folders are written as in Hive.
//! - What is written stands in the target's place when all of it is written, or not at all.

mod names;
mod parquet;
mod read;
mod target;
mod write;

pub(crate) use parquet::ParquetTable;
pub(crate) use read::Partitions;
pub(crate) use target::{Existing, Target, failed};
pub(crate) use write::PartitionWriter;
